//! A server and its standby: the second one is promoted, and takes the place of the first.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use lacuna_proxy::{CacheSettings, Options, Proxy, Registered, guard_sql, log_sql};
use lacuna_testkit::servers::{Postgres, free_port};
use tokio::runtime::Runtime;

use super::setting::{Setting, TABLE, ask, run, runtime, server_with};
use super::takeover::{self, Seen};
use super::tap::Tap;
use crate::hosts::port_of_server;
use crate::raw::{Raw, error_field};
use crate::world::{eventually, psql};

const READ: &str = "SELECT note FROM orders WHERE customer = 7";
const COLUMN: &str = "public.orders.customer";

fn columns() -> Registered {
    COLUMN.parse().unwrap()
}

fn admin(server: &Postgres, sql: &str) -> String {
    psql(&server.url(), &["-c", sql]).expect_success().trim().to_owned()
}

/// A server that has run `sql`, and a standby that has it, too.
fn pair(sql: &str, options: &[&str]) -> Option<(Postgres, Postgres)> {
    let first = server_with(sql, options)?;
    let second = first.standby();
    eventually("the standby takes readers", || psql(&second.url(), &["-c", "SELECT 1"]).is_success);
    Some((first, second))
}

/// From here on the first one confirms nothing that the standby has not written.
fn is_synchronous(first: &Postgres) {
    admin(first, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    admin(first, "SELECT pg_reload_conf()");
    let count = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    eventually("commits wait for the standby", || admin(first, count) == "1");
}

fn promote(standby: &Postgres) {
    assert_eq!(admin(standby, "SELECT pg_promote()"), "t");
}

/// The URLs of these ports for sessions, and for the account.
fn urls(of_sessions: &[u16], of_account: &[u16]) -> (String, String) {
    let hosts = |ports: &[u16]| {
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        hosts.join(",")
    };
    let upstream = format!("postgres://{}/?sslmode=disable", hosts(of_sessions));
    (upstream, format!("postgres://postgres@{}/postgres", hosts(of_account)))
}

fn start(
    runtime: &Runtime,
    (upstream, account): (String, String),
    change: impl FnOnce(CacheSettings) -> CacheSettings,
) -> lacuna_proxy::Result<Proxy> {
    let settings = CacheSettings::new(account, columns()).with_writers(["postgres".to_owned()]);
    let options = Options::new(upstream.parse().unwrap()).with_cache(change(settings));
    runtime.block_on(options.start())
}

fn is_hit(setting: &Setting, reader: &mut Raw) {
    eventually(READ, || setting.counted(|| drop(run(reader, READ))) == (1, 0));
}

/// How the proxy finds writes past it, and what the database needs for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Past {
    Rights,
    Guards,
    Log,
}

impl Past {
    fn sql(self) -> String {
        match self {
            Self::Rights => TABLE.to_owned(),
            Self::Guards => format!("{TABLE}; {}", guard_sql(&columns(), "postgres")),
            Self::Log => format!("{TABLE}; {}", log_sql(&columns())),
        }
    }

    fn settings(self, settings: CacheSettings) -> CacheSettings {
        match self {
            Self::Rights => settings,
            Self::Guards => settings.with_writers([]).with_guards(),
            Self::Log => settings.with_writers([]).with_log(),
        }
    }
}

