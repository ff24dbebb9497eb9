//! Counts by the level a table was written for.

use lacuna_rocksdb_property::{Direction, Metric, TableGuard, TableStats};

use crate::{property, question, table};

#[test]
fn false_positives_count_at_the_level_that_let_pass() {
    // One bit a key: a filter that says "maybe" to nearly everything.
    let guard = TableGuard::parse("bucketing@1 codec=fixed_be:8").unwrap();
    let [first, deep] =
        [1, 30].map(|level| property(&guard, Some(level), (0..5_000).map(|number| number << 20)));
    let question = question(&guard, (9 << 20) + 5, (9 << 20) + 9, Direction::Forward);
    assert!(question.may_contain(table(&first)) && question.may_contain(table(&deep)));
    question.note_empty();
    let filters = guard.stats().filters;
    assert_eq!((filters.level(Some(1)).false_positives, filters.level(Some(7)).false_positives), (1, 1));
    assert_eq!(filters.total().false_positives, 2);
}

#[test]
fn metrics_name_every_level_and_reason() {
    let guard = TableGuard::parse("grafite@16 codec=fixed_be:8").unwrap();
    for level in [Some(0), Some(1), Some(1), Some(6), Some(99), None] {
        let bytes = property(&guard, level, (0..100).map(|number| number << 20));
        let question = question(&guard, (9 << 20) + 5, (9 << 20) + 9, Direction::Forward);
        assert!(!question.may_contain(table(&bytes)));
        assert!(question.may_contain(table(&bytes[..10])), "cut short");
    }
    let stats: TableStats = guard.stats();
    let shown: Vec<String> =
        stats.metrics().filter(|metric| metric.value > 0).map(|metric| metric.to_string()).collect();
    let bytes = stats.filters.built_bytes;
    assert_eq!(
        shown,
        [
            "lacuna_tables_skipped_total{level=\"0\"} 1".to_owned(),
            "lacuna_tables_skipped_total{level=\"1\"} 2".to_owned(),
            "lacuna_tables_skipped_total{level=\"6\"} 1".to_owned(),
            "lacuna_tables_skipped_total{level=\"7\"} 1".to_owned(),
            "lacuna_tables_skipped_total{level=\"unknown\"} 1".to_owned(),
            "lacuna_filters_built_total 6".to_owned(),
            format!("lacuna_filters_built_bytes_total {bytes}"),
            "lacuna_tables_unasked_total{reason=\"corrupt\"} 6".to_owned(),
        ]
    );
    let names: std::collections::BTreeSet<_> =
        stats.metrics().map(|metric| (metric.name, metric.label)).collect();
    assert_eq!(names.len(), stats.metrics().count(), "each has its own name");
    let text = Metric::text(stats.metrics());
    let types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
    let distinct: std::collections::BTreeSet<_> = types.iter().collect();
    assert_eq!(types.len(), distinct.len(), "counts of one name follow each other");
    assert_eq!(text.lines().count(), types.len() + names.len());
}
