//! Points through the range filter, in place of RocksDB's own Bloom filter.

use lacuna_rocksdb::RangeFilters;
use lacuna_workload::Rng;
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use rust_rocksdb::{BlockBasedOptions, DB, DBCompressionType, Env, Options};

const SEED: u64 = 41;
const KEYS: u64 = 60_000;
const BITS: f64 = 14.0;

/// Six overlapping tables on level 0, without a block cache; `bloom` is RocksDB's own.
fn six_tables(lacuna: Option<&RangeFilters>, bloom: bool) -> (DB, Env) {
    let env = Env::mem_env().unwrap();
    let mut table = BlockBasedOptions::default();
    table.disable_cache();
    if bloom {
        table.set_bloom_filter(BITS, false);
    }
    let mut options = Options::default();
    options.set_env(&env);
    options.create_if_missing(true);
    options.set_disable_auto_compactions(true);
    options.set_block_based_table_factory(&table);
    options.set_compression_type(DBCompressionType::None);
    if let Some(lacuna) = lacuna {
        lacuna.install(&mut options);
    }
    let db = DB::open(&options, "/db").unwrap();
    let mut rng = Rng::new(SEED);
    for _ in 0..6 {
        (0..KEYS / 6).for_each(|_| db.put((rng.next_u64() | 1).to_be_bytes(), [7; 40]).unwrap());
        db.flush().unwrap();
    }
    (db, env)
}

fn blocks(work: impl FnOnce()) -> u64 {
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    work();
    context.metric(PerfMetric::BlockReadCount)
}

/// Keys that are not there: those that are there are odd.
fn absent() -> Vec<[u8; 8]> {
    let mut rng = Rng::new(SEED + 1);
    (0..20_000).map(|_| (rng.next_u64() & !1).to_be_bytes()).collect()
}

#[test]
fn absent_points_read_no_more_blocks_than_with_rocksdbs_bloom_filter() {
    let lacuna = RangeFilters::parse(&format!("grafite@{BITS} codec=fixed_be:8")).unwrap();
    let (ours, _env) = six_tables(Some(&lacuna), false);
    let (theirs, _env) = six_tables(None, true);
    let keys = absent();
    let bloom = blocks(|| assert!(keys.iter().all(|key| theirs.get(key).unwrap().is_none())));
    let one_by_one = blocks(|| assert!(keys.iter().all(|key| lacuna.get(&ours, key).unwrap().is_none())));
    let together = blocks(|| {
        assert!(lacuna.multi_get(&ours, &keys).unwrap().iter().all(Option::is_none));
    });
    let unguarded = blocks(|| assert!(keys.iter().all(|key| ours.get(key).unwrap().is_none())));
    println!(
        "20,000 absent points, {BITS} bits a key, seed {SEED}: blocks with RocksDB's Bloom {bloom}, get {one_by_one}, \
         multi_get {together}, without any filter {unguarded}"
    );
    assert!(unguarded > 20_000 && bloom > 0, "the points must be asked of tables");
    assert!(one_by_one <= bloom && together <= bloom, "{one_by_one} and {together} against {bloom}");
}

#[test]
fn present_points_are_found_with_their_values() {
    let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8").unwrap();
    let (db, _env) = six_tables(Some(&lacuna), false);
    let mut rng = Rng::new(SEED);
    let keys: Vec<[u8; 8]> = (0..KEYS).map(|_| (rng.next_u64() | 1).to_be_bytes()).collect();
    assert!(lacuna.multi_get(&db, &keys).unwrap().iter().all(|value| value.as_deref() == Some(&[7; 40][..])));
    assert!(
        keys.iter().step_by(97).all(|key| lacuna.get(&db, key).unwrap().as_deref() == Some(&[7; 40][..]))
    );
    db.delete(keys[0]).unwrap();
    assert_eq!(lacuna.multi_get(&db, &keys[..2]).unwrap(), [None, Some(vec![7; 40])]);
    assert_eq!(lacuna.get(&db, keys[0]).unwrap(), None);
}
