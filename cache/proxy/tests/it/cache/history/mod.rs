//! Clients that read and write at once, and a checker of what they see.
//!
//! Each key has one row, whose version one writer counts up. A read that begins after a version was acknowledged, or after
//! another read has shown it, shows that or a later one. Versions that were rolled back are above a billion, and are shown by
//! none. A role without rights sees nothing at all.

mod clients;
mod proxies;

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use lacuna_proxy::{Auto, CacheCounts, CacheSettings, Flaw, Options, Registered, log_sql};
use lacuna_testkit::servers::Postgres;

use clients::{defines, reads, trespasses, writes};
use proxies::Proxies;

pub(crate) use clients::Random;

use super::setting::{server, server_with};
use super::tap::Tap;
use crate::world::{eventually, psql};

const KEYS: i64 = 9;
const WRITERS: i64 = 3;
/// Versions from here on were rolled back.
const UNDONE: i64 = 1_000_000_000;

const TABLE: &str = "CREATE TABLE rows (id SERIAL PRIMARY KEY, k INT, version BIGINT); \
    INSERT INTO rows (k, version) SELECT n, 0 FROM generate_series(0, 8) AS n; \
    CREATE ROLE reader LOGIN; CREATE ROLE outsider LOGIN; GRANT SELECT ON rows TO reader";

const COLUMN: &str = "public.rows.k";

/// Commits are confirmed before they are on the disk, and so before the log can be read so far; unless the server is killed, which
/// loses such commits.
fn logged_server(is_killed: bool) -> Option<Postgres> {
    let sql = format!("{TABLE}; {}", log_sql(&COLUMN.parse().unwrap()));
    let commits = if is_killed { "synchronous_commit=on" } else { "synchronous_commit=off" };
    server_with(&sql, &["wal_level=logical", commits])
}

/// What is known of the rows, and whether a reader has seen otherwise.
struct History {
    floors: Vec<AtomicI64>,
    is_over: AtomicBool,
    reads: AtomicU64,
    writes: AtomicU64,
    violation: Mutex<Option<String>>,
    seed: u64,
}

impl History {
    fn violated(&self, what: String) {
        self.violation.lock().unwrap().get_or_insert(what);
        self.is_over.store(true, Ordering::SeqCst);
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    fn raise(&self, key: i64, version: i64) {
        self.floors[usize::try_from(key).unwrap()].fetch_max(version, Ordering::SeqCst);
    }

    fn floor(&self, key: i64) -> i64 {
        self.floors[usize::try_from(key).unwrap()].load(Ordering::SeqCst)
    }
}

/// How a run ended.
struct Ended {
    violation: Option<String>,
    reads: u64,
    writes: u64,
    /// Of each proxy, those that were killed among them.
    counts: Vec<CacheCounts>,
}

impl Ended {
    fn total(&self, of: impl Fn(&CacheCounts) -> u64) -> u64 {
        self.counts.iter().map(of).sum()
    }

