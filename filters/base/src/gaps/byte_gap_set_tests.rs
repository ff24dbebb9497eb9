//! Gaps of byte strings against the keys of a file.

use std::collections::BTreeSet;
use std::ops::Bound;

use proptest::prelude::*;

use super::ByteGapSet;
use crate::range::ByteRange;

/// Short strings, and long ones that differ only near the end of the window or after it.
fn string() -> impl Strategy<Value = Vec<u8>> {
    let letter = prop::sample::select(vec![0u8, 1, b'a', 0xFF]);
    let short = prop::collection::vec(letter.clone(), 0..6);
    let stem = prop::sample::select(vec![0usize, 30, 31, 32, 70]);
    (short, stem).prop_map(|(tail, stem)| [vec![b'k'; stem], tail].concat())
}

fn bound(kind: u8, key: &[u8]) -> Bound<&[u8]> {
    match kind {
        0 => Bound::Included(key),
        1 => Bound::Excluded(key),
        _ => Bound::Unbounded,
    }
}

type Neighbours<'k> = (Option<&'k [u8]>, Option<&'k [u8]>);

/// The neighbours of `probe` among `keys`, unless it is one of them.
fn neighbours<'k>(keys: &'k BTreeSet<Vec<u8>>, probe: &[u8]) -> Option<Neighbours<'k>> {
    if keys.contains(probe) {
        return None;
    }
    let below = keys.range::<[u8], _>((Bound::Unbounded, Bound::Excluded(probe))).next_back();
    let above = keys.range::<[u8], _>((Bound::Excluded(probe), Bound::Unbounded)).next();
    Some((below.map(Vec::as_slice), above.map(Vec::as_slice)))
}

fn clear_for(set: &ByteGapSet, keys: &BTreeSet<Vec<u8>>) {
    set.clear_for(keys.first().expect("not empty"), keys.last().expect("not empty"));
}

proptest! {
    /// Whatever was learned, in whatever room, a range that holds a key of the file is never known to be empty.
    #[test]
    fn no_key_lies_in_a_known_gap(
        keys in prop::collection::btree_set(string(), 1..12),
        probes in prop::collection::vec(string(), 0..20),
        asked in prop::collection::vec((string(), 0u8..3, string(), 0u8..3), 0..40),
        intervals in 0usize..6,
    ) {
        let set = ByteGapSet::within(size_of::<ByteGapSet>() + intervals * ByteGapSet::INTERVAL_BYTES);
        clear_for(&set, &keys);
        for (below, above) in probes.iter().filter_map(|probe| neighbours(&keys, probe)) {
            set.learn_between(below, above);
            prop_assert!(set.len() <= intervals);
        }
        for (lo, lo_kind, hi, hi_kind) in &asked {
            let Some(range) = ByteRange::from_bounds(bound(*lo_kind, lo), bound(*hi_kind, hi)) else { continue };
            let held = keys.iter().any(|key| range.contains(key));
            prop_assert!(!(held && set.is_known_empty(range)), "{range:?} of {keys:?}");
        }
        for key in &keys {
            prop_assert!(!set.is_known_empty(ByteRange::point(key)), "{key:?}");
        }
    }

    /// With room, a probe whose code differs from those of its neighbours is known to be absent once it was learned.
    #[test]
    fn what_was_learned_is_known(
        keys in prop::collection::btree_set(prop::collection::vec(1u8..9, 1..5), 1..12),
        probes in prop::collection::vec(prop::collection::vec(1u8..9, 1..5), 0..20),
    ) {
        let set = ByteGapSet::within(100_000);
        clear_for(&set, &keys);
        let (first, last) = (keys.first().expect("not empty"), keys.last().expect("not empty"));
        for probe in probes.iter().filter(|probe| (first..last).contains(probe)) {
            let Some((below, above)) = neighbours(&keys, probe) else { continue };
            set.learn_between(below, above);
            prop_assert!(set.is_known_empty(ByteRange::point(probe)), "{probe:?} of {keys:?}");
        }
    }
}

#[test]
fn gaps_of_strings_that_meet_at_a_key_stay_apart() {
    let set = ByteGapSet::within(10_000);
    set.clear_for(b"user:a", b"user:z");
    set.learn_between(Some(b"user:a"), Some(b"user:m"));
    set.learn_between(Some(b"user:m"), Some(b"user:z"));
    assert_eq!(set.len(), 2);
    let range = |lo, hi| ByteRange::from_bounds(Bound::Included(lo), Bound::Excluded(hi)).expect("ascending");
    assert!(set.is_known_empty(range(b"user:b", b"user:m")));
    assert!(!set.is_known_empty(range(b"user:b", b"user:m\0")), "holds user:m");
    assert!(set.is_known_empty(range(b"user:ma", b"user:z")));
    assert!(!set.is_known_empty(range(b"user:m\0", b"user:z")), "shares its code with a key");
}

#[test]
fn neighbours_that_agree_in_the_window_teach_nothing() {
    let set = ByteGapSet::within(10_000);
    let key = |last: u8| [vec![b'x'; 40], vec![last]].concat();
    set.clear_for(b"a", b"z");
    set.learn_between(Some(&key(b'1')), Some(&key(b'9')));
    assert!(set.is_empty());
}

#[test]
fn a_set_serves_one_file_after_another() {
    let set = ByteGapSet::within(10_000);
    set.clear_for(b"a:1", b"a:9");
    set.learn_between(Some(b"a:1"), Some(b"a:9"));
    let other = ByteRange::new(b"b:4", b"b:5").expect("ascending");
    let gap = ByteRange::new(b"a:4", b"a:5").expect("ascending");
    assert!(set.is_known_empty(gap) && !set.is_known_empty(other));
    set.clear_for(b"b:1", b"b:9");
    assert!(!set.is_known_empty(gap) && !set.is_known_empty(other));
    set.learn_between(Some(b"b:1"), Some(b"b:9"));
    assert!(!set.is_known_empty(gap) && set.is_known_empty(other));
}

#[test]
fn memory_of_byte_gaps_stays_within_its_budget() {
    for budget in [0, 100, 1_000, 1 << 16] {
        let set = ByteGapSet::within(budget);
        set.clear_for(b"", b"z");
        for number in 0..500u32 {
            let (below, above) = ((number * 10).to_be_bytes(), (number * 10 + 5).to_be_bytes());
            set.learn_between(Some(&below), Some(&above));
        }
        assert!(
            set.memory_bytes() <= budget.max(size_of::<ByteGapSet>()) && set.len() == set.capacity().min(500)
        );
    }
}

/// While a writer gives the set to one file after another, a reader of the first never sees a gap of the second.
#[test]
fn readers_never_mix_two_files() {
    let set = ByteGapSet::within(10_000);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                // `a:5` is a key of the one file, `b:5` of the other.
                for key in [b"a:5", b"b:5"] {
                    assert!(!set.is_known_empty(ByteRange::point(key)), "{key:?}");
                }
            }
        });
        for _ in 0..20_000 {
            for file in [b"a", b"b"] {
                let key = |last: &[u8]| [file, &b":"[..], last].concat();
                set.clear_for(&key(b"1"), &key(b"9"));
                set.learn_between(Some(&key(b"1")), Some(&key(b"5")));
                set.learn_between(Some(&key(b"5")), Some(&key(b"9")));
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
