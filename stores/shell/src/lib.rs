//! Runs the owners of a range cache: a thin shell with I/O around a state machine without any.
//!
//! `lacuna-cache-protocol` says what to do; this crate does it, on tokio, over whatever stands behind the ports of [`Servers`].
//!
//! - [`RangeCache`]: reads and writes of one range; a hit asks the cache server only;
//! - [`Dendrite`]: many ranges of one collection, among other dendrites that own the rest;
//! - `seat/`: the task that gives an owner its events, and claims the next tenure when one ends;
//! - `carry.rs`: takes calls to servers and brings replies back;
//! - [`BulkLease`]: a lease on everything, for loads past the cache;
//! - [`Alarm`]: for whoever finds out that somebody writes past the cache;
//! - [`Compressed`]: a cache server whose values are compressed where that makes them smaller;
//! - [`Hashed`]: several cache servers that share the results of every range;
//! - [`FileLog`]: a log of buffered writes on disk, with one `fsync` for all that wait.
//!
//! Guarantee: that of the owner, as each call is carried out at most once and never cancelled half-way. Where no cache
//! server answers, requests go on against the store, still through the owner.

mod alarm;
mod bulk;
mod cache;
mod carry;
mod compressed;
mod counters;
mod dendrite;
mod desk;
mod error;
mod file_log;
mod hashed;
mod neighbours;
mod requests;
mod route;
mod sample;
mod seat;
mod servers;
mod write_bytes;

pub use alarm::Alarm;
pub use bulk::{BulkEnd, BulkLease, bulk_lease};
pub use cache::RangeCache;
pub use compressed::Compressed;
pub use counters::Counts;
pub use dendrite::{Answer, Around, Dendrite, Reach};
pub use error::WriteError;
pub use file_log::FileLog;
pub use hashed::Hashed;
pub use neighbours::{Neighbours, Written};
pub use requests::Requests;
pub use servers::Servers;
pub use write_bytes::{read_write, write_write};
