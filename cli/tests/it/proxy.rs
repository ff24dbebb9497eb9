//! `lacuna proxy`: the process before a real PostgreSQL.

use std::io::{Read as _, Write as _};
use std::process::{Command, Output, Stdio};

use lacuna_testkit::servers::Postgres;

use crate::served::{Listening, Served, eventually, psql, takes_sessions};
use crate::support::Folder;

#[test]
fn statements_are_explained() {
    let folder = Folder::new();
    let explain = |sql: &str| folder.run(&["proxy", "explain", sql], "").done();
    let said = explain("SELECT * FROM orders WHERE customer = $1 AND day > 5");
    let (first, auto) = said.split_once('\n').unwrap();
    assert_eq!(first, "a cache can answer it if orders.customer or orders.day is registered");
    assert!(auto.starts_with("--auto registers such a column once"), "{auto}");
    assert_eq!(explain("SELECT 1"), "it is relayed: it reads no table\n");
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let folder = Folder::new();
    let wrong = [
        ("proxy --upstream redis://a", "give postgres://HOST:PORT or mysql://HOST:PORT"),
        ("proxy --upstream mysql://a/?sslmode=require", "are not encrypted yet"),
        (
            "proxy --upstream mysql://127.0.0.1:1 --cache memory --register test.t.a --writes rights --account mysql://a",
            "relays and suggests columns, and has no cache yet",
        ),
        ("proxy", "--upstream <URL>; or give --config FILE"),
        ("proxy --upstream postgres://a?sslmode=verify-full", "needs the file of an authority"),
        ("proxy --upstream postgres://a --certificate a.pem --key a.key", "cannot be read"),
        (
            "proxy --upstream postgres://a --cache memory --register a.b --writes rights --account postgres://a",
            "a.b is no SCHEMA.TABLE.COLUMN",
        ),
        (
            "proxy --upstream postgres://a --cache memory --register a.b.c --writes rights --account ftp://a",
            "is not a database URL",
        ),
        (
            "proxy --upstream postgres://a,b/?target_session_attrs=read-write",
            "needs several hosts and a cache",
        ),
        (
            "proxy --upstream postgres://a,b --cache memory --register a.b.c --writes rights --account postgres://a",
            "--upstream names 2 hosts, and --account 1",
        ),
    ];
    for (line, expected) in wrong {
        let sentence = folder.lacuna(line).sentence(2);
        assert!(sentence.contains(expected), "{sentence}");
    }
}

#[test]
fn suggestions_are_printed_at_a_signal() {
    let Some(postgres) = Postgres::start() else { return };
    let listening = Listening::start(&["--upstream", &postgres.url()]);
    let (script, read) =
        ("CREATE TABLE t (a INT); SELECT * FROM t WHERE a = 1", "SELECT * FROM t WHERE a = 1");
    eventually("the server takes sessions", || psql(&listening.url("postgres"), &[script, read, read]));
    let report = listening.stop();
    assert!(report.contains("t.a") && report.contains("2 reads that bound a column"), "{report}");
    assert!(report.contains("1  it is more than one statement"), "{report}");
}

#[test]
fn a_cache_is_counted_and_its_rights_are_checked() {
    let Some(postgres) = Postgres::start() else { return };
    let sql = "CREATE TABLE t (a INT); CREATE ROLE app LOGIN; GRANT SELECT, INSERT ON t TO app";
    takes_sessions(&postgres, sql);
    let url = postgres.url();
    let fixed =
        ["--cache", "memory", "--writes", "rights", "--register", "public.t.a", "--metrics", "127.0.0.1:0"];
    let database = ["--upstream", &url, "--account", &url, "--writers"];
    let refused = [&["proxy", "--listen", "127.0.0.1:0"], &fixed[..], &database, &["postgres"]].concat();
    let said = Folder::new().run(&refused, "").sentence(2);
    assert!(said.contains("the role app can log in and write"), "{said}");
    let served = Served::of(postgres, Listening::start(&[&fixed[..], &database, &["postgres,app"]].concat()));
    let read = "SELECT * FROM t WHERE a = 1";
    // On a busy machine a look at the server may be late, and the cache begins cold.
    eventually("a write drops what was shown", || {
        assert!(psql(&served.listening.url("app"), &[read, read, "INSERT INTO t (a) VALUES (1)"]));
        served.counter("cache_hits") > 0 && served.counter("cache_dropped") > 0
    });
    let [hits, misses, filled, writes, dropped] = ["hits", "misses", "filled", "writes", "dropped"]
        .map(|name| served.counter(&format!("cache_{name}")));
    assert!(
        filled <= misses && dropped <= filled && hits + misses <= 2 * writes,
        "{hits} {misses} {filled} {writes} {dropped}"
    );
    let report = served.stop();
    let expected = format!(
        "cache: {hits} hits, {misses} misses, {filled} replies kept; {writes} writes dropped {dropped} entries"
    );
    assert!(report.contains(&expected), "{expected}: {report}");
}

