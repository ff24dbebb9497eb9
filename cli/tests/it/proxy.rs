//! `lacuna proxy`: the process before a real PostgreSQL.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use lacuna_testkit::servers::Postgres;

use crate::support::Folder;

#[test]
fn statements_are_explained() {
    let folder = Folder::new();
    let explain = |sql: &str| folder.run(&["proxy", "explain", sql], "").done();
    let said = explain("SELECT * FROM orders WHERE customer = $1 AND day > 5");
    assert_eq!(said, "a cache can answer it if orders.customer or orders.day is registered\n");
    assert_eq!(explain("SELECT 1"), "it is relayed: it reads no table\n");
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let folder = Folder::new();
    let wrong = [
        ("proxy --upstream mysql://a", "the upstream is no postgres://"),
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
    ];
    for (line, expected) in wrong {
        let sentence = folder.lacuna(line).sentence(2);
        assert!(sentence.contains(expected), "{sentence}");
    }
}

#[test]
fn suggestions_are_printed_at_a_signal() {
    let Some(postgres) = Postgres::start() else { return };
    let mut child = Command::new(crate::BINARY)
        .args(["proxy", "--listen", "127.0.0.1:0", "--upstream", &postgres.url()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening at ").unwrap();
    let url = format!("postgres://postgres@{address}/postgres");
    let script = "CREATE TABLE t (a INT); SELECT * FROM t WHERE a = 1";
    let ran = || {
        let again = ["-c", "SELECT * FROM t WHERE a = 1", "-c", "SELECT * FROM t WHERE a = 1"];
        Command::new("psql").args(["-X", "-q", &url, "-c", script]).args(again).output().unwrap()
    };
    // A server listens before it takes sessions.
    while !ran().status.success() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let mut report = String::new();
    out.read_to_string(&mut report).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(report.contains("t.a") && report.contains("2 reads that bound a column"), "{report}");
    assert!(report.contains("1  it is more than one statement"), "{report}");
}

#[test]
fn a_cache_is_counted_and_its_rights_are_checked() {
    let Some(postgres) = Postgres::start() else { return };
    let psql = |url: &str, scripts: &[&str]| {
        let scripts = scripts.iter().flat_map(|script| ["-c", script]);
        Command::new("psql").args(["-X", "-q", url]).args(scripts).output().unwrap()
    };
    let table = "CREATE TABLE t (a INT); CREATE ROLE app LOGIN; GRANT SELECT, INSERT ON t TO app";
    while !psql(&postgres.url(), &[table]).status.success() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let start = |writers: &str| {
        let fixed = ["proxy", "--listen", "127.0.0.1:0", "--cache", "memory", "--writes", "rights"];
        Command::new(crate::BINARY)
            .args(fixed)
            .args(["--register", "public.t.a", "--upstream", &postgres.url(), "--account", &postgres.url()])
            .args(["--writers", writers])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let refused = start("postgres").wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("the role app can log in and write"), "{said}");
    let mut child = start("postgres,app");
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let url = format!("postgres://app@{}/postgres", line.trim().strip_prefix("listening at ").unwrap());
    // It opens once the catalogue was read.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let read = "SELECT * FROM t WHERE a = 1";
    assert!(psql(&url, &[read, read, "INSERT INTO t (a) VALUES (1)", read, read]).status.success());
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let mut report = String::new();
    out.read_to_string(&mut report).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(
        report.contains("cache: 2 hits, 2 misses, 2 replies kept; 1 writes dropped 1 entries"),
        "{report}"
    );
}
