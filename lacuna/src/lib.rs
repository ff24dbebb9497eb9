//! Lacuna knows where the gaps in data are, so that no read is spent on one.
//!
//! A range query opens every sorted file whose smallest and largest key surround it, and most of those files hold
//! nothing in the range. A range filter of a dozen bits a key says so without reading the file. Its "no" is always true.
//!
//! ```
//! // The keys of a file, and a filter of 14 bits for each.
//! let keys: Vec<u64> = (1..=1_000).map(|i| i * i * 1_000_000_007).collect();
//! let filter = lacuna::Filter::build(&keys, 14.0)?;
//! assert!(filter.may_contain_range(keys[10] - 5..=keys[10] + 5));
//! assert!(!filter.may_contain_range(1..=500));
//!
//! // The bytes go beside the file; wherever they are read, they are asked in place.
//! let filter = lacuna::open(filter.as_bytes().to_vec())?;
//! assert!(!filter.may_contain_range(1..=500));
//! # Ok::<(), lacuna::Error>(())
//! ```
//!
//! What there is:
//!
//! - [`Filter`], [`open`], [`open_verified`]: all that a program with sorted files of its own needs;
//! - [`Budget`], [`BuildPlan`], [`Sample`], [`filters`]: which filter, for which queries, in how much space;
//! - [`TypedKey`]: order-preserving maps from signed integers, floats, days and moments to `u64`; [`KeyType`] names
//!   them in a filter;
//! - [`RangeFilter`], [`SortedKeys`], [`U64Range`], [`ByteRange`]: the contract of all families, for code that is generic
//!   over filters, and for keys that are not to be copied;
//! - [`guard`]: what an adapter to a storage engine needs.
//!
//! And, each off unless asked for: with the features `slatedb` and `rocksdb` (which compiles C++) the adapters that put a
//! filter into every SSTable of a stock engine; with `cache`, `postgres` and `mariadb` a strongly
//! consistent cache of range results before a SQL database, with `redis`, `cluster` and `etcd` for several processes, `zlib` for
//! smaller results, `tls` for encrypted connections, and `mongodb` (experimental) for collections in place of tables.
//!
//! Setters are called `with_…`, take the value and give it back. Errors say by their [`ErrorKind`] what to do next.

mod bounds;
mod filter;
mod key;

pub use bounds::KeyBounds;
pub use filter::{Filter, open, open_verified};
pub use key::{AsKey, FilterKey};
pub use lacuna_base::{
    Budget, BuildPlan, ByteColumn, ByteRange, Date, DynFilter, Error, ErrorKind, KeyType, RangeFilter,
    Result, Sample, Sealed, Secret, SortedKeys, TimeUnit, Timestamp, TypedKey, U64Range,
};
pub use lacuna_families as filters;
pub use lacuna_families::spec;
pub use lacuna_guard as guard;

/// A strongly consistent cache of range results before tables of a SQL database.
///
/// ```
/// use lacuna::cache::{DomainType, Schema};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cache = lacuna::cache::open("sqlite::memory:").await?;
/// cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)").await?;
/// let people = cache.table(Schema::new("people", "id").with_domain("age", DomainType::Integer)).await?;
/// people.insert([("id", 1.into()), ("name", "Anna".into()), ("age", 20.into())]).await?;
/// assert_eq!(people.get("age", 18..=22).await?[0].text("name"), Some("Anna"));
/// # cache.stop().await?;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "cache")]
pub mod cache {
    #[cfg(feature = "cluster")]
    pub use lacuna_cache::cluster;
    #[cfg(feature = "etcd")]
    pub use lacuna_cache::etcd;
    #[cfg(feature = "mongodb")]
    pub use lacuna_cache::mongodb;
    #[cfg(feature = "redis")]
    pub use lacuna_cache::redis;
    pub use lacuna_cache::sql::*;
}

#[cfg(feature = "rocksdb")]
pub use lacuna_rocksdb as rocksdb;

#[cfg(feature = "slatedb")]
pub use lacuna_slatedb as slatedb;

/// The samples of the pages in the checkout, each compiled and run as an example of this crate.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct CrateReadme;

    #[doc = include_str!("../../docs/guide/sorted-files.md")]
    struct SortedFiles;

    #[doc = include_str!("../../docs/guide/choosing-a-filter.md")]
    struct ChoosingAFilter;

    #[doc = include_str!("../../docs/guide/operating-filters.md")]
    struct OperatingFilters;

    #[cfg(feature = "slatedb")]
    #[doc = include_str!("../../README.md")]
    struct Readme;

    #[cfg(feature = "slatedb")]
    #[doc = include_str!("../../docs/guide/slatedb.md")]
    struct SlateDb;

    #[cfg(feature = "rocksdb")]
    #[doc = include_str!("../../docs/guide/rocksdb.md")]
    struct RocksDb;

    #[cfg(all(feature = "redis", feature = "cluster", feature = "postgres", feature = "mongodb"))]
    #[doc = include_str!("../../docs/guide/range-cache.md")]
    struct RangeCache;
}
