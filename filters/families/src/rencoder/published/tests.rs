//! The paper's own examples, the key sets that the public code loses, and the bits of table 4.

use lacuna_base::{Budget, BuildPlan, DynFilter, SortedKeys, U64Range};
use lacuna_workload::Rng;

use super::codec::{HEADER_BYTES, Header};
use super::query::PublishedRencoder;
use crate::rencoder::tests_kit::{build, empty_ranges, keys_of, positives, seal};

fn view(payload: &[u8]) -> PublishedRencoder {
    PublishedRencoder::new(Header::read(payload).expect("just sealed"), payload.len())
}

/// The numbers of the set bits of the mini-tree under `prefix`, by every hash function.
fn nodes_of(payload: &[u8], prefix: u64) -> Vec<u64> {
    let filter = view(payload);
    let is_set = |number: &u64| {
        let bit = number - 1;
        (0..filter.header.hash_count).all(|function| {
            let byte = payload[filter.window(prefix, function) + (bit / 8) as usize];
            byte >> (bit % 8) & 1 == 1
        })
    };
    (1..2 << filter.header.tree_levels).filter(is_set).collect()
}

/// Figure 3: key 164 sets the nodes 1, 2, 5, 10 and 20 of the bitmap under 1010.
#[test]
fn the_bitmap_of_the_papers_key_is_set() {
    // Keys far apart, in an array so large that no bitmap meets another.
    let keys = [164, 1 << 30, 1 << 40, 1 << 50];
    let sealed = seal("rencoder:published,levels=4,k=3,round=4", &keys, 128.0, &[]);
    let filter = view(sealed.payload());
    assert_eq!(filter.prefix(164, 0), 0b1010);
    let numbers: Vec<u64> = (0..4).map(|height| filter.node_number(164, height)).collect();
    assert_eq!(numbers, [20, 10, 5, 2]);
    let set = nodes_of(sealed.payload(), 0b1010);
    assert!([1, 2, 5, 10, 20].iter().all(|number| set.contains(number)), "{set:?}");
}

/// The range example of section 3.2: 164 is in 160 to 165, whatever else the array holds.
#[test]
fn the_papers_range_holds_its_key() {
    for spec in ["rencoder:published,levels=4,k=1", "rencoder:published"] {
        for bits in [70.0, 128.0] {
            let keys: Vec<u64> = (0..40).map(|key| 164 + (key << 33)).collect();
            let filter = build(spec, &keys, bits);
            assert!(filter.may_contain_range(U64Range::new(160, 165).expect("in order")), "{spec} at {bits}");
        }
    }
}

fn finds_all(filter: &DynFilter<u64>, keys: &[u64], about: &str) {
    let mut rng = Rng::new(17);
    for &key in keys {
        assert!(filter.may_contain(key), "{key} of {about} is denied");
        let (before, after) = (rng.next_u64() >> rng.below(64), rng.next_u64() >> rng.below(64));
        let range = U64Range::new(key.saturating_sub(before), key.saturating_add(after)).expect("in order");
        assert!(filter.may_contain_range(range), "{key} in {range:?} of {about} is denied, seed 17");
    }
}

/// The public code answers "no" to every key of these: a level on which all keys share a prefix stays empty there.
#[test]
fn sets_that_the_public_code_loses_are_found() {
    let dense: Vec<u64> = (1_000..21_000).collect();
    let at_the_end: Vec<u64> = (u64::MAX - 5_000..=u64::MAX).collect();
    let one_tree: Vec<u64> = (256..512).collect();
    let aligned: Vec<u64> =
        (0..300).map(|key| key << 56 >> 1).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    let ends = vec![0, 1, u64::MAX - 1, u64::MAX];
    for (about, keys) in [
        ("dense", dense),
        ("the end", at_the_end),
        ("one tree", one_tree),
        ("aligned", aligned),
        ("ends", ends),
    ] {
        for spec in
            ["rencoder:published", "rencoder:published,levels=4,round=4", "rencoder:published,k=1,round=8"]
        {
            let bits = if keys.len() < 1_000 { 128.0 } else { 14.0 };
            let filter = build(spec, &keys, bits);
            finds_all(&*filter, &keys, &format!("{about}, {spec}"));
        }
    }
}

