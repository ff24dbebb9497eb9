//! What scans note, and what becomes of it.

use std::ops::Bound::{Excluded, Included};

use lacuna_slatedb::{GuardSpec, RangeFilters};
use slatedb::IterationOrder;
use slatedb::config::ScanOptions;

use crate::support::{TestDb, entry};

fn key(number: u64) -> [u8; 8] {
    (number << 20).to_be_bytes()
}

/// Filters that remember every empty scan.
fn attentive(spec: &str) -> RangeFilters {
    RangeFilters::new(GuardSpec::parse(spec).unwrap()).with_sample_queue(1_000, 1)
}

async fn three_ssts(spec: &str) -> TestDb {
    let test = TestDb::new(Some(attentive(spec))).await;
    for first in 0..3 {
        test.write_sst((first..300).step_by(3).map(key)).await;
    }
    test
}

#[tokio::test]
async fn an_empty_scan_is_noted_once() {
    let test = three_ssts("grafite@14 codec=fixed_be:8").await;
    let (lo, hi) = ((5u64 << 20) + 100, (5u64 << 20) + 200);
    let mut scan = test.lacuna().scan(&test.db, lo.to_be_bytes()..hi.to_be_bytes()).await.unwrap();
    for _ in 0..3 {
        assert!(scan.next().await.unwrap().is_none());
    }
    assert_eq!((test.lacuna().sample_len(), test.lacuna().stats().empty_scans), (1, 1));
    let stats = test.lacuna().stats();
    stats.check().unwrap();
    let named = |name: &str| {
        stats.metrics().filter(|metric| metric.name == name).map(|metric| metric.value).sum::<u64>()
    };
    assert_eq!(named("lacuna_tables_skipped_total"), stats.skipped());
    assert_eq!((named("lacuna_filters_built_total"), named("lacuna_empty_scans_total")), (3, 1));
}

#[tokio::test]
async fn scans_with_rows_are_not_noted() {
    let test = three_ssts("grafite@14 codec=fixed_be:8").await;
    let options = ScanOptions { order: IterationOrder::Descending, ..ScanOptions::default() };
    for options in [ScanOptions::default(), options] {
        let mut scan = test.lacuna().scan_with_options(&test.db, key(5)..=key(7), &options).await.unwrap();
        let mut count = 0;
        while scan.next().await.unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 3);
    }
    let mut scan = test.lacuna().scan(&test.db, key(5)..=key(9)).await.unwrap();
    scan.seek(key(9)).await.unwrap();
    assert_eq!(scan.next().await.unwrap().unwrap().key, &key(9)[..]);
    assert!(scan.next().await.unwrap().is_none());
    drop(test.lacuna().scan(&test.db, key(5)..=key(5)).await.unwrap());
    assert_eq!((test.lacuna().sample_len(), test.lacuna().stats().empty_scans), (0, 0));
}

#[tokio::test]
async fn snapshots_and_transactions_are_scanned_too() {
    let test = three_ssts("grafite@14 codec=fixed_be:8").await;
    let snapshot = test.db.snapshot().unwrap();
    let transaction = test.db.begin(slatedb::IsolationLevel::Snapshot).unwrap();
    test.write_sst([key(1_000)]).await;
    let range = || (Included(key(1_000)), Excluded(key(1_001)));
    let lacuna = test.lacuna();
    assert!(lacuna.scan(&*snapshot, range()).await.unwrap().next().await.unwrap().is_none());
    assert!(lacuna.scan(&transaction, range()).await.unwrap().next().await.unwrap().is_none());
    assert!(lacuna.scan(&test.db, range()).await.unwrap().next().await.unwrap().is_some());
    assert_eq!(lacuna.sample_len(), 2);
}

#[tokio::test]
async fn passes_in_vain_are_counted() {
    // A Bloom filter looks at no more than 64 keys of a range and lets longer ones pass.
    let test = three_ssts("bloom@14 codec=fixed_be:8").await;
    let (lo, hi) = ((5u64 << 20) + 1, (6u64 << 20) - 1);
    let scan = |options: ScanOptions| {
        let test = &test;
        async move {
            let range = lo.to_be_bytes()..=hi.to_be_bytes();
            let mut scan = test.lacuna().scan_with_options(&test.db, range, &options).await.unwrap();
            assert!(scan.next().await.unwrap().is_none());
        }
    };
    scan(ScanOptions::default()).await;
    assert_eq!(test.lacuna().stats().total().false_positives, 3);
    // A scan with a context of its own keeps it, and these passes are not counted.
    let theirs = Some(slatedb::FilterContext::Inline([7; 64]));
    scan(ScanOptions { filter_context: theirs, ..ScanOptions::default() }).await;
    assert_eq!(test.lacuna().stats().total().false_positives, 3);
    assert_eq!(test.lacuna().stats().empty_scans, 2);
}

#[tokio::test]
async fn noted_scans_shape_the_next_filters() {
    let spec = "prefix_bloom@10 codec=fixed_be:8";
    let test = three_ssts(spec).await;
    let built = |lacuna: &RangeFilters| {
        let mut builder = lacuna.policies()[0].builder();
        (0..1_000).for_each(|number| builder.add_entry(&entry(&key(number))));
        let mut bytes = Vec::new();
        builder.build().encode(&mut bytes);
        bytes
    };
    let before = built(test.lacuna());
    for number in 0..200u64 {
        let (lo, hi) = ((number << 20) + 1, (number << 20) + (1 << 19));
        let mut scan = test.lacuna().scan(&test.db, lo.to_be_bytes()..=hi.to_be_bytes()).await.unwrap();
        assert!(scan.next().await.unwrap().is_none());
    }
    let after = built(test.lacuna());
    assert_ne!(before, after);

    // A compactor elsewhere learns from the bytes of the sample.
    let elsewhere = RangeFilters::parse(spec).unwrap();
    assert_eq!(built(&elsewhere), before);
    assert_eq!(elsewhere.seed_sample(&test.lacuna().sample_bytes()).unwrap(), 200);
    assert_eq!(built(&elsewhere), after);
    assert!(attentive("bloom@10").seed_sample(&test.lacuna().sample_bytes()).is_err());
}

#[tokio::test]
async fn inverted_ranges_have_no_row() {
    let test = three_ssts("grafite@14 codec=fixed_be:8").await;
    for (lo, hi) in [(key(9), key(3)), (key(9), key(9))] {
        let mut scan = test.lacuna().scan(&test.db, lo..hi).await.unwrap();
        assert!(scan.next().await.unwrap().is_none());
        scan.seek(key(9)).await.unwrap();
    }
    assert_eq!(test.lacuna().sample_len(), 0);
}
