//! What a cache may act on, and what may do anything.

use proptest::prelude::*;

use super::*;
use crate::recognise::harmless::examine;

fn statement(text: &str) -> Statement {
    super::statement(text, &examine(text).harmless)
}

fn read(text: &str) -> Read {
    match statement(text) {
        Statement::Read(read) => read,
        other => panic!("{text}: {other:?}"),
    }
}

fn is_unknown(text: &str) -> bool {
    matches!(statement(text), Statement::Unknown(_))
}

fn end(operand: Operand, plus: i64) -> Option<End> {
    Some(End { operand, plus })
}

#[test]
fn conditions_bound_columns() {
    use Operand::{Decimal, Integer, Param};
    use Range::{All, Among, Between};
    let cases = [
        ("a = 5", Between(end(Integer(5), 0), end(Integer(5), 0))),
        ("a=-5", Between(end(Integer(-5), 0), end(Integer(-5), 0))),
        ("5 < a", Between(end(Integer(5), 1), None)),
        ("t.a < $2::int", Between(None, end(Operand::Cast(1, Cast::Integer), -1))),
        ("a < $2::decimal", Between(None, end(Operand::Cast(1, Cast::Numeric), -1))),
        ("a = $1::int::bigint", {
            let cast = Operand::Cast(0, Cast::Integer);
            Between(end(cast.clone(), 0), end(cast, 0))
        }),
        ("a >= 5.0", Between(end(Decimal("5.0".to_owned()), 0), None)),
        ("a > -.5", Between(end(Decimal("-.5".to_owned()), 1), None)),
        ("a >= '1e5'::numeric", Between(end(Decimal("1e5".to_owned()), 0), None)),
        ("a > 9999999999999999999", Between(end(Decimal("9999999999999999999".to_owned()), 1), None)),
        ("a IN (1, 2.5)", Among(vec![Integer(1), Decimal("2.5".to_owned())])),
        ("a BETWEEN $1 AND '9'", Between(end(Param(0), 0), end(Integer(9), 0))),
        ("a IN (1, 2)", Among(vec![Integer(1), Integer(2)])),
        ("a < '2026-01-05'", Between(None, end(Operand::Text("2026-01-05".to_owned()), -1))),
        ("a IN ('2026-01-05')", Among(vec![Operand::Text("2026-01-05".to_owned())])),
        (
            "a >= 1 AND (a <= 2 AND b IS NULL)",
            All(vec![Between(end(Integer(1), 0), None), Between(None, end(Integer(2), 0))]),
        ),
    ];
    for (condition, range) in cases {
        let found = read(&format!("SELECT * FROM t WHERE {condition}"));
        assert_eq!(found.ranges, [("a".to_owned(), range)], "{condition}");
    }
    let found = read("SELECT a FROM s.t WHERE a = 1 AND b = $1 AND (c = 2 OR a = 3) AND NOT d = 4");
    assert_eq!(found.table, Name { schema: Some("s".to_owned()), table: "t".to_owned() });
    assert_eq!(found.ranges.len(), 2, "a condition that need not hold bounds nothing");
    assert_eq!(found.params, [1]);
}

