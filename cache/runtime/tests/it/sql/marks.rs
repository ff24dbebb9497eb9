//! How many reads came behind a write: only those can show anything stale.
//!
//! Writes and reads are numbered together. A read is behind a write if a row of its interval was written since the same
//! query was asked last: what was cached for it has gone, or has changed.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_cache_protocol::Query;

/// When each key was written and each query asked.
#[derive(Debug)]
pub(crate) struct Marks {
    next: AtomicU64,
    written: Vec<AtomicU64>,
    asked: Mutex<BTreeMap<Query, u64>>,
    behind: AtomicU64,
}

impl Marks {
    /// For so many keys.
    pub(crate) fn new(keys: u64) -> Self {
        let written = (0..keys).map(|_| AtomicU64::new(0)).collect();
        Self { next: AtomicU64::new(1), written, asked: Mutex::default(), behind: AtomicU64::new(0) }
    }

    /// A write of these keys is over.
    pub(crate) fn wrote(&self, keys: &[u64]) {
        let now = self.next.fetch_add(1, Ordering::Relaxed);
        for key in keys {
            self.written[usize::try_from(*key).unwrap()].fetch_max(now, Ordering::Relaxed);
        }
    }

    /// A query of these keys is asked.
    pub(crate) fn asks(&self, query: &Query, mut keys: RangeInclusive<u64>) {
        let now = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(before) = self.asked.lock().unwrap().insert(query.clone(), now) else { return };
        let written = |key: u64| self.written[usize::try_from(key).unwrap()].load(Ordering::Relaxed);
        self.behind.fetch_add(u64::from(keys.any(|key| written(key) > before)), Ordering::Relaxed);
    }

    /// Reads that came behind a write.
    pub(crate) fn behind(&self) -> u64 {
        self.behind.load(Ordering::Relaxed)
    }
}
