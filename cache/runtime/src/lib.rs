//! A strongly consistent cache of range results, in front of stores of many kinds.
//!
//! `lacuna-cache-protocol` is the protocol of an owner of a range; this crate runs it, on tokio, with the
//! implementations of the ports in [`Servers`].
//!
//! | module | feature | what it is |
//! | --- | --- | --- |
//! | `sql` | `sqlite`, `postgres`, `mariadb` | tables of SQL databases: what most users open |
//! | `redis` | `redis` | cache servers and logs of buffered writes |
//! | `cluster` | `cluster` | several processes over one store, and their clients |
//! | `etcd` | `etcd` | ranges leased through etcd |
//! | `mongodb` | `mongodb` | experimental: collections of databases that speak the MongoDB protocol |
//!
//! The feature `tls` adds TLS to Redis, PostgreSQL and MariaDB, `zlib` a second way to compress results.
//!
//! Without any feature there are
//!
//! - [`RangeCache`]: reads and writes of one range; a hit asks the cache server only;
//! - [`Alarm`]: for code that notices a foreign write past the cache;
//! - [`Compressed`]: a cache server whose values are compressed if that makes them smaller;
//! - [`Hashed`]: several cache servers that share the results of every range;
//! - [`FileLog`]: a log of buffered writes on disk, with one `fsync` for all waiting writes.
//!
//! Guarantee: that of the owner, as each call is executed at most once and never cancelled half-way. If no cache
//! server answers, requests go on against the store, still through the owner.

#![cfg_attr(
    not(all(
        feature = "sqlite",
        feature = "postgres",
        feature = "mariadb",
        feature = "redis",
        feature = "etcd",
        feature = "cluster",
        feature = "mongodb"
    )),
    allow(dead_code, unused_imports, reason = "what only a feature needs that is off")
)]

#[cfg(feature = "cluster")]
pub mod cluster;
mod compressed;
#[cfg(feature = "etcd")]
pub mod etcd;
mod file_log;
mod hashed;
#[cfg(feature = "mongodb")]
pub mod mongodb;
mod owner;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mariadb"))]
pub mod sql;
#[cfg(any(feature = "etcd", all(feature = "redis", feature = "tls")))]
mod tls;
mod write_bytes;

pub use compressed::Compressed;
pub use file_log::FileLog;
pub use hashed::Hashed;
pub use lacuna_cache_protocol::{Error, ErrorKind, Result};
pub use owner::{Alarm, Counts, RangeCache, RangeGauges, Requests, Servers, WriteError};

/// What tests need; not part of the library's promises.
#[doc(hidden)]
pub mod testing {
    pub use crate::owner::{OpenLease, Written};
}