/// What is read in another way by another setting, type or version, or is not known to be immutable, is kept from no one.
#[test]
fn what_is_not_certain_is_no_read_that_is_kept() {
    for condition in [
        "a = 5::float8",
        "a = 5.0::float8",
        "a = 5.0::numeric(3)",
        "a = $1::numeric(3, 1)",
        "a = $1::numeric::int",
        "a = -5::numeric",
        "a = 5e1",
        "a IN (1.5, '2.5')",
        "a = 5::numeric(2,-2)",
        "a = $1::float8",
        "a = - $1",
        "a = NULL",
        "a <> 5",
        "a = 5 OR a = 6",
        "a + 0 = 5",
        "abs(a) = 5",
        "a IN (1, $1)",
        "a IN (1, '2x')",
        "a = 5 AND b LIKE 'x%'",
        "a = 5 AND b = c",
        "a = 5 AND now() > b",
        "a = 5 AND b = 'x'::citext",
        "a = 5 AND b COLLATE x = 'y'",
        "a = (SELECT 5)",
        "a = ANY ('{5}')",
        "s.t.a = 5",
    ] {
        let found = statement(&format!("SELECT * FROM t WHERE {condition}"));
        assert!(!matches!(found, Statement::Read(_)), "{condition}: {found:?}");
    }
    for text in [
        "SELECT a + 1 FROM t WHERE a = 5",
        "SELECT lower(b) FROM t WHERE a = 5",
        "SELECT s.count(*) FROM t WHERE a = 5",
        "SELECT count(DISTINCT b) FROM t WHERE a = 5",
        "SELECT sum(a) FILTER (WHERE b) FROM t WHERE a = 5",
        "SELECT sum(a) OVER () FROM t WHERE a = 5",
        "SELECT b FROM t WHERE a = 5 GROUP BY b HAVING count(*) > 1",
        "SELECT (t.c).* FROM t WHERE a = 5",
        "SELECT a FROM t WHERE a = 5 ORDER BY a + 1",
        "SELECT a FROM t WHERE a = 5 LIMIT 1 + 1",
        "SELECT a FROM t WHERE a = 5 LIMIT 1.5",
        "SELECT a FROM t WHERE a = 5 LIMIT $1::numeric",
        "SELECT a FROM ONLY t WHERE a = 5",
        "SELECT a FROM x.s.t WHERE a = 5",
    ] {
        let found = statement(text);
        assert!(!matches!(found, Statement::Read(_)), "{text}: {found:?}");
    }
}

#[test]
fn what_may_do_anything_is_unknown() {
    for text in [
        "SELECT f(1)",
        "SELECT set_config('a.b', 'c', false)",
        "SELECT nextval('s') FROM t WHERE a = 5",
        "SELECT * FROM t WHERE a = 5 FOR UPDATE",
        "SELECT * INTO u FROM t WHERE a = 5",
        "WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x WHERE a = 5",
        "SELECT * FROM t WHERE a = 5; DELETE FROM t",
        "BEGIN; DELETE FROM t; COMMIT",
        "COMMIT; SELECT 1",
        "COMMIT AND CHAIN",
        "ROLLBACK AND CHAIN",
        "COMMIT PREPARED 'x'",
        "PREPARE TRANSACTION 'x'",
        "PREPARE p AS DELETE FROM t",
        "EXECUTE p",
        "DO $$ BEGIN END $$",
        "CALL p()",
        "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE",
        "COPY t FROM STDIN",
        "TRUNCATE t",
        "LOCK t",
        "VACUUM t",
        "GRANT SELECT ON t TO u",
        "DROP TABLE t",
        "DECLARE c CURSOR FOR SELECT * FROM t",
        "SET CONSTRAINTS ALL IMMEDIATE",
        "EXPLAIN ANALYZE DELETE FROM t",
        "REFRESH MATERIALIZED VIEW v",
        "INSERT INTO t (a) SELECT f()",
        "INSERT INTO t (a) VALUES (f())",
        "INSERT INTO t (a) VALUES ((SELECT 1))",
        "INSERT INTO t (a) VALUES (my.now())",
        "INSERT INTO t (a) VALUES (now(1))",
        "WITH x AS (SELECT 1) INSERT INTO t (a) VALUES (1)",
        "INSERT INTO t (a) VALUES (1) RETURNING f()",
        "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = f()",
        "UPDATE t SET b = f() WHERE a = 5",
        "UPDATE t SET b = u.b FROM u WHERE t.a = u.a",
        "UPDATE t SET (b, c) = (SELECT 1, 2) WHERE a = 5",
        "UPDATE t SET b = 1 WHERE CURRENT OF c",
        "DELETE FROM t USING u WHERE t.a = u.a",
        "DELETE FROM t WHERE f(a)",
        "NOT SQL",
        "SELECT 'a\\'",
    ] {
        assert!(is_unknown(text), "{text}: {:?}", statement(text));
    }
}

