//! Statements that are cancelled.

use std::time::{Duration, Instant};

use crate::raw::{AS_POSTGRES, Raw, V3_0, V3_2, error_field, query, startup};
use crate::world::World;

/// Keys of protocol 3.2 are longer, where the server speaks it.
#[test]
fn a_long_statement_is_cancelled() {
    let Some(world) = World::start() else { return };
    let port = world.proxy().address().port();
    for (nth, version) in [(1, V3_0), (2, V3_2)] {
        let mut sleeper = Raw::connect(port);
        sleeper.send(&startup(version, &AS_POSTGRES));
        let greeting = sleeper.until_ready();
        let (_, key) = greeting.iter().find(|(tag, _)| *tag == b'K').unwrap();
        sleeper.send(&query("SELECT pg_sleep(60)"));
        std::thread::sleep(Duration::from_millis(200));
        let start = Instant::now();
        let mut canceller = Raw::connect(port);
        let length = u32::try_from(8 + key.len()).unwrap();
        canceller.send(&[&length.to_be_bytes()[..], &80_877_102_u32.to_be_bytes(), key].concat());
        assert_eq!(canceller.receive(), None, "the connection ends without an answer");
        assert_eq!(error_field(&sleeper.until_ready(), b'C'), "57014");
        assert!(start.elapsed() < Duration::from_secs(20));
        assert_eq!(sleeper.ask("SELECT 1"), "TDCZ", "the session goes on");
        assert_eq!(world.proxy().counts().cancels, nth);
    }
}

/// Protocol 3.2 has keys of up to 256 bytes: the request is relayed as it is, and one with a wrong key does nothing.
#[test]
fn long_keys_are_relayed() {
    let Some(world) = World::start() else { return };
    let mut canceller = Raw::connect(world.proxy().address().port());
    let request = [&7_u32.to_be_bytes()[..], &[9; 256]].concat();
    let packet = [&(8 + 260_u32).to_be_bytes()[..], &80_877_102_u32.to_be_bytes(), &request].concat();
    canceller.send(&packet);
    assert_eq!(canceller.receive(), None);
    assert_eq!(world.proxy().counts().cancels, 1);
}
