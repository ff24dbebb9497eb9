//! Two proxies before the same table, of which the first is a process that is killed or suspended.
//!
//! A row's version only grows, so no read is below what a write has returned or another read has shown, through whichever
//! proxy, when it began.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lacuna_proxy::{CacheSettings, Proxy, guard_sql};
use lacuna_testkit::servers::Postgres;
use tokio::runtime::Runtime;

use super::setting::{runtime, server, settings, start, value};
use crate::raw::{Raw, V3_0, query, startup};
use crate::world::eventually;

pub(super) const TABLE: &str = "CREATE TABLE rows (k INT PRIMARY KEY, version BIGINT); INSERT INTO rows VALUES (7, 0); \
    CREATE ROLE reader LOGIN; GRANT SELECT ON rows TO reader";
pub(super) const READ: &str = "SELECT version FROM rows WHERE k = 7";
pub(super) const WRITE: &str = "UPDATE rows SET version = version + 1 WHERE k = 7 RETURNING version";
/// It commits long after its proxy has gone.
const SLOW_WRITE: &str =
    "WITH waited AS (SELECT pg_sleep(8)) UPDATE rows SET version = version + 1 FROM waited WHERE k = 7";

/// The process that the tests kill: a proxy before the database of this variable.
const UPSTREAM: &str = "LACUNA_TEST_UPSTREAM";
/// Set if triggers take the place of rights.
const GUARDED: &str = "LACUNA_TEST_GUARDED";

#[test]
#[ignore = "the process that the other tests kill"]
fn a_proxy_until_it_is_killed() {
    let upstream = std::env::var(UPSTREAM).unwrap();
    let settings =
        CacheSettings::new(&upstream, "public.rows.k".parse().unwrap()).with_writers(["postgres".to_owned()]);
    let is_guarded = std::env::var_os(GUARDED).is_some();
    let settings = if is_guarded { settings.with_guards() } else { settings };
    let options = lacuna_proxy::Options::new(upstream.parse().unwrap()).with_cache(settings);
    let runtime = runtime();
    let proxy = runtime.block_on(options.start()).unwrap();
    println!("port {}", proxy.address().port());
    runtime.block_on(proxy.superseded());
    runtime.block_on(proxy.stop());
}

/// The first proxy, a process; killed when dropped.
struct First {
    child: Child,
    /// Open as long as the process lives, which says something at its end.
    _said: BufReader<ChildStdout>,
    port: u16,
}

