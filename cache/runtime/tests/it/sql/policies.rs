//! What a user sees of each policy.

use lacuna_cache::sql::{Cache, DomainType, Schema, SqlValue, Table, WriteError};
use lacuna_cache_protocol::Policy;

use crate::sql::world::{AT_MOST, Place};

const ALL: [Policy; 3] = [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack];

async fn people(place: &Place, policy: Policy) -> (Cache, Table) {
    let cache = place.open(policy).await;
    let sql =
        "CREATE TABLE IF NOT EXISTS people (id INTEGER PRIMARY KEY, name TEXT UNIQUE, age INTEGER, pay REAL)";
    cache.run_sql(sql).await.unwrap();
    let schema = Schema::new("people", "id").with_domain("age", DomainType::Integer);
    let table = cache.table(schema).await.unwrap();
    (cache, table)
}

async fn add(people: &Table, id: i64, name: &str, age: impl Into<SqlValue>) -> Result<(), WriteError> {
    people.insert([("id", id.into()), ("name", name.into()), ("age", age.into()), ("pay", 1.5.into())]).await
}

async fn names(people: &Table, lo: i64, hi: i64) -> Vec<String> {
    let rows = people.get("age", lo..=hi).await.unwrap();
    rows.iter().map(|row| row.text("name").unwrap().to_owned()).collect()
}

