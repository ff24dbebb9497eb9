//! The plans that databases make for ranges of text: the index that a table has is used.

use lacuna_cache_protocol::{DomainType, Form, Interval, Query, RangeKey};
use lacuna_testkit::servers::{MariaDb, Postgres};

use super::database::{Database, describe, inlined, open};
use super::schema::Schema;
use super::select::select;
use super::sql_value::{SqlValue, text};
use super::statement::Statement;

/// A table with many texts; then an index.
async fn make(database: &dyn Database, column: &str, index: &str) {
    let rows = match database.dialect() {
        super::database::Dialect::MariaDb => {
            "SELECT seq, CONCAT('name ', LPAD(seq, 6, '0')), 0 FROM seq_1_to_20000"
        }
        _ => "SELECT i, 'name ' || lpad(i::text, 6, '0'), 0 FROM generate_series(1, 20000) AS i",
    };
    let analyze = match database.dialect() {
        super::database::Dialect::MariaDb => "ANALYZE TABLE things",
        _ => "ANALYZE things",
    };
    let sql = format!(
        "DROP TABLE IF EXISTS things; CREATE TABLE things (id BIGINT PRIMARY KEY, name {column}, pad BIGINT); \
         INSERT INTO things {rows}; {index}; {analyze}"
    );
    database.run(&sql).await.unwrap();
}

async fn schema(database: &dyn Database) -> Schema {
    let described = describe(database, "things").await.unwrap();
    Schema::new("things", "id").with_domain("name", DomainType::Text).with_columns(described).unwrap()
}

/// The plan of a query, in one text.
async fn plan(database: &dyn Database, form: Form, lo: &str, hi: &str) -> String {
    let schema = schema(database).await;
    let key = |text: &str| RangeKey::from_bytes(text.as_bytes());
    let interval = if lo == hi {
        Interval::point(key(lo))
    } else {
        Interval::new(std::ops::Bound::Included(key(lo)), std::ops::Bound::Excluded(key(hi))).unwrap()
    };
    let query = Query { form, ..Query::all(0, interval) };
    let statement = select(database.dialect(), &schema, &query).unwrap();
    let sql = inlined(database.dialect(), &statement).unwrap();
    let rows = database.query(&Statement::new(format!("EXPLAIN {sql}"))).await.unwrap();
    let texts = rows.into_iter().flatten().map(|value| match value {
        SqlValue::Integer(number) => number.to_string(),
        value => text(value).unwrap_or_default(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

const RANGES: [(Form, &str, &str); 4] = [
    (Form::All, "name 000100", "name 000120"),
    (Form::All, "name 000100", "name 000100"),
    (Form::First(5), "name 0001", "name 0002"),
    (Form::Last(5), "name 0001", "name 0002"),
];

#[tokio::test]
async fn postgres_serves_ranges_of_text_by_the_index_that_it_has() {
    let Some(server) = Postgres::start() else { return };
    let database = open(&server.url()).await.unwrap();
    let collation = "CREATE COLLATION english (provider = icu, locale = 'en-US')";
    database.run(collation).await.unwrap();
    // The database's own collation is C here.
    let cases = [
        ("TEXT", "CREATE INDEX by_name ON things (name)"),
        ("VARCHAR(20) COLLATE \"POSIX\"", "CREATE INDEX by_name ON things (name)"),
        ("TEXT COLLATE english", "CREATE INDEX by_name ON things (name COLLATE \"C\")"),
        ("TEXT COLLATE english", "CREATE INDEX by_name ON things (name text_pattern_ops)"),
        ("VARCHAR(20) COLLATE english", "CREATE INDEX by_name ON things (name varchar_pattern_ops, id)"),
    ];
    for (column, index) in cases {
        make(&*database, column, index).await;
        for (form, lo, hi) in RANGES {
            let plan = plan(&*database, form, lo, hi).await;
            assert!(plan.contains("by_name") && !plan.contains("Seq Scan"), "{column}, {index}: {plan}");
            // A bound of the index, not a filter of all of its entries.
            assert!(plan.contains("Index Cond"), "{column}, {index}: {plan}");
        }
        assert!(schema(&*database).await.index_advice().is_empty(), "{column}, {index}");
    }
    // An index in the order of a language serves what is equal; the advice serves the rest.
    make(&*database, "TEXT COLLATE english", "CREATE INDEX by_name ON things (name)").await;
    let equal = plan(&*database, Form::All, "name 000100", "name 000100").await;
    assert!(equal.contains("by_name") && !equal.contains("Seq Scan"), "{equal}");
    let all = plan(&*database, Form::All, "name 000100", "name 000120").await;
    assert!(all.contains("Seq Scan"), "the control: {all}");
    let advice = schema(&*database).await.index_advice();
    assert_eq!(advice, ["CREATE INDEX ON \"public\".\"things\" (\"name\" COLLATE \"C\")"]);
    database.run(&format!("{}; ANALYZE things", advice[0])).await.unwrap();
    let all = plan(&*database, Form::All, "name 000100", "name 000120").await;
    assert!(!all.contains("Seq Scan"), "{all}");
    database.close().await;
}

#[tokio::test]
async fn mariadb_serves_ranges_of_text_by_the_index_that_it_has() {
    let Some(server) = MariaDb::start() else { return };
    let database = open(&server.url()).await.unwrap();
    for column in [
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_nopad_ci",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
    ] {
        make(&*database, column, "CREATE INDEX by_name ON things (name)").await;
        for (form, lo, hi) in RANGES {
            let plan = plan(&*database, form, lo, hi).await;
            assert!(plan.contains("by_name"), "{column}: {plan}");
            assert!(plan.contains("range") || plan.contains("ref"), "{column}: {plan}");
        }
        assert!(schema(&*database).await.index_advice().is_empty(), "{column}");
    }
    make(&*database, "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "SELECT 1").await;
    assert_eq!(schema(&*database).await.index_advice(), ["ALTER TABLE `test`.`things` ADD INDEX (`name`)"]);
    // Under others an index serves what is equal.
    for column in
        ["VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci", "VARCHAR(20) CHARACTER SET latin1"]
    {
        make(&*database, column, "CREATE INDEX by_name ON things (name)").await;
        let equal = plan(&*database, Form::All, "name 000100", "name 000100").await;
        assert!(equal.contains("ref") && equal.contains("by_name"), "{column}: {equal}");
        let advice = schema(&*database).await.index_advice();
        assert!(advice.len() == 1 && advice[0].contains("utf8mb4_nopad_bin"), "{column}: {advice:?}");
    }
    database.close().await;
}
