//! The model against what is measured (section 5.1): every design, or in a short run some of them.

use std::sync::Arc;
use std::time::Instant;

use lacuna_base::{Budget, BuildPlan, ByteColumn, DynFilter, Sample, SortedKeys};
use lacuna_testkit::effort::short_or_long;
use lacuna_workload::Rng;

use super::support::{build, normal_split, plan, rate, workload};
use crate::ProteusSpec;
#[cfg(feature = "baselines")]
use crate::TwoPrefixBloomSpec;

/// Predicted and measured rate of some designs, with how many are more than 2 points apart.
struct Comparison {
    pairs: Vec<(String, f64, f64)>,
}

impl Comparison {
    /// 95 of 100 designs are predicted to within 2 points.
    fn hold(&self, name: &str) {
        let far: Vec<_> = self.pairs.iter().filter(|(_, told, seen)| (told - seen).abs() > 0.02).collect();
        let all = self.pairs.len();
        assert!(far.len() * 20 <= all, "{name}: {} of {all} designs are far off: {far:?}", far.len());
    }

    fn measured(&self, name: &str) -> f64 {
        self.pairs.iter().find(|(design, ..)| design == name).expect("it was measured").2
    }

    fn min(&self) -> f64 {
        self.pairs.iter().map(|pair| pair.2).fold(1.0, f64::min)
    }
}

const SEED: u64 = 21;

fn key_set(shape: &str) -> String {
    format!("{shape}:{}", short_or_long("30k", "1M"))
}

fn split_workload() -> (Vec<u64>, Vec<(u64, u64)>) {
    normal_split(short_or_long("30k", "1M"), 10_000, SEED)
}

#[test]
fn rates_of_single_prefix_filters_are_predicted() {
    for (keys, queries) in [
        ("uniform", ["uniform:20k:2-32"]),
        ("uniform", ["uniform:20k:2-64k"]),
        ("uniform", ["correlated:20k:2-128:1k"]),
        ("uniform", ["correlated:20k:2-128:1M"]),
        ("normal", ["correlated:20k:1:32"]),
    ] {
        let (keys, queries) = workload(&key_set(keys), &queries, SEED);
        for spec in [ProteusSpec::new(), ProteusSpec::new().with_probes(1 << 24)] {
            let spec = spec.with_trie_bits(0);
            let plan = plan(10.0, &queries, 2);
            let designs = spec.designs(SortedKeys::integers(&keys).expect("ascending"), &plan);
            // Without a bound on probes, questions to bad designs take long.
            let hopeful = designs.iter().filter(|design| design.prefixes < 1_000.0);
            let pairs = hopeful.map(|design| {
                let filter = build(&spec.with_bloom_bits(design.bloom_bits), &keys, &plan);
                (design.bloom_bits.to_string(), design.rate, rate(&*filter, &queries))
            });
            Comparison { pairs: pairs.collect() }.hold("1PBF");
        }
    }
}

#[test]
fn rates_of_proteus_are_predicted() {
    let (keys, queries) = split_workload();
    let (plan, keys_view) = (plan(10.0, &queries, 2), SortedKeys::integers(&keys).expect("ascending"));
    let spec = ProteusSpec::new();
    let designs = spec.designs(keys_view, &plan);
    let name = |trie: u32, bloom: u32| format!("{trie}+{bloom}");
    let best = spec.predict(keys_view, &plan).design;
    let step = short_or_long(11, 1);
    let tested = designs.iter().step_by(step).chain([&best]);
    let pairs = tested.map(|design| {
        let given = spec.with_trie_bits(design.trie_bits).with_bloom_bits(design.bloom_bits);
        let filter = build(&given, &keys, &plan);
        (name(design.trie_bits, design.bloom_bits), design.rate, rate(&*filter, &queries))
    });
    let comparison = Comparison { pairs: pairs.collect() };
    comparison.hold("Proteus");
    let chosen = comparison.measured(&name(best.trie_bits, best.bloom_bits));
    let min = comparison.min();
    assert!(chosen <= min * 1.05 + 0.002, "{best:?} gives {chosen}, the best {min}");
    assert!(best.trie_bits > 0, "a split workload wants a trie: {best:?}");
}

#[cfg(feature = "baselines")]
#[test]
fn rates_of_two_prefix_filters_are_predicted() {
    let (keys, queries) = split_workload();
    let (plan, keys_view) = (plan(10.0, &queries, 2), SortedKeys::integers(&keys).expect("ascending"));
    let spec = TwoPrefixBloomSpec::new();
    let designs = spec.designs(keys_view, &plan);
    let best = spec.predict(keys_view, &plan).expect("there are queries");
    let name = |short: u32, long: u32, share: u32| format!("{short}+{long}/{share}");
    let step = short_or_long(67, 17);
    let tested = designs.iter().step_by(step).chain([&best]);
    let pairs = tested.map(|design| {
        let given = spec.with_lengths(design.short_bits, design.long_bits).with_share(design.share.max(10));
        let filter = build(&given, &keys, &plan);
        (name(design.short_bits, design.long_bits, design.share), design.rate, rate(&*filter, &queries))
    });
    let comparison = Comparison { pairs: pairs.collect() };
    comparison.hold("2PBF");
    let chosen = comparison.measured(&name(best.short_bits, best.long_bits, best.share));
    let min = comparison.min();
    assert!(chosen <= min * 1.05 + 0.002, "{best:?} gives {chosen}, the best {min}");
}

