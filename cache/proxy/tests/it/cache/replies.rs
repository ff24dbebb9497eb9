//! Replies are the same direct, through the proxy, and from the cache.

use std::thread;
use std::time::Duration;

use lacuna_proxy::Options;

use super::setting::{Setting, login, run, runtime, server, settings, start};
use super::tap::Tap;
use crate::raw::{Raw, Received, bind, describe, execute, message, parse, sync};
use crate::transcripts::are_the_same;
use crate::world::{eventually, psql, run as run_program};

pub(super) const SHAPES: [&str; 24] = [
    "SELECT * FROM orders WHERE customer = 7",
    "SELECT id, note FROM orders WHERE customer BETWEEN 5 AND 9",
    "SELECT o.* FROM orders AS o WHERE o.customer > 5 AND o.customer <= 8 ORDER BY id DESC",
    "SELECT note AS text FROM public.orders WHERE 95 < customer ORDER BY text LIMIT 3 OFFSET 1",
    "SELECT count(*) FROM orders WHERE customer >= 90",
    "SELECT min(id), max(customer), sum(id), count(id) FROM orders WHERE customer < 10",
    "SELECT DISTINCT is_paid FROM orders WHERE customer < 10 ORDER BY is_paid",
    "SELECT is_paid, count(*) FROM orders WHERE customer < 10 GROUP BY is_paid ORDER BY is_paid",
    "SELECT id FROM orders WHERE customer IN (3, 5, 200)",
    "SELECT id FROM orders WHERE customer = 7 AND note = 'n7'",
    "SELECT id FROM orders WHERE customer < 9 AND note <> 'n7' AND NOT is_paid ORDER BY id",
    "SELECT id FROM orders WHERE customer < 9 AND (note IN ('n1', 'n2') OR id = 4) ORDER BY id",
    "SELECT id FROM orders WHERE customer < 9 AND is_paid = true ORDER BY id",
    "SELECT id FROM orders WHERE customer < 9 AND is_paid IS TRUE ORDER BY id",
    "SELECT id FROM orders WHERE customer = 7 AND mark = '00000000-0000-0000-0000-000000000007'",
    "SELECT id FROM orders WHERE customer = 7 AND day IS NOT NULL AND price IS NOT NULL",
    "SELECT day, price, mark FROM orders WHERE customer = '7'",
    "SELECT id FROM orders WHERE customer = -1",
    "SELECT id FROM orders WHERE customer = 1000",
    "SELECT id FROM orders WHERE customer > 9 AND customer < 3",
    "SELECT id FROM orders WHERE (customer = 7) AND customer >= 3;",
    "select ID from ORDERS where CUSTOMER = 7 -- a comment",
    "SELECT id FROM orders WHERE customer BETWEEN 5 AND 9 ORDER BY 1",
    "SELECT id FROM orders WHERE customer NOT BETWEEN 5 AND 9 AND customer < 12 ORDER BY id",
];

/// Ways to ask for a text without parameters.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    Simple,
    /// Whether it is parsed each time, and whether the portal is described, and the format of the result.
    Extended(bool, bool, u8),
}

pub(super) fn modes() -> Vec<Mode> {
    let mut modes = vec![Mode::Simple];
    for is_parsed in [false, true] {
        for is_described in [false, true] {
            modes.extend([0, 1].map(|format| Mode::Extended(is_parsed, is_described, format)));
        }
    }
    modes
}

/// As [`bind`], with a format for all results.
fn bind_to(statement: &str, values: &[&str], format: u8) -> Vec<u8> {
    let bound = bind("", statement, values);
    message(b'B', &[&bound[5..bound.len() - 2], &[0, 1, 0, format]])
}

pub(super) fn asked(raw: &mut Raw, text: &str, mode: Mode) -> Vec<Received> {
    let Mode::Extended(is_parsed, is_described, format) = mode else { return run(raw, text) };
    let name = if is_parsed { "" } else { "s" };
    if !is_parsed {
        raw.send(&[crate::raw::close(b'S', "s"), parse("s", text), sync()].concat());
        raw.until_ready();
    }
    let mut sent = if is_parsed { parse("", text) } else { Vec::new() };
    sent.extend(bind_to(name, &[], format));
    if is_described {
        sent.extend(describe(b'P', ""));
    }
    raw.send(&[sent, execute("", 0), sync()].concat());
    raw.until_ready()
}

/// Sessions that have nothing to do with what is cached are what they are without a cache.
#[test]
fn scripted_sessions_are_the_same_before_a_cache() {
    let Some(setting) = Setting::start() else { return };
    let admin = |sql: &str| drop(psql(&setting.postgres.url(), &["-c", sql]).expect_success());
    are_the_same(setting.server_port(), setting.proxy().address().port(), admin);
}

/// Programs that do not know of it get the same sums, and their reads are hits where nothing was written.
#[test]
fn pgbench_runs_before_a_cache() {
    let Some(postgres) = server("SELECT 1") else { return };
    run_program("pgbench", &["-i", "-q", &postgres.url()], &[], "").expect_success();
    let runtime = runtime();
    let settings = settings(&postgres, "public.pgbench_accounts.aid");
    let proxy = start(&runtime, &postgres, settings).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    setting.opens();
    let url = setting
        .postgres
        .url()
        .replace(&setting.server_port().to_string(), &setting.proxy().address().port().to_string());
    for mode in ["simple", "extended", "prepared"] {
        run_program("pgbench", &["-n", "-M", mode, "-c", "2", "-t", "30", &url], &[], "").expect_success();
        run_program("pgbench", &["-S", "-n", "-M", mode, "-c", "2", "-t", "200", &url], &[], "")
            .expect_success();
    }
    let counts = setting.counts();
    assert!(counts.misses > 100 && counts.writes > 100, "{}", counts.report());
    let sums =
        "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history)";
    assert_eq!(psql(&setting.postgres.url(), &["-c", sums]).expect_success().trim(), "t");
}

