//! `auto`: every table gets the filter that its own keys and the recent scans ask for.

use lacuna_core::{Envelope, KindId};
use lacuna_filters::Kind;
use lacuna_rocksdb::{GuardSpec, LacunaRocksDb, PROPERTY_NAME, Property};
use lacuna_workload::Rng;
use rust_rocksdb::ReadOptions;
use std::sync::{Arc, Mutex};

use crate::support::{TestDb, compact_all};

/// Scans that the queue holds.
const CAPACITY: usize = 1_000;
const KEYS: u64 = 20_000;
const SEED: u64 = 19;

fn database(spec: &str) -> TestDb {
    let spec = GuardSpec::parse(&format!("{spec} codec=fixed_be:8 seed=5")).unwrap();
    TestDb::of(LacunaRocksDb::with_sample_queue(spec, CAPACITY, 1), |_| {})
}

/// Keys far apart, in no even order.
fn key(number: u64) -> u64 {
    (number << 40) + (number * number * 977) % (1 << 39)
}

fn fill(test: &TestDb, numbers: impl Iterator<Item = u64>) {
    test.write_table(numbers.map(|number| key(number).to_be_bytes()));
}

/// What scans look like.
#[derive(Debug, Clone, Copy)]
enum Law {
    /// Long, and far behind a key.
    Far,
    /// Short, and right behind a key.
    Near,
}

impl Law {
    fn draw(self, rng: &mut Rng) -> (u64, u64) {
        let key = key(rng.below(KEYS));
        let (distance, length) = match self {
            Self::Far => (rng.between(1 << 37, 1 << 38), rng.between(1 << 28, 1 << 30)),
            Self::Near => (rng.between(1, 32), rng.between(2, 32)),
        };
        (key + distance, key + distance + length)
    }
}

/// The share of answers "maybe" among all, over `count` empty scans.
fn rate(test: &TestDb, law: Law, count: u64, rng: &mut Rng) -> f64 {
    let before = test.asked();
    for _ in 0..count {
        let (lo, hi) = law.draw(rng);
        let rows = test.lacuna.read(lo.to_be_bytes()..=hi.to_be_bytes()).scan(&test.db);
        assert!(rows.is_empty().unwrap(), "seed {SEED}, {law:?}: [{lo}, {hi}]");
    }
    let (skipped, passed) = test.asked();
    let (skipped, passed) = (skipped - before.0, passed - before.1);
    passed as f64 / (skipped + passed).max(1) as f64
}

/// The family of the filter in the one table there is.
fn family(test: &TestDb) -> KindId {
    let found = Arc::new(Mutex::new(None));
    let sink = Arc::clone(&found);
    let mut options = ReadOptions::default();
    options.set_table_filter(move |table| {
        let mut properties = table.user_collected_properties();
        let property = properties.find(|(name, _)| *name == PROPERTY_NAME.as_bytes()).unwrap().1;
        let sealed = Property::parse(property).unwrap().sealed;
        *sink.lock().unwrap() = Some(Envelope::open(sealed).unwrap().0.kind);
        true
    });
    test.db.raw_iterator_opt(options).seek_to_first();
    let found = *found.lock().unwrap();
    found.expect("there is a table with a filter")
}

#[test]
fn a_new_workload_gets_another_design() {
    for spec in ["auto@14", "auto:robust@14"] {
        let (test, mut rng) = (database(spec), Rng::new(SEED));
        fill(&test, 0..KEYS);
        rate(&test, Law::Far, CAPACITY as u64, &mut rng);
        compact_all(&test.db);
        let far = family(&test);
        rate(&test, Law::Near, CAPACITY as u64, &mut rng);
        compact_all(&test.db);
        let near = family(&test);
        println!("{spec}: {far:?} for long scans, {near:?} for short ones next to keys");
        assert!([Kind::Grafite, Kind::Rencoder].map(Kind::id).contains(&near), "{spec}: {near:?}");
        if spec == "auto@14" {
            assert_ne!(near, far, "{spec}");
        }
    }
}

/// The bar of a shift: once the tables have been compacted, the rate is within 1.5 times its steady value.
#[test]
fn after_a_shift_the_rate_returns_with_the_next_compaction() {
    for spec in ["auto@10", "auto:robust@10"] {
        for (old, new) in [(Law::Far, Law::Near), (Law::Near, Law::Far)] {
            let mut rng = Rng::new(SEED);
            let steady = steady_rate(spec, new, &mut rng);
            let test = database(spec);
            fill(&test, 0..KEYS);
            rate(&test, old, CAPACITY as u64, &mut rng);
            compact_all(&test.db);
            let before = rate(&test, new, CAPACITY as u64, &mut rng);
            compact_all(&test.db);
            let after = rate(&test, new, SCANS, &mut rng);
            println!(
                "{spec}, {old:?} to {new:?}: {before:.4} at once, {after:.4} compacted, {steady:.4} steady"
            );
            // What chance adds to the count that the bar expects.
            let most = 1.5 * steady * SCANS as f64;
            let most = (most + 3.3 * most.sqrt() + 3.0) / SCANS as f64;
            assert!(after <= most, "{spec}, {old:?} to {new:?}, seed {SEED}: {after} of {steady}");
        }
    }
}

/// Scans that a rate is measured with.
const SCANS: u64 = 20_000;

/// The rate of tables that were designed for this law from the start.
fn steady_rate(spec: &str, law: Law, rng: &mut Rng) -> f64 {
    let test = database(spec);
    fill(&test, 0..KEYS);
    rate(&test, law, CAPACITY as u64, rng);
    compact_all(&test.db);
    rate(&test, law, SCANS, rng)
}

#[test]
fn flushes_are_designed_from_the_queue_too() {
    let (test, mut rng) = (database("auto@14"), Rng::new(SEED));
    fill(&test, (0..KEYS).step_by(2));
    rate(&test, Law::Near, CAPACITY as u64, &mut rng);
    let twin = LacunaRocksDb::with_sample_queue(test.lacuna.spec().clone(), CAPACITY, 1);
    let other = TestDb::of(twin, |_| {});
    assert_eq!(other.lacuna.seed_sample(&test.lacuna.sample_bytes()).unwrap(), CAPACITY);
    fill(&other, 0..KEYS);
    let near = family(&other);
    assert!([Kind::Grafite, Kind::Rencoder].map(Kind::id).contains(&near), "{near:?}");
}
