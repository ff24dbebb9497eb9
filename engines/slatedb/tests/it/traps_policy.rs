//! Which filters a process can use: damaged ones, those of other names, those of processes set up differently.

use std::sync::Arc;

use lacuna_guard::{GapOptions, GuardCodec};
use lacuna_slatedb::RangeFilters;
use slatedb::config::{CompactorOptions, DbReaderOptions};
use slatedb::{CompactionWorkerBuilder, CompactorBuilder, DbReader, FilterPolicy, FilterQuery};

use crate::support::{Concatenate, Damaged, TestDb, entry, point, quiet_compactor, quiet_worker, rows};

const SPEC: &str = "grafite@14 codec=fixed_be:8";

fn key(number: u64) -> [u8; 8] {
    (number << 20).to_be_bytes()
}

/// Scans that no row answers, between the keys of [`key`].
async fn scan_gaps(test: &TestDb) {
    for number in 0..20u64 {
        let (lo, hi) = ((number << 20) + 1_000, (number << 20) + 1_009);
        let found = rows(test.db.scan(lo.to_be_bytes()..=hi.to_be_bytes()).await.unwrap()).await;
        assert!(found.is_empty(), "{found:?}");
    }
}

async fn assert_all_rows(test: &TestDb, count: u64) {
    let found = rows(test.db.scan(..=[0xFF; 8]).await.unwrap()).await;
    assert!(found.iter().map(|(key, _)| key.clone()).eq((0..count).map(|number| key(number).to_vec())));
    for number in 0..count {
        assert!(test.db.get(key(number)).await.unwrap().is_some(), "{number}");
    }
}

fn skipped(test: &TestDb) -> u64 {
    test.lacuna().stats().skipped()
}

#[test]
fn s2_damaged_bytes_match_everything() {
    let lacuna = RangeFilters::parse(SPEC).unwrap();
    let policy = &lacuna.policies()[0];
    let mut builder = policy.builder();
    (0..100).for_each(|number| builder.add_entry(&entry(&key(number))));
    let mut bytes = Vec::new();
    builder.build().encode(&mut bytes);
    let absent = point(&7u64.to_be_bytes());
    assert!(!policy.decode(&bytes).might_match(&absent));
    for length in 1..bytes.len() {
        assert!(policy.decode(&bytes[..length]).might_match(&absent), "length {length}");
    }
    assert!(policy.decode(b"no filter at all").might_match(&absent));
    let stats = lacuna.stats();
    assert_eq!((stats.open_failures, stats.unfiltered), (bytes.len() as u64, 0), "{stats}");
    assert!(policy.decode(b"").might_match(&absent));
    assert_eq!(lacuna.stats().unfiltered, 1, "stored on purpose, no failure");
}

#[tokio::test]
async fn s2_a_damaged_filter_hides_no_row() {
    let sound = RangeFilters::parse(SPEC).unwrap();
    let damaged: Arc<dyn FilterPolicy> = Arc::new(Damaged(Arc::clone(&sound.policies()[0])));
    let test = TestDb::new(None).await;
    test.db.close().await.unwrap();
    let db = TestDb::builder(&test.store, None).with_filter_policies(vec![damaged]);
    let db = db.with_settings(test.settings.clone()).build().await.unwrap();
    let test = TestDb { db, ..test };
    test.write_sst((0..100).map(key)).await;
    let test = test.reopen_with(Some(sound)).await;
    assert_all_rows(&test, 100).await;
    scan_gaps(&test).await;
    let stats = test.lacuna().stats();
    assert!(stats.open_failures > 0 && stats.asked() == 0, "{stats}");
}

#[test]
fn s3_decoded_filters_outlive_their_bytes() {
    let lacuna = RangeFilters::parse(SPEC).unwrap();
    let policy = &lacuna.policies()[0];
    let mut builder = policy.builder();
    (0..100).for_each(|number| builder.add_entry(&entry(&key(number))));
    let mut bytes = Vec::new();
    builder.build().encode(&mut bytes);
    let filter = policy.decode(&bytes);
    bytes.fill(0);
    drop(bytes);
    assert!((0..100).all(|number| filter.might_match(&point(&key(number)))));
    assert!(!filter.might_match(&point(&7u64.to_be_bytes())));
}

