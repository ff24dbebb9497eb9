//! Triggers by which writes past the proxy fail, in place of rights that keep others from writing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use lacuna_proxy::{CacheSettings, Registered, guard_sql, run_sql, unguard_sql};

use super::setting::{Setting, TABLE, ask, login, run, runtime, server, server_with, settings, start};
use crate::raw::{Raw, error_field, query};
use crate::transcripts::are_the_same;
use crate::world::{eventually, psql};

const READ: &str = "SELECT note FROM orders WHERE customer = 7";
const COLUMN: &str = "public.orders.customer";

/// A role that may write, and other ways to the table.
const MORE: &str = "CREATE ROLE app LOGIN; GRANT ALL ON orders TO app; CREATE VIEW door AS SELECT * FROM orders; GRANT ALL ON door TO app; \
    CREATE FUNCTION back_door() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'UPDATE orders SET note = ''back'' WHERE id = 7'; \
    CREATE TABLE source (id INT, note TEXT); INSERT INTO source VALUES (7, 'merged'), (901, 'new'); GRANT ALL ON source TO app; \
    CREATE PROCEDURE step() LANGUAGE plpgsql AS 'BEGIN UPDATE orders SET note = ''step'' WHERE id = 7; COMMIT; END'";

fn columns() -> Registered {
    COLUMN.parse().unwrap()
}

fn sql() -> String {
    format!("{TABLE}; {MORE}; {}", guard_sql(&columns(), "postgres"))
}

/// No role is named as a writer: all that have the right may write through the proxy.
fn guarded() -> Option<Setting> {
    Setting::of(&sql(), COLUMN, |settings| settings.with_writers([]).with_guards())
}

fn admin(setting: &Setting, sql: &str) {
    psql(&setting.postgres.url(), &["-c", sql]).expect_success();
}

/// The code of the error that `sql` is, if it is one.
fn refused(raw: &mut Raw, sql: &str) -> Option<(String, String)> {
    raw.send(&query(sql));
    let answer = raw.until_ready();
    let has_failed = answer.iter().any(|(tag, _)| *tag == b'E');
    has_failed.then(|| (error_field(&answer, b'C'), error_field(&answer, b'M')))
}

const WRITES: [&str; 22] = [
    "INSERT INTO orders (id, customer) VALUES (900, 7)",
    "INSERT INTO orders (id, customer) SELECT 900, 7",
    "INSERT INTO orders (id, customer) VALUES (7, 7) ON CONFLICT DO NOTHING",
    "INSERT INTO orders (id, customer) VALUES (7, 7) ON CONFLICT (id) DO UPDATE SET note = 'x'",
    "UPDATE orders SET note = 'x' WHERE customer = 7",
    "UPDATE orders SET note = 'x' WHERE customer = -1",
    "UPDATE ONLY orders SET customer = 7 WHERE id = 8",
    "UPDATE orders SET note = source.note FROM source WHERE source.id = orders.id",
    "DELETE FROM orders WHERE customer = 7",
    "WITH gone AS (DELETE FROM orders RETURNING id) SELECT count(*) FROM gone",
    "MERGE INTO orders USING source ON source.id = orders.id WHEN MATCHED THEN UPDATE SET note = source.note",
    "MERGE INTO orders USING source ON source.id = orders.id WHEN MATCHED THEN DELETE",
    "MERGE INTO orders USING source ON source.id = orders.id WHEN NOT MATCHED THEN INSERT (id, customer) VALUES (source.id, 7)",
    "TRUNCATE orders",
    "TRUNCATE ONLY orders CASCADE",
    "UPDATE door SET note = 'x' WHERE customer = 7",
    "SELECT back_door()",
    "DO $$ BEGIN UPDATE orders SET note = 'x' WHERE customer = 7; END $$",
    "BEGIN; DELETE FROM orders WHERE id = 7; COMMIT",
    "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM orders; DELETE FROM orders; COMMIT",
    "PREPARE w AS UPDATE orders SET note = 'x' WHERE customer = $1; EXECUTE w (7)",
    "EXPLAIN ANALYZE UPDATE orders SET note = 'x' WHERE customer = 7",
];

