//! Bad input, and ends of domains.

use std::ops::Bound;
use std::time::Duration;

use lacuna_cache::sql::{DomainType, Options, Schema, SqlValue, Statement, Table, WriteError};
use lacuna_cache_protocol::ErrorKind;
use lacuna_cache_protocol::Policy;
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::values::{self, sqlite};
use crate::sql::world::Place;

async fn table(place: &Place, columns: &str, schema: Schema) -> (lacuna_cache::sql::Cache, Table) {
    let cache = place.options(Policy::WriteThrough).open().await.unwrap();
    cache.run_sql(&format!("CREATE TABLE things ({columns})")).await.unwrap();
    let table = cache.table(schema).await.unwrap();
    (cache, table)
}

#[tokio::test]
async fn bad_input_is_a_typed_error() {
    let place = Place::new();
    let schema = Schema::new("things", "id").with_domain("size", DomainType::Integer);
    let (cache, things) = table(&place, "id INTEGER PRIMARY KEY, size INTEGER", schema.clone()).await;
    let kind = |error: lacuna_cache_protocol::Error| error.kind();
    assert_eq!(kind(things.get("colour", 1..=2).await.unwrap_err()), ErrorKind::InvalidInput);
    assert_eq!(kind(things.get("size", "a".."b").await.unwrap_err()), ErrorKind::InvalidInput);
    let wrong = things.insert([("id", 1.into()), ("size", "large".into())]).await;
    assert!(matches!(wrong, Err(WriteError::Refused(_))), "{wrong:?}");
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is tried")]
    let inverted = things.get("size", 5..=1).await.unwrap();
    assert!(inverted.is_empty());
    assert_eq!(kind(cache.table(schema).await.unwrap_err()), ErrorKind::Conflict);
    assert_eq!(kind(cache.run_sql("SELEC 1").await.unwrap_err()), ErrorKind::InvalidInput);
    let missing = Schema::new("nowhere", "id").with_domain("size", DomainType::Integer);
    assert_eq!(kind(cache.table(missing).await.unwrap_err()), ErrorKind::InvalidInput);
    let column = Schema::new("things", "id").with_domain("colour", DomainType::Text);
    assert_eq!(kind(cache.table(column).await.unwrap_err()), ErrorKind::InvalidInput);
    assert_eq!(kind(Options::new("oracle:x").open().await.unwrap_err()), ErrorKind::InvalidInput);
    let hasty = Options::new("sqlite::memory:").with_patience(Duration::from_micros(1));
    let hasty = hasty.open().await.unwrap_err();
    assert!(hasty.to_string().contains("with_patience") && kind(hasty) == ErrorKind::InvalidInput);
    assert_eq!(
        kind(Options::new("sqlite:/nowhere/at/all.db").open().await.unwrap_err()),
        ErrorKind::Unavailable
    );
    // And it still works.
    things.insert([("id", 1.into()), ("size", 3.into())]).await.unwrap();
    assert_eq!(things.get("size", 3..4).await.unwrap().len(), 1);
}

#[tokio::test]
async fn one_file_has_one_cache_at_a_time() {
    let place = Place::new();
    let first = place.options(Policy::WriteAround).open().await.unwrap();
    let second = place.options(Policy::WriteAround).open().await;
    assert_eq!(second.unwrap_err().kind(), ErrorKind::Conflict);
    drop(first);
    place.open(Policy::WriteAround).await;
}

/// However the URL says it, and through links; also before the file is there.
#[cfg(unix)]
#[tokio::test]
async fn one_file_has_one_cache_whatever_it_is_called() {
    let place = Place::new();
    let folder = place.folder.path();
    std::os::unix::fs::symlink("version 2.db", folder.join("link.db")).unwrap();
    std::os::unix::fs::symlink("link.db", folder.join("current.db")).unwrap();
    std::fs::create_dir(folder.join("inner")).unwrap();
    let open = async |name: &str| Options::new(format!("sqlite:{}/{name}", folder.display())).open().await;
    let names = ["current.db", "link.db", "version 2.db", "version%202.db", "inner/../link.db"];
    for first in names {
        let cache = open(first).await.unwrap();
        for name in names {
            let kind = open(name).await.map(drop).unwrap_err().kind();
            assert_eq!(kind, ErrorKind::Conflict, "{first}, {name}");
        }
        cache.stop().await.unwrap();
    }
    let file = Options::new(format!("sqlite:file:{}/version 2.db", folder.display())).open().await;
    assert_eq!(file.map(drop).unwrap_err().kind(), ErrorKind::InvalidInput);
}

