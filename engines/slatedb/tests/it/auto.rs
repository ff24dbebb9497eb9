//! `auto`: every SST gets the filter that its own keys and the recent scans ask for.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, Envelope, ErrorKind, Sample, SortedKeys};
use lacuna_families::AutoSpec;
use lacuna_slatedb::{GuardSpec, RangeFilters};

use crate::support::{TestDb, entry};

const SPEC: &str = "auto@14 codec=fixed_be:8 seed=5";
/// Scans that the queue holds.
const CAPACITY: usize = 600;

/// Keys far apart, in no even order.
fn key(number: u64) -> u64 {
    (number << 40) + ((number * number * 977) % (1 << 39))
}

fn attentive() -> RangeFilters {
    RangeFilters::new(GuardSpec::parse(SPEC).unwrap()).with_sample_queue(CAPACITY, 1)
}

async fn database() -> TestDb {
    let test = TestDb::new(Some(attentive())).await;
    test.write_sst((0..2_000).map(|number| key(number).to_be_bytes())).await;
    test
}

/// Scans `length` keys `distance` after a key, as often as the queue holds.
async fn scan_behind_keys(test: &TestDb, distance: u64, length: u64) {
    for number in 0..CAPACITY as u64 {
        let lo = key(number * 3) + distance;
        let range = lo.to_be_bytes()..(lo + length).to_be_bytes();
        let mut scan = test.lacuna().scan(&test.db, range).await.unwrap();
        assert!(scan.next().await.unwrap().is_none());
    }
}

/// The stored bytes of the filter that a new SST of other keys would get.
fn next_filter(lacuna: &RangeFilters) -> Vec<u8> {
    let mut builder = lacuna.policies()[0].builder();
    for number in 0..2_000 {
        builder.add_entry(&entry(&(key(number) + 1).to_be_bytes()));
    }
    let mut bytes = Vec::new();
    builder.build().encode(&mut bytes);
    bytes
}

/// The name of its family.
fn family(filter: &[u8]) -> &'static str {
    let kind = Envelope::open_verified(filter).unwrap().0.kind;
    lacuna_families::family(kind).unwrap().kind.name()
}

/// The family that the designer names for the keys of [`next_filter`] and the scans of [`scan_behind_keys`], and its spec.
fn designed(distance: u64, length: u64) -> (&'static str, String) {
    let keys: Vec<u64> = (0..2_000).map(|number| key(number) + 1).collect();
    let mut sample = Sample::<u64>::new();
    for number in 0..CAPACITY as u64 {
        let lo = key(number * 3) + distance;
        sample.push(lo, lo + length - 1);
    }
    let budget = Budget::bits_per_key(14.0).unwrap();
    let plan = BuildPlan::new(budget).with_sample(Arc::new(sample)).with_seed(5);
    let design = AutoSpec::new().design(SortedKeys::integers(&keys).unwrap(), &plan).unwrap();
    let best = &design.candidates()[0];
    (best.kind.name(), best.spec.clone())
}

#[tokio::test]
async fn a_new_workload_gets_another_design() {
    let test = database().await;
    scan_behind_keys(&test, 1 << 37, 1 << 30).await;
    let far = next_filter(test.lacuna());
    scan_behind_keys(&test, 3, 20).await;
    let near = next_filter(test.lacuna());
    let (named_far, named_near) = (designed(1 << 37, 1 << 30), designed(3, 20));
    assert_eq!((family(&far), family(&near)), (named_far.0, named_near.0), "{named_far:?}, {named_near:?}");
    assert!(named_far != named_near && far != near, "{named_far:?}, {named_near:?}");
    test.write_sst((0..2_000).map(|number| (key(number) + 1).to_be_bytes())).await;
    test.compact(true).await;
    let before = test.lacuna().stats().skipped();
    scan_behind_keys(&test, 5, 20).await;
    let skipped = test.lacuna().stats().skipped() - before;
    assert!(skipped > CAPACITY as u64 * 9 / 10, "{skipped} of {CAPACITY} scans skipped the merged SST");
}

#[tokio::test]
async fn a_seeded_compactor_designs_the_same() {
    let test = database().await;
    scan_behind_keys(&test, 1 << 37, 1 << 30).await;
    let compactor = attentive();
    let blind = next_filter(&compactor);
    assert_eq!(compactor.seed_sample(&test.lacuna().sample_bytes()).unwrap(), CAPACITY);
    assert!(next_filter(&compactor) == next_filter(test.lacuna()), "same keys and sample, same bytes");
    assert!(next_filter(&compactor) != blind, "the sample made a difference");
}

#[tokio::test]
async fn a_damaged_sample_is_refused() {
    let test = database().await;
    scan_behind_keys(&test, 3, 20).await;
    let good = test.lacuna().sample_bytes();
    let compactor = attentive();
    for place in [0, 4, 20, 36, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        let problem = compactor.seed_sample(&bad).unwrap_err();
        assert!(matches!(problem.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "{place}: {problem}");
    }
    let cut = compactor.seed_sample(&good[..good.len() - 1]).unwrap_err();
    assert_eq!(cut.kind(), ErrorKind::Corrupt, "{cut}");
    let strings = RangeFilters::parse("auto@14").unwrap().seed_sample(&good).unwrap_err();
    assert_eq!(strings.kind(), ErrorKind::Unsupported, "{strings}");
    assert_eq!(compactor.sample_len(), 0, "nothing of a bad sample is kept");
}
