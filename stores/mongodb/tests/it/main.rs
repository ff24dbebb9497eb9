//! A server that speaks the MongoDB protocol, in `make test-long`: it is slow, and has to be built.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod clients;
mod collections;
mod owners;

use lacuna_store_mongodb::{Cache, Collection, DomainType, Options, Schema};
use lacuna_test_servers::FerretDb;
use lacuna_testkit::effort;

/// A server for a long test.
fn server() -> Option<FerretDb> {
    if effort::is_long() { FerretDb::start() } else { None }
}

/// With take-overs that do not wait long.
fn options(url: &str) -> Options {
    Options::new(url).most_operation_ms(500)
}

async fn people(url: &str) -> (Cache, Collection) {
    let cache = options(url).open().await.unwrap();
    let people = cache.collection(Schema::new("people").domain("age", DomainType::Integer)).await.unwrap();
    (cache, people)
}