#[test]
fn replies_are_the_same_direct_cold_and_warm() {
    let Some(setting) = Setting::start() else { return };
    let (mut direct, mut proxied) = (setting.direct(), setting.session_of("reader", &[]));
    for text in SHAPES {
        for mode in modes() {
            let expected = asked(&mut direct, text, mode);
            let (hits, misses) = setting.counted(|| {
                assert_eq!(asked(&mut proxied, text, mode), expected, "cold: {text} {mode:?}");
            });
            // Prepared by a name or each time, it is the same statement.
            let is_known = matches!(mode, Mode::Extended(true, ..));
            let expected_counts = if is_known { (1, 0) } else { (0, 1) };
            assert_eq!((hits, misses), expected_counts, "{text} {mode:?}: {}", setting.counts().report());
            let (hits, misses) = setting.counted(|| {
                assert_eq!(asked(&mut proxied, text, mode), expected, "warm: {text} {mode:?}");
            });
            assert_eq!((hits, misses), (1, 0), "{text} {mode:?}: {}", setting.counts().report());
        }
    }
}

#[test]
fn a_monitor_outlives_its_proxy_and_counts_times() {
    let Some(mut setting) = Setting::start() else { return };
    let monitor = setting.proxy().monitor();
    let mut raw = setting.session_of("reader", &[]);
    for _ in 0..3 {
        setting.opens();
        run(&mut raw, SHAPES[0]);
    }
    let counts = monitor.cache_counts().unwrap();
    assert!(counts.hits > 0 && !counts.hit_time.is_zero() && !counts.fill_time.is_zero(), "{counts:?}");
    assert_eq!((counts.tables, monitor.is_stopping()), (1, false));
    setting.runtime.block_on(setting.proxy.take().unwrap().stop());
    assert!(monitor.is_stopping() && monitor.cache_counts().unwrap().closed.is_some());
}

/// Values that are listed are one interval each: `IN` of far values is no interval around them.
#[test]
fn a_write_between_the_values_of_a_list_keeps_its_reply() {
    let Some(setting) = Setting::start() else { return };
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    for read in [
        "SELECT note FROM orders WHERE customer IN (90, 7, 40) ORDER BY id",
        "SELECT note FROM orders WHERE customer IN (7, 40, 90) AND customer > 5 ORDER BY id DESC",
    ] {
        run(&mut reader, read);
        for other in [6, 8, 39, 41, 89, 91] {
            run(&mut writer, &format!("UPDATE orders SET note = note || 'x' WHERE customer = {other}"));
            assert_eq!(
                setting.counted(|| drop(run(&mut reader, read))),
                (1, 0),
                "{other} is none of the list"
            );
        }
        for listed in [7, 40, 90] {
            let write = format!("UPDATE orders SET note = note || 'z' WHERE customer IN ({listed}, 99)");
            run(&mut writer, &write);
            let mut direct = setting.direct();
            assert_eq!(run(&mut reader, read), run(&mut direct, read), "{write}");
            assert_eq!(setting.counted(|| drop(run(&mut reader, read))), (1, 0), "it was kept anew");
        }
    }
}

/// In a cache of 1 MiB a reply may have an eighth of it, and those that are on their way a quarter. They come slowly.
#[test]
fn a_reply_without_room_is_counted_with_its_reason() {
    let sql = "CREATE TABLE wide AS SELECT k, n AS id, repeat('x', 2000) AS note \
        FROM generate_series(1, 8) AS k, generate_series(1, 50) AS n; INSERT INTO wide VALUES (9, 1, repeat('x', 70000)); \
        CREATE ROLE reader LOGIN; GRANT SELECT ON wide TO reader";
    let Some(postgres) = server(sql) else { return };
    let tap = Tap::before(postgres.port(), Duration::from_millis(40));
    let upstream = format!("postgres://127.0.0.1:{}?sslmode=disable", tap.port).parse().unwrap();
    let cached = settings(&postgres, "public.wide.k").with_bytes(1 << 20);
    let runtime = runtime();
    let proxy = runtime.block_on(Options::new(upstream).with_cache(cached).start()).unwrap();
    let setting = Setting { postgres, proxy: Some(proxy), runtime };
    setting.opens();
    let is_counted = |why: &str| setting.counts().relayed.keys().any(|reason| reason.contains(why));
    let mut reader = setting.session_of("reader", &[]);
    for (read, why) in [
        ("SELECT note FROM wide WHERE k = 9", "a row of more than 64 kB"),
        ("SELECT note FROM wide WHERE k BETWEEN 1 AND 2", "longer than what is kept"),
    ] {
        eventually(why, || {
            run(&mut reader, read);
            is_counted(why)
        });
        assert_eq!(setting.counts().filled, 0, "{why}");
    }
    let (port, mut round) = (setting.proxy().address().port(), 0);
    eventually("too many are on their way at once", || {
        round += 1;
        thread::scope(|scope| {
            for k in 1..=8 {
                let read = format!("SELECT note FROM wide WHERE k = {k} AND id > -{round}");
                scope.spawn(move || drop(run(&mut login(port, "reader", &[]), &read)));
            }
        });
        is_counted("take a quarter of the cache")
    });
    // What is given up leaves room.
    eventually("a reply is kept", || {
        run(&mut reader, "SELECT note FROM wide WHERE k = 1");
        setting.counts().filled > 0
    });
}
