//! What it is for: memory within a budget, and reads saved all the same.

use std::time::Instant;

use lacuna_rocksdb::{PartitionStore, RangeFilters};
use lacuna_workload::Rng;
use rust_rocksdb::properties::ESTIMATE_TABLE_READERS_MEM;
use rust_rocksdb::{DB, IngestExternalFileOptions, Options, SstFileWriter};
use tempfile::TempDir;

use super::Home;
use crate::support::{gap, key};

#[test]
fn points_ranges_and_batches_ask_the_partitions() {
    let home = Home::new();
    let opened = home.open();
    opened.write(0, 1);
    let asked = |work: &dyn Fn()| {
        let before = opened.store.stats();
        work();
        let after = opened.store.stats();
        after.hits + after.loads - before.hits - before.loads
    };
    let (lacuna, db) = (&opened.lacuna, &opened.db);
    assert_eq!(asked(&|| assert!(lacuna.get(db, gap(5)).unwrap().is_none())), 1);
    assert_eq!(asked(&|| assert!(lacuna.scan(db, gap(6)..=gap(6)).is_empty().unwrap())), 1);
    let gaps = || (0..10_000).map(gap);
    let expected = 10_000 * 20 / 8 / 1_024;
    let batch = asked(&|| assert!(lacuna.multi_get(db, gaps()).unwrap().iter().all(Option::is_none)));
    assert!(
        (expected..2 * expected + 99).contains(&batch),
        "{batch}: each partition once, and false positives"
    );
    let ranges = || gaps().map(|gap| gap..=gap);
    let batch = asked(&|| {
        let passed =
            lacuna.may_contain_ranges(db, ranges()).unwrap().into_iter().filter(|&passed| passed).count();
        assert!(passed < 50, "{passed}");
    });
    // Some for the ends of the 40 batches, and to find out which ranges lie below and above the keys.
    assert!((expected..expected + 99).contains(&batch), "{batch}");
}

/// Ingests tables that all span the whole key space, with keys that are `key(number)` for all numbers together.
fn ingest(db: &DB, options: &Options, folder: &TempDir, tables: u64, keys: u64) {
    for table in 0..tables {
        let path = folder.path().join(format!("{table}.sst"));
        let mut writer = SstFileWriter::create(options);
        writer.open(&path).unwrap();
        (0..keys).for_each(|number| writer.put(key(number * tables + table), b"").unwrap());
        writer.finish().unwrap();
        let mut how = IngestExternalFileOptions::default();
        how.set_move_files(true);
        db.ingest_external_file_opts(&how, vec![path]).unwrap();
    }
}

fn is_long() -> bool {
    std::env::var_os("LACUNA_LONG").is_some_and(|value| value == "1")
}

/// Bytes that this process keeps in memory.
fn resident_set() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or_default() << 10
}

/// Builds and asks `tables` tables of `keys` keys, what table readers take.
fn readers_memory(tables: u64, keys: u64, budget: Option<usize>) -> u64 {
    let (folder, start) = (tempfile::tempdir().unwrap(), Instant::now());
    let mut lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8").unwrap();
    let store = budget.map(|budget| PartitionStore::open(folder.path().join("partitions"), budget).unwrap());
    if let Some(store) = &store {
        lacuna = lacuna.with_partitions(store);
    }
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_disable_auto_compactions(true);
    options.set_max_open_files(-1);
    lacuna.install(&mut options);
    let path = folder.path().join("db");
    ingest(&DB::open(&options, &path).unwrap(), &options, &folder, tables, keys);
    let (built, start, before) = (start.elapsed(), Instant::now(), resident_set());
    let db = DB::open(&options, &path).unwrap();
    let (seed, steps) = (61, if is_long() { 2_000 } else { 200 });
    let (mut rng, mut most) = (Rng::new(seed), 0);
    for step in 0..steps {
        let number = rng.below(tables * keys);
        let row = lacuna.get(&db, key(number)).unwrap();
        assert!(row.is_some(), "key {number} is lost at step {step}, seed {seed}");
        assert!(lacuna.get(&db, gap(number)).unwrap().is_none());
        most = most.max(lacuna.stats().partitions.resident_bytes);
    }
    let memory = db.property_int_value(ESTIMATE_TABLE_READERS_MEM).unwrap().unwrap();
    println!(
        "{tables} tables of {keys} keys, budget {budget:?}: built in {built:.0?}, asked in {:.0?}; table readers {memory}, \
         partitions {most} at most, RSS {} more; {}",
        start.elapsed(),
        resident_set().saturating_sub(before),
        lacuna.stats(),
    );
    let filters = lacuna.stats().filters;
    let (asked, skipped) = (filters.asked(), filters.skipped());
    assert!(skipped + steps > asked * 99 / 100, "{skipped} of {asked} were skipped, and {steps} keys found");
    if let (Some(store), Some(budget)) = (store, budget) {
        let stats = store.stats();
        assert!(
            most <= budget as u64 && stats.evictions > 0 && stats.unasked() == 0,
            "{most} bytes, {stats}"
        );
    }
    memory
}

#[test]
fn filters_of_many_tables_stay_within_the_budget() {
    let (tables, keys, budget) = if is_long() { (100, 1_000_000, 16 << 20) } else { (16, 10_000, 64 << 10) };
    let whole = readers_memory(tables, keys, None);
    let partitioned = readers_memory(tables, keys, Some(budget));
    let filters = tables * keys * 14 / 8;
    let saved = whole.saturating_sub(partitioned);
    assert!(saved > filters * 9 / 10, "of {filters} bytes of filters, {saved} are off the heap");
}
