//! Limits on connections, messages and time.

use std::time::{Duration, Instant};

use lacuna_testkit::servers::Postgres;

use crate::raw::{AS_POSTGRES, Raw, V3_0, bind, error_field, parse, query, startup, sync};
use crate::world::{World, eventually, psql};

#[test]
fn clients_beyond_the_limit_get_an_error() {
    let Some(postgres) = Postgres::start() else { return };
    let world = World::with(postgres, |options| options.with_max_connections(2)).unwrap();
    let port = world.proxy().address().port();
    let (first, _) = Raw::login(port);
    let (mut second, _) = Raw::login(port);
    let mut third = Raw::connect(port);
    third.send(&startup(V3_0, &AS_POSTGRES));
    let answer = third.until_ready();
    assert_eq!(error_field(&answer, b'C'), "53300");
    // libpq asks for TLS first, and shows the sentence.
    let refused = psql(&world.url(), &["-c", "SELECT 1"]);
    assert!(refused.stderr.contains("serves 2 clients, which is its limit"), "{refused:?}");
    drop(first);
    eventually("there is room again", || world.proxy().counts().open == 1);
    psql(&world.url(), &["-c", "SELECT 1"]).expect_success();
    assert_eq!(second.ask("SELECT 1"), "TDCZ");
    assert_eq!(world.proxy().counts().refused, 2);
}

#[test]
fn longer_messages_than_allowed_get_an_error() {
    let Some(postgres) = Postgres::start() else { return };
    let world = World::with(postgres, |options| options.with_max_message_bytes(100_000)).unwrap();
    let port = world.proxy().address().port();
    let (mut client, _) = Raw::login(port);
    assert_eq!(client.ask(&format!("SELECT 1 -- {}", "a".repeat(90_000))), "TDCZ");
    client.send(&[parse("", "SELECT $1"), bind("", "", &[&"b".repeat(200_000)]), sync()].concat());
    let answer = client.until_ready();
    assert_eq!(error_field(&answer, b'C'), "54000");
    assert!(error_field(&answer, b'M').contains("longer than the 100000"), "{answer:?}");
    assert_eq!(client.receive(), None);
    let (mut client, _) = Raw::login(port);
    assert_eq!(client.ask("SELECT repeat('c', 1000000)"), "TDCZ", "results have no limit");
}

#[test]
fn a_client_without_a_first_packet_is_dropped() {
    let Some(postgres) = Postgres::start() else { return };
    let timeout = Duration::from_millis(300);
    let world = World::with(postgres, |options| options.with_login_timeout(timeout)).unwrap();
    let start = Instant::now();
    let mut silent = Raw::connect(world.proxy().address().port());
    assert_eq!(silent.receive(), None);
    assert!(start.elapsed() >= Duration::from_millis(250));
    let (mut idle, _) = Raw::login(world.proxy().address().port());
    std::thread::sleep(2 * timeout);
    idle.send(&query("SELECT 1"));
    assert_eq!(idle.until_ready().len(), 4, "a session may be idle for longer");
}

#[test]
fn the_servers_own_limit_is_relayed() {
    let Some(world) = World::start() else { return };
    let port = world.proxy().address().port();
    let mut clients: Vec<Raw> = (0..130).map(|_| Raw::connect(port)).collect();
    clients.iter_mut().for_each(|client| client.send(&startup(V3_0, &AS_POSTGRES)));
    let answers: Vec<_> = clients.iter_mut().map(Raw::until_ready).collect();
    let refused: Vec<_> = answers.iter().filter(|answer| answer[0].0 == b'E').collect();
    assert_eq!(refused.len(), 130 - 100, "a server takes 100 clients");
    assert!(refused.iter().all(|answer| error_field(answer, b'C') == "53300"));
    drop(clients);
    eventually("every session ends", || world.proxy().counts().open == 0);
}
