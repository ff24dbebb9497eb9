//! Rows whose values lie beyond what has a key, and moments in the words of databases.

use lacuna_cache::sql::{DomainType, Schema, SqlValue, Statement, WriteError};
use lacuna_cache_protocol::ErrorKind;
use lacuna_testkit::servers::MariaDb;

use crate::sql::values::{ids, table};

/// Noon as the database is told in its own words, whatever zone it thinks it is in.
pub(crate) async fn moments_without_a_zone_are_utc(url: &str, column: &str) {
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Timestamp);
    let (cache, things) = table(url, &format!("id BIGINT PRIMARY KEY, value {column}"), schema).await;
    let noon = SqlValue::Timestamp(19_844 * 86_400_000_000 + 43_200_000_000);
    let insert = Statement::new("INSERT INTO things VALUES (1, '2024-05-01 12:00:00')");
    things.execute(&[], vec![insert]).await.unwrap();
    let found = things.get("value", noon.clone()..=noon.clone()).await.unwrap();
    assert_eq!(found.first().and_then(|row| row.get("value")), Some(&noon), "{column}");
    let second: i64 = 1_000_000;
    things.update(&found[0], [("value", SqlValue::Timestamp(second))]).await.unwrap();
    assert_eq!(ids(things.get("value", second..=second).await).await, [1], "{column}");
    cache.stop().await.unwrap();
}

/// `NaN` is above all numbers for the database, and no number here.
pub(crate) async fn rows_beyond_all_decimals_are_in_ranges_without_an_end(url: &str) {
    let price = |text| SqlValue::decimal(text).unwrap();
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Decimal { scale: 2 });
    let (cache, things) = table(url, "id BIGINT PRIMARY KEY, value NUMERIC(10,2)", schema).await;
    things.insert([("id", 1.into()), ("value", 5.into())]).await.unwrap();
    assert_eq!(ids(things.get("value", price("4.5")..).await).await, [1]);
    let insert = Statement::new("INSERT INTO things VALUES (2, 'NaN')");
    things.execute(&[], vec![insert]).await.unwrap();
    assert_eq!(ids(things.get("value", price("4.5")..).await).await, [1, 2]);
    assert_eq!(ids(things.get("value", price("4.5")..=price("99999999.99")).await).await, [1]);
    assert_eq!(ids(things.last("value", price("4.5").., 1).await).await, [2]);
    assert_eq!(ids(things.first("value", price("4.5").., 2).await).await, [1, 2]);
    let row = things.get("value", price("5.01")..).await.unwrap().remove(0);
    let refused = things.delete(&row).await;
    assert!(matches!(refused, Err(WriteError::Refused(_))), "its value has no key: {refused:?}");
    things.delete_range("value", price("5.01")..).await.unwrap();
    assert_eq!(ids(things.get::<SqlValue>("value", ..).await).await, [1]);
    assert_eq!(ids(things.last("value", price("4.5").., 1).await).await, [1]);
    assert_eq!(ids(things.first("value", price("4.5").., 2).await).await, [1]);
    // Rounding would put a value where nobody was told of it.
    let rounded = things.insert([("id", 3.into()), ("value", price("1.005"))]).await;
    assert!(matches!(rounded, Err(WriteError::Refused(_))), "{rounded:?}");
    assert_eq!(things.get("value", price("1.005")..).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    let float = things.insert([("id", 3.into()), ("value", 1.5.into())]).await;
    assert!(matches!(float, Err(WriteError::Refused(_))), "a float is not exact: {float:?}");
    cache.stop().await.unwrap();
}

