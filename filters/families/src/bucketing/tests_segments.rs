//! Segments at the edges: no key is lost whatever is left out, at both ends of the key space and of damaged tables.

use lacuna_base::{Budget, BuildPlan, ENVELOPE_BYTES, FilterSpec, Sealed, SortedKeys, U64Range};

use super::BucketingSpec;
use super::codec::{ENTRY_BYTES, HEADER_BYTES, Map, Scale, Segment};

/// Sizes of gaps left out, as a power of two, and bits a key; without a size, the builder chooses.
const BUILDS: [(Option<u32>, f64); 9] = [
    (Some(1), 128.0),
    (Some(2), 1.0),
    (Some(3), 20.0),
    (Some(4), 128.0),
    (Some(5), 40.0),
    (Some(7), 9.0),
    (Some(63), 60.0),
    (Some(64), 12.0),
    (None, 30.0),
];

fn sealed(keys: &[u64], gap_log2: Option<u32>, bits_per_key: f64) -> Sealed {
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits_per_key).expect("in range"));
    let gap = gap_log2.map(|gap_log2| format!("gap={gap_log2},")).unwrap_or_default();
    let spec: BucketingSpec = format!("bucketing:{gap}slice=1,heavy=1").parse().expect("a spec");
    spec.build(SortedKeys::integers(keys).expect("ascending"), &plan).expect("fits")
}