/// The first server is killed, and comes back when the second one has taken its place.
fn a_standby_takes_over(past: Past) {
    let Some((first, mut second)) = pair(&past.sql(), &["wal_level=logical"]) else { return };
    is_synchronous(&first);
    let (one, two) = (first.port(), second.port());
    let runtime = runtime();
    let proxy = start(&runtime, urls(&[one, two], &[one, two]), |settings| past.settings(settings)).unwrap();
    let mut setting = Setting { postgres: first, proxy: Some(proxy), runtime };
    setting.opens();
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    is_hit(&setting, &mut reader);
    run(&mut writer, "UPDATE orders SET note = 'first' WHERE customer = 7");
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("first"));
    is_hit(&setting, &mut reader);
    setting.postgres.kill();
    let said = reader.until_ready();
    assert!(["08006", "57P01"].contains(&&*error_field(&said, b'C')), "{said:?}");
    promote(&second);
    // Before the proxy is there. With guards it would be refused.
    let note = if past == Past::Guards { "first" } else { "second" };
    if past != Past::Guards {
        admin(&second, "UPDATE orders SET note = 'second' WHERE id = 7");
    }
    eventually("sessions begin at the second", || port_of_server(setting.proxy()) == Some(two));
    setting.opens();
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    assert_eq!(ask(&mut reader, READ).as_deref(), Some(note), "{past:?}");
    is_hit(&setting, &mut reader);
    for note in ["third", "fourth"] {
        run(&mut writer, &format!("UPDATE orders SET note = '{note}' WHERE customer = 7"));
        assert_eq!(ask(&mut reader, READ).as_deref(), Some(note), "{past:?}");
        is_hit(&setting, &mut reader);
    }
    match past {
        Past::Rights => {}
        Past::Guards => {
            let refused = psql(&second.url(), &["-c", "UPDATE orders SET note = 'past'"]);
            assert!(refused.stderr.contains("is cached by a proxy"), "{refused:?}");
        }
        Past::Log => {
            admin(&second, "UPDATE orders SET note = 'fourth, past it' WHERE id = 7");
            assert_eq!(ask(&mut reader, READ).as_deref(), Some("fourth, past it"));
        }
    }
    // The first one comes back as it was, and takes writes.
    setting.postgres.restart();
    eventually("the first one takes sessions", || {
        psql(&setting.postgres.url(), &["-c", "SELECT 1"]).is_success
    });
    assert_eq!(port_of_server(setting.proxy()), Some(two));
    second.kill();
    setting.closes("it was left");
    assert_eq!(port_of_server(setting.proxy()), None, "the first one lacks what the second has");
    second.restart();
    eventually("sessions begin at the second", || port_of_server(setting.proxy()) == Some(two));
    setting.opens();
    let mut reader = setting.session_of("reader", &[]);
    assert!(ask(&mut reader, READ).unwrap().starts_with("fourth"), "{past:?}");
    is_hit(&setting, &mut reader);
}

#[test]
fn a_promoted_standby_is_gone_on_to_and_begins_cold() {
    a_standby_takes_over(Past::Rights);
}

#[test]
fn guards_are_begun_anew_at_a_promoted_standby() {
    a_standby_takes_over(Past::Guards);
}

#[test]
fn the_log_of_a_promoted_standby_is_read() {
    a_standby_takes_over(Past::Log);
}

/// The account alone does not reach the first server any more, which goes on with what its clients send.
#[test]
fn sessions_at_a_server_that_is_left_end_though_it_lives() {
    let Some((first, second)) = pair(TABLE, &[]) else { return };
    let (one, two) = (first.port(), second.port());
    let tap = Tap::before(one, Duration::ZERO);
    let runtime = runtime();
    let proxy = start(&runtime, urls(&[one, two], &[tap.port, two]), |settings| settings).unwrap();
    let setting = Setting { postgres: first, proxy: Some(proxy), runtime };
    setting.opens();
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    is_hit(&setting, &mut reader);
    run(&mut writer, "UPDATE orders SET note = 'both' WHERE customer = 7");
    run(&mut writer, "BEGIN");
    run(&mut writer, "UPDATE orders SET note = 'first alone' WHERE customer = 7");
    eventually("the standby has it", || admin(&second, "SELECT note FROM orders WHERE id = 7") == "both");
    promote(&second);
    // It answers the account still: two servers that take writes are none of the proxy's business.
    thread::sleep(Duration::from_secs(2));
    is_hit(&setting, &mut reader);
    assert_eq!(port_of_server(setting.proxy()), Some(one));
    tap.is_stopped.store(true, Ordering::SeqCst);
    for session in [&mut reader, &mut writer] {
        let said = session.until_ready();
        assert_eq!(error_field(&said, b'C'), "08006", "{said:?}");
        assert!(error_field(&said, b'M').contains("has left this server"), "{said:?}");
        assert_eq!(session.receive(), None);
    }
    admin(&setting.postgres, "UPDATE orders SET note = 'first alone' WHERE customer = 7");
    eventually("sessions begin at the second", || port_of_server(setting.proxy()) == Some(two));
    setting.opens();
    let (mut reader, mut writer) = (setting.session_of("reader", &[]), setting.session());
    assert_eq!(ask(&mut reader, READ).as_deref(), Some("both"));
    is_hit(&setting, &mut reader);
    // The first one is there again.
    tap.is_stopped.store(false, Ordering::SeqCst);
    let begun = Instant::now();
    for round in 0.. {
        run(&mut writer, &format!("UPDATE orders SET note = '{round}' WHERE customer = 7"));
        assert_eq!(ask(&mut reader, READ), Some(round.to_string()));
        is_hit(&setting, &mut reader);
        if begun.elapsed() > Duration::from_secs(3) {
            break;
        }
    }
    assert_eq!(port_of_server(setting.proxy()), Some(two));
}

