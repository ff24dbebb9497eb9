//! Checks the bytes of each property once, and remembers the outcome.
//!
//! **Problem.** RocksDB may lend bytes that it did not check: a table of `ChecksumType::NoChecksum`, or one that was opened by a
//! read without `verify_checksums`, which stays open for all others. A damaged filter says "no" where there are rows.
//!
//! **Idea.** The checksum of the bytes is verified at the first question. An open table keeps its property where it is, so
//! that its place, its length and the checksum that is stored with it stand for the outcome.
//!
//! **Guarantee.** Every flipped bit is found, unless a table was closed and then opened again at the same place of memory with
//! damage from between: its bytes then pass for those that were checked. (In the other order an intact table is read in vain.)
//!
//! **Cost.** One pass over the bytes for each table that is opened, and a line of the cache for each question. No lock and no
//! heap: half a megabyte of the process, touched where it is used, holds 65,536 tables. Nothing says when a table is closed, so
//! that those of before fill it in the end: a new one then takes a place that moves on, and open tables that push each other out
//! find places of closed ones after some rounds. With more than 65,536 open at once, some are checked again and again.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use lacuna_base::hash::IntegerHasher;

const BUCKETS: usize = 1 << 13;
/// Outcomes of one cache line.
const PLACES: usize = 8;

/// Fingerprints of what was checked, the lowest bit being the outcome. Zero is an empty place.
#[repr(align(64))]
struct Bucket([AtomicU64; PLACES]);

/// Which place a full bucket gives away next.
static NEXT: AtomicUsize = AtomicUsize::new(0);

static CHECKED: [Bucket; BUCKETS] = [const { Bucket([const { AtomicU64::new(0) }; PLACES]) }; BUCKETS];

/// Whether `bytes`, which are stored with the checksum `stored`, are intact: as `check` says, which is called at the first
/// question to them.
pub(crate) fn is_intact(bytes: &[u8], stored: u64, check: impl FnOnce() -> bool) -> bool {
    let fingerprint = fingerprint(bytes, stored);
    let bucket = &CHECKED[bucket_of(fingerprint)];
    if let Some(outcome) = bucket.outcome(fingerprint) {
        return outcome;
    }
    let outcome = check();
    bucket.keep(fingerprint, outcome);
    outcome
}

/// Even and never zero.
fn fingerprint(bytes: &[u8], stored: u64) -> u64 {
    let (place, len) = (bytes.as_ptr().addr() as u64, bytes.len() as u64);
    let hash = IntegerHasher::new(stored).hash(place ^ len.rotate_left(40));
    (hash & !1).max(2)
}

fn bucket_of(fingerprint: u64) -> usize {
    ((fingerprint >> 1) % BUCKETS as u64) as usize
}

impl Bucket {
    fn outcome(&self, fingerprint: u64) -> Option<bool> {
        let kept = self.0.iter().map(|place| place.load(Relaxed));
        kept.into_iter().find(|kept| kept & !1 == fingerprint).map(|kept| kept & 1 == 1)
    }

    /// In an empty place, or instead of another one, each time the next.
    fn keep(&self, fingerprint: u64, outcome: bool) {
        let kept = fingerprint | u64::from(outcome);
        let is_kept = |place: &AtomicU64| place.compare_exchange(0, kept, Relaxed, Relaxed).is_ok();
        if !self.0.iter().any(is_kept) {
            self.0[NEXT.fetch_add(1, Relaxed) % PLACES].store(kept, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_remembered_for_a_place() {
        let (intact, damaged) = (vec![1u8; 100], vec![1u8; 100]);
        for round in 0..3 {
            assert!(is_intact(&intact, 7, || {
                assert_eq!(round, 0);
                true
            }));
            assert!(!is_intact(&damaged, 7, || {
                assert_eq!(round, 0);
                false
            }));
        }
        assert!(is_intact(&damaged, 8, || true), "another checksum is another table");
        assert!(is_intact(&damaged[1..], 7, || true), "another place is another table");
        assert!(!is_intact(&intact[1..], 7, || false));
    }

    #[test]
    fn a_full_bucket_forgets_and_never_confuses() {
        let bucket = Bucket([const { AtomicU64::new(0) }; PLACES]);
        for number in 1..200u64 {
            let fingerprint = number << 33 | number << 1;
            bucket.keep(fingerprint, number % 3 == 0);
            assert_eq!(bucket.outcome(fingerprint), Some(number % 3 == 0));
            let known =
                (1..=number).filter_map(|other| Some((other, bucket.outcome(other << 33 | other << 1)?)));
            assert!(known.map(|(other, outcome)| assert_eq!(outcome, other % 3 == 0)).count() <= PLACES);
        }
    }

    #[test]
    fn open_tables_find_the_places_of_closed_ones() {
        let bucket = Bucket([const { AtomicU64::new(0) }; PLACES]);
        // All but the lowest bits are equal, as those of two tables may be that one rule sends to one place.
        let table = |number: u64| 7 << 32 | number << 1;
        (1..=100).for_each(|closed| bucket.keep(table(closed), true));
        let open: Vec<u64> = (101..107).map(table).collect();
        let checks_of_a_round = || {
            let is_unknown = |table: &&u64| bucket.outcome(**table).is_none();
            open.iter().filter(is_unknown).map(|table| bucket.keep(*table, true)).count()
        };
        let rounds = (0..1_000).take_while(|_| checks_of_a_round() > 0).count();
        assert!(rounds < 1_000, "some open table is checked at each question");
    }
}
