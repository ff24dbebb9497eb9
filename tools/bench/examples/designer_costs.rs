//! Measures what questions cost, and prints the table of constants that the designer counts with
//! (`crates/filters/src/designer/costs.rs`).
//!
//! `cargo run --release -p lacuna-bench --example designer_costs [-- largest number of keys, in thousands]`
//!
//! Every family is asked questions of several lengths over sets of several sizes, each question waiting for the answer
//! before. The three constants of a family are those that fit `call + probes * probe + fetches * wait * read` best, with
//! the probes and fetches that the family predicts and the read that the memory floor measures.

use std::sync::Arc;

use lacuna_bench::harness::{MemoryFloor, Rounds, dependent};
use lacuna_core::{
    Budget, BuildFromKeys, BuildPlan, KeyStatistics, PredictRate, Prediction, Sample, Sealed, SortedKeys,
    U64Range,
};
use lacuna_filters::{
    BlockedBloomSpec, BloomSpec, BucketingSpec, GrafiteSpec, Kind, PrefixBloomSpec, ProteusSpec,
    RencoderSpec, RosettaSpec, SnarfSpec, SurfSpec, TwoPrefixBloomSpec,
};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions, Result};

const ROUNDS: usize = 9;
const STEPS: usize = 8_192;
const QUERIES: [&str; 5] = [
    "points:8192",
    "uniform:8192:2-32",
    "uniform:8192:2-1024",
    "correlated:8192:2-32:32",
    "correlated:8192:2-1024:1024",
];

/// One measured filter.
struct Point {
    kind: Kind,
    label: String,
    prediction: Prediction,
    read_ns: f64,
    ns: f64,
}

