//! Damaged files and directories of partitions are "maybe".

use std::fs;

use lacuna_rocksdb_property::{PartitionStore, Questions};
use lacuna_workload::Rng;

use super::{SPEC, absent, asks, draw_range, guard, maybes, one_table, only_file, point};
use crate::table;

#[test]
fn damaged_files_are_maybe() {
    let (folder, keys, property) = one_table("damage", 36);
    let (file, (whole, _)) = (only_file(&folder), maybes(&folder, &keys, &property));
    assert!(whole < 20, "{whole} of 899");
    let bytes = fs::read(&file).unwrap();
    let mut rng = Rng::new(37);
    for round in 0..45 {
        let mut damaged = bytes.clone();
        let place = rng.index(damaged.len());
        match round % 3 {
            0 => damaged[place] ^= 1 << rng.below(8),
            1 => damaged.truncate(place),
            _ => damaged[place..].fill(0),
        }
        fs::write(&file, &damaged).unwrap();
        let (maybes, store) = maybes(&folder, &keys, &property);
        let stats = store.stats();
        assert!(stats.damaged > 0 || bytes == damaged, "round {round}, byte {place}: {stats}");
        assert!(maybes > whole || bytes == damaged, "round {round}, byte {place}");
        assert_eq!(stats.unasked(), stats.damaged, "round {round}: {stats}");
    }
    fs::remove_file(&file).unwrap();
    let (maybes_without, store) = maybes(&folder, &keys, &property);
    assert_eq!((maybes_without, store.stats().missing > 899), (899, true));
    fs::create_dir(&file).unwrap();
    let (_, store) = maybes(&folder, &keys, &property);
    assert!(store.stats().unreadable > 899 && store.stats().unasked() == store.stats().unreadable);
    fs::remove_dir(&file).unwrap();
    fs::write(&file, &bytes).unwrap();
    assert_eq!(maybes(&folder, &keys, &property).0, whole, "the file is back");
}

#[test]
fn the_file_of_another_table_is_maybe() {
    let (first, keys, property) = one_table("swap-1", 38);
    let (second, other_keys, other) = one_table("swap-2", 39);
    fs::copy(only_file(&second), only_file(&first)).unwrap();
    fs::remove_file(only_file(&second)).unwrap();
    let (maybes_of_first, store) = maybes(&first, &keys, &property);
    assert_eq!(maybes_of_first, 899);
    assert_eq!(store.stats().unasked(), store.stats().damaged);
    let (maybes_of_second, store) = maybes(&second, &other_keys, &other);
    assert_eq!((maybes_of_second, store.stats().loads), (899, 0));
}

#[test]
fn damaged_directories_end_without_a_panic() {
    let (folder, keys, property) = one_table("directory", 40);
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap();
    let guard = guard(SPEC, &store);
    for size in 0..property.len() {
        assert!(asks(&guard, &property[..size], &absent(&keys[5])), "{size} bytes");
    }
    assert_eq!(guard.stats().scanned.total(), property.len() as u64);
    let mut rng = Rng::new(41);
    for _ in 0..5_000 {
        let mut damaged = property.clone();
        for _ in 0..=rng.below(3) {
            let place = rng.index(damaged.len());
            damaged[place] = [0, 255, damaged[place] ^ 1 << rng.below(8)][rng.index(3)];
        }
        let range = draw_range(&mut rng, &keys);
        let _ = asks(&guard, &damaged, &range);
        let questions = Questions::new(&guard, [range]);
        questions.ask(table(&damaged));
    }
    assert_eq!(guard.stats().filters.panics, 0, "{}", guard.stats());
}

#[test]
fn any_flipped_bit_of_a_directory_is_maybe() {
    let (folder, keys, property) = one_table("flips", 43);
    let store = PartitionStore::open(folder.path(), 1 << 20).unwrap();
    let guard = guard(SPEC, &store);
    let flipped = |bit: usize| {
        let mut damaged = property.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        damaged
    };
    // All at once, so that each has a place of its own.
    let tables: Vec<Vec<u8>> = (0..property.len() * 8).map(flipped).collect();
    for (bit, damaged) in tables.iter().enumerate() {
        for key in keys.iter().step_by(97).chain(keys.last()) {
            assert!(asks(&guard, damaged, &point(key)), "bit {bit}: {key:?} is lost");
        }
    }
    let scanned = guard.stats().scanned;
    assert_eq!(scanned.total(), scanned.corrupt + scanned.unsupported);
    assert_eq!(scanned.total() % tables.len() as u64, 0, "every flip is met by every question: {scanned}");
    assert!(!asks(&guard, &property, &absent(&keys[5])));
}
