//! `lacuna bench engine` over SlateDB.

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
