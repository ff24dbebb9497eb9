//! Many at once, by an only owner, and broken off half way.

use super::CuckooTable;
use super::tests::{hashes, insert};

#[test]
fn many_at_once_are_those_of_one_by_one() {
    // Narrow and wide buckets, growth on the way, and each third hash a second time.
    for (bits, capacity) in [(8, 300), (10, 20_000), (17, 3_000), (32, 1_000)] {
        let (shared, mut owned) = (CuckooTable::new(capacity, bits), CuckooTable::new(capacity, bits));
        let one_by_one = CuckooTable::new(capacity, bits);
        let all: Vec<u64> =
            hashes(13, 9_000).flat_map(|hash| [hash].repeat(if hash % 3 == 0 { 2 } else { 1 })).collect();
        let count: u64 = all.iter().map(|&hash| u64::from(one_by_one.insert(hash).unwrap())).sum();
        let counts = all.chunks(777).map(|some| [shared.insert_all(some), owned.insert_all_mut(some)]);
        let counts = counts.fold([0; 2], |[a, b], [c, d]| [a + c.unwrap(), b + d.unwrap()]);
        assert_eq!((counts, count), ([count; 2], one_by_one.stored()), "{bits} bits");
        for table in [&shared, &owned, &one_by_one] {
            assert!(all.iter().all(|&hash| table.may_contain(hash)), "{bits} bits");
            assert_eq!(
                (table.stored(), table.memory_bytes()),
                (count, one_by_one.memory_bytes()),
                "{bits} bits"
            );
        }
        let twins = all.iter().filter(|&&hash| owned.insert_mut(hash).unwrap()).count();
        assert_eq!(twins, 0, "{bits} bits: all are there");
    }
}

#[test]
fn a_table_beyond_a_cores_own_cache_takes_many_at_once() {
    // Eight megabytes: here what full buckets will look at is asked for ahead.
    let mut table = CuckooTable::new(1_900_000, 32);
    let all: Vec<u64> = hashes(17, 1_880_000).collect();
    assert_eq!(table.insert_all_mut(&all).unwrap(), table.stored());
    assert!(table.memory_bytes() > 7 << 20 && table.stored() > 1_879_000);
    assert!(all.iter().all(|&hash| table.may_contain(hash)));
}

#[test]
fn a_change_that_broke_off_denies_nothing() {
    let mut table = CuckooTable::new(1_000, 12);
    hashes(14, 900).for_each(|hash| insert(&table, hash));
    assert!(hashes(15, 100).any(|hash| !table.may_contain(hash)));
    let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        table.write_mut(|_, _| panic!("with a fingerprint in hand"))
    }));
    assert!(broken.is_err() && hashes(15, 100).all(|hash| table.may_contain(hash)));
    let inserted = table.insert_mut(1).unwrap() | table.insert(2).unwrap();
    assert!(inserted && hashes(15, 100).all(|hash| table.may_contain(hash)), "nor later");
    let write = || table.write_to(0, &mut Vec::new());
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(write)).is_err(), "bytes could not say so");
    let shorter = table.with_fewer_bits(10);
    assert!(hashes(15, 100).all(|hash| shorter.may_contain(hash)), "nor with fewer bits");
}