#[tokio::test]
async fn writes_of_every_kind_are_seen_at_once() {
    for policy in ALL {
        let place = Place::new();
        let (cache, people) = people(&place, policy).await;
        assert!(names(&people, 0, 99).await.is_empty());
        add(&people, 2, "b", 20).await.unwrap();
        add(&people, 1, "a", 20).await.unwrap();
        add(&people, 3, "nobody's", SqlValue::Null).await.unwrap();
        assert_eq!(names(&people, 0, 99).await, ["a", "b"], "{policy:?}: equal ages in the order of keys");
        let row = people.get("age", 20..=20).await.unwrap().remove(0);
        people.update(&row, [("age", 30.into()), ("name", "A".into())]).await.unwrap();
        assert_eq!(names(&people, 20, 20).await, ["b"], "{policy:?}");
        assert_eq!(names(&people, 21, 99).await, ["A"], "{policy:?}");
        people.update_range("age", 20..=20, &[("pay", "pay * 2")]).await.unwrap();
        let paid = people.get("age", 0..=20).await.unwrap();
        assert_eq!(paid[0].get("pay"), Some(&SqlValue::Float(3.0)), "{policy:?}");
        people.delete(&paid[0]).await.unwrap();
        assert_eq!(names(&people, 0, 99).await, ["A"], "{policy:?}");
        people.delete_range("age", 0..).await.unwrap();
        assert!(names(&people, 0, 99).await.is_empty(), "{policy:?}");
        cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn limits_and_ties_are_right_after_writes() {
    for policy in ALL {
        let place = Place::new();
        let (cache, people) = people(&place, policy).await;
        for id in 1..=6 {
            add(&people, id, &format!("n{id}"), 10 + (id + 1) / 2).await.unwrap();
        }
        let ids = |rows: lacuna_cache::sql::Rows| -> Vec<i64> {
            rows.iter().map(|row| row.integer("id").unwrap()).collect()
        };
        for round in 0..2 {
            assert_eq!(ids(people.first("age", 11.., 3).await.unwrap()), [1, 2, 3], "round {round}");
            assert_eq!(ids(people.last("age", ..=13, 3).await.unwrap()), [4, 5, 6], "round {round}");
        }
        add(&people, 0, "tie", 12).await.unwrap();
        assert_eq!(
            ids(people.first("age", 11.., 3).await.unwrap()),
            [1, 2, 0],
            "{policy:?}: a tie at the end"
        );
        let first = people.first("age", 11.., 1).await.unwrap().remove(0);
        people.delete(&first).await.unwrap();
        assert_eq!(
            ids(people.first("age", 11.., 3).await.unwrap()),
            [2, 0, 3],
            "{policy:?}: out of a full result"
        );
        assert!(people.first("age", 11.., 0).await.unwrap().is_empty());
        cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn overlapping_results_are_put_together_below_a_beta_of_100() {
    for policy in ALL {
        let place = Place::new();
        let cache = place.options(policy).with_beta(0).open().await.unwrap();
        cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)").await.unwrap();
        let schema = Schema::new("people", "id").with_domain("age", DomainType::Integer);
        let people = cache.table(schema).await.unwrap();
        for id in 1..=20 {
            let name = format!("n{id}");
            people.insert([("id", id.into()), ("name", name.into()), ("age", id.into())]).await.unwrap();
        }
        assert_eq!(names(&people, 1, 10).await.len() + names(&people, 10, 20).await.len(), 21);
        let asked = cache.counts().store_queries;
        for lo in 2..=11 {
            let expected: Vec<String> = (lo..lo + 9).map(|id| format!("n{id}")).collect();
            assert_eq!(names(&people, lo, lo + 8).await, expected, "{policy:?}");
        }
        assert_eq!(cache.counts().store_queries, asked, "{policy:?}: the two results hold them all");
        let row = people.known_row([("id", 10.into()), ("age", 10.into())]).unwrap();
        people.update(&row, [("name", "new".into())]).await.unwrap();
        assert_eq!(names(&people, 9, 12).await, ["n9", "new", "n11", "n12"], "{policy:?}");
        assert!(people.known_row([("id", 10.into())]).is_err(), "its age decides what the write touches");
        cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn only_the_columns_asked_for_are_brought() {
    let place = Place::new();
    let (cache, people) = people(&place, Policy::WriteThrough).await;
    add(&people, 1, "a", 10).await.unwrap();
    cache.stop().await.unwrap();
    let cache = place.open(Policy::WriteThrough).await;
    let schema = || Schema::new("people", "id").with_domain("age", DomainType::Integer);
    assert!(cache.table(schema().with_only(["nose"])).await.is_err(), "there is no such column");
    let people = cache.table(schema().with_only(["pay"])).await.unwrap();
    let row = people.get("age", 0..=20).await.unwrap().remove(0);
    assert_eq!((row.values().len(), row.get("name")), (3, None));
    people.update(&row, [("pay", 2.5.into())]).await.unwrap();
    assert_eq!(people.get("age", 0..=20).await.unwrap()[0].get("pay"), Some(&SqlValue::Float(2.5)));
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn empty_ranges_ask_the_database_once() {
    for policy in ALL {
        let place = Place::new();
        let (cache, people) = people(&place, policy).await;
        add(&people, 1, "a", 10).await.unwrap();
        assert!(names(&people, 20, 80).await.is_empty());
        let asked = cache.counts().store_queries;
        for age in 20..80 {
            assert!(names(&people, age, age + 1).await.is_empty());
        }
        assert_eq!(cache.counts().store_queries, asked, "{policy:?}");
        add(&people, 2, "b", 50).await.unwrap();
        assert_eq!(names(&people, 45, 55).await, ["b"], "{policy:?}: the gap was split");
        assert!(names(&people, 51, 80).await.is_empty());
        cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_hit_asks_nothing_but_the_cache() {
    let place = Place::new();
    let (cache, people) = people(&place, Policy::WriteThrough).await;
    add(&people, 1, "a", 10).await.unwrap();
    names(&people, 0, 20).await;
    let before = cache.counts();
    for _ in 0..10 {
        names(&people, 0, 20).await;
    }
    let after = cache.counts();
    assert_eq!(after.hits - before.hits, 10);
    assert_eq!(after.cache_calls - before.cache_calls, 10, "one round trip each");
    assert_eq!(after.store_queries, before.store_queries);
    // A write whose effect is known updates the entry in place.
    add(&people, 2, "b", 11).await.unwrap();
    assert_eq!(names(&people, 0, 20).await, ["a", "b"]);
    assert_eq!(cache.counts().store_queries, before.store_queries);
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn what_the_database_refuses_is_an_error_and_changes_nothing() {
    for policy in ALL {
        let place = Place::new();
        let (cache, people) = people(&place, policy).await;
        add(&people, 1, "a", 10).await.unwrap();
        assert_eq!(names(&people, 0, 20).await, ["a"]);
        let refused = add(&people, 2, "a", 11).await;
        assert!(
            matches!(&refused, Err(WriteError::Refused(why)) if why.to_string().contains("UNIQUE")),
            "{refused:?}"
        );
        assert_eq!(names(&people, 0, 20).await, ["a"], "{policy:?}");
        let row = people.get("age", 10..=10).await.unwrap().remove(0);
        people.update(&row, [("age", 12.into())]).await.unwrap();
        let late = people.update(&row, [("age", 13.into())]).await;
        let is_conflict =
            |why: &lacuna_cache_protocol::Error| why.kind() == lacuna_cache_protocol::ErrorKind::Conflict;
        assert!(matches!(&late, Err(WriteError::Refused(why)) if is_conflict(why)), "{late:?}");
        assert_eq!(people.get("age", 12..=12).await.unwrap().len(), 1);
        cache.stop().await.unwrap();
    }
}

/// The application said that the database would take it, and was wrong.
#[tokio::test]
async fn a_buffered_statement_that_is_refused_later_is_reported() {
    let place = Place::new();
    let (cache, people) = people(&place, Policy::WriteBack).await;
    let mut notices = people.notices();
    add(&people, 1, "a", 10).await.unwrap();
    assert!(names(&people, 50, 50).await.is_empty());
    let mut age = people.write_set("age").unwrap();
    age.after(lacuna_cache::sql::DomainValue::Integer(50)).unwrap();
    let twice =
        lacuna_cache::sql::Statement::new("INSERT INTO people VALUES (2, 'a', 50, 1.5)").never_refused();
    people.execute(&[age], vec![twice]).await.expect("it is acknowledged before the database has it");
    let notice = tokio::time::timeout(AT_MOST, notices.recv()).await.unwrap().unwrap();
    assert!(
        matches!(&notice, lacuna_cache::sql::Notice::SetAside(writes) if writes.len() == 1),
        "{notice:?}"
    );
    // The read may overtake the dropping of the entry.
    let start = std::time::Instant::now();
    while !names(&people, 50, 50).await.is_empty() {
        assert!(start.elapsed() < AT_MOST, "what was set aside is still shown");
    }
    assert_eq!(names(&people, 10, 10).await, ["a"]);
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn acknowledged_writes_outlive_the_process() {
    for policy in ALL {
        let place = Place::new();
        let (cache, table) = people(&place, policy).await;
        for id in 1..=50 {
            add(&table, id, &format!("n{id}"), id).await.unwrap();
        }
        // Not stopped: the runtime of this cache ends as if it were killed.
        drop((cache, table));
        for next in [Policy::WriteAround, policy] {
            let (cache, table) = people(&place, next).await;
            assert_eq!(names(&table, 0, 99).await.len(), 50, "{policy:?} then {next:?}");
            cache.stop().await.unwrap();
        }
    }
}
