//! What is the Bloom filters' own; the conformance suite proves the rest.

use lacuna_base::hash::IntegerHasher;
use lacuna_base::{Budget, BuildPlan, DynFilter, SortedKeys, U64Range};

use super::blocked::mask;

fn build(spec: &str, keys: &[u64], bits_per_key: f64) -> Box<DynFilter<u64>> {
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(bits_per_key).expect("in range")).with_seed(5);
    let keys = SortedKeys::<u64>::try_new(keys).expect("ascending");
    crate::open(crate::spec::<u64>(spec).expect("known").build(keys, &plan).expect("fits"))
        .expect("just sealed")
}

#[test]
fn the_measured_rate_is_the_stated_one() {
    let keys: Vec<u64> = (0..50_000u64).map(|i| i * 0x1_0000_0001).collect();
    for spec in ["bloom", "blocked_bloom"] {
        for bits_per_key in [4.0, 8.0, 10.0, 14.0] {
            let filter = build(spec, &keys, bits_per_key);
            let asked = 1_000_000;
            let positives =
                (0..asked).filter(|i| filter.may_contain(7 + i * 0x1_0000_0001 / 32)).count() as f64;
            let expected = filter.rate_bound(1) * asked as f64;
            let slack = 3.3 * expected.sqrt() + 0.05 * expected;
            assert!(
                (positives - expected).abs() <= slack,
                "{spec} at {bits_per_key}: {positives}, not {expected}"
            );
        }
    }
}

#[test]
fn a_long_range_is_maybe() {
    let filter = build("bloom", &[10, 1_000_000, 2_000_000], 20.0);
    assert!(filter.may_contain_range(U64Range::new(20, 999_999).expect("not inverted")));
    assert!(!filter.may_contain_range(U64Range::new(20, 83).expect("not inverted")));
}

#[test]
fn a_block_mask_sets_as_many_bits_as_asked() {
    let hasher = IntegerHasher::new(0);
    for hash_count in [1, 2, 4, 8] {
        for value in 0..1_000 {
            let bits: u32 = mask(hasher.hash(value), hash_count).iter().map(|word| word.count_ones()).sum();
            assert_eq!(bits, hash_count);
        }
    }
    let bits: u32 =
        (0..1_000).map(|value| mask(hasher.hash(value), 16).map(u64::count_ones).iter().sum::<u32>()).sum();
    assert!((15_700..=16_000).contains(&bits), "16 bits a key, few of them twice: {bits}");
}

#[test]
fn a_key_alone_is_answered_as_its_range() {
    let keys: Vec<u64> = (0..40).map(|i| i * i * 1_000_003).collect();
    for spec in ["bloom:k=1", "bloom:k=2", "bloom:k=3", "bloom:k=4", "bloom:k=10", "blocked_bloom"] {
        // Sizes of all remainders, so that bits lie in last bytes that are no whole word.
        for eighths in 16..80 {
            let filter = build(spec, &keys, f64::from(eighths) / 8.0);
            for key in keys.iter().flat_map(|key| [key.saturating_sub(1), *key, key + 1, key ^ 0x5_5555]) {
                let alone = filter.may_contain(key);
                let (mut batched, range) = ([false], U64Range::point(key));
                filter.may_contain_ranges(&[range], &mut batched);
                assert_eq!(alone, filter.may_contain_range(range), "{spec} at {eighths} eighths: {key}");
                assert_eq!(alone, batched[0], "{spec} at {eighths} eighths: {key}");
            }
            assert!(keys.iter().all(|&key| filter.may_contain(key)), "{spec} at {eighths} eighths");
        }
    }
}

#[test]
fn one_key_or_none_has_only_its_own() {
    for (keys, inside, outside) in
        [(&[][..], None, 0), (&[7][..], Some(7), 8), (&[0, u64::MAX][..], Some(0), 9)]
    {
        let filter = build("bloom", keys, 10.0);
        assert!(!filter.may_contain(outside));
        assert!(inside.is_none_or(|key| filter.may_contain(key)));
    }
}
