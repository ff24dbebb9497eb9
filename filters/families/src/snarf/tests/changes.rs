//! Insertions and removals against an exact set.

use std::collections::BTreeSet;

use lacuna_base::{Budget, BuildPlan, FilterSpec, InsertKey, RangeFilter, RemoveKey, SortedKeys, U64Range};
use lacuna_workload::Rng;

use crate::{SnarfMut, SnarfSpec};

fn plan() -> BuildPlan<u64> {
    BuildPlan::new(Budget::bits_per_key(100.0).expect("in range"))
}

fn filter_of(keys: &[u64], block_keys: u32) -> SnarfMut {
    let keys = SortedKeys::integers(keys).expect("ascending");
    SnarfMut::new(SnarfSpec::new().with_block_keys(block_keys), keys, plan())
}

/// Asks for points and ranges around `key`.
fn agrees_near(filter: &SnarfMut, oracle: &BTreeSet<u64>, key: u64, rng: &mut Rng, place: &str) {
    for _ in 0..4 {
        let reach = 1 << rng.below(12);
        let lo = key.saturating_sub(rng.below(reach));
        let hi = key.saturating_add(rng.below(reach));
        let range = U64Range::new(lo, hi).expect("not inverted");
        let truth = oracle.range(lo..=hi).next().is_some();
        assert_eq!(filter.may_contain_range(range), truth, "{range:?}, {place}");
    }
}

/// The sealed form is the one that building from the same keys gives, byte for byte, and it denies no key.
fn seals_as_built(filter: &SnarfMut, oracle: &BTreeSet<u64>, block_keys: u32, place: &str) {
    let keys: Vec<u64> = oracle.iter().copied().collect();
    let spec = SnarfSpec::new().with_block_keys(block_keys);
    let built = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan());
    let sealed = filter.seal();
    match (sealed, built) {
        (Ok(sealed), Ok(built)) => {
            assert!(sealed == built, "{place}");
            assert!(sealed.as_bytes().len() <= filter.size_in_bytes(), "{place}");
            let opened = crate::open::<u64, _>(sealed).expect("just sealed");
            assert!(keys.iter().all(|&key| opened.may_contain(key)), "{place}");
        }
        (sealed, built) => assert_eq!(sealed.is_err(), built.is_err(), "{place}"),
    }
}

/// A key near others, far from all, or at a rim.
fn draw(rng: &mut Rng) -> u64 {
    match rng.below(10) {
        0..=5 => (rng.below(3) << 50) + rng.below(600),
        6 | 7 => rng.next_u64(),
        8 => rng.below(3),
        _ => u64::MAX - rng.below(3),
    }
}

#[test]
fn changes_agree_with_a_set() {
    for seed in 0..6 {
        let mut rng = Rng::new(seed);
        let block_keys = [2, 3, 128][rng.index(3)];
        let mut oracle: BTreeSet<u64> = (0..rng.below(400)).map(|_| draw(&mut rng)).collect();
        let keys: Vec<u64> = oracle.iter().copied().collect();
        let mut filter = filter_of(&keys, block_keys);
        for step in 0..6_000 {
            let place = format!("step {step}, blocks of {block_keys}, seed {seed}");
            let key = draw(&mut rng);
            // It grows for a while, shrinks to nothing, and grows again.
            if rng.below(10) < if step / 2_000 == 1 { 2 } else { 7 } {
                assert_eq!(filter.insert(key).expect("never full"), oracle.insert(key), "{key}, {place}");
            } else {
                let key = oracle.range(key..).next().copied().filter(|_| rng.below(3) > 0).unwrap_or(key);
                assert_eq!(filter.remove(key).expect("never fails"), oracle.remove(&key), "{key}, {place}");
            }
            agrees_near(&filter, &oracle, key, &mut rng, &place);
            assert_eq!(filter.key_count(), oracle.len() as u64, "{place}");
            if step % 1_500 == 0 {
                assert!(filter.keys().eq(oracle.iter().copied()), "{place}");
                seals_as_built(&filter, &oracle, block_keys, &place);
            }
        }
        while let Some(key) = oracle.pop_first() {
            assert!(filter.remove(key).expect("never fails"));
        }
        assert_eq!(
            (filter.key_count(), filter.may_contain_range(U64Range::new(0, u64::MAX).expect("whole"))),
            (0, false)
        );
    }
}

/// Two keys on one position: one goes, the other stays; a third that never was there is refused.
#[test]
fn a_shared_position_outlives_one_key() {
    let mut keys: Vec<u64> = (0..1_000).map(|i| i * 1_000_000).collect();
    keys.extend([500_400_001, 500_400_003]);
    keys.sort_unstable();
    let mut filter = SnarfMut::new(
        SnarfSpec::new(),
        SortedKeys::integers(&keys).expect("ascending"),
        BuildPlan::new(Budget::bits_per_key(4.0).expect("in range")),
    );
    let both = crate::open::<u64, _>(filter.seal().expect("fits")).expect("just sealed");
    assert!(both.may_contain(500_400_002), "the three share a position");
    assert!(!filter.remove(500_400_002).expect("never fails"));
    assert!(filter.remove(500_400_001).expect("never fails"));
    assert!(!filter.remove(500_400_001).expect("never fails"));
    let one = crate::open::<u64, _>(filter.seal().expect("fits")).expect("just sealed");
    assert!(one.may_contain(500_400_003) && filter.may_contain(500_400_003));
    assert!(!filter.may_contain(500_400_001));
}

/// Keys that only ever grow all land in the last block, which is cut again and again.
#[test]
fn appended_keys_keep_blocks_small() {
    let mut filter = filter_of(&[], 16);
    for key in 0..5_000u64 {
        assert!(filter.insert(key * 1_000).expect("never full"));
    }
    assert!(filter.runs().all(|keys| (1..=32).contains(&keys)));
    assert!(filter.keys().eq((0..5_000).map(|key| key * 1_000)));
}

/// Where most keys have gone, the few that are left share blocks.
#[test]
fn blocks_shrink_together() {
    let keys: Vec<u64> = (0..20_000).map(|key| key * 1_000).collect();
    let mut filter = filter_of(&keys, 64);
    for key in keys.iter().filter(|&&key| key % 100_000 != 0) {
        assert!(filter.remove(*key).expect("never fails"));
    }
    let runs: Vec<usize> = filter.runs().collect();
    assert_eq!(runs.iter().sum::<usize>(), 200);
    assert!(runs[..runs.len() - 1].iter().all(|keys| (16..=128).contains(keys)), "{runs:?}");
    assert!(filter.keys().eq((0..200).map(|key| key * 100_000)));
}

/// About log2(span / keys) + 2 bits a key, and a block's 48 bytes and padding for at least 64 of them.
#[test]
fn memory_is_near_the_information() {
    let seed = 9;
    let mut rng = Rng::new(seed);
    let keys: BTreeSet<u64> = (0..100_000).map(|_| rng.next_u64() >> 20).collect();
    let keys: Vec<u64> = keys.into_iter().collect();
    let filter = filter_of(&keys, 128);
    let bits = filter.memory_bytes() as f64 * 8.0 / keys.len() as f64;
    assert!(bits < 44.0 - 100_000f64.log2() + 2.0 + 4.0, "{bits} bits a key, seed {seed}");
}
