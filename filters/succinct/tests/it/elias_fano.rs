//! Elias-Fano against a sorted list.

use std::collections::BTreeSet;

use lacuna_succinct::EliasFano;
use lacuna_succinct::elias_fano::{Geometry, Layout, encode, encode_runs, encoded_len};
use proptest::prelude::*;

use crate::tools::{Answers, Random, ask_all};

/// Encodes between other bytes, opens, and checks the size.
fn written(values: &[u64], last: u64, geometry: Geometry) -> (Vec<u8>, Layout) {
    let mut bytes = vec![0xA5; 3];
    encode(values, last, geometry, &mut bytes);
    let bytes = bytes.split_off(3);
    let bound = encoded_len(values.len() as u64, last, geometry);
    assert!(bytes.len() <= bound, "{} bytes, at most {bound} promised", bytes.len());
    let layout = Layout::open(&bytes).expect("just written");
    assert_eq!((layout.len(), layout.byte_len(), layout.last()), (values.len() as u64, bytes.len(), last));
    (bytes, layout)
}

fn check(values: &[u64], layout: &Layout, bytes: &[u8], lo: u64, hi: u64) {
    let expected = Answers::by_definition(values, lo, hi);
    for (kind, answers) in ask_all(layout, bytes, lo, hi) {
        assert_eq!(answers, expected, "{kind:?}: [{lo}, {hi}] of {values:?}, {layout:?}");
    }
}

/// Asks around every value, and for ranges between any two of some values.
fn check_around(values: &[u64], layout: &Layout, bytes: &[u8], random: &mut Random) {
    assert!(layout.iter(bytes).eq(values.iter().copied()), "{values:?}, {layout:?}");
    let mut places: Vec<u64> =
        values.iter().flat_map(|&v| [v.saturating_sub(1), v, v.saturating_add(1)]).collect();
    places.extend([0, layout.last(), layout.last().saturating_add(1), u64::MAX]);
    for &place in &places {
        let reach = random.next() >> random.below(64);
        check(values, layout, bytes, place, place);
        check(values, layout, bytes, place, place.saturating_add(random.below(40)));
        check(values, layout, bytes, place, place.saturating_add(reach));
        let other = places[random.below(places.len() as u64) as usize];
        check(values, layout, bytes, place.min(other), place.max(other));
    }
}

/// The bytes of `values` as runs that end before the places `cuts`.
fn written_as_runs(values: &[u64], cuts: &[usize], last: u64, geometry: Geometry) -> Vec<u8> {
    let mut runs = Vec::new();
    let mut start = 0;
    for &cut in cuts.iter().chain([&values.len()]) {
        runs.push(values[start..cut].to_vec());
        start = cut;
    }
    let mut bytes = vec![0xA5; 3];
    encode_runs(runs, last, geometry, &mut bytes);
    bytes.split_off(3)
}

/// Values that share slices, spill, or leave slices empty, cut anywhere: also twice at one place, so that runs are empty, and twice in
/// one slice, so that a run lies inside of it.
#[test]
fn runs_give_the_bytes_of_one_pass() {
    let mut random = Random(17);
    for (buckets_log2, heavy) in [(0, 1), (1, 2), (2, 3), (7, 2), (7, 2047), (8, 40)] {
        let geometry = Geometry::new(buckets_log2, heavy);
        for round in 0..300 {
            let last = random.next() >> random.below(62);
            let count = random.below(if round % 30 == 0 { 5_000 } else { 60 });
            let mut values: BTreeSet<u64> =
                (0..count).map(|_| random.next() % last.saturating_add(1)).collect();
            let dense = random.next() % last.max(1);
            values.extend((0..random.below(200)).map(|step| dense.saturating_add(step).min(last)));
            let values: Vec<u64> = values.into_iter().collect();
            let (bytes, _) = written(&values, last, geometry);
            for _ in 0..4 {
                let mut cuts: Vec<usize> =
                    (0..random.below(7)).map(|_| random.below(values.len() as u64 + 1) as usize).collect();
                cuts.sort_unstable();
                let same = written_as_runs(&values, &cuts, last, geometry) == bytes;
                assert!(
                    same,
                    "{values:?} up to {last}, cut at {cuts:?}, slices of 2^{buckets_log2}, seed 17"
                );
            }
        }
    }
}

#[test]
fn every_small_set_answers_exactly() {
    const LAST: u64 = 10;
    for (buckets_log2, heavy) in [(0, 1), (1, 1), (1, 2), (2, 1), (2, 3), (7, 2), (7, 2047)] {
        for set in 0..1_u64 << (LAST + 1) {
            let values: Vec<u64> = (0..=LAST).filter(|&value| set >> value & 1 == 1).collect();
            let (bytes, layout) = written(&values, LAST, Geometry::new(buckets_log2, heavy));
            assert!(layout.iter(&bytes).eq(values.iter().copied()));
            for lo in 0..=LAST + 1 {
                for hi in lo..=LAST + 2 {
                    check(&values, &layout, &bytes, lo, hi);
                }
            }
        }
    }
}

#[test]
fn spread_sets_with_tiny_slices_answer_exactly() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let last_bits = 4 + random.below(12);
        let last = 1 + random.below(1 << last_bits);
        let count = 1 + random.below(80);
        let values: BTreeSet<u64> = (0..count).map(|_| random.below(last + 1)).collect();
        let values: Vec<u64> = values.into_iter().collect();
        let geometry = Geometry::new(random.below(3) as u32, 1 + random.below(3) as u32);
        let (bytes, layout) = written(&values, last, geometry);
        check_around(&values, &layout, &bytes, &mut random);
    }
}