/// Numbers of columns and places of values mean other columns in another table.
#[tokio::test]
async fn conditions_sets_and_rows_of_another_table_are_refused() {
    let cache = Options::new("sqlite::memory:").open().await.unwrap();
    let tables = "CREATE TABLE orders (id INTEGER PRIMARY KEY, day INTEGER, total INTEGER); \
                  CREATE TABLE users (id INTEGER PRIMARY KEY, day INTEGER)";
    cache.run_sql(tables).await.unwrap();
    let integer = DomainType::Integer;
    let orders = Schema::new("orders", "id").with_domain("day", integer).with_domain("total", integer);
    let orders = cache.table(orders).await.unwrap();
    let users = cache.table(Schema::new("users", "id").with_domain("day", integer)).await.unwrap();
    let row = [("id", 1.into()), ("day", 7.into()), ("total", 7.into())];
    orders.insert(row).await.unwrap();
    users.insert([("id", 1.into()), ("day", 7.into())]).await.unwrap();
    for column in ["day", "total"] {
        let condition = orders.condition(column, 1..=9).unwrap();
        let own = users.condition("day", 1..=9).unwrap();
        for found in [
            users.get_any(std::slice::from_ref(&condition)).await,
            users.get_all(&[own.clone(), condition.clone()]).await,
            users.get_any(&[own, condition]).await,
        ] {
            assert_eq!(found.unwrap_err().kind(), ErrorKind::InvalidInput, "{column}");
        }
        let set = orders.write_set(column).unwrap();
        let update = || vec![Statement::new("UPDATE users SET day = 8")];
        let done = users.execute(std::slice::from_ref(&set), update()).await;
        assert!(matches!(done, Err(WriteError::Refused(_))), "{column}: {done:?}");
        let mut open = cache.transaction().on_all(&users).begin().await.unwrap();
        let done = open.execute(&users, &[set], update()).await;
        assert!(matches!(done, Err(WriteError::Refused(_))), "{column}: {done:?}");
        open.rollback().await;
    }
    let order = orders.get("day", 7..=7).await.unwrap().remove(0);
    let done = [users.delete(&order).await, users.update(&order, [("day", 9.into())]).await];
    assert!(done.iter().all(|done| matches!(done, Err(WriteError::Refused(_)))), "{done:?}");
    let user = users.get("day", 7..=7).await.unwrap().remove(0);
    let nothing: [(&str, SqlValue); 0] = [];
    assert!(matches!(users.update(&user, nothing).await, Err(WriteError::Refused(_))));
    users.update(&user, [("day", 9.into())]).await.unwrap();
    assert_eq!(values::ids(users.get("day", 9..=9).await).await, [1]);
    cache.stop().await.unwrap();
}

/// It may have run for a minute before it was refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_that_the_database_refuses_is_sent_once() {
    let Some(server) = Postgres::start() else { return };
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Integer);
    let (cache, things) = values::table(&server.url(), "id BIGINT PRIMARY KEY, value BIGINT", schema).await;
    things.insert([("id", 1.into()), ("value", 7.into())]).await.unwrap();
    let before = cache.counts().store_queries;
    let found = things.query("SELECT 1 / (value - 7) FROM things WHERE value = $1", &[7.into()]).await;
    let why = found.map(drop).unwrap_err();
    assert!(why.kind() == ErrorKind::InvalidInput && why.to_string().contains("division by zero"), "{why}");
    assert_eq!(cache.counts().store_queries, before + 1);
    cache.stop().await.unwrap();
}

