//! Recent queries that found nothing: a fixed ring that never makes a query wait.
//!
//! A designer that knows which empty queries are common builds better filters. The queue sees every such query, takes
//! one in a hundred, and forgets the oldest of twenty thousand. Which ones it takes follows from a counter alone: in
//! each run of a hundred queries exactly one, at a place that a hash of the run's number picks, so that a workload
//! that repeats every hundred queries is not always caught at the same one.
//!
//! The ends of a query come from a caller, who may have them from anywhere: one with an end above 1 KiB is left out and
//! counted as dropped, so that the ring takes at most 40 MiB.
//!
//! A query that is not taken costs one relaxed addition. A taken one copies its two ends; if another thread holds the
//! ring at that moment, the query is dropped and counted. No query ever waits. (Sampling as in Proteus, SIGMOD 2022,
//! section 6.1: 20,000 queries, one in 100.)

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lacuna_base::hash::{IntegerHasher, reduce};
use lacuna_base::{KeyRange, KeySpace, Sample};

use crate::sample_bytes::SampleKey;

/// Most bytes of an end that is kept, far more than most keys have.
const MAX_END_BYTES: usize = 1 << 10;

type OwnedQuery<K> = (<K as KeySpace>::Owned, <K as KeySpace>::Owned);

/// A ring of closed queries over the key space `K`.
pub(crate) struct SampleQueue<K: KeySpace + ?Sized> {
    seen: AtomicU64,
    dropped: AtomicU64,
    every: u64,
    capacity: usize,
    ring: Mutex<VecDeque<OwnedQuery<K>>>,
}

impl<K: SampleKey + ?Sized> SampleQueue<K> {
    /// Queries kept, if nothing else is asked for.
    pub(crate) const CAPACITY: usize = 20_000;
    /// One query in this many is kept, if nothing else is asked for.
    pub(crate) const EVERY: u64 = 100;

    /// A queue of 20,000 queries, one in 100 taken.
    pub(crate) fn new() -> Self {
        Self::with_capacity(Self::CAPACITY, Self::EVERY)
    }

    /// A queue of `capacity` queries, one in `every` taken; zero counts as one. Takes the memory of at most
    /// 20,000 now, except that of byte strings.
    pub(crate) fn with_capacity(capacity: usize, every: u64) -> Self {
        let capacity = capacity.max(1);
        Self {
            seen: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            every: every.max(1),
            capacity,
            ring: Mutex::new(VecDeque::with_capacity(capacity.min(Self::CAPACITY))),
        }
    }

    /// Notes a query that found nothing, if it is its turn. Ranges without an upper end are left out.
    #[cfg(test)]
    fn record(&self, range: KeyRange<'_, K>) {
        if self.takes_next() {
            self.take(range);
        }
    }

    /// Counts a query and says whether it is the one of its run to take; then [`take`](Self::take) it.
    #[inline]
    pub(crate) fn takes_next(&self) -> bool {
        let number = self.seen.fetch_add(1, Relaxed);
        let (run, place) = (number / self.every, number % self.every);
        place == reduce(IntegerHasher::new(0).hash(run), self.every)
    }

    /// Puts a query into the ring; drops it if the ring is held by another thread, or an end is long.
    pub(crate) fn take(&self, range: KeyRange<'_, K>) {
        let (lo, Some(hi)) = K::ends(range) else { return };
        if is_long::<K>(lo, hi) {
            self.dropped.fetch_add(1, Relaxed);
            return;
        }
        let query = (K::to_owned(lo), K::to_owned(hi));
        match self.ring.try_lock() {
            Ok(mut ring) => self.put(&mut ring, query),
            Err(_) => {
                self.dropped.fetch_add(1, Relaxed);
            }
        }
    }

    /// Puts all queries of `sample` into the ring, without thinning; the newest stay.
    pub(crate) fn seed(&self, sample: &Sample<K>) {
        let mut ring = self.wait_for_ring();
        for (lo, hi) in sample.iter().filter(|&(lo, hi)| !is_long::<K>(lo, hi)) {
            self.put(&mut ring, (K::to_owned(lo), K::to_owned(hi)));
        }
    }

    /// A copy of the queries in the ring, oldest first. Waits for the ring: for builders, not for queries.
    pub(crate) fn snapshot(&self) -> Sample<K> {
        let mut sample = Sample::new();
        for (lo, hi) in self.wait_for_ring().iter() {
            sample.push(K::borrow(lo), K::borrow(hi));
        }
        sample
    }

    /// Queries in the ring. Waits for the ring.
    pub(crate) fn len(&self) -> usize {
        self.wait_for_ring().len()
    }