fn run(url: &str, sql: &str) -> Output {
    Command::new("psql").args(["-X", "-q", "-A", "-t", url, "-c", sql]).output().unwrap()
}

/// With guard triggers no role is named: those that have the right write, through the proxy.
#[test]
fn guards_are_made_and_taken_away() {
    let Some(postgres) = Postgres::start() else { return };
    let sql = "CREATE TABLE t (a NUMERIC(8, 2)); CREATE ROLE app LOGIN; GRANT SELECT, INSERT ON t TO app";
    takes_sessions(&postgres, sql);
    let folder = Folder::new();
    let init = |more: &[&str]| {
        let fixed = ["proxy", "init", "--guard", "--register", "public.t.a", "--account", &postgres.url()];
        folder.run(&[&fixed, more].concat(), "").done()
    };
    let sql = init(&["--account-role", "postgres", "--dry-run"]);
    assert!(sql.starts_with("BEGIN;") && sql.contains("ENABLE ALWAYS TRIGGER lacuna_guard;"), "{sql}");
    let app = postgres.url().replace("//postgres@", "//app@");
    let insert = "INSERT INTO t VALUES (1.005)";
    assert!(run(&app, insert).status.success(), "a dry run changes nothing");
    assert_eq!(init(&["--account-role", "postgres"]), "the guard triggers are there\n");
    let said = String::from_utf8_lossy(&run(&app, insert).stderr).into_owned();
    assert!(said.contains("the table public.t is cached by a proxy: connect through it"), "{said}");
    let (fixed, url) =
        (["--cache", "memory", "--writes", "guard", "--register", "public.t.a"], postgres.url());
    let listening = Listening::start(&[&fixed[..], &["--upstream", &url, "--account", &url]].concat());
    for count in ["1\n", "2\n"] {
        let read = run(&listening.url("app"), "SELECT count(*) FROM t WHERE a = 1.01");
        assert_eq!(String::from_utf8_lossy(&read.stdout), count);
        assert!(run(&listening.url("app"), insert).status.success());
    }
    listening.stop();
    let sql = init(&["--remove", "--dry-run"]);
    assert!(sql.contains("DROP TRIGGER IF EXISTS lacuna_guard ON"), "{sql}");
    assert_eq!(init(&["--remove"]), "the guard triggers are gone\n");
    assert!(run(&app, insert).status.success());
}

