//! Owners of ranges at work: the task of each, the way to it, and what it asks of servers.
//!
//! | file | idea |
//! | --- | --- |
//! | `range_cache.rs`, `requests.rs` | the cache of one range, as clients use it; whoever answers requests |
//! | `desk.rs`, `seat/` | the way to an owner; the task that gives it its events and claims the next tenure when one ends |
//! | `carry.rs`, `servers.rs` | takes calls to servers and brings replies back |
//! | `route.rs`, `sample.rs` | where hits are looked up, and which of them are looked at once more |
//! | `bulk.rs`, `alarm.rs` | a lease on everything; how owners hear of writes past the cache |
//! | `counters.rs`, `error.rs` | what has happened; how a write can fail |

pub(crate) mod alarm;
pub(crate) mod bulk;
pub(crate) mod carry;
pub(crate) mod counters;
pub(crate) mod error;
pub(crate) mod owner_handle;
pub(crate) mod owner_task;
pub(crate) mod range_cache;
pub(crate) mod requests;
pub(crate) mod route;
pub(crate) mod sample;
pub(crate) mod servers;

pub use alarm::Alarm;
pub use bulk::BulkLease;
pub(crate) use bulk::{BulkEnd, bulk_lease};
pub use counters::Counts;
pub use error::WriteError;
pub use range_cache::RangeCache;
pub use requests::{Requests, Written};
pub use servers::Servers;