    fn report(&self) -> String {
        let reports: Vec<String> = self.counts.iter().map(CacheCounts::report).collect();
        format!("{} reads: {}", self.reads, reports.join("\n"))
    }
}

struct Plan {
    readers: u64,
    max_reads: u64,
    max_time: Duration,
    /// It goes on after `max_reads` and `max_time`, up to ten times as long, until each proxy had as many hits, or
    /// what would be hits for a shadow: a busy machine makes few.
    min_hits: u64,
    defines_every: Duration,
    restarts_every: Option<Duration>,
    flaw: Option<Flaw>,
    is_shadow: bool,
    /// Nothing is registered at the start.
    is_auto: bool,
    /// The column is taken off the list, and registered again, in turn.
    toggles_every: Option<Duration>,
    /// A third of the writers, and all definitions, go past the proxies, which read the log.
    is_logged: bool,
    /// Readers and writers go to one after the other.
    proxies: usize,
    /// One proxy after the other is killed, and begun anew.
    kills_every: Option<Duration>,
    /// In turn, a line between a proxy and the server is cut, and the server ends a session of its own: that of a client or one of the
    /// proxy's, which guard the tables and read the log.
    breaks_every: Option<Duration>,
}

/// Hits, and what would be one for a shadow.
fn shown(counts: &CacheCounts) -> u64 {
    counts.hits + counts.shadow.as_ref().map_or(0, |shadow| shadow.equal)
}

/// `None` if PostgreSQL is not installed and need not be.
fn run(plan: &Plan) -> Option<Ended> {
    let mut postgres =
        if plan.is_logged { logged_server(plan.restarts_every.is_some())? } else { server(TABLE)? };
    let server_port = postgres.url().rsplit([':', '/']).nth(1).unwrap().parse().unwrap();
    let tap = Tap::before(server_port, Duration::from_millis(4));
    let cached = |settings: CacheSettings| {
        let settings = if plan.is_shadow { settings.with_shadow() } else { settings };
        match plan.flaw {
            Some(flaw) => settings.with_flaw(flaw),
            None => settings,
        }
    };
    let upstream = format!("postgres://127.0.0.1:{}?sslmode=disable", tap.port).parse().unwrap();
    let columns = if plan.is_auto { Registered::default() } else { COLUMN.parse().unwrap() };
    let mut registered = CacheSettings::new(postgres.url(), columns);
    registered =
        if plan.is_logged { registered.with_log() } else { registered.with_writers(["postgres".to_owned()]) };
    if plan.is_auto {
        registered = registered.with_auto(Auto::default().with_min_spared(20));
    }
    if plan.toggles_every.is_some() {
        registered = registered.with_registration();
    }
    let options = Options::new(upstream).with_cache(cached(registered));
    let mut proxies = Proxies::start(options, plan.proxies);
    let ports = proxies.ports();
    let seed = u64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() & 0xffff_ffff).unwrap();
    println!("seed {seed}");
    let history = Arc::new(History {
        floors: (0..KEYS).map(|_| AtomicI64::new(0)).collect(),
        is_over: AtomicBool::new(false),
        reads: AtomicU64::new(0),
        writes: AtomicU64::new(0),
        violation: Mutex::new(None),
        seed,
    });
    thread::scope(|scope| {
        let of = &*history;
        let port = |number: u64| ports[usize::try_from(number).unwrap() % ports.len()];
        for number in 0..plan.readers {
            let port = port(number);
            scope.spawn(move || reads(of, port, number));
        }
        let past = if plan.is_logged { server_port } else { port(0) };
        for remainder in 0..WRITERS {
            let port = if remainder == 0 { past } else { port(remainder.unsigned_abs()) };
            scope.spawn(move || writes(of, port, remainder));
        }
        scope.spawn(move || defines(of, past, plan.defines_every));
        let first = port(0);
        scope.spawn(move || trespasses(of, first));
        let (start, mut last_restart, mut last_kill) = (Instant::now(), Instant::now(), Instant::now());
        let (mut breaks, mut random, mut last_break) = (0, Random::of(seed), (Instant::now(), 0));
        let (mut toggles, mut last_toggle) = (0, Instant::now());
        while !history.is_over() {
            thread::sleep(Duration::from_millis(20));
            let hits = proxies.least(shown);
            let has_hits = hits >= plan.min_hits;
            let is_enough = has_hits && history.reads.load(Ordering::Relaxed) >= plan.max_reads;
            let is_late = start.elapsed() > if has_hits { plan.max_time } else { 10 * plan.max_time };
            let differs = |counts: &CacheCounts| counts.shadow.as_ref().map_or(0, |shadow| shadow.different);
            let has_found = plan.flaw.is_some() && proxies.least(differs) > 0;
            if is_enough || has_found || is_late {
                history.is_over.store(true, Ordering::SeqCst);
            }
            if plan.kills_every.is_some_and(|pause| last_kill.elapsed() > pause) && !history.is_over() {
                proxies.kill_one();
                last_kill = Instant::now();
            }
            if plan.toggles_every.is_some_and(|pause| last_toggle.elapsed() > pause) && !history.is_over() {
                proxies.toggle(COLUMN, toggles % 2 == 1);
                (toggles, last_toggle) = (toggles + 1, Instant::now());
            }
            // A busy machine needs longer from one to the next until anything is shown again.
            let is_due = |pause| {
                let (at, hits_then) = &last_break;
                at.elapsed() > if hits >= hits_then + 5 { pause } else { 8 * pause }
            };
            if plan.breaks_every.is_some_and(is_due) {
                (breaks, last_break) = (breaks + 1, (Instant::now(), hits));
                let choice = random.below(1_000).unsigned_abs();
                if breaks % 2 == 0 {
                    tap.cut_one(usize::try_from(choice).unwrap());
                } else {
                    end_a_session(&postgres, choice);
                }
            }
            if plan.restarts_every.is_some_and(|pause| last_restart.elapsed() > pause) {
                postgres.restart();
                eventually("the server is there", || psql(&postgres.url(), &["-c", "SELECT 1"]).is_success);
                last_restart = Instant::now();
            }
        }
    });
    let counts = proxies.stop();
    let violation = history.violation.lock().unwrap().take();
    let (reads, writes) = (history.reads.load(Ordering::Relaxed), history.writes.load(Ordering::Relaxed));
    let ended = Ended { violation, reads, writes, counts };
    println!("{writes} certain writes, seed {seed}, {}", ended.report());
    Some(ended)
}

