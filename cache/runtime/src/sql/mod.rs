//! A strongly consistent cache of range results for tables of SQL databases.
//!
//! ```
//! use lacuna_cache::sql::{DomainType, Schema};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cache = lacuna_cache::sql::open("sqlite::memory:").await?;
//! cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)").await?;
//! let people = cache.table(Schema::new("people", "id").with_domain("age", DomainType::Integer)).await?;
//! people.insert([("id", 1.into()), ("name", "Anna".into()), ("age", 20.into())]).await?;
//! assert_eq!(people.get("age", 18..=22).await?.len(), 1);
//!
//! // The same again asks only the cache; an empty range asks it too.
//! let asked = cache.counts().store_queries;
//! people.get("age", 18..=22).await?;
//! assert_eq!(cache.counts().store_queries, asked);
//! # Ok(())
//! # }
//! ```
//!
//! | file | idea |
//! | --- | --- |
//! | `cache.rs`, `options.rs` | opening a database with a cache in front of it |
//! | `table/` | a table as its users see it: reads by range, writes with known touched values |
//! | `asking/` | statements of the application over a range: what is recognised, and what is refused |
//! | `registry.rs` | the tables of a cache, which statements may join |
//! | `schema.rs`, `select.rs`, `superset.rs` | which columns, and the SQL of a range |
//! | `sql_value.rs`, `rows.rs`, `statement.rs` | values, results and writes, and their bytes |
//! | `decimal.rs`, `calendar.rs` | decimals, days and moments as text |
//! | `application.rs`, `row_patch.rs`, `settling.rs` | the effect of a write on a cached result |
//! | `certainty.rs`, `facts.rs` | which writes the database cannot refuse, so that write-back may acknowledge them |
//! | `fenced/` | the port: every write checks the fence of its range, in its statement or its transaction |
//! | `several.rs`, `shared_ranges.rs`, `members.rs`, `numbers.rs` | tables whose ranges several processes share |
//! | `own_tables.rs` | makes the tables that the cache needs, where it may, and finds a second set of them |
//! | `table_lease.rs`, `whole/` | which process may cache a table of a database server, and never while dendrites
//! own its ranges |
//! | `file_tenures.rs` | tenures of the tables of a file, which the file remembers |
//! | `table_claim.rs` | the same right for a cache that this library did not make |
//! | `watchdog/` | finds foreign writes past the cache in the log of a database server |
//! | `database/` | differences between databases, and what their catalogues say of a table |
//!
//! Guarantee: a read returns the state after the last acknowledged write, as long as all writes to a registered
//! table go through the cache. Text is compared by its bytes. NULL is in no range. Moments are UTC, also in
//! columns without a time zone. A column whose order here would not be the database's is refused when the table is
//! registered ([`docs/design/range-cache-sql-types.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/range-cache-sql-types.md)).

mod application;
mod asking;
mod cache;
mod calendar;
mod certainty;
mod database;
mod decimal;
mod domain_key;
mod facts;
mod fenced;
mod file_lock;
mod file_tenures;
mod fusing;
#[cfg(feature = "cluster")]
mod members;
#[cfg(feature = "cluster")]
mod numbers;
mod options;
mod own_tables;
#[cfg(test)]
mod plans;
mod registry;
mod row_patch;
mod rows;
mod schema;
mod select;
mod settling;
#[cfg(feature = "cluster")]
mod several;
#[cfg(feature = "cluster")]
mod shared_ranges;
#[cfg(test)]
mod sights;
mod sql_value;
mod statement;
mod superset;
mod table;
mod table_claim;
mod table_lease;
#[cfg_attr(
    not(all(feature = "postgres", feature = "mariadb")),
    allow(dead_code, reason = "the driver of a log is not built")
)]
mod watchdog;
mod watched;
mod whole;

pub use crate::{Compressed, Counts, Hashed, RangeGauges, WriteError};
pub use asking::Answer;
#[doc(hidden)]
pub use asking::check_chains;
pub use cache::{Cache, open};
pub use lacuna_base::Date;
pub use lacuna_cache_protocol::{DomainType, DomainValue, Notice, Policy, WriteSet};
pub use lacuna_cache_protocol::{Error, ErrorKind, Result};
pub use options::Options;
pub use rows::{Row, Rows};
pub use schema::Schema;
#[cfg(feature = "cluster")]
pub use several::shared_name;
#[cfg(feature = "cluster")]
pub use shared_ranges::SharedRanges;
pub use sql_value::SqlValue;
pub use statement::Statement;
pub use table::{BulkLoad, Condition, QueryLog, Table, Transaction, TransactionBuilder};
pub use table_claim::{TableClaim, TableClaims};
