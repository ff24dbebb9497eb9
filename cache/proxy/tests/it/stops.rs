//! Proxies that are drained and stopped.

use std::time::{Duration, Instant};

use crate::raw::{Raw, error_field, query};
use crate::world::World;

#[test]
fn a_drained_proxy_lets_transactions_end() {
    let Some(mut world) = World::start() else { return };
    let port = world.proxy().address().port();
    let (mut idle, _) = Raw::login(port);
    let (mut busy, _) = Raw::login(port);
    let (mut running, _) = Raw::login(port);
    assert_eq!(busy.ask("BEGIN"), "CZ");
    running.send(&query("SELECT pg_sleep(0.5)"));
    std::thread::sleep(Duration::from_millis(100));
    let proxy = world.proxy.take().unwrap();
    let draining = world.runtime.spawn(proxy.drain(Duration::from_secs(30)));
    assert_eq!(error_field(&idle.until_ready(), b'C'), "57P01");
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "no client is taken");
    assert_eq!(busy.ask("CREATE TABLE kept (n INT)"), "CZ");
    assert_eq!(running.until_ready().len(), 4, "a statement ends first");
    assert!(!draining.is_finished());
    assert_eq!(busy.ask("COMMIT"), "CZ");
    assert_eq!(error_field(&busy.until_ready(), b'C'), "57P01");
    assert_eq!(error_field(&running.until_ready(), b'C'), "57P01");
    world.runtime.block_on(draining).unwrap();
    assert_eq!(world.admin("SELECT count(*) FROM kept").trim(), "0");
}

#[test]
fn a_drain_ends_in_time() {
    let Some(mut world) = World::start() else { return };
    let (mut busy, _) = Raw::login(world.proxy().address().port());
    assert_eq!(busy.ask("BEGIN"), "CZ");
    let start = Instant::now();
    let proxy = world.proxy.take().unwrap();
    world.runtime.block_on(proxy.drain(Duration::from_millis(300)));
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(error_field(&busy.until_ready(), b'C'), "57P01");
}

#[test]
fn a_stopped_proxy_ends_every_session() {
    let Some(mut world) = World::start() else { return };
    let (mut running, _) = Raw::login(world.proxy().address().port());
    running.send(&query("SELECT pg_sleep(60)"));
    std::thread::sleep(Duration::from_millis(100));
    let proxy = world.proxy.take().unwrap();
    world.runtime.block_on(proxy.stop());
    assert_eq!(error_field(&running.until_ready(), b'C'), "57P01");
}
