//! Writes past the proxy that are read in the log of the database.

mod commits;

use std::thread;
use std::time::{Duration, Instant};

use lacuna_proxy::{CacheSettings, Flaw, Registered, log_sql, unlog_sql};
use lacuna_testkit::servers::Postgres;

use super::setting::{Setting, TABLE, ask, login, run, runtime, server_with, settings, start, value};
use crate::raw::Raw;
use crate::world::{eventually, psql};

const READ: &str = "SELECT note FROM orders WHERE customer = 7";
const OTHER: &str = "SELECT note FROM orders WHERE customer BETWEEN 50 AND 60";
const COLUMN: &str = "public.orders.customer";
const LOGICAL: &str = "wal_level=logical";

/// Other ways to the table.
const MORE: &str = "CREATE VIEW door AS SELECT * FROM orders; \
    CREATE FUNCTION back_door() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'UPDATE orders SET note = ''back'' WHERE id = 7'; \
    CREATE TABLE source (id INT, note TEXT); INSERT INTO source VALUES (7, 'merged'); \
    CREATE PROCEDURE step() LANGUAGE plpgsql AS 'BEGIN UPDATE orders SET note = ''step'' WHERE id = 7; COMMIT; END'";

fn columns() -> Registered {
    COLUMN.parse().unwrap()
}

fn prepared() -> Option<Postgres> {
    server_with(&format!("{TABLE}; {MORE}; {}", log_sql(&columns())), &[LOGICAL])
}

fn log_settings(postgres: &Postgres) -> CacheSettings {
    settings(postgres, COLUMN).with_writers([]).with_log()
}

fn before(postgres: Postgres, change: impl FnOnce(CacheSettings) -> CacheSettings) -> Setting {
    let runtime = runtime();
    let proxy = start(&runtime, &postgres, change(log_settings(&postgres))).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    setting.opens();
    setting
}

/// A proxy that reads the log, before a server that has run `sql`.
pub(crate) fn logged_over(sql: &str) -> Option<Setting> {
    Some(before(server_with(&format!("{sql}; {}", log_sql(&columns())), &[LOGICAL])?, |settings| settings))
}

fn logged_with(flaw: Flaw) -> Option<Setting> {
    Some(before(prepared()?, |settings| settings.with_flaw(flaw)))
}

fn logged() -> Option<Setting> {
    Some(before(prepared()?, |settings| settings))
}

fn admin(setting: &Setting, sql: &str) {
    psql(&setting.postgres.url(), &["-c", sql]).expect_success();
}

/// Reads until the reply comes from the cache.
fn warm(setting: &Setting, reader: &mut Raw, sql: &str) {
    eventually(sql, || setting.counted(|| drop(run(reader, sql))) == (1, 0));
}

/// Writes past the proxy, and the note of customer 7 after each.
const WRITES: [(&str, Option<&str>); 20] = [
    ("UPDATE orders SET note = 'a' WHERE customer = 7", Some("a")),
    ("UPDATE orders SET customer = 8 WHERE id = 7", None),
    ("UPDATE orders SET customer = 7 WHERE id = 7", Some("a")),
    ("DELETE FROM orders WHERE id = 7", None),
    ("INSERT INTO orders (id, customer, note) VALUES (7, 7, 'b')", Some("b")),
    ("INSERT INTO orders (id, customer) VALUES (7, 7) ON CONFLICT (id) DO UPDATE SET note = 'c'", Some("c")),
    ("UPDATE orders SET customer = NULL WHERE id = 7", None),
    ("UPDATE orders SET customer = 7 WHERE id = 7", Some("c")),
    (
        "BEGIN; UPDATE orders SET note = repeat('long', 20000) WHERE id = 7; UPDATE orders SET note = 'd' WHERE id = 7; COMMIT",
        Some("d"),
    ),
    ("UPDATE orders SET note = source.note FROM source WHERE source.id = orders.id", Some("merged")),
    (
        "MERGE INTO orders USING source ON source.id = orders.id WHEN MATCHED THEN UPDATE SET note = 'm'",
        Some("m"),
    ),
    ("UPDATE door SET note = 'door' WHERE customer = 7", Some("door")),
    ("SELECT back_door()", Some("back")),
    ("CALL step()", Some("step")),
    ("DO $$ BEGIN UPDATE orders SET note = 'do' WHERE customer = 7; END $$", Some("do")),
    (
        "SET session_replication_role = replica; UPDATE orders SET note = 'replica' WHERE customer = 7",
        Some("replica"),
    ),
    ("SET synchronous_commit = off; UPDATE orders SET note = 'late' WHERE customer = 7", Some("late")),
    (
        "BEGIN; SAVEPOINT s; UPDATE orders SET note = 'x'; ROLLBACK TO s; UPDATE orders SET note = 'kept' WHERE id = 7; COMMIT",
        Some("kept"),
    ),
    ("COPY orders (id, customer, note) FROM PROGRAM 'echo 900,7,copied' WITH (FORMAT csv)", Some("copied")),
    ("TRUNCATE orders", None),
];

