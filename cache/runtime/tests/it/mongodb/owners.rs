//! Two processes that want one collection, and what a replaced owner can still do.

use std::time::Duration;

use lacuna_cache::mongodb::{DomainType, Schema, WriteError, doc};
use lacuna_cache_protocol::ErrorKind;

use crate::mongodb::{is_done, options, people, server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_collection_has_one_owner_at_a_time() {
    let Some(server) = server() else { return };
    let (first, here) = people(&server.url()).await;
    here.insert(doc! { "_id": 1, "age": 20 }).await.unwrap();
    let (second, there) = people(&server.url()).await;
    let refused = there.insert(doc! { "_id": 2, "age": 20 }).await;
    assert!(matches!(refused, Err(WriteError::NotDone(_))), "{refused:?}");
    assert_eq!(there.get("age", 0..=99).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(here.get("age", 0..=99).await.unwrap().len(), 1, "the first goes on");
    first.stop().await.unwrap();
    // It was given back.
    while !is_done(there.insert(doc! { "_id": 2, "age": 20 }).await) {}
    assert_eq!(there.get("age", 0..=99).await.unwrap().len(), 2);
    second.stop().await.unwrap();
}

/// The epochs of fence and document, as a newer owner leaves them, are what an older one meets.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_raised_fence_ends_the_tenure_and_the_write_is_done_in_the_next() {
    let Some(server) = server() else { return };
    let (cache, people) = people(&server.url()).await;
    people.insert(doc! { "_id": 1, "age": 20 }).await.unwrap();
    let tenures = cache.counts().tenures;
    let client = mongodb::Client::with_uri_str(server.url()).await.unwrap();
    let fences = client.database("test").collection::<mongodb::bson::Document>("lacuna_fence");
    fences.update_one(doc! { "_id": "people" }, doc! { "$inc": { "epoch": 5i64 } }).await.unwrap();
    while !is_done(people.insert(doc! { "_id": 2, "age": 20 }).await) {}
    assert_eq!(people.get("age", 0..=99).await.unwrap().len(), 2, "once");
    assert!(cache.counts().tenures > tenures, "{:?}", cache.counts());
    // A document of a later epoch than the fence says: whoever wrote it, it was not this owner.
    let documents = client.database("test").collection::<mongodb::bson::Document>("people");
    documents.update_one(doc! { "_id": 1 }, doc! { "$set": { "_lacuna": i64::MAX } }).await.unwrap();
    let late = people.update(&doc! { "_id": 1, "age": 20 }, doc! { "age": 21 }).await;
    assert!(matches!(&late, Err(WriteError::Refused(why)) if why.kind() == ErrorKind::Conflict), "{late:?}");
    cache.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_take_over_waits_out_the_longest_operation() {
    let Some(server) = server() else { return };
    let cache = options(&server.url()).with_max_operation_ms(1_500).open().await.unwrap();
    let start = std::time::Instant::now();
    let things =
        cache.collection(Schema::new("things").with_domain("size", DomainType::Integer)).await.unwrap();
    assert!(things.get("size", 1..=2).await.unwrap().is_empty());
    assert!(start.elapsed() >= Duration::from_millis(1_500), "{:?}", start.elapsed());
    cache.stop().await.unwrap();
}
