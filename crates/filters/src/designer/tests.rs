//! What is the designer's own: predictions near the truth, choices that make sense.

use std::sync::Arc;

use lacuna_core::{Budget, BuildPlan, Sample, SortedKeys};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions};

use super::AutoSpec;

fn keys(text: &str) -> Vec<u64> {
    let source = KeySource::parse(text).expect("known");
    match source.load(&ReadOptions::default(), 1, &mut |_| {}).expect("generated") {
        Keys::U64(keys) => keys,
        Keys::Bytes(_) => unreachable!("generators give integers"),
    }
}

fn plan(keys: &[u64], queries: &str, bits: f64) -> BuildPlan<u64> {
    let source = QuerySource::parse(queries).expect("known");
    let workload = source.workload(Keys::U64(keys.to_vec()), 2).expect("drawn");
    let mut sample = Sample::new();
    let Queries::U64(ranges) = workload.queries else { unreachable!("integers") };
    ranges.into_iter().for_each(|(lo, hi)| sample.push(lo, hi));
    BuildPlan::new(Budget::bits_per_key(bits).expect("in range")).with_sample(Arc::new(sample)).with_seed(3)
}

#[test]
fn look() {
    for set in ["uniform:200k", "zipf:200k", "clustered:200k"] {
        let keys = keys(set);
        for queries in [
            "points:20k",
            "uniform:20k:2-32",
            "correlated:20k:2-32:32",
            "split:20k:2-1024:1024",
            "uniform:20k:2-1048576",
        ] {
            for bits in [10.0, 18.0] {
                let plan = plan(&keys, queries, bits);
                let started = std::time::Instant::now();
                let design = AutoSpec::new().design(SortedKeys::integers(&keys).unwrap(), &plan).unwrap();
                println!("{set} {queries} {bits}: {:?}\n{design}", started.elapsed());
                let measured = design.measure().unwrap();
                for (candidate, measured) in design.candidates().iter().zip(measured) {
                    if let Some(m) = measured {
                        println!(
                            "    {:<26} {:.5} {:.5}  {} {}",
                            candidate.spec,
                            candidate.prediction.rate,
                            m.rate,
                            candidate.prediction.payload_bytes,
                            m.payload_bytes
                        );
                    }
                }
            }
        }
    }
}
