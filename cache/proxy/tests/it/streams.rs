//! Results and parameters that are larger than what the proxy keeps.

use std::io::Read as _;
use std::time::Duration;

use lacuna_testkit::servers::Postgres;

use crate::raw::{Raw, V3_0, bind, execute, letters, message, parse, query, startup, sync};
use crate::world::{World, psql};

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
}

#[test]
fn a_large_result_takes_little_memory() {
    let Some(world) = World::start() else { return };
    let (mut reader, _) = Raw::login(world.proxy().address().port());
    let before = resident();
    // One row of 20 MB, and many small ones: 100 MB.
    reader.send(&query(
        "SELECT repeat('x', 20000000); SELECT repeat('y', 1000) FROM generate_series(1, 80000)",
    ));
    // What is not read here is not read by the proxy either.
    std::thread::sleep(Duration::from_millis(500));
    assert!(resident() < before + (40 << 20), "{} bytes more", resident() - before);
    let mut count = 0_usize;
    let mut piece = vec![0; 1 << 16];
    let end = b"Z\0\0\0\x05I";
    loop {
        let read = reader.stream.read(&mut piece).unwrap();
        count += read;
        if read == 0 || piece[..read].ends_with(end) {
            break;
        }
    }
    assert!(count > 100_000_000, "{count} bytes");
    assert!(resident() < before + (40 << 20), "{} bytes more", resident() - before);
}

#[test]
fn large_parameters_are_relayed() {
    let Some(world) = World::start() else { return };
    let (mut raw, _) = Raw::login(world.proxy().address().port());
    let large = "z".repeat(30_000_000);
    raw.send(&parse("", "SELECT length($1::text), md5($1)"));
    raw.send(&[bind("", "", &[&large]), execute("", 0), sync()].concat());
    let answer = raw.until_ready();
    assert_eq!(letters(&answer), "12DCZ");
    assert!(answer[2].1.windows(8).any(|part| part == b"30000000"));
}

/// Both sides send more than any buffer holds before they read: each direction must go on without the other.
#[test]
fn directions_do_not_wait_for_each_other() {
    let Some(world) = World::start() else { return };
    let (raw, _) = Raw::login(world.proxy().address().port());
    let mut sender = Raw { stream: raw.stream.try_clone().unwrap() };
    let mut receiver = raw;
    let statement = query(&format!("SELECT repeat('r', 1000000) -- {}", "c".repeat(1_000_000)));
    let sending = std::thread::spawn(move || (0..30).for_each(|_| sender.send(&statement)));
    for _ in 0..30 {
        assert_eq!(letters(&receiver.until_ready()), "TDCZ");
    }
    sending.join().unwrap();
}

#[test]
fn a_client_that_sends_no_more_still_reads() {
    let Some(world) = World::start() else { return };
    let (mut raw, _) = Raw::login(world.proxy().address().port());
    raw.send(&query("SELECT pg_sleep(0.3), repeat('h', 3000000)"));
    raw.stream.shutdown(std::net::Shutdown::Write).unwrap();
    let answer = raw.until_ready();
    assert_eq!(letters(&answer), "TDCZ");
    assert_eq!(raw.receive(), None);
}

#[test]
fn copies_of_many_rows_are_relayed() {
    let Some(world) = World::start() else { return };
    world.admin("CREATE TABLE numbers (n INT, text TEXT)");
    let (mut raw, _) = Raw::login(world.proxy().address().port());
    raw.send(&query("COPY numbers FROM STDIN"));
    for chunk in 0..200 {
        let lines: Vec<String> = (0..1_000).map(|n| format!("{}\tsome text\n", chunk * 1_000 + n)).collect();
        raw.send(&message(b'd', &[lines.concat().as_bytes()]));
    }
    raw.send(&message(b'c', &[]));
    assert_eq!(letters(&raw.until_ready()), "GCZ");
    let copied = psql(&world.url(), &["-c", "COPY (SELECT n FROM numbers ORDER BY n) TO STDOUT"]);
    let expected: String = (0..200_000).map(|n| format!("{n}\n")).collect();
    assert!(copied.expect_success() == expected);
}

/// After `CopyBothResponse` both sides send data at any time.
#[test]
fn a_stream_of_replication_is_relayed() {
    let Some(postgres) = Postgres::logged() else { return };
    let world = World::with(postgres, |options| options).unwrap();
    world.admin("CREATE TABLE changes (n INT)");
    let mut raw = Raw::connect(world.proxy().address().port());
    let parameters = [("user", "postgres"), ("database", "postgres"), ("replication", "database")];
    raw.send(&startup(V3_0, &parameters));
    raw.until_ready();
    let created = raw.ask("CREATE_REPLICATION_SLOT s TEMPORARY LOGICAL test_decoding NOEXPORT_SNAPSHOT");
    assert!(created.ends_with('Z'), "{created}");
    raw.send(&query("START_REPLICATION SLOT s LOGICAL 0/0"));
    assert_eq!(raw.receive().unwrap().0, b'W');
    world.admin("INSERT INTO changes VALUES (42)");
    let is_change = |body: &[u8]| String::from_utf8_lossy(body).contains("n[integer]:42");
    while let Some((tag, body)) = raw.receive() {
        assert_eq!(tag, b'd');
        if is_change(&body) {
            break;
        }
    }
    raw.send(&message(b'c', &[]));
    assert!(letters(&raw.until_ready()).ends_with("CZ"), "the stream ends as it began");
    assert_eq!(world.proxy().counts().unfollowed, 1);
}
