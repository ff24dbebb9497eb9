//! R22: properties that are damaged, newer or cut, in tables whose checksums let them through.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_rocksdb::{RangeFilters, Scanned};
use rust_rocksdb::{BlockBasedOptions, ChecksumType, DB, Options, ReadOptions};

use crate::support::{gap, key, rows_of};

/// Bytes of the property before the sealed filter, and the first of the latter.
const HEADER_BYTES: usize = 16;
const MAGIC: &[u8] = b"LCNA";

fn unchecked_options(lacuna: &RangeFilters) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_checksum_type(ChecksumType::NoChecksum);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&table);
    lacuna.install(&mut options);
    options
}

/// Writes a table, lets `damage` change its property, and says what the reader counted and found.
fn damaged(damage: impl FnOnce(&mut [u8])) -> (Scanned, usize, usize) {
    damaged_of("grafite@16 codec=fixed_be:8", damage)
}

fn damaged_of(spec: &str, damage: impl FnOnce(&mut [u8])) -> (Scanned, usize, usize) {
    // Two tables with the same filter at one place of memory, one after the other, would pass for one that is checked once.
    static TABLES: AtomicU64 = AtomicU64::new(0);
    let own = 1_000_000 + TABLES.fetch_add(1, Ordering::Relaxed);
    let folder = tempfile::tempdir().unwrap();
    let lacuna = RangeFilters::parse(spec).unwrap();
    let options = unchecked_options(&lacuna);
    let db = DB::open(&options, folder.path()).unwrap();
    (0..100).chain([own]).for_each(|number| db.put(key(number), b"value").unwrap());
    db.flush().unwrap();
    drop(db);
    change_property(folder.path(), 0, damage);
    let db = DB::open(&options, folder.path()).unwrap();
    let rows = |lo, hi| rows_of(lacuna.read(lo..=hi).scan(&db)).len();
    let (inside, between) = (rows(key(10), key(19)), rows(gap(5), gap(5)));
    (lacuna.stats().scanned, inside, between)
}

/// Changes the property of the table with this place in the order of their numbers.
fn change_property(folder: &Path, place: usize, damage: impl FnOnce(&mut [u8])) {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut tables: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|name| name == "sst")).collect();
    tables.sort_unstable();
    let mut bytes = fs::read(&tables[place]).unwrap();
    let envelope = bytes.windows(MAGIC.len()).position(|window| window == MAGIC).unwrap();
    damage(&mut bytes[envelope - HEADER_BYTES..]);
    fs::write(&tables[place], bytes).unwrap();
}

#[test]
fn an_intact_property_is_asked() {
    let (scanned, inside, between) = damaged(|_| {});
    assert_eq!((scanned.total(), inside, between), (0, 10, 0));
}

#[test]
fn a_damaged_envelope_is_scanned() {
    for place in [0, 4, 30, 63] {
        let (scanned, inside, between) = damaged(|property| property[HEADER_BYTES + place] ^= 0x40);
        assert_eq!(scanned.total(), 2, "byte {place}: {scanned:?}");
        assert_eq!((inside, between), (10, 0), "byte {place}");
    }
}

#[test]
fn a_newer_property_is_scanned() {
    let (scanned, inside, between) = damaged(|property| property[0] = 2);
    assert_eq!((scanned.unsupported, scanned.total(), inside, between), (2, 2, 10, 0));
}

#[test]
fn a_property_of_version_zero_is_scanned() {
    let (scanned, inside, between) = damaged(|property| property[0] = 0);
    assert_eq!((scanned.corrupt, scanned.total(), inside, between), (2, 2, 10, 0));
}

#[test]
fn a_damaged_payload_is_scanned() {
    for place in [64, 65, 70, 100, 130, 200] {
        let (scanned, inside, between) = damaged(|property| property[HEADER_BYTES + place] ^= 0xFF);
        assert_eq!((scanned.corrupt, scanned.total(), inside, between), (2, 2, 10, 0), "byte {place}");
    }
    // Zeros in a Bloom filter deny every key.
    for spec in ["bloom@16 codec=fixed_be:8", "blocked_bloom@16 codec=fixed_be:8"] {
        let (scanned, inside, _) =
            damaged_of(spec, |property| property[HEADER_BYTES + 130..HEADER_BYTES + 250].fill(0));
        assert_eq!((scanned.corrupt, inside), (2, 10), "{spec}");
    }
}

/// A table that is opened by an unchecked read stays open, with what was read, for all others.
#[test]
fn damage_that_an_unchecked_read_let_in_is_scanned() {
    let folder = tempfile::tempdir().unwrap();
    let lacuna = RangeFilters::parse("bloom@16 codec=fixed_be:8").unwrap();
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_disable_auto_compactions(true);
    options.set_max_open_files(20);
    options.set_table_cache_num_shard_bits(0);
    lacuna.install(&mut options);
    let db = DB::open(&options, folder.path()).unwrap();
    let write = |first: u64| {
        (first..first + 100).for_each(|number| db.put(key(number), b"value").unwrap());
        db.flush().unwrap();
    };
    // RocksDB has no room for so many: the tenth is closed again.
    (0..30).for_each(|table| write(table * 1_000));
    // On a deeper level an iterator opens one table alone.
    db.compact_range(None::<&[u8]>, None::<&[u8]>);
    change_property(folder.path(), 9, |property| property[HEADER_BYTES + 130..HEADER_BYTES + 250].fill(0));
    let mut unchecked = ReadOptions::default();
    unchecked.set_verify_checksums(false);
    assert!(db.get_opt(key(9_003), &unchecked).unwrap().is_some());
    for number in 9_000..9_100 {
        assert_eq!(rows_of(lacuna.read(key(number)..=key(number)).scan(&db)).len(), 1, "key {number}");
    }
    assert_eq!(lacuna.stats().scanned.corrupt, 100, "{}", lacuna.stats());
}