/// What only a superuser may do.
const OF_SUPERUSERS: [&str; 6] = [
    "COPY orders (id, customer) FROM PROGRAM 'echo 900,7' WITH (FORMAT csv)",
    "SET session_replication_role = replica; UPDATE orders SET note = 'x' WHERE customer = 7",
    "SET session_replication_role = replica; INSERT INTO orders (id, customer) VALUES (900, 7)",
    "SET session_replication_role = replica; TRUNCATE orders",
    "SET SESSION AUTHORIZATION app; DELETE FROM orders WHERE customer = 7",
    "CALL step()",
];

#[test]
fn every_write_past_the_proxy_fails() {
    let Some(setting) = guarded() else { return };
    let (mut reader, mut direct) = (setting.session_of("reader", &[]), setting.direct());
    let whole = "SELECT count(*), sum(id), sum(customer), min(note), max(note) FROM orders";
    let before = run(&mut direct, whole);
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("n7"));
    for (user, writes) in [("app", &WRITES[..]), ("postgres", &WRITES[..]), ("postgres", &OF_SUPERUSERS[..])]
    {
        for write in writes {
            let mut stranger = login(setting.server_port(), user, &[]);
            let (code, sentence) = refused(&mut stranger, write).unwrap_or_else(|| panic!("{user}: {write}"));
            assert_eq!(code, "LA002", "{user}: {write}: {sentence}");
            assert_eq!(
                sentence,
                "the table public.orders is cached by a proxy: connect through it to write the table"
            );
        }
    }
    assert_eq!(run(&mut direct, whole), before);
    // Sessions past the proxy are none of its business.
    let _stranger = login(setting.server_port(), "postgres", &[]);
    thread::sleep(Duration::from_millis(1_200));
    assert_eq!(setting.counted(|| assert_eq!(ask(&mut reader, READ).as_deref(), Some("n7"))), (1, 0));
}

/// What a client does to its session does not take the right to write from it.
#[test]
fn sessions_of_the_proxy_write_whatever_they_have_reset() {
    let Some(setting) = guarded() else { return };
    let mut reader = setting.session_of("reader", &[]);
    for (nth, steps) in [
        &["RESET ALL"][..],
        &["DISCARD ALL"],
        &["SET SESSION AUTHORIZATION app"],
        &["SET SESSION AUTHORIZATION app", "RESET SESSION AUTHORIZATION", "SET ROLE app", "DISCARD ALL"],
        &["SET session_replication_role = replica"],
        &["SET search_path = ''", "SELECT pg_advisory_unlock_all()"],
        &["SET default_transaction_isolation = 'serializable'"],
        &["BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM public.orders"],
        &["BEGIN", "SAVEPOINT a", "SELECT 1", "ROLLBACK TO a"],
        &["SET plan_cache_mode = force_generic_plan", "SET enable_indexscan = off"],
    ]
    .into_iter()
    .enumerate()
    {
        let mut writer = setting.session();
        assert!(ask(&mut reader, READ).is_some());
        steps.iter().for_each(|step| drop(run(&mut writer, step)));
        run(&mut writer, &format!("UPDATE public.orders SET note = 'by {nth}' WHERE customer = 7"));
        if steps[0].starts_with("BEGIN") {
            run(&mut writer, "COMMIT");
        }
        assert_eq!(ask(&mut reader, READ), Some(format!("by {nth}")), "{steps:?}");
        let whole = refused(
            &mut writer,
            "TRUNCATE public.orders; INSERT INTO public.orders (id, customer, note) VALUES (7, 7, 'n7')",
        );
        assert!(whole.is_none_or(|(code, _)| code == "42501"), "{steps:?}");
    }
}

/// Nothing of it is seen: scripted sessions have the same bytes as without a proxy.
#[test]
fn guards_change_no_byte() {
    let Some(setting) = guarded() else { return };
    are_the_same(setting.server_port(), setting.proxy().address().port(), |sql| admin(&setting, sql));
}

