//! `lacuna bench engine`: SlateDB here, RocksDB in another binary, as is the range cache.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use lacuna_bench::engine::COLUMNS;
use serde_json::Value;

use crate::support::Folder;

const COMMAND: &str = "bench engine --engine slatedb --keys uniform:6k --queries uniform:300:32 --empty 0.5 \
                       --filters none,engine,grafite";

#[test]
fn rows_as_json_have_exactly_the_fields() {
    let text = Folder::new().lacuna(&format!("{COMMAND} --format json")).done();
    assert_eq!(text.lines().count(), 3);
    for line in text.lines() {
        let Value::Object(row) = serde_json::from_str(line).unwrap() else { panic!("{line} is no object") };
        let mut names: Vec<&str> = row.keys().map(String::as_str).collect();
        let mut expected = COLUMNS.to_vec();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert_eq!(
            (&row["rows"], &row["query_count"], &row["empty_count"]),
            (&150.into(), &300.into(), &150.into())
        );
    }
}

#[test]
fn rows_as_csv_and_as_a_table() {
    let folder = Folder::new();
    let csv = folder.lacuna(&format!("{COMMAND} --format csv")).done();
    assert_eq!((csv.lines().next(), csv.lines().count()), (Some(COLUMNS.join(",").as_str()), 4));
    let table = folder.lacuna(COMMAND).done();
    for filter in ["none", "engine", "grafite"] {
        assert!(table.lines().any(|line| line.starts_with(filter)), "{filter} is not in\n{table}");
    }
}

/// A copy of `lacuna` in a folder with nothing else in the path.
fn alone(folder: &Folder, line: &str) -> Output {
    let own = folder.path("lacuna");
    fs::copy(env!("CARGO_BIN_EXE_lacuna"), &own).expect("the folder takes files");
    let words = line.split_whitespace();
    Command::new(own)
        .args(words)
        .env("PATH", "")
        .current_dir(folder.root())
        .output()
        .expect("the binary runs")
}

/// Commands, and the binary that has them.
const ELSEWHERE: [(&str, &str); 6] = [
    ("bench engine --engine rocksdb --keys uniform:1k --queries uniform:9:1", "lacuna-rocksdb"),
    ("paper rocksdb --figure surf-6", "lacuna-rocksdb"),
    ("bench cache --seconds 1", "lacuna-cache"),
    ("bench cache --help", "lacuna-cache"),
    ("cache dendrite --listen 127.0.0.1:0", "lacuna-cache"),
    ("paper rangeqc --figure 1", "lacuna-cache"),
];

#[test]
fn a_missing_binary_is_named() {
    let folder = Folder::new();
    for (line, binary) in ELSEWHERE {
        let run = alone(&folder, line);
        let said = String::from_utf8(run.stderr).unwrap();
        assert!(run.status.code() == Some(2) && run.stdout.is_empty(), "{line}: {said}");
        assert!(said.contains(&format!("`{binary}`")) && said.contains("cargo build"), "{said}");
        assert_eq!(said.lines().count(), 1, "one sentence: {said}");
    }
    assert_eq!(folder.names(), ["lacuna"], "nothing was made");
}

#[test]
fn another_binary_gets_the_same_arguments() {
    let folder = Folder::new();
    for name in ["lacuna-rocksdb", "lacuna-cache"] {
        let sibling = folder.path(name);
        fs::write(&sibling, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
        fs::set_permissions(&sibling, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (line, _) in ELSEWHERE {
        let run = alone(&folder, line);
        assert_eq!((run.status.code(), run.stdout), (Some(7), format!("{line}\n").into_bytes()));
        assert!(run.stderr.is_empty(), "the other binary has said what is to be said");
    }
}