/// A time beside a day, or in one value with it, is put on the day of the clock, which a cached result would keep.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_of_mariadb_are_not_read_with_days() {
    let Some(server) = MariaDb::start() else { return };
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Integer);
    let columns = "id BIGINT PRIMARY KEY, value BIGINT, t TIME, at DATETIME NULL";
    let (cache, things) = values::table(&server.url(), columns, schema).await;
    for what in [
        "SELECT coalesce(at, t) FROM things WHERE value = ?",
        "SELECT coalesce(t, at) FROM things WHERE value = ?",
        "SELECT nullif(at, t) FROM things WHERE value = ?",
        "SELECT id FROM things WHERE value = ? AND at BETWEEN t AND at",
        "SELECT id FROM things WHERE value = ? AND at NOT BETWEEN at AND t",
        "SELECT id FROM things WHERE value = ? AND at IN (at, t)",
        "SELECT id FROM things WHERE value = ? AND at > t",
    ] {
        let found = things.query(what, &[7.into()]).await;
        assert_eq!(found.map(drop).unwrap_err().kind(), ErrorKind::InvalidInput, "{what}");
    }
    let taken = "SELECT t, at FROM things WHERE value = ? AND at BETWEEN at AND at AND t IS NOT NULL";
    things.query(taken, &[7.into()]).await.unwrap();
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn ends_of_domains_are_values_like_others() {
    let schema = Schema::new("things", "id")
        .with_domain("size", DomainType::Integer)
        .with_domain("name", DomainType::Text);
    let place = Place::new();
    let (_cache, things) = table(&place, "id INTEGER PRIMARY KEY, size INTEGER, name TEXT", schema).await;
    for (id, size) in (1i64..).zip([i64::MIN, 0, i64::MAX]) {
        let name = ["", "Z", "ä"][usize::try_from(id).unwrap() - 1];
        things.insert([("id", id.into()), ("size", size.into()), ("name", name.into())]).await.unwrap();
    }
    let count = async |range: std::ops::RangeInclusive<i64>| things.get("size", range).await.unwrap().len();
    assert_eq!(count(i64::MIN..=i64::MAX).await, 3);
    assert_eq!(count(i64::MAX..=i64::MAX).await, 1);
    assert_eq!(things.get("size", i64::MIN..i64::MAX).await.unwrap().len(), 2);
    assert_eq!(things.get::<i64>("size", ..).await.unwrap().len(), 3);
    // By bytes: capital letters before small ones, and those beyond ASCII last.
    assert_eq!(things.get("name", "".."a").await.unwrap().len(), 2);
    assert_eq!(things.get("name", "z"..).await.unwrap()[0].text("name"), Some("ä"));
}