#[test]
fn large_sets_answer_exactly() {
    let mut random = Random(7);
    let uniform: Vec<u64> = (0..20_000).map(|_| random.below(20_000 << 9)).collect();
    let clustered: Vec<u64> = (0..20_000).map(|_| (random.below(5) << 40) + random.below(1 << 14)).collect();
    let runs: Vec<u64> = (0..20_000).map(|index| (index / 3_000) * 1_000_003 + index).collect();
    let dense: Vec<u64> = (0..9_000).collect();
    let edges = vec![0, 1, 2, u64::MAX - 1, u64::MAX];
    for values in [uniform, clustered, runs, dense, edges] {
        let values: Vec<u64> = values.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let last = values[values.len() - 1];
        for bound in [last, last.saturating_add(12_345), last.saturating_mul(3)] {
            let (bytes, layout) = written(&values, bound, Geometry::default());
            assert!(layout.iter(&bytes).eq(values.iter().copied()));
            let sequence = EliasFano::open(&bytes).expect("just written");
            for _ in 0..4_000 {
                let near = values[random.below(values.len() as u64) as usize];
                let place = near.saturating_add(random.below(9)).saturating_sub(random.below(9));
                let reach = random.next() >> random.below(64);
                let hi = place.saturating_add(reach);
                check(&values, &layout, &bytes, place, hi);
                assert_eq!(sequence.any_in(place, hi), Answers::by_definition(&values, place, hi).any);
            }
        }
    }
}

#[test]
fn many_directory_lines_add_up() {
    // Slices of two buckets: 100,000 values make tens of thousands of slices, whose counts wrap at 2^16.
    let mut random = Random(11);
    let mut value = 0;
    let values: Vec<u64> = (0..100_000)
        .map(|_| {
            value += 1 + random.below(900);
            value
        })
        .collect();
    let (bytes, layout) = written(&values, value, Geometry::new(1, 2047));
    assert!(layout.iter(&bytes).eq(values.iter().copied()));
    for _ in 0..5_000 {
        let lo = random.below(value);
        check(&values, &layout, &bytes, lo, lo + random.below(600));
    }
}

#[test]
fn heavy_slices_cost_no_more_than_promised() {
    for run_len in [2_047_u64, 2_048, 2_049, 4_096, 30_000] {
        // A dense run and one far value: the run stands in few slices.
        let mut values: Vec<u64> = (0..run_len).map(|index| 5_000_000 + index).collect();
        values.push(run_len << 30);
        let (bytes, layout) = written(&values, run_len << 30, Geometry::default());
        let mut random = Random(run_len);
        assert!(layout.iter(&bytes).eq(values.iter().copied()));
        for _ in 0..500 {
            let lo = 5_000_000 - 100 + random.below(run_len + 200);
            check(&values, &layout, &bytes, lo, lo + random.below(50));
        }
    }
}

#[test]
fn ranges_over_empty_buckets_answer_exactly() {
    // Gaps of 100 over buckets of at most 128: ranges begin and end in, before and after the buckets with a value.
    let values: Vec<u64> = (0..20).map(|index| index * 100 + 7).collect();
    let (bytes, layout) = written(&values, 2_047, Geometry::default());
    for lo in (0..2_050).step_by(3) {
        for hi in (lo..lo + 320).step_by(2) {
            check(&values, &layout, &bytes, lo, hi);
        }
    }
}

#[test]
fn no_values_answer_nothing() {
    for last in [0, 1, 1_000_000, u64::MAX] {
        let (bytes, layout) = written(&[], last, Geometry::default());
        for (lo, hi) in [(0, 0), (0, u64::MAX), (last, last), (u64::MAX, u64::MAX)] {
            check(&[], &layout, &bytes, lo, hi);
        }
    }
}

#[test]
fn a_batch_answers_like_single_questions() {
    let mut random = Random(3);
    let values: BTreeSet<u64> = (0..5_000).map(|_| random.below(1 << 20)).collect();
    let values: Vec<u64> = values.into_iter().collect();
    let sequence = EliasFano::from_sorted(&values, 1 << 20);
    for count in [0, 1, 31, 32, 33, 1_000] {
        let mut range = |_| {
            let lo = random.below(1 << 21);
            (lo, lo + random.below(300))
        };
        let ends: Vec<(u64, u64)> = (0..count).map(&mut range).collect();
        let mut answers = vec![false; ends.len()];
        sequence.any_in_each(&ends, &mut answers);
        let singles: Vec<bool> = ends.iter().map(|&(lo, hi)| sequence.any_in(lo, hi)).collect();
        assert_eq!(answers, singles);
    }
}

fn value_sets() -> impl Strategy<Value = (BTreeSet<u64>, u64)> {
    let anywhere = prop::collection::btree_set(any::<u64>(), 0..200);
    let small = prop::collection::btree_set(0..5_000_u64, 0..400);
    let clusters =
        prop::collection::btree_set((0..4_u64, 0..3_000_u64).prop_map(|(c, v)| (c << 61) + v), 0..400);
    let edges = prop::collection::btree_set(prop_oneof![0..4_u64, u64::MAX - 4..=u64::MAX], 0..8);
    (prop_oneof![anywhere, small, clusters, edges], any::<u64>(), 0..64_u32).prop_map(
        |(set, slack, shift)| {
            let last = set.last().copied().unwrap_or(0).saturating_add(slack >> shift);
            (set, last)
        },
    )
}

proptest! {
    #[test]
    fn any_set_answers_exactly(
        (set, last) in value_sets(),
        buckets_log2 in 0..9_u32,
        heavy in prop_oneof![1..5_u32, Just(2047_u32)],
        seed in any::<u64>(),
    ) {
        let values: Vec<u64> = set.into_iter().collect();
        let (bytes, layout) = written(&values, last, Geometry::new(buckets_log2, heavy));
        check_around(&values, &layout, &bytes, &mut Random(seed));
    }
}
