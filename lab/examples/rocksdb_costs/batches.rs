//! Which of many prefixes exist: an iterator for each, a guarded scan for each, and all in one batch.

use lacuna_rocksdb::prefix_range;
use lacuna_workload::Rng;
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use rust_rocksdb::{PrefixRange, ReadOptions};

use crate::SEED;
use crate::database::{Home, Open, Points, Setup};
use crate::reads::Cost;
use crate::writes::median;

/// A filter of the prefixes that are asked for, of 40 bits.
const SPEC: &str = "prefix_bloom:bits=40@14 codec=fixed_be:8";
const PREFIXES: usize = 100_000;
const PREFIX_BYTES: usize = 5;

/// How the prefixes are asked for.
#[derive(Debug, Clone, Copy)]
enum Way {
    Iterators,
    Scans,
    Batch,
}

const WAYS: [Way; 3] = [Way::Iterators, Way::Scans, Way::Batch];

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Iterators => "RocksDB's iterators, one by one",
            Self::Scans => "guarded scans, one by one",
            Self::Batch => "one batch",
        }
    }

    /// How many of `prefixes` have a row.
    fn count(self, open: &Open, prefixes: &[[u8; PREFIX_BYTES]]) -> usize {
        match self {
            Self::Iterators => prefixes.iter().filter(|prefix| is_found_by_iterator(open, **prefix)).count(),
            Self::Scans => prefixes.iter().filter(|prefix| is_found_by_scan(open, **prefix)).count(),
            Self::Batch => {
                let ranges = prefixes.iter().map(|prefix| prefix_range(prefix));
                open.lacuna.contains_ranges(&open.db, ranges).unwrap().into_iter().filter(|row| *row).count()
            }
        }
    }
}

fn is_found_by_iterator(open: &Open, prefix: [u8; PREFIX_BYTES]) -> bool {
    let mut options = ReadOptions::default();
    options.set_iterate_range(PrefixRange(prefix));
    let mut rows = open.db.raw_iterator_opt(options);
    rows.seek_to_first();
    rows.valid()
}

fn is_found_by_scan(open: &Open, prefix: [u8; PREFIX_BYTES]) -> bool {
    !open.lacuna.scan(&open.db, prefix_range(&prefix)).is_empty().unwrap()
}

/// Prints a line for each way; nearly all prefixes are absent, and all blocks are in the cache.
pub(crate) fn compare(keys: u64, rounds: u64) {
    let home = Home::filled(Setup { spec: Some(SPEC), points: Points::Bloom }, keys);
    let open = home.open(false);
    println!(
        "\n| {PREFIXES} prefixes of {PREFIX_BYTES} bytes, `{SPEC}` | each | over the batch | data blocks |"
    );
    println!("| --- | --- | --- | --- |");
    let costs = alternate(&open, &prefixes(), rounds);
    for (way, cost) in WAYS.iter().zip(costs) {
        let over = cost.micros / costs[costs.len() - 1].micros;
        println!("| {} | {:.2} us | {over:.1} | {:.3} |", way.name(), cost.micros, cost.blocks);
    }
}

/// Random ones.
fn prefixes() -> Vec<[u8; PREFIX_BYTES]> {
    let mut rng = Rng::new(SEED + 1);
    let mut prefix = || {
        let [.., a, b, c, d, e] = rng.next_u64().to_be_bytes();
        [a, b, c, d, e]
    };
    (0..PREFIXES).map(|_| prefix()).collect()
}

/// Medians over alternating rounds, the first of each being a warm-up, and the same answers.
fn alternate(open: &Open, prefixes: &[[u8; PREFIX_BYTES]], rounds: u64) -> [Cost; 3] {
    let mut micros: [Vec<f64>; 3] = Default::default();
    let mut blocks = [0.0; 3];
    for round in 0..=rounds {
        let mut found = Vec::new();
        for (place, way) in WAYS.into_iter().enumerate() {
            let cost = measure(open, way, prefixes, &mut found);
            blocks[place] = cost.blocks;
            if round > 0 {
                micros[place].push(cost.micros);
            }
        }
        assert!(found.iter().all(|count| *count == found[0]), "{found:?} prefixes have a row");
    }
    let mut places = blocks.into_iter();
    micros.map(|micros| Cost { micros: median(micros), blocks: places.next().expect("three ways") })
}

fn measure(open: &Open, way: Way, prefixes: &[[u8; PREFIX_BYTES]], found: &mut Vec<usize>) -> Cost {
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    let seconds = open.clock().seconds(|| found.push(way.count(open, prefixes)));
    let blocks = context.metric(PerfMetric::BlockReadCount) + context.metric(PerfMetric::BlockCacheHitCount);
    let each = 1.0 / prefixes.len() as f64;
    Cost { micros: seconds * 1e6 * each, blocks: blocks as f64 * each }
}
