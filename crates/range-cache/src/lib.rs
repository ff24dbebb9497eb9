//! RangeQC: a strongly consistent cache of range results, as a state machine without I/O.

mod domain;
mod interval;
mod range_key;
mod tree;

pub use domain::{DomainType, DomainValue};
pub use interval::{Cut, Interval};
pub use range_key::RangeKey;
pub use tree::{Covering, Entries, Entry, Everything, IntervalTree, Matches, Overlapping, Probe};
