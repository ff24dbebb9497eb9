//! Which tables and columns can be registered, keys of several columns, and what a schema has in it that changes rows.

use lacuna_cache::sql::{Cache, DomainType, Schema, Table, WriteError};
use lacuna_cache_protocol::ErrorKind;
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::values::{ids, sqlite, table};
use crate::sql::world::{Place, patient};

/// Why a table cannot be opened.
async fn refusal(url: &str, sql: &str, schema: Schema) -> String {
    let cache = patient(url).open().await.unwrap();
    cache.run_sql("DROP TABLE IF EXISTS things").await.unwrap();
    cache.run_sql(&format!("CREATE TABLE things {sql}")).await.unwrap();
    let refused = cache.table(schema).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{sql}");
    cache.stop().await.unwrap();
    refused.to_string()
}

/// The column `value`, what it is registered as, and what the error says to do.
async fn columns_are_refused(url: &str, cases: &[(&str, DomainType, &str)]) {
    for (column, domain, advice) in cases {
        let schema = Schema::new("things", "id").with_domain("value", *domain);
        let why = refusal(url, &format!("(id BIGINT PRIMARY KEY, value {column})"), schema).await;
        assert!(why.contains(advice), "{column} as {domain}: {why}");
    }
    let whole = || Schema::new("things", "id").with_domain("value", DomainType::Integer);
    let why = refusal(url, "(id BIGINT, value BIGINT)", whole()).await;
    assert!(why.contains("no primary key"), "{why}");
    let why = refusal(url, "(id BIGINT, value BIGINT, PRIMARY KEY (id, value))", whole()).await;
    assert!(why.contains("lacks columns"), "{why}");
}

const PRICE: DomainType = DomainType::Decimal { scale: 2 };

