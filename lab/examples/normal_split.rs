//! The workload that asks for two prefix lengths (Proteus, figure 4): half correlated short ranges, half long ones
//! anywhere in the whole space; the keys take a tenth of it.
//!
//! `cargo run --release -p lacuna-lab --example normal_split [keys] [queries]`: 10M normal keys, 1M queries and 10
//! bits a key unless said otherwise. Prints predicted and measured rates of the chosen designs and of the paper's own.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, FilterSpec, Sample, SortedKeys, U64Range};
use lacuna_families::{ProteusSpec, TwoPrefixBloomSpec};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions, Rng, is_empty};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().unwrap_or_else(|| "10M".to_owned());
    let half = arguments.next().map_or(500_000, |all| all.parse::<usize>().expect("a number of queries") / 2);
    let keys = KeySource::parse(&format!("normal:{count}")).expect("a count of keys");
    let keys = keys.load(&ReadOptions::default(), 1, &mut |_| {}).expect("generated");
    let keys = narrowed(keys);
    let draw = |half: usize, seed: u64| {
        let source = QuerySource::parse(&format!("correlated:{half}:2-128:1k")).expect("known");
        let correlated = source.workload(keys.clone(), seed).expect("keys leave room").queries;
        let Queries::U64(mut ranges) = correlated else { panic!("integers were asked for") };
        let mut rng = Rng::new(seed);
        while ranges.len() < 2 * half {
            let lo = rng.between(0, u64::MAX - (1 << 20));
            let hi = lo + rng.between(1, (1 << 20) - 1);
            if let Keys::U64(keys) = &keys
                && is_empty(keys, lo, hi)
            {
                ranges.push((lo, hi));
            }
        }
        ranges
    };
    let (sample, asked) = (draw(10_000, 2), draw(half, 3));
    let Keys::U64(keys) = &keys else { panic!("integers were asked for") };
    let keys = SortedKeys::integers(keys).expect("ascending");
    let mut kept = Sample::new();
    sample.iter().for_each(|&(lo, hi)| kept.push(lo, hi));
    let plan = BuildPlan::new(Budget::bits_per_key(10.0).expect("in range")).with_sample(Arc::new(kept));
    let asked: Vec<U64Range> = asked.iter().filter_map(|&(lo, hi)| U64Range::new(lo, hi)).collect();
    for spec in [ProteusSpec::new(), ProteusSpec::new().with_probes(1 << 24)] {
        for spec in [spec, spec.with_trie_bits(24).with_bloom_bits(58), spec.with_trie_bits(0)] {
            let predicted = spec.predict(keys, &plan).design;
            let rate = measure(&spec, keys, &plan, &asked);
            println!("{predicted:?}: measured {:.2} %", rate * 100.0);
        }
    }
    for spec in [TwoPrefixBloomSpec::new(), TwoPrefixBloomSpec::new().with_lengths(26, 57).with_share(50)] {
        let predicted = spec.predict(keys, &plan);
        let rate = measure(&spec, keys, &plan, &asked);
        println!("{predicted:?}: measured {:.2} %", rate * 100.0);
    }
}

/// The paper's deviation, a hundredth of the space, instead of 2^58.
fn narrowed(keys: Keys) -> Keys {
    let Keys::U64(keys) = keys else { panic!("integers were asked for") };
    let middle = 1u64 << 63;
    let narrow = |key: u64| {
        if key < middle { middle - (middle - key) / 25 * 16 } else { middle + (key - middle) / 25 * 16 }
    };
    Keys::from_u64s(keys.into_iter().map(narrow).collect())
}

fn measure(
    spec: &impl FilterSpec<u64>,
    keys: SortedKeys<'_, u64>,
    plan: &BuildPlan<u64>,
    asked: &[U64Range],
) -> f64 {
    let sealed = spec.build(keys, plan).expect("fits");
    let filter = lacuna_families::open::<u64, _>(sealed.into_bytes()).expect("just sealed");
    let mut answers = vec![false; asked.len()];
    filter.may_contain_ranges(asked, &mut answers);
    answers.iter().filter(|&&answer| answer).count() as f64 / asked.len() as f64
}
