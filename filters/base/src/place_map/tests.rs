//! Order is kept for every string, and every key of a range lies in its cover.

use std::ops::Bound;

use proptest::prelude::*;

use super::{LongPlace, PlaceMap};
use crate::columns::{ByteColumn, SortedKeys};
use crate::hash::IntegerHasher;
use crate::range::ByteRange;

fn map_of(keys: &[Vec<u8>], max_bytes: usize, bits: u32) -> Vec<u8> {
    let mut keys = keys.to_vec();
    keys.sort();
    keys.dedup();
    let column: ByteColumn = keys.iter().collect();
    let sorted = SortedKeys::byte_strings(&column).expect("ascending");
    let mut bytes = PlaceMap::build(sorted, max_bytes).expect("room enough");
    assert!(bytes.len() <= max_bytes, "{} bytes of {max_bytes}", bytes.len());
    PlaceMap::set_bits(&mut bytes, bits);
    bytes
}

/// All strings over `alphabet` of up to `longest` bytes, in order.
fn all_strings(alphabet: &[u8], longest: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let until = all.len();
        for index in from..until {
            let longer: Vec<Vec<u8>> =
                alphabet.iter().map(|byte| [&all[index][..], &[*byte]].concat()).collect();
            all.extend(longer);
        }
        from = until;
    }
    all.sort();
    all
}

fn bounds(key: &[u8]) -> [Bound<&[u8]>; 3] {
    [Bound::Included(key), Bound::Excluded(key), Bound::Unbounded]
}

/// Asserts the law of covers for every range between two of `strings` and every string in it.
fn covers_hold_all(map: PlaceMap<'_>, strings: &[Vec<u8>]) {
    let places: Vec<u64> = strings.iter().map(|string| map.place(string)).collect();
    assert!(places.is_sorted(), "the order is kept");
    let long: Vec<LongPlace> = strings.iter().map(|string| map.long_place(string)).collect();
    assert!(long.is_sorted(), "the order of long places is kept");
    for (first, low) in strings.iter().enumerate() {
        for (last, high) in strings.iter().enumerate().skip(first) {
            for (lo, hi) in bounds(low).into_iter().flat_map(|lo| bounds(high).map(|hi| (lo, hi))) {
                let Some(range) = ByteRange::from_bounds(lo, hi) else { continue };
                let from = if matches!(lo, Bound::Unbounded) { 0 } else { first };
                let to = if matches!(hi, Bound::Unbounded) { strings.len() - 1 } else { last };
                let (cover, long_cover) = (map.cover(range), map.long_cover(range));
                // Places ascend, so the outermost strings of the range stand for all.
                let mut inside = (from..=to).filter(|&index| range.contains(&strings[index]));
                let Some(outer) = inside.next() else { continue };
                for index in [outer, inside.next_back().unwrap_or(outer)] {
                    let holds = cover.is_some_and(|cover| cover.contains(places[index]));
                    assert!(holds, "{range:?} {cover:?} misses {:?} at {}", strings[index], places[index]);
                    let holds = long_cover.is_some_and(|(lo, hi)| lo <= long[index] && long[index] <= hi);
                    assert!(
                        holds,
                        "{range:?} {long_cover:?} misses {:?} at {:?}",
                        strings[index], long[index]
                    );
                }
            }
        }
    }
}

#[test]
fn all_short_strings_lie_in_their_covers() {
    let strings = all_strings(&[0, 1, b'a', 0xFF], 3);
    let hasher = IntegerHasher::new(7);
    for round in 0..12_u64 {
        let chosen = |index: &usize| hasher.hash(round << 32 | *index as u64).is_multiple_of(1 + round % 4);
        let keys: Vec<Vec<u8>> =
            (0..strings.len()).filter(chosen).map(|index| strings[index].clone()).collect();
        // Little space makes the trie small, few bits make places few.
        for (max_bytes, bits) in [(160, 64), (4_096, 64), (400, 9), (4_096, 1)] {
            let bytes = map_of(&keys, max_bytes, bits);
            covers_hold_all(PlaceMap::new(&bytes).expect("a map"), &strings);
        }
    }
}

