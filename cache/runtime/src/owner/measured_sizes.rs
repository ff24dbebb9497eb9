//! How long lookups and store queries take, by the size of the result, where that decides which results are cached.
//!
//! A quarter of the lookups of clients is timed, and every query of the store, in nanoseconds: a cache in memory answers in less
//! than a microsecond, and a database in less than a millisecond. The owner learns once a second what is worth caching.
//!
//! Cost: nothing that can be measured where it is off; two looks at the clock and a lock for what is timed.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lacuna_cache_protocol::SizeThreshold;

use crate::owner::sample::Sample;

/// The share of lookups that are timed.
const TIMED_PERCENT: u8 = 25;

/// The times of a range.
#[derive(Debug)]
pub(crate) struct MeasuredSizes {
    timed: Sample,
    times: Mutex<SizeThreshold>,
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl MeasuredSizes {
    /// Without `is_on`, nothing is timed.
    pub(crate) fn new(is_on: bool) -> Self {
        let timed = Sample::default();
        timed.set(if is_on { TIMED_PERCENT } else { 0 });
        Self { timed, times: Mutex::new(SizeThreshold::new()) }
    }

    fn times(&self) -> MutexGuard<'_, SizeThreshold> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When a lookup begins; `None` if it is not timed.
    pub(crate) fn lookup_begins(&self) -> Option<Instant> {
        self.timed.takes_next().then(Instant::now)
    }

    /// The same of a store query.
    pub(crate) fn query_begins(&self) -> Option<Instant> {
        self.timed.takes_any().then(Instant::now)
    }

    /// A lookup found a value of `bytes` bytes.
    pub(crate) fn found(&self, bytes: usize, took: Duration) {
        self.times().found(bytes, nanos(took));
    }

    /// The store answered with `bytes` bytes.
    pub(crate) fn stored(&self, bytes: usize, took: Duration) {
        self.times().stored(bytes, nanos(took));
    }

    /// The largest result that is worth caching; `None` if that is not measured.
    pub(crate) fn largest(&self) -> Option<usize> {
        self.timed.takes_any().then(|| self.times().largest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is worth caching after lookups and queries of 1,000 bytes that took these microseconds.
    fn largest(lookup: u64, query: u64) -> Option<usize> {
        let sizes = MeasuredSizes::new(true);
        for _ in 0..100 {
            sizes.found(1_000, Duration::from_micros(lookup));
            sizes.stored(1_000, Duration::from_micros(query));
        }
        sizes.largest()
    }

    #[test]
    fn times_below_a_millisecond_are_told_apart() {
        assert_eq!(largest(90, 300), Some(usize::MAX));
        assert!(largest(300, 90).is_some_and(|largest| largest < 1_000));
        assert_eq!(largest(90, 90), Some(usize::MAX), "as fast from the cache spares the store a query");
    }

    #[test]
    fn nothing_is_timed_where_it_is_off() {
        let off = MeasuredSizes::new(false);
        assert!(off.lookup_begins().is_none() && off.query_begins().is_none() && off.largest().is_none());
        let on = MeasuredSizes::new(true);
        let timed = (0..1_000).filter(|_| on.lookup_begins().is_some()).count();
        assert!((200..300).contains(&timed), "{timed} of 1,000 lookups");
        assert!(on.query_begins().is_some());
    }
}
