//! Costs of the relay, beside the database itself and PgBouncer, and what cached ranges gain: not tests of facts, so they are run by
//! name.
//!
//! `cargo test --release -p lacuna-proxy --test it -- --ignored --nocapture beside_direct`
//!
//! The proxy has two threads. `pgbench` in three modes; rounds are interleaved, and medians printed. PgBouncer is taken from the path, or
//! from `LACUNA_PGBOUNCER`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use lacuna_proxy::Suggestions;
use lacuna_testkit::servers::{Postgres, free_port};
use tempfile::TempDir;

use crate::cache::log;
use crate::cache::setting::Setting;
use crate::world::{World, eventually, psql, run};

/// Ticks of a second in `/proc`.
const TICKS: f64 = 100.0;

/// What is measured: its name, where clients connect, and the process whose time is counted.
struct Subject {
    name: &'static str,
    url: String,
    pid: Option<u32>,
}

/// One round of one subject.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// Statements a second.
    rate: f64,
    /// Microseconds of a statement, as the client sees it.
    latency: f64,
    /// Microseconds of the proxy's processor time for a statement.
    cpu: f64,
}

#[test]
#[ignore = "a measurement"]
fn relay_beside_direct_and_pgbouncer() {
    let Some(world) = World::start() else { return };
    let suggestions = Arc::new(Suggestions::default());
    let upstream = world.direct().parse().unwrap();
    let observing = lacuna_proxy::Options::new(upstream).with_suggestions(suggestions);
    let observing = world.runtime.block_on(observing.start()).unwrap();
    run("pgbench", &["-i", "-q", "-s", "5", &world.direct()], &[], "").expect_success();
    let bouncer = Bouncer::start(&world.postgres);
    let own = std::process::id();
    let subject = |name, url, pid| Subject { name, url, pid };
    let mut subjects = vec![
        subject("direct", world.direct(), None),
        subject("relay", world.url(), Some(own)),
        subject("relay with suggestions", with_port(&world.url(), observing.address().port()), Some(own)),
    ];
    if let Some(bouncer) = &bouncer {
        subjects.push(subject("PgBouncer", with_port(&world.url(), bouncer.port), Some(bouncer.child.id())));
    }
    measure_all(&subjects, &["-S"]);
}

/// 1,000 ranges of five rows, all of which are cached once they were read.
#[test]
#[ignore = "a measurement"]
fn cached_ranges_beside_direct() {
    let table = "CREATE TABLE orders (id INT PRIMARY KEY, customer BIGINT, note TEXT); \
        INSERT INTO orders SELECT n, n, repeat('n', 100) FROM generate_series(1, 1004) AS n; \
        CREATE INDEX ON orders (customer); ANALYZE orders; CREATE ROLE reader LOGIN; GRANT SELECT ON orders TO reader";
    let Some(setting) = Setting::of(table, "public.orders.customer", |settings| settings) else { return };
    let upstream = setting.postgres.url().parse().unwrap();
    let relay = setting.runtime.block_on(lacuna_proxy::Options::new(upstream).start()).unwrap();
    let script = tempfile::NamedTempFile::new().unwrap();
    let read = "\\set n random(1, 1000)\n\\set m :n + 4\n\
        SELECT id, customer, note FROM orders WHERE customer BETWEEN :n AND :m;\n";
    std::fs::write(script.path(), read).unwrap();
    // A session of a role that may write would close the cache, past the proxy.
    let direct = setting.postgres.url().replace("postgres@", "reader@");
    let subject = |name, url: String, pid| Subject { name, url, pid };
    let own = Some(std::process::id());
    let subjects = [
        subject("direct", direct.clone(), None),
        subject("relay", with_port(&direct, relay.address().port()), own),
        subject("cached", with_port(&direct, setting.proxy().address().port()), own),
    ];
    measure_all(&subjects, &["-f", script.path().to_str().unwrap()]);
    let counts = setting.counts();
    println!("{} hits, {} misses", counts.hits, counts.misses);
    assert!(counts.hits > 20 * counts.misses, "{counts:?}");
}

/// The same with a stranger that writes a thousand rows a second past the proxy, which reads the log: ranges of five rows, and
/// sums over 2,000.
#[test]
#[ignore = "a measurement"]
fn ranges_before_a_log_beside_direct() {
    let table = "CREATE TABLE orders (id INT PRIMARY KEY, customer BIGINT, note TEXT); \
        INSERT INTO orders SELECT n, n, repeat('n', 100) FROM generate_series(1, 10000) AS n; \
        CREATE INDEX ON orders (customer); ANALYZE orders; CREATE ROLE reader LOGIN; GRANT SELECT ON orders TO reader";
    let Some(setting) = log::logged_over(table) else { return };
    let direct = setting.postgres.url();
    let scripts = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| {
        let path = scripts.path().join(name).display().to_string();
        std::fs::write(&path, text).unwrap();
        path
    };
    let write =
        script("write", "\\set n random(6001, 10000)\nUPDATE orders SET note = md5(note) WHERE id = :n;\n");
    let five = "\\set n random(1, 1000)\n\\set m :n + 4\n\
        SELECT id, customer, note FROM orders WHERE customer BETWEEN :n AND :m;\n";
    let sum = "\\set n random(1, 1000)\n\\set m :n + 2000\n\
        SELECT count(*), sum(id) FROM orders WHERE customer BETWEEN :n AND :m;\n";
    let subject = |name, url: String, pid| Subject { name, url, pid };
    let subjects = [
        subject("direct", direct.clone(), None),
        subject("cached", with_port(&direct, setting.proxy().address().port()), Some(std::process::id())),
    ];
    let mut stranger = Command::new("pgbench")
        .args(["-n", "-f", &write, "-R", "1000", "-c", "2", "-T", "86400", &direct])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for (name, text) in [("five rows", five), ("a sum of 2,000", sum)] {
        println!("{name}");
        measure_all(&subjects, &["-f", &script("read", text)]);
    }
    drop(stranger.kill());
    drop(stranger.wait());
    let counts = setting.counts();
    println!("{}", counts.report());
    assert!(counts.hits > 20 * counts.misses && counts.logged > 1_000, "{counts:?}");
}