/// It would take them for NULL, and find nothing.
pub(crate) async fn days_that_mariadb_has_not_are_refused(url: &str) {
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Date);
    let (cache, things) = table(url, "id BIGINT PRIMARY KEY, value DATE", schema).await;
    let day = |year, month, day| SqlValue::date(year, month, day).unwrap();
    things.insert([("id", 1.into()), ("value", day(2024, 2, 29))]).await.unwrap();
    assert_eq!(ids(things.get("value", day(2024, 2, 29)..day(9_999, 12, 31)).await).await, [1]);
    assert_eq!(
        things.get("value", day(2024, 1, 1)..day(10_000, 1, 1)).await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let late = things.insert([("id", 2.into()), ("value", day(10_000, 1, 1))]).await;
    assert!(matches!(late, Err(WriteError::Refused(_))), "{late:?}");
    // A date that is none lies below all others.
    things.execute(&[], vec![Statement::new("INSERT INTO things VALUES (3, '0000-00-00')")]).await.unwrap();
    assert_eq!(ids(things.get("value", ..day(1, 1, 1)).await).await, [3]);
    assert_eq!(ids(things.get("value", day(1, 1, 1)..).await).await, [1]);
    cache.stop().await.unwrap();
}

/// `IS NULL` finds it in a column that cannot be NULL, where the cache shows it below all days.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_date_of_mariadb_that_is_none_is_not_null() {
    let Some(server) = MariaDb::start() else { return };
    let cases = [
        ("DATE", DomainType::Date, SqlValue::date(2024, 1, 1).unwrap()),
        ("DATETIME", DomainType::Timestamp, SqlValue::Timestamp(0)),
        ("TIMESTAMP", DomainType::Timestamp, SqlValue::Timestamp(1_000_000)),
    ];
    for (column, domain, end) in cases {
        let schema = Schema::new("things", "id").with_domain("value", domain);
        let columns =
            format!("id BIGINT PRIMARY KEY, value {column} NOT NULL DEFAULT '2024-01-01', note BIGINT");
        let (cache, things) = table(&server.url(), &columns, schema).await;
        let none = Statement::new("INSERT INTO things VALUES (3, '0000-00-00', 1)");
        things.execute(&[], vec![none]).await.unwrap();
        let shown = things.get("value", ..end.clone()).await.unwrap();
        let text = shown[0].text("value").unwrap_or_else(|| panic!("{column}: {shown:?}"));
        assert!(shown.len() == 1 && text.starts_with("0000-00-00"), "{column}: {shown:?}");
        let refused = things.delete(&shown[0]).await;
        assert!(matches!(refused, Err(WriteError::Refused(_))), "its value has no key: {refused:?}");
        let row = [("id", 3.into()), ("value", SqlValue::Null)];
        let row = things.known_row(row).unwrap();
        for write in [things.update(&row, [("note", 2.into())]).await, things.delete(&row).await] {
            assert!(
                matches!(&write, Err(WriteError::Refused(why)) if why.kind() == ErrorKind::Conflict),
                "{column}: {write:?}"
            );
        }
        let shown = things.get("value", ..end).await.unwrap();
        assert_eq!(shown.iter().map(|row| row.integer("note")).collect::<Vec<_>>(), [Some(1)], "{column}");
        cache.stop().await.unwrap();
    }
}

/// A row without a day is found by that, and one whose day is none is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_mariadb_are_found_by_null() {
    let Some(server) = MariaDb::start() else { return };
    let schema = Schema::new("things", "id").with_domain("value", DomainType::Date);
    let (cache, things) = table(&server.url(), "id BIGINT PRIMARY KEY, value DATE", schema).await;
    things.insert([("id", 1.into()), ("value", SqlValue::Null)]).await.unwrap();
    let row = things.known_row([("id", 1.into()), ("value", SqlValue::Null)]).unwrap();
    let day = SqlValue::date(2024, 2, 29).unwrap();
    assert!(ids(things.get("value", day.clone()..=day.clone()).await).await.is_empty());
    things.update(&row, [("value", day.clone())]).await.unwrap();
    assert_eq!(ids(things.get("value", day.clone()..=day).await).await, [1]);
    let zero = Statement::new("UPDATE things SET value = '0000-00-00' WHERE id = 1");
    things.execute(&[], vec![zero]).await.unwrap();
    let late = things.delete(&row).await;
    assert!(matches!(&late, Err(WriteError::Refused(why)) if why.kind() == ErrorKind::Conflict), "{late:?}");
    cache.stop().await.unwrap();
}
