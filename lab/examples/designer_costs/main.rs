//! Measures what questions cost, and prints the table of constants that the designer counts with
//! (`filters/families/src/designer/costs.rs`).
//!
//! `cargo run --release -p lacuna-lab --example designer_costs [-- largest number of generated keys, in thousands]`
//!
//! Every family is asked questions of several lengths over sets of several sizes, each question waiting for the answer
//! before, over integers and over byte strings. The constants are the ones that fit `call + probes * probe + fetches *
//! wait * read` best, with the probes and fetches that the family predicts; reads are as long as a standard Bloom
//! filter of that size waits, among filters that take turns. What the bare memory takes is printed first.

mod table;

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, Result, Sample, SortedKeys};
use lacuna_bench::BenchKey;
use lacuna_bench::harness::{MemoryFloor, Rounds, dependent};
use lacuna_families::FAMILIES;
use lacuna_workload::{KeySource, Keys, QuerySource, ReadOptions, Workload, real_sets};

use table::{Point, Table};

const ROUNDS: usize = 9;
const STEPS: usize = 8_192;
const QUERIES: [&str; 5] = [
    "points:8192",
    "uniform:8192:2-32",
    "uniform:8192:2-1024",
    "correlated:8192:2-32:32",
    "correlated:8192:2-1024:1024",
];
/// Sets of byte strings, from some thousand keys to as many as there are.
const STRINGS: [&str; 4] = ["gov_hosts", "repo_paths", "nab_series_points", "wordnet_lemmas"];
const BITS_PER_KEY: [f64; 2] = [10.0, 16.0];
const SPECS: [&str; 23] = [
    "bloom",
    "blocked_bloom",
    "prefix_bloom",
    "prefix_bloom:bits=61",
    "bucketing",
    "grafite",
    "rencoder:k=2",
    "rencoder:k=4",
    "rencoder:ss,k=1",
    "rencoder:po,k=2",
    "surf:cut",
    "surf:hash=4,cut",
    "proteus",
    "proteus:trie=0",
    "proteus:trie=18,bloom=60",
    "multi_prefix_bloom",
    "place_trie",
    "two_prefix_bloom",
    "two_prefix_bloom:bits=40-61",
    "rosetta",
    "rosetta:single",
    "snarf",
    "snarf:block=32",
];

fn main() -> Result<()> {
    let max = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000);
    print_reads();
    let sizes = [1, 10, 100, 1_000, 4_000, 10_000].into_iter().filter(|&thousands| thousands <= max);
    let generated = sizes.flat_map(|thousands| ["uniform", "zipf"].map(|set| format!("{set}:{thousands}k")));
    let mut points = Vec::new();
    for set in generated {
        for queries in QUERIES {
            measure::<u64>(&set, queries, &mut points)?;
        }
    }
    for set in STRINGS {
        for queries in QUERIES {
            measure::<[u8]>(set, queries, &mut points)?;
        }
    }
    let mut table = Table::new(&points);
    table.fit(&points);
    table.print(&points);
    Ok(())
}

/// Times of one dependent read, for the table of reads.
fn print_reads() {
    let floor = MemoryFloor::new(1 << 28, STEPS * 4, 1);
    let mut rounds = Rounds::new();
    let tasks: Vec<_> = (7..=14)
        .map(|half| {
            let floor = &floor;
            rounds.add(format!("2^{}", 2 * half), STEPS * 4, move || floor.read(1 << (2 * half)))
        })
        .collect();
    let timings = rounds.run(ROUNDS, &mut |_| {});
    for task in tasks {
        println!("read in {:>5} bytes: {:6.1} ns", timings.name(task), timings.median_ns(task));
    }
}

fn load(set: &str, queries: &str) -> Result<Workload> {
    let keys: Keys = match real_sets().into_iter().find(|real| real.name() == set) {
        Some(real) => real.load()?,
        None => KeySource::parse(set)?.load(&ReadOptions::default(), 1, &mut |_| {})?,
    };
    QuerySource::parse(queries)?.workload(keys, 2)
}

fn measure<K: BenchKey + ?Sized>(set: &str, queries: &str, points: &mut Vec<Point>) -> Result<()> {
    // Some sets leave no room for some empty ranges.
    let Ok(workload) = load(set, queries) else { return Ok(()) };
    let ranges = K::ranges(&workload.queries);
    let mut sample = Sample::new();
    for range in &ranges {
        if let (lo, Some(hi)) = K::ends(*range) {
            sample.push(lo, hi);
        }
    }
    let sample = Arc::new(sample);
    let keys = SortedKeys::try_new(K::column(K::inserted(&workload).expect("the set is of this key space")))?;
    let mut built = Vec::new();
    for bits in BITS_PER_KEY {
        let plan = BuildPlan::new(Budget::bits_per_key(bits)?).with_sample(Arc::clone(&sample)).with_seed(3);
        for text in SPECS {
            let name = text.split(':').next().unwrap_or_default();
            let family = FAMILIES.iter().find(|family| family.kind.name() == name).expect("a family");
            let prediction = <K as BenchKey>::predict(text, keys, &plan);
            let sealed = <K as BenchKey>::spec(text).and_then(|spec| spec.build(keys, &plan));
            if let (Ok(prediction), Ok(sealed)) = (prediction, sealed) {
                let filter = lacuna_families::open::<K, _>(sealed.into_bytes())?;
                built.push((family.kind, format!("{text} {set} {queries} {bits}"), prediction, filter));
            }
        }
    }
    let mut rounds = Rounds::new();
    let repeats = STEPS.div_ceil(ranges.len());
    let tasks: Vec<_> = built
        .iter()
        .map(|(_, label, _, filter)| {
            let ask = || dependent(&ranges, repeats, |range| filter.may_contain_range(range));
            rounds.add_serial(label.clone(), repeats * ranges.len(), ask)
        })
        .collect();
    let timings = rounds.run(ROUNDS, &mut |_| {});
    for ((kind, label, prediction, _), task) in built.iter().zip(tasks) {
        let ns = timings.median_ns(task);
        points.push(Point {
            kind: *kind,
            key_space: K::ID,
            label: label.clone(),
            prediction: *prediction,
            ns,
        });
    }
    Ok(())
}
