//! Which writes are buffered: those that the database cannot refuse, on each database, for tables with every kind of
//! constraint.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_cache::sql::{Cache, DomainType, Options, Schema, SqlValue, WriteError};
use lacuna_cache_protocol::embedded::MemoryLog;
use lacuna_cache_protocol::ports::{LogServer, Reply};
use lacuna_cache_protocol::{Epoch, LogCall, LogReply, Policy, RangeId};
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::world::{Place, patient};

/// What a table is like, what is added to it, and whether these writes go through the log: an update of a shown row, an
/// insertion of a free key, a deletion of a shown row.
type Case = (&'static str, &'static str, [bool; 3]);

/// What all databases understand.
const CASES: [Case; 7] = [
    ("plain", "", [true, true, true]),
    ("unique", ", UNIQUE (name)", [true, false, false]),
    ("unique in what is updated", ", UNIQUE (note)", [false, false, false]),
    ("checked", ", CHECK (note < 1000)", [false, false, false]),
    ("referring", ", FOREIGN KEY (note) REFERENCES others (id)", [false, false, true]),
    ("required", ", extra BIGINT NOT NULL DEFAULT 7", [true, true, true]),
    ("referred to", "", [true, false, false]),
];

/// The tables before a case.
const FRESH: &str = "DROP TABLE IF EXISTS children; DROP TABLE IF EXISTS things; DROP TABLE IF EXISTS others; \
     CREATE TABLE others (id BIGINT PRIMARY KEY); INSERT INTO others VALUES (1); INSERT INTO others VALUES (2)";

const CHILDREN: &str = "CREATE TABLE children \
                        (id BIGINT PRIMARY KEY, thing BIGINT, FOREIGN KEY (thing) REFERENCES things (id))";

/// A log that counts the writes it is given.
#[derive(Debug, Default)]
pub(crate) struct CountingLog {
    log: MemoryLog,
    appends: AtomicU64,
}

impl LogServer for CountingLog {
    fn call(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Reply<'_, LogReply> {
        self.appends.fetch_add(u64::from(matches!(call, LogCall::Append(..))), Ordering::Relaxed);
        self.log.call(range, epoch, call)
    }
}

impl CountingLog {
    /// Whether a write goes through the log.
    pub(crate) async fn has(&self, write: impl Future<Output = Result<(), WriteError>>) -> bool {
        let before = self.appends();
        write.await.unwrap();
        self.appends() > before
    }

    /// Writes that were given to it.
    pub(crate) fn appends(&self) -> u64 {
        self.appends.load(Ordering::Relaxed)
    }
}

/// The second row, with all columns that the table has.
fn second(what: &str) -> Vec<(&'static str, SqlValue)> {
    let mut row = vec![("id", 2.into()), ("mark", 2.into()), ("note", 1.into()), ("name", "n2".into())];
    if what == "required" {
        row.push(("extra", 3.into()));
    }
    row
}

async fn writes_are_buffered_as_expected(cache: &Cache, log: &CountingLog, (what, clause, expected): Case) {
    let sql = format!(
        "CREATE TABLE things (id BIGINT PRIMARY KEY, mark BIGINT, note BIGINT, name VARCHAR(20){}{}); \
         INSERT INTO things (id, mark, note, name) VALUES (1, 1, 1, 'n1')",
        // A column stands before the constraints of the table.
        if what == "required" { clause } else { "" },
        if what == "required" { "" } else { clause },
    );
    cache.run_sql(&sql).await.unwrap();
    if what == "referred to" {
        cache.run_sql(CHILDREN).await.unwrap();
    }
    let schema = Schema::new("things", "id");
    let schema = schema.with_domain("id", DomainType::Integer).with_domain("mark", DomainType::Integer);
    let table = cache.table(schema).await.unwrap();
    let first = table.get("id", 0..=9).await.unwrap().remove(0);
    let update = log.has(table.update(&first, [("note", 2.into())])).await;
    table.get("id", 0..=9).await.unwrap();
    let insertion = log.has(table.insert(second(what))).await;
    let second = table.get("id", 0..=9).await.unwrap().remove(1);
    let deletion = log.has(table.delete(&second)).await;
    // No check refuses a deletion, but only PostgreSQL's catalogue names the columns of a check.
    let deletion = deletion && what != "checked";
    assert_eq!([update, insertion, deletion], expected, "{what}");
}

/// One case; a table is registered once in the life of a cache.
async fn check(options: Options, case: Case) {
    let log = Arc::new(CountingLog::default());
    let cache = options.with_policy(Policy::WriteBack).with_log_server(log.clone()).open().await.unwrap();
    cache.run_sql(FRESH).await.unwrap();
    writes_are_buffered_as_expected(&cache, &log, case).await;
    cache.stop().await.unwrap();
}

