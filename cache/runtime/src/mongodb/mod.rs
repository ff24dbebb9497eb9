//! Experimental: a strongly consistent cache of range results for collections of databases that speak the MongoDB protocol.
//!
//! ```no_run
//! use lacuna_cache::mongodb::{DomainType, Schema, doc};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cache = lacuna_cache::mongodb::open("mongodb://127.0.0.1:27017/app").await?;
//! let people = cache.collection(Schema::new("people").with_domain("age", DomainType::Integer)).await?;
//! people.insert(doc! { "_id": 1, "name": "Anna", "age": 20 }).await?;
//! assert_eq!(people.get("age", 18..=22).await?.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! | file | idea |
//! | --- | --- |
//! | `cache.rs`, `collection.rs` | opening a database; documents by range, and writes with known touched values |
//! | `schema.rs`, `domain_key.rs` | which fields, and values as keys of domains |
//! | `write.rs`, `documents.rs`, `application.rs` | writes, results, and the effect of a write on a result |
//! | `store.rs`, `fence.rs` | the port: fences, as far as a store without transactions allows |
//! | `lease.rs`, `failure.rs` | which process may cache a collection; the meaning of errors |
//!
//! Guarantee: a read returns the state after the last acknowledged write, as long as all writes to a registered
//! collection go through the cache, **and no write of a replaced owner is delayed for longer than
//! [`Options::with_max_operation_ms`] between its check of the fence and the document**: without transactions the two
//! are not one step. Updates and deletions of documents that the new owner has written are refused however late
//! they are. [`docs/design/range-cache-mongodb.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/range-cache-mongodb.md) has the rest. Write-back is not offered.

mod application;
mod cache;
mod collection;
mod documents;
mod domain_key;
mod failure;
mod fence;
mod lease;
mod schema;
mod store;
mod write;

pub use crate::owner::{Counts, WriteError};
pub use cache::{Cache, Options, open};
pub use collection::Collection;
pub use lacuna_cache_protocol::{DomainType, Policy};
pub use lacuna_cache_protocol::{Error, ErrorKind, Result};
pub use mongodb::bson::{Bson, DateTime, Document, doc, oid::ObjectId};
pub use schema::Schema;
