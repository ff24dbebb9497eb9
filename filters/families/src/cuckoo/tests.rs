//! What is the cuckoo filter's own; the conformance suite proves the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use lacuna_base::hash::IntegerHasher;
use lacuna_base::{Budget, BuildPlan, InsertKey, RangeFilter, RemoveKey};
use lacuna_workload::Rng;

use super::shape::Shape;
use super::table::Segment;
use super::{CuckooMut, CuckooTable, KeyState};

pub(super) fn hashes(seed: u64, count: u64) -> impl Iterator<Item = u64> {
    let hasher = IntegerHasher::new(seed);
    (0..count).map(move |key| hasher.hash(key))
}

pub(super) fn insert(table: &CuckooTable, hash: u64) {
    table.insert(hash).unwrap();
}

/// Share of a million absent hashes that are "maybe".
fn measured_rate(table: &CuckooTable) -> f64 {
    let asked = 1_000_000;
    hashes(999, asked).filter(|&hash| table.may_contain(hash)).count() as f64 / asked as f64
}

#[test]
fn the_way_to_the_other_bucket_leads_back() {
    let mut rng = Rng::new(1);
    for _ in 0..10_000 {
        let shape = Shape::new(u32::try_from(rng.between(4, 32)).unwrap(), rng.between(1, 1_000));
        let hash = rng.next_u64();
        let (class, fingerprint) = (shape.class(hash), shape.fingerprint(hash));
        let other = shape.other_class(class, fingerprint);
        assert!(class < shape.base && other < shape.base && fingerprint > 0);
        assert_eq!(shape.other_class(other, fingerprint), class);
        let buckets = rng.between(shape.base, shape.max_buckets());
        let bucket = shape.bucket(class, fingerprint, buckets);
        assert!(bucket < buckets && shape.class_of_bucket(bucket) == class);
    }
}

#[test]
fn ninety_five_percent_of_the_slots_can_be_filled() {
    for bits in [6, 8, 10, 13, 17, 24] {
        let table = CuckooTable::new(200_000, bits).without_growth();
        hashes(u64::from(bits), 200_000).for_each(|hash| insert(&table, hash));
        assert!(table.stashed().len() <= 1, "{bits} bits: {} wait", table.stashed().len());
    }
}

#[test]
fn the_measured_rate_is_the_stated_one() {
    for bits in [8, 10, 12, 17] {
        let table = CuckooTable::new(100_000, bits);
        hashes(3, 100_000).for_each(|hash| insert(&table, hash));
        let (measured, stated) = (measured_rate(&table) * 1e6, table.rate() * 1e6);
        let slack = 3.3 * stated.sqrt() + 0.03 * stated;
        assert!((measured - stated).abs() <= slack, "{bits} bits: {measured}, not {stated} of a million");
    }
}

#[test]
fn memory_at_declared_capacity_keeps_its_bar() {
    for rate in [0.03f64, 0.02, 0.01, 0.005, 0.001, 0.0001] {
        let table = CuckooTable::for_rate(500_000, rate);
        hashes(4, 500_000).for_each(|hash| insert(&table, hash));
        let bits = table.memory_bytes() as f64 * 8.0 / 500_000.0;
        let bar = 1.1 * ((1.0 / rate).log2() + 3.0) / 0.95;
        assert!(bits <= bar && table.rate() <= rate, "{rate}: {bits} bits a key, the bar is {bar}");
    }
}

#[test]
fn memory_while_growing_keeps_its_bar() {
    let rate = 0.01f64;
    let bar = 1.3 * ((1.0 / rate).log2() + 3.0) / 0.95;
    let table = CuckooTable::for_rate(50_000, rate);
    for (count, hash) in (1u64..).zip(hashes(5, 400_000)) {
        table.insert(hash).unwrap();
        if count >= 50_000 && count % 97 == 0 {
            let bits = table.memory_bytes() as f64 * 8.0 / count as f64;
            assert!(bits <= bar, "{count} keys: {bits} bits a key, the bar is {bar}");
        }
    }
    assert!(hashes(5, 400_000).all(|hash| table.may_contain(hash)));
    let (measured, stated) = (measured_rate(&table), table.rate());
    assert!((measured / stated - 1.0).abs() < 0.1 && stated < 8.5 * rate, "{measured}, stated {stated}");
}