#[tokio::test]
async fn columns_without_our_order_are_refused_by_sqlite() {
    let place = Place::new();
    let cases = [
        ("NUMERIC(10,2)", PRICE, "smallest unit"),
        ("DATE", DomainType::Date, "texts like 2024-05-01"),
        ("INTEGER", DomainType::Float, "REAL"),
        ("UUID", DomainType::Uuid, "as Text"),
        ("BOOLEAN", DomainType::Bool, "as Integer"),
        ("TEXT", DomainType::Bytes, "BLOB"),
        ("TEXT", DomainType::Integer, "declare the column INTEGER"),
        ("VARCHAR(9)", DomainType::Unsigned, "declare the column INTEGER"),
        ("TEXT", DomainType::Timestamp, "declare the column INTEGER"),
        ("DOUBLE", DomainType::Integer, "declare the column INTEGER"),
        ("INTEGER", DomainType::Text, "declare the column TEXT"),
        ("REAL", DomainType::Text, "declare the column TEXT"),
        ("NUMERIC", DomainType::Text, "declare the column TEXT"),
    ];
    columns_are_refused(&sqlite(&place), &cases).await;
    for rule in ["ON CONFLICT REPLACE", "on  conflict\nreplace", "ON CONFLICT FAIL"] {
        let schema = Schema::new("things", "id").with_domain("value", DomainType::Integer);
        let definition = format!("(id INTEGER PRIMARY KEY {rule}, value INTEGER)");
        let why = refusal(&sqlite(&place), &definition, schema).await;
        assert!(why.contains("fenced"), "an insertion could replace a row that nobody named: {why}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_without_our_order_are_refused_by_postgres() {
    let Some(server) = Postgres::start() else { return };
    let cases = [
        ("NUMERIC", PRICE, "NUMERIC(p, 2)"),
        ("NUMERIC(50,2)", PRICE, "at most 38"),
        ("NUMERIC(10,3)", PRICE, "Decimal { scale: 3 }"),
        ("NUMERIC(10,2)", DomainType::Float, "Decimal { scale: 2 }"),
        ("TIMESTAMPTZ", DomainType::Date, "Timestamp"),
        ("DATE", DomainType::Timestamp, "Date"),
        ("UUID", DomainType::Text, "as Uuid"),
        ("BOOLEAN", DomainType::Integer, "as Bool"),
        ("INTERVAL", DomainType::Text, "generated column"),
        ("BYTEA", DomainType::Text, "as Bytes"),
        ("TEXT", DomainType::Bytes, "BYTEA"),
        ("DATE[]", DomainType::Date, "DATE"),
    ];
    columns_are_refused(&server.url(), &cases).await;
    // The rows of a part are those of the whole: one of the two has a cache.
    let cache = patient(server.url()).open().await.unwrap();
    let sql = "CREATE TABLE whole (id BIGINT PRIMARY KEY, value BIGINT) PARTITION BY RANGE (id); \
               CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (9)";
    cache.run_sql(sql).await.unwrap();
    let schema = |name| Schema::new(name, "id").with_domain("value", DomainType::Integer);
    assert_eq!(cache.table(schema("part")).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    let whole = cache.table(schema("whole")).await.unwrap();
    whole.insert([("id", 1.into()), ("value", 5.into())]).await.unwrap();
    assert_eq!(ids(whole.get("value", 5..=5).await).await, [1]);
    cache.stop().await.unwrap();
    keys_of_several_columns_name_rows(&server.url()).await;
    values_that_stay_are_written(&server.url()).await;
    rows_that_others_change_are_noticed(&server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_without_our_order_are_refused_by_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    let cases = [
        ("DECIMAL(50,2)", PRICE, "at most 38"),
        ("DECIMAL(10,3)", PRICE, "Decimal { scale: 3 }"),
        ("DATETIME(6)", DomainType::Date, "Timestamp"),
        ("DATE", DomainType::Text, "Date"),
        ("YEAR", DomainType::Integer, "BIGINT"),
        ("UUID", DomainType::Uuid, "BINARY(16)"),
        ("BOOLEAN", DomainType::Bool, "as Integer"),
        ("TIME", DomainType::Text, "generated column"),
    ];
    columns_are_refused(&server.url(), &cases).await;
    keys_of_several_columns_name_rows(&server.url()).await;
    values_that_stay_are_written(&server.url()).await;
    rows_that_others_change_are_noticed(&server.url()).await;
}

#[tokio::test]
async fn keys_of_several_columns_name_rows_of_sqlite() {
    let place = Place::new();
    keys_of_several_columns_name_rows(&sqlite(&place)).await;
    values_that_stay_are_written(&sqlite(&place)).await;
    rows_that_others_change_are_noticed(&sqlite(&place)).await;
}

async fn lines(table: &Table, range: std::ops::RangeInclusive<i64>) -> Vec<(i64, i64)> {
    let pair = |row: &lacuna_cache::sql::Row| (row.integer("buyer").unwrap(), row.integer("line").unwrap());
    table.get("amount", range).await.unwrap().iter().map(pair).collect()
}

async fn keys_of_several_columns_name_rows(url: &str) {
    let columns = "buyer BIGINT NOT NULL, line BIGINT NOT NULL, amount BIGINT, note VARCHAR(9), PRIMARY KEY (buyer, line)";
    let schema = Schema::with_keys("things", ["buyer", "line"]).with_domain("amount", DomainType::Integer);
    let (cache, things) = table(url, columns, schema).await;
    let row = |buyer: i64, line: i64, amount: i64| {
        [("buyer", buyer.into()), ("line", line.into()), ("amount", amount.into()), ("note", "a".into())]
    };
    assert!(lines(&things, 0..=9).await.is_empty());
    for (buyer, line) in [(2, 1), (1, 2), (1, 10), (1, 1)] {
        things.insert(row(buyer, line, 5)).await.unwrap();
    }
    assert_eq!(lines(&things, 0..=9).await, [(1, 1), (1, 2), (1, 10), (2, 1)], "by both columns of the key");
    assert!(matches!(things.insert(row(1, 2, 7)).await, Err(WriteError::Refused(_))), "it is there");
    let second = things.get("amount", 5..=5).await.unwrap().remove(1);
    things.update(&second, [("amount", 6.into()), ("note", "b".into())]).await.unwrap();
    assert_eq!(lines(&things, 6..=9).await, [(1, 2)]);
    assert_eq!(lines(&things, 5..=5).await, [(1, 1), (1, 10), (2, 1)], "others of the same buyer stay");
    let moved = things.update(&second, [("line", 3.into())]).await;
    assert!(matches!(moved, Err(WriteError::Refused(_))), "a key does not change: {moved:?}");
    let assigned = things.update_range("amount", 0..=9, &[("line", "line + 1")]).await;
    assert!(matches!(assigned, Err(WriteError::Refused(_))), "{assigned:?}");
    let half = things.known_row([("buyer", 1.into()), ("amount", 5.into())]);
    assert_eq!(half.unwrap_err().kind(), ErrorKind::InvalidInput);
    let known = things.known_row([("buyer", 1.into()), ("line", 10.into()), ("amount", 5.into())]).unwrap();
    things.delete(&known).await.unwrap();
    assert_eq!(lines(&things, 0..=9).await, [(1, 1), (2, 1), (1, 2)]);
    assert_eq!(things.first("amount", 0..=9, 2).await.unwrap().len(), 2);
    assert_eq!(cache.counts().tenures, 1);
    cache.stop().await.unwrap();
}

/// A row that is set to what it was is there all the same.
async fn values_that_stay_are_written(url: &str) {
    let (cache, things) = simple(url).await;
    things.insert([("id", 1.into()), ("value", 5.into())]).await.unwrap();
    let row = things.get("value", 5..=5).await.unwrap().remove(0);
    things.update(&row, [("value", 5.into())]).await.unwrap();
    // A comment in an expression hides neither conditions nor fence.
    things.insert([("id", 2.into()), ("value", 6.into())]).await.unwrap();
    things.update_range("value", 5..=5, &[("note", "'new' -- as of today")]).await.unwrap();
    let notes = things.get("value", 0..=9).await.unwrap();
    let notes: Vec<Option<&str>> = notes.iter().map(|row| row.text("note")).collect();
    assert_eq!(notes, [Some("new"), None]);
    let hidden = things.update_range("value", 5..=5, &[("note", "'x') /*")]).await;
    assert!(matches!(hidden, Err(WriteError::Refused(_))), "{hidden:?}");
    cache.stop().await.unwrap();
}

async fn simple(url: &str) -> (Cache, Table) {
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Integer);
    table(url, "id BIGINT PRIMARY KEY, value BIGINT, note VARCHAR(9)", schema).await
}

/// Triggers that are there when a table is opened need not be told; foreign keys that change rows must be.
async fn rows_that_others_change_are_noticed(url: &str) {
    let (cache, _) = simple(url).await;
    let trigger = match url.split(':').next() {
        Some("sqlite") => {
            "CREATE TRIGGER more AFTER INSERT ON things BEGIN UPDATE things SET value = value + 100 WHERE id = NEW.id; END"
        }
        Some("mysql") => {
            "CREATE TRIGGER more BEFORE INSERT ON things FOR EACH ROW SET NEW.value = NEW.value + 100"
        }
        _ => {
            "CREATE FUNCTION more() RETURNS trigger AS 'BEGIN NEW.value = NEW.value + 100; RETURN NEW; END' LANGUAGE plpgsql; \
             CREATE TRIGGER more BEFORE INSERT ON things FOR EACH ROW EXECUTE FUNCTION more()"
        }
    };
    cache.run_sql(trigger).await.unwrap();
    cache.stop().await.unwrap();
    let cache = patient(url).open().await.unwrap();
    let schema = || Schema::new("things", "id").with_domain("value", DomainType::Integer);
    let things = cache.table(schema()).await.unwrap();
    assert!(ids(things.get("value", 100..).await).await.is_empty());
    things.insert([("id", 1.into()), ("value", 5.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", 100..).await).await, [1]);
    cache.stop().await.unwrap();
    let cascade = "(id BIGINT PRIMARY KEY, value BIGINT, parent BIGINT, \
                   FOREIGN KEY (parent) REFERENCES things (id) ON DELETE CASCADE)";
    assert!(refusal(url, cascade, schema()).await.contains("with_triggers"));
}

/// One key may be in the table and in one that inherits from it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_of_postgres_that_others_inherit_from_is_refused() {
    let Some(server) = Postgres::start() else { return };
    let cache = patient(server.url()).open().await.unwrap();
    let sql =
        "CREATE TABLE parent (id BIGINT PRIMARY KEY, value BIGINT); CREATE TABLE heir () INHERITS (parent)";
    cache.run_sql(sql).await.unwrap();
    let schema = || Schema::new("parent", "id").with_domain("value", DomainType::Integer);
    let refused = cache.table(schema()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert!(refused.to_string().contains("inherit"), "{refused}");
    cache.run_sql("DROP TABLE heir").await.unwrap();
    cache.table(schema()).await.expect("no table inherits from it any more");
    cache.stop().await.unwrap();
}

/// Each read computes them, and may see another value without a write.
#[tokio::test]
async fn virtual_columns_of_mariadb_that_depend_on_more_than_their_row_are_left_out_or_refused() {
    let Some(server) = MariaDb::start() else { return };
    let url = server.url();
    let whole = || Schema::new("things", "id").with_domain("value", DomainType::Integer);
    for (column, word) in [
        ("at DATETIME(6) AS (NOW(6)) VIRTUAL", "current_timestamp"),
        ("years BIGINT AS (TIMESTAMPDIFF(YEAR, born, CURDATE())) VIRTUAL", "curdate"),
        ("chance DOUBLE AS (RAND()) VIRTUAL", "rand"),
        ("place VARCHAR(60) AS (CONCAT(value, @@hostname)) VIRTUAL", "@@"),
        ("a BIGINT AS (UNIX_TIMESTAMP()) VIRTUAL, b BIGINT AS (a + 1) VIRTUAL", "unix_timestamp"),
        ("clock TIME, at DATETIME AS (GREATEST(clock, born)) VIRTUAL", "clock"),
    ] {
        let sql = format!("(id BIGINT PRIMARY KEY, value BIGINT, born DATE, {column})");
        let why = refusal(&url, &sql, whole()).await;
        assert!(why.contains(word) && why.contains("with_only"), "{column}: {why}");
        let (cache, _) = table(&url, &sql[1..sql.len() - 1], whole().with_only(["born"])).await;
        cache.stop().await.unwrap();
    }
    let sql = "(id BIGINT PRIMARY KEY, value BIGINT, a BIGINT AS (UNIX_TIMESTAMP()) VIRTUAL, b BIGINT AS (A + 1) VIRTUAL)";
    let why = refusal(&url, sql, whole().with_only(["b"])).await;
    assert!(why.contains("b of test.things"), "it is computed from another: {why}");
    let columns = "id BIGINT PRIMARY KEY, value BIGINT, name VARCHAR(20) AS (CONCAT('now()', UPPER(value))) VIRTUAL, \
                   born DATETIME, month CHAR(7) AS (DATE_FORMAT(born, '%Y-%m')) VIRTUAL";
    let (cache, things) = table(&url, columns, whole()).await;
    things.insert([("id", 1.into()), ("value", 7.into())]).await.unwrap();
    assert_eq!(things.get("value", 7..=7).await.unwrap()[0].text("name"), Some("now()7"));
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn a_star_leaves_out_what_mariadb_keeps_out_of_sight() {
    let Some(server) = MariaDb::start() else { return };
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Integer);
    let columns = "id BIGINT PRIMARY KEY, value BIGINT, hidden BIGINT INVISIBLE, name VARCHAR(9)";
    let (cache, things) = table(&server.url(), columns, schema).await;
    let row = [("id", 1.into()), ("value", 7.into()), ("hidden", 3.into()), ("name", "Anna".into())];
    things.insert(row).await.unwrap();
    let all = things.query("SELECT * FROM things WHERE value = 7", &[]).await.unwrap();
    assert_eq!(all.columns(), ["id", "value", "name"]);
    let named = things.query("SELECT hidden FROM things WHERE value = 7", &[]).await.unwrap();
    assert_eq!(named.rows(), [[3.into()]]);
    assert_eq!(things.get("value", 7..=7).await.unwrap()[0].integer("hidden"), Some(3));
    cache.stop().await.unwrap();
}