/// The server ends one of its sessions, which `choice` chooses; every other time the one that reads the log, if there is one. A server
/// that starts anew has none.
fn end_a_session(postgres: &Postgres, choice: u64) {
    let order = if choice.is_multiple_of(2) { "backend_type DESC" } else { "backend_start" };
    let nth = if choice.is_multiple_of(2) { 0 } else { choice };
    let sql = format!(
        "WITH sessions AS (SELECT pid, row_number() OVER (ORDER BY {order}) AS nth FROM pg_stat_activity \
         WHERE backend_type IN ('client backend', 'walsender') AND pid <> pg_backend_pid()) \
         SELECT pg_terminate_backend(pid) FROM sessions WHERE nth = 1 + {nth} % (SELECT count(*) FROM sessions)"
    );
    psql(&postgres.url(), &["-c", &sql]);
}

const SHORT: Plan = Plan {
    readers: 4,
    max_reads: 60_000,
    max_time: Duration::from_secs(6),
    min_hits: 0,
    defines_every: Duration::from_millis(2_000),
    restarts_every: None,
    flaw: None,
    is_shadow: false,
    is_auto: false,
    toggles_every: None,
    is_logged: false,
    proxies: 1,
    kills_every: None,
    breaks_every: None,
};

fn is_true(ended: &Ended) {
    assert_eq!(ended.violation, None);
    assert!(ended.writes > 30, "{} writes", ended.writes);
    assert!(ended.total(|counts| counts.doubts) > 0, "{}", ended.report());
}

#[test]
fn no_read_is_older_than_what_was_answered() {
    if let Some(ended) = run(&Plan { min_hits: 1_500, ..SHORT }) {
        is_true(&ended);
        assert!(ended.total(|counts| counts.hits) >= 1_500, "{}", ended.report());
    }
}

/// The controls: what the checker would miss, it would miss here.
#[test]
fn each_rule_that_is_left_out_is_found() {
    for flaw in [Flaw::NoHold, Flaw::NoFillCheck, Flaw::NoRole] {
        let plan = Plan { flaw: Some(flaw), max_time: Duration::from_secs(40), max_reads: u64::MAX, ..SHORT };
        let Some(ended) = run(&plan) else { return };
        assert!(ended.violation.is_some(), "{flaw:?} was not found in {} reads", ended.reads);
        println!("{flaw:?} after {} reads: {}", ended.reads, ended.violation.unwrap());
    }
}

/// Writers and definitions past the proxy, whose commits are not on the disk when they are confirmed.
#[test]
fn no_read_is_older_than_what_others_wrote() {
    let Some(ended) = run(&Plan { is_logged: true, min_hits: 500, ..SHORT }) else { return };
    is_true(&ended);
    assert!(ended.total(|counts| counts.hits) >= 500, "{}", ended.report());
    assert!(ended.total(|counts| counts.logged) > 30, "{}", ended.report());
}

/// Each proxy reads in the log what goes through the other, and past both. One after the other is killed.
#[test]
fn no_read_through_two_proxies_is_older_than_what_was_written() {
    let kills_every = Some(Duration::from_millis(2_500));
    let plan = Plan { is_logged: true, proxies: 2, kills_every, min_hits: 250, ..SHORT };
    let Some(ended) = run(&plan) else { return };
    is_true(&ended);
    assert!(ended.counts.len() > 2, "some were killed");
    assert!(ended.total(|counts| counts.hits) >= 500, "{}", ended.report());
}

/// Sessions end in the middle of transactions, and those that guard the tables or read the log end, too.
#[test]
fn no_read_is_older_though_sessions_break() {
    for is_logged in [false, true] {
        let breaks_every = Some(Duration::from_millis(250));
        let Some(ended) = run(&Plan { is_logged, breaks_every, min_hits: 300, ..SHORT }) else { return };
        is_true(&ended);
        assert!(ended.total(|counts| counts.hits) >= 300, "{}", ended.report());
    }
}

/// The control: without the wait for the log, reads would be old.
#[test]
fn a_log_that_is_not_waited_for_is_found() {
    let (flaw, max_time) = (Some(Flaw::NoLogWait), Duration::from_secs(40));
    for proxies in [1, 2] {
        let plan = Plan { flaw, is_logged: true, proxies, max_time, max_reads: u64::MAX, ..SHORT };
        let Some(ended) = run(&plan) else { return };
        assert!(ended.violation.is_some(), "it was not found in {} reads", ended.reads);
    }
}

/// The control: without what a stream that breaks costs, reads would be old.
#[test]
fn a_gap_in_the_log_is_found() {
    let plan = Plan {
        flaw: Some(Flaw::NoGap),
        is_logged: true,
        breaks_every: Some(Duration::from_millis(500)),
        // Each drops everything.
        defines_every: Duration::from_secs(4),
        // It ends when one is found, which takes a busy machine longer.
        max_time: Duration::from_secs(180),
        max_reads: u64::MAX,
        ..SHORT
    };
    let Some(ended) = run(&plan) else { return };
    assert!(ended.violation.is_some(), "it was not found in {} reads", ended.reads);
}

