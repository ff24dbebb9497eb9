//! R22: properties that are damaged, newer or cut, in tables whose checksums let them through.

use std::fs;
use std::path::Path;

use lacuna_rocksdb::{RangeFilters, Scanned};
use rust_rocksdb::{BlockBasedOptions, ChecksumType, DB, Options};

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
    let folder = tempfile::tempdir().unwrap();
    let lacuna = RangeFilters::parse("grafite@16 codec=fixed_be:8").unwrap();
    let options = unchecked_options(&lacuna);
    let db = DB::open(&options, folder.path()).unwrap();
    (0..100).for_each(|number| db.put(key(number), b"value").unwrap());
    db.flush().unwrap();
    drop(db);
    change_property(folder.path(), damage);
    let db = DB::open(&options, folder.path()).unwrap();
    let rows = |lo, hi| rows_of(lacuna.read(lo..=hi).scan(&db)).len();
    let (inside, between) = (rows(key(10), key(19)), rows(gap(5), gap(5)));
    (lacuna.stats().scanned, inside, between)
}

fn change_property(folder: &Path, damage: impl FnOnce(&mut [u8])) {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let table = files.filter(|path| path.extension().is_some_and(|name| name == "sst")).last().unwrap();
    let mut bytes = fs::read(&table).unwrap();
    let envelope = bytes.windows(MAGIC.len()).position(|window| window == MAGIC).unwrap();
    damage(&mut bytes[envelope - HEADER_BYTES..]);
    fs::write(&table, bytes).unwrap();
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
fn a_damaged_payload_neither_fails_nor_panics() {
    for place in [64, 70, 100, 200] {
        let (scanned, _, between) = damaged(|property| property[HEADER_BYTES + place] ^= 0xFF);
        assert!(scanned.total() <= 2);
        assert_eq!(between, 0);
    }
}