/// The places and those next to them.
fn ends_around(places: &[u64]) -> Vec<u64> {
    let around = |&place: &u64| [place.saturating_sub(1), place, place.saturating_add(1)];
    let mut ends: Vec<u64> = places.iter().flat_map(around).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

fn subsets(places: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    let of =
        |set: u32| (0..places.len()).filter(move |bit| set >> bit & 1 == 1).map(|bit| places[bit]).collect();
    (1..1_u32 << places.len()).map(of)
}

/// Ranges between all `places` and those next to them, for every set of them as keys and every build.
fn lose_no_key(places: &[u64]) {
    let ends = ends_around(places);
    for keys in subsets(places) {
        for (gap_log2, bits) in BUILDS {
            let filter = crate::open::<u64, _>(sealed(&keys, gap_log2, bits)).expect("just sealed");
            let is_exact = filter.rate_bound(1) == 0.0;
            for (index, &lo) in ends.iter().enumerate() {
                for &hi in &ends[index..] {
                    let holds = keys.iter().any(|key| (lo..=hi).contains(key));
                    let maybe = filter.may_contain_range(U64Range::new(lo, hi).expect("not inverted"));
                    let case = || format!("gap={gap_log2:?}, {bits} bits, {keys:?}: {lo}..={hi}");
                    assert!(maybe >= holds, "{}", case());
                    assert!(!is_exact || maybe == holds, "not exact: {}", case());
                }
            }
        }
    }
}

#[test]
fn no_key_is_lost_between_segments() {
    lose_no_key(&[5, 6, 13, 32, 69, 130, 221, 348, 517]);
}

#[test]
fn no_key_is_lost_at_the_ends_of_the_key_space() {
    const MAX: u64 = u64::MAX;
    lose_no_key(&[0, 1, 2, 1 << 33, (1 << 63) - 1, 1 << 63, MAX - 9, MAX - 2, MAX - 1, MAX]);
}

/// For every set of keys of ten places: the map is monotone, and no key has the bucket of a gap that was left out.
#[test]
fn gaps_left_out_have_buckets_of_their_own() {
    let places = [0, 1, 3, 4, 8, 9, 20, 21, 40, 45];
    for keys in subsets(&places).filter(|keys| keys.len() > 2) {
        for (gap_log2, bits) in [(1, 128.0), (2, 20.0), (3, 4.0), (4, 40.0)] {
            let sealed = sealed(&keys, Some(gap_log2), bits);
            let body = sealed.payload();
            let map = Map::decode(body).expect("just built");
            let bucket = |key: u64| map.bucket(body, key - keys[0]);
            let span = keys[0]..=keys[keys.len() - 1];
            let case = format!("gap={gap_log2}, {bits} bits, {keys:?}");
            assert!(span.clone().zip(span.skip(1)).all(|(key, next)| bucket(key) <= bucket(next)), "{case}");
            let large = keys.windows(2).filter(|pair| pair[1] - pair[0] >= 1 << gap_log2);
            let is_cut = map.buckets_at() > HEADER_BYTES;
            for pair in large.filter(|_| is_cut) {
                // Between the two is a bucket that holds no key, whatever the scale.
                assert!(bucket(pair[0]) + 1 < bucket(pair[1]), "{case}: {pair:?}");
                assert!(bucket(pair[1] - 1) < bucket(pair[1]), "{case}: {pair:?}");
            }
        }
    }
}

#[test]
fn a_segment_may_end_at_the_last_bucket_of_all() {
    let table = [Segment { start: 10, first_bucket: u64::MAX - 1 }];
    let body = Map::encode(Scale::EXACT, &table);
    let map = Map::decode(&body).expect("a table");
    assert_eq!(
        [0, 9, 10, 11, u64::MAX].map(|key| map.bucket(&body, key)),
        [0, 9, u64::MAX - 1, u64::MAX, u64::MAX]
    );
}

/// Ten segments of four keys.
fn ten_runs() -> Vec<u64> {
    (0..40_u64).map(|i| (i / 4) << 30 | i).collect()
}

/// Every field of header and table, set to every value an enemy would choose, alone and with all of its kind: opening refuses
/// or every question is answered.
#[test]
fn damaged_tables_are_asked_without_harm() {
    let keys = ten_runs();
    let sealed = sealed(&keys, Some(9), 100.0);
    let entries =
        (Map::decode(sealed.payload()).expect("just built").buckets_at() - HEADER_BYTES) / ENTRY_BYTES;
    assert_eq!(entries, 9);
    let ends = ends_around(&keys);
    let table = (0..entries * 2).map(|field| HEADER_BYTES + field * 8);
    let fields: Vec<usize> = [0, 4].into_iter().chain(table).collect();
    for &from in &fields {
        for step in [usize::MAX, ENTRY_BYTES, 8] {
            for value in [0, 1, 2, 9, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX] {
                let mut bytes = sealed.as_bytes().to_vec();
                let places = std::iter::successors(Some(from), |at: &usize| at.checked_add(step));
                for at in places.take_while(|at| at.saturating_add(8) <= HEADER_BYTES + entries * ENTRY_BYTES)
                {
                    bytes[ENVELOPE_BYTES + at..][..8].copy_from_slice(&u64::to_le_bytes(value));
                }
                let Ok(filter) = crate::open::<u64, _>(bytes) else { continue };
                for (index, &lo) in ends.iter().enumerate() {
                    for &hi in &ends[index..] {
                        std::hint::black_box(
                            filter.may_contain_range(U64Range::new(lo, hi).expect("not inverted")),
                        );
                    }
                }
            }
        }
    }
}

/// A segment that starts in a bucket before those of others: ends in the wrong order are "maybe", not "no".
#[test]
fn a_table_out_of_order_is_maybe() {
    let keys = ten_runs();
    let mut bytes = sealed(&keys, Some(9), 100.0).as_bytes().to_vec();
    let at = ENVELOPE_BYTES + HEADER_BYTES + 8 * ENTRY_BYTES + 8;
    bytes[at..at + 8].copy_from_slice(&0_u64.to_le_bytes());
    let filter = crate::open::<u64, _>(bytes).expect("only the table is damaged");
    for &lo in &keys[4..32] {
        for &hi in &keys[36..] {
            assert!(filter.may_contain_range(U64Range::new(lo, hi).expect("not inverted")), "{lo}..={hi}");
        }
    }
}
