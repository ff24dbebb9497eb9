//! Transactions: each row of the table of rules in the design page of the proxy.

use std::io::Write as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::setting::{Setting, ask, run, start};
use super::tap::Tap;
use crate::raw::{Raw, bind, error_field, execute, letters, parse, query, sync};
use crate::world::eventually;

const READ: &str = "SELECT note FROM orders WHERE customer = 7";
const WRITE: &str = "UPDATE orders SET note = 'new' WHERE customer = 7";

/// A setting, a session that reads and one that writes; the reply to [`READ`] is there.
fn warm() -> Option<(Setting, Raw, Raw)> {
    let setting = Setting::start()?;
    let (mut reader, writer) = (setting.session_of("reader", &[]), setting.session());
    assert_eq!(ask(&mut reader, READ).unwrap(), "n7");
    assert_eq!(setting.counted(|| drop(run(&mut reader, READ))), (1, 0));
    Some((setting, reader, writer))
}

/// What the session sees, and whether it came from the cache.
fn seen(setting: &Setting, raw: &mut Raw) -> (String, bool) {
    let mut found = String::new();
    let (hits, _) = setting.counted(|| found = ask(raw, READ).unwrap());
    (found, hits == 1)
}

fn is(setting: &Setting, raw: &mut Raw, expected: (&str, bool)) {
    if expected.1 {
        // On a busy machine a look at the server may be late.
        setting.opens();
    }
    assert_eq!(seen(setting, raw), (expected.0.to_owned(), expected.1), "{}", setting.counts().report());
}

#[test]
fn a_write_alone_is_shown_at_once() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    run(&mut writer, WRITE);
    is(&setting, &mut reader, ("new", false));
    is(&setting, &mut reader, ("new", true));
    run(&mut writer, "UPDATE orders SET note = 'far' WHERE customer = 8");
    is(&setting, &mut reader, ("new", true));
    run(&mut writer, "INSERT INTO orders (id, customer, note) VALUES (200, 7, 'first')");
    is(&setting, &mut reader, ("new", false));
    run(&mut writer, "UPDATE orders SET customer = 7, note = 'moved' WHERE id = 8");
    is(&setting, &mut reader, ("new", false));
}

/// More writes in one flight than a session remembers one by one: each of them is held all the same, also where they are one
/// transaction.
#[test]
fn every_write_of_a_long_pipeline_is_shown() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    let step = |text: &str| [parse("", text), bind("", "", &[]), execute("", 0)].concat();
    for (count, is_block) in [(50, false), (1_200, false), (50, true), (1_200, true)] {
        let new = format!("{count} {is_block}");
        let mut texts: Vec<String> = (0..count)
            .map(|nth| format!("UPDATE orders SET note = '-' WHERE customer = {}", 1_000 + 2 * nth))
            .collect();
        texts.push(format!("UPDATE orders SET note = '{new}' WHERE customer = 7"));
        if is_block {
            texts.insert(0, "BEGIN".to_owned());
            texts.push("COMMIT".to_owned());
        }
        let mut messages: Vec<u8> = texts.iter().flat_map(|text| step(text)).collect();
        messages.extend(sync());
        writer.send(&messages);
        assert!(writer.until_ready().iter().all(|(tag, _)| *tag != b'E'));
        is(&setting, &mut reader, (&new, false));
        // On a busy machine a look at the server may be late, and the reply not be kept.
        let is_hit = (0..5).any(|_| {
            setting.opens();
            let (found, is_hit) = seen(&setting, &mut reader);
            assert_eq!(found, new);
            is_hit
        });
        assert!(is_hit, "{}", setting.counts().report());
    }
}

#[test]
fn what_a_transaction_writes_is_dropped_at_its_commit() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    run(&mut writer, "BEGIN");
    is(&setting, &mut writer, ("n7", false));
    is(&setting, &mut writer, ("n7", true));
    run(&mut writer, WRITE);
    is(&setting, &mut reader, ("n7", true));
    is(&setting, &mut writer, ("new", false));
    is(&setting, &mut writer, ("new", false));
    is(&setting, &mut reader, ("n7", true));
    run(&mut writer, "COMMIT");
    for raw in [&mut reader, &mut writer] {
        is(&setting, raw, ("new", false));
        is(&setting, raw, ("new", true));
    }
}

