//! Candidates and counts against the sorted keys.

use std::ops::Bound;

use lacuna_base::{ByteColumn, ByteRange, Candidate, CountEstimate, RangeFilter, SeekCandidate, U64Range};
use lacuna_succinct::trie::{Builder, Plan, Trie};
use lacuna_workload::{Keys, Rng, real_sets};

use super::super::Surf;
use super::{AMPLE, SPECS, integers, small_sets, strings};
use crate::frame::FilterBytes;

/// Checks both candidates of `from` by their contracts.
fn check_candidates<B: FilterBytes>(surf: &Surf<[u8], B>, keys: &[Vec<u8>], from: &[u8], place: &str) {
    let mut candidate = Vec::new();
    let at_or_above = keys.partition_point(|key| &key[..] < from);
    let found = surf.first_candidate(from, &mut candidate);
    match (found, keys.get(at_or_above)) {
        (None, key) => assert_eq!(key, None, "{place}: first from {from:?}"),
        (Some(found), None) => assert!(!found.is_certain, "{place}: first from {from:?}"),
        (Some(found), Some(key)) => {
            assert!(!found.is_excluded && from <= &candidate[..], "{place}: {candidate:?} from {from:?}");
            assert!(candidate <= *key, "{place}: {candidate:?} from {from:?} is above {key:?}");
        }
    }
    let at_or_below = keys.partition_point(|key| &key[..] <= from).checked_sub(1).map(|place| &keys[place]);
    let found = surf.last_candidate(from, &mut candidate);
    match (found, at_or_below) {
        (None, key) => assert_eq!(key, None, "{place}: last from {from:?}"),
        (Some(found), None) => assert!(!found.is_certain, "{place}: last from {from:?}"),
        (Some(Candidate { is_excluded, .. }), Some(key)) => {
            assert!(&candidate[..] <= from, "{place}: {candidate:?} from {from:?}");
            let reaches = if is_excluded { *key < candidate } else { *key <= candidate };
            assert!(reaches, "{place}: {candidate:?} from {from:?} is below {key:?}");
        }
    }
}

fn check_count<B: FilterBytes>(surf: &Surf<[u8], B>, keys: &[Vec<u8>], range: ByteRange<'_>, place: &str) {
    let truth = keys.iter().filter(|key| range.contains(key)).count() as u64;
    let bounds = surf.count_range(range);
    assert!(bounds.min <= truth && truth <= bounds.max, "{place}: {bounds:?}, not {truth}, in {range:?}");
    if let Some(body) = &surf.body {
        assert!(body.is_cut || bounds.max - bounds.min <= 2, "{place}: {bounds:?} in {range:?}");
        assert_eq!(bounds.max > 0, surf.body_says(range), "{place}: {range:?} of {keys:?}");
    }
}

impl<B: FilterBytes> Surf<[u8], B> {
    /// What the trie says of a range of more than one key.
    fn body_says(&self, range: ByteRange<'_>) -> bool {
        let is_point = range.as_point().is_some();
        if is_point {
            self.count_range(range).max > 0
        } else {
            self.may_contain_range(range) || self.is_clipped(range)
        }
    }

    /// Whether the smallest and largest key deny what the trie does not.
    fn is_clipped(&self, range: ByteRange<'_>) -> bool {
        let cover = self.frame.window().cover(range);
        cover.is_none_or(|cover| self.frame.clip(cover) == crate::frame::Clipped::Settled(false))
            && self.count_range(range).max > 0
    }
}

