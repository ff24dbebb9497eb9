//! What certainly writes nothing, and what an enemy would write so that it looks like that.

use proptest::prelude::*;

use super::*;

fn harmless(text: &str) -> Result<(), Reason> {
    examine(text).harmless
}

#[test]
fn what_clients_ask_writes_nothing() {
    for text in [
        "SELECT version()",
        "select pg_catalog.version();",
        "SELECT a.x, b.y FROM a JOIN b USING (id) WHERE a.x = $1 ORDER BY 1 FOR READ ONLY",
        "SELECT count(*) FILTER (WHERE a > 1) OVER (PARTITION BY b) FROM t AS q(a, b)",
        "WITH RECURSIVE tree(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM tree) SELECT * FROM tree",
        "SELECT c.oid::pg_catalog.regclass FROM pg_class c WHERE c.relname OPERATOR(pg_catalog.~) '^(orders)$' COLLATE pg_catalog.default",
        "SELECT (pg_catalog.aclexplode(relacl)).n, extract(year FROM now()), 'it''s', E'a\\'b' FROM pg_class",
        "SELECT ARRAY(SELECT unnest(conkey)), a[1:2], CAST(x AS numeric(10, 2)) FROM pg_constraint",
        "EXPLAIN (COSTS off) SELECT 1",
        "VALUES (1), (2)",
        "TABLE t",
        "(SELECT 1) UNION (SELECT 2)",
        "SELECT 1 /* DELETE */ -- INTO",
        "SELECT '; DELETE FROM t', \"delete\" FROM t",
    ] {
        assert_eq!(harmless(text), Ok(()), "{text}");
    }
}

#[test]
fn what_could_write_is_not_certain() {
    for text in [
        "",
        "DELETE FROM t",
        "SELECT 1; DELETE FROM t",
        "SELECT * INTO u FROM t",
        "SELECT * FROM t FOR UPDATE",
        "SELECT * FROM t FOR NO KEY UPDATE",
        "SELECT * FROM t FOR KEY SHARE",
        "WITH x AS (DELETE FROM t RETURNING 1) SELECT * FROM x",
        "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
        "SELECT nextval('s')",
        "SELECT \"nextval\"('s')",
        "SELECT setval('s', 1)",
        "SELECT set_config('a', 'b', false)",
        "SELECT pg_advisory_lock(1)",
        "SELECT lo_unlink(1)",
        "SELECT * FROM dblink('', 'DELETE FROM t') AS x(a int)",
        "SELECT pg_notify('a', 'b')",
        "SELECT txid_current()",
        "SELECT query_to_xml('DELETE FROM t', true, true, '')",
        "SELECT table_to_xml('door', true, true, '')",
        "SELECT * FROM ts_stat('SELECT f()')",
        "SELECT ('SELECT f()'::text).ts_stat",
        "SELECT $1.ts_stat",
        "SELECT a[1].ts_stat FROM t",
        "SELECT (t).change FROM t",
        "SELECT pg_logical_emit_message(true, 'a', 'b')",
        "SELECT pg_terminate_backend(1)",
        "SELECT f /* a comment */ (1)",
        "SELECT x, f(1) FROM t",
        "SELECT DISTINCT ON (a) f(b) FROM t",
        "SELECT * FROM ROWS FROM (f(1)) AS x",
        "SELECT * FROM t TABLESAMPLE own(1)",
        "SELECT * FROM pg_temp_3.door",
        "EXPLAIN ANALYZE SELECT 1",
        "EXPLAIN (ANALYZE) SELECT 1",
        "EXPLAIN VERBOSE EXECUTE p",
        "EXPLAIN CREATE TABLE a AS SELECT 1",
        "SELECT U&'a'",
        "SELECT $$a$$",
        "SELECT 'a\\'",
        "SELECT 'open",
        "SELECT größe FROM t",
        "SELECT \"größe\" FROM t",
        "SELECT 0x1F",
        "SELECT \"aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbb1234\" FROM t",
    ] {
        assert!(harmless(text).is_err(), "{text}");
    }
}

#[test]
fn all_that_a_text_names_is_mentioned() {
    let found = examine("SELECT T.a, (b).n, lower(\"C\"), $1 ||- x.y FROM s.t -- z").mentions.unwrap();
    assert_eq!(found.fields, ["a", "t", "y"]);
    assert_eq!(found.calls, ["lower", "n"]);
    assert!(found.operators.contains(&"||-".to_owned()) && found.operators.contains(&"=".to_owned()));
    for word in ["a", "b", "C", "from", "lower", "n", "s", "t", "x", "y"] {
        assert!(found.words.contains(&word.to_owned()), "{word}");
    }
    assert!(!found.words.contains(&"z".to_owned()));
    assert_eq!(examine("SELECT 'a\\'").mentions, None);
}

proptest! {
    #[test]
    fn any_text_is_certain_or_not(text in "[ -~äß\\n]{0,80}") {
        drop(harmless(&text));
        if harmless(&format!("SELECT {text}")).is_ok() {
            prop_assert!(examine(&text).mentions.is_some());
        }
    }

    /// What stands between quotes or in comments says nothing, and what does not is found behind it.
    #[test]
    fn no_quote_hides_a_call(text in "[a-z'\"(;)\\\\/* \\n-]{0,30}", is_comment: bool) {
        let quoted = text.replace('\'', "''").replace('\\', "");
        let comment = text.replace("*/", "").replace("/*", "").trim_end_matches(['/', '*']).to_owned();
        let hidden = if is_comment { format!("/* {comment} */") } else { format!("'{quoted}'") };
        let text = format!("SELECT {hidden}, change()");
        prop_assert!(harmless(&text).is_err(), "{}", text);
    }
}