#[test]
fn every_option_comes_from_a_file_and_monitoring_is_answered() {
    let Some(postgres) = Postgres::start() else { return };
    takes_sessions(&postgres, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("proxy.toml");
    let settings = "listen = \"127.0.0.1:0\"\nmetrics = \"127.0.0.1:0\"\ncache = \"memory\"\nwrites = \"rights\"\n\
        register = [\"public.t.a\"]\nwriters = [\"postgres\"]\nno-suggestions = true\nupstream = \"${UPSTREAM}\"\n\
        account = \"${UPSTREAM}\"\n";
    std::fs::write(&file, settings).unwrap();
    let mut command = Command::new(crate::BINARY);
    command.args(["proxy", "--config"]).arg(&file).env("UPSTREAM", postgres.url());
    let served = Served::of(postgres, Listening::of(&mut command));
    eventually("all is well", || served.get("/healthz").ends_with("\r\n\r\nok\n"));
    let mut rounds = 0;
    eventually("one entry is hit", || {
        served.psql(&["SELECT * FROM t WHERE a = 1"]);
        served.psql(&["SELECT version()"]);
        rounds += 1;
        let metrics = served.get("/metrics");
        let expected =
            ["entries 1", "is_open 1", "held_seconds 0\n", "relayed_total{reason=\"it reads no table\"} "];
        let all = expected.iter().all(|line| metrics.contains(&format!("\nlacuna_proxy_cache_{line}")));
        all && served.counter("cache_hits") > 0
    });
    assert_eq!(served.counter("sessions"), 2 * rounds);
    let asked = served.counter("cache_hits") + served.counter("cache_misses");
    assert!((2..=rounds).contains(&asked), "{asked} of {rounds} reads");
    assert!(served.get("/else").starts_with("HTTP/1.0 404"));
    served.stop();
}

#[test]
fn columns_are_those_that_a_file_names_at_a_signal() {
    let Some(postgres) = Postgres::start() else { return };
    takes_sessions(&postgres, "CREATE TABLE t (a INT, b INT, c FLOAT); INSERT INTO t VALUES (1, 2, 3)");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("proxy.toml");
    let set = |columns: &str| {
        let settings = format!(
            "listen = \"127.0.0.1:0\"\nmetrics = \"127.0.0.1:0\"\ncache = \"memory\"\nwrites = \"rights\"\n\
             register = [{columns}]\nwriters = [\"postgres\"]\nupstream = \"${{UPSTREAM}}\"\naccount = \"${{UPSTREAM}}\"\n"
        );
        std::fs::write(&file, settings).unwrap();
    };
    set("\"public.t.a\"");
    let mut command = Command::new(crate::BINARY);
    command.args(["proxy", "--config"]).arg(&file).env("UPSTREAM", postgres.url());
    let mut served = Served::of(postgres, Listening::of(&mut command));
    set("\"public.t.a\", \"public.t.c\", \"public.t.b\"");
    served.listening.signal("-HUP");
    served.listening.after("certificate and logins were read anew");
    let why = served.listening.after("public.t.c is not registered: ");
    assert!(why.contains("no smallint"), "{why}");
    served.listening.after("public.t.b is registered from now on");
    eventually("a read by it is hit", || {
        served.psql(&["SELECT * FROM t WHERE b = 2"]);
        served.counter("cache_hits") > 0
    });
    std::fs::write(&file, "listen = 1").unwrap();
    served.listening.signal("-HUP");
    served.listening.after("certificate and logins were read anew");
    let why = served.listening.after("the list of registered columns stays as it was: ");
    assert!(why.contains("proxy.toml"), "{why}");
    // What it names no more is taken off the list.
    set("\"public.t.b\"");
    served.listening.signal("-HUP");
    served.listening.after("certificate and logins were read anew");
    assert_eq!(served.listening.after("public.t.a "), "is not registered any more");
    served.opens();
    let hits = || served.counter("cache_hits");
    let before = hits();
    served.psql(&["SELECT * FROM t WHERE a = 1"; 4]);
    assert_eq!(hits(), before, "it is relayed");
    eventually("a read by the other column is hit", || {
        served.psql(&["SELECT * FROM t WHERE b = 2"]);
        hits() > before
    });
    let metrics = served.get("/metrics");
    for line in ["tables 1", "columns 1", "columns_removed_total 1"] {
        assert!(metrics.contains(&format!("\nlacuna_proxy_cache_{line}\n")), "{line}: {metrics}");
    }
    eventually("the page shows the other column alone", || {
        let columns = &served.status()["cache"]["columns"];
        columns.as_array().is_some_and(|all| all.len() == 1) && columns[0]["column"] == "public.t.b"
    });
    let report = served.stop();
    assert!(report.contains("1 columns were taken off the list\n"), "{report}");
}

/// A shadow answers nothing: the counters say what it would have answered.
#[test]
fn a_shadow_compares_and_is_counted() {
    let Some(served) = Served::start(
        &["--cache", "shadow"],
        "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)",
        "public.t.a",
    ) else {
        return;
    };
    let read = "SELECT * FROM t WHERE a = 1";
    // On a busy machine a look at the server may be late, and the cache begins cold.
    eventually("replies are compared", || {
        served.psql(&[read, read, "INSERT INTO t (a) VALUES (1)", read, read, read]);
        served.status()["cache"]["shadow"]["equal"].as_u64() >= Some(3)
    });
    let metrics = served.get("/metrics");
    let is_of_now = |status: &serde_json::Value| {
        metrics.contains(&format!("shadow_equal_total {}\n", status["cache"]["shadow"]["equal"]))
    };
    eventually("the data is of now", || is_of_now(&served.status()));
    let shadow = &served.status()["cache"]["shadow"];
    for (name, field) in [("hits", "would_be_hits"), ("equal", "equal"), ("not_compared", "not_compared")] {
        let line = format!("lacuna_proxy_shadow_{name}_total {}", shadow[field]);
        assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    }
    for line in ["lacuna_proxy_cache_hits_total 0", "lacuna_proxy_shadow_different_total 0"] {
        assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    }
    let report = served.stop();
    let expected = format!(
        "shadow: {} would-be hits: {} equal, 0 different, ",
        shadow["would_be_hits"], shadow["equal"]
    );
    assert!(report.contains(&expected), "{report}");
}

#[test]
fn columns_register_themselves() {
    let sql = "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)";
    let arguments = ["--cache", "memory", "--auto", "--auto-spared", "5"];
    let Some(served) = Served::start(&arguments, sql, "") else { return };
    let reads = ["SELECT * FROM t WHERE a = 1"; 10];
    let status = || served.status()["cache"].clone();
    eventually("the column serves", || {
        served.psql(&reads);
        status()["hits"].as_u64() > Some(0)
    });
    let status = status();
    assert_eq!(status["auto"]["registered"][0]["column"], "public.t.a", "{status}");
    assert_eq!(status["columns"][0]["column"], "public.t.a", "{status}");
    assert!(served.get("/metrics").contains("\nlacuna_proxy_cache_columns_added_total 1\n"));
    let report = served.stop();
    assert!(report.contains("registered public.t.a: a cache would have answered"), "{report}");
}

#[test]
fn a_cache_needs_columns_or_auto() {
    let folder = Folder::new();
    let rest = "proxy --upstream postgres://a --writes rights --account postgres://a --cache memory";
    assert!(folder.lacuna(rest).sentence(2).contains("--register"));
    let both = folder.lacuna(&format!("{rest} --auto --no-suggestions")).sentence(2);
    assert!(both.contains("cannot be used with"), "{both}");
}

/// Reads until there are hits, and returns how a table begins to say it.
fn line_of_reads(served: &Served) -> String {
    let cache = || served.status()["cache"].clone();
    eventually("there are hits", || {
        served.psql(&["SELECT * FROM t WHERE a = 1"; 4]);
        cache()["hits"].as_u64() > Some(0)
    });
    // The data may be a second old: the counters are those of now.
    let (hits, misses) = (served.counter("cache_hits"), served.counter("cache_misses"));
    eventually("the data is of now", || cache()["hits"].as_u64() == Some(hits));
    format!("{hits} of {} reads are hits: ", hits + misses)
}

#[test]
fn a_table_of_what_a_proxy_does_is_printed_once_in_a_pipe() {
    let sql = "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)";
    let Some(served) = Served::start(&["--cache", "memory"], sql, "public.t.a") else { return };
    let line = line_of_reads(&served);
    let folder = Folder::new();
    for place in [served.monitoring.clone(), format!("http://{}/", served.monitoring)] {
        let table = folder.run(&["proxy", "top", &place], "").done();
        assert!(table.starts_with("lacuna proxy top   cache memory, up "), "{table}");
        assert!(table.contains(&format!("\n{line}")) && !table.contains('\u{1b}'), "{table}");
        assert!(table.contains("\npublic.t.a ") && table.contains("\nhottest ranges"), "{table}");
    }
    let silent = folder.run(&["proxy", "top", "127.0.0.1:1"], "").sentence(2);
    assert!(silent.contains("127.0.0.1:1: "), "{silent}");
}

/// On a terminal it is drawn until Ctrl-C, which leaves the terminal as it was.
#[test]
fn a_table_is_drawn_in_place_on_a_terminal() {
    let Some(served) = Served::start(&["--cache", "memory"], "CREATE TABLE t (a INT)", "public.t.a") else {
        return;
    };
    let command = format!("{} proxy top {} --interval 1", crate::BINARY, served.monitoring);
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm");
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut out, mut shown) = (child.stdout.take().unwrap(), String::new());
    let mut until = |part: &str, shown: &mut String| {
        let mut bytes = [0; 4_096];
        while !shown.contains(part) {
            let len = out.read(&mut bytes).unwrap();
            assert!(len > 0, "{part}: {shown}");
            shown.push_str(&String::from_utf8_lossy(&bytes[..len]));
        }
    };
    until("0 of 0 reads are hits", &mut shown);
    until(&line_of_reads(&served), &mut shown);
    child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    until("\x1b[?25h\x1b[?1049l", &mut shown);
    child.wait().unwrap();
    assert_eq!(shown.matches("\x1b[?1049h").count(), 1, "{shown:?}");
}

