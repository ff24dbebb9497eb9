//! Statements of the application that set registered columns to values of which the database makes others: what
//! is said of them is not believed.

use std::ops::RangeInclusive;

use lacuna_cache::sql::{DomainType, Schema, SqlValue, Statement};
use lacuna_cache_protocol::DomainValue;
use lacuna_testkit::servers::{MariaDb, Postgres};

use crate::sql::values::{ids, sqlite, table};
use crate::sql::world::{Place, patient};

const KEY: &str = "id BIGINT PRIMARY KEY, value";

/// What a statement sets, as the application says it and as the statement has it.
struct Case<'a> {
    domain: DomainType,
    before: (DomainValue<'a>, &'a str),
    after: (DomainValue<'a>, &'a str),
}

/// A range is cached while it is empty; then a statement sets a value, and the database makes another of it, inside the range.
async fn arrives(url: &str, declared: &str, range: RangeInclusive<SqlValue>, case: Case<'_>, more: &str) {
    let schema = Schema::new("things", "id").with_domain("value", case.domain);
    let (cache, _) = table(url, &format!("{KEY} {declared}"), schema.clone()).await;
    let insert = |literal: &str| format!("INSERT INTO things VALUES (1, {literal})");
    cache.run_sql(&insert(case.before.1)).await.unwrap();
    cache.run_sql(more).await.unwrap();
    cache.stop().await.unwrap();
    for is_transaction in [false, true] {
        let cache = patient(url).open().await.unwrap();
        let things = cache.table(schema.clone()).await.unwrap();
        assert!(ids(things.get("value", range.clone()).await).await.is_empty(), "{declared}");
        let mut set = things.write_set("value").unwrap();
        set.before(case.before.0).unwrap().after(case.after.0).unwrap();
        let update = vec![Statement::new(format!("UPDATE things SET value = {} WHERE id = 1", case.after.1))];
        if is_transaction {
            let mut open = cache.transaction().on_all(&things).begin().await.unwrap();
            open.execute(&things, &[set], update).await.unwrap();
            open.commit().await.unwrap();
        } else {
            things.execute(&[set], update).await.unwrap();
        }
        let found = ids(things.get("value", range.clone()).await).await;
        assert_eq!(found, [1], "{declared}, in a transaction: {is_transaction}");
        cache.run_sql(&format!("DELETE FROM things; {}", insert(case.before.1))).await.unwrap();
        cache.stop().await.unwrap();
    }
}

fn seconds(seconds: i64) -> SqlValue {
    SqlValue::Timestamp(seconds * 1_000_000)
}

fn numbers(before: (i64, &'static str), after: (i64, &'static str)) -> Case<'static> {
    let value = |(number, text)| (DomainValue::Integer(number), text);
    Case { domain: DomainType::Integer, before: value(before), after: value(after) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_postgres_makes_of_a_statement_is_shown() {
    let Some(server) = Postgres::start() else { return };
    let url = server.url();
    let moment = Case {
        domain: DomainType::Timestamp,
        before: (DomainValue::Timestamp(5_000_000), "'1970-01-01 00:00:05'"),
        after: (DomainValue::Timestamp(600_000), "'1970-01-01 00:00:00.6'"),
    };
    arrives(&url, "TIMESTAMP(0)", seconds(1)..=seconds(1), moment, "SELECT 1").await;
    let single = SqlValue::Float(f64::from(0.1f32));
    let float = Case {
        domain: DomainType::Float,
        before: (DomainValue::Float(2.0), "2"),
        after: (DomainValue::Float(0.1), "0.1"),
    };
    arrives(&url, "REAL", single.clone()..=single, float, "SELECT 1").await;
    let more = "CREATE OR REPLACE FUNCTION more() RETURNS trigger AS 'BEGIN NEW.value = NEW.value + 100; RETURN NEW; END' \
                LANGUAGE plpgsql; CREATE TRIGGER more BEFORE UPDATE ON things FOR EACH ROW EXECUTE FUNCTION more()";
    arrives(&url, "BIGINT", 105.into()..=105.into(), numbers((1, "1"), (5, "5")), more).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_mariadb_makes_of_a_statement_is_shown() {
    let Some(server) = MariaDb::start() else { return };
    let url = server.url();
    let moment = Case {
        domain: DomainType::Timestamp,
        before: (DomainValue::Timestamp(5_000_000), "'1970-01-01 00:00:05'"),
        after: (DomainValue::Timestamp(1_600_000), "'1970-01-01 00:00:01.6'"),
    };
    arrives(&url, "DATETIME", seconds(1)..=seconds(1), moment, "SELECT 1").await;
    let more = "CREATE TRIGGER more BEFORE UPDATE ON things FOR EACH ROW SET NEW.value = NEW.value + 100";
    arrives(&url, "BIGINT", 105.into()..=105.into(), numbers((1, "1"), (5, "5")), more).await;
}

/// Nothing is known of what such statements touch, so that no result from before them is shown.
#[tokio::test]
async fn statements_without_values_touch_every_result() {
    let place = Place::new();
    let columns = ["value", "other"];
    let with = |schema: Schema, column: &str| schema.with_domain(column, DomainType::Integer);
    let schema = columns.into_iter().fold(Schema::new("things", "id"), with);
    let (cache, things) = table(&sqlite(&place), &format!("{KEY} BIGINT, other BIGINT"), schema).await;
    let [value, other] = columns.map(|column| things.write_set(column).unwrap());
    let all = [Vec::new(), vec![value.clone()], vec![other.clone()], vec![value, other]];
    for (round, sets) in (1i64..).zip(all) {
        for column in columns {
            let before = ids(things.get(column, 0..=9).await).await;
            assert_eq!(before, (1..round).collect::<Vec<i64>>(), "before {sets:?}: {column}");
        }
        let insert = Statement::new(format!("INSERT INTO things (id, value, other) VALUES ({round}, 5, 5)"));
        things.execute(&sets, vec![insert]).await.unwrap();
        for column in columns {
            let after = ids(things.get(column, 0..=9).await).await;
            assert_eq!(after, (1..=round).collect::<Vec<i64>>(), "after {sets:?}: {column}");
        }
    }
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn what_a_trigger_of_sqlite_makes_of_a_statement_is_shown() {
    let place = Place::new();
    let more = "CREATE TRIGGER more AFTER UPDATE ON things WHEN NEW.value < 100 BEGIN \
                UPDATE things SET value = NEW.value + 100 WHERE id = NEW.id; END";
    let case = numbers((1, "1"), (5, "5"));
    arrives(&sqlite(&place), "BIGINT", 105.into()..=105.into(), case, more).await;
}