/// Readers and a writer at the proxy while the first server is killed and the second one takes its place.
#[test]
fn no_read_is_old_when_a_standby_takes_over() {
    let Some((mut first, second)) = pair(takeover::TABLE, &[]) else { return };
    is_synchronous(&first);
    let ports = [first.port(), second.port()];
    let (upstream, account) = urls(&ports, &ports);
    let settings = CacheSettings::new(account, "public.rows.k".parse().unwrap());
    let options =
        Options::new(upstream.parse().unwrap()).with_cache(settings.with_writers(["postgres".to_owned()]));
    let runtime = runtime();
    let proxy = runtime.block_on(options.start()).unwrap();
    let (seen, turn, port) = (&Seen::default(), &Mutex::new(()), proxy.address().port());
    let hits = || proxy.cache_counts().unwrap().hits;
    let is_wrong = || seen.violation.lock().unwrap().is_some();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || seen.asks(port, "reader", takeover::READ, Duration::from_millis(1)));
        }
        scope.spawn(move || {
            let mut raw = None;
            while !seen.is_over.load(Ordering::SeqCst) {
                {
                    let _turn = turn.lock().unwrap();
                    seen.asks_once(&mut raw, (port, "postgres"), takeover::WRITE);
                }
                // Seldom, so that what is cached stays for a while.
                thread::sleep(Duration::from_millis(200));
            }
        });
        eventually("the first one serves", || hits() > 50 || is_wrong());
        {
            // Not in a commit: a server whose first process is killed shows one for a moment that the standby may not have.
            let _turn = turn.lock().unwrap();
            first.kill();
        }
        thread::sleep(Duration::from_millis(500));
        promote(&second);
        let before = hits();
        eventually("the second one serves", || hits() > before + 50 || is_wrong());
        seen.is_over.store(true, Ordering::SeqCst);
    });
    println!("{} reads, {}", seen.reads.load(Ordering::Relaxed), proxy.cache_counts().unwrap().report());
    assert_eq!(port_of_server(&proxy), Some(ports[1]));
    runtime.block_on(proxy.stop());
    assert_eq!(*seen.violation.lock().unwrap(), None);
}

#[test]
fn a_cache_begins_where_writes_are_taken() {
    let Some((first, second)) = pair(TABLE, &[]) else { return };
    let (one, two, nothing) = (first.port(), second.port(), free_port());
    let runtime = runtime();
    let begins = |of_sessions: &[u16], of_account: &[u16]| {
        start(&runtime, urls(of_sessions, of_account), |settings| settings)
    };
    let why = begins(&[two, nothing], &[two, nothing]).unwrap_err().to_string();
    assert!(why.contains(&format!("127.0.0.1:{two}: it takes no writes; 127.0.0.1:{nothing}: ")), "{why}");
    let why = begins(&[one, two], &[one]).unwrap_err().to_string();
    assert!(why.contains("--upstream names 2 hosts, and --account 1"), "{why}");
    let proxy = begins(&[nothing, two, one], &[nothing, two, one]).unwrap();
    assert_eq!(port_of_server(&proxy), Some(one));
    runtime.block_on(proxy.stop());
    let (upstream, account) = urls(&[two, one], &[two, one]);
    let attributes = "target_session_attrs=read-write";
    let both = (format!("{upstream}&{attributes}"), format!("{account}?{attributes}"));
    let proxy = start(&runtime, both, |settings| settings).unwrap();
    assert_eq!(port_of_server(&proxy), Some(one));
    runtime.block_on(proxy.stop());
    // One of them has never followed the other, or has left off.
    let other = server_with(TABLE, &[]).unwrap();
    let why = begins(&[one, other.port()], &[one, other.port()]).unwrap_err().to_string();
    assert!(why.contains("both take writes"), "{why}");
}