/// The bars beside the paper's own designs: 4.91 % for Proteus and 12.3 % for 2PBF.
#[test]
fn normal_split_rates_are_within_the_bars() {
    let (count, half) = short_or_long(("200k", 50_000), ("10M", 500_000));
    let (keys, queries) = normal_split(count, half, SEED);
    let plan = plan(10.0, &queries, queries.len() / 20_000);
    let check = |name: &str, filter: &DynFilter<u64>, bar: f64| {
        let rate = rate(filter, &queries);
        assert!(rate <= bar, "{name} over {count} keys: {rate}, seed {SEED}");
    };
    check("Proteus", &*build(&ProteusSpec::new(), &keys, &plan), 0.055);
    #[cfg(feature = "baselines")]
    check("2PBF", &*build(&TwoPrefixBloomSpec::new(), &keys, &plan), 0.125);
}

/// Most time that 20,000 queries over keys of 1,440 bits may take to model; the paper's bar.
const MAX_SECONDS: u64 = 14;

/// 128 lengths of 1,440 lose next to nothing; a long run also looks at the clock, with a million keys.
#[test]
fn a_coarse_search_is_nearly_as_good_as_a_full_one() {
    let mut rng = Rng::new(SEED);
    let mut all: Vec<Vec<u8>> = (0..short_or_long(5_000, 1_000_000))
        .map(|_| (0..23).flat_map(|_| rng.next_u64().to_be_bytes()).take(180).collect())
        .collect();
    all.sort();
    let keys: ByteColumn = all.iter().collect();
    let keys = SortedKeys::byte_strings(&keys).expect("ascending");
    let mut sample = Sample::<[u8]>::new();
    for _ in 0..short_or_long(4_000, 20_000) {
        // Up to 2^30 keys, up to 2^29 after a key: the last 64 bits decide.
        let mut lo = all[rng.index(all.len())].clone();
        let tail =
            u64::from_be_bytes(*lo.last_chunk().expect("180 bytes")).saturating_add(rng.between(1, 1 << 29));
        lo[172..].copy_from_slice(&tail.to_be_bytes());
        let mut hi = lo.clone();
        hi[172..].copy_from_slice(&tail.saturating_add(rng.between(1, 1 << 30)).to_be_bytes());
        sample.push(&lo, &hi);
    }
    let plan =
        BuildPlan::<[u8]>::new(Budget::bits_per_key(12.0).expect("in range")).with_sample(Arc::new(sample));
    let start = Instant::now();
    let coarse = ProteusSpec::new().predict(keys, &plan);
    let taken = start.elapsed();
    println!("{} keys of 1,440 bits: modelled in {taken:?}, seed {SEED}", keys.len());
    assert!(taken.as_secs() < short_or_long(u64::MAX, MAX_SECONDS), "{taken:?}");
    let full = ProteusSpec::new().with_all_lengths().predict(keys, &plan);
    assert_eq!(coarse.sampled, full.sampled);
    assert!(coarse.sampled > short_or_long(3_900, 19_500) && full.design.bloom_bits > 1_400, "{full:?}");
    assert!(coarse.design.rate <= full.design.rate * 1.05, "{coarse:?}, {full:?}");
}

#[test]
fn threads_do_not_change_the_prediction() {
    let (keys, queries) = workload("normal:20k", &["correlated:3k:2-128:1k"], SEED);
    let (plan, keys) = (plan(10.0, &queries, 1), SortedKeys::integers(&keys).expect("ascending"));
    let (alone, best) = (ProteusSpec::new().designs(keys, &plan), ProteusSpec::new().predict(keys, &plan));
    for threads in [2, 3, 7, 1_000] {
        let together = ProteusSpec::new().with_threads(threads);
        assert_eq!(together.designs(keys, &plan), alone, "{threads} threads");
        assert_eq!(together.predict(keys, &plan), best, "{threads} threads");
    }
}

#[test]
fn sampled_keys_count_as_all_keys() {
    use crate::proteus::cpfpr::{KeyCounts, LOOKED_AT};
    let (keys, _) = workload("normal:1M", &["uniform:1:1"], SEED);
    let told = KeyCounts::of(&keys[..], 64, LOOKED_AT);
    for bits in 1..=64u32 {
        let distinct = 1 + keys.windows(2).filter(|pair| (pair[0] ^ pair[1]).leading_zeros() < bits).count();
        let (told, distinct) = (told.distinct(bits) as f64, distinct as f64);
        let error = (told - distinct).abs();
        assert!(error <= distinct * 0.05 + 400.0, "{bits} bits: {told} predicted, {distinct} counted");
    }
}

#[test]
fn without_a_sample_short_queries_are_assumed() {
    let (keys, _) = workload("uniform:5k", &["uniform:1:1"], SEED);
    let none = plan(10.0, &[], 1);
    let keys = SortedKeys::integers(&keys).expect("ascending");
    let told = ProteusSpec::new().predict(keys, &none);
    assert_eq!((told.sampled, told.design.trie_bits, told.design.bloom_bits), (0, 0, 59));
    let dense: Vec<u64> = (0..5_000).collect();
    let told = ProteusSpec::new().predict(SortedKeys::integers(&dense).expect("ascending"), &none);
    assert_eq!((told.design.trie_bits, told.design.bloom_bits), (64, 0), "whole keys fit");
}
