//! What a user sees who gives wrong arguments.

use std::process::Command;

/// What it says on standard error, with the exit code.
fn told(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lacuna"));
    let output = command.args(["cache", "dendrite"]).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn with(secret: &str, more: &[&str]) -> (Option<i32>, String) {
    let usual = [
        "--listen",
        "127.0.0.1:0",
        "--table",
        "t",
        "--key",
        "id",
        "--domain",
        "age:integer",
        "--cache",
        "redis://127.0.0.1:1",
        "--secret-file",
        secret,
    ];
    told(&[&usual[..], more].concat())
}

#[test]
fn wrong_arguments_are_named_with_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (good, short, none) = (path("good"), path("short"), path("none"));
    std::fs::write(&good, "a secret of enough bytes\n").unwrap();
    std::fs::write(&short, "secret").unwrap();
    let store = ["--store", "postgres://postgres@127.0.0.1:1/postgres"];
    let etcd = [&store[..], &["--coordinator", "etcds://127.0.0.1:1"]].concat();
    let redis = [&store[..], &["--cache", "rediss://127.0.0.1:1"]].concat();
    let cases: [(&str, Vec<&str>, &str); 17] = [
        (&none, store.to_vec(), "none"),
        (&short, store.to_vec(), "at least 16"),
        (&good, vec!["--store", "sqlite:app.db"], "SQLite"),
        (&good, vec!["--store", "oracle://x"], "oracle"),
        (&good, [&store[..], &["--coordinator", "zookeeper://x"]].concat(), "coordinator"),
        (&good, [&store[..], &["--policy", "back"]].concat(), "--log"),
        (&good, [&store[..], &["--coordinator-user", "root"]].concat(), "--coordinator etcds://"),
        (&good, [&etcd[..], &["--coordinator-user", "root"]].concat(), "--coordinator-password-file"),
        (&good, [&etcd[..], &["--coordinator-authority", &none]].concat(), "none"),
        (&good, [&etcd[..], &["--coordinator-key", &good]].concat(), "--coordinator-certificate"),
        (&good, [&store[..], &["--listen", "127.0.0.1:0", "--listen", "x"]].concat(), "--listen"),
        (&good, [&store[..], &["--placement", "hash"]].concat(), "--cache"),
        (&good, [&store[..], &["--redis-authority", &good]].concat(), "rediss://"),
        (&good, redis.clone(), "--redis-authority"),
        (&good, [&redis[..], &["--redis-authority", &none]].concat(), "none"),
        (
            &good,
            [&redis[..], &["--redis-authority", &good, "--redis-key", &good]].concat(),
            "--redis-certificate",
        ),
        (&good, store.to_vec(), "127.0.0.1:1"),
    ];
    for (secret, more, expected) in cases {
        let (code, words) = with(secret, &more);
        assert_eq!(code, Some(2), "{more:?}: {words}");
        assert!(words.contains(expected) && words.lines().count() == 1, "{more:?}: {words}");
    }
    let (code, words) = told(&["--help"]);
    assert_eq!((code, words.as_str()), (Some(0), ""));
}