/// A spec that predicts and builds.
trait Both {
    fn name(&self) -> String;
    fn predict(&self, known: &KeyStatistics<'_, u64>) -> Result<Prediction>;
    fn build(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed>;
}

impl<S: BuildFromKeys<u64> + PredictRate<u64>> Both for S {
    fn name(&self) -> String {
        self.spec_name()
    }
    fn predict(&self, known: &KeyStatistics<'_, u64>) -> Result<Prediction> {
        PredictRate::predict(self, known)
    }
    fn build(&self, keys: SortedKeys<'_, u64>, plan: &BuildPlan<u64>) -> Result<Sealed> {
        self.build_from(keys, plan)
    }
}

fn main() -> Result<()> {
    let most = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000);
    print_reads();
    let mut points = Vec::new();
    for thousands in [1, 10, 100, 1_000, 10_000].into_iter().filter(|&thousands| thousands <= most) {
        for set in ["uniform", "zipf"] {
            for queries in QUERIES {
                measure(&format!("{set}:{thousands}k"), queries, &mut points)?;
            }
        }
    }
    for kind in Kind::ALL {
        fit(kind, &points);
    }
    Ok(())
}

fn specs() -> Vec<(Kind, Box<dyn Both>)> {
    vec![
        (Kind::Bloom, Box::new(BloomSpec::new())),
        (Kind::BlockedBloom, Box::new(BlockedBloomSpec::new())),
        (Kind::PrefixBloom, Box::new(PrefixBloomSpec::new())),
        (Kind::PrefixBloom, Box::new(PrefixBloomSpec::new().with_prefix_bits(61))),
        (Kind::Bucketing, Box::new(BucketingSpec::new())),
        (Kind::Grafite, Box::new(GrafiteSpec::new())),
        (Kind::Rencoder, Box::new(RencoderSpec::new().with_hash_count(2))),
        (Kind::Rencoder, Box::new(RencoderSpec::new().with_hash_count(4))),
        (Kind::Rencoder, Box::new(RencoderSpec::select_start().with_hash_count(1))),
        (Kind::Rencoder, Box::new(RencoderSpec::point().with_hash_count(2))),
        (Kind::Surf, Box::new(SurfSpec::new())),
        (Kind::Surf, Box::new(SurfSpec::base())),
        (Kind::Proteus, Box::new(ProteusSpec::new())),
        (Kind::Proteus, Box::new(ProteusSpec::new().with_trie_bits(0))),
        (Kind::Proteus, Box::new(ProteusSpec::new().with_trie_bits(18).with_bloom_bits(60))),
        (Kind::TwoPrefixBloom, Box::new(TwoPrefixBloomSpec::new())),
        (Kind::TwoPrefixBloom, Box::new(TwoPrefixBloomSpec::new().with_lengths(40, 61))),
        (Kind::Rosetta, Box::new(RosettaSpec::new())),
        (Kind::Rosetta, Box::new(RosettaSpec::single_level())),
        (Kind::Snarf, Box::new(SnarfSpec::new())),
        (Kind::Snarf, Box::new(SnarfSpec::new().with_block_keys(32))),
    ]
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

fn measure(set: &str, queries: &str, points: &mut Vec<Point>) -> Result<()> {
    let keys = KeySource::parse(set)?.load(&ReadOptions::default(), 1, &mut |_| {})?;
    let workload = QuerySource::parse(queries)?.workload(keys, 2)?;
    let (Keys::U64(keys), Queries::U64(ranges)) = (&workload.inserted, &workload.queries) else {
        return Ok(());
    };
    let mut sample = Sample::new();
    ranges.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
    let plan = BuildPlan::new(Budget::bits_per_key(16.0)?).with_sample(Arc::new(sample)).with_seed(3);
    let sorted = SortedKeys::integers(keys)?;
    let known = KeyStatistics::new(sorted, &plan);
    let ranges: Vec<U64Range> = ranges.iter().filter_map(|&(lo, hi)| U64Range::new(lo, hi)).collect();
    let mut built = Vec::new();
    for (kind, spec) in specs() {
        if let (Ok(prediction), Ok(sealed)) = (spec.predict(&known), spec.build(sorted, &plan)) {
            let filter = lacuna_filters::open::<u64, _>(sealed.into_bytes())?;
            built.push((kind, format!("{} {set} {queries}", spec.name()), prediction, filter));
        }
    }
    let most_bytes = built.iter().map(|(_, _, prediction, _)| prediction.payload_bytes).max().unwrap_or(0);
    let floor = MemoryFloor::new(most_bytes, STEPS, 1);
    let mut rounds = Rounds::new();
    let tasks: Vec<_> = built
        .iter()
        .map(|(_, label, prediction, filter)| {
            let ask =
                || dependent(&ranges, STEPS.div_ceil(ranges.len()), |range| filter.may_contain_range(range));
            let read = rounds.add("read", STEPS, || floor.read(prediction.payload_bytes));
            (read, rounds.add_serial(label.clone(), STEPS.div_ceil(ranges.len()) * ranges.len(), ask))
        })
        .collect();
    let timings = rounds.run(ROUNDS, &mut |_| {});
    for ((kind, label, prediction, _), (read, task)) in built.iter().zip(tasks) {
        let (kind, label, prediction) = (*kind, label.clone(), *prediction);
        let (read_ns, ns) = (timings.median_ns(read), timings.median_ns(task));
        points.push(Point { kind, label, prediction, read_ns, ns });
    }
    Ok(())
}

/// Finds the constants with the least relative error by going along each in turn, and prints them.
fn fit(kind: Kind, points: &[Point]) {
    let points: Vec<&Point> = points.iter().filter(|point| point.kind == kind).collect();
    let features = |point: &Point| [1.0, point.prediction.probes, point.prediction.fetches * point.read_ns];
    let told = |constants: &[f64; 3], point: &Point| -> f64 {
        constants.iter().zip(features(point)).map(|(constant, feature)| constant * feature).sum()
    };
    let mut constants = [10.0, 5.0, 1.0];
    for _ in 0..2_000 {
        for axis in 0..3 {
            let (mut above, mut below) = (0.0, 0.0);
            for point in &points {
                let feature = features(point)[axis] / point.ns;
                let rest = told(&constants, point) - constants[axis] * features(point)[axis];
                above += feature * (1.0 - rest / point.ns);
                below += feature * feature;
            }
            constants[axis] = if below > 0.0 { f64::max(above / below, 0.0) } else { 0.0 };
        }
    }
    let [call, probe, wait] = constants;
    println!("\nKind::{kind:?} => ({call:.1}, {probe:.2}, {wait:.2}),");
    for point in points {
        let Prediction { probes, fetches, payload_bytes, rate, .. } = point.prediction;
        let told = told(&constants, point);
        println!(
            "{:60} {payload_bytes:>9} bytes, {probes:7.2} probes, {fetches:6.2} fetches, rate {rate:.4}, read {:6.1}: {:7.1} ns, told {told:7.1} ({:+.0} %)",
            point.label,
            point.read_ns,
            point.ns,
            (told / point.ns - 1.0) * 100.0
        );
    }
}
