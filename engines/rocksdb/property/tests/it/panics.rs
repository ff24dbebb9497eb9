//! RocksDB's threads never see a panic: it costs a read, and is counted.

use std::ops::Bound::{self, Included};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lacuna_base::{CodecId, Cover, FixedBe, KeyCodec, Result, U64Range};
use lacuna_guard::{GuardCodec, GuardSpec};
use lacuna_rocksdb_property::{Collector, Direction, Question, Questions, TableFacts, TableGuard};

/// Eight bytes as an integer, until a flag makes it panic.
#[derive(Debug)]
struct Fragile {
    exact: FixedBe,
    breaks: Arc<AtomicBool>,
}

impl Fragile {
    fn hold(&self) {
        assert!(!self.breaks.load(Relaxed), "the codec breaks, as this test wants it to");
    }
}

impl KeyCodec<u64> for Fragile {
    fn id(&self) -> CodecId {
        CodecId { number: 0x8000, parameter: 0 }
    }
    fn name(&self) -> String {
        "fragile".to_owned()
    }
    fn key(&self, key: &[u8]) -> Result<u64> {
        self.hold();
        self.exact.key(key)
    }
    fn cover(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> Cover<U64Range> {
        self.hold();
        self.exact.cover(lo, hi)
    }
}

#[test]
fn a_codec_that_panics_costs_reads_and_is_counted() {
    let breaks = Arc::<AtomicBool>::default();
    let codec = Fragile { exact: FixedBe::try_new(8).unwrap(), breaks: Arc::clone(&breaks) };
    let spec = GuardSpec::parse("grafite@14").unwrap();
    let spec = spec.with_codec(GuardCodec::Integers { codec: Arc::new(codec), keeps_order: true });
    let guard = TableGuard::new(spec).with_sample_queue(100, 1);
    let property = || {
        let mut collector = Collector::new(&guard, Some(1));
        (0..1_000_u64).for_each(|number| collector.add(Collector::PUT, &(number << 20).to_be_bytes()));
        collector.finish()
    };
    let stored = property().unwrap();
    let ask = || {
        let (lo, hi) = (5_u64.to_be_bytes(), 9_u64.to_be_bytes());
        let question = Question::new(&guard, (Included(&lo), Included(&hi)), Direction::Forward);
        let comparator = TableFacts::BYTEWISE;
        let answer = question.may_contain(TableFacts { comparator, property: Some(&stored), identity: None });
        question.note_empty();
        answer
    };
    assert!(!ask());
    breaks.store(true, Relaxed);
    assert!(ask(), "read");
    assert_eq!(property(), None, "no filter");
    breaks.store(false, Relaxed);
    assert!(!ask(), "asked again");
    let stats = guard.stats();
    assert_eq!((stats.filters.panics, stats.scanned.corrupt, stats.filters.build_failures), (2, 1, 1));
    assert_eq!((stats.filters.skipped(), stats.filters.empty_scans), (2, 3));
    assert!(stats.filters.check().is_err());
    let text = lacuna_rocksdb_property::Metric::text(stats.metrics());
    assert!(text.contains("\nlacuna_filters_panicked_total 2\n"), "{text}");

    // Many at once, in a table and without one.
    let range = |lo: u64| (Included(lo.to_be_bytes().to_vec()), Included((lo + 4).to_be_bytes().to_vec()));
    let questions = Questions::new(&guard, [range(5), range(50)]);
    breaks.store(true, Relaxed);
    let comparator = TableFacts::BYTEWISE;
    questions.note_empty(0);
    assert!(!questions.has_passed(0));
    questions.ask(TableFacts { comparator, property: Some(&stored), identity: None });
    assert!(questions.has_passed(0) && questions.has_passed(1), "read");
    assert_eq!(guard.stats().filters.panics, 4);
}

/// A batch in which every range is inverted asks tables for their comparator alone.
#[test]
fn questions_without_a_range_open_no_filter() {
    let guard = TableGuard::parse("grafite@14 codec=fixed_be:8").unwrap();
    let questions = Questions::new(&guard, [(Included(vec![9; 8]), Included(vec![5; 8]))]);
    for comparator in [TableFacts::BYTEWISE, &b"backward"[..]] {
        questions.ask(TableFacts { comparator, property: Some(b"damaged"), identity: None });
    }
    assert_eq!(questions.foreign_comparator(), Some("backward"));
    assert_eq!((guard.stats().scanned.corrupt, guard.stats().scanned.comparator), (0, 1));
}