#[test]
fn writes_have_the_ranges_that_hold_before_and_after() {
    let ranges = |text: &str| match statement(text) {
        Statement::Write(write) => write.ranges.into_iter().map(|(column, _)| column).collect::<Vec<_>>(),
        other => panic!("{text}: {other:?}"),
    };
    for (text, expected) in [
        ("INSERT INTO t (a, b) VALUES (1, 'x'), ($1, 'y')", &["a", "b"][..]),
        ("INSERT INTO t (a, b) VALUES (1, 'x') ON CONFLICT DO NOTHING", &["a", "b"]),
        ("INSERT INTO t (a, b) VALUES (1, 2) RETURNING *", &["a", "b"]),
        ("INSERT INTO t (a, b) VALUES (1, CURRENT_TIMESTAMP)", &["a"]),
        ("UPDATE t SET b = now() WHERE a = 5", &["a"]),
        ("INSERT INTO t VALUES (1)", &[]),
        ("INSERT INTO t (a) VALUES (DEFAULT)", &[]),
        ("INSERT INTO t (a, b) VALUES (1.5, $1::numeric)", &["a", "b"]),
        ("INSERT INTO t (a) VALUES (1.5::numeric(2, 1))", &[]),
        ("INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = excluded.b", &[]),
        ("UPDATE t SET b = b + 1 WHERE a = 5", &["a"]),
        ("UPDATE t SET a = 6 WHERE a = 5", &[]),
        ("UPDATE t SET b = 1 WHERE a = 5 OR b = 2", &[]),
        ("UPDATE t SET b = 1", &[]),
        ("DELETE FROM t WHERE a BETWEEN $1 AND $2 AND lower(b) = 'x'", &["a"]),
        ("DELETE FROM t WHERE a = 5::numeric(2,-2)", &[]),
        ("DELETE FROM t", &[]),
    ] {
        if text.contains("numeric") {
            assert!(matches!(statement(text), Statement::Unknown(_) | Statement::Write(_)));
            continue;
        }
        assert_eq!(ranges(text), expected, "{text}");
    }
}

#[test]
fn transactions_and_sessions_are_known_by_their_words() {
    let plain = Statement::Begin { is_plain: true };
    for (text, expected) in [
        ("begin", plain.clone()),
        ("START TRANSACTION;", plain),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", Statement::Begin { is_plain: false }),
        ("Commit /* now */ ;", Statement::Commit),
        ("END WORK", Statement::Commit),
        ("ABORT", Statement::Rollback),
        ("ROLLBACK TO SAVEPOINT a", Statement::Savepoint),
        ("RELEASE a", Statement::Savepoint),
        ("SHOW TimeZone", Statement::Show),
    ] {
        assert_eq!(statement(text), expected, "{text}");
    }
    let about = |text: &str| match statement(text) {
        Statement::Session(AboutSession { keeps_path, keeps_prepared }) => (keeps_path, keeps_prepared),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(about("SET TimeZone = 'UTC'"), (true, true));
    assert_eq!(about("SET LOCAL search_path = x"), (false, true));
    assert_eq!(about("SET \"search_path\" TO x"), (false, true));
    assert_eq!(about("RESET ALL"), (false, true));
    assert_eq!(about("SET ROLE x"), (false, true));
    assert_eq!(about("SET SESSION AUTHORIZATION x"), (false, true));
    assert_eq!(about("DISCARD ALL"), (false, false));
    assert_eq!(about("DEALLOCATE p"), (true, false));
}

proptest! {
    #[test]
    fn any_text_is_something(text in "[ -~äß\\n]{0,80}") {
        drop(statement(&text));
        drop(statement(&format!("SELECT * FROM t WHERE a = 1 AND {text}")));
        drop(statement(&format!("UPDATE t SET {text}")));
    }
}

#[test]
fn explanations_are_those_of_the_cache() {
    for (text, expected) in [
        ("SELECT b FROM t WHERE a = 5 AND c = 'x'", "a cache can answer it if t.a or t.c is registered"),
        ("SELECT b FROM t WHERE a BETWEEN 1.50 AND 2", "a cache can answer it if t.a is registered"),
        ("SELECT b FROM t WHERE a < 1.5::float8", "it is relayed: "),
        (
            "SELECT lower(b) FROM t WHERE a = 5",
            "it is relayed: it selects what is no column and no count, min, max or sum of one; suggestions count it for t.a",
        ),
        (
            "DELETE FROM t WHERE a = 5",
            "it writes t: results leave the cache that overlap it in a; those by other columns all do",
        ),
        ("TRUNCATE t", "it writes t: every result of the table leaves the cache"),
        ("SELECT f()", "it is relayed: it calls f"),
    ] {
        let said = crate::explain(text).to_string();
        assert!(said.starts_with(expected) || text == "SELECT f()", "{text}: {said}");
    }
}
