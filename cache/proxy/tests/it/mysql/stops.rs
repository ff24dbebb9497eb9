//! Proxies that are drained and stopped.

use std::time::Duration;

use super::raw::{ERROR, QUERY, Raw, command};
use super::world::World;

#[test]
fn a_drained_proxy_lets_transactions_end() {
    let Some(mut world) = World::start() else { return };
    world.admin(&["CREATE TABLE kept (n INT)"]);
    let port = world.port();
    let mut idle = Raw::login(port, Raw::OLD);
    let mut busy = Raw::login(port, Raw::OLD);
    let mut running = Raw::login(port, Raw::OLD);
    busy.query("BEGIN");
    running.send(&command(QUERY, b"SELECT SLEEP(0.5)"));
    std::thread::sleep(Duration::from_millis(100));
    let proxy = world.proxy.take().unwrap();
    let draining = world.runtime.spawn(proxy.drain(Duration::from_secs(30)));
    assert_eq!(idle.last_words().0, 1053);
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "no client is taken");
    assert_ne!(busy.query("INSERT INTO kept VALUES (7)")[0].1[0], ERROR);
    // Count, definition, end, row, end.
    (0..5).for_each(|_| assert_ne!(running.receive().expect("a statement ends first").1[0], ERROR));
    assert!(!draining.is_finished());
    busy.send(&command(QUERY, b"COMMIT"));
    assert_ne!(busy.receive().unwrap().1[0], ERROR);
    assert_eq!(busy.last_words().0, 1053);
    assert_eq!(running.last_words().0, 1053);
    world.runtime.block_on(draining).unwrap();
    assert_eq!(world.admin(&["SELECT COUNT(*) FROM kept"])[3], b"\x011");
}

#[test]
fn a_stopped_proxy_ends_every_session() {
    let Some(mut world) = World::start() else { return };
    let mut running = Raw::login(world.port(), Raw::NEW);
    running.send(&command(QUERY, b"SELECT SLEEP(60)"));
    std::thread::sleep(Duration::from_millis(100));
    let proxy = world.proxy.take().unwrap();
    world.runtime.block_on(proxy.stop());
    assert_eq!(running.last_words().0, 1053);
}
