//! Databases and clients that go away, and clients that send what is no protocol.

use std::io::Write as _;
use std::time::Duration;

use lacuna_testkit::servers::free_port;

use crate::raw::{AS_POSTGRES, Raw, V3_0, error_field, letters, query, startup};
use crate::world::{World, eventually, psql};

#[test]
fn a_killed_database_is_an_error_and_not_a_wait() {
    let Some(mut world) = World::start() else { return };
    let port = world.proxy().address().port();
    let (mut running, _) = Raw::login(port);
    let (mut waiting, _) = Raw::login(port);
    running.send(&query("SELECT pg_sleep(60)"));
    std::thread::sleep(Duration::from_millis(200));
    world.postgres.kill();
    for client in [&mut running, &mut waiting] {
        let answer = client.until_ready();
        assert!(["08006", "57P01", "57P02"].contains(&&*error_field(&answer, b'C')), "{answer:?}");
        assert_eq!(client.receive(), None);
    }
    let refused = psql(&world.url(), &["-c", "SELECT 1"]);
    assert!(refused.stderr.contains("cannot reach the database"), "{refused:?}");
    world.postgres.restart();
    world.wait_for_server();
    psql(&world.url(), &["-c", "SELECT 1"]).expect_success();
}

#[test]
fn a_session_that_the_server_ends_has_the_servers_words() {
    let Some(world) = World::start() else { return };
    let (mut client, _) = Raw::login(world.proxy().address().port());
    world.admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
    let answer = client.until_ready();
    assert_eq!(letters(&answer), "E", "and no error of the proxy after it");
    assert!(error_field(&answer, b'M').contains("administrator command"), "{answer:?}");
}

#[test]
fn no_database_is_an_error() {
    let Some(world) = World::start() else { return };
    let nowhere = format!("postgres://127.0.0.1:{}", free_port()).parse().unwrap();
    let proxy = world.runtime.block_on(lacuna_proxy::Options::new(nowhere).start()).unwrap();
    let mut client = Raw::connect(proxy.address().port());
    client.send(&startup(V3_0, &AS_POSTGRES));
    assert_eq!(error_field(&client.until_ready(), b'C'), "08001");
}

#[test]
fn garbage_harms_its_own_session_alone() {
    let Some(world) = World::start() else { return };
    let port = world.proxy().address().port();
    let (mut good, _) = Raw::login(port);
    let mut state = 12_345_u32;
    for _ in 0..60 {
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..200 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            bytes.push(state.to_be_bytes()[0]);
        }
        let mut bad = if state.is_multiple_of(2) { Raw::login(port).0 } else { Raw::connect(port) };
        // The connection may have ended already.
        drop(bad.stream.write_all(&bytes));
        drop(bad.stream.shutdown(std::net::Shutdown::Write));
        while bad.receive().is_some() {}
    }
    assert_eq!(good.ask("SELECT 1"), "TDCZ");
    drop(good);
    eventually("every session ends", || world.proxy().counts().open == 0);
}

#[test]
fn a_client_that_goes_in_the_middle_ends_its_session() {
    let Some(world) = World::start() else { return };
    let port = world.proxy().address().port();
    for count in [1, 4, 7] {
        let (mut client, _) = Raw::login(port);
        client.send(&query("SELECT 1")[..count]);
    }
    for count in [1, 5, 20] {
        let mut client = Raw::connect(port);
        client.send(&startup(V3_0, &AS_POSTGRES)[..count]);
    }
    eventually("every session ends", || world.proxy().counts().open == 0);
    eventually("and those of the server", || {
        world.admin("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'").trim()
            == "1"
    });
}