#[tokio::test]
async fn s8_other_families_and_budgets_are_read() {
    let name = |spec: &str| RangeFilters::parse(spec).unwrap().policies()[0].name().to_owned();
    assert_eq!(name(SPEC), "lacuna.v1.fixed_be:8");
    assert_eq!(name(SPEC), name("bloom@10 codec=fixed_be:8 seed=9"));
    assert_ne!(name(SPEC), name("grafite@14"));

    let test = TestDb::parse(SPEC).await;
    test.write_sst((0..100).map(key)).await;
    let test = test.reopen_with(Some(RangeFilters::parse("bloom@20 codec=fixed_be:8 seed=3").unwrap())).await;
    scan_gaps(&test).await;
    assert!(skipped(&test) >= 19, "{}", test.lacuna().stats());
    test.compact(true).await;
    assert_all_rows(&test, 100).await;
}

#[tokio::test]
async fn s8_filters_of_another_codec_are_not_read() {
    let test = TestDb::parse(SPEC).await;
    test.write_sst((0..100).map(key)).await;
    let test = test.reopen_with(Some(RangeFilters::parse("grafite@14").unwrap())).await;
    assert_all_rows(&test, 100).await;
    assert_eq!(test.lacuna().stats().asked(), 0);
}

/// Compacts in another "process": a standalone compactor, with its own worker or with one of its own beside it.
async fn compact_elsewhere(test: &TestDb, lacuna: Option<&RangeFilters>, separate_worker: bool) {
    let worker = if separate_worker { None } else { Some(quiet_worker()) };
    let options = CompactorOptions { worker, ..quiet_compactor() };
    let compactor = CompactorBuilder::new("db", test.object_store()).with_options(options);
    let compactor = compactor.with_merge_operator(Arc::new(Concatenate));
    let compactor = match lacuna {
        Some(lacuna) => lacuna.install(compactor),
        None => compactor,
    };
    let compactor = Arc::new(compactor.build());
    let worker = CompactionWorkerBuilder::new("db", test.object_store()).with_options(quiet_worker());
    let worker = match lacuna {
        Some(lacuna) => lacuna.install(worker),
        None => worker,
    };
    let worker = Arc::new(worker.build().await.unwrap());
    let running = tokio::spawn({
        let compactor = Arc::clone(&compactor);
        async move { compactor.run().await }
    });
    let working = separate_worker.then(|| {
        let worker = Arc::clone(&worker);
        tokio::spawn(async move { worker.run().await })
    });
    test.compact(true).await;
    compactor.stop().await.unwrap();
    running.await.unwrap().unwrap();
    if let Some(working) = working {
        worker.stop().await.unwrap();
        working.await.unwrap().unwrap();
    }
}

async fn database_without_compactor() -> TestDb {
    let test = TestDb::parse(SPEC).await;
    let settings = slatedb::Settings { compactor_options: None, ..test.settings.clone() };
    test.db.close().await.unwrap();
    let test = TestDb::open(test.store, test.lacuna, settings).await;
    test.write_sst((0..50).map(key)).await;
    test.write_sst((50..100).map(key)).await;
    test
}

#[tokio::test]
async fn s9_compactors_with_the_policy_keep_the_filters() {
    for separate_worker in [false, true] {
        let test = database_without_compactor().await;
        let elsewhere = RangeFilters::parse(SPEC).unwrap();
        compact_elsewhere(&test, Some(&elsewhere), separate_worker).await;
        assert!(elsewhere.stats().built > 0, "{}", elsewhere.stats());
        let before = skipped(&test);
        scan_gaps(&test).await;
        assert!(skipped(&test) >= before + 19, "{}", test.lacuna().stats());
        assert_all_rows(&test, 100).await;
    }
}

#[tokio::test]
async fn s9_compactors_without_the_policy_drop_the_filters() {
    let test = database_without_compactor().await;
    compact_elsewhere(&test, None, false).await;
    let before = test.lacuna().stats().asked();
    scan_gaps(&test).await;
    assert_eq!(test.lacuna().stats().asked(), before, "there is nothing to ask");
    assert_all_rows(&test, 100).await;
}

