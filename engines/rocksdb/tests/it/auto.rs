//! `auto`: every table gets the filter that its own keys and the recent scans ask for.

use lacuna_base::{Budget, BuildPlan, Envelope, Sample, SortedKeys};
use lacuna_families::AutoSpec;
use lacuna_rocksdb::{GuardSpec, PROPERTY_NAME, Property, RangeFilters};
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
    TestDb::of(RangeFilters::new(spec).with_sample_queue(CAPACITY, 1), |_| {})
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
    /// Long, and far after a key.
    Far,
    /// Short, and right after a key.
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

/// The filter in the one table there is.
fn filter(test: &TestDb) -> Vec<u8> {
    let found = Arc::new(Mutex::new(None));
    let sink = Arc::clone(&found);
    let mut options = ReadOptions::default();
    options.set_table_filter(move |table| {
        let mut properties = table.user_collected_properties();
        let property = properties.find(|(name, _)| *name == PROPERTY_NAME.as_bytes()).unwrap().1;
        let sealed = Property::parse(property).unwrap().sealed;
        *sink.lock().unwrap() = Some(sealed.to_vec());
        true
    });
    test.db.raw_iterator_opt(options).seek_to_first();
    let found = found.lock().unwrap().take();
    found.expect("there is a table with a filter")
}

/// The name of its family.
fn family(test: &TestDb) -> &'static str {
    let kind = Envelope::open(&filter(test)).unwrap().0.kind;
    lacuna_families::family(kind).unwrap().kind.name()
}

/// The family that the designer names for the same keys and `scans`, and its spec.
fn designed(auto: &str, scans: &[(u64, u64)]) -> (&'static str, String) {
    let keys: Vec<u64> = (0..KEYS).map(key).collect();
    let mut sample = Sample::<u64>::new();
    scans.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
    let budget = Budget::bits_per_key(14.0).unwrap();
    let plan = BuildPlan::new(budget).with_sample(Arc::new(sample)).with_seed(5);
    let auto: AutoSpec = auto.parse().unwrap();
    let design = auto.design(SortedKeys::integers(&keys).unwrap(), &plan).unwrap();
    let best = &design.candidates()[0];
    (best.kind.name(), best.spec.clone())
}

/// Scans until the queue holds nothing else: the family of the next table, and what the designer names.
fn compacted(test: &TestDb, auto: &str, law: Law, rng: &mut Rng) -> (&'static str, (&'static str, String)) {
    let mut twin = rng.clone();
    let scans: Vec<(u64, u64)> = (0..CAPACITY).map(|_| law.draw(&mut twin)).collect();
    rate(test, law, CAPACITY as u64, rng);
    compact_all(&test.db);
    (family(test), designed(auto, &scans))
}

#[test]
fn a_new_workload_gets_another_design() {
    for spec in ["auto@14", "auto:robust@14"] {
        let (test, mut rng) = (database(spec), Rng::new(SEED));
        let auto = spec.strip_suffix("@14").unwrap();
        fill(&test, 0..KEYS);
        let (far, named_far) = compacted(&test, auto, Law::Far, &mut rng);
        let (near, named_near) = compacted(&test, auto, Law::Near, &mut rng);
        println!(
            "{spec}: {named_far:?} for long scans, {named_near:?} for short ones next to keys, seed {SEED}"
        );
        assert_eq!((far, near), (named_far.0, named_near.0), "{spec}, seed {SEED}");
        assert_eq!(named_near == named_far, auto == "auto:robust", "{spec}: {named_near:?}");
    }
}

/// The bar of a shift: once the tables have been compacted, the rate is within 1.5 times its steady value. Before that, and
/// in a twin that remembers no scan, it is not: it is the queue that brings it back.
#[test]
fn after_a_shift_the_rate_returns_with_the_next_compaction() {
    for (old, new) in [(Law::Far, Law::Near), (Law::Near, Law::Far)] {
        let [at_once, compacted] = rates_after_a_shift(database("auto@10"), old, new);
        let steady = steady_rate("auto@10", new, &mut Rng::new(SEED));
        println!("{old:?} to {new:?}: {at_once:.4} at once, {compacted:.4} compacted, {steady:.4} steady");
        let max = max_after_a_shift(steady);
        assert!(at_once > max, "{old:?} to {new:?}, seed {SEED}: {at_once} at once, {steady} steady");
        assert!(compacted <= max, "{old:?} to {new:?}, seed {SEED}: {compacted} of {steady}");
    }
    let [_, forgetful] = rates_after_a_shift(forgetful("auto@10", &[]), Law::Near, Law::Far);
    let steady = steady_rate("auto@10", Law::Far, &mut Rng::new(SEED));
    println!("a twin that remembers nothing: {forgetful:.4} compacted");
    assert!(forgetful > max_after_a_shift(steady), "seed {SEED}: {forgetful} of {steady}");
}

/// Where the bound of a robust design holds, nothing has to be compacted.
#[test]
fn a_robust_design_bears_a_shift_to_short_scans() {
    let [at_once, compacted] = rates_after_a_shift(database("auto:robust@10"), Law::Far, Law::Near);
    let max = max_after_a_shift(steady_rate("auto:robust@10", Law::Near, &mut Rng::new(SEED)));
    println!("{at_once:.4} at once, {compacted:.4} compacted, {max:.4} at most");
    assert!(at_once <= max && compacted <= max && max < 0.2, "seed {SEED}: {at_once}, {compacted}, {max}");
}

/// Rates of the new law, in tables that were designed for the old one and after a compaction.
fn rates_after_a_shift(test: TestDb, old: Law, new: Law) -> [f64; 2] {
    let mut rng = Rng::new(SEED + 1);
    fill(&test, 0..KEYS);
    rate(&test, old, CAPACITY as u64, &mut rng);
    compact_all(&test.db);
    let at_once = rate(&test, new, CAPACITY as u64, &mut rng);
    compact_all(&test.db);
    [at_once, rate(&test, new, SCANS, &mut rng)]
}

/// What the bar allows, with what chance adds to the count that it expects.
fn max_after_a_shift(steady: f64) -> f64 {
    let max = 1.5 * steady * SCANS as f64;
    (max + 3.3 * max.sqrt() + 3.0) / SCANS as f64
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

/// A database that knows these scans and remembers no other.
fn forgetful(spec: &str, sample: &[u8]) -> TestDb {
    let spec = GuardSpec::parse(&format!("{spec} codec=fixed_be:8 seed=5")).unwrap();
    let lacuna = RangeFilters::new(spec).with_sample_queue(CAPACITY, u64::MAX);
    if !sample.is_empty() {
        assert_eq!(lacuna.seed_sample(sample).unwrap(), CAPACITY);
    }
    TestDb::of(lacuna, |_| {})
}

#[test]
fn flushes_are_designed_from_the_queue_too() {
    let (test, mut rng) = (database("auto@10"), Rng::new(SEED));
    fill(&test, (0..KEYS).step_by(2));
    rate(&test, Law::Far, CAPACITY as u64, &mut rng);
    let [seeded, unseeded] = [test.lacuna.sample_bytes(), Vec::new()].map(|sample| {
        let twin = forgetful("auto@10", &sample);
        fill(&twin, 0..KEYS);
        (filter(&twin), rate(&twin, Law::Far, CAPACITY as u64, &mut Rng::new(SEED + 2)))
    });
    println!("seeded {}, unseeded {}", seeded.1, unseeded.1);
    assert!(seeded.0 != unseeded.0, "a design without a sample");
    assert!(seeded.1 < 0.2 * unseeded.1, "seed {SEED}: {} against {}", seeded.1, unseeded.1);
}
