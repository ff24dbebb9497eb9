//! Rows whose values lie beyond what has a key, and moments in the words of databases.

use lacuna_cache::sql::{DomainType, Schema, SqlValue, Statement, WriteError};
use lacuna_cache_protocol::ErrorKind;

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
