//! The checker: each record has a version that every update raises, and no reader may see it go back.
//!
//! A read must show each record as new as the newest update that was acknowledged before the read began, and as new as
//! any read that ended before has shown it; and no newer than any update that has begun. For versions that grow, this
//! is what linearizable means for one record. The floor is taken before the read starts and raised after it ended, so
//! a client that notes late makes the checker milder, never wrong: each counted anomaly is real. Facts 5.6 (a).
//!
//! Cost: three numbers a record, no log, nothing to sort.

use std::sync::atomic::{AtomicU64, Ordering};

/// The known versions of all records.
#[derive(Debug)]
pub(crate) struct Versions {
    begun: Vec<AtomicU64>,
    floor: Vec<AtomicU64>,
    acknowledged: Vec<AtomicU64>,
    anomalies: AtomicU64,
}

impl Versions {
    /// Records with these versions.
    pub(crate) fn new(versions: &[u64]) -> Self {
        let copied = || versions.iter().map(|version| AtomicU64::new(*version)).collect();
        Self { begun: copied(), floor: copied(), acknowledged: copied(), anomalies: AtomicU64::new(0) }
    }

    /// The version of an update that begins now.
    pub(crate) fn begin_update(&self, record: u64) -> u64 {
        self.begun[place(record)].fetch_add(1, Ordering::SeqCst) + 1
    }

    /// An update was acknowledged.
    pub(crate) fn end_update(&self, record: u64, version: u64) {
        self.floor[place(record)].fetch_max(version, Ordering::SeqCst);
        self.acknowledged[place(record)].fetch_max(version, Ordering::SeqCst);
    }

    /// What a read of `count` records from `first` on must show at least; taken before it begins.
    pub(crate) fn begin_read(&self, first: u64, count: u64) -> Vec<u64> {
        let records = &self.floor[place(first)..place(first + count)];
        records.iter().map(|record| record.load(Ordering::SeqCst)).collect()
    }

    /// Takes the versions that a read has shown, record by record from `first` on; counts an anomaly if one is too old
    /// or was never written, or if records are missing.
    pub(crate) fn end_read(&self, first: u64, floor: &[u64], shown: &[u64]) {
        let is_right = |(record, (floor, shown)): (u64, (&u64, &u64))| {
            let begun = self.begun[place(record)].load(Ordering::SeqCst);
            self.floor[place(record)].fetch_max(*shown, Ordering::SeqCst);
            (floor..=&begun).contains(&shown)
        };
        let right = (first..).zip(floor.iter().zip(shown)).map(is_right).filter(|right| *right).count();
        if right < floor.len() || shown.len() != floor.len() {
            self.anomalies.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Reads with an anomaly.
    pub(crate) fn anomalies(&self) -> u64 {
        self.anomalies.load(Ordering::Relaxed)
    }

    /// Acknowledged updates of a record that `shown`, the version in the end, lacks.
    pub(crate) fn is_lost(&self, record: u64, shown: u64) -> bool {
        shown < self.acknowledged[place(record)].load(Ordering::SeqCst)
    }
}

fn place(record: u64) -> usize {
    usize::try_from(record).expect("there is memory for all records")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_shows_the_newest_is_right() {
        let versions = Versions::new(&[1; 3]);
        let version = versions.begin_update(1);
        let floor = versions.begin_read(0, 3);
        versions.end_read(0, &floor, &[1, version, 1]);
        versions.end_update(1, version);
        versions.end_read(0, &floor, &[1, 1, 1]);
        assert_eq!(versions.anomalies(), 0, "both moments lie within the second read");
    }

    #[test]
    fn what_goes_back_is_an_anomaly() {
        let versions = Versions::new(&[1; 2]);
        let version = versions.begin_update(0);
        let floor = versions.begin_read(0, 2);
        versions.end_read(0, &floor, &[version, 1]);
        // Not acknowledged yet, but shown by a read.
        let floor = versions.begin_read(0, 2);
        versions.end_read(0, &floor, &[1, 1]);
        assert_eq!(versions.anomalies(), 1);
    }

    #[test]
    fn stale_unborn_and_missing_records_are_anomalies() {
        let versions = Versions::new(&[1; 2]);
        let version = versions.begin_update(0);
        versions.end_update(0, version);
        for shown in [&[1, 1][..], &[version + 1, 1], &[version]] {
            let floor = versions.begin_read(0, 2);
            versions.end_read(0, &floor, shown);
        }
        assert_eq!(versions.anomalies(), 3);
        assert!(versions.is_lost(0, 1) && !versions.is_lost(0, version));
    }
}