#[tokio::test]
async fn s9_readers_use_the_filters() {
    let test = TestDb::parse(SPEC).await;
    test.write_sst((0..100).map(key)).await;
    let elsewhere = RangeFilters::parse(SPEC).unwrap();
    let reader = DbReader::builder("db", test.object_store()).with_options(DbReaderOptions::default());
    let reader = elsewhere.install(reader).build().await.unwrap();
    for number in 0..20u64 {
        let (lo, hi) = ((number << 20) + 1_000, (number << 20) + 1_009);
        let mut found = elsewhere.scan(&reader, lo.to_be_bytes()..=hi.to_be_bytes()).await.unwrap();
        assert!(found.next().await.unwrap().is_none());
    }
    assert_eq!(rows(reader.scan(..=[0xFF; 8]).await.unwrap()).await.len(), 100);
    assert!(elsewhere.stats().skipped() >= 19, "{}", elsewhere.stats());
    reader.close().await.unwrap();
}

#[test]
fn s10_two_policies_of_one_name_are_refused() {
    let lacuna = || RangeFilters::parse(SPEC).unwrap();
    assert!(lacuna().with_older_codec(GuardCodec::parse("fixed_be:8").unwrap()).is_err());
    assert!(lacuna().with_policy(Arc::clone(&lacuna().policies()[0])).is_err());
    assert!(lacuna().with_slatedb_bloom(10).unwrap().with_slatedb_bloom(12).is_err());
    assert!(lacuna().with_older_codec(GuardCodec::bytes()).is_ok());
}

#[tokio::test]
async fn s11_an_older_codec_is_read_until_compaction() {
    let test = TestDb::parse("bucketing@14").await;
    test.write_sst((0..100).map(key)).await;
    let newer = RangeFilters::parse(SPEC).unwrap().with_older_codec(GuardCodec::bytes()).unwrap();
    let test = test.reopen_with(Some(newer)).await;
    scan_gaps(&test).await;
    assert!(skipped(&test) >= 15, "the old filters answer: {}", test.lacuna().stats());
    assert_all_rows(&test, 100).await;
    test.compact(true).await;
    // The new SSTs hold nothing under the old name, so a process that knows only the new one is served.
    let test = test.reopen_with(Some(RangeFilters::parse(SPEC).unwrap())).await;
    scan_gaps(&test).await;
    assert!(skipped(&test) >= 19, "{}", test.lacuna().stats());
    assert_all_rows(&test, 100).await;
}

/// Whichever is asked for first, a scan counts what filters of the older codec let pass in vain.
#[tokio::test]
async fn s11_filters_of_an_older_codec_count_beside_learned_gaps() {
    let test = TestDb::parse("bloom@10").await;
    test.write_sst((0..100).map(key)).await;
    let newer = RangeFilters::parse(SPEC).unwrap().with_older_codec(GuardCodec::bytes()).unwrap();
    let test = test.reopen_with(Some(newer.with_learned_gaps(GapOptions::default()))).await;
    for number in 0..20u64 {
        let (lo, hi) = ((number << 20) + 1_000, (number << 20) + 1_009);
        let mut rows = test.lacuna().scan(&test.db, lo.to_be_bytes()..=hi.to_be_bytes()).await.unwrap();
        assert!(rows.next().await.unwrap().is_none());
    }
    let total = test.lacuna().stats().total();
    assert!(total.passed > 0, "a Bloom filter says maybe to ranges: {total:?}");
    assert_eq!(total.false_positives, total.passed);
}

#[test]
fn s11_an_older_policy_builds_a_filter_that_matches() {
    let lacuna = RangeFilters::parse(SPEC).unwrap().with_older_codec(GuardCodec::bytes()).unwrap();
    let mut builder = lacuna.policies()[1].builder();
    builder.add_entry(&entry(b"k"));
    let filter = builder.build();
    assert_eq!(filter.size(), 0);
    assert!(filter.might_match(&point(b"absent")) && filter.might_match(&FilterQuery::prefix("x".into())));
    assert_eq!((lacuna.stats().build_failures, lacuna.stats().not_stored), (0, 0));
}
