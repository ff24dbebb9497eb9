//! What designing costs beside building a standard Bloom filter of the same keys.
//!
//! `cargo run --release -p lacuna-lab --example designer_speed [-- keys ...]`

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, FilterSpec, Result, Sample, SortedKeys};
use lacuna_bench::harness::Rounds;
use lacuna_families::{AutoSpec, BloomSpec};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions};

const ROUNDS: usize = 7;

fn main() -> Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let counts = if asked.is_empty() { vec!["100k".to_owned(), "1M".to_owned()] } else { asked };
    println!("{:>8} {:>28} {:>10} {:>10} {:>7}", "keys", "queries", "design", "bloom", "share");
    for count in counts {
        for queries in ["points:20k", "uniform:20k:2-1024", "split:20k:2-32:32", "correlated:20k:2-1024:1024"]
        {
            measure(&count, queries)?;
        }
    }
    Ok(())
}

fn measure(count: &str, queries: &str) -> Result<()> {
    let keys =
        KeySource::parse(&format!("uniform:{count}"))?.load(&ReadOptions::default(), 1, &mut |_| {})?;
    let workload = QuerySource::parse(queries)?.workload(keys, 2)?;
    let (Keys::U64(keys), Queries::U64(ranges)) = (workload.inserted, workload.queries) else {
        return Ok(());
    };
    let mut sample = Sample::new();
    ranges.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
    let plan = BuildPlan::new(Budget::bits_per_key(14.0)?).with_sample(Arc::new(sample)).with_seed(3);
    let keys = SortedKeys::integers(&keys)?;
    let mut rounds = Rounds::new();
    let design =
        rounds.add("design", 1, || AutoSpec::new().design(keys, &plan).expect("fits").candidates().len());
    let bloom = rounds.add("bloom", 1, || BloomSpec::new().build(keys, &plan).expect("fits"));
    let timings = rounds.run(ROUNDS, &mut |_| {});
    let (design_ms, bloom_ms) = (timings.median_ns(design) / 1e6, timings.median_ns(bloom) / 1e6);
    let share = timings.ratio(design, bloom);
    println!("{count:>8} {queries:>28} {design_ms:>7.2} ms {bloom_ms:>7.2} ms {share:>7.3}");
    Ok(())
}
