//! What panics inside a filter costs a read and is counted: SlateDB's tasks never see it.

use std::ops::Bound::{self, Included};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lacuna_base::{CodecId, Cover, FixedBe, KeyCodec, Result, U64Range};
use lacuna_slatedb::{GuardCodec, GuardSpec, RangeFilters};

use crate::support::{TestDb, entry, point, range, rows};

/// Eight bytes as an integer, as `fixed_be:8`; panics where a flag says so.
#[derive(Debug)]
struct Fragile {
    exact: FixedBe,
    breaks: Arc<Breaks>,
}

/// What the codec panics at from now on.
#[derive(Debug, Default)]
struct Breaks {
    key: AtomicBool,
    cover: AtomicBool,
    id: AtomicBool,
}

impl KeyCodec<u64> for Fragile {
    fn id(&self) -> CodecId {
        assert!(!self.breaks.id.load(Relaxed), "the codec breaks at its number, as this test wants it to");
        CodecId { number: 0x8000, parameter: 0 }
    }
    fn name(&self) -> String {
        "fragile".to_owned()
    }
    fn key(&self, key: &[u8]) -> Result<u64> {
        assert!(!self.breaks.key.load(Relaxed), "the codec breaks at a key, as this test wants it to");
        self.exact.key(key)
    }
    fn cover(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> Cover<U64Range> {
        assert!(!self.breaks.cover.load(Relaxed), "the codec breaks at a range, as this test wants it to");
        self.exact.cover(lo, hi)
    }
}

/// Filters through a codec that panics where a flag says so.
fn fragile() -> (RangeFilters, Arc<Breaks>) {
    let breaks = Arc::<Breaks>::default();
    let codec = Fragile { exact: FixedBe::try_new(8).unwrap(), breaks: Arc::clone(&breaks) };
    let spec = GuardSpec::parse("grafite@14").unwrap();
    let spec = spec.with_codec(GuardCodec::Integers { codec: Arc::new(codec), keeps_order: true });
    (RangeFilters::new(spec).with_sample_queue(100, 1), breaks)
}

fn key(number: u64) -> [u8; 8] {
    (number << 20).to_be_bytes()
}

#[tokio::test]
async fn a_question_that_panics_is_read_and_counted() {
    let (lacuna, breaks) = fragile();
    let test = TestDb::new(Some(lacuna)).await;
    test.write_sst((0..1_000).map(key)).await;
    let (lo, hi) = (((7u64 << 20) + 5).to_be_bytes(), ((7u64 << 20) + 9).to_be_bytes());
    assert!(rows(test.db.scan(lo..=hi).await.unwrap()).await.is_empty());
    assert_eq!((test.lacuna().stats().skipped(), test.lacuna().stats().panics), (1, 0));

    breaks.cover.store(true, Relaxed);
    assert_eq!(rows(test.db.scan(key(7)..=key(8)).await.unwrap()).await.len(), 2);
    assert!(test.db.get(key(7)).await.unwrap().is_some());
    assert!(test.lacuna().scan(&test.db, lo..=hi).await.unwrap().next().await.unwrap().is_none());
    let stats = test.lacuna().stats();
    // Three questions, and the note of the scan without a row.
    assert_eq!((stats.skipped(), stats.panics, stats.empty_scans), (1, 4, 1), "{stats}");
    assert!(stats.to_string().contains("panicked 4") && stats.check().is_err(), "{stats}");
    let metrics = lacuna_slatedb::Metric::text(stats.metrics());
    assert!(metrics.contains("\nlacuna_filters_panicked_total 4\n"), "{metrics}");

    breaks.cover.store(false, Relaxed);
    assert!(rows(test.db.scan(lo..=hi).await.unwrap()).await.is_empty());
    assert_eq!(test.lacuna().stats().skipped(), 2, "the filter is asked again");
}

#[tokio::test]
async fn an_sst_whose_filter_panics_is_written_without_it() {
    let (lacuna, breaks) = fragile();
    let test = TestDb::new(Some(lacuna)).await;
    for broken in [&breaks.key, &breaks.id] {
        broken.store(true, Relaxed);
        test.write_sst((0..100).map(key)).await;
        assert_eq!(rows(test.db.scan(key(50)..).await.unwrap()).await.len(), 50);
        test.compact(true).await;
        broken.store(false, Relaxed);
        assert_eq!(rows(test.db.scan(key(50)..).await.unwrap()).await.len(), 50);
    }
    let stats = test.lacuna().stats();
    assert_eq!((stats.built, stats.build_failures), (0, 4), "{stats}");
    assert!(stats.last_problem.as_deref().is_some_and(|problem| problem.contains("panicked")), "{stats}");
    test.compact(true).await;
    assert_eq!(test.lacuna().stats().built, 1, "the next one has it");
}

#[test]
fn a_filter_whose_opening_panics_is_always_read() {
    let (lacuna, breaks) = fragile();
    let policy = &lacuna.policies()[0];
    let mut builder = policy.builder();
    (0..100).for_each(|number| builder.add_entry(&entry(&key(number))));
    let mut bytes = Vec::new();
    builder.build().encode(&mut bytes);

    breaks.id.store(true, Relaxed);
    let opened = policy.decode(&bytes);
    assert!(opened.might_match(&point(&[0xFF; 8])));
    assert!(opened.might_match(&range(Included(&[0xFF; 8]), Bound::Unbounded)));
    assert_eq!((lacuna.stats().open_failures, lacuna.stats().panics), (1, 0), "{}", lacuna.stats());
}