#[test]
fn certificate_and_logins_are_read_anew_at_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key, logins] = ["a.pem", "a.key", "logins"].map(|name| folder.path().join(name));
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&certificate, own.cert.pem()).unwrap();
    std::fs::write(&key, own.signing_key.serialize_pem()).unwrap();
    std::fs::write(&logins, "").unwrap();
    let named = |option, path: &std::path::Path| [option, path.to_str().unwrap()].map(str::to_owned);
    let files =
        [named("--certificate", &certificate), named("--key", &key), named("--logins", &logins)].concat();
    let mut command = Command::new(crate::BINARY);
    // No server is asked before a client comes.
    command.args(["proxy", "--listen", "127.0.0.1:0", "--upstream", "postgres://127.0.0.1:1"]).args(&files);
    let mut listening = Listening::of(&mut command);
    listening.signal("-HUP");
    listening.after("certificate and logins were read anew");
    std::fs::write(&logins, "\"app\" \"secret\"").unwrap();
    listening.signal("-HUP");
    let why = listening.after("what was read before stays: ");
    assert!(why.contains("logins, line 1"), "{why}");
    let report = listening.stop();
    assert!(report.contains("sessions"), "{report}");
    let refused =
        Folder::new().run(&["proxy", "--upstream", "postgres://a", "--logins", "x"], "").sentence(2);
    assert!(refused.contains("--certificate"), "{refused}");
}

