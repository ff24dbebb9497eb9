//! Counts that others move as long as they live, watched by our own clock.

use std::collections::BTreeMap;

/// What each count was, and since when it has not moved.
#[derive(Debug)]
pub(crate) struct Watched<K>(BTreeMap<K, (i64, u64)>);

impl<K> Default for Watched<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord> Watched<K> {
    /// For how many milliseconds a count has not moved, as far as it was looked at; it is `count` now.
    pub(crate) fn still_for(&mut self, key: K, count: i64, now_ms: u64) -> u64 {
        let (known, since) = self.0.entry(key).or_insert((count, now_ms));
        if *known != count {
            (*known, *since) = (count, now_ms);
        }
        now_ms.saturating_sub(*since)
    }

    /// Forgets the counts of those that are gone.
    pub(crate) fn keep(&mut self, is_there: impl Fn(&K) -> bool) {
        self.0.retain(|key, _| is_there(key));
    }
}