#[test]
fn small_sets_have_right_neighbours_and_counts() {
    for (name, keys, asked) in small_sets() {
        for text in SPECS.iter().copied().chain(["surf:cut"]) {
            let surf = strings(text, &keys, if text == "surf:cut" { 9.0 } else { AMPLE });
            let place = format!("{name}, {text}");
            for (index, lo) in asked.iter().enumerate() {
                check_candidates(&surf, &keys, lo, &place);
                for hi in asked[index..].iter().step_by(1 + index % 5) {
                    for hi in [Bound::Included(&hi[..]), Bound::Excluded(hi), Bound::Unbounded] {
                        for lo in [Bound::Included(&lo[..]), Bound::Excluded(lo)] {
                            if let Some(range) = ByteRange::from_bounds(lo, hi) {
                                check_count(&surf, &keys, range, &place);
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn walking_by_candidates_meets_every_key() {
    // An engine that opens the file only at candidates finds all keys, in order, in both directions.
    for (name, keys, _) in small_sets() {
        let surf = strings("surf:real=3", &keys, AMPLE);
        let (mut met, mut from, mut candidate) = (Vec::new(), Vec::new(), Vec::new());
        while surf.first_candidate(&from, &mut candidate).is_some() {
            let Some(key) = keys.iter().find(|key| **key >= candidate) else { break };
            met.push(key.clone());
            from = [&key[..], &[0]].concat();
        }
        assert_eq!(met, keys, "{name}");
    }
}

#[test]
fn integers_have_right_neighbours_and_counts() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let spread = 8 * rng.below(7);
        let mut keys: Vec<u64> = (0..rng.below(600)).map(|_| rng.next_u64() >> spread).collect();
        keys.sort_unstable();
        keys.dedup();
        for text in SPECS.iter().copied().chain(["surf:cut"]) {
            let surf = integers(text, &keys, if text == "surf:cut" { 6.0 } else { AMPLE });
            for _ in 0..2_000 {
                let near = if keys.is_empty() { 0 } else { keys[rng.index(keys.len())] };
                let shift = rng.below(64);
                let from = near ^ rng.next_u64() >> shift;
                check_integer(&surf, &keys, from, near.max(from), &format!("seed {seed}, {text}"));
            }
            check_integer(&surf, &keys, 0, u64::MAX, text);
            check_integer(&surf, &keys, u64::MAX, u64::MAX, text);
        }
    }
}

fn check_integer<B: FilterBytes>(surf: &Surf<u64, B>, keys: &[u64], from: u64, hi: u64, place: &str) {
    let mut candidate = 0;
    let first = keys.partition_point(|&key| key < from);
    match (surf.first_candidate(from, &mut candidate), keys.get(first)) {
        (None, key) => assert_eq!(key, None, "{place}: first from {from}"),
        (Some(found), None) => assert!(!found.is_certain, "{place}: first from {from}"),
        (Some(_), Some(&key)) => {
            assert!(from <= candidate && candidate <= key, "{place}: {candidate} from {from}, not {key}");
        }
    }
    let end = keys.partition_point(|&key| key <= from);
    match (surf.last_candidate(from, &mut candidate), end.checked_sub(1).map(|place| keys[place])) {
        (None, key) => assert_eq!(key, None, "{place}: last from {from}"),
        (Some(found), None) => assert!(!found.is_certain, "{place}: last from {from}"),
        (Some(_), Some(key)) => {
            assert!(key <= candidate && candidate <= from, "{place}: {candidate} from {from}, not {key}");
        }
    }
    let truth = (keys.partition_point(|&key| key <= hi) - first) as u64;
    let bounds = surf.count_range(U64Range::new(from, hi).expect("in order"));
    assert!(
        bounds.min <= truth && truth <= bounds.max,
        "{place}: {bounds:?}, not {truth}, from {from} to {hi}"
    );
    let is_cut = surf.body.is_none_or(|body| body.is_cut);
    assert!(is_cut || bounds.max - bounds.min <= 2, "{place}: {bounds:?}");
}

#[test]
fn real_strings_have_right_neighbours() {
    for set in real_sets() {
        let Keys::Bytes(column) = set.load().expect("sound") else { continue };
        let mut rng = Rng::new(9);
        let (mut inserted, mut held_out) = (Vec::new(), Vec::new());
        for key in column.iter() {
            if rng.below(10) > 0 { &mut inserted } else { &mut held_out }.push(key.to_vec());
        }
        let surf = strings("surf:real=8", &inserted, 60.0);
        assert!(inserted.iter().all(|key| surf.may_contain(key)), "{}", set.note());
        let mut absent = 0;
        for key in held_out.iter().step_by(7) {
            check_candidates(&surf, &inserted, key, set.name());
            absent += usize::from(!surf.may_contain(key));
        }
        assert!(absent > 0, "{}: no held-out key is denied", set.note());
        for pair in held_out.windows(2).step_by(held_out.len() / 50 + 1) {
            check_count(&surf, &inserted, ByteRange::new(&pair[0], &pair[1]).expect("in order"), set.name());
        }
    }
}

#[test]
fn whole_tries_of_real_strings_are_exact() {
    for set in real_sets() {
        let Keys::Bytes(column) = set.load().expect("sound") else { continue };
        let mut builder = Builder::new(Plan { value_bits: 20, ..Plan::default() });
        for (value, key) in (0..).zip(column.iter()) {
            builder.add(key, value).expect("ascending");
        }
        let trie = Trie::open(builder.finish()).expect("just written");
        let (mut forwards, mut backwards) = (trie.cursor(), trie.cursor());
        forwards.seek_first();
        backwards.seek_last();
        for (place, key) in column.iter().enumerate() {
            assert_eq!(forwards.key(), Some(key), "{}", set.note());
            assert_eq!(backwards.key(), Some(column.get(column.len() - 1 - place)), "{}", set.note());
            forwards.step();
            backwards.step_back();
        }
        assert_eq!((forwards.key(), backwards.key()), (None, None), "{}", set.note());
        check_whole(&trie, &column, set.name());
    }
}

/// Search, lower bound and count at keys and next to them.
fn check_whole(trie: &Trie<Vec<u8>>, column: &ByteColumn, place: &str) {
    let mut cursor = trie.cursor();
    for (index, key) in column.iter().enumerate().step_by(11) {
        assert_eq!(trie.get(key), Some(index as u64), "{place}");
        let behind = [key, &[0]].concat();
        let next = column.iter().nth(index + 1);
        assert_eq!(trie.get(&behind).is_some(), next == Some(&behind[..]), "{place}");
        cursor.seek(&behind);
        assert_eq!(cursor.key(), next, "{place}");
        cursor.seek_back(&behind);
        let last = if next == Some(&behind[..]) { next } else { Some(key) };
        assert_eq!(cursor.key(), last, "{place}");
        assert_eq!(trie.count(key, None), (column.len() - index) as u64, "{place}");
        let other = (index * 31 + 7) % column.len();
        assert_eq!(trie.count(key, Some(column.get(other))), other.saturating_sub(index) as u64, "{place}");
    }
}
