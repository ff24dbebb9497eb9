//! Databases and clients that go away, and clients that send what is no protocol.

use std::io::Write as _;
use std::net::Shutdown;
use std::time::Duration;

use lacuna_proxy::Options;
use lacuna_testkit::servers::free_port;

use super::raw::{ERROR, OK, QUERY, Raw, command, error, packets};
use super::world::World;
use crate::world::eventually;

#[test]
fn a_killed_database_is_an_error_and_not_a_wait() {
    let Some(mut world) = World::start() else { return };
    let port = world.port();
    let mut running = Raw::login(port, Raw::NEW);
    let mut waiting = Raw::login(port, Raw::OLD);
    running.send(&command(QUERY, b"SELECT SLEEP(60)"));
    std::thread::sleep(Duration::from_millis(300));
    world.mariadb.kill();
    for client in [&mut running, &mut waiting] {
        let (number, sentence) = client.last_words();
        assert_eq!(number, 2013, "{sentence}");
        assert!(sentence.contains("connection of the proxy to the database was lost"), "{sentence}");
        assert_eq!(client.receive(), None);
    }
    let (number, sentence) = Raw::connect(port).last_words();
    assert_eq!(number, 2003);
    assert!(sentence.contains("cannot reach the database"), "{sentence}");
    world.mariadb.restart();
    world.wait_for_server();
    assert_ne!(Raw::login(port, Raw::NEW).query("SELECT 1")[0].1[0], ERROR);
}

#[test]
fn no_database_is_an_error() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let nowhere = format!("mysql://127.0.0.1:{}", free_port()).parse().unwrap();
    let proxy = runtime.block_on(Options::new(nowhere).start()).unwrap();
    let (number, sentence) = Raw::connect(proxy.address().port()).last_words();
    assert_eq!(number, 2003, "{sentence}");
}

/// A server of something else, whose first bytes are no greeting.
#[test]
fn another_kind_of_server_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let other = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            drop(client.write_all(b"220 mail.example ESMTP ready, and some more of it\r\n"));
            // Open until the other end goes.
            drop(std::io::copy(&mut client, &mut std::io::sink()));
        }
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let upstream = format!("mysql://{other}").parse().unwrap();
    let proxy = runtime.block_on(Options::new(upstream).start()).unwrap();
    let (number, sentence) = Raw::connect(proxy.address().port()).last_words();
    assert!(number == 2003 && sentence.contains("cannot reach the database"), "{number} {sentence}");
}

#[test]
fn a_session_that_the_server_ends_has_an_end() {
    let Some(world) = World::start() else { return };
    let mut client = Raw::login(world.port(), Raw::OLD);
    let answer = client.query("SELECT CONNECTION_ID()");
    let id = String::from_utf8_lossy(&answer[3].1[1..]).into_owned();
    world.admin(&[&format!("KILL {id}")]);
    // The server's own words or the proxy's, and no second error after the first one.
    let (number, sentence) = client.last_words();
    assert!([1927, 2013, 4031].contains(&number), "{number} {sentence}");
    assert_eq!(client.receive(), None);
}

#[test]
fn garbage_harms_its_own_session_alone() {
    let Some(world) = World::start() else { return };
    // Broken logins of one address are refused from the hundredth on.
    world.admin(&["SET GLOBAL max_connect_errors = 100000"]);
    let port = world.port();
    let mut good = Raw::login(port, Raw::NEW);
    let mut state = 12_345_u32;
    for _ in 0..60 {
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..200 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            bytes.push(state.to_be_bytes()[0]);
        }
        let mut bad = if state.is_multiple_of(2) { Raw::login(port, Raw::OLD) } else { Raw::connect(port) };
        // The connection may have ended already.
        drop(bad.stream.write_all(&bytes));
        drop(bad.stream.shutdown(Shutdown::Write));
        while bad.receive().is_some() {}
    }
    assert_ne!(good.query("SELECT 1")[0].1[0], ERROR);
    drop(good);
    eventually("every session ends", || world.proxy().counts().open == 0);
}

#[test]
fn a_client_that_goes_in_the_middle_ends_its_session() {
    let Some(world) = World::start() else { return };
    let port = world.port();
    for count in [1, 4, 7] {
        let mut client = Raw::login(port, Raw::NEW);
        client.send(&command(QUERY, b"SELECT 1")[..count]);
    }
    for count in [0, 1, 5, 20] {
        let mut client = Raw::connect(port);
        client.receive().unwrap();
        client.send(&packets(1, &Raw::answer("root", Raw::NEW))[..count]);
    }
    // In the middle of a result that no buffer holds.
    let mut reader = Raw::login(port, Raw::NEW);
    reader.send(&command(QUERY, b"SELECT REPEAT('x', 1000) FROM seq_1_to_100000"));
    reader.receive().unwrap();
    drop(reader);
    eventually("every session ends", || world.proxy().counts().open == 0);
    eventually("and those of the server", || {
        let answer =
            world.admin(&["SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'root'"]);
        // After the count of columns, the definition and its end.
        answer[3] == b"\x011"
    });
}

#[test]
fn what_is_not_offered_is_refused_with_a_sentence() {
    let Some(world) = World::start() else { return };
    for (ability, expected) in [(1 << 11, "no TLS"), (1 << 5, "no compression")] {
        let mut client = Raw::connect(world.port());
        let (_, greeting) = client.receive().unwrap();
        let end_of_version = greeting.iter().position(|&byte| byte == 0).unwrap();
        let low = u16::from_le_bytes(greeting[end_of_version + 14..end_of_version + 16].try_into().unwrap());
        assert_eq!(u32::from(low) & ability, 0, "it is not in the greeting");
        client.send(&packets(1, &Raw::answer("root", Raw::NEW | ability)));
        let (number, sentence) = client.last_words();
        assert!(number == 1043 && sentence.contains(expected), "{number} {sentence}");
    }
}

#[test]
fn a_login_that_fails_has_the_servers_words() {
    let Some(world) = World::start() else { return };
    world.admin(&[
        "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'secret'",
        "CREATE USER app@localhost IDENTIFIED BY 'secret'",
    ]);
    let answer = |port: u16| {
        let mut client = Raw::connect(port);
        client.receive().unwrap();
        client.send(&packets(1, &Raw::answer("app", Raw::NEW)));
        let answer = client.receive().unwrap();
        assert_ne!(answer.1[0], OK);
        let (number, _) = error(&answer.1);
        assert_eq!(number, 1045, "{answer:?}");
        assert_eq!(client.receive(), None);
        answer
    };
    assert_eq!(answer(world.port()), answer(world.mariadb.port()));
}