#[test]
fn a_rollback_drops_nothing() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    for end in ["ROLLBACK", "ABORT"] {
        run(&mut writer, "BEGIN");
        run(&mut writer, WRITE);
        run(&mut writer, end);
        is(&setting, &mut reader, ("n7", true));
    }
    // A later transaction does not remember it.
    run(&mut writer, "BEGIN");
    run(&mut writer, "COMMIT");
    is(&setting, &mut reader, ("n7", true));
}

#[test]
fn savepoints_never_make_the_set_smaller() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    for step in ["BEGIN", "SAVEPOINT a", WRITE, "ROLLBACK TO a", "COMMIT"] {
        run(&mut writer, step);
    }
    is(&setting, &mut reader, ("n7", false));
    for step in ["BEGIN", WRITE, "SAVEPOINT a", "RELEASE SAVEPOINT a", "END"] {
        run(&mut writer, step);
    }
    is(&setting, &mut reader, ("new", false));
}

#[test]
fn a_failed_transaction_reads_from_the_server_and_ends_without_a_change() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    run(&mut writer, "BEGIN");
    run(&mut writer, WRITE);
    assert_eq!(writer.ask("SELECT 1/0"), "EZ");
    assert_eq!(writer.ask(READ), "EZ", "the server's error, and no hit");
    let answer = run(&mut writer, "COMMIT");
    assert!(answer.iter().any(|(_, body)| body.starts_with(b"ROLLBACK")));
    is(&setting, &mut reader, ("n7", false));
}

#[test]
fn chained_commits_are_commits() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    run(&mut writer, "BEGIN");
    run(&mut writer, WRITE);
    run(&mut writer, "COMMIT AND CHAIN");
    setting.opens();
    is(&setting, &mut reader, ("new", false));
    run(&mut writer, "UPDATE orders SET note = 'newer' WHERE customer = 7");
    run(&mut writer, "COMMIT");
    setting.opens();
    is(&setting, &mut reader, ("newer", false));
}

#[test]
fn other_isolation_is_answered_by_the_server() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    for begin in [
        "BEGIN ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "BEGIN; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "BEGIN READ ONLY",
    ] {
        run(&mut writer, begin);
        is(&setting, &mut writer, ("n7", false));
        run(&mut writer, "COMMIT");
        setting.opens();
        let _ = seen(&setting, &mut reader);
    }
    run(&mut writer, "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE");
    is(&setting, &mut writer, ("n7", false));
    is(&setting, &mut writer, ("n7", false));
    let mut other =
        setting.session_of("postgres", &[("options", "-c default_transaction_isolation=serializable")]);
    is(&setting, &mut other, ("n7", false));
    is(&setting, &mut reader, ("n7", true));
}

/// A snapshot that was taken before a write is what a transaction of that kind must go on to see.
#[test]
fn a_snapshot_is_not_broken_by_a_hit() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    let mut old = setting.session_of("reader", &[]);
    run(&mut old, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    is(&setting, &mut old, ("n7", false));
    run(&mut writer, WRITE);
    is(&setting, &mut reader, ("new", false));
    is(&setting, &mut reader, ("new", true));
    is(&setting, &mut old, ("n7", false));
    run(&mut old, "COMMIT");
    is(&setting, &mut old, ("new", true));
}

#[test]
fn pipelines_are_relayed_and_their_writes_are_held() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    let read = [parse("", READ), bind("", "", &[]), execute("", 0)].concat();
    let write = [parse("", WRITE), bind("", "", &[]), execute("", 0)].concat();
    writer.send(&[&read[..], &write, &read, &sync()].concat());
    let answer = writer.until_ready();
    assert_eq!(letters(&answer), "12DC12C12DCZ");
    assert!(answer.iter().any(|(_, body)| body.ends_with(b"new")), "it sees its own write");
    is(&setting, &mut reader, ("new", false));
    is(&setting, &mut reader, ("new", true));
    writer.send(
        &[query("BEGIN"), query("UPDATE orders SET note = 'last' WHERE customer = 7"), query("COMMIT")]
            .concat(),
    );
    (0..3).for_each(|_| drop(writer.until_ready()));
    is(&setting, &mut reader, ("last", false));
}

#[test]
fn several_statements_in_one_text_are_a_write_to_everything() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    run(
        &mut writer,
        "BEGIN; UPDATE orders SET note = 'a' WHERE customer = 7; COMMIT; UPDATE orders SET note = 'b' WHERE customer = 7",
    );
    setting.opens();
    is(&setting, &mut reader, ("b", false));
}