#[test]
fn writes_past_the_proxy_are_seen_by_the_next_read() {
    let Some(setting) = logged() else { return };
    let mut reader = setting.session_of("reader", &[]);
    let mut stranger = login(setting.server_port(), "postgres", &[]);
    let latest = "SELECT note FROM orders WHERE customer = 7 ORDER BY id DESC LIMIT 1";
    for (write, note) in WRITES {
        warm(&setting, &mut reader, latest);
        run(&mut stranger, write);
        let seen = run(&mut reader, latest);
        assert_eq!(value(&seen).as_deref(), note, "{write}");
        run(&mut stranger, "RESET ALL");
    }
}

#[test]
fn what_a_write_past_the_proxy_does_not_touch_is_still_shown() {
    let Some(setting) = logged() else { return };
    let mut reader = setting.session_of("reader", &[]);
    warm(&setting, &mut reader, OTHER);
    for sql in [
        "UPDATE orders SET note = 'x' WHERE customer = 7",
        "UPDATE orders SET customer = 70 WHERE customer = 8",
        "INSERT INTO source VALUES (1, 'x')",
        "SELECT pg_switch_wal()",
        "SELECT 1",
    ] {
        admin(&setting, sql);
        assert_eq!(setting.counted(|| drop(run(&mut reader, OTHER))), (1, 0), "{sql}");
    }
    // A row that goes elsewhere is gone from where it was, and is where it went.
    admin(&setting, "UPDATE orders SET customer = 55 WHERE id = 1");
    assert_eq!(setting.counted(|| drop(run(&mut reader, OTHER))), (0, 1));
    assert!(setting.counts().logged >= 3, "{}", setting.counts().report());
}

/// Of a column in the order of a language the log has single values, too.
#[test]
fn texts_in_another_order_are_found_in_the_log() {
    let sql = "CREATE TABLE names (id INT PRIMARY KEY, name TEXT COLLATE \"und-x-icu\", n INT); \
        INSERT INTO names SELECT n, 'customer ''' || n, 0 FROM generate_series(1, 9) AS n; \
        CREATE ROLE reader LOGIN; GRANT SELECT ON names TO reader";
    let column: Registered = "public.names.name".parse().unwrap();
    let Some(postgres) = server_with(&format!("{sql}; {}", log_sql(&column)), &[LOGICAL]) else { return };
    let settings = CacheSettings::new(postgres.url(), column).with_log();
    let setting = before(postgres, |_| settings);
    let mut reader = setting.session_of("reader", &[]);
    let read = "SELECT n FROM names WHERE name = 'customer ''1'";
    warm(&setting, &mut reader, read);
    admin(&setting, "UPDATE names SET n = 1 WHERE id = 2");
    assert_eq!(setting.counted(|| drop(run(&mut reader, read))), (1, 0));
    admin(&setting, "UPDATE names SET n = 1 WHERE id = 1");
    assert_eq!(ask(&mut reader, read).as_deref(), Some("1"));
}

