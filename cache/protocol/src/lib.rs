//! RangeQC: a strongly consistent cache of range results, as a state machine without I/O.
//!
//! Results of range queries are kept in cache servers, and every confirmed write is seen by every later read, whatever
//! crashes, stalls or gets lost on the way. The parts, from the bottom:
//!
//! - [`DomainType`], [`RangeKey`], [`WriteSet`]: values of a column as bytes in the order of the store;
//! - [`Cut`], [`Interval`], [`IntervalTree`]: intervals with any kind of end, and which of a million overlap a
//!   given one;
//! - [`LeaseTable`] (`LeMInT`), [`PredicateIndex`] (`PrInT`), [`BufferedWrites`] (`BuWrInT`), [`Gaps`]: what the
//!   owner of a range knows;
//! - [`LogRecord`]: how the next owner learns it;
//! - [`Owner`]: the protocol under write-around, write-through and write-back, events in, actions out;
//! - [`CacheModel`]: the scripts of a cache server, as a model;
//! - [`ports`], [`embedded`]: what a driver needs from its environment, and the implementations that need no
//!   server;
//! - [`RangeTable`], [`LoadMeter`], [`spread`], [`recut`]: which owner has which range, and when ranges are cut
//!   anew;
//! - [`AutoBeta`], [`SizeThreshold`], [`Selectivity`]: what is measured instead of fixed.
//!
//! The driver of an [`Owner`] carries its calls to servers and their replies back; time and numbers come in as
//! arguments, so that a simulation can drive many owners from one seed. [`docs/design/range-cache-protocol.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/range-cache-protocol.md)
//! explains the protocol and where it differs from the report.
//!
//! Ghandeharizadeh, Alabdulkarim, Nguyen, "RangeQC: A Framework for Caching Range Predicate Query Results", USC
//! Database Laboratory Technical Report 2018-03.
//!
//! ```
//! use lacuna_cache_protocol::{
//!     Action, Application, Command, Config, Epoch, Event, Interval, Owner, Policy, Query, RequestId, Value,
//! };
//!
//! /// An application whose entries are deleted by every write that touches them.
//! #[derive(Debug)]
//! struct Simple;
//! impl Application for Simple {
//!     fn empty(&self, _: &Query) -> Value {
//!         Value::new(b"")
//!     }
//! }
//!
//! let mut owner = Owner::new(Config::new(Policy::WriteAround), Simple, Epoch(1));
//! let ages = Interval::closed(18.into(), 22.into()).expect("18 <= 22");
//! assert!(owner.handle(0, Event::Read(RequestId(7), Query::all(0, ages))).is_empty());
//! // It first makes sure that no other owner acts for the range: the cache server must refuse older epochs.
//! assert!(matches!(owner.handle(1, Event::Tick)[..], [Action::Cache(_, Epoch(1), _)]));
//! ```

mod auto_beta;
mod balance;
mod buffered_writes;
mod cache_model;
mod call;
mod combine;
mod config;
mod domain;
pub mod embedded;
mod error;
mod gaps;
mod interval;
mod known_entries;
mod known_rows;
mod lease_table;
mod load_survey;
mod log;
mod message;
mod owner;
pub mod ports;
mod predicate_index;
mod query;
mod range_key;
mod range_table;
mod size_threshold;
mod tree;
mod write_set;

pub use auto_beta::AutoBeta;
pub use balance::{LoadMeter, RangeLoad, Recut, recut, spread};
pub use buffered_writes::{BufferedWrite, BufferedWrites};
pub use cache_model::{CacheModel, RangeId};
pub use call::{
    CacheCall, CacheReply, Change, Edit, Edited, LogCall, LogReply, Piece, Rows, StoreCall, StoreReply,
    StoreState,
};
pub use combine::{Selectivity, prefetch_histogram, prefetch_log, union};
#[cfg(feature = "flaws")]
#[doc(hidden)]
pub use config::Flaw;
pub use config::{About, Addition, Application, Config, Fact, Patch, Policy};
pub use domain::{DomainType, DomainValue};
pub use error::{Error, ErrorKind, Result};
pub use gaps::Gaps;
pub use interval::{Cut, Interval};
pub use known_entries::EntryReader;
pub use lease_table::{Claim, LeaseId, LeaseMode, LeaseTable};
pub use load_survey::{Advice, LoadSurvey};
pub use log::{LOG_CHUNKS, LogRecord, compact, read_chunk, replay, write_chunk};
pub use message::{
    Action, CallId, Command, Ending, Epoch, Event, Notice, PeerCall, PeerId, PeerReply, ReadOutcome,
    RequestId, Session, Value, Write, WriteOutcome,
};
pub use owner::Owner;
pub use predicate_index::PredicateIndex;
pub use query::{DomainId, Form, Query, Stamps, Touched};
pub use range_key::RangeKey;
pub use range_table::RangeTable;
pub use size_threshold::SizeThreshold;
pub use tree::{Covering, Entries, Entry, Everything, IntervalTree, Matches, Overlapping, Probe};
pub use write_set::WriteSet;
