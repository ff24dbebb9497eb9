//! Table 2 of the Proteus paper: what modelling costs, phase by phase, beside the build of a standard Bloom filter.
//!
//! `cargo run --release -p lacuna-lab --example cpfpr_cost [keys]`: normal keys (10M unless said otherwise), 20,000
//! sampled queries of 2 to 2^20 keys up to 2^20 after a key (2PBF 2 to 2^15), 10 bits a key; medians of nine
//! interleaved rounds, in milliseconds and as shares of the standard Bloom filter's build.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_base::{Budget, BuildPlan, FilterSpec, Sample, SortedKeys};
use lacuna_families::testing::cpfpr::Phase;
use lacuna_families::{BloomSpec, ProteusSpec, TwoPrefixBloomSpec};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions};

const ROUNDS: usize = 9;

fn main() {
    let count = std::env::args().nth(1).unwrap_or_else(|| "10M".to_owned());
    let keys = KeySource::parse(&format!("normal:{count}")).expect("a count of keys");
    let keys = keys.load(&ReadOptions::default(), 1, &mut |_| {}).expect("generated");
    let wide = plan(&keys, "correlated:20k:2-1M:1M");
    let narrow = plan(&keys, "correlated:20k:2-32k:1M");
    let Keys::U64(keys) = keys else { panic!("integers were asked for") };
    let keys = SortedKeys::integers(&keys).expect("ascending");
    let mut times: HashMap<String, Vec<Duration>> = HashMap::new();
    for _ in 0..ROUNDS {
        let mut note = |name: &str, time| times.entry(name.to_owned()).or_default().push(time);
        note("Bloom build", time(|| BloomSpec::new().build(keys, &wide).map(drop).expect("fits")));
        for (name, spec) in [("1PBF", ProteusSpec::new().with_trie_bits(0)), ("Proteus", ProteusSpec::new())]
        {
            let mut phases: HashMap<Phase, Duration> = HashMap::new();
            let mut last = Instant::now();
            let total = time(|| {
                last = Instant::now();
                spec.predict_in_phases(keys, &wide, &mut |phase| {
                    *phases.entry(phase).or_default() += last.elapsed();
                    last = Instant::now();
                });
            });
            phases.iter().for_each(|(phase, &time)| note(&format!("{name} {phase:?}"), time));
            note(&format!("{name} model"), total);
        }
        note("2PBF model", time(|| assert!(TwoPrefixBloomSpec::new().predict(keys, &narrow).is_some())));
    }
    let median = |name: &str| {
        let mut all = times[name].clone();
        all.sort_unstable();
        all[all.len() / 2].as_secs_f64() * 1e3
    };
    let bloom = median("Bloom build");
    let mut names: Vec<&String> = times.keys().collect();
    names.sort_unstable();
    for name in names {
        println!("{name:35} {:9.2} ms {:6.2} %", median(name), median(name) / bloom * 100.0);
    }
    println!("{:?}", ProteusSpec::new().predict(keys, &wide));
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn plan(keys: &Keys, queries: &str) -> BuildPlan<u64> {
    let workload =
        QuerySource::parse(queries).expect("known").workload(keys.clone(), 2).expect("keys leave room");
    let Queries::U64(ranges) = workload.queries else { panic!("integers were asked for") };
    let mut sample = Sample::new();
    ranges.into_iter().for_each(|(lo, hi)| sample.push(lo, hi));
    BuildPlan::new(Budget::bits_per_key(10.0).expect("in range")).with_sample(Arc::new(sample))
}