#[test]
fn definitions_that_change_past_the_proxy_are_seen_by_the_next_read() {
    let Some(setting) = logged_over(TABLE) else { return };
    let mut reader = setting.session_of("reader", &[]);
    let all = "SELECT * FROM orders WHERE customer = 7";
    let mut direct = setting.direct();
    for sql in [
        "ALTER TABLE orders ALTER note TYPE text USING note || '!'",
        "ALTER TABLE orders ADD COLUMN more INT DEFAULT 7",
        "ALTER TABLE orders DROP COLUMN more",
        "ALTER TABLE orders RENAME COLUMN note TO remark",
        "ALTER TABLE orders RENAME COLUMN remark TO note",
        "ALTER TABLE orders ALTER customer TYPE bigint USING customer + 0",
        "BEGIN; ALTER TABLE orders RENAME TO gone; CREATE TABLE orders (LIKE gone INCLUDING ALL); \
         ALTER TABLE orders REPLICA IDENTITY FULL; GRANT SELECT ON orders TO reader; COMMIT",
        "INSERT INTO orders SELECT * FROM gone",
    ] {
        setting.opens();
        warm(&setting, &mut reader, all);
        admin(&setting, sql);
        assert_eq!(run(&mut reader, all), run(&mut direct, all), "{sql}");
    }
}

#[test]
fn a_hit_that_does_not_wait_for_the_log_would_be_seen() {
    let Some(setting) = logged_with(Flaw::NoLogWait) else { return };
    let mut reader = setting.session_of("reader", &[]);
    let mut stranger = login(setting.server_port(), "postgres", &[]);
    let is_old = (0..1_000).any(|nth| {
        warm(&setting, &mut reader, READ);
        run(&mut stranger, &format!("UPDATE orders SET note = '{nth}' WHERE customer = 7"));
        ask(&mut reader, READ) != Some(nth.to_string())
    });
    assert!(is_old);
}

#[test]
fn a_stream_that_breaks_closes_the_cache_until_the_next_one() {
    let Some(setting) = logged() else { return };
    let mut reader = setting.session_of("reader", &[]);
    for (sql, note) in [
        ("SELECT pg_terminate_backend(pid) FROM pg_stat_replication", "1"),
        (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_current_snapshot%' AND pid <> pg_backend_pid()",
            "2",
        ),
    ] {
        warm(&setting, &mut reader, READ);
        admin(&setting, sql);
        admin(&setting, &format!("UPDATE orders SET note = '{note}' WHERE customer = 7"));
        assert_eq!(ask(&mut reader, READ).as_deref(), Some(note), "{sql}");
        setting.opens();
    }
    warm(&setting, &mut reader, READ);
    let slots = "SELECT count(*) FROM pg_replication_slots";
    assert_eq!(psql(&setting.postgres.url(), &["-c", slots]).expect_success().trim(), "1");
    let Setting { postgres, proxy, runtime } = setting;
    runtime.block_on(proxy.unwrap().stop());
    eventually("no slot is left", || psql(&postgres.url(), &["-c", slots]).expect_success().trim() == "0");
}

#[test]
fn a_server_that_starts_anew_is_read_anew() {
    let Some(mut setting) = logged() else { return };
    let mut reader = setting.session_of("reader", &[]);
    warm(&setting, &mut reader, READ);
    setting.postgres.restart();
    eventually("the server is there", || psql(&setting.postgres.url(), &["-c", "SELECT 1"]).is_success);
    admin(&setting, "UPDATE orders SET note = 'after' WHERE customer = 7");
    let mut reader = setting.session_of("reader", &[]);
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("after"));
    setting.opens();
    warm(&setting, &mut reader, READ);
    admin(&setting, "UPDATE orders SET note = 'again' WHERE customer = 7");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("again"));
}

