//! Lacuna knows where the gaps in data are, so that nobody pays for reading one.
//!
//! A range query opens every sorted file whose smallest and largest key surround it, and most of those files hold
//! nothing in the range. A range filter of a dozen bits a key says so without reading the file. Its "no" is always true.
//!
//! ```
//! use lacuna::{Budget, BuildPlan, SortedKeys, U64Range};
//!
//! // The keys of a file, and a filter of 14 bits for each.
//! let keys: Vec<u64> = (1..=1_000).map(|i| i * i * 1_000_000_007).collect();
//! let plan = BuildPlan::new(Budget::bits_per_key(14.0)?).with_seed(2_026);
//! let sealed = lacuna::spec::<u64>("grafite")?.build(SortedKeys::integers(&keys)?, &plan)?;
//!
//! // The bytes go beside the file; wherever they are read, they are asked in place.
//! let filter = lacuna::open::<u64, _>(sealed.into_bytes())?;
//! let range = |lo, hi| U64Range::new(lo, hi).expect("not inverted");
//! assert!(filter.may_contain_range(range(keys[10] - 5, keys[10] + 5)));
//! assert!(!filter.may_contain_range(range(1, 500)));
//! # Ok::<(), lacuna::Error>(())
//! ```
//!
//! The pieces, each a crate of its own: `lacuna-base` (keys, ranges, traits, bytes), [`filters`] (the families),
//! [`guard`] (what an engine adapter needs) and, with the features `slatedb` and `rocksdb`, the adapters that put a filter
//! into every SSTable of a stock SlateDB or RocksDB. Both are off unless asked for; `rocksdb` compiles C++. With feature
//! `cache-sqlite`, `cache::open("sqlite:app.db")` puts a strongly consistent cache of range results before tables of SQLite.

pub use lacuna_base::*;
pub use lacuna_families as filters;
pub use lacuna_families::{FAMILIES, open, open_verified, spec};
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
/// let people = cache.table(Schema::new("people", "id").domain("age", DomainType::Integer)).await?;
/// people.insert([("id", 1.into()), ("name", "Anna".into()), ("age", 20.into())]).await?;
/// assert_eq!(people.get("age", 18..=22).await?[0].text("name"), Some("Anna"));
/// # cache.stop().await?;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "cache-sqlite")]
pub mod cache {
    pub use lacuna_cache::sql::*;
}

#[cfg(feature = "rocksdb")]
pub use lacuna_rocksdb as rocksdb;

#[cfg(feature = "slatedb")]
pub use lacuna_slatedb as slatedb;
