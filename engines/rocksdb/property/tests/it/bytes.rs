//! Golden bytes, and what a reader does with others.

use std::path::Path;

use lacuna_rocksdb_property::{Collector, Direction, TableGuard};
use lacuna_testkit::golden_bytes_are_kept;
use lacuna_workload::Rng;

use crate::{property, question, table};

#[test]
fn the_bytes_of_version_1_are_kept() {
    let guard = TableGuard::parse("grafite@16 codec=fixed_be:8 seed=42").unwrap();
    let bytes = property(&guard, Some(1), [3, 5, 6, 7, 9]);
    golden_bytes_are_kept(Path::new("tests/golden/property_v1.lacuna"), &bytes).unwrap();
}

#[test]
fn cut_properties_are_scanned() {
    let guard = TableGuard::parse("grafite@16 codec=fixed_be:8").unwrap();
    let bytes = property(&guard, None, (0..100).map(|number| number << 20));
    for size in 0..bytes.len() {
        assert!(
            question(&guard, 77, 99, Direction::Forward).may_contain(table(&bytes[..size])),
            "{size} bytes"
        );
    }
    let scanned = guard.stats().scanned;
    assert_eq!((scanned.corrupt, scanned.total()), (bytes.len() as u64, bytes.len() as u64));
}

#[test]
fn damaged_properties_end_without_a_panic() {
    let seed = 5;
    let mut rng = Rng::new(seed);
    for family in lacuna_families::FAMILIES {
        let guard = TableGuard::parse(&format!("{}@16 codec=fixed_be:8", family.example)).unwrap();
        let bytes = property(&guard, None, (0..500).map(|number| number << 20));
        for _ in 0..300 {
            let mut damaged = bytes.clone();
            for _ in 0..=rng.below(4) {
                let place = rng.index(damaged.len());
                damaged[place] ^= 1 << rng.below(8);
            }
            let lo = rng.below(500 << 20);
            let _ = question(&guard, lo, lo + 99, Direction::Forward).may_contain(table(&damaged));
        }
        let scanned = guard.stats().scanned;
        assert!(scanned.corrupt > 0, "{}, seed {seed}: {scanned}", family.example);
    }
}

/// The bytes stay where they are, as a table's do: a table is known by the place of its property.
#[test]
fn a_damaged_payload_of_any_family_is_scanned() {
    let seed = 6;
    let mut rng = Rng::new(seed);
    for family in lacuna_families::FAMILIES {
        let guard = TableGuard::parse(&format!("{}@16 codec=fixed_be:8", family.example)).unwrap();
        let intact = property(&guard, None, (0..500).map(|number| number << 20));
        let tables: Vec<Vec<u8>> = (0..20)
            .map(|_| {
                let mut damaged = intact.clone();
                let place = 80 + rng.index(damaged.len() - 80);
                damaged[place] ^= 1 << rng.below(8);
                damaged
            })
            .collect();
        for (damaged, number) in
            tables.iter().flat_map(|damaged| (0..500).map(move |number| (damaged, number)))
        {
            let asked = question(&guard, number << 20, (number << 20) + 1, Direction::Forward);
            assert!(asked.may_contain(table(damaged)), "{}, seed {seed}: key {number}", family.example);
        }
        assert_eq!(guard.stats().scanned.corrupt, 20 * 500, "{}, seed {seed}", family.example);
        assert!(question(&guard, 0, 1, Direction::Forward).may_contain(table(&intact)));
        assert_eq!(guard.stats().scanned.total(), 20 * 500, "{}: an intact one is asked", family.example);
    }
}

#[test]
fn entries_of_unknown_types_are_keys_and_range_deletions_are_not() {
    let guard = TableGuard::parse("grafite@20 codec=fixed_be:8").unwrap();
    let mut collector = Collector::new(&guard, None);
    for (entry_type, key) in
        [(0, 1u64), (1, 2), (2, 3), (3, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 9), (250, 10)]
    {
        collector.add(entry_type, &(key << 30).to_be_bytes());
    }
    // RocksDB hands range deletions over last, whatever their start.
    collector.add(Collector::RANGE_DELETION, &(1u64 << 29).to_be_bytes());
    let bytes = collector.finish().unwrap();
    for key in 1..=10u64 {
        let question = question(&guard, key << 30, (key << 30) + 1, Direction::Forward);
        assert!(question.may_contain(table(&bytes)), "key {key}");
    }
    assert!(!question(&guard, 1 << 29, (1 << 29) + 1, Direction::Forward).may_contain(table(&bytes)));
}