/// Columns are registered in the middle of it, while transactions are open that have written, and while sessions break.
#[test]
fn no_read_is_older_while_columns_register() {
    for (is_logged, breaks_every) in [(false, None), (true, None), (true, Some(Duration::from_millis(700)))] {
        let max_time = Duration::from_secs(15);
        // On a busy machine a claim may come to nothing, whose lease has to run out before the next.
        let plan = Plan { is_auto: true, is_logged, breaks_every, max_time, min_hits: 101, ..SHORT };
        let Some(ended) = run(&plan) else { return };
        assert_eq!(ended.violation, None);
        let auto = ended.counts[0].auto.as_ref();
        let registered = auto.map(|auto| auto.registered.contains_key("public.rows.k"));
        assert_eq!(registered, Some(true), "{}", ended.report());
        assert!(ended.total(|counts| counts.hits) > 100, "{}", ended.report());
    }
}

/// The column is taken off the list of the proxies, and registered again, while transactions are open that have written.
#[test]
fn no_read_is_older_while_columns_come_and_go() {
    let toggles_every = Some(Duration::from_millis(900));
    for (is_logged, proxies) in [(false, 1), (true, 2)] {
        let max_time = Duration::from_secs(12);
        let plan = Plan { toggles_every, is_logged, proxies, max_time, min_hits: 50, ..SHORT };
        let Some(ended) = run(&plan) else { return };
        is_true(&ended);
        for counts in &ended.counts {
            assert!(counts.unregistered > 1 && counts.hits >= 50, "{}", counts.report());
        }
    }
}

/// Statements are compared, and answered by the server alone; what clients see is right whatever the cache would have said.
#[test]
fn a_shadow_finds_no_difference_in_a_history() {
    for is_logged in [false, true] {
        let Some(ended) = run(&Plan { is_shadow: true, is_logged, min_hits: 101, ..SHORT }) else { return };
        assert_eq!(ended.violation, None);
        assert!(ended.writes > 30, "{} writes", ended.writes);
        let shadow = ended.counts[0].shadow.as_ref().unwrap();
        assert_eq!((ended.counts[0].hits, shadow.different), (0, 0), "{:?}", shadow.last);
        let on_their_way = shadow.would_be_hits - shadow.equal - shadow.not_compared();
        // With the log each waits for a round.
        assert!(on_their_way <= if is_logged { SHORT.readers } else { 0 }, "{on_their_way} are forgotten");
        // The server answers each read: a busy machine makes few of them while writers go on.
        assert!(shadow.equal > 100, "{}", ended.report());
    }
}

/// The controls: what a shadow would miss, it would miss here.
#[test]
fn a_shadow_finds_each_rule_that_is_left_out() {
    for flaw in [Flaw::NoHold, Flaw::NoFillCheck, Flaw::NoRole] {
        let max_time = Duration::from_secs(40);
        let plan = Plan { flaw: Some(flaw), is_shadow: true, max_time, max_reads: u64::MAX, ..SHORT };
        let Some(ended) = run(&plan) else { return };
        assert_eq!(ended.violation, None, "{flaw:?}: the server has answered");
        let shadow = ended.counts[0].shadow.as_ref().unwrap();
        assert!(shadow.different > 0, "{flaw:?} was not found in {} would-be hits", shadow.would_be_hits);
        println!("{flaw:?} after {} reads: {:?}", ended.reads, shadow.last.first());
    }
}

/// A million reads, with servers that are killed.
#[test]
fn a_million_reads_are_never_old() {
    a_million(|plan| plan);
}

/// The same beside writers past the proxy.
#[test]
fn a_million_reads_are_never_older_than_what_others_wrote() {
    a_million(|plan| Plan { is_logged: true, ..plan });
}

/// The same through two proxies, which are killed, too.
#[test]
fn a_million_reads_through_two_proxies_are_never_older_than_what_was_written() {
    let kills_every = Some(Duration::from_secs(10));
    a_million(|plan| Plan { is_logged: true, proxies: 2, kills_every, ..plan });
}

fn a_million(change: impl FnOnce(Plan) -> Plan) {
    if std::env::var_os("LACUNA_LONG").is_none() {
        return;
    }
    let plan = change(Plan {
        readers: 8,
        breaks_every: Some(Duration::from_secs(3)),
        max_reads: 1_000_000,
        max_time: Duration::from_secs(3_600),
        restarts_every: Some(Duration::from_secs(20)),
        ..SHORT
    });
    if let Some(ended) = run(&plan) {
        is_true(&ended);
        assert!(ended.reads >= 1_000_000, "{} reads", ended.reads);
        assert!(2 * ended.total(|counts| counts.hits) >= ended.reads, "{}", ended.report());
    }
}
