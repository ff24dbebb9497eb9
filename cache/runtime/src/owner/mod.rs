//! Running owners of ranges: the task of each, the handle to it, and its calls to servers.
//!
//! | file | idea |
//! | --- | --- |
//! | `range_cache.rs`, `requests.rs` | the cache of one range, as clients use it; the trait of everything that
//! answers requests |
//! | `owner_handle.rs`, `owner_task/` | the handle to an owner; the task that passes events to it and claims the
//! next tenure when one ends |
//! | `carry.rs`, `servers.rs` | carries calls to servers and replies back |
//! | `route.rs`, `sample.rs` | where hits are looked up, and which of them are verified |
//! | `measured_sizes.rs` | which results are too large to be worth caching |
//! | `open_lease.rs`, `alarm.rs` | a lease that a caller holds; how owners learn of foreign writes past the cache |
//! | `counters.rs`, `slow.rs`, `error.rs` | counters; requests that take long; how a write can fail |

pub(crate) mod alarm;
pub(crate) mod carry;
pub(crate) mod counters;
pub(crate) mod error;
pub(crate) mod gauges;
pub(crate) mod measured_sizes;
pub(crate) mod open_lease;
pub(crate) mod owner_handle;
pub(crate) mod owner_task;
pub(crate) mod range_cache;
pub(crate) mod requests;
pub(crate) mod route;
pub(crate) mod sample;
pub(crate) mod servers;
pub(crate) mod slow;

pub use alarm::Alarm;
pub use counters::Counts;
pub use error::WriteError;
pub use gauges::RangeGauges;
pub use open_lease::OpenLease;
pub(crate) use open_lease::{LeaseEnd, open_lease};
pub use range_cache::RangeCache;
pub use requests::{Requests, Written};
pub use servers::Servers;