async fn check_all(url: &str) {
    for case in CASES {
        check(patient(url), case).await;
    }
}

#[tokio::test]
async fn constraints_keep_writes_out_of_the_log_on_sqlite() {
    for case in CASES {
        let place = Place::new();
        check(place.options(Policy::WriteBack), case).await;
    }
}

#[tokio::test]
async fn constraints_keep_writes_out_of_the_log_on_postgres() {
    let Some(server) = Postgres::start() else { return };
    check_all(&server.url()).await;
}

#[tokio::test]
async fn constraints_keep_writes_out_of_the_log_on_mariadb() {
    let Some(server) = MariaDb::start() else { return };
    check_all(&server.url()).await;
}

/// Two texts may be one key for a collation, and two for the cache.
async fn keys_that_a_collation_takes_for_one_are_in_doubt(url: &str, text: &str, is_refused: bool) {
    let log = Arc::new(CountingLog::default());
    let options = patient(url).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options.open().await.unwrap();
    let columns = format!("id BIGINT, name {text}, note BIGINT, PRIMARY KEY (id, name)");
    cache.run_sql(&format!("DROP TABLE IF EXISTS things; CREATE TABLE things ({columns})")).await.unwrap();
    let schema = Schema::with_keys("things", ["id", "name"]).with_domain("id", DomainType::Integer);
    let things = cache.table(schema).await.unwrap();
    let row = |name: &str| [("id", 1.into()), ("name", name.into()), ("note", 1.into())];
    assert!(things.get("id", 0..=9).await.unwrap().is_empty());
    things.insert(row("anna")).await.unwrap();
    assert_eq!(things.get("id", 0..=9).await.unwrap().len(), 1);
    let again = things.insert(row("ANNA")).await;
    assert_eq!(again.is_err(), is_refused, "{text}: {again:?}");
    // Where they are two keys for the database as well, both go through the log.
    let appends = log.appends.load(Ordering::Relaxed);
    assert_eq!(appends, if is_refused { 0 } else { 2 }, "{text}");
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn a_key_is_free_only_if_the_collation_says_so() {
    let place = Place::new();
    let url = format!("sqlite:{}", place.folder.path().join("app.db").display());
    keys_that_a_collation_takes_for_one_are_in_doubt(&url, "TEXT COLLATE NOCASE", true).await;
    keys_that_a_collation_takes_for_one_are_in_doubt(&url, "TEXT", false).await;
    if let Some(server) = MariaDb::start() {
        for (text, is_refused) in
            [("VARCHAR(20)", true), ("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin", false)]
        {
            keys_that_a_collation_takes_for_one_are_in_doubt(&server.url(), text, is_refused).await;
        }
    }
    if let Some(server) = Postgres::start() {
        let cache = patient(server.url()).open().await.unwrap();
        let folded =
            "CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)";
        cache.run_sql(folded).await.unwrap();
        cache.stop().await.unwrap();
        keys_that_a_collation_takes_for_one_are_in_doubt(&server.url(), "TEXT COLLATE folded", true).await;
        keys_that_a_collation_takes_for_one_are_in_doubt(&server.url(), "TEXT", false).await;
    }
}

/// Rows that differ in a further column of the registered key have one key for the database.
async fn a_key_with_a_further_column_is_not_free(options: Options) {
    let log = Arc::new(CountingLog::default());
    let cache = options.with_policy(Policy::WriteBack).with_log_server(log.clone()).open().await.unwrap();
    let sql = "DROP TABLE IF EXISTS things; CREATE TABLE things (id BIGINT PRIMARY KEY, region BIGINT); \
               INSERT INTO things VALUES (7, 1)";
    cache.run_sql(sql).await.unwrap();
    let schema = Schema::with_keys("things", ["id", "region"]).with_domain("region", DomainType::Integer);
    let things = cache.table(schema).await.unwrap();
    assert!(things.get("region", 2..=2).await.unwrap().is_empty());
    let refused = things.insert([("id", 7.into()), ("region", 2.into())]).await;
    assert!(matches!(refused, Err(WriteError::Refused(_))), "{refused:?}");
    assert!(!log.has(things.insert([("id", 8.into()), ("region", 2.into())])).await);
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn a_key_of_more_columns_than_the_primary_key_is_never_known_to_be_free() {
    let place = Place::new();
    a_key_with_a_further_column_is_not_free(place.options(Policy::WriteBack)).await;
    if let Some(server) = MariaDb::start() {
        a_key_with_a_further_column_is_not_free(patient(server.url())).await;
    }
    if let Some(server) = Postgres::start() {
        a_key_with_a_further_column_is_not_free(patient(server.url())).await;
    }
}

#[tokio::test]
async fn what_postgres_alone_refuses_is_in_doubt() {
    let Some(server) = Postgres::start() else { return };
    let log = Arc::new(CountingLog::default());
    let options = patient(server.url()).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options.open().await.unwrap();
    let sql = "CREATE TABLE things (id BIGINT, note BIGINT, name TEXT, city TEXT, PRIMARY KEY (id) INCLUDE (note)); \
               CREATE INDEX ON things (city, name); INSERT INTO things VALUES (1, 1, 'Anna', 'Ulm')";
    cache.run_sql(sql).await.unwrap();
    let schema = Schema::new("things", "id").with_domain("id", DomainType::Integer);
    let things = cache.table(schema).await.expect("a column after INCLUDE is not part of the key");
    let row = things.get("id", 0..=9).await.unwrap().remove(0);
    let refused = things.update(&row, [("name", "a\0b".into())]).await;
    assert!(matches!(refused, Err(WriteError::Refused(_))), "no text of PostgreSQL has a zero: {refused:?}");
    // Both texts of one entry of an index may together be longer than it can be.
    assert!(!log.has(things.update(&row, [("name", "Anne".into())])).await);
    assert!(log.has(things.update(&row, [("note", 2.into())])).await);
    cache.stop().await.unwrap();
}

/// Removes rows between two bounds that the server cannot read, and between two that it can.
async fn bounds_are_read_before_they_are_acknowledged(
    url: &str,
    (declared, domain): (&str, DomainType),
    refused: SqlValue,
    taken: SqlValue,
) {
    let log = Arc::new(CountingLog::default());
    let options = patient(url).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options.open().await.unwrap();
    let sql =
        format!("DROP TABLE IF EXISTS things; CREATE TABLE things (id BIGINT PRIMARY KEY, value {declared})");
    cache.run_sql(&sql).await.unwrap();
    let schema = Schema::new("things", "id").with_domain("id", DomainType::Integer);
    let things = cache.table(schema.with_domain("value", domain)).await.unwrap();
    let bounded = [
        things.delete_range("value", refused.clone()..=refused.clone()).await,
        things.delete_range("value", refused.clone()..).await,
        things.delete_range("value", ..=refused).await,
    ];
    for write in bounded {
        assert!(matches!(write, Err(WriteError::Refused(_))), "{declared}: {write:?}");
    }
    assert_eq!(log.appends(), 0, "{declared}: none was acknowledged");
    assert!(log.has(things.delete_range("value", taken.clone()..=taken.clone())).await, "{declared}");
    assert!(log.has(things.delete_range("value", taken..)).await, "{declared}");
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn a_range_whose_bounds_postgres_cannot_read_is_never_acknowledged() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    // The last day of PostgreSQL is in the year 5874897, its first moment in the year 4714 BC.
    let late = SqlValue::date(5_880_000, 1, 1).unwrap();
    let today = SqlValue::date(2026, 12, 1).unwrap();
    let now = SqlValue::Timestamp(1_764_547_200_000_000);
    let moment = ("TIMESTAMP", DomainType::Timestamp);
    let zoned = ("TIMESTAMPTZ", DomainType::Timestamp);
    let cases = [
        (("TEXT", DomainType::Text), "a\0b".into(), "ä".into()),
        (("TEXT COLLATE \"C\"", DomainType::Text), "a\0b".into(), "ä".into()),
        (("VARCHAR(9)", DomainType::Text), "\0".into(), "longer than the column".into()),
        (("DATE", DomainType::Date), late, today),
        (moment, SqlValue::Timestamp(i64::MIN), now.clone()),
        (zoned, SqlValue::Timestamp(i64::MIN), now),
    ];
    for (column, refused, taken) in cases {
        bounds_are_read_before_they_are_acknowledged(&url, column, refused, taken).await;
    }
    let cache = patient(&url).open().await.unwrap();
    let narrow = "CREATE DATABASE narrow ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0";
    cache.run_sql(narrow).await.unwrap();
    cache.stop().await.unwrap();
    let url = url.rsplit_once('/').map(|(server, _)| format!("{server}/narrow")).expect("a database");
    let text = ("TEXT", DomainType::Text);
    bounds_are_read_before_they_are_acknowledged(&url, text, "語".into(), "a".into()).await;
}

/// Paths that begin alike are one key for an index of their beginnings.
#[tokio::test]
async fn a_key_that_is_unique_by_its_beginning_is_never_known_to_be_free() {
    let Some(server) = MariaDb::start() else { return };
    let log = Arc::new(CountingLog::default());
    let options = patient(server.url()).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options.open().await.unwrap();
    let sql = "CREATE TABLE things (path VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL, \
               note BIGINT, PRIMARY KEY (path(8)))";
    cache.run_sql(sql).await.unwrap();
    let schema = Schema::new("things", "path").with_domain("path", DomainType::Text);
    let things = cache.table(schema).await.unwrap();
    let row = |path: &str| [("path", path.into()), ("note", 1.into())];
    assert!(things.get("path", "/".."~").await.unwrap().is_empty());
    things.insert(row("/home/a/one")).await.unwrap();
    let first = things.get("path", "/".."~").await.unwrap().remove(0);
    let refused = things.insert(row("/home/a/two")).await;
    assert!(matches!(refused, Err(WriteError::Refused(_))), "{refused:?}");
    assert_eq!(log.appends.load(Ordering::Relaxed), 0);
    things.get("path", "/".."~").await.unwrap();
    assert!(log.has(things.update(&first, [("note", 2.into())])).await, "no key is taken or freed");
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn a_negative_number_for_an_unsigned_float_is_in_doubt() {
    let Some(server) = MariaDb::start() else { return };
    let log = Arc::new(CountingLog::default());
    let options = patient(server.url()).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options.open().await.unwrap();
    let sql = "CREATE TABLE things (id BIGINT PRIMARY KEY, wide DOUBLE UNSIGNED, narrow FLOAT UNSIGNED); \
               INSERT INTO things VALUES (1, 1, 1)";
    cache.run_sql(sql).await.unwrap();
    let things =
        cache.table(Schema::new("things", "id").with_domain("id", DomainType::Integer)).await.unwrap();
    let row = things.get("id", 0..=9).await.unwrap().remove(0);
    for column in ["wide", "narrow"] {
        let refused = things.update(&row, [(column, (-1.0).into())]).await;
        assert!(matches!(refused, Err(WriteError::Refused(_))), "{column}: {refused:?}");
        things.get("id", 0..=9).await.unwrap();
        assert!(log.has(things.update(&row, [(column, 2.0.into())])).await, "{column}");
    }
    cache.stop().await.unwrap();
}

/// MariaDB lets rows refer to a column that is not unique.
#[tokio::test]
async fn a_column_that_others_refer_to_is_changed_through_the_database() {
    let Some(server) = MariaDb::start() else { return };
    let log = Arc::new(CountingLog::default());
    let options = patient(server.url()).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options.open().await.unwrap();
    let sql = "CREATE TABLE parents (id BIGINT PRIMARY KEY, age BIGINT, code BIGINT, KEY (code)); \
               CREATE TABLE children (id BIGINT PRIMARY KEY, code BIGINT, FOREIGN KEY (code) REFERENCES parents (code)); \
               INSERT INTO parents VALUES (1, 20, 7); INSERT INTO children VALUES (1, 7)";
    cache.run_sql(sql).await.unwrap();
    let parents =
        cache.table(Schema::new("parents", "id").with_domain("age", DomainType::Integer)).await.unwrap();
    let row = parents.get("age", 20..=20).await.unwrap().remove(0);
    let refused = parents.update(&row, [("code", 8.into())]).await;
    assert!(matches!(refused, Err(WriteError::Refused(_))), "{refused:?}");
    assert!(log.has(parents.update(&row, [("age", 21.into())])).await, "another column");
    cache.stop().await.unwrap();
}

/// A period is a check and, without overlaps, a key of which the rest is unique only together with it.
#[tokio::test]
async fn what_a_period_of_mariadb_forbids_is_in_doubt() {
    let Some(server) = MariaDb::start() else { return };
    let log = Arc::new(CountingLog::default());
    let options = patient(server.url()).with_policy(Policy::WriteBack).with_log_server(log.clone());
    let cache = options.open().await.unwrap();
    let sql = "CREATE TABLE things (id BIGINT PRIMARY KEY, room BIGINT, a DATE NOT NULL, b DATE NOT NULL, PERIOD FOR p (a, b), \
               UNIQUE (room, p WITHOUT OVERLAPS)); INSERT INTO things VALUES (1, 1, '2026-01-01', '2026-01-09')";
    cache.run_sql(sql).await.unwrap();
    let schema = Schema::new("things", "id").with_domain("id", DomainType::Integer);
    let things = cache.table(schema).await.unwrap();
    let day = |day| SqlValue::date(2026, 1, day).unwrap();
    let row = things.get("id", 0..=9).await.unwrap().remove(0);
    for refused in [
        things.update(&row, [("a", day(20))]).await,
        things.insert([("id", 2.into()), ("room", 1.into()), ("a", day(5)), ("b", day(12))]).await,
    ] {
        assert!(matches!(refused, Err(WriteError::Refused(_))), "{refused:?}");
    }
    cache.stop().await.unwrap();
}