#[test]
fn memory_is_that_of_all_segments_there_are() {
    for (bits, capacity) in [(8, 1), (10, 300), (17, 5_000)] {
        let (table, mut all) = (CuckooTable::new(capacity, bits), hashes(16, 12_000));
        for _ in 0..40 {
            let lists = || table.later.iter().filter_map(OnceLock::get).flatten();
            let words: usize = lists().filter_map(OnceLock::get).map(|segment| segment.len()).sum();
            let lists = lists().count() * size_of::<OnceLock<Segment>>();
            let bytes = size_of::<CuckooTable>() + lists + 8 * (table.base.len() + words);
            assert_eq!(table.memory_bytes(), bytes, "{bits} bits, {} keys", table.stored());
            all.by_ref().take(300).for_each(|hash| insert(&table, hash));
        }
    }
}

#[test]
fn fewer_bits_lose_no_key() {
    let table = CuckooTable::for_rate(5_000, 0.0001);
    hashes(6, 20_000).for_each(|hash| insert(&table, hash));
    let before = table.memory_bytes();
    let table = table.with_fewer_bits(9);
    assert!(table.memory_bytes() * 3 < before * 2);
    assert!(hashes(6, 20_000).all(|hash| table.may_contain(hash)));
    hashes(7, 20_000).for_each(|hash| insert(&table, hash));
    assert!(hashes(6, 20_000).chain(hashes(7, 20_000)).all(|hash| table.may_contain(hash)));
}

#[test]
fn a_table_comes_back_from_its_bytes() {
    for (count, bits) in [(3, 7), (3_000, 10), (40_000, 13), (9_000, 32)] {
        let table = CuckooTable::new(2_000, bits);
        hashes(8, count).for_each(|hash| insert(&table, hash));
        let mut bytes = Vec::new();
        table.write_to(8, &mut bytes);
        let (read, seed) = CuckooTable::from_bytes(&bytes).unwrap();
        assert_eq!((read.stored(), seed), (table.stored(), 8));
        assert!(hashes(8, count).all(|hash| read.may_contain(hash)), "{count} keys, {bits} bits");
        hashes(9, 2_000).for_each(|hash| insert(&read, hash));
        assert!(hashes(8, count).chain(hashes(9, 2_000)).all(|hash| read.may_contain(hash)));
        for cut in 0..bytes.len().min(300) {
            assert!(CuckooTable::from_bytes(&bytes[..cut]).is_err());
        }
    }
}

#[test]
fn whoever_is_taken_for_another_has_its_name() {
    for first in hashes(18, 40) {
        let table = CuckooTable::new(10, 4);
        insert(&table, first);
        let twins: Vec<u64> = hashes(19, 20_000).filter(|&hash| table.may_contain(hash)).collect();
        assert!(
            twins.len() > 10 && twins.iter().all(|&hash| table.twin_name(hash) == table.twin_name(first))
        );
        let others = hashes(19, 20_000).filter(|&hash| !table.may_contain(hash));
        assert!(others.into_iter().all(|hash| table.twin_name(hash) != table.twin_name(first)));
    }
}

#[test]
fn fingerprints_that_wait_and_cannot_be_are_corrupt() {
    let table = CuckooTable::new(2_000, 10);
    table.push_to_stash(3, 5);
    let mut bytes = Vec::new();
    table.write_to(8, &mut bytes);
    assert!(CuckooTable::from_bytes(&bytes).is_ok());
    let at = bytes.len() - 8;
    for (class, fingerprint) in [(table.shape.base, 5), (u64::from(u32::MAX), 5), (3, 0), (3, 1 << 10)] {
        bytes[at..].copy_from_slice(&(class << 32 | fingerprint).to_le_bytes());
        assert!(CuckooTable::from_bytes(&bytes).is_err(), "class {class}, fingerprint {fingerprint}");
    }
}

#[test]
fn a_full_table_refuses_and_keeps_what_it_has() {
    let table = CuckooTable::new(300, 12).without_growth();
    let mut kept = Vec::new();
    let refused = hashes(10, 2_000).find(|&hash| table.insert(hash).inspect(|_| kept.push(hash)).is_err());
    assert!(refused.is_some() && kept.len() > 300);
    assert!(kept.iter().all(|&hash| table.may_contain(hash)));
}

