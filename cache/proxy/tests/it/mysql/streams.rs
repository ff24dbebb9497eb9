//! Results and values that are larger than what the proxy keeps, and than a packet.

use std::io::Read as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::raw::{END, EXECUTE, OK, PREPARE, QUERY, Raw, command};
use super::world::World;

/// One of these tests at a time: one measures memory, and another one needs much of it.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
}

/// The server takes packets of 64 MiB from new sessions on.
fn with_large_packets() -> Option<World> {
    let world = World::start()?;
    world.admin(&["SET GLOBAL max_allowed_packet = 67108864"]);
    Some(world)
}

#[test]
fn rows_and_commands_of_several_packets_are_relayed() {
    let _turn = turn();
    let Some(world) = with_large_packets() else { return };
    for abilities in [Raw::OLD, Raw::NEW] {
        let mut raw = Raw::login(world.port(), abilities);
        // A command of 17 MB, and a row of 20 MB that begins as an end of rows does.
        let long = "c".repeat(17_000_000);
        let answer = raw.query(&format!("SELECT REPEAT('r', 20000000), LENGTH('{long}') AS n"));
        let row = answer.iter().map(|(_, body)| body).find(|body| body.len() > 20_000_000).unwrap();
        assert_eq!(row[0], END);
        assert!(row.ends_with(b"\x0817000000"));
        // A row of two packets, of which the second one is empty: a text and the four bytes of its length, 16 MiB less one byte in all.
        let exact = 0xff_ffff - 4;
        let answer = raw.query(&format!("SELECT REPEAT('e', {exact})"));
        assert!(answer.iter().any(|(_, body)| body.len() == 0xff_ffff));
        // A value of 20 MB.
        let prepared = raw.ask(PREPARE, b"SELECT LENGTH(?)");
        assert_eq!(prepared[0].1[0], OK);
        let head =
            [&prepared[0].1[1..5], &[0, 1, 0, 0, 0, 0, 1, 253, 0, 0xfe], &20_000_000_u64.to_le_bytes()];
        let answer = raw.ask(EXECUTE, &[head.concat(), vec![b'v'; 20_000_000]].concat());
        let (four, eight) = (20_000_000_u32.to_le_bytes(), 20_000_000_u64.to_le_bytes());
        assert!(answer.iter().any(|(_, body)| body.ends_with(&four) || body.ends_with(&eight)), "{answer:?}");
    }
    assert_eq!(world.proxy().counts().unfollowed, 0);
}

#[test]
fn a_large_result_takes_little_memory() {
    let _turn = turn();
    let Some(world) = with_large_packets() else { return };
    let mut reader = Raw::login(world.port(), Raw::OLD);
    let before = resident();
    // 80 MB of rows.
    reader.send(&command(QUERY, b"SELECT REPEAT('y', 1000) FROM seq_1_to_80000"));
    // What is not read here is not read by the proxy either.
    std::thread::sleep(Duration::from_millis(500));
    assert!(resident() < before + (40 << 20), "{} bytes more", resident() - before);
    let mut count = 0_usize;
    let mut piece = vec![0; 1 << 16];
    while count < 80_000_000 {
        let read = reader.stream.read(&mut piece).unwrap();
        assert!(read > 0, "the end after {count} bytes");
        count += read;
    }
    assert!(resident() < before + (40 << 20), "{} bytes more", resident() - before);
}