/// What goes through one proxy is past the other.
#[test]
fn proxies_that_read_the_log_share_a_table() {
    let Some(setting) = logged_over(TABLE) else { return };
    let second = start(&setting.runtime, &setting.postgres, log_settings(&setting.postgres)).unwrap();
    eventually("the second one is open", || second.cache_counts().unwrap().closed.is_none());
    let port = second.address().port();
    let mut readers = [setting.session_of("reader", &[]), login(port, "reader", &[])];
    let mut writers = [setting.session(), login(port, "postgres", &[])];
    let counts = |nth: usize| if nth == 0 { setting.counts() } else { second.cache_counts().unwrap() };
    for nth in 0..20 {
        let note = nth.to_string();
        run(&mut writers[nth % 2], &format!("UPDATE orders SET note = '{note}' WHERE customer = 7"));
        for (place, reader) in readers.iter_mut().enumerate() {
            assert_eq!(ask(reader, READ).as_deref(), Some(&note[..]));
            let hits = counts(place).hits;
            eventually("the reply is kept", || {
                assert_eq!(ask(reader, READ).as_deref(), Some(&note[..]));
                counts(place).hits > hits
            });
        }
    }
    assert!([0, 1].iter().all(|place| counts(*place).logged >= 20));
    let Setting { postgres, proxy, runtime } = setting;
    let refusal = |settings| start(&runtime, &postgres, settings).unwrap_err().to_string();
    let why = refusal(settings(&postgres, COLUMN));
    assert!(why.contains("another running process caches the table orders"), "{why}");
    // One that goes takes nothing from the other.
    runtime.block_on(proxy.unwrap().stop());
    let third = start(&runtime, &postgres, log_settings(&postgres)).unwrap();
    thread::sleep(Duration::from_secs(4));
    assert_eq!(second.cache_counts().unwrap().closed, None);
    runtime.block_on(second.stop());
    runtime.block_on(third.stop());
    let alone = start(&runtime, &postgres, settings(&postgres, COLUMN)).unwrap();
    let why = refusal(log_settings(&postgres));
    assert!(why.contains("another running process caches the table orders"), "{why}");
    runtime.block_on(alone.stop());
}

/// An open transaction of before the slot keeps the cache closed, and is not missed.
#[test]
fn transactions_that_are_older_than_the_stream_are_waited_for() {
    let Some(postgres) = prepared() else { return };
    let mut old = login(postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap(), "postgres", &[]);
    run(&mut old, "BEGIN");
    run(&mut old, "UPDATE orders SET note = 'old' WHERE customer = 7");
    let runtime = runtime();
    let proxy = start(&runtime, &postgres, log_settings(&postgres)).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    let mut reader = setting.session_of("reader", &[]);
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("n7"));
    assert_eq!(setting.counted(|| assert_eq!(ask(&mut reader, READ).as_deref(), Some("n7"))).0, 0);
    setting.closes("a slot in the log waits for open transactions to end");
    run(&mut old, "COMMIT");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("old"));
    setting.opens();
    warm(&setting, &mut reader, READ);
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("old"));
}

#[test]
fn a_setting_that_is_not_fit_is_refused_with_what_to_do() {
    fn refusal(sql: &str, options: &[&str], account: &str) -> Option<String> {
        let postgres = server_with(sql, options)?;
        let url = postgres.url().replace("postgres@", account);
        let settings = CacheSettings::new(url, columns()).with_log();
        Some(start(&runtime(), &postgres, settings).unwrap_err().to_string())
    }
    let whole = format!("{TABLE}; {}", log_sql(&columns()));
    let role = format!(
        "{whole}; CREATE ROLE lacuna LOGIN; GRANT pg_monitor TO lacuna; GRANT ALL ON SCHEMA public TO lacuna"
    );
    for (sql, options, account, expected) in [
        (&whole[..], &[][..], "postgres@", "set wal_level = logical, which is replica"),
        (TABLE, &[LOGICAL], "postgres@", "REPLICA IDENTITY FULL"),
        (TABLE, &[LOGICAL], "postgres@", "the event trigger lacuna_log is missing"),
        (&format!("{whole}; {}", unlog_sql(&columns())), &[LOGICAL], "postgres@", "lacuna proxy init --log"),
        (&format!("{whole}; ALTER EVENT TRIGGER lacuna_log DISABLE"), &[LOGICAL], "postgres@", "not enabled"),
        (&role, &[LOGICAL], "lacuna@", "ALTER ROLE \"lacuna\" REPLICATION"),
    ] {
        let Some(why) = refusal(sql, options, account) else { return };
        assert!(why.contains(expected), "{expected}: {why}");
    }
}