/// In each mode, with one connection and with 16; `script` are the arguments of `pgbench` that say what is run.
fn measure_all(subjects: &[Subject], script: &[&str]) {
    let rounds: usize = std::env::var("LACUNA_ROUNDS").map_or(9, |rounds| rounds.parse().unwrap());
    println!(
        "clients  mode      subject                  stmts/s  over direct   latency us  added us  CPU us"
    );
    for clients in ["1", "16"] {
        for mode in ["simple", "extended", "prepared"] {
            measure(subjects, script, (clients, mode), rounds);
        }
    }
}

fn measure(subjects: &[Subject], script: &[&str], (clients, mode): (&str, &str), rounds: usize) {
    let mut all: Vec<Vec<Round>> = vec![Vec::new(); subjects.len()];
    for _ in 0..rounds {
        for (subject, rounds) in subjects.iter().zip(&mut all) {
            rounds.push(round(subject, script, clients, mode));
        }
    }
    let of = |rounds: &[Round], value: fn(&Round) -> f64| median(rounds.iter().map(value).collect());
    for (subject, rounds) in subjects.iter().zip(&all) {
        // Within a round the machine is as busy for one as for another.
        let over = median(rounds.iter().zip(&all[0]).map(|(one, direct)| one.rate / direct.rate).collect());
        let added =
            median(rounds.iter().zip(&all[0]).map(|(one, direct)| one.latency - direct.latency).collect());
        println!(
            "{clients:>7}  {mode:<8}  {:<22} {:>9.0} {over:>12.2} {:>12.0} {added:>9.0} {:>7.1}",
            subject.name,
            of(rounds, |round| round.rate),
            of(rounds, |round| round.latency),
            of(rounds, |round| round.cpu),
        );
    }
}

fn round(subject: &Subject, script: &[&str], clients: &str, mode: &str) -> Round {
    let before = subject.pid.map(ticks);
    let how = ["-n", "-M", mode, "-c", clients, "-j", "2", "-T", "2", &subject.url];
    let said = run("pgbench", &[script, &how].concat(), &[], "");
    let said = said.expect_success();
    let spent = subject.pid.map(|pid| ticks(pid) - before.unwrap_or(0.0)).unwrap_or_default();
    let number = |start: &str| -> f64 {
        let line = said.lines().find(|line| line.starts_with(start)).unwrap();
        line.split(['=', ':']).nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap()
    };
    let count = number("number of transactions actually processed");
    Round {
        rate: number("tps"),
        latency: 1_000.0 * number("latency average"),
        cpu: spent / TICKS / count * 1e6,
    }
}

/// Processor time of a process.
fn ticks(pid: u32) -> f64 {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = line.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn with_port(url: &str, port: u16) -> String {
    format!("{}:{port}/postgres", url.rsplit_once(':').unwrap().0)
}

/// PgBouncer in session mode.
struct Bouncer {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Bouncer {
    /// None if it is not there.
    fn start(postgres: &Postgres) -> Option<Self> {
        let program = std::env::var("LACUNA_PGBOUNCER").unwrap_or_else(|_| "/usr/sbin/pgbouncer".to_owned());
        if !Path::new(&program).is_file() {
            println!("PgBouncer is not installed");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("lacuna-bouncer").tempdir_in("/tmp").unwrap();
        let port = free_port();
        let server = postgres.url().rsplit([':', '/']).nth(1).unwrap().to_owned();
        let config = format!(
            "[databases]\npostgres = host=127.0.0.1 port={server} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nauth_type = any\npool_mode = session\nmax_client_conn = 200\ndefault_pool_size = 100\n\
             unix_socket_dir =\nlogfile = /dev/null\n"
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, config).unwrap();
        run("chmod", &["-R", "a+rX", &folder.path().display().to_string()], &[], "").expect_success();
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "--reuid", "postgres", "--clear-groups", "--", &program])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let bouncer = Self { child, port, _folder: folder };
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        eventually("PgBouncer takes sessions", || psql(&url, &["-c", "SELECT 1"]).is_success);
        Some(bouncer)
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
