//! Key sets, query workloads and key files for testing and comparing range filters.
//!
//! A measurement of a filter needs three things: keys, queries whose true answer is known, and the certainty that
//! the next machine gets the same ones. Everything here follows from a text such as `uniform:1M` or
//! `correlated:10k:1-32:32` and a seed; only integer arithmetic reaches a key or a query, so every machine agrees.
//!
//! ```
//! use lacuna_workload::{KeySource, QuerySource, ReadOptions, count_empty};
//!
//! let keys = KeySource::parse("uniform:10k")?.load(&ReadOptions::default(), 1, &mut |_| {})?;
//! let workload = QuerySource::parse("correlated:1k:1-32:1k")?.workload(keys, 1)?;
//! assert_eq!(workload.inserted.len(), 10_000);
//! assert_eq!(count_empty(&workload.inserted, &workload.queries), 1_000);
//! # Ok::<(), lacuna_workload::Error>(())
//! ```
//!
//! * Keys: [`Keys`], [`ByteColumn`], made by a [`KeySource`] or read by [`read_keys`] as a [`KeyType`].
//! * Queries: [`Queries`], [`ByteQueries`], drawn by a [`QuerySource`] into a [`Workload`], or read by [`QueryLines`];
//!   a [`QueryInput`] is either.
//! * Ranges from a text: [`end_in_last_place`], [`end_before_next_key`].
//! * Truth: [`is_empty`], [`is_empty_bytes`], [`count_empty`] ask the sorted keys themselves.
//! * Real data: [`real_sets`] lists eight public key sets, or generated twins where the files are absent.
//! * Repetition: [`ZipfPool`] asks a few queries often, as real users do.

#![warn(missing_docs)]

mod columns;
mod draw;
mod generate;
mod key_file;
mod key_source;
mod key_text;
mod keys;
mod numbers;
mod oracle;
mod queries;
mod query_file;
mod query_input;
mod query_source;
mod real;
mod rng;
mod text_ranges;
mod zipf;

pub use columns::to_be_bytes;
pub use draw::Workload;
pub use key_file::columns::FirstRow;
pub use key_file::{ReadOptions, read_keys};
pub use key_source::{KeyShape, KeySource};
pub use key_text::{Key, parse_key, parse_range};
pub use keys::{Keys, TypedKeys};
pub use lacuna_base::{ByteColumn, Error, ErrorKind, KeyType, Result, TimeUnit};
pub use numbers::{Lengths, parse_count};
pub use oracle::{count_bytes, count_empty, is_empty, is_empty_bytes};
pub use queries::{ByteQueries, Queries};
pub use query_file::{QueryLine, QueryLines, parse_query_file};
pub use query_input::QueryInput;
pub use query_source::{Kept, QueryShape, QuerySource, Want};
pub use real::{RealSet, real_sets};
pub use rng::Rng;
pub use text_ranges::{end_before_next_key, end_in_last_place};
pub use zipf::{ZipfPool, ZipfRanks};