/// Windows end with the array: the last one starts so early that no bit of it lies beyond.
#[test]
fn no_window_leaves_the_array() {
    for levels in 4..=8 {
        let keys = keys_of("uniform:3k", 2);
        let sealed = seal(&format!("rencoder:published,levels={levels}"), &keys, 9.0, &[]);
        let (payload, filter) = (sealed.payload(), view(sealed.payload()));
        let window = super::codec::window_bytes(levels);
        let mut rng = Rng::new(3);
        let ends = (0..20_000).map(|place| filter.window(rng.next_u64(), place % 3) + window);
        let last = ends.max().expect("there are some");
        assert!(last <= payload.len() && last + 4 > payload.len(), "{last} of {}", payload.len());
        assert!(filter.window(rng.next_u64(), 0) >= HEADER_BYTES);
    }
}

/// Algorithm 5 stops once half of the bits, less the threshold, are ones.
#[test]
fn rounds_stop_at_half_ones() {
    let keys = keys_of("uniform:20k", 4);
    for (spec, step) in [("rencoder:published,k=2", 1), ("rencoder:published,k=2,round=4", 4)] {
        let sealed = seal(spec, &keys, 16.0, &[]);
        let array = &sealed.payload()[HEADER_BYTES..];
        let ones: u32 = array.iter().map(|byte| byte.count_ones()).sum();
        let share = f64::from(ones) / (array.len() as f64 * 8.0);
        let levels = view(sealed.payload()).header.stored_levels;
        assert!(
            levels.is_multiple_of(step) && (0.45..0.75).contains(&share),
            "{spec}: {levels} levels, {share} ones"
        );
        if step == 1 {
            assert!(share < 0.52, "one level more than needed: {share}");
        }
    }
}

/// The layout costs accuracy: about the same keys and budgets, ours denies more. Neither denies nothing.
#[test]
fn published_rates_are_near_ours_and_no_better() {
    let (seed, bits) = (6, 16.0);
    let keys = keys_of("uniform:100k", seed);
    let anywhere = empty_ranges(&keys, 400_000, seed, Rng::next_u64);
    let rate = |spec| positives(&*build(spec, &keys, bits), &anywhere) / 400_000.0;
    let (own, published) = (rate("rencoder"), rate("rencoder:published"));
    println!("ours {own}, published {published}");
    assert!(published < 0.05, "{published}, seed {seed}");
    assert!(own < published, "ours {own}, published {published}, seed {seed}");
}

/// The walk agrees with asking every key of the range for its whole path.
#[test]
fn ranges_answer_as_their_keys_do() {
    let keys = keys_of("uniform:2k", 8);
    for spec in
        ["rencoder:published,levels=4,k=1", "rencoder:published,k=2", "rencoder:published,levels=5,round=7"]
    {
        let sealed = seal(spec, &keys, 12.0, &[]);
        let (payload, filter) = (sealed.payload(), view(sealed.payload()));
        let mut rng = Rng::new(9);
        let mut maybes = 0;
        for _ in 0..4_000 {
            let lo = rng.next_u64().min(u64::MAX - 200);
            let hi = lo + rng.below(200);
            let by_keys = (lo..=hi).any(|key| filter.may_hold(payload, key, key));
            assert_eq!(filter.may_hold(payload, lo, hi), by_keys, "{lo} to {hi}, {spec}, seed 9");
            maybes += u32::from(by_keys);
        }
        assert!((1..4_000).contains(&maybes), "{maybes} of 4,000 by {spec} are too few or too many to tell");
    }
}

/// A fault planted in the bytes is seen: without its windows a key is denied.
#[test]
fn a_cleared_array_denies_its_keys() {
    let keys = keys_of("uniform:1k", 8);
    let plan = BuildPlan::<u64>::new(Budget::bits_per_key(16.0).expect("in range"));
    let spec = crate::spec::<u64>("rencoder:published").expect("known");
    let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
    let mut payload = sealed.payload().to_vec();
    payload[HEADER_BYTES..].fill(0);
    let filter = view(&payload);
    assert!(keys.iter().all(|&key| !filter.may_hold(&payload, key, key)));
}
