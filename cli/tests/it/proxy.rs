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