    /// Queries seen, taken or not.
    #[cfg(test)]
    fn seen(&self) -> u64 {
        self.seen.load(Relaxed)
    }

    /// Queries that were to be taken but found the ring held, or have a long end.
    #[cfg(test)]
    fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    fn put(&self, ring: &mut VecDeque<OwnedQuery<K>>, query: OwnedQuery<K>) {
        if ring.len() == self.capacity {
            ring.pop_front();
        }
        ring.push_back(query);
    }

    fn wait_for_ring(&self) -> MutexGuard<'_, VecDeque<OwnedQuery<K>>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_long<K: SampleKey + ?Sized>(lo: K::Ref<'_>, hi: K::Ref<'_>) -> bool {
    K::end_bytes(lo).max(K::end_bytes(hi)) > MAX_END_BYTES
}

impl<K: SampleKey + ?Sized> Default for SampleQueue<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: KeySpace + ?Sized> fmt::Debug for SampleQueue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { every, capacity, .. } = self;
        f.debug_struct("SampleQueue")
            .field("capacity", capacity)
            .field("every", every)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use lacuna_base::{ByteRange, U64Range};

    use super::*;

    fn point(key: u64) -> U64Range {
        U64Range::point(key)
    }

    #[test]
    fn one_query_of_each_run_is_taken() {
        let queue = SampleQueue::<u64>::with_capacity(1_000, 100);
        for key in 0..10_000 {
            queue.record(point(key));
        }
        let taken: Vec<u64> = queue.snapshot().iter().map(|(lo, _)| lo / 100).collect();
        assert_eq!(taken, (0..100).collect::<Vec<_>>());
        assert_eq!((queue.seen(), queue.dropped()), (10_000, 0));
    }

    #[test]
    fn the_choice_is_repeatable_and_not_periodic() {
        let taken = || {
            let queue = SampleQueue::<u64>::new();
            (0..10_000).for_each(|key| queue.record(point(key)));
            queue.snapshot().iter().map(|(lo, _)| lo).collect::<Vec<_>>()
        };
        assert_eq!(taken(), taken());
        let mut places: Vec<u64> = taken().iter().map(|key| key % 100).collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() > 50, "{places:?}");
    }

    #[test]
    fn the_oldest_query_makes_room() {
        let queue = SampleQueue::<u64>::with_capacity(3, 1);
        (0..10).for_each(|key| queue.record(point(key)));
        assert_eq!(queue.snapshot().iter().map(|(lo, _)| lo).collect::<Vec<_>>(), [7, 8, 9]);
    }

    #[test]
    fn a_held_ring_drops_the_query() {
        let queue = SampleQueue::<u64>::with_capacity(3, 1);
        let held = queue.ring.lock().unwrap();
        queue.record(point(1));
        drop(held);
        queue.record(point(2));
        assert_eq!((queue.snapshot().len(), queue.dropped()), (1, 1));
    }

    #[test]
    fn open_ended_strings_are_left_out() {
        let queue = SampleQueue::<[u8]>::with_capacity(3, 1);
        queue.record(
            ByteRange::from_bounds(std::ops::Bound::Included(b"a"), std::ops::Bound::Unbounded).unwrap(),
        );
        queue.record(ByteRange::new(b"a", b"b").unwrap());
        assert_eq!(queue.snapshot().iter().collect::<Vec<_>>(), [(&b"a"[..], &b"b"[..])]);
    }

    #[test]
    fn threads_lose_nothing_but_what_is_counted() {
        let queue = SampleQueue::<u64>::with_capacity(100_000, 1);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let queue = &queue;
                scope.spawn(move || (0..5_000).for_each(|key| queue.record(point(thread * 5_000 + key))));
            }
        });
        assert_eq!(queue.snapshot().len() as u64 + queue.dropped(), 20_000);
    }

    #[test]
    fn a_seeded_queue_holds_the_newest() {
        let mut sample = Sample::<u64>::new();
        (0..5).for_each(|key| sample.push(key, key + 1));
        let queue = SampleQueue::with_capacity(2, 100);
        queue.seed(&sample);
        assert_eq!(queue.snapshot().iter().collect::<Vec<_>>(), [(3, 4), (4, 5)]);
    }

    #[test]
    fn the_newest_queries_stay() {
        let queue = SampleQueue::<u64>::with_capacity(2, 1);
        for lo in 0..3 {
            queue.record(U64Range::new(lo, lo + 9).expect("lo is the smaller end"));
        }
        assert_eq!(queue.snapshot().iter().collect::<Vec<_>>(), [(1, 10), (2, 11)]);
    }
}