/// Each may write in a way that its text does not show.
#[test]
fn what_is_not_certainly_a_read_is_a_write_to_everything() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    run(
        &mut writer,
        "CREATE FUNCTION change(text) RETURNS void LANGUAGE sql AS 'UPDATE orders SET note = $1 WHERE customer = 7'",
    );
    run(
        &mut writer,
        "CREATE PROCEDURE call_it(text) LANGUAGE sql AS 'UPDATE orders SET note = $1 WHERE customer = 7'",
    );
    run(&mut writer, "CREATE VIEW door AS SELECT customer, note FROM orders");
    run(&mut writer, "PREPARE hidden AS UPDATE orders SET note = 'prepared' WHERE customer = 7");
    for (sql, expected) in [
        ("SELECT change('function')", "function"),
        ("DO $$ BEGIN PERFORM change('do'); END $$", "do"),
        ("CALL call_it('call')", "call"),
        ("UPDATE door SET note = 'view' WHERE customer = 7", "view"),
        ("EXECUTE hidden", "prepared"),
        (
            "WITH x AS (UPDATE orders SET note = 'with' WHERE customer = 7 RETURNING 1) SELECT * FROM x",
            "with",
        ),
        (
            "MERGE INTO orders USING (SELECT 7 AS c) AS s ON customer = c WHEN MATCHED THEN UPDATE SET note = 'merge'",
            "merge",
        ),
        ("UPDATE orders SET note = 'from' FROM (SELECT 7 AS c) AS s WHERE customer = c", "from"),
        (
            "INSERT INTO orders (id, note) VALUES (7, '') ON CONFLICT (id) DO UPDATE SET note = 'conflict'",
            "conflict",
        ),
        (
            "DELETE FROM orders WHERE customer = 7; INSERT INTO orders (id, customer, note) VALUES (7, 7, 'again')",
            "again",
        ),
        ("EXPLAIN ANALYZE UPDATE orders SET note = 'explain' WHERE customer = 7", "explain"),
    ] {
        setting.opens();
        let _ = seen(&setting, &mut reader);
        run(&mut writer, sql);
        assert_eq!(seen(&setting, &mut reader).0, expected, "{sql}");
    }
    run(&mut writer, "TRUNCATE orders");
    assert_eq!(ask(&mut reader, READ), None);
    writer.send(&query("COPY orders (id, customer, note) FROM STDIN"));
    writer.send(&[crate::raw::message(b'd', &[b"7\t7\tcopied\n"]), crate::raw::message(b'c', &[])].concat());
    assert!(writer.until_ready().iter().all(|(tag, _)| *tag != b'E'));
    assert_eq!(seen(&setting, &mut reader).0, "copied");
}

/// A COPY whose client sends nothing.
#[test]
fn what_holds_everything_is_said_with_its_process() {
    let Some((setting, _reader, mut writer)) = warm() else { return };
    let pid = ask(&mut writer, "SELECT pg_backend_pid()").unwrap();
    writer.send(&query("COPY orders (id, customer, note) FROM STDIN"));
    setting.closes(&format!("what server process {pid} does may touch everything, and has not ended for"));
    assert!(setting.counts().held >= Duration::from_secs(1));
    writer.send(&crate::raw::message(b'c', &[]));
    assert!(writer.until_ready().iter().all(|(tag, _)| *tag != b'E'));
    eventually("it is shown no more", || setting.counts().closed.is_none());
    assert_eq!(setting.counts().held, Duration::ZERO);
    // After a message of a type that no protocol has everything is held until the session has ended.
    let mut lost = setting.session();
    lost.send(&crate::raw::message(b'~', &[]));
    assert!(lost.until_ready().iter().any(|(tag, _)| *tag == b'E'));
    eventually("its end is known", || setting.counts().closed.is_none() && setting.counts().held.is_zero());
}