#[tokio::test]
async fn two_domains_of_one_table_agree() {
    let schema = Schema::new("things", "id")
        .with_domain("size", DomainType::Integer)
        .with_domain("weight", DomainType::Float);
    let place = Place::new();
    let (_cache, things) = table(&place, "id INTEGER PRIMARY KEY, size INTEGER, weight REAL", schema).await;
    for id in 1..=9i64 {
        let weight = SqlValue::Float(0.5 * (10 - id) as f64);
        things.insert([("id", id.into()), ("size", id.into()), ("weight", weight)]).await.unwrap();
    }
    assert_eq!(things.get("weight", 0.0..=1.0).await.unwrap().len(), 2);
    let row = things.get("size", 9..=9).await.unwrap().remove(0);
    things.update(&row, [("weight", 7.5.into())]).await.unwrap();
    assert_eq!(things.get("weight", 0.0..=1.0).await.unwrap().len(), 1);
    assert_eq!(things.get("size", 9..=9).await.unwrap()[0].get("weight"), Some(&SqlValue::Float(7.5)));
    // Rows of this range may have any weight: that domain is taken whole.
    things.delete_range("size", ..=5).await.unwrap();
    assert_eq!(things.get("weight", 2.5..5.0).await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_database_that_is_gone_is_unavailable() {
    let place = Place::new();
    let schema = Schema::new("things", "id").with_domain("size", DomainType::Integer);
    let (cache, things) = table(&place, "id INTEGER PRIMARY KEY, size INTEGER", schema).await;
    cache.stop().await.unwrap();
    assert_eq!(things.get("size", 1..=2).await.unwrap_err().kind(), ErrorKind::Unavailable);
    let write = things.insert([("id", 1.into()), ("size", 1.into())]).await;
    assert!(matches!(write, Err(WriteError::NotDone(_))), "{write:?}");
}

/// NaN is above all numbers here and for PostgreSQL; other databases find no row below it.
async fn no_row_is_hidden_by_a_bound_that_is_no_number(url: &str, is_refused: bool) {
    let schema = Schema::new("things", "id").with_domain("weight", DomainType::Float);
    let columns = "id BIGINT PRIMARY KEY, weight DOUBLE PRECISION";
    let (cache, things) = values::table(url, columns, schema).await;
    things.insert([("id", 1.into()), ("weight", 1.5.into())]).await.unwrap();
    for lo in [Bound::Unbounded, Bound::Included(0.0)] {
        match things.get("weight", (lo, Bound::Included(f64::NAN))).await {
            Ok(rows) => assert!(!is_refused && rows.len() == 1, "{url}: {rows:?}"),
            Err(error) => assert!(is_refused && error.kind() == ErrorKind::InvalidInput, "{url}: {error}"),
        }
    }
    let sql = if is_refused {
        "SELECT id FROM things WHERE weight <= ?"
    } else {
        "SELECT id FROM things WHERE weight <= $1"
    };
    assert_eq!(things.query(sql, &[f64::NAN.into()]).await.is_err(), is_refused, "{url}");
    assert_eq!(things.delete_range("weight", f64::NAN..).await.is_err(), is_refused, "{url}");
    assert_eq!(things.get("weight", 0.0..=9.0).await.unwrap().len(), 1, "{url}: it is there");
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bound_that_is_no_number_hides_no_row() {
    let place = Place::new();
    no_row_is_hidden_by_a_bound_that_is_no_number(&sqlite(&place), true).await;
    if let Some(server) = MariaDb::start() {
        no_row_is_hidden_by_a_bound_that_is_no_number(&server.url(), true).await;
    }
    if let Some(server) = Postgres::start() {
        no_row_is_hidden_by_a_bound_that_is_no_number(&server.url(), false).await;
    }
}

#[tokio::test]
async fn whole_numbers_that_sqlite_rounds_are_refused() {
    let place = Place::new();
    let schema = Schema::new("things", "id").with_domain("size", DomainType::Unsigned);
    let (_cache, things) = table(&place, "id INTEGER PRIMARY KEY, size INTEGER", schema).await;
    let largest = i64::MAX.cast_unsigned();
    things.insert([("id", 1.into()), ("size", largest.into())]).await.unwrap();
    for beyond in [largest + 1, largest + 2] {
        let refused = things.insert([("id", 2.into()), ("size", beyond.into())]).await;
        assert!(matches!(refused, Err(WriteError::Refused(_))), "{refused:?}");
        assert_eq!(things.get("size", beyond..).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(things.get("size", largest..).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_column_of_sqlite_without_a_type_keeps_numbers_and_texts() {
    for domain in [DomainType::Integer, DomainType::Text] {
        let place = Place::new();
        let schema = Schema::new("things", "id").with_domain("code", domain);
        let (_cache, things) = table(&place, "id INTEGER PRIMARY KEY, code", schema).await;
        let code = |number: i64| match domain {
            DomainType::Text => SqlValue::Text(number.to_string()),
            _ => SqlValue::Integer(number),
        };
        things.insert([("id", 1.into()), ("code", code(12))]).await.unwrap();
        let count = async |lo, hi| things.get("code", code(lo)..=code(hi)).await.unwrap().len();
        // The text 12 lies before the text 5.
        let is_number = domain == DomainType::Integer;
        assert_eq!((count(5, 20).await, count(1, 2).await), if is_number { (1, 0) } else { (0, 1) });
    }
}