#[test]
fn a_file_with_something_else_in_it_is_refused() {
    let folder = Folder::new();
    for (text, expected) in [
        ("upstream = \"postgres://a\"\nlisten = \"x\"", "invalid value 'x'"),
        ("upstream = \"postgres://a\"\nlisen = \"x\"", "--lisen"),
        ("upstream = \"${LACUNA_IS_NOT_SET}\"", "LACUNA_IS_NOT_SET is not set"),
        ("listen = \"127.0.0.1:0\"", "--upstream"),
        ("[upstream]", "no section"),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let sentence = folder.run(&["proxy", "--config", file.path().to_str().unwrap()], "").sentence(2);
        assert!(sentence.contains(expected), "{text}: {sentence}");
    }
}

#[test]
fn writes_past_a_proxy_that_reads_the_log_are_seen() {
    let Some(postgres) = Postgres::start_with(&["wal_level=logical"]) else { return };
    takes_sessions(&postgres, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)");
    let folder = Folder::new();
    let init = |more: &[&str]| {
        let fixed = ["proxy", "init", "--log", "--register", "public.t.a", "--account", &postgres.url()];
        folder.run(&[&fixed, more].concat(), "").done()
    };
    let sql = init(&["--dry-run"]);
    assert!(sql.starts_with("BEGIN;") && sql.contains("REPLICA IDENTITY FULL;"), "{sql}");
    assert_eq!(init(&[]), "what the log needs is there\n");
    let (fixed, url) = (["--cache", "memory", "--writes", "log", "--register", "public.t.a"], postgres.url());
    let listening = Listening::start(&[&fixed[..], &["--upstream", &url, "--account", &url]].concat());
    for count in 1..20 {
        let read = run(&listening.url("postgres"), "SELECT count(*) FROM t WHERE a = 1");
        assert_eq!(String::from_utf8_lossy(&read.stdout), format!("{count}\n"));
        assert!(run(&postgres.url(), "INSERT INTO t VALUES (1)").status.success());
    }
    listening.stop();
    assert_eq!(init(&["--remove"]), "what the log needs is gone\n");
    let both =
        folder.run(&["proxy", "init", "--log", "--guard", "--register", "public.t.a", "--dry-run"], "");
    assert!(both.sentence(2).contains("--guard"));
}
