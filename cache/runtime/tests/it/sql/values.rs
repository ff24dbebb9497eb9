//! Values that a database changes as it takes them, and names that mean the same.

use std::sync::Arc;

use lacuna_cache::sql::{Cache, DomainType, Schema, SqlValue, Statement, Table, WriteError};
use lacuna_cache_protocol::ErrorKind;
use lacuna_cache_protocol::Policy;
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::beyond::{
    days_that_mariadb_has_not_are_refused, moments_without_a_zone_are_utc,
    rows_beyond_all_decimals_are_in_ranges_without_an_end,
};
use crate::sql::certainty::CountingLog;
use crate::sql::world::{Place, patient};

pub(crate) async fn table(url: &str, columns: &str, schema: Schema) -> (Cache, Table) {
    let cache = patient(url).with_policy(Policy::WriteThrough).open().await.unwrap();
    cache.run_sql(&format!("DROP TABLE IF EXISTS things; CREATE TABLE things ({columns})")).await.unwrap();
    let table = cache.table(schema).await.unwrap();
    (cache, table)
}

pub(crate) fn sqlite(place: &Place) -> String {
    format!("sqlite:{}", place.folder.path().join("app.db").display())
}

pub(crate) async fn ids(rows: lacuna_cache_protocol::Result<lacuna_cache::sql::Rows>) -> Vec<i64> {
    rows.unwrap().iter().map(|row| row.integer("id").unwrap()).collect()
}