/// A session's right is its server process's, and ends with it.
#[test]
fn a_right_is_bound_to_a_process() {
    let Some(setting) = guarded() else { return };
    let mut writer = setting.session_of("app", &[]);
    let write = "UPDATE orders SET note = 'x' WHERE id = 8";
    assert_eq!(refused(&mut writer, write), None);
    // As if the number had belonged to another process before.
    setting.run("UPDATE lacuna_guard.session SET started = started - '1 s'::interval WHERE proxy <> ''");
    assert_eq!(refused(&mut writer, write).unwrap().0, "LA002");
    eventually("rows of processes that are not there are forgotten", || {
        psql(&setting.postgres.url(), &["-c", "SELECT count(*) FROM lacuna_guard.session"]).stdout.trim()
            == "0"
    });
    let mut app = login(setting.server_port(), "app", &[]);
    let forged = "INSERT INTO lacuna_guard.session SELECT pid, backend_start, (SELECT id FROM lacuna_guard.proxy) FROM pg_stat_activity";
    assert_eq!(refused(&mut app, forged).unwrap().0, "42501");
}

#[test]
fn a_proxy_does_not_start_without_guards() {
    let Some(postgres) = server(&sql()) else { return };
    let guarded = || settings(&postgres, COLUMN).with_writers([]).with_guards();
    let runtime = runtime();
    let why = start(&runtime, &postgres, settings(&postgres, COLUMN)).unwrap_err().to_string();
    assert!(why.contains("it has a trigger: lacuna_guard"), "{why}");
    for (harm, remedy) in HARMS {
        psql(&postgres.url(), &["-c", harm]).expect_success();
        let why = start(&runtime, &postgres, guarded()).unwrap_err().to_string();
        assert!(why.contains("guard triggers are missing, changed or not enabled"), "{harm}: {why}");
        psql(&postgres.url(), &["-c", &remedy()]).expect_success();
    }
    let proxy = start(&runtime, &postgres, guarded()).unwrap();
    let why = start(&runtime, &postgres, guarded()).unwrap_err().to_string();
    assert!(why.contains("another running process"), "{why}");
    runtime.block_on(proxy.stop());
    psql(&postgres.url(), &["-c", &unguard_sql(&columns())]).expect_success();
    let why = start(&runtime, &postgres, guarded()).unwrap_err().to_string();
    assert!(why.contains("guard triggers are missing"), "{why}");
}

type Remedy = fn() -> String;

const HARMS: [(&str, Remedy); 8] = [
    ("DROP TRIGGER lacuna_guard ON orders", again),
    ("DROP TRIGGER lacuna_guard_rows ON orders", again),
    ("ALTER TABLE orders DISABLE TRIGGER lacuna_guard", again),
    ("ALTER TABLE orders DISABLE TRIGGER ALL", again),
    ("ALTER TABLE orders ENABLE TRIGGER lacuna_guard", again),
    (
        "DROP TRIGGER lacuna_guard ON orders; CREATE TRIGGER lacuna_guard BEFORE INSERT OR DELETE OR TRUNCATE ON orders \
         EXECUTE FUNCTION lacuna_guard.check_writer(); ALTER TABLE orders ENABLE ALWAYS TRIGGER lacuna_guard",
        again,
    ),
    (
        "CREATE OR REPLACE FUNCTION lacuna_guard.check_writer() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        again,
    ),
    ("ALTER FUNCTION lacuna_guard.check_writer() SECURITY INVOKER", again),
];

fn again() -> String {
    guard_sql(&columns(), "postgres")
}

/// The plant: guards that are gone while readers are served.
#[test]
fn a_guard_that_is_gone_closes_the_cache() {
    let Some(setting) = guarded() else { return };
    let mut reader = setting.session_of("reader", &[]);
    for (harm, remedy) in HARMS {
        setting.opens();
        admin(&setting, harm);
        setting.closes("guard triggers are missing, changed or not enabled");
        assert_eq!(setting.counted(|| (0..3).for_each(|_| drop(run(&mut reader, READ)))).0, 0, "{harm}");
        admin(&setting, &remedy());
    }
    setting.opens();
}

