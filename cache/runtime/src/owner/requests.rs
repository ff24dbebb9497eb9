//! The trait of everything that answers reads and writes: an owner here, a dendrite, or a client of dendrites.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::Reply;
use lacuna_cache_protocol::{DomainId, Interval, Notice, Query, RangeKey, Value, Write};
use tokio::sync::broadcast;

use crate::owner::counters::Counts;
use crate::owner::error::WriteError;
use crate::owner::open_lease::OpenLease;
use crate::owner::range_cache::RangeCache;

/// How long a request may take by default.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// How long an owner keeps a request that waits for its lease. Its caller waits for the answer to its last try for twice its
/// patience, and learns before that time is over that nothing was done.
pub(crate) fn request_timeout_ms(patience: Duration) -> u64 {
    u64::try_from(patience.as_millis()).unwrap_or(u64::MAX).saturating_mul(3) / 2
}

/// The outcome of a write.
pub type Written<'a> = Pin<Box<dyn Future<Output = Result<(), WriteError>> + Send + 'a>>;

/// Reads and writes, strongly consistent, wherever the owners are.
pub trait Requests: Debug + Send + Sync {
    /// The result of a query.
    ///
    /// # Errors
    /// `InvalidInput` if the store does not understand the query, `Unavailable` if there is no answer in time.
    fn read(&self, query: Query) -> Reply<'_, Value>;

    /// Executes a write. When it returns `Ok`, every later read sees it.
    fn write(&self, write: Write) -> Written<'_>;

    /// Results of several queries, all of one moment.
    ///
    /// # Errors
    /// As [`Requests::read`].
    fn read_all(&self, queries: Vec<Query>) -> Reply<'_, Vec<Value>>;

    /// A lease on what a write would touch, for a caller that reads and writes at the store directly, for at most
    /// `lasts` (and never more than two hours). The command only says whose numbers of domains these are. For
    /// tables and dendrites: nothing public can be done with the lease.
    ///
    /// # Errors
    /// `Unavailable` if it is not granted in time.
    #[doc(hidden)]
    fn hold(&self, held: Write, lasts: Duration) -> Reply<'_, OpenLease>;

    /// Intervals that together are a domain, each with one owner as far as this process knows.
    fn pieces(&self, domain: DomainId) -> Vec<Interval<RangeKey>> {
        let _ = domain;
        vec![Interval::all()]
    }

    /// Counters of this process since the start.
    fn counts(&self) -> Counts;

    /// Notices for the application, from now on, as far as they reach this process.
    fn notices(&self) -> broadcast::Receiver<Notice>;
}

impl Requests for RangeCache {
    fn read(&self, query: Query) -> Reply<'_, Value> {
        Box::pin(self.read(query))
    }

    fn write(&self, write: Write) -> Written<'_> {
        Box::pin(self.write(write))
    }

    fn read_all(&self, queries: Vec<Query>) -> Reply<'_, Vec<Value>> {
        Box::pin(self.read_all(queries))
    }

    fn hold(&self, held: Write, lasts: Duration) -> Reply<'_, OpenLease> {
        Box::pin(self.hold(held, lasts))
    }

    fn counts(&self) -> Counts {
        self.counts()
    }

    fn notices(&self) -> broadcast::Receiver<Notice> {
        self.notices()
    }
}
