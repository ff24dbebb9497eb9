//! Several conditions at once, and rows that are loaded past the cache, at an owner of this process.

use std::collections::BTreeSet;
use std::time::Duration;

use lacuna_cache::sql::{Cache, Condition, DomainType, Rows, Schema, SqlValue, Statement, Table, WriteError};
use lacuna_cache_protocol::ErrorKind;
use lacuna_cache_protocol::Policy;
use lacuna_testkit::effort;

use crate::sql::world::Place;

const LONG: Duration = Duration::from_secs(600);

async fn people(place: &Place, policy: Policy) -> (Cache, Table) {
    let cache = place.options(policy).open().await.unwrap();
    cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age BIGINT, pay BIGINT)").await.unwrap();
    let schema = Schema::new("people", "id")
        .with_domain("age", DomainType::Integer)
        .with_domain("pay", DomainType::Integer);
    let table = cache.table(schema).await.unwrap();
    (cache, table)
}

fn person(id: i64, age: i64, pay: i64) -> [(&'static str, SqlValue); 3] {
    [("id", id.into()), ("age", age.into()), ("pay", pay.into())]
}

fn ids(rows: &Rows) -> Vec<i64> {
    rows.iter().map(|row| row.integer("id").unwrap()).collect()
}

/// Sorted, and each once or not at all.
fn set(rows: &Rows) -> Vec<i64> {
    let ids = ids(rows);
    let set: BTreeSet<i64> = ids.iter().copied().collect();
    assert_eq!(set.len(), ids.len(), "a row comes twice: {ids:?}");
    set.into_iter().collect()
}

#[tokio::test]
async fn conditions_select_what_the_rows_say() {
    let place = Place::new();
    let (cache, people) = people(&place, Policy::WriteThrough).await;
    let mut rng = effort::rng(31);
    let rows: Vec<(i64, i64, i64)> =
        (0..120).map(|id| (id, rng.below(40).cast_signed(), rng.below(40).cast_signed())).collect();
    let mut load = people.bulk_load(LONG).await.unwrap();
    load.insert(rows.iter().map(|(id, age, pay)| person(*id, *age, *pay))).await.unwrap();
    load.finish().await.unwrap();
    for _ in 0..60 {
        let mut range = || {
            let (a, b) = (rng.below(40).cast_signed(), rng.below(12).cast_signed());
            a..a + b
        };
        let (ages, pays, more) = (range(), range(), range());
        let conditions: Vec<Condition> = vec![
            people.condition("age", ages.clone()).unwrap(),
            people.condition("pay", pays.clone()).unwrap(),
            people.condition("age", more.clone()).unwrap(),
        ];
        let expected = |is_in: &dyn Fn(i64, i64) -> bool| -> Vec<i64> {
            rows.iter().filter(|(_, age, pay)| is_in(*age, *pay)).map(|(id, ..)| *id).collect()
        };
        let any = people.get_any(&conditions).await.unwrap();
        let is_any = |age, pay| ages.contains(&age) || pays.contains(&pay) || more.contains(&age);
        assert_eq!(set(&any), expected(&is_any), "{ages:?} or {pays:?} or {more:?}");
        let all = people.get_all(&conditions[..2]).await.unwrap();
        assert_eq!(set(&all), expected(&|age, pay| ages.contains(&age) && pays.contains(&pay)));
    }
    assert!(people.get_any(&[]).await.unwrap().is_empty() && people.get_all(&[]).await.unwrap().is_empty());
    assert_eq!(people.condition("id", 1..2).unwrap_err().kind(), ErrorKind::InvalidInput);
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn a_conjunction_asks_for_the_condition_that_selects_fewer_rows() {
    let place = Place::new();
    let (cache, people) = people(&place, Policy::WriteThrough).await;
    let mut load = people.bulk_load(LONG).await.unwrap();
    load.insert((0..100).map(|id| person(id, 20, id))).await.unwrap();
    load.finish().await.unwrap();
    // Both results are known; whichever is asked for first, its order is that of the answer.
    people.get_any(&[people.condition("age", 20..=20).unwrap()]).await.unwrap();
    people.get_any(&[people.condition("pay", 10..=12).unwrap()]).await.unwrap();
    let both = [people.condition("age", 20..=20).unwrap(), people.condition("pay", 10..=12).unwrap()];
    let before = people.counts();
    assert_eq!(ids(&people.get_all(&both).await.unwrap()), [10, 11, 12]);
    let after = people.counts();
    assert_eq!((after.reads, after.store_queries), (before.reads + 1, before.store_queries), "a hit");
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn a_row_that_changes_sides_is_always_in_the_union() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let place = Place::new();
        let (cache, people) = people(&place, policy).await;
        people.insert(person(1, 10, 10)).await.unwrap();
        let moving = tokio::spawn({
            let people = people.clone();
            async move {
                for round in 0..60 {
                    let (from, to) = if round % 2 == 0 { ((10, 10), (90, 90)) } else { ((90, 90), (10, 10)) };
                    let row = people.known_row(person(1, from.0, from.1)).unwrap();
                    people.update(&row, [("age", to.0.into()), ("pay", to.1.into())]).await.unwrap();
                }
            }
        });
        let sides = [people.condition("age", ..50).unwrap(), people.condition("pay", 50..).unwrap()];
        let mut reads = 0;
        while !moving.is_finished() || reads < 20 {
            assert_eq!(ids(&people.get_any(&sides).await.unwrap()), [1], "{policy:?}, read {reads}");
            reads += 1;
        }
        moving.await.unwrap();
        cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_bulk_load_is_in_results_that_were_cached_before_it() {
    for policy in [Policy::WriteAround, Policy::WriteThrough, Policy::WriteBack] {
        let place = Place::new();
        let (cache, people) = people(&place, policy).await;
        people.insert(person(1, 10, 1)).await.unwrap();
        assert_eq!(ids(&people.get("age", 0..20).await.unwrap()), [1]);
        assert!(people.get("age", 30..40).await.unwrap().is_empty(), "a gap is known");
        let mut load = people.bulk_load(LONG).await.unwrap();
        load.insert([person(2, 11, 2), person(3, 33, 3)]).await.unwrap();
        let raise = Statement::new("UPDATE people SET age = age + 1 WHERE id = 1");
        load.execute(vec![raise]).await.unwrap();
        let waiting = tokio::spawn({
            let people = people.clone();
            async move { people.get("age", 30..40).await.unwrap() }
        });
        load.insert([person(4, 34, 4)]).await.unwrap();
        let twice = load.insert([person(5, 35, 5), person(4, 36, 6)]).await;
        assert!(matches!(twice, Err(WriteError::Refused(_))), "{twice:?}");
        let other = load.execute(vec![Statement::new("COMMIT")]).await;
        assert!(matches!(other, Err(WriteError::Refused(_))), "{other:?}");
        load.finish().await.unwrap();
        assert_eq!(ids(&people.get("age", 0..20).await.unwrap()), [1, 2], "{policy:?}");
        assert_eq!(ids(&waiting.await.unwrap()), [3, 4], "nobody was let in before the end: {policy:?}");
        cache.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_load_whose_time_is_over_changes_nothing_any_more() {
    let place = Place::new();
    let (cache, people) = people(&place, Policy::WriteThrough).await;
    let mut load = people.bulk_load(Duration::ZERO).await.unwrap();
    // Answered by the next tenure.
    assert!(people.get("age", 0..20).await.unwrap().is_empty());
    let late = load.insert([person(1, 10, 1)]).await;
    assert!(matches!(&late, Err(WriteError::NotDone(why)) if why.to_string().contains("lost")), "{late:?}");
    assert_eq!(load.finish().await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(people.get("age", 0..20).await.unwrap().is_empty());
    people.insert(person(2, 10, 1)).await.unwrap();
    cache.stop().await.unwrap();
}

#[tokio::test]
async fn a_load_that_is_dropped_lets_others_in() {
    let place = Place::new();
    let (cache, people) = people(&place, Policy::WriteThrough).await;
    assert!(people.get("age", 0..20).await.unwrap().is_empty());
    let mut load = people.bulk_load(LONG).await.unwrap();
    load.insert([person(1, 10, 1)]).await.unwrap();
    let before = people.counts().tenures;
    drop(load);
    assert_eq!(ids(&people.get("age", 0..20).await.unwrap()), [1]);
    assert_eq!(people.counts().tenures, before, "nothing was under way");
    let mut load = people.bulk_load(LONG).await.unwrap();
    // Polled once, and then given up.
    let mut insert = Box::pin(load.insert([person(2, 11, 2)]));
    assert!(futures_poll(insert.as_mut()).await.is_none());
    drop(insert);
    drop(load);
    let seen = ids(&people.get("age", 0..20).await.unwrap());
    assert_eq!(people.counts().tenures, before + 1, "the next fence keeps out what may be under way");
    assert_eq!(ids(&people.get("age", 0..=20).await.unwrap()), seen, "it landed before, or not at all");
    cache.stop().await.unwrap();
}

/// Polls a future once; `None` if it is not ready.
async fn futures_poll<F: Future>(mut future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match future.as_mut().poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}