/// What the page for users lists as not held: it is found within a second, and results begin anew.
#[test]
fn what_triggers_do_not_see_is_found() {
    let Some(setting) = guarded() else { return };
    let mut reader = setting.session_of("reader", &[]);
    admin(&setting, "DROP VIEW door; DROP FUNCTION back_door");
    for (nth, change) in [
        "ALTER TABLE orders DISABLE TRIGGER ALL; UPDATE orders SET note = 'new 0' WHERE id = 7; \
         ALTER TABLE orders ENABLE TRIGGER ALL; ALTER TABLE orders ENABLE ALWAYS TRIGGER lacuna_guard; \
         ALTER TABLE orders ENABLE REPLICA TRIGGER lacuna_guard_rows",
        "ALTER TABLE orders ALTER note TYPE TEXT USING 'new 1'",
        "ALTER TABLE orders DROP COLUMN note; ALTER TABLE orders ADD note TEXT DEFAULT 'new 2'",
        "CREATE TABLE twin (LIKE orders INCLUDING ALL); INSERT INTO twin (id, customer, note) VALUES (7, 7, 'new 3'); \
         GRANT SELECT ON twin TO reader; ALTER TABLE orders RENAME TO gone; ALTER TABLE twin RENAME TO orders",
    ]
    .into_iter()
    .enumerate()
    {
        setting.opens();
        eventually("the reply is kept", || setting.counted(|| drop(run(&mut reader, READ))) == (1, 0));
        admin(&setting, &format!("BEGIN; {change}; COMMIT"));
        eventually(change, || ask(&mut reader, READ) == Some(format!("new {nth}")));
    }
}

/// What another server sends is written by a process of its own, for which triggers of statements do not run.
#[test]
fn replicated_rows_are_refused() {
    let Some(postgres) = server_with(&sql(), &["wal_level=logical"]) else { return };
    let url = postgres.url();
    let twin = format!("{}/twin", url.rsplit_once('/').unwrap().0);
    let done = |url: &str, sql: &str| psql(url, &["-c", sql]).expect_success();
    done(&url, "CREATE DATABASE twin");
    done(
        &twin,
        "CREATE TABLE orders (id INT PRIMARY KEY, customer BIGINT, note TEXT); INSERT INTO orders VALUES (7, 7, 'n7'); \
         CREATE PUBLICATION p FOR TABLE orders",
    );
    let whole = "SELECT count(*), sum(id), sum(customer), max(note) FROM orders";
    let before = done(&url, whole);
    let port = url.rsplit([':', '/']).nth(1).unwrap();
    for (nth, write) in [
        "INSERT INTO orders VALUES (900, 7, 'far')",
        "UPDATE orders SET note = 'z' WHERE id = 7",
        "DELETE FROM orders WHERE id = 7",
        "TRUNCATE orders",
    ]
    .into_iter()
    .enumerate()
    {
        done(&twin, &format!("SELECT pg_create_logical_replication_slot('s{nth}', 'pgoutput')"));
        let subscribe = format!(
            "CREATE SUBSCRIPTION s{nth} CONNECTION 'host=127.0.0.1 port={port} user=postgres dbname=twin' PUBLICATION p \
             WITH (create_slot = false, copy_data = false, slot_name = 's{nth}')"
        );
        done(&url, &subscribe);
        done(&twin, write);
        let count =
            format!("SELECT apply_error_count > 0 FROM pg_stat_subscription_stats WHERE subname = 's{nth}'");
        eventually("the change is refused", || done(&url, &count).trim() == "t");
        assert_eq!(done(&url, whole), before, "{write}");
        done(&url, &format!("ALTER SUBSCRIPTION s{nth} DISABLE"));
        done(&url, &format!("ALTER SUBSCRIPTION s{nth} SET (slot_name = NONE)"));
        done(&url, &format!("DROP SUBSCRIPTION s{nth}"));
    }
}