impl First {
    fn start(postgres: &Postgres, is_guarded: bool) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "cache::takeover::a_proxy_until_it_is_killed", "--ignored", "--nocapture"]);
        if is_guarded {
            command.env(GUARDED, "1");
        }
        let mut child = command.env(UPSTREAM, postgres.url()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let lines = said.by_ref().lines().map_while(Result::ok);
        let port = lines.filter_map(|line| line.split("port ").nth(1)?.parse().ok()).next();
        Self { child, _said: said, port: port.expect("it starts") }
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for First {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What must be seen, and whether a read was below it.
#[derive(Default)]
pub(super) struct Seen {
    floor: AtomicI64,
    pub(super) is_over: AtomicBool,
    pub(super) reads: AtomicU64,
    pub(super) violation: Mutex<Option<String>>,
}

impl Seen {
    /// Reads or writes at a port until the end; a lost connection is begun anew.
    pub(super) fn asks(&self, port: u16, user: &str, sql: &str, pause: Duration) {
        let mut raw = None;
        while !self.is_over.load(Ordering::SeqCst) {
            self.asks_once(&mut raw, (port, user), sql);
            thread::sleep(pause);
        }
    }

    /// The same once, over this connection if there is one.
    pub(super) fn asks_once(&self, raw: &mut Option<Raw>, (port, user): (u16, &str), sql: &str) {
        let floor = self.floor.load(Ordering::SeqCst);
        if raw.is_none() {
            *raw = login(port, user);
        }
        match raw.as_mut().and_then(|raw| version(raw, sql)) {
            Some(version) => self.is_at_least(floor, version, user),
            None => *raw = None,
        }
    }

    fn is_at_least(&self, floor: i64, version: i64, user: &str) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if version < floor {
            self.violation.lock().unwrap().get_or_insert(format!("{user} saw {version} after {floor}"));
        }
        self.floor.fetch_max(version, Ordering::SeqCst);
    }
}

/// A session, if there is one to be had.
fn login(port: u16, user: &str) -> Option<Raw> {
    let stream = std::net::TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let mut raw = Raw { stream };
    raw.stream.write_all(&startup(V3_0, &[("user", user), ("database", "postgres")])).ok()?;
    raw.until_ready().last().is_some_and(|(tag, _)| *tag == b'Z').then_some(raw)
}

fn version(raw: &mut Raw, sql: &str) -> Option<i64> {
    raw.stream.write_all(&query(sql)).ok()?;
    let answer = raw.until_ready();
    value(&answer).filter(|_| answer.last().is_some_and(|(tag, _)| *tag == b'Z'))?.parse().ok()
}

/// Starts a second proxy, which is refused until it may have the table.
fn second(runtime: &Runtime, postgres: &Postgres, change: impl Fn(CacheSettings) -> CacheSettings) -> Proxy {
    let begun = Instant::now();
    loop {
        match start(runtime, postgres, change(settings(postgres, "public.rows.k"))) {
            Ok(proxy) => return proxy,
            Err(why) => assert!(begun.elapsed() < Duration::from_secs(60), "{why}"),
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Readers and a writer at both proxies while `end` happens to the first, and after it. The second must come to hits.
fn is_never_old(is_guarded: bool, before: impl FnOnce(&mut First), after: impl FnOnce(&First)) {
    let guards = guard_sql(&"public.rows.k".parse().unwrap(), "postgres");
    let sql = if is_guarded { format!("{TABLE}; {guards}") } else { TABLE.to_owned() };
    let change = |settings: CacheSettings| if is_guarded { settings.with_guards() } else { settings };
    let Some(postgres) = server(&sql) else { return };
    let server_port = postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap();
    let runtime = runtime();
    let mut first = First::start(&postgres, is_guarded);
    let (seen, port) = (&Seen::default(), first.port);
    let (fast, slow) = (Duration::from_millis(1), Duration::from_millis(30));
    let proxy = thread::scope(|scope| {
        scope.spawn(move || seen.asks(port, "reader", READ, fast));
        scope.spawn(move || seen.asks(port, "postgres", WRITE, slow));
        scope.spawn(move || seen.asks(server_port, "reader", READ, fast));
        eventually("the first one serves", || seen.reads.load(Ordering::Relaxed) > 100);
        let refused = start(&runtime, &postgres, change(settings(&postgres, "public.rows.k")));
        assert!(refused.unwrap_err().to_string().contains("another running process"));
        before(&mut first);
        let proxy = second(&runtime, &postgres, change);
        let port = proxy.address().port();
        let hits = || proxy.cache_counts().unwrap().hits;
        scope.spawn(move || seen.asks(port, "reader", READ, fast));
        // Seldom, so that what is cached stays for a while.
        scope.spawn(move || seen.asks(port, "postgres", WRITE, 10 * slow));
        thread::sleep(Duration::from_secs(1));
        after(&first);
        eventually("the second one answers", || hits() > 50 || seen.violation.lock().unwrap().is_some());
        seen.is_over.store(true, Ordering::SeqCst);
        proxy
    });
    println!("{} reads, {}", seen.reads.load(Ordering::Relaxed), proxy.cache_counts().unwrap().report());
    runtime.block_on(proxy.stop());
    assert_eq!(*seen.violation.lock().unwrap(), None);
}

#[test]
fn no_read_is_old_when_a_proxy_is_killed() {
    let kill = |first: &mut First| {
        // The server goes on with what it was sent.
        let mut slow = login(first.port, "postgres").unwrap();
        slow.send(&query(SLOW_WRITE));
        thread::sleep(Duration::from_millis(300));
        first.child.kill().unwrap();
    };
    is_never_old(false, kill, |_| thread::sleep(Duration::from_secs(2)));
    is_never_old(true, kill, |_| thread::sleep(Duration::from_secs(2)));
}

/// It goes on after its table was taken: what its clients have sent reaches the server, and its sessions end.
#[test]
fn no_read_is_old_when_a_proxy_is_suspended() {
    for is_guarded in [false, true] {
        is_never_old(is_guarded, |first| first.signal("-STOP"), |first| first.signal("-CONT"));
    }
}
