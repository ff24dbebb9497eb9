//! What is Grafite's own; the conformance suite proves the rest.

use lacuna_base::{Budget, BuildPlan, DynFilter, FilterSpec, SortedKeys, U64Range};

use super::GrafiteSpec;
use super::query::Circle;
use crate::hashing::Hashing;

fn grafite(keys: &[u64], bits_per_key: f64, seed: u64) -> Box<DynFilter<u64>> {
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits_per_key).expect("in range")).with_seed(seed);
    let keys = SortedKeys::<u64>::try_new(keys).expect("ascending");
    crate::open(GrafiteSpec::new().build(keys, &plan).expect("fits")).expect("just sealed")
}

/// The example of the module page: blocks of 8 keys, a circle of 10 values, block 5 moved to 7.
#[test]
fn a_block_turns_as_a_whole() {
    let seed =
        (0..).find(|&seed| Circle::new(Hashing::Seeded(seed), 3, 9).value(40) == 7).expect("one seed in ten");
    let circle = Circle::new(Hashing::Seeded(seed), 3, 9);
    let values: Vec<u64> = (40..48).map(|key| circle.value(key)).collect();
    assert_eq!(values, [7, 8, 9, 0, 1, 2, 3, 4]);
}

#[test]
fn keys_that_fit_are_stored_exactly() {
    let keys: Vec<u64> = (0..5_000).map(|i| 1_000_000 + i * 37).collect();
    let filter = grafite(&keys, 12.0, 3);
    assert!(filter.rate_bound(1_000_000) == 0.0);
    for pair in keys.windows(2) {
        let between = U64Range::new(pair[0] + 1, pair[1] - 1).expect("a gap of 36");
        assert!(!filter.may_contain_range(between), "{between:?}");
        assert!(filter.may_contain(pair[0]));
    }
}

#[test]
fn a_range_across_blocks_keeps_its_middle() {
    // Few keys and wide ranges: where the published code loses keys.
    for seed in 0..200u64 {
        let keys: Vec<u64> =
            (1..=100u64).map(|i| i.wrapping_mul(0x0028_1CA3_1234_5679) & (u64::MAX >> 1)).collect();
        let mut keys = keys;
        keys.sort_unstable();
        let filter = grafite(&keys, 10.0, seed);
        for &key in &keys {
            for width in [1u64 << 10, 1 << 16, 1 << 24, 1 << 40] {
                let lo = key.saturating_sub(seed.wrapping_mul(0x9E37_79B9) % width);
                let range = U64Range::new(lo, lo.saturating_add(width)).expect("not inverted");
                assert!(filter.may_contain_range(range), "seed {seed}, key {key}, {range:?}");
            }
        }
    }
}

#[test]
fn the_seed_moves_the_false_positives() {
    let keys: Vec<u64> = (0..20_000u64).map(|i| i << 40).collect();
    let asked: Vec<u64> = (0..20_000u64).map(|i| (i << 40) + 12_345).collect();
    let positives = |seed| {
        let filter = grafite(&keys, 8.0, seed);
        asked.iter().map(|&key| filter.may_contain(key)).collect::<Vec<_>>()
    };
    assert_ne!(positives(1), positives(2));
    assert_eq!(positives(1), positives(1));
}