/// Writers past the proxy in every way beside readers and a writer through it: no read is older than what was answered.
#[test]
fn no_read_is_old_beside_writers_past_the_proxy() {
    let Some(setting) = guarded() else { return };
    let (port, past) = (setting.proxy().address().port(), setting.server_port());
    let (is_over, floor, refusals) = (&AtomicBool::new(false), &AtomicU64::new(0), &AtomicU64::new(0));
    setting.run("UPDATE orders SET note = '0' WHERE id = 7");
    let read = |raw: &mut Raw| ask(raw, READ).unwrap().parse::<u64>().unwrap();
    let before = setting.counts();
    thread::scope(|scope| {
        for user in ["app", "postgres"] {
            scope.spawn(move || {
                let mut raw = login(past, user, &[]);
                for write in WRITES.iter().cycle() {
                    if is_over.load(Ordering::SeqCst) {
                        return;
                    }
                    assert_eq!(
                        refused(&mut raw, write).map(|(code, _)| code).as_deref(),
                        Some("LA002"),
                        "{write}"
                    );
                    drop(refused(&mut raw, "ROLLBACK"));
                    drop(refused(&mut raw, "DEALLOCATE ALL"));
                    refusals.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        scope.spawn(move || {
            let mut raw = login(port, "app", &[]);
            for version in 1.. {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                run(&mut raw, &format!("UPDATE orders SET note = '{version}' WHERE customer = 7"));
                floor.fetch_max(version, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(15));
            }
        });
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    let mut raw = login(port, "reader", &[]);
                    for _ in 0..4_000 {
                        let least = floor.load(Ordering::SeqCst);
                        let seen = read(&mut raw);
                        assert!(seen >= least, "{seen} after {least}");
                        floor.fetch_max(seen, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        let ended: Vec<_> = readers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::SeqCst);
        assert!(ended.iter().all(Result::is_ok));
    });
    let (hits, refusals) = (setting.counts().hits - before.hits, refusals.load(Ordering::SeqCst));
    println!("{hits} hits of 8000 reads, {refusals} writes past the proxy were refused");
    assert!(hits > 1_000 && refusals > 44, "{hits} hits, {refusals} refusals: {}", setting.counts().report());
}

/// The proxy's own account needs no right on the table, and must see when server processes began.
#[test]
fn an_account_without_rights_on_the_table_is_enough() {
    let role = "CREATE ROLE keeper LOGIN; GRANT CREATE ON SCHEMA public TO keeper";
    let Some(postgres) = server(&format!("{TABLE}; {MORE}; {role}; {}", guard_sql(&columns(), "keeper")))
    else {
        return;
    };
    let account = postgres.url().replace("//postgres@", "//keeper@");
    let settings = || CacheSettings::new(&account, columns()).with_guards();
    let runtime = runtime();
    let why = start(&runtime, &postgres, settings()).unwrap_err().to_string();
    assert!(why.contains("GRANT pg_monitor"), "{why}");
    psql(&postgres.url(), &["-c", "GRANT pg_monitor TO keeper"]).expect_success();
    let proxy = start(&runtime, &postgres, settings()).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    setting.opens();
    let (mut reader, mut app) = (setting.session_of("reader", &[]), setting.session_of("app", &[]));
    for note in ["one", "two"] {
        run(&mut app, &format!("UPDATE orders SET note = '{note}' WHERE id = 7"));
        assert_eq!(ask(&mut reader, READ).as_deref(), Some(note));
        assert_eq!(setting.counted(|| drop(run(&mut reader, READ))), (1, 0));
    }
}

/// Guards wait for what is being written: no transaction that wrote before commits after.
#[test]
fn guards_wait_for_writers() {
    let Some(postgres) = server(&format!("{TABLE}; {MORE}")) else { return };
    let mut writer = login(postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap(), "app", &[]);
    run(&mut writer, "BEGIN");
    run(&mut writer, "UPDATE orders SET note = 'late' WHERE id = 7");
    let (url, is_there) = (postgres.url(), &AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(move || {
            runtime().block_on(run_sql(&url, &guard_sql(&columns(), "postgres"))).unwrap();
            is_there.store(true, Ordering::SeqCst);
        });
        let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'orders'::regclass";
        eventually("it waits", || psql(&postgres.url(), &["-c", waits]).stdout.trim() == "1");
        assert!(!is_there.load(Ordering::SeqCst));
        run(&mut writer, "COMMIT");
    });
    let write = "UPDATE orders SET note = 'later' WHERE id = 7";
    assert_eq!(refused(&mut writer, write).unwrap().0, "LA002");
    runtime().block_on(run_sql(&postgres.url(), &unguard_sql(&columns()))).unwrap();
    assert_eq!(refused(&mut writer, write), None);
}

/// A proxy that has gone may have left a transaction that wrote.
#[test]
fn sessions_of_an_earlier_proxy_keep_the_cache_closed() {
    let Some(setting) = guarded() else { return };
    let earlier = login(setting.server_port(), "app", &[]);
    setting.run(
        "INSERT INTO lacuna_guard.session SELECT pid, backend_start, 'earlier' FROM pg_stat_activity WHERE usename = 'app'",
    );
    setting.closes("sessions of an earlier proxy");
    drop(earlier);
    setting.opens();
}
