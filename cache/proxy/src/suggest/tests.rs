//! What is suggested.

use super::*;
use crate::follow::StatementText;

const MILLISECOND: Duration = Duration::from_millis(1);

fn seen(text: &str) -> Seen {
    let statement = Arc::new(StatementText::new(text, Vec::new()));
    Seen { statement, values: None, elapsed: MILLISECOND, rows: 1, has_failed: false }
}

fn learned(texts: &[&str]) -> Vec<Suggestion> {
    let suggestions = Suggestions::default();
    texts.iter().for_each(|text| suggestions.record(seen(text)));
    suggestions.all()
}

fn numbers(suggestion: &Suggestion) -> (&str, u64, u64, u64, u64) {
    let Suggestion { column, asked, repeated, spared, writes, .. } = suggestion;
    (column, *asked, *repeated, *spared, *writes)
}

#[test]
fn repeated_statements_are_spared() {
    let all = learned(&["SELECT * FROM t WHERE a = 1"; 4]);
    assert_eq!(all.iter().map(numbers).collect::<Vec<_>>(), [("a", 4, 3, 3, 0)]);
    assert!(all[0].time == 4 * MILLISECOND && all[0].spared_time < 3 * MILLISECOND, "{all:?}");
}

/// The example of the module's page.
#[test]
fn writes_take_what_they_touch() {
    let read = "SELECT * FROM orders WHERE customer = 7";
    let write = |customer| format!("DELETE FROM orders WHERE customer = {customer}");
    let all = learned(&[read, &write(8), read, &write(7), read]);
    assert_eq!(all.iter().map(numbers).collect::<Vec<_>>(), [("customer", 3, 2, 1, 2)]);
}

#[test]
fn writes_of_unknown_intervals_take_everything() {
    let read = "SELECT * FROM t WHERE a BETWEEN 10 AND 20";
    let cases = [
        ("UPDATE t SET b = 1 WHERE a = 21", 1),
        ("UPDATE t SET b = 1 WHERE a = 20", 0),
        ("UPDATE t SET a = 50 WHERE a = 30", 0),
        ("UPDATE t SET b = 1 WHERE c = 'x'", 0),
        ("INSERT INTO t (a, b) VALUES (5, 15), (6, 16)", 1),
        ("INSERT INTO t VALUES (5, 15)", 0),
        ("TRUNCATE t", 0),
        ("TRUNCATE u", 1),
        ("DELETE FROM t WHERE a > 20 AND a < 100", 1),
    ];
    for (write, spared) in cases {
        assert_eq!(learned(&[read, write, read])[0].spared, spared, "{write}");
    }
}

#[test]
fn a_result_is_held_again_after_a_write_to_everything() {
    let (read, other) = ("SELECT * FROM t WHERE a = 1", "SELECT * FROM t WHERE a = 2");
    let (everything, one) = ("TRUNCATE t", "DELETE FROM t WHERE a = 1");
    let all = learned(&[
        read, other, everything, read, read, one, read, other, other, everything, everything, other,
    ]);
    assert_eq!(all.iter().map(numbers).collect::<Vec<_>>(), [("a", 8, 6, 2, 4)]);
}

#[test]
fn numbers_that_are_no_integers_have_an_order() {
    let read = "SELECT * FROM t WHERE a >= 1.50 AND a < 3";
    let cases = [
        ("UPDATE t SET b = 1 WHERE a = 1.49", 1),
        ("UPDATE t SET b = 1 WHERE a = '1.5'", 0),
        ("UPDATE t SET b = 1 WHERE a = 2", 0),
        ("UPDATE t SET b = 1 WHERE a = 4", 1),
        ("INSERT INTO t (a, b) VALUES (-2.5, 15), (1, 16)", 1),
        ("INSERT INTO t (a, b) VALUES (1.25, 15), (7, 16)", 0),
        ("DELETE FROM t WHERE a > 3.01", 1),
        ("DELETE FROM t WHERE a > -3.01", 0),
        ("DELETE FROM t WHERE a = 'x'", 0),
    ];
    for (write, spared) in cases {
        assert_eq!(learned(&[read, write, read])[0].spared, spared, "{write}");
    }
}

#[test]
fn constants_have_the_places_that_parameters_have_not() {
    for text in [
        "SELECT a::varchar(10) FROM t WHERE a = -1",
        "SELECT a FROM t WHERE a = - 1 ORDER BY 1 LIMIT 2",
        "SELECT a FROM t WHERE a BETWEEN -2 AND 0",
    ] {
        let all = learned(&[text, "DELETE FROM t WHERE a = 1", text, "DELETE FROM t WHERE a = -1", text]);
        assert_eq!(all.iter().map(numbers).collect::<Vec<_>>(), [("a", 3, 2, 1, 2)], "{text}");
    }
}

#[test]
fn texts_are_compared_by_equality() {
    let (read, other) = ("SELECT * FROM t WHERE a = 'x'", "DELETE FROM t WHERE a = 'y'");
    assert_eq!(learned(&[read, other, read])[0].spared, 1);
    assert_eq!(learned(&[read, "DELETE FROM t WHERE a = 'x'", read])[0].spared, 0);
    assert_eq!(learned(&[read, "DELETE FROM t WHERE a < 'y'", read])[0].spared, 0);
}

#[test]
fn the_largest_gain_is_the_first() {
    let suggestions = Suggestions::default();
    let few = "SELECT * FROM t WHERE a = 1 AND b = 2";
    let many = "SELECT * FROM u WHERE c = 1";
    [few, few, many, many, many, "SELECT 1", "SELECT 1", "BEGIN"]
        .iter()
        .for_each(|text| suggestions.record(seen(text)));
    suggestions.record(Seen { has_failed: true, ..seen(many) });
    let order: Vec<String> = suggestions.all().into_iter().map(|suggestion| suggestion.column).collect();
    assert_eq!(order, ["c", "a", "b"]);
    let report = suggestions.report();
    assert!(report.starts_with("9 statements: 5 reads"), "{report}");
    let place = |text: &str| report.find(text).unwrap_or_else(|| panic!("{text}: {report}"));
    assert!(place("u.c") < place("t.a") && place("2  it reads no table") < place("1  it is no SELECT"));
}

#[test]
fn too_many_statements_are_counted() {
    let suggestions = Suggestions::default();
    let fit = (MAX_WAITING - 1) / seen("SELECT 1").bytes();
    (0..fit + 5).for_each(|_| suggestions.record(seen("SELECT 1")));
    assert!(suggestions.report().contains("5 more came too fast"), "{}", suggestions.report());
    suggestions.record(seen("SELECT 1"));
    assert!(suggestions.report().starts_with(&format!("{} statements", fit + 1)), "there is room again");
}
