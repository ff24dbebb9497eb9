//! A server that speaks the MongoDB protocol, in `make test-long`: it is slow, and has to be built.

mod clients;
mod collections;
mod owners;

use lacuna_cache::mongodb::{Cache, Collection, DomainType, Options, Schema, WriteError};
use lacuna_testkit::effort;
use lacuna_testkit::servers::FerretDb;

/// A server for a long test.
fn server() -> Option<FerretDb> {
    if effort::is_long() { FerretDb::start() } else { None }
}

fn options(url: &str) -> Options {
    Options::new(url)
}

/// Whether a write was done. On a busy machine it may take longer than the cache waits: then the caller writes again.
fn is_done(written: Result<(), WriteError>) -> bool {
    let is_too_slow = matches!(written, Err(WriteError::NotDone(_) | WriteError::Unknown));
    if !is_too_slow {
        written.unwrap();
    }
    !is_too_slow
}

async fn people(url: &str) -> (Cache, Collection) {
    let cache = options(url).open().await.unwrap();
    let people =
        cache.collection(Schema::new("people").with_domain("age", DomainType::Integer)).await.unwrap();
    (cache, people)
}
