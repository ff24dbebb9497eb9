//! What scans note, and what becomes of it.

use lacuna_rocksdb::RangeFilters;

use crate::support::{TestDb, compact_all, gap, key, rows_of};

const SPEC: &str = "grafite@16 codec=fixed_be:8";

#[test]
fn empty_scans_are_remembered_once() {
    let test = TestDb::new(SPEC);
    for first in 0..3 {
        test.write_table((first..300).step_by(3).map(key));
    }
    assert!(test.lacuna.read(gap(5)..=gap(5)).scan(&test.db).is_empty().unwrap());
    assert!(!test.lacuna.read(key(5)..=key(6)).scan(&test.db).is_empty().unwrap());
    let mut rows = test.lacuna.read(gap(9)..=gap(9)).scan(&test.db);
    assert!(rows.next_row().unwrap().is_none());
    assert!(rows.next_row().unwrap().is_none(), "asking again is allowed, and not noted again");
    assert_eq!((test.lacuna.sample_len(), test.lacuna.stats().filters.empty_scans), (2, 2));
}

#[test]
fn false_positives_are_counted_where_they_happened() {
    // One bit a key: filters that say "maybe" a lot.
    let test = TestDb::new("bucketing@1 codec=fixed_be:8");
    test.write_table((0..1_000).map(key));
    compact_all(&test.db);
    (0..200).for_each(|number| assert!(test.rows(&gap(number), &gap(number)).is_empty()));
    let filters = test.lacuna.stats().filters;
    let bottom = filters.level(Some(6));
    assert!(bottom.false_positives > 100, "{filters}");
    assert_eq!(bottom.false_positives, bottom.passed, "no scan returned a row");
}

#[test]
fn rocksdbs_own_iterators_can_say_how_they_ended() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    let (options, outcome) = test.lacuna.read(gap(5)..=gap(5)).into_parts();
    let mut rows = test.db.raw_iterator_opt(options);
    rows.seek_to_first();
    assert!(!rows.valid());
    outcome.note_empty();
    assert_eq!(test.lacuna.sample_len(), 1);
}

#[test]
fn remembered_scans_travel_between_processes() {
    let test = TestDb::new(SPEC);
    test.write_table((0..100).map(key));
    (0..10).for_each(|number| assert!(test.rows(&gap(number), &gap(number)).is_empty()));
    let twin = RangeFilters::parse(SPEC).unwrap();
    assert_eq!(twin.seed_sample(&test.lacuna.sample_bytes()).unwrap(), 20);
    assert_eq!(twin.sample_len(), 20);
    assert!(RangeFilters::parse("grafite@16").unwrap().seed_sample(&test.lacuna.sample_bytes()).is_err());
}

#[test]
fn a_cap_coarsens_and_holds() {
    let keys = 20_000;
    for (max_bytes, coarsened) in [(1 << 20, 0), (20_000, 1)] {
        let test = TestDb::new(SPEC);
        drop(test.db);
        let lacuna = RangeFilters::parse(SPEC).unwrap().with_max_bytes(max_bytes);
        let db =
            rust_rocksdb::DB::open(&crate::support::options(&test.env, Some(&lacuna)), "/capped").unwrap();
        (0..keys).for_each(|number| db.put(key(number), b"value").unwrap());
        db.flush().unwrap();
        let filters = lacuna.stats().filters;
        assert_eq!((filters.built, filters.coarsened), (1, coarsened), "{filters}");
        assert!(filters.built_bytes <= max_bytes as u64, "{filters}");
        let all = rows_of(lacuna.read(key(0)..=key(keys)).scan(&db));
        assert_eq!(all.len() as u64, keys);
    }
}