/// The account logs in by the ways that the server asks for.
#[test]
fn the_log_is_read_with_a_password() {
    let Some(setting) = logged() else { return };
    let Setting { postgres, proxy, runtime } = setting;
    runtime.block_on(proxy.unwrap().stop());
    let url = postgres.url();
    psql(&url, &["-c", "CREATE ROLE lacuna SUPERUSER LOGIN PASSWORD 'it''s secret'"]).expect_success();
    let file = psql(&url, &["-c", "SHOW hba_file"]).expect_success();
    for method in ["scram-sha-256", "password"] {
        let lines = format!(
            "('host all lacuna all {method}'), ('host replication lacuna all {method}'), ('host all all all trust'), ('local all all trust')"
        );
        psql(&url, &["-c", &format!("COPY (VALUES {lines}) TO '{}'", file.trim())]).expect_success();
        psql(&url, &["-c", "SELECT pg_reload_conf()"]).expect_success();
        let as_lacuna = url.replace("postgres@", "lacuna:it%27s%20secret@");
        eventually("the password is asked for", || {
            !psql(&url.replace("postgres@", "lacuna@"), &["-w", "-c", "SELECT 1"]).is_success
        });
        let settings = CacheSettings::new(as_lacuna, columns()).with_log();
        let proxy = start(&runtime, &postgres, settings).unwrap();
        eventually(method, || proxy.cache_counts().unwrap().closed.is_none());
        runtime.block_on(proxy.stop());
        // What the log cannot be read with is said, and the cache stays closed.
        let settings = CacheSettings::new(url.replace("postgres@", "lacuna:wrong@"), columns()).with_log();
        assert!(start(&runtime, &postgres, settings).is_err());
    }
}

#[test]
fn a_definition_that_was_changed_while_the_log_was_not_read_is_read_again() {
    let Some(setting) = logged() else { return };
    let mut reader = setting.session_of("reader", &[]);
    warm(&setting, &mut reader, READ);
    let mut definer = login(setting.server_port(), "postgres", &[]);
    run(&mut definer, "BEGIN");
    for step in [
        "ALTER TABLE orders RENAME TO earlier",
        "CREATE TABLE orders (LIKE earlier INCLUDING ALL)",
        "INSERT INTO orders SELECT * FROM earlier",
        "GRANT SELECT ON orders TO reader",
    ] {
        run(&mut definer, step);
    }
    admin(&setting, "SELECT pg_terminate_backend(pid) FROM pg_stat_replication");
    // The next stream waits for what is open.
    thread::sleep(Duration::from_millis(1_500));
    run(&mut definer, "COMMIT");
    // Rows of the new table come without what they were before. Until it is found, they are cached or not.
    let begun = Instant::now();
    let mut was_hit = false;
    while !was_hit && begun.elapsed() < Duration::from_millis(1_500) {
        was_hit = setting.counted(|| drop(run(&mut reader, READ))).0 == 1;
    }
    run(&mut definer, "DELETE FROM orders WHERE id = 7");
    assert_eq!(ask(&mut reader, READ), None, "cached: {was_hit}");
    setting.closes("the log has no whole rows of it");
}
