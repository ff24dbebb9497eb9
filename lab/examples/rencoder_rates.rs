//! False positive rates of REncoder beside the paper's: ranges of 2 to 32 keys over uniform keys, anywhere and right
//! after keys.
//!
//! `cargo run --release -p lacuna-lab --example rencoder_rates [keys] [queries]`

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, Sample, SortedKeys, U64Range};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions, Result};

/// Seed of keys, queries and filters.
const SEED: u64 = 1;

/// Spec, query source, and the paper's rates at bits per key.
type Row = (&'static str, &'static str, &'static [(f64, f64)]);

/// What the paper reports, and queries next to keys, for which it reports nothing.
const TABLE: [Row; 10] = [
    ("rencoder", "uniform:N:2-32", &[(6.5, 0.5), (8.5, 0.25), (10.5, 0.1), (16.0, 0.01), (21.0, 0.001)]),
    ("rencoder:ss", "uniform:N:2-32", &[(2.0, 0.5), (3.0, 0.25), (4.5, 0.1), (9.5, 0.01), (14.5, 0.001)]),
    ("rencoder:se", "uniform:N:2-32", &[(2.0, 0.5), (3.0, 0.25), (4.5, 0.1), (9.5, 0.01), (14.5, 0.001)]),
    ("rencoder", "uniform:N:2-32", &[(14.0, 0.027), (26.0, 0.00016)]),
    ("rencoder", "offset:N:2-32:32", &[(14.0, 0.027), (26.0, 0.00016)]),
    ("rencoder:se", "offset:N:2-32:32", &[(14.0, 0.027), (26.0, 0.00016)]),
    ("rencoder", "correlated:N:2-32:1", &[(14.0, f64::NAN), (18.0, f64::NAN)]),
    ("rencoder:se", "correlated:N:2-32:1", &[(14.0, f64::NAN), (18.0, f64::NAN)]),
    ("rencoder", "correlated:N:2-32:1024", &[(14.0, f64::NAN), (18.0, f64::NAN)]),
    ("rencoder:se", "correlated:N:2-32:1024", &[(14.0, f64::NAN), (18.0, f64::NAN)]),
];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let key_count = arguments.next().unwrap_or_else(|| "10M".to_owned());
    let query_count = arguments.next().unwrap_or_else(|| "2M".to_owned());
    let keys = KeySource::parse(&format!("uniform:{key_count}"))?;
    let keys = keys.load(&ReadOptions::default(), SEED, &mut |_| {})?;
    println!(
        "{:12} {:24} {:>5} {:>10} {:>10} {:>10}  design",
        "spec", "queries", "bits", "rate", "paper", "0.6185^b"
    );
    for (spec, source, rows) in TABLE {
        let queries = draw(source, &query_count, &keys, SEED)?;
        let sample = draw(source, "20k", &keys, SEED + 1)?;
        for &(bits, paper) in rows {
            let (rate, design) = measure(spec, &keys, &sample, &queries, bits)?;
            let bloom = 0.6185f64.powf(bits);
            println!("{spec:12} {source:24} {bits:5} {rate:10.3e} {paper:10.1e} {bloom:10.3e}  {design}");
        }
    }
    Ok(())
}

fn draw(source: &str, count: &str, keys: &Keys, seed: u64) -> Result<Vec<(u64, u64)>> {
    let source = QuerySource::parse(&source.replacen('N', count, 1))?;
    match source.workload(keys.clone(), seed)?.queries {
        Queries::U64(ranges) => Ok(ranges),
        Queries::Bytes(_) => unreachable!("the keys are integers"),
    }
}

fn measure(
    spec: &str,
    keys: &Keys,
    sample: &[(u64, u64)],
    queries: &[(u64, u64)],
    bits: f64,
) -> Result<(f64, String)> {
    let Keys::U64(keys) = keys else { unreachable!("the keys are integers") };
    let mut sampled = Sample::new();
    sample.iter().for_each(|&(lo, hi)| sampled.push(lo, hi));
    let plan = BuildPlan::new(Budget::bits_per_key(bits)?).with_seed(SEED).with_sample(Arc::new(sampled));
    let sealed = lacuna_families::spec::<u64>(spec)?.build(SortedKeys::integers(keys)?, &plan)?;
    let header = sealed.payload();
    let ones = f64::from(u16::from_le_bytes([header[20], header[21]])) / 65_535.0;
    let design = format!("k {} levels {}+{} ones {ones:.3}", header[12], header[14], header[15]);
    let filter = lacuna_families::open::<u64, _>(sealed.into_bytes())?;
    let ranges: Vec<U64Range> = queries.iter().filter_map(|&(lo, hi)| U64Range::new(lo, hi)).collect();
    let mut answers = vec![false; ranges.len()];
    filter.may_contain_ranges(&ranges, &mut answers);
    let positives = answers.iter().filter(|answer| **answer).count();
    Ok((positives as f64 / ranges.len() as f64, design))
}
