//! What is recognised, and what is not.

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> (String, Vec<Bounded>) {
    match recognise(text) {
        Ok(Recognised::Read { table, columns }) => (table, columns),
        other => panic!("{text}: {other:?}"),
    }
}

fn write(text: &str) -> (String, Vec<Bounded>) {
    match recognise(text) {
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
fn conditions_bound_columns() {
    use Bound::{Above, AtLeast, AtMost, Below, OneOf};
    use Comparand::{Integer, Param, Text};
    let cases = [
        ("a = 5", vec![equal(5)]),
        ("5 = a", vec![equal(5)]),
        ("a=-5", vec![equal(-5)]),
        ("a BETWEEN $1 AND $2", vec![AtLeast(Param(0)), AtMost(Param(1))]),
        ("a > 1 AND (2 >= a)", vec![Above(Integer(1)), AtMost(Integer(2))]),
        ("t.a < 'x''y'", vec![Below(Text("x'y".to_owned()))]),
        ("\"a\" IN (1, $3)", vec![OneOf(vec![Integer(1), Param(2)])]),
        ("A = $1::bigint", vec![OneOf(vec![Param(0)])]),
        ("a = 1.50", vec![OneOf(vec![Text("1.50".to_owned())])]),
        ("a = 1 /* the /* first */ one */ AND c LIKE 'x%' -- end", vec![equal(1)]),
    ];
    for (condition, bounds) in cases {
        let expected = ("t".to_owned(), vec![by("a", bounds)]);
        assert_eq!(read(&format!("SELECT * FROM t WHERE {condition}")), expected, "{condition}");
    }
}

#[test]
fn several_columns_are_bounded() {
    let (table, columns) =
        read("SELECT count(*) FROM Shop.\"Orders\" o WHERE o.day >= 1 AND o.id = 2 AND 3 > day");
    assert_eq!(table, "shop.Orders");
    let day = vec![Bound::AtLeast(Comparand::Integer(1)), Bound::Below(Comparand::Integer(3))];
    assert_eq!(columns, [by("day", day), by("id", vec![equal(2)])]);
}

#[test]
fn shapes_of_results_are_free() {
    for text in [
        "SELECT DISTINCT b FROM t WHERE a = 1 ORDER BY b DESC NULLS LAST LIMIT 10 OFFSET $2",
        "SELECT b, sum(c) AS s FROM t WHERE a = 1 GROUP BY b HAVING sum(c) > 2;",
        "SELECT t.*, coalesce(b, 0) + 1 FROM t WHERE a = 1 AND (b = 2 OR NOT c IS NULL)",
        "SELECT a FROM ONLY_ONE WHERE a = 1",
    ] {
        assert_eq!(read(text).1, [by("a", vec![equal(1)])], "{text}");
    }
}

#[test]
fn what_is_not_known_has_a_reason() {
    let cases = [
        ("SELECT * FROM t", "no WHERE"),
        ("SELECT * FROM t WHERE a <> 1", "no condition bounds"),
        ("SELECT * FROM t WHERE a = 1 OR a = 2", "no condition bounds"),
        ("SELECT * FROM t WHERE a = b", "no condition bounds"),
        ("SELECT * FROM t WHERE a + 0 = 1", "no condition bounds"),
        ("SELECT * FROM t, u WHERE a = 1", "more than one table"),
        ("SELECT * FROM t JOIN u USING (a) WHERE a = 1", "more than one table"),
        ("SELECT * FROM (SELECT * FROM t) t WHERE a = 1", "no plain table"),
        ("SELECT * FROM generate_series(1, 2) a WHERE a = 1", "no plain table"),
        ("SELECT * FROM t q(b, a) WHERE a = 1", "other names"),
        ("SELECT * FROM t TABLESAMPLE SYSTEM (1) WHERE a = 1", "no plain table"),
        ("SELECT * FROM pg_class WHERE oid = 1", "catalogue"),
        ("SELECT * FROM pg_catalog.pg_class WHERE oid = 1", "catalogue"),
        ("SELECT * FROM t WHERE a = 1 AND b = now()", "calls now"),
        ("SELECT my.f(b) FROM t WHERE a = 1", "calls my.f"),
        ("SELECT sum(b) OVER () FROM t WHERE a = 1", "window"),
        ("SELECT * FROM t WHERE a = 1 AND b = 'today'::date", "cast"),
        ("SELECT * FROM t WHERE a = 1 AND b IN (SELECT 1)", "another query"),
        ("SELECT * FROM t WHERE a = 1 FOR SHARE", "locks rows"),
        ("SELECT * INTO u FROM t WHERE a = 1", "INTO"),
        ("SELECT DISTINCT ON (b) b FROM t WHERE a = 1", "DISTINCT ON"),
        ("WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x WHERE a = 1", "WITH"),
        ("SELECT 1 UNION SELECT a FROM t WHERE a = 1", "not one SELECT"),
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("BEGIN", "it is no SELECT"),
        ("DROP TABLE t", "it is no SELECT"),
        ("SELEC", "cannot be read"),
        ("", "empty"),
    ];
    for (text, expected) in cases {
        let why = recognise(text).expect_err(text);
        assert!(why.contains(expected), "{text}: {why}");
    }
}

/// What PostgreSQL reads in another way than the parser, or in two ways by its version and settings.
#[test]
fn words_with_two_meanings_are_refused() {
    for condition in [
        "a !=-5",
        "a = 0x1F",
        "a = 1_000",
        "a = 1e5",
        "a = 5x",
        "a = E'x'",
        "a = U&'x'",
        "U&\"a\" = 1",
        "a = 'x'\n'y'",
        "a = 'x\\'",
        "a = $$x$$",
        "a = $1a",
        "a$b = 1",
        "a @> 1",
        "a ? 'b'",
        "a = :name",
        "a = 1 AND ä = 2",
        "a OPERATOR(s.=) 1",
        "a = 1 COLLATE \"C\"",
        "(a, b) = (1, 2)",
        "a[1] = 1",
        "a = 1 /* open",
        "a = 'open",
    ] {
        assert!(recognise(&format!("SELECT * FROM t WHERE {condition}")).is_err(), "{condition}");
    }
    let deep = format!("SELECT * FROM t WHERE a = 1 AND {}b{}", "(".repeat(900), ")".repeat(900));
    assert!(recognise(&deep).unwrap_err().contains("too deep"));
    assert!(recognise(&format!("SELECT {}", "1,".repeat(8_000))).unwrap_err().contains("longer"));
}

#[test]
fn long_chains_are_relayed_and_the_process_goes_on() {
    for chain in ["1+", "a OR ", "-a<", "a::int||", "a AND ", "f(1, 2)+", "- "] {
        let chain = format!("{}1", chain.repeat(8_000 / chain.len()));
        for text in [
            format!("SELECT * FROM t WHERE a = 1 AND b = {chain}"),
            format!("SELECT {chain} FROM t WHERE a = 1"),
            format!("UPDATE t SET b = {chain} WHERE a = 1"),
            format!("SELECT count({chain}) FROM t WHERE a = 1 GROUP BY {}", &chain[..20]),
        ] {
            let why = recognise(&text).unwrap_err();
            assert!(why.contains("operators") || why.contains("cannot be read"), "{why}");
            assert!(!format!("{:?}", explain(&text)).is_empty());
        }
    }
    let unions = vec!["SELECT 1, 2"; 400].join(" UNION ");
    assert!(recognise(&unions).unwrap_err().contains("operators"));
    let rows = vec!["($1, -1)"; 500].join(", ");
    assert_eq!(write(&format!("INSERT INTO t (a, b) VALUES {rows}")).0, "t");
}

#[test]
fn writes_have_a_table_and_bounds() {
    let of_t = |columns| ("t".to_owned(), columns);
    let two = Bound::OneOf(vec![Comparand::Param(0), Comparand::Integer(7)]);
    assert_eq!(write("DELETE FROM t WHERE a = 1"), of_t(vec![by("a", vec![equal(1)])]));
    assert_eq!(write("UPDATE t SET b = b + 1 WHERE a = 1 AND b = 2"), of_t(vec![by("a", vec![equal(1)])]));
    assert_eq!(write("UPDATE t SET (a, b) = (1, 2) WHERE a = 1"), of_t(vec![]));
    assert_eq!(write("INSERT INTO t (a, b) VALUES ($1, now()), (7, 8)"), of_t(vec![by("a", vec![two])]));
    for text in [
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t (a) SELECT 1",
        "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2",
        "UPDATE t SET a = 1",
        "DELETE FROM t",
        "TRUNCATE t",
        "COPY t FROM STDIN",
    ] {
        assert_eq!(write(text), of_t(vec![]), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_recognised_or_has_a_reason(text in "[ -~äß\\n]{0,80}") {
        drop(recognise(&text));
        drop(recognise(&format!("SELECT * FROM t WHERE {text}")));
    }
}
