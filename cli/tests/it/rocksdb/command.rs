//! The binary as its users meet it.

use std::process::Output;

use assert_cmd::Command;
use lacuna_bench::engine::COLUMNS;
use serde_json::Value;

fn lacuna(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lacuna"));
    command.args(line.split_whitespace()).output().unwrap()
}

#[test]
fn rows_as_json_have_exactly_the_fields() {
    let run = lacuna(
        "bench engine --engine rocksdb --keys uniform:4k --queries uniform:200:32 --filters none,engine,bucketing \
         --bits-per-key 10,14 --format json",
    );
    assert_eq!(
        (run.status.code(), run.stderr.as_slice()),
        (Some(0), &b""[..]),
        "nothing is said beside the rows"
    );
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!(text.lines().count(), 5, "none once, two filters with two budgets");
    for line in text.lines() {
        let Value::Object(row) = serde_json::from_str(line).unwrap() else { panic!("{line} is no object") };
        let mut names: Vec<&str> = row.keys().map(String::as_str).collect();
        let mut expected = COLUMNS.to_vec();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert_eq!(
            (&row["engine"], &row["empty_count"], &row["rows"]),
            (&"rocksdb".into(), &200.into(), &0.into())
        );
        assert_eq!(row["fpr"].is_null(), row["filter"] != "bucketing", "{line}");
    }
}

#[test]
fn bad_arguments_end_with_two() {
    for line in [
        "bench engine --engine rocksdb --keys uniform:1k --queries uniform:9:1 --filters blom",
        "bench engine --engine rocksdb --keys uniform:1k --queries uniform:9:1 --empty 2",
    ] {
        let run = lacuna(line);
        let said = String::from_utf8(run.stderr).unwrap();
        assert!(run.status.code() == Some(2) && said.starts_with("lacuna: "), "{line}: {said}");
    }
}
