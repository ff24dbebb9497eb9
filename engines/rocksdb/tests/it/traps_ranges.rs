//! R4, R6, R16: bounds, and what lies beyond them.

use std::ops::Bound::{self, Excluded, Included, Unbounded};

use rust_rocksdb::{ReadOptions, SstFileWriter};

use crate::support::{TestDb, collect, gap, key, options, rows_of};

const SPEC: &str = "grafite@16 codec=fixed_be:8";

#[test]
fn a_filter_without_its_bounds_would_lose_rows() {
    let test = TestDb::new(SPEC);
    test.write_table([key(1), key(30)]);
    // What R4 warns of: the filter of one range on an iterator of a wider one.
    let (lower, upper) = (key(10), key(20));
    let mut options = test.lacuna.read(lower..upper).into_options();
    options.set_iterate_range(..);
    let mut rows = test.db.raw_iterator_opt(options);
    rows.seek_to_first();
    assert!(collect(&mut rows).is_empty(), "the keys 1 and 30 are lost");
}

#[test]
fn bounds_and_filter_are_set_together() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    let mut wider = ReadOptions::default();
    wider.set_iterate_range(key(0)..key(90));
    wider.set_table_filter(|_| false);
    let rows = rows_of(test.lacuna.read(key(10)..key(20)).with_options(wider).scan(&test.db));
    assert_eq!(rows.len(), 10, "bounds and table filter of the options are replaced");
}

#[test]
fn every_kind_of_bound_reads_what_it_says() {
    let test = TestDb::new("grafite@16");
    let keys: [&[u8]; 7] = [b"", b"a", b"a\0", b"a\0\0", b"ab", b"b", b"\xFF\xFF"];
    test.write_table(keys);
    let bounds = |bound: &'static [u8]| [Included(bound), Excluded(bound), Unbounded];
    let ends: [&'static [u8]; 8] = [b"", b"a", b"a\0", b"a\0\0\0", b"aa", b"b", b"c", b"\xFF\xFF"];
    for (lo, hi) in ends.iter().flat_map(|lo| ends.iter().map(move |hi| (*lo, *hi))) {
        for range in bounds(lo).into_iter().flat_map(|lo| bounds(hi).map(|hi| (lo, hi))) {
            let inside = |key: &[u8]| above(range.0, key) && below(range.1, key);
            let mut expected: Vec<&[u8]> = keys.into_iter().filter(|key| inside(key)).collect();
            let forward = rows_of(test.lacuna.read::<&[u8]>(range).scan(&test.db));
            assert!(forward.iter().map(|row| &row.0[..]).eq(expected.iter().copied()), "{range:?}");
            expected.reverse();
            let reverse = rows_of(test.lacuna.read_reverse::<&[u8]>(range).scan(&test.db));
            assert!(reverse.iter().map(|row| &row.0[..]).eq(expected), "{range:?} backward");
        }
    }
}

type Bytes = &'static [u8];

fn above(lo: Bound<Bytes>, key: &[u8]) -> bool {
    match lo {
        Included(lo) => lo <= key,
        Excluded(lo) => lo < key,
        Unbounded => true,
    }
}

fn below(hi: Bound<Bytes>, key: &[u8]) -> bool {
    match hi {
        Included(hi) => key <= hi,
        Excluded(hi) => key < hi,
        Unbounded => true,
    }
}

/// 100 tables in the last level, side by side.
fn side_by_side() -> TestDb {
    let test = TestDb::new(SPEC);
    let options = options(&test.env, Some(&test.lacuna));
    for table in 0..100 {
        let path = format!("/{table}.sst");
        let mut writer = SstFileWriter::create(&options);
        writer.open(&path).unwrap();
        (0..10).for_each(|place| writer.put(key(table * 10 + place), b"value").unwrap());
        writer.finish().unwrap();
        test.db.ingest_external_file(vec![path]).unwrap();
    }
    let levels: Vec<i32> = test.db.live_files().unwrap().iter().map(|file| file.level).collect();
    assert_eq!(levels, [6; 100]);
    test
}

#[test]
fn a_backward_walk_over_skipped_tables_is_bounded() {
    let test = side_by_side();
    for number in [15, 505, 998, 2_000] {
        let before = test.asked().0;
        let rows = rows_of(test.lacuna.read_reverse(gap(number)..=gap(number)).scan(&test.db));
        assert!(rows.is_empty());
        let walked = test.asked().0 - before;
        assert!((1..=10).contains(&walked), "{walked} tables below {number}");
    }
    assert_eq!(test.rows(&key(500), &key(509)).len(), 10);
}

#[test]
fn a_forward_scan_stops_at_its_upper_bound() {
    let test = side_by_side();
    for number in [15, 505, 998] {
        let before = test.asked().0;
        assert!(rows_of(test.lacuna.read(gap(number)..=gap(number)).scan(&test.db)).is_empty());
        assert!(test.asked().0 - before <= 2);
    }
}

#[test]
fn an_inverted_range_is_empty() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    assert!(test.rows(&key(50), &key(40)).is_empty());
    assert!(rows_of(test.lacuna.read(key(50)..key(50)).scan(&test.db)).is_empty());
}