#[test]
fn a_prepared_transaction_closes_the_cache_until_it_ends() {
    let Some(postgres) = super::setting::server_with(super::setting::TABLE, &["max_prepared_transactions=5"])
    else {
        return;
    };
    let runtime = super::setting::runtime();
    let proxy =
        start(&runtime, &postgres, super::setting::settings(&postgres, "public.orders.customer")).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    setting.opens();
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    assert_eq!(ask(&mut reader, READ).unwrap(), "n7");
    for step in ["BEGIN", WRITE, "PREPARE TRANSACTION 'two'"] {
        run(&mut writer, step);
    }
    is(&setting, &mut reader, ("n7", false));
    setting.closes("a prepared transaction waits for its end: \"two\" of role postgres");
    is(&setting, &mut reader, ("n7", false));
    run(&mut writer, "COMMIT PREPARED 'two'");
    is(&setting, &mut reader, ("new", false));
    setting.opens();
    is(&setting, &mut reader, ("new", false));
    is(&setting, &mut reader, ("new", true));
}

/// The answer to a COMMIT is on its way when the client goes: the server has committed, or will, or has not.
#[test]
fn a_commit_without_an_answer_is_doubted_until_its_process_has_ended() {
    let Some((setting, mut reader, mut writer)) = warm() else { return };
    let mut blocker = setting.session();
    run(&mut blocker, "BEGIN");
    run(&mut blocker, "UPDATE orders SET note = 'blocked' WHERE id = 50");
    // It waits for the other's row, and commits when that has ended.
    setting.opens();
    let _ = seen(&setting, &mut reader);
    writer.send(&query("UPDATE orders SET note = 'late' WHERE customer BETWEEN 7 AND 50"));
    std::thread::sleep(Duration::from_millis(300));
    reset(writer);
    eventually("the session has ended", || setting.counts().doubts > 0);
    std::thread::sleep(Duration::from_millis(700));
    is(&setting, &mut reader, ("n7", false));
    is(&setting, &mut reader, ("n7", false));
    run(&mut blocker, "ROLLBACK");
    eventually("the doubt is settled", || {
        let (found, is_hit) = seen(&setting, &mut reader);
        assert!(found == "n7" || found == "late");
        is_hit
    });
    let mut direct = setting.direct();
    assert_eq!(ask(&mut direct, READ).unwrap(), seen(&setting, &mut reader).0);
}

/// Ends the connection without a goodbye: the proxy does not wait for what the client would not read.
fn reset(raw: Raw) {
    socket2::SockRef::from(&raw.stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(raw);
}

/// Read old, invalidate, install old.
#[test]
fn a_reply_that_a_write_overtakes_is_not_kept() {
    let Some(postgres) = super::setting::server(super::setting::TABLE) else { return };
    let server_port = postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap();
    let tap = Tap::before(server_port, Duration::ZERO);
    let runtime = super::setting::runtime();
    let upstream = format!("postgres://127.0.0.1:{}?sslmode=disable", tap.port).parse().unwrap();
    let settings = super::setting::settings(&postgres, "public.orders.customer");
    let proxy = runtime.block_on(lacuna_proxy::Options::new(upstream).with_cache(settings).start()).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    setting.opens();
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    tap.is_stopped.store(true, Ordering::SeqCst);
    reader.send(&query(READ));
    std::thread::sleep(Duration::from_millis(100));
    writer.stream.write_all(&query(WRITE)).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    tap.is_stopped.store(false, Ordering::SeqCst);
    assert!(
        reader.until_ready().iter().any(|(_, body)| body.ends_with(b"n7")),
        "it was read before the write"
    );
    writer.until_ready();
    is(&setting, &mut reader, ("new", false));
    is(&setting, &mut reader, ("new", true));
}

#[test]
fn a_server_that_starts_anew_finds_a_cold_cache() {
    let Some((mut setting, reader, writer)) = warm() else { return };
    setting.postgres.restart();
    drop((reader, writer));
    eventually("the server is there", || {
        let mut raw = Raw::connect(setting.server_port());
        raw.send(&crate::raw::startup(crate::raw::V3_0, &crate::raw::AS_POSTGRES));
        raw.until_ready().last().is_some_and(|(tag, _)| *tag == b'Z')
    });
    setting.opens();
    let mut reader = setting.session_of("reader", &[]);
    is(&setting, &mut reader, ("n7", false));
    is(&setting, &mut reader, ("n7", true));
}

#[test]
fn errors_are_the_servers_own() {
    let Some((setting, _, mut writer)) = warm() else { return };
    let mut stranger = setting.session_of("reader", &[]);
    writer.ask("REVOKE SELECT ON orders FROM reader");
    stranger.send(&query(READ));
    assert_eq!(error_field(&stranger.until_ready(), b'C'), "42501");
}