/// A range is cached while it is empty; then `value` is put in, and the database makes another of it, inside the range.
async fn arrives<V: Into<SqlValue> + Clone>(
    url: &str,
    columns: &str,
    domain: DomainType,
    range: std::ops::RangeInclusive<V>,
    value: impl Into<SqlValue>,
) {
    let schema = Schema::new("things", "id").with_domain("value", domain);
    let (cache, things) = table(url, columns, schema).await;
    assert!(ids(things.get("value", range.clone()).await).await.is_empty(), "{columns}");
    things.insert([("id", 1.into()), ("value", value.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", range.clone()).await).await, [1], "{columns}: it was put in");
    // And out again, by the value that was read.
    let row = things.get("value", range.clone()).await.unwrap().remove(0);
    things.delete(&row).await.unwrap();
    assert!(ids(things.get("value", range).await).await.is_empty(), "{columns}: it was taken out");
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_that_postgres_rounds_or_pads_are_seen_where_they_come_to_lie() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let single = f64::from(0.1f32);
    arrives(&url, "id BIGINT PRIMARY KEY, value REAL", DomainType::Float, single..=single, 0.1).await;
    arrives(&url, "id BIGINT PRIMARY KEY, value VARCHAR(3)", DomainType::Text, "ab "..="ab ", "ab    ").await;
    let second = SqlValue::Timestamp(1_000_000);
    let rounded = second.clone()..=second;
    arrives(
        &url,
        "id BIGINT PRIMARY KEY, value TIMESTAMP(0)",
        DomainType::Timestamp,
        rounded,
        SqlValue::Timestamp(600_000),
    )
    .await;
    // Filled up with spaces, which count neither in comparisons nor here.
    arrives(&url, "id BIGINT PRIMARY KEY, value CHAR(5)", DomainType::Text, "ab"..="ab", "ab").await;
    arrives(&url, "id BIGINT PRIMARY KEY, value CHAR(5)", DomainType::Text, "ab"..="ab", "ab  ").await;
    names_and_statements(&url).await;
    let cache = patient(&url).open().await.unwrap();
    cache.run_sql("ALTER ROLE CURRENT_USER SET timezone = 'Asia/Tokyo'").await.unwrap();
    cache.stop().await.unwrap();
    moments_without_a_zone_are_utc(&url, "TIMESTAMP").await;
    moments_without_a_zone_are_utc(&url, "TIMESTAMPTZ").await;
    rows_beyond_all_decimals_are_in_ranges_without_an_end(&url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_that_mariadb_cuts_or_counts_are_seen_where_they_come_to_lie() {
    let Some(server) = MariaDb::start() else { return };
    let url = server.url();
    arrives(&url, "id BIGINT PRIMARY KEY, value CHAR(5)", DomainType::Text, "ab"..="ab", "ab  ").await;
    arrives(&url, "id BIGINT PRIMARY KEY, value VARCHAR(3)", DomainType::Text, "ab "..="ab ", "ab    ").await;
    arrives(&url, "id BIGINT PRIMARY KEY, value DOUBLE(5,2)", DomainType::Float, 1.23..=1.23, 1.2345).await;
    let latin = "id BIGINT PRIMARY KEY, value VARCHAR(9) CHARACTER SET latin1";
    arrives(&url, latin, DomainType::Text, "ä"..="ä", "ä").await;
    let single = f64::from(0.1f32);
    arrives(&url, "id BIGINT PRIMARY KEY, value FLOAT", DomainType::Float, single..=single, 0.1).await;
    let (second, cut) = (SqlValue::Timestamp(1_000_000), SqlValue::Timestamp(1_600_000));
    let seconds = second.clone()..=second;
    arrives(&url, "id BIGINT PRIMARY KEY, value DATETIME", DomainType::Timestamp, seconds, cut).await;
    texts_that_differ_in_bytes_only(&url).await;
    let cache = patient(&url).open().await.unwrap();
    cache.run_sql("SET GLOBAL time_zone = '+09:00'").await.unwrap();
    cache.run_sql("SET GLOBAL sql_mode = CONCAT(@@sql_mode, ',PAD_CHAR_TO_FULL_LENGTH')").await.unwrap();
    cache.stop().await.unwrap();
    moments_without_a_zone_are_utc(&url, "DATETIME(6)").await;
    moments_without_a_zone_are_utc(&url, "TIMESTAMP").await;
    arrives(&url, "id BIGINT PRIMARY KEY, value CHAR(5)", DomainType::Text, "ab"..="ab", "ab").await;
    days_that_mariadb_has_not_are_refused(&url).await;

    let counter = Schema::new("things", "id").with_domain("id", DomainType::Integer);
    let (cache, things) = table(&url, "id BIGINT AUTO_INCREMENT PRIMARY KEY, value BIGINT", counter).await;
    assert!(ids(things.get("id", 1..=9).await).await.is_empty());
    things.insert([("id", 0.into()), ("value", 5.into())]).await.unwrap();
    assert_eq!(ids(things.get("id", 1..=9).await).await, [1], "zero means the next number");
    // A number that the column cannot hold is refused, not made the largest there is.
    cache.run_sql("SET GLOBAL sql_mode = ''").await.unwrap();
    cache.stop().await.unwrap();
    let narrow = Schema::new("things", "id").with_domain("value", DomainType::Integer);
    let (cache, things) = table(&url, "id BIGINT PRIMARY KEY, value SMALLINT", narrow).await;
    let refused = things.insert([("id", 1.into()), ("value", 70_000.into())]).await;
    assert!(matches!(refused, Err(WriteError::Refused(_))), "{refused:?}");
    // What cannot be undone cannot be fenced.
    cache.run_sql("CREATE TABLE plain (id BIGINT PRIMARY KEY) ENGINE=MyISAM").await.unwrap();
    let plain = cache.table(Schema::new("plain", "id").with_domain("id", DomainType::Integer)).await;
    assert_eq!(plain.unwrap_err().kind(), ErrorKind::InvalidInput);
    cache.stop().await.unwrap();
}

/// Zero means the next number, whole or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zeros_that_mariadb_replaces_in_a_column_of_floats_are_seen_where_they_come_to_lie() {
    let Some(server) = MariaDb::start() else { return };
    for float in ["DOUBLE", "FLOAT"] {
        let log = Arc::new(CountingLog::default());
        let options = patient(server.url()).with_policy(Policy::WriteBack).with_log_server(log.clone());
        let cache = options.open().await.unwrap();
        let columns = format!("id {float} AUTO_INCREMENT PRIMARY KEY, value BIGINT");
        cache
            .run_sql(&format!("DROP TABLE IF EXISTS things; CREATE TABLE things ({columns})"))
            .await
            .unwrap();
        let things =
            cache.table(Schema::new("things", "id").with_domain("id", DomainType::Float)).await.unwrap();
        assert!(things.get("id", 0.0..=0.0).await.unwrap().is_empty());
        assert!(things.get("id", 0.5..=9.5).await.unwrap().is_empty());
        let zero = things.insert([("id", 0.0.into()), ("value", 5.into())]);
        assert!(!log.has(zero).await, "{float}: only the database knows its key");
        assert!(things.get("id", 0.0..=0.0).await.unwrap().is_empty(), "{float}");
        let found = things.get("id", 0.5..=9.5).await.unwrap();
        let found: Vec<_> = found.iter().map(|row| row.get("id")).collect();
        assert_eq!(found, [Some(&SqlValue::Float(1.0))], "{float}");
        // Other numbers are kept.
        let second = things.insert([("id", 2.5.into()), ("value", 5.into())]);
        assert!(log.has(second).await, "{float}: its key is free");
        assert_eq!(things.get("id", 0.5..=9.5).await.unwrap().len(), 2, "{float}");
        cache.stop().await.unwrap();
    }
}

/// After a commit the server may begin another transaction, and leave rows out of results.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_of_mariadb_undo_no_write_and_hide_no_row() {
    let Some(server) = MariaDb::start() else { return };
    let url = server.url();
    let cache = patient(&url).open().await.unwrap();
    cache.run_sql("SET GLOBAL completion_type = 'CHAIN', GLOBAL sql_select_limit = 3").await.unwrap();
    cache.stop().await.unwrap();
    let schema = || Schema::new("things", "id").with_domain("value", DomainType::Integer);
    let (cache, things) = table(&url, "id BIGINT PRIMARY KEY, value BIGINT", schema()).await;
    for id in (0..20_i64).step_by(2) {
        // A transaction, and a single statement on the connection that it has left.
        let values = Statement::new("INSERT INTO things VALUES (?, 5)").with(id);
        things.execute(&[], vec![values]).await.unwrap();
        things.insert([("id", (id + 1).into()), ("value", 5.into())]).await.unwrap();
    }
    assert_eq!(ids(things.get("value", 5..=5).await).await.len(), 20);
    cache.stop().await.unwrap();
    let cache = patient(&url).open().await.unwrap();
    let things = cache.table(schema()).await.unwrap();
    assert_eq!(ids(things.get("value", 5..=5).await).await.len(), 20, "all were committed");
    cache.stop().await.unwrap();
}

/// `anna` and `ANNA` are one text for the column, and two for the cache.
async fn texts_that_differ_in_bytes_only(url: &str) {
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Text);
    let (cache, things) = table(url, "id BIGINT PRIMARY KEY, value VARCHAR(9)", schema).await;
    things.insert([("id", 1.into()), ("value", "anna".into())]).await.unwrap();
    let old = things.get("value", "a"..="b").await.unwrap().remove(0);
    things.update(&old, [("value", "ANNA".into())]).await.unwrap();
    assert_eq!(ids(things.get("value", "A"..="B").await).await, [1]);
    let late = things.update(&old, [("value", "zoe".into())]).await;
    assert!(matches!(&late, Err(WriteError::Refused(why)) if why.kind() == ErrorKind::Conflict), "{late:?}");
    assert_eq!(ids(things.get("value", "A"..="B").await).await, [1]);
    cache.stop().await.unwrap();
}

/// A view is a second way to the rows of a table, and a statement that ends the transaction gives up the fence.
async fn names_and_statements(url: &str) {
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Integer);
    let (cache, things) = table(url, "id BIGINT PRIMARY KEY, value BIGINT", schema).await;
    cache.run_sql("CREATE VIEW seen AS SELECT * FROM things").await.unwrap();
    let view = cache.table(Schema::new("seen", "id").with_domain("value", DomainType::Integer)).await;
    assert_eq!(view.unwrap_err().kind(), ErrorKind::InvalidInput);
    for sql in ["COMMIT", "rollback", "TRUNCATE things", "ALTER TABLE things ADD COLUMN x INT", "/**/ COMMIT"]
    {
        let refused = things.execute(&[], vec![Statement::new(sql)]).await;
        assert!(matches!(refused, Err(WriteError::Refused(_))), "{sql}: {refused:?}");
    }
    // Checked as late as at the commit, and refused for sure: the next write goes on in the same tenure.
    cache
        .run_sql("DROP VIEW seen; ALTER TABLE things ADD UNIQUE (value) DEFERRABLE INITIALLY DEFERRED")
        .await
        .unwrap();
    things.insert([("id", 1.into()), ("value", 5.into())]).await.unwrap();
    let twice = [1, 2].map(|id| Statement::new("UPDATE things SET value = 5 WHERE id = $1").with(id));
    things.insert([("id", 2.into()), ("value", 6.into())]).await.unwrap();
    let refused = things.execute(&[], twice.to_vec()).await;
    assert!(matches!(refused, Err(WriteError::Refused(_))), "{refused:?}");
    assert_eq!(ids(things.get("value", 5..=5).await).await, [1]);
    assert_eq!(cache.counts().tenures, 1);
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn one_table_has_one_cache_whatever_it_is_called() {
    let place = Place::new();
    let schema = |name| Schema::new(name, "id").with_domain("value", DomainType::Integer);
    let (cache, _things) =
        table(&sqlite(&place), "id INTEGER PRIMARY KEY, value INTEGER", schema("things")).await;
    assert_eq!(cache.table(schema("THINGS")).await.unwrap_err().kind(), ErrorKind::Conflict);
    cache.run_sql("CREATE VIEW seen AS SELECT * FROM things").await.unwrap();
    assert_eq!(cache.table(schema("seen")).await.unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[tokio::test]
async fn values_that_sqlite_makes_up_or_forgets_are_seen_where_they_come_to_lie() {
    let place = Place::new();
    let schema = Schema::new("things", "id")
        .with_domain("id", DomainType::Integer)
        .with_domain("value", DomainType::Float);
    let (_cache, things) = table(&sqlite(&place), "id INTEGER PRIMARY KEY, value REAL", schema).await;
    assert!(ids(things.get("id", 1..=9).await).await.is_empty());
    things.insert([("id", SqlValue::Null), ("value", 1.5.into())]).await.unwrap();
    assert_eq!(ids(things.get("id", 1..=9).await).await, [1], "the database made up the key");
    assert_eq!(ids(things.get("value", 1.0..).await).await, [1]);
    things.insert([("id", 2.into()), ("value", f64::NAN.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", 1.0..).await).await, [1], "what is no number is NULL");
    let row = things.get("value", 1.0..).await.unwrap().remove(0);
    let twice = things.update(&row, [("value", 2.0.into()), ("value", 3.0.into())]).await;
    assert!(matches!(twice, Err(WriteError::Refused(_))), "{twice:?}");
}

/// Connections of one pool, each of which may remember the table as it was before another changed it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_was_made_anew_is_seen_as_it_is() {
    let place = Place::new();
    for round in 0..20 {
        let cache = Arc::new(patient(sqlite(&place)).open().await.unwrap());
        cache.run_sql("CREATE TABLE IF NOT EXISTS things (id INTEGER PRIMARY KEY)").await.unwrap();
        let mut looks = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let cache = cache.clone();
            looks.spawn(async move { cache.run_sql("SELECT COUNT(*) FROM things").await.unwrap() });
        }
        looks.join_all().await;
        let (made_up, name) = (round % 2 == 0, format!("value_{round}"));
        let value = if made_up { " AS (id + 1) STORED" } else { "" };
        let again =
            format!("DROP TABLE things; CREATE TABLE things (id INTEGER PRIMARY KEY, {name} INTEGER{value})");
        cache.run_sql(&again).await.unwrap();
        let schema = Schema::new("things", "id").with_domain(&name, DomainType::Integer);
        let things = cache.table(schema).await.unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert!(ids(things.get(&name, 1..=9).await).await.is_empty());
        let row = [("id", 1.into())].into_iter().chain((!made_up).then(|| (name.as_str(), 2.into())));
        things.insert(row).await.unwrap();
        assert_eq!(ids(things.get(&name, 1..=9).await).await, [1], "round {round}");
        cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn registered_columns_that_triggers_or_expressions_set_are_taken_whole() {
    let place = Place::new();
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Integer).with_triggers();
    let (cache, things) = table(&sqlite(&place), "id INTEGER PRIMARY KEY, value INTEGER", schema).await;
    let trigger = "CREATE TRIGGER more AFTER INSERT ON things BEGIN \
                   UPDATE things SET value = value + 100 WHERE id = NEW.id; END";
    cache.run_sql(trigger).await.unwrap();
    assert!(ids(things.get("value", 100..).await).await.is_empty());
    things.insert([("id", 1.into()), ("value", 5.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", 100..).await).await, [1]);
    cache.stop().await.unwrap();

    let columns = "id INTEGER PRIMARY KEY, price INTEGER, value INTEGER AS (price * 2) STORED";
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Integer);
    let (_cache, things) = table(&sqlite(&place), columns, schema).await;
    things.insert([("id", 1.into()), ("price", 5.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", 10..=10).await).await, [1]);
    assert!(ids(things.get("value", 11..).await).await.is_empty());
    let row = things.get("value", 10..=10).await.unwrap().remove(0);
    things.update(&row, [("price", 50.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", 11..).await).await, [1]);
    things.update_range("value", 90..=110, &[("price", "price * 10")]).await.unwrap();
    assert!(ids(things.get("value", 90..=110).await).await.is_empty());
    assert_eq!(ids(things.get("value", 1_000..).await).await, [1]);
}

/// Two letters that the character set takes for one: what is read later is not what was written.
async fn folded_letters_are_read_as_they_are_kept(url: &str, text: &str, written: &str) {
    let schema = || Schema::new("things", "id").with_domain("value", DomainType::Integer);
    let (cache, things) =
        table(url, &format!("id BIGINT PRIMARY KEY, value BIGINT, name {text}"), schema()).await;
    assert!(things.get("value", 1..=1).await.unwrap().is_empty());
    things.insert([("id", 1.into()), ("value", 1.into()), ("name", written.into())]).await.unwrap();
    let shown = things.get("value", 1..=1).await.unwrap()[0].text("name").map(str::to_owned);
    cache.stop().await.unwrap();
    let cache = patient(url).open().await.unwrap();
    let kept = cache.table(schema()).await.unwrap().get("value", 1..=1).await.unwrap();
    assert_eq!(shown.as_deref(), kept[0].text("name"));
    assert_ne!(shown.as_deref(), Some(written), "the character set folds it");
    cache.stop().await.unwrap();
    // The same letter as a key.
    let by_name = || Schema::new("things", "name").with_domain("value", DomainType::Integer);
    let (cache, things) = table(url, &format!("name {text} PRIMARY KEY, value BIGINT"), by_name()).await;
    things.insert([("name", written.into()), ("value", 1.into())]).await.unwrap();
    assert_eq!(things.get("value", 1..=1).await.unwrap().len(), 1);
    let row = things.known_row([("name", written.into()), ("value", 1.into())]).unwrap();
    let is_deleted = things.delete(&row).await.is_ok();
    assert_eq!(things.get("value", 1..=1).await.unwrap().is_empty(), is_deleted);
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_that_character_sets_fold_are_shown_as_the_database_keeps_them() {
    if let Some(server) = Postgres::start() {
        let cache = patient(server.url()).open().await.unwrap();
        let japanese = "CREATE DATABASE japanese ENCODING 'EUC_JP' LOCALE 'C' TEMPLATE template0";
        cache.run_sql(japanese).await.unwrap();
        cache.stop().await.unwrap();
        let url = server.url();
        let (place, _) = url.rsplit_once('/').unwrap();
        folded_letters_are_read_as_they_are_kept(&format!("{place}/japanese"), "TEXT", "\u{a6}").await;
    }
    if let Some(server) = MariaDb::start() {
        let text = "VARCHAR(9) CHARACTER SET cp932";
        folded_letters_are_read_as_they_are_kept(&server.url(), text, "\u{6661}").await;
    }
}
