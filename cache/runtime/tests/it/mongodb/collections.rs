//! What a user sees of a collection.

use lacuna_cache::mongodb::{Bson, DateTime, Document, DomainType, Options, Policy, Schema, WriteError, doc};
use lacuna_cache_protocol::ErrorKind;

use crate::mongodb::{options, people, server};

fn ids(documents: &[Document]) -> Vec<i64> {
    documents.iter().map(|document| document.get_i64("_id").unwrap()).collect()
}

fn person(id: i64, age: impl Into<Bson>) -> Document {
    doc! { "_id": id, "name": format!("n{id}"), "age": age.into() }
}

fn is_refused(written: Result<(), WriteError>, kind: ErrorKind) {
    assert!(matches!(&written, Err(WriteError::Refused(why)) if why.kind() == kind), "{written:?}");
}

#[tokio::test]
async fn writes_that_may_take_no_time_are_refused_before_a_server_is_asked() {
    let why = options("mongodb://127.0.0.1:1/app").with_max_operation_ms(0).open().await.unwrap_err();
    assert!(why.kind() == ErrorKind::InvalidInput && why.to_string().contains("at least 1"), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_of_every_kind_are_seen_at_once() {
    let Some(server) = server() else { return };
    for policy in [Policy::WriteAround, Policy::WriteThrough] {
        let cache = options(&server.url()).with_policy(policy).open().await.unwrap();
        let name = format!("people{policy:?}");
        let people =
            cache.collection(Schema::new(&name).with_domain("age", DomainType::Integer)).await.unwrap();
        assert!(people.get("age", 0..=99).await.unwrap().is_empty());
        for (id, age) in [(2, 20), (1, 20), (3, 30)] {
            people.insert(person(id, age)).await.unwrap();
        }
        people.insert(person(4, Bson::Null)).await.unwrap();
        people.insert(doc! { "_id": 5i64 }).await.unwrap();
        let found = people.get("age", 0..=99).await.unwrap();
        assert_eq!(ids(&found), [1, 2, 3], "{policy:?}: null and nothing are in no range");
        assert_eq!(found[0].keys().collect::<Vec<_>>(), ["_id", "name", "age"]);
        assert_eq!(ids(&people.get::<i64>("age", ..).await.unwrap()), [1, 2, 3]);
        people.update(&found[0], doc! { "age": 31, "name": "Anna" }).await.unwrap();
        assert_eq!(ids(&people.get("age", 20..=20).await.unwrap()), [2]);
        let older = people.get("age", 30..).await.unwrap();
        assert_eq!((ids(&older), older[1].get_str("name").unwrap()), (vec![3, 1], "Anna"));
        is_refused(people.update(&found[0], doc! { "age": 40 }).await, ErrorKind::Conflict);
        people.delete(&older[0]).await.unwrap();
        is_refused(people.delete(&older[0]).await, ErrorKind::Conflict);
        is_refused(people.insert(person(1, 50)).await, ErrorKind::InvalidInput);
        assert_eq!(ids(&people.first("age", 0.., 1).await.unwrap()), [2]);
        assert_eq!(ids(&people.last("age", ..99, 1).await.unwrap()), [1]);
        let asked = cache.counts().store_queries;
        assert_eq!(ids(&people.first("age", 0.., 1).await.unwrap()), [2]);
        assert!(people.get("age", 60..=70).await.unwrap().is_empty());
        assert!(people.get("age", 62..=65).await.unwrap().is_empty());
        assert!(cache.counts().store_queries <= asked + 1, "an empty range is asked once");
        // Back to where they were, with a value that is none.
        people.update(&doc! { "_id": 4i64 }, doc! { "age": 25 }).await.unwrap();
        assert_eq!(ids(&people.get("age", 21..=29).await.unwrap()), [4]);
        cache.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_are_in_the_order_of_their_keys() {
    let Some(server) = server() else { return };
    let cache = options(&server.url()).open().await.unwrap();
    let schema = Schema::new("things")
        .with_domain("whole", DomainType::Integer)
        .with_domain("float", DomainType::Float)
        .with_domain("text", DomainType::Text)
        .with_domain("moment", DomainType::Timestamp);
    let things = cache.collection(schema).await.unwrap();
    let values = [
        (i64::MIN, f64::MIN, "", -86_400_000),
        (-1, -5e-324, "A", -1),
        (0, 0.5, "a", 0),
        (1 << 53, 1e299, "a\u{1}", 1),
        ((1 << 53) + 1, 1e300, "ä", 1_714_521_600_000),
        (i64::MAX, f64::MAX, "€", 253_402_300_799_999),
    ];
    for (id, (whole, float, text, milli)) in [5i64, 4, 3, 2, 1, 0].into_iter().zip(values.into_iter().rev()) {
        let moment = DateTime::from_millis(milli);
        let thing = doc! { "_id": id, "whole": whole, "float": float, "text": text, "moment": moment };
        things.insert(thing).await.unwrap();
    }
    for (lo, expected) in (0..).zip((0..6).map(|lo| (lo..6).collect::<Vec<i64>>())) {
        let (whole, float, text, milli) = values[lo];
        assert_eq!(ids(&things.get("whole", whole..).await.unwrap()), expected);
        assert_eq!(ids(&things.get("float", float..).await.unwrap()), expected);
        assert_eq!(ids(&things.get("text", text..).await.unwrap()), expected, "by bytes");
        assert_eq!(ids(&things.get("moment", DateTime::from_millis(milli)..).await.unwrap()), expected);
        let open = (std::ops::Bound::Excluded(whole), std::ops::Bound::Unbounded);
        assert_eq!(ids(&things.get("whole", open).await.unwrap()), expected[1..]);
    }
    assert_eq!(ids(&things.get::<f64>("float", ..).await.unwrap()), [0, 1, 2, 3, 4, 5]);
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_input_is_a_typed_error() {
    let Some(server) = server() else { return };
    let (cache, people) = people(&server.url()).await;
    let kind = |error: lacuna_cache_protocol::Error| error.kind();
    assert_eq!(kind(people.get("name", "a".."b").await.unwrap_err()), ErrorKind::InvalidInput);
    assert_eq!(kind(people.get("age", "a".."b").await.unwrap_err()), ErrorKind::InvalidInput);
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is tried")]
    let inverted = people.get("age", 5..=1).await.unwrap();
    assert!(inverted.is_empty());
    is_refused(people.insert(person(1, "old")).await, ErrorKind::InvalidInput);
    is_refused(people.insert(person(1, vec![1, 2])).await, ErrorKind::InvalidInput);
    is_refused(people.insert(doc! { "age": 5 }).await, ErrorKind::InvalidInput);
    is_refused(people.insert(doc! { "_id": 1, "_lacuna": 5 }).await, ErrorKind::InvalidInput);
    is_refused(people.update(&doc! { "_id": 1 }, doc! { "age.x": 5 }).await, ErrorKind::InvalidInput);
    let again = cache.collection(Schema::new("people").with_domain("age", DomainType::Integer)).await;
    assert_eq!(kind(again.unwrap_err()), ErrorKind::Conflict);
    let client = ::mongodb::Client::with_uri_str(server.url()).await.unwrap();
    let plain = client.default_database().unwrap();
    plain.create_collection("recent").capped(true).size(1 << 20).await.unwrap();
    let recent = cache.collection(Schema::new("recent").with_domain("age", DomainType::Integer)).await;
    let why = recent.unwrap_err();
    assert!(why.kind() == ErrorKind::InvalidInput && why.to_string().contains("capped"), "{why}");
    let back = Options::new(server.url()).with_policy(Policy::WriteBack).open().await;
    assert_eq!(kind(back.unwrap_err()), ErrorKind::Unsupported);
    assert_eq!(
        kind(Options::new("mongodb://127.0.0.1:1").open().await.unwrap_err()),
        ErrorKind::InvalidInput
    );
    let gone = Options::new("mongodb://127.0.0.1:1/test").open().await;
    assert_eq!(kind(gone.unwrap_err()), ErrorKind::Unavailable);
    // And it still works.
    people.insert(person(1, 3)).await.unwrap();
    assert_eq!(people.get("age", 3..4).await.unwrap().len(), 1);
    cache.stop().await.unwrap();
}
