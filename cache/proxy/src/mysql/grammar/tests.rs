//! What texts mean by MySQL's rules.

use proptest::prelude::*;

use super::*;
use crate::recognise::{Bound, Bounded, Comparand, Grammar, Recognised};

fn read(text: &str) -> (String, Vec<Bounded>) {
    match Grammar::MySql.recognise(text) {
        Ok(Recognised::Read { table, columns }) => (table, columns),
        other => panic!("{text}: {other:?}"),
    }
}

fn write(text: &str) -> (String, Vec<Bounded>) {
    match Grammar::MySql.recognise(text) {
        Ok(Recognised::Write { table, columns }) => (table, columns),
        other => panic!("{text}: {other:?}"),
    }
}

fn by(column: &str, bounds: Vec<Bound>) -> Bounded {
    Bounded { column: column.to_owned(), bounds }
}

fn equal(number: i64) -> Bound {
    Bound::OneOf(vec![Comparand::Integer(number)])
}

#[test]
fn words_are_written_as_the_parser_reads_them() {
    for (text, expected) in [
        ("SELECT a # one\nFROM t", "SELECT a  \nFROM t"),
        ("SELECT a -- one\nFROM t", "SELECT a  \nFROM t"),
        ("SELECT a/* one */FROM t", "SELECT a FROM t"),
        ("SELECT 5--5", "SELECT 5- -5"),
        ("SELECT 5*-a", "SELECT 5* -a"),
        ("a=? AND b IN (?,?)", "a=?1 AND b IN (?2,?3)"),
        ("a=?2 AND b=?1", "a=?2 AND b=?1"),
        (r"a = 'it''s \'x\' \\ \n'", "a = 'it''s ''x'' \\\\ \n'"),
        ("a = 'über'", "a = 'über'"),
        ("`from`.`a b` = 1", "`from`.`a b` = 1"),
    ] {
        assert_eq!(plain(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn constants_are_taken_out() {
    let found = template("SELECT `a'1`, b2 FROM t WHERE a=-5 AND b IN ('it\\'s', 1.5) LIMIT 3, 4").unwrap();
    assert_eq!(found.text, "SELECT `a'1`, b2 FROM t WHERE a= -?1 AND b IN (?2, ?3) LIMIT ?4, ?5");
    assert_eq!(found.constants, ["5", "it's", "1.5", "3", "4"]);
    assert_eq!(template("SELECT * FROM t WHERE a = ?"), None);
    // A template is read as the text that it stands for.
    let template = template("SELECT * FROM t WHERE a BETWEEN 10 AND -5").unwrap();
    let between = vec![Bound::AtLeast(Comparand::Param(0)), Bound::AtMost(Comparand::Minus(1))];
    assert_eq!(read(&template.text), ("t".to_owned(), vec![by("a", between)]));
}

#[test]
fn reads_have_a_table_and_bounds() {
    let between = vec![Bound::AtLeast(Comparand::Param(0)), Bound::AtMost(Comparand::Param(1))];
    assert_eq!(read("SELECT * FROM t WHERE a BETWEEN ? AND ?"), ("t".to_owned(), vec![by("a", between)]));
    for text in [
        "SELECT `A` FROM `Orders` WHERE `A` = 7 LIMIT 10, 5",
        "select Orders.b from Orders where Orders.a = 7 order by b desc limit 5 offset 10",
        "SELECT count(*) FROM Orders o WHERE o.a = '7' AND b LIKE 'x\\_%' -- all",
        "SELECT DISTINCT b FROM Orders AS o WHERE 7 = o.A;",
    ] {
        assert_eq!(read(text), ("Orders".to_owned(), vec![by("a", vec![equal(7)])]), "{text}");
    }
    assert_eq!(read("SELECT 1 FROM shop.t WHERE a = 1").0, "shop.t");
    let one_column = read("SELECT * FROM t WHERE a > 1 AND A < 5");
    assert_eq!(
        one_column.1,
        [by("a", vec![Bound::Above(Comparand::Integer(1)), Bound::Below(Comparand::Integer(5))])]
    );
    let text = Comparand::Text("it's \\ \n".to_owned());
    assert_eq!(read(r"SELECT 1 FROM t WHERE a = 'it\'s \\ \n'").1, [by("a", vec![Bound::OneOf(vec![text])])]);
}

#[test]
fn writes_have_a_table_and_bounds() {
    let of_t = |columns| ("t".to_owned(), columns);
    assert_eq!(write("DELETE FROM t WHERE A = 1 LIMIT 1"), of_t(vec![by("a", vec![equal(1)])]));
    assert_eq!(write("UPDATE t SET A = 5 WHERE a = 1 AND b = 2"), of_t(vec![by("b", vec![equal(2)])]));
    let two = Bound::OneOf(vec![Comparand::Param(0), Comparand::Integer(7)]);
    assert_eq!(write("INSERT INTO t (`A`, b) VALUES (?, now()), (7, 8)"), of_t(vec![by("a", vec![two])]));
    for text in [
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t SET a = 1",
        "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2",
        "REPLACE INTO t (a) VALUES (1)",
        "UPDATE t SET a = 1",
        "TRUNCATE TABLE t",
    ] {
        assert_eq!(write(text), of_t(vec![]), "{text}");
    }
}

#[test]
fn what_means_other_things_elsewhere_is_refused() {
    for condition in [
        "a = \"x\"",
        "a = /*! 1 */ 2",
        "a = /*M! 1 */ 2",
        "a = N'x'",
        "a = _utf8mb4'x'",
        "a = x'41'",
        "a = 0x41",
        "a = 1e5",
        "a = 'x' 'y'",
        "a <=> 1",
        "a = 1 && b",
        "a = 1 || b",
        "a = @x",
        "(@x := a) = 1",
        "a->'$.b' = 1",
        "a DIV 2 = 1 AND b XOR 1",
        "!a = 1",
        "ä = 1",
        "`ä` = 1",
        "`a``b` = 1",
        "a$b = 1",
        "a = ?x",
        "a = 'open",
        "a = 'x\\0'",
        "a = 1 /* open",
        "sleep(1) = a",
    ] {
        assert!(
            Grammar::MySql.recognise(&format!("SELECT * FROM t WHERE {condition}")).is_err(),
            "{condition}"
        );
    }
    for (text, expected) in [
        ("SELECT * FROM information_schema.tables WHERE a = 1", "asks the catalogue"),
        ("SELECT * FROM MYSQL.user WHERE a = 1", "asks the catalogue"),
        ("SELECT * FROM t WHERE a = 1 FOR UPDATE", "locks rows"),
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("SELECT * FROM t JOIN u WHERE t.a = 1", "more than one table"),
        ("SET NAMES utf8mb4", "it is no SELECT"),
    ] {
        let why = Grammar::MySql.recognise(text).expect_err(text);
        assert!(why.contains(expected), "{text}: {why}");
    }
}

proptest! {
    #[test]
    fn any_text_is_recognised_or_has_a_reason(text in "[ -~äß\\n]{0,80}") {
        for text in [text.clone(), format!("SELECT * FROM t WHERE {text}")] {
            drop(Grammar::MySql.recognise(&text));
            drop(template(&text));
        }
    }

    /// What the parser reads is what the text says, whatever is escaped in it.
    #[test]
    fn texts_are_decoded_once(letters in "[ -~äß\\n\\t]{0,20}") {
        let escaped = letters.replace('\\', "\\\\").replace('\'', "\\'");
        let statement = format!("SELECT 1 FROM t WHERE a = '{escaped}'");
        let expected = letters.parse().map_or_else(|_| Comparand::Text(letters.clone()), Comparand::Integer);
        prop_assert_eq!(read(&statement).1, [by("a", vec![Bound::OneOf(vec![expected])])]);
        prop_assert_eq!(template(&statement).unwrap().constants, ["1".to_owned(), letters]);
    }
}