#[test]
fn strings_unknown_to_the_map_keep_their_order() {
    let keys: Vec<Vec<u8>> = (0..400).map(|n| format!("host{}.example/{n:05}", n % 7).into_bytes()).collect();
    let bytes = map_of(&keys, 2_000, 64);
    let map = PlaceMap::new(&bytes).expect("a map");
    let mut strings = all_strings(&[0, b'/', b'0', b'3', b'h', 0xFF], 4);
    for key in keys.iter().step_by(9) {
        for cut in 0..=key.len() {
            for end in [&[][..], &[0], &[0xFF], b"0", b"x"] {
                strings.push([&key[..cut], end].concat());
            }
        }
    }
    strings.sort();
    strings.dedup();
    let places: Vec<u64> = strings.iter().map(|string| map.place(string)).collect();
    for (pair, at) in strings.windows(2).zip(places.windows(2)) {
        assert!(at[0] <= at[1], "{:?} at {} and {:?} at {}", pair[0], at[0], pair[1], at[1]);
    }
    let long: Vec<LongPlace> = strings.iter().map(|string| map.long_place(string)).collect();
    for (pair, at) in strings.windows(2).zip(long.windows(2)) {
        assert!(at[0] <= at[1], "{:?} at {:?} and {:?} at {:?}", pair[0], at[0], pair[1], at[1]);
    }
}

#[test]
fn long_keys_get_places_of_their_own() {
    let keys: Vec<Vec<u8>> = (0..2_000)
        .map(|n| format!("a long path that many share/{}/{:06}/file.txt", n % 9, n * 37).into_bytes())
        .collect();
    let bytes = map_of(&keys, 2_048, 64);
    let map = PlaceMap::new(&bytes).expect("a map");
    let mut places: Vec<u64> = keys.iter().map(|key| map.place(key)).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), keys.len());
}

/// What 64 bits lose.
#[test]
fn long_places_see_what_differs_after_many_bytes() {
    let keys: Vec<Vec<u8>> = (0..300u32).map(|n| (n * 0x00D3_4F11).to_be_bytes().repeat(9)).collect();
    // An alphabet of all bytes takes most of it.
    let bytes = map_of(&keys, 4_096, 64);
    let map = PlaceMap::new(&bytes).expect("a map");
    let one = keys[7].repeat(2)[..40].to_vec();
    let other = [&one[..], &[0]].concat();
    assert_eq!(map.place(&one), map.place(&other));
    assert!(map.long_place(&one) < map.long_place(&other));
}

#[test]
fn the_empty_string_alone_is_nothing_to_map() {
    let column: ByteColumn = [Vec::new()].iter().collect();
    let keys = SortedKeys::byte_strings(&column).expect("ascending");
    assert_eq!(PlaceMap::build(keys, 4_096), None);
}

#[test]
fn a_prefix_of_more_than_a_label_is_walked() {
    let keys: Vec<Vec<u8>> = (0..50).map(|n| [vec![b'p'; 700], vec![b'0' + n]].concat()).collect();
    let bytes = map_of(&keys, 4_096, 64);
    let map = PlaceMap::new(&bytes).expect("a map");
    assert!(keys.windows(2).all(|pair| map.place(&pair[0]) < map.place(&pair[1])));
}

proptest! {
    #[test]
    fn any_bytes_give_places(bytes in prop::collection::vec(any::<u8>(), 0..400), key in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Some(map) = PlaceMap::new(&bytes) {
            prop_assert!(map.place(&key) <= map.largest());
            prop_assert!(map.long_place(&key) <= LongPlace::MAX);
            map.cover(ByteRange::from_bounds(Bound::Excluded(&key), Bound::Unbounded).expect("holds keys"));
        }
    }

    #[test]
    fn random_strings_keep_their_order(
        keys in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 1..60),
        bits in 1_u32..65,
    ) {
        prop_assume!(keys.iter().any(|key| !key.is_empty()));
        let bytes = map_of(&keys, 4_096, bits);
        let map = PlaceMap::new(&bytes).expect("a map");
        let mut strings = keys;
        strings.extend(strings.clone().into_iter().map(|mut key| { key.push(0); key }));
        strings.sort();
        covers_hold_all(map, &strings[..strings.len().min(40)]);
    }
}
