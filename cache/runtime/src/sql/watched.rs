//! Counts that other processes increase while they live, watched by the local clock.

use std::collections::BTreeMap;

/// The last value of each count, and since when it has not moved.
#[derive(Debug)]
pub(crate) struct Watched<K>(BTreeMap<K, (i64, u64)>);

impl<K> Default for Watched<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord> Watched<K> {
    /// Milliseconds since the count last moved, as far as it was watched; `count` is its present value.
    pub(crate) fn still_for(&mut self, key: K, count: i64, now_ms: u64) -> u64 {
        let (known, since) = self.0.entry(key).or_insert((count, now_ms));
        if *known != count {
            (*known, *since) = (count, now_ms);
        }
        now_ms.saturating_sub(*since)
    }

    /// Forgets the counts of processes that are gone.
    pub(crate) fn keep(&mut self, is_there: impl Fn(&K) -> bool) {
        self.0.retain(|key, _| is_there(key));
    }
}
