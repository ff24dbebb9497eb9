//! RangeQC: a strongly consistent cache of range results, as a state machine without I/O.

mod buffered_writes;
mod cache_server;
mod config;
mod domain;
mod gaps;
mod interval;
mod lease_table;
mod log;
mod message;
mod owner;
mod predicate_index;
mod query;
mod range_key;
mod tree;

pub use buffered_writes::{BufferedWrite, BufferedWrites};
pub use cache_server::{CacheServer, RangeId};
#[doc(hidden)]
pub use config::Flaw;
pub use config::{Application, Config, Policy};
pub use domain::{DomainType, DomainValue};
pub use gaps::Gaps;
pub use interval::{Cut, Interval};
pub use lease_table::{Claim, LeaseId, LeaseMode, LeaseTable};
pub use log::{LogRecord, compact, read_chunk, replay, write_chunk};
pub use message::{
    Action, CacheCall, CacheReply, CallId, Command, Ending, Epoch, Event, LogCall, LogReply, Notice,
    ReadOutcome, RequestId, Rows, Session, StoreCall, StoreReply, StoreState, Value, Write, WriteOutcome,
};
pub use owner::Owner;
pub use predicate_index::PredicateIndex;
pub use query::{DomainId, Form, Query, Touched};
pub use range_key::RangeKey;
pub use tree::{Covering, Entries, Entry, Everything, IntervalTree, Matches, Overlapping, Probe};
