//! `lacuna bench filters`: rows in three forms, and a report.

use std::fs;

use serde_json::Value;

use crate::support::Folder;

/// The fields of a row, in order.
const FIELDS: [&str; 24] = [
    "filter",
    "spec",
    "keys",
    "key_count",
    "bits_per_key_asked",
    "bits_per_key",
    "build_ns_per_key",
    "build_ns_per_key_low",
    "build_ns_per_key_high",
    "queries",
    "query_count",
    "empty_count",
    "fpr",
    "predicted_fpr",
    "false_negatives",
    "ns_per_query",
    "ns_per_query_low",
    "ns_per_query_high",
    "ns_per_query_batched",
    "ns_per_query_batched_low",
    "ns_per_query_batched_high",
    "memory_floor_ns",
    "seed",
    "note",
];

const COMMAND: &str = "bench filters --filters grafite,proteus,auto,bloom:k=7 --keys uniform:5k --bits-per-key 10,14 \
                       --queries uniform:2k:1-32,points:2k --quick";

#[test]
fn rows_as_json_have_exactly_the_fields() {
    let text = Folder::new().lacuna(&format!("{COMMAND} --format json")).done();
    assert_eq!(text.lines().count(), 4 * 2 * 2, "four specs, two budgets, two kinds of queries");
    for line in text.lines() {
        let Value::Object(row) = serde_json::from_str(line).unwrap() else { panic!("{line} is no object") };
        let mut names: Vec<&str> = row.keys().map(String::as_str).collect();
        let mut expected = FIELDS.to_vec();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert_eq!(row["false_negatives"], 0);
        let [measured, predicted] = ["fpr", "predicted_fpr"].map(|rate| row[rate].as_f64().unwrap());
        assert!((measured - predicted).abs() < 0.01 + 0.35 * measured, "the rate told is near in {line}");
        assert_eq!(
            (&row["key_count"], &row["empty_count"], &row["seed"]),
            (&5_000.into(), &2_000.into(), &1.into())
        );
        for time in ["build_ns_per_key", "ns_per_query", "ns_per_query_batched", "memory_floor_ns"] {
            assert!(row[time].as_f64().unwrap() > 0.0, "{time} in {line}");
        }
    }
}

#[test]
fn rows_as_csv_have_a_header() {
    let text = Folder::new().lacuna(&format!("{COMMAND} --format csv")).done();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(FIELDS.join(",").as_str()));
    assert_eq!(lines.count(), 16);
}

#[test]
fn the_table_has_every_family_by_default() {
    let table = Folder::new().lacuna("bench filters --keys uniform:1k --queries points:500 --quick").done();
    for name in lacuna_families::FAMILIES.iter().map(|family| family.kind.name()) {
        assert!(table.lines().any(|line| line.starts_with(name)), "{name} is not in\n{table}");
    }
}

#[test]
fn a_filter_that_does_not_fit_is_a_row() {
    let folder = Folder::new();
    let mut paths: Vec<String> =
        (0..3_000).map(|n| format!("usr/share/package {}/locale/part-{n}/file.mo\n", n % 40)).collect();
    paths.sort();
    folder.write("paths.txt", paths.concat());
    let bench = |queries: &str, rest: &str| {
        folder.lacuna(&format!("bench filters --keys paths.txt --queries {queries} --quick {rest}")).done()
    };
    let table = bench("heldout:300:1-4", "");
    for name in lacuna_families::FAMILIES.iter().map(|family| family.kind.name()) {
        assert!(table.lines().any(|line| line.starts_with(name)), "{name} is not in\n{table}");
    }
    assert!(table.contains("\nsurf: does not fit: needs "), "{table}");
    assert!(table.contains("\ngrafite: sees 8 bytes, in which "), "{table}");
    let rows = bench("heldout:300:1-4", "--filters surf,auto,bloom --format json");
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows[0]["smallest_bits_per_key"].as_f64().unwrap() > 14.0, "{}", rows[0]);
    assert!(rows[1]["note"].as_str().unwrap().starts_with("chose "), "{}", rows[1]);
    let csv = bench("heldout:300:1-4,points:100", "--filters surf,bloom --format csv");
    assert_eq!(csv.lines().count(), 1 + 4, "one header: {csv}");
    assert!(csv.contains(",does not fit: needs "), "{csv}");
}

#[test]
fn a_report_is_written_over_reports_alone() {
    let folder = Folder::new();
    let keys = "a\nb\n";
    folder.write("rows.csv", keys);
    folder.write("words.txt", "a\nb\n");
    let bench =
        |rest: &str| folder.lacuna(&format!("bench filters --filters bloom --quick {rest} --report ."));
    for (rest, said) in [
        ("--keys file:rows.csv --queries points:50", "rows.csv is the file of the keys, which would be lost"),
        (
            "--keys words.txt --queries file:rows.csv",
            "rows.csv is the file of the queries, which would be lost",
        ),
        ("--keys words.txt --queries points:50", "its rows.csv is no file of a report; give another folder"),
    ] {
        let refused = bench(rest).sentence(2);
        assert!(refused.contains(said), "{rest}: {refused}");
    }
    folder.write("secret", "0123456789abcdef0123456789abcdef\n");
    fs::hard_link(folder.path("secret"), folder.path("rows.jsonl")).unwrap();
    let secret = "bench filters --filters ribbon:secret --secret-file secret --keys words.txt --queries points:50 --quick";
    let refused = folder.lacuna(&format!("{secret} --report .")).sentence(2);
    assert!(refused.contains("rows.jsonl is the file of the secret"), "{refused}");
    assert_eq!(folder.names(), ["rows.csv", "rows.jsonl", "secret", "words.txt"]);
    assert_eq!(fs::read_to_string(folder.path("rows.csv")).unwrap(), keys);
    for _ in 0..2 {
        let again = "bench filters --filters bloom --keys words.txt --queries points:50 --quick --report r";
        folder.lacuna(again).done();
    }
    assert_eq!(fs::read_dir(folder.path("r")).unwrap().count(), 3);
}

#[test]
fn the_report_is_written() {
    let folder = Folder::new();
    folder.write("words.txt", (100..400).map(|word| format!("word{word}\n")).collect::<String>());
    let command =
        "bench filters --filters bloom --keys words.txt --queries heldout:50:1-4 --quick --report a/b";
    folder.lacuna(command).done();
    let page = fs::read_to_string(folder.path("a/b/report.html")).unwrap();
    let again =
        "--filters bloom --keys words.txt --queries heldout:50:1-4 --bits-per-key 14 --quick --seed 1";
    assert!(page.contains(again), "the page says how to make it again");
    for name in ["rows.csv", "rows.jsonl"] {
        assert!(fs::read_to_string(folder.path("a/b").join(name)).unwrap().contains("heldout"), "{name}");
    }
}