/// Hashes with four-bit fingerprints: twins everywhere. Removals of anything, at any time.
#[test]
fn no_removal_makes_a_no_false() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut filter = CuckooMut::<u64>::new(40, 0.4, seed);
        let (mut present, mut removed) = (BTreeSet::new(), BTreeSet::new());
        for step in 0..3_000 {
            let key = rng.below(400);
            match rng.below(5) {
                0 | 1 => {
                    filter.insert(key).unwrap();
                    present.insert(key);
                    removed.remove(&key);
                }
                2 | 3 => {
                    let was_maybe = filter.may_contain(key);
                    assert_eq!(filter.remove(key).unwrap(), was_maybe);
                    present.remove(&key);
                    // A key that is denied already gets no mark: a twin that comes later makes it "maybe".
                    was_maybe.then(|| removed.insert(key));
                }
                _ if !present.contains(&key) => assert!(filter.report_false_positive(key)),
                _ => {}
            }
            let asked = rng.below(400);
            let state = filter.state(asked);
            assert!(
                !present.contains(&asked) || state == KeyState::Present,
                "seed {seed}, step {step}, key {asked}"
            );
            assert!(
                !removed.contains(&asked) || state != KeyState::Present,
                "seed {seed}, step {step}, key {asked}"
            );
        }
        assert!(present.iter().all(|&key| filter.may_contain(key)), "seed {seed}");
        let plan = BuildPlan::<u64>::new(Budget::bits_per_key(8.0).unwrap());
        let sealed = crate::open::<u64, _>(filter.seal(&plan)).unwrap();
        assert!(present.iter().all(|&key| sealed.may_contain(key)), "seed {seed}");
    }
}

#[test]
fn taking_a_twin_leaves_the_other() {
    for seed in 0..20 {
        let (mut rng, mut model) = (Rng::new(seed), BTreeMap::<u64, u32>::new());
        let table = CuckooTable::new(500, 5);
        let pool: Vec<u64> = hashes(seed, 150).collect();
        for step in 0..4_000 {
            let hash = pool[rng.index(pool.len())];
            let count = model.entry(hash).or_default();
            if *count > 0 && rng.below(2) == 0 {
                assert!(table.take(hash), "seed {seed}, step {step}");
                *count -= 1;
            } else if *count < 3 {
                table.add(hash).unwrap();
                *count += 1;
            }
            assert!(
                model.iter().all(|(&hash, &count)| count == 0 || table.may_contain(hash)),
                "seed {seed}, step {step}"
            );
        }
        for (hash, count) in model {
            (0..count).for_each(|_| assert!(table.take(hash), "seed {seed}"));
        }
        assert_eq!(table.stored(), 0);
        assert!(pool.iter().all(|&hash| !table.may_contain(hash)), "seed {seed}: an empty table denies all");
    }
}

#[test]
fn removed_keys_have_a_limit() {
    let mut filter = CuckooMut::<[u8]>::new(100, 0.01, 1).with_max_marks(2);
    for key in [b"a", b"b", b"c"] {
        filter.insert(key).unwrap();
    }
    assert!(filter.remove(b"a").unwrap() && filter.remove(b"b").unwrap());
    assert!(!filter.remove(b"a").unwrap(), "it is removed already");
    assert!(filter.remove(b"c").is_err() && filter.may_contain(b"c"));
    filter.insert(b"a").unwrap();
    assert!(filter.remove(b"c").unwrap());
    assert_eq!(filter.state(b"a"), KeyState::Present);
}

#[test]
fn readers_find_all_keys_while_a_writer_moves_them() {
    let table = CuckooTable::new(4_000, 12);
    let written: Vec<u64> = hashes(11, 4_000).collect();
    written.iter().for_each(|&hash| insert(&table, hash));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| hashes(12, 60_000).for_each(|hash| insert(&table, hash)));
        while !writer.is_finished() {
            let missing = written.iter().filter(|&&hash| !table.may_contain(hash)).count();
            assert_eq!(missing, 0, "a key that was there before is denied");
        }
    });
    assert!(table.stored() > 60_000);
}
