//! What it is for: data blocks that are not read.

use std::collections::BTreeSet;

use lacuna_workload::Rng;
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use rust_rocksdb::{
    BlockBasedOptions, DB, DBCompressionType, Env, Options, ReadOptions, WaitForCompactOptions,
};

use lacuna_rocksdb::RangeFilters;

const SEED: u64 = 11;
const KEYS: u64 = 100_000;
const SCANS: u64 = 2_000;

/// A database of 100,000 random keys over four levels, without a block cache, so that each block read is counted.
pub(crate) fn four_levels(lacuna: Option<&RangeFilters>) -> (DB, Env) {
    let env = Env::mem_env().unwrap();
    let mut table = BlockBasedOptions::default();
    table.disable_cache();
    let mut options = Options::default();
    options.set_env(&env);
    options.create_if_missing(true);
    options.set_block_based_table_factory(&table);
    options.set_compression_type(DBCompressionType::None);
    options.set_write_buffer_size(128 << 10);
    options.set_target_file_size_base(128 << 10);
    options.set_max_bytes_for_level_base(256 << 10);
    options.set_max_bytes_for_level_multiplier(4.0);
    options.set_level_compaction_dynamic_level_bytes(false);
    if let Some(lacuna) = lacuna {
        lacuna.install(&mut options);
    }
    let db = DB::open(&options, "/db").unwrap();
    let mut rng = Rng::new(SEED);
    put_random(&db, &mut rng, KEYS);
    db.wait_for_compact(&WaitForCompactOptions::default()).unwrap();
    // When compaction stops, the upper levels may have been emptied; what comes now stays on the first.
    db.set_options(&[("disable_auto_compactions", "true")]).unwrap();
    put_random(&db, &mut rng, KEYS / 200);
    (db, env)
}

fn put_random(db: &DB, rng: &mut Rng, keys: u64) {
    for _ in 0..keys {
        db.put((rng.next_u64() >> 16 << 16).to_be_bytes(), [7; 92]).unwrap();
    }
    db.flush().unwrap();
}

/// Blocks read by scans of gaps, with the guard or without.
fn blocks_read(db: &DB, lacuna: &RangeFilters, guarded: bool) -> u64 {
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    let mut rng = Rng::new(SEED + 1);
    for _ in 0..SCANS {
        // The low 16 bits of every key are zero.
        let lo = rng.next_u64() | 1;
        let (lo, hi) = (lo.to_be_bytes(), (lo + (0xFFFF - (lo & 0xFFFF)).min(32)).to_be_bytes());
        let mut options = ReadOptions::default();
        if guarded {
            options = lacuna.read(lo..=hi).into_options();
        } else {
            options.set_iterate_range(lo..hi);
        }
        let mut rows = db.raw_iterator_opt(options);
        rows.seek_to_first();
        assert!(!rows.valid());
    }
    context.metric(PerfMetric::BlockReadCount)
}

#[test]
fn empty_scans_read_twenty_times_fewer_blocks() {
    let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8").unwrap();
    let (db, _env) = four_levels(Some(&lacuna));
    let tables = db.live_files().unwrap();
    let levels: BTreeSet<i32> = tables.iter().map(|table| table.level).collect();
    println!("{} tables on levels {levels:?}, seed {SEED}", tables.len());
    assert!(levels.len() >= 4, "{levels:?}");
    let (plain, guarded) = (blocks_read(&db, &lacuna, false), blocks_read(&db, &lacuna, true));
    println!("{SCANS} empty scans: {plain} blocks without, {guarded} with; {}", lacuna.stats());
    assert!(plain > SCANS, "the scans must read");
    assert!(guarded * 20 <= plain, "seed {SEED}: {guarded} against {plain}\n{}", lacuna.stats());
}
