//! The next key of a range without an end: RocksDB's own iterator, and a planned seek.

use lacuna_rocksdb::SeekTables;
use lacuna_workload::Rng;
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};

use crate::database::{Home, Open, Points, Setup};
use crate::reads::Cost;
use crate::writes::median;
use crate::{Rounds, SEED, from};

/// A family that names next keys.
const SPEC: &str = "surf@16 codec=fixed_be:8";

pub(crate) fn compare(keys: u64, rounds: Rounds) {
    let home = Home::filled(Setup { spec: Some(SPEC), points: Points::Bloom }, keys);
    println!(
        "\n| next key, `{SPEC}` | blocks from | iterator | planned | ratio | data blocks iterator | planned |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for from_disk in from(rounds) {
        let open = home.open(from_disk);
        let tables = SeekTables::load(&open.lacuna, &open.options, &open.db).unwrap();
        let count = if from_disk { 2_000 } else { 20_000 };
        let [iterator, planned] = alternate(&open, &tables, count, rounds[usize::from(from_disk)]);
        println!(
            "| `from..` | {} | {:.1} us | {:.1} us | {:.2} | {:.2} | {:.2} |",
            if from_disk { "disk" } else { "cache" },
            iterator.micros,
            planned.micros,
            iterator.micros / planned.micros,
            iterator.blocks,
            planned.blocks
        );
    }
}

/// Medians over alternating rounds, the first of each being a warm-up.
fn alternate(open: &Open, tables: &SeekTables, count: u64, rounds: u64) -> [Cost; 2] {
    let mut micros = [Vec::new(), Vec::new()];
    let mut blocks = [0.0; 2];
    for round in 0..=rounds {
        for (place, plan) in [None, Some(tables)].into_iter().enumerate() {
            let cost = measure(open, plan, count, SEED + 1 + round);
            blocks[place] = cost.blocks;
            if round > 0 {
                micros[place].push(cost.micros);
            }
        }
    }
    let [first, second] = micros.map(median);
    [Cost { micros: first, blocks: blocks[0] }, Cost { micros: second, blocks: blocks[1] }]
}

fn measure(open: &Open, tables: Option<&SeekTables>, count: u64, seed: u64) -> Cost {
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    let mut rng = Rng::new(seed);
    let seconds = open.clock().seconds(|| {
        for _ in 0..count {
            let from = (rng.next_u64() >> 1).to_be_bytes();
            assert!(is_found(open, tables, from));
        }
    });
    let micros = seconds * 1e6 / count as f64;
    let blocks = context.metric(PerfMetric::BlockReadCount) + context.metric(PerfMetric::BlockCacheHitCount);
    Cost { micros, blocks: blocks as f64 / count as f64 }
}

fn is_found(open: &Open, tables: Option<&SeekTables>, from: [u8; 8]) -> bool {
    if let Some(tables) = tables {
        return tables.first(&open.db, from..).unwrap().is_some();
    }
    let mut rows = open.db.raw_iterator();
    rows.seek(from);
    rows.valid()
}
