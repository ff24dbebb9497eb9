//! The cap of a table's property: it holds for every family, and what was coarsened to keep it keeps every key.

use std::ops::Bound::Included;

use lacuna_families::FAMILIES;
use lacuna_rocksdb_property::{Collector, Direction, Question, TableGuard};
use lacuna_workload::Rng;

use crate::table;

/// Spread integers, as eight bytes each.
fn integers(rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut numbers: Vec<u64> = (0..5_000).map(|_| rng.next_u64()).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|number| number.to_be_bytes().to_vec()).collect()
}

/// Strings of several lengths after a common prefix, which filters keep beside their bits.
fn strings(rng: &mut Rng, prefix_bytes: usize) -> Vec<Vec<u8>> {
    let mut strings: Vec<Vec<u8>> = (0..5_000)
        .map(|_| [&vec![b'p'; prefix_bytes][..], &rng.next_u64().to_be_bytes()[..1 + rng.index(8)]].concat())
        .collect();
    strings.sort_unstable();
    strings
}

/// What one family did under several caps.
#[derive(Debug, Default)]
struct Told {
    built: u64,
    coarsened: u64,
    left_out: u64,
}

fn build(spec: &str, max_bytes: usize, keys: &[Vec<u8>], told: &mut Told) {
    let guard = TableGuard::parse(spec).unwrap().with_max_bytes(max_bytes);
    let mut collector = Collector::new(&guard, Some(1));
    keys.iter().for_each(|key| collector.add(Collector::PUT, key));
    let property = collector.finish();
    let filters = guard.stats().filters;
    assert_eq!(filters.built, u64::from(property.is_some()), "{spec}, {max_bytes} bytes: {filters}");
    assert_eq!(filters.built + filters.not_stored, 1, "{spec}, {max_bytes} bytes: {filters}");
    told.built += filters.built;
    told.coarsened += filters.coarsened;
    told.left_out += filters.not_stored;
    let Some(property) = property else { return };
    assert!(property.len() <= max_bytes, "{spec}: {} of {max_bytes} bytes", property.len());
    for key in keys {
        let question = Question::new(&guard, (Included(key), Included(key)), Direction::Forward);
        assert!(question.may_contain(table(&property)), "{spec}, {max_bytes} bytes: {key:?} is lost");
    }
    assert_eq!(guard.stats().scanned.total(), 0, "{spec}, {max_bytes} bytes: every key was asked for");
}

#[test]
fn every_family_keeps_its_keys_within_the_cap() {
    let seed = 23;
    let mut rng = Rng::new(seed);
    let sets = [
        ("fixed_be:8", integers(&mut rng)),
        ("bytes", integers(&mut rng)),
        ("bytes", strings(&mut rng, 0)),
        ("bytes", strings(&mut rng, 3_000)),
    ];
    for family in FAMILIES.iter().map(|family| family.example).chain(["auto", "auto:robust"]) {
        let mut told = Told::default();
        for (codec, keys) in &sets {
            let spec = format!("{family}@24 codec={codec} seed={seed}");
            // 24 bits for each of 5,000 keys would be 15,000 bytes.
            for max_bytes in [1 << 20, 12_000, 9_000, 6_000, 3_500, 1_000, 100] {
                build(&spec, max_bytes, keys, &mut told);
            }
        }
        println!("{family}: {told:?}");
        assert!(told.coarsened > 8 && told.left_out >= 4, "{family}, seed {seed}: {told:?}");
        assert!(told.built > told.coarsened, "{family}, seed {seed}: {told:?}");
    }
}

#[test]
fn a_large_table_gets_its_budget() {
    // At 14 bits, 5 MB.
    let guard = TableGuard::parse("bloom@14 codec=fixed_be:8").unwrap();
    let mut collector = Collector::new(&guard, Some(6));
    (0..3_000_000u64).for_each(|number| collector.add(Collector::PUT, &(number << 20).to_be_bytes()));
    let property = collector.finish().unwrap();
    assert_eq!(guard.stats().filters.coarsened, 0, "{}", guard.stats());
    let bits_per_key = property.len() * 8 / 3_000_000;
    assert!((13..=14).contains(&bits_per_key), "{bits_per_key}");
}
