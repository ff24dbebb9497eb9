//! What designing costs beside building a standard Bloom filter of the same keys.
//!
//! `cargo run --release -p lacuna-filters --example designer_speed [-- keys ...]`

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_core::{Budget, BuildPlan, FilterSpec, Result, Sample, SortedKeys};
use lacuna_filters::{AutoSpec, BloomSpec};
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
    let (mut design, mut bloom) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        design.push(timed(|| AutoSpec::new().design(keys, &plan).map(|design| design.candidates().len()))?);
        bloom.push(timed(|| BloomSpec::new().build(keys, &plan).map(|sealed| sealed.as_bytes().len()))?);
    }
    let (design, bloom) = (median(design), median(bloom));
    let share = design.as_secs_f64() / bloom.as_secs_f64();
    println!("{count:>8} {queries:>28} {design:>10.2?} {bloom:>10.2?} {share:>7.3}");
    Ok(())
}

fn timed(work: impl FnOnce() -> Result<usize>) -> Result<Duration> {
    let started = Instant::now();
    black_box(work()?);
    Ok(started.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
