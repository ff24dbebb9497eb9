//! State that the collectors and questions of one column family share.

use std::fmt;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lacuna_base::Result;
use lacuna_guard::{
    Counters, CountersSnapshot, FileTag, GapOptions, GuardBuilder, GuardCodec, GuardSpec, LearnedGaps,
    QueryLog,
};

use crate::partitions::{PartitionStats, PartitionStore};
use crate::passed::Passed;
use crate::scanned::{Reason, Scanned, ScannedCounters};

/// Most bytes of a property unless set otherwise: 14 bits for each of 150 million keys, so that filters of usual budgets
/// grow with their tables. RocksDB reads all properties of a table in one block, and keeps them on the heap while the
/// table is open.
const DEFAULT_MAX_BYTES: usize = 256 << 20;

/// What to build, the remembered queries, and the counts. A clone shares the last two.
///
/// ```
/// use lacuna_rocksdb_property::TableGuard;
///
/// let guard = TableGuard::parse("bloom@10")?.with_max_bytes(1 << 20);
/// assert_eq!(guard.spec().codec().to_string(), "bytes");
/// assert_eq!(guard.stats().filters.built, 0);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TableGuard {
    spec: Arc<GuardSpec>,
    max_bytes: usize,
    log: Arc<QueryLog>,
    counters: Arc<Counters>,
    scanned: Arc<ScannedCounters>,
    /// `None` unless gaps are learned.
    gaps: Option<Arc<LearnedGaps>>,
    /// `None` unless filters are in partitions.
    partitions: Option<PartitionStore>,
}

/// The counts of this process so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableStats {
    /// Filters built, and questions by the level that the tables were written for.
    pub filters: CountersSnapshot,
    /// Tables read because nothing could be asked.
    pub scanned: Scanned,
    /// Partitions of filters; all zero unless [`with_partitions`](TableGuard::with_partitions) asks for them. Shared by all
    /// that share the store.
    pub partitions: PartitionStats,
}

impl TableGuard {
    /// Filters of `spec`; 20,000 empty scans are remembered, one in 100.
    pub fn new(spec: GuardSpec) -> Self {
        Self {
            log: Arc::new(QueryLog::new(spec.codec())),
            spec: Arc::new(spec),
            max_bytes: DEFAULT_MAX_BYTES,
            counters: Arc::default(),
            scanned: Arc::default(),
            gaps: None,
            partitions: None,
        }
    }

    /// Filters of the spec that `text` names, see [`GuardSpec`].
    ///
    /// # Errors
    /// `InvalidInput` that says which word is wrong.
    pub fn parse(text: &str) -> Result<Self> {
        GuardSpec::parse(text).map(Self::new)
    }

    /// Remembers `capacity` empty scans, one in `every`. What was remembered before is forgotten.
    #[must_use]
    pub fn with_sample_queue(mut self, capacity: usize, every: u64) -> Self {
        self.log = Arc::new(QueryLog::with_capacity(self.spec.codec(), capacity, every));
        self
    }

    /// Sets the most bytes of one table's property, instead of 256 MiB: a filter that would take more gets fewer bits
    /// per key.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Also keeps what tables were shown not to hold, to be asked after their filters.
    #[must_use]
    pub fn with_learned_gaps(mut self, options: GapOptions) -> Self {
        self.gaps = Some(LearnedGaps::new(self.spec.codec(), options, Arc::clone(&self.counters)));
        self
    }

    /// The learned gaps; `None` unless [`with_learned_gaps`](Self::with_learned_gaps) asks for them.
    pub fn learned_gaps(&self) -> Option<&Arc<LearnedGaps>> {
        self.gaps.as_ref()
    }

    /// Cuts the filters of new tables into partitions in files of `store`, and reads those that there are. Filters of a
    /// thousand bytes or less stay whole.
    #[must_use]
    pub fn with_partitions(mut self, store: &PartitionStore) -> Self {
        self.partitions = Some(store.clone());
        self
    }

    /// Where the partitions are; `None` unless [`with_partitions`](Self::with_partitions) asks for them.
    pub fn partitions(&self) -> Option<&PartitionStore> {
        self.partitions.as_ref()
    }

    /// The spec that is built.
    pub fn spec(&self) -> &GuardSpec {
        &self.spec
    }

    /// Most bytes of one table's property.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// The counts of this process so far.
    pub fn stats(&self) -> TableStats {
        TableStats {
            filters: self.counters.snapshot(),
            scanned: self.scanned.snapshot(),
            partitions: self.partitions.as_ref().map(PartitionStore::stats).unwrap_or_default(),
        }
    }

    /// The remembered scans.
    pub fn queries(&self) -> &QueryLog {
        &self.log
    }

    /// Notes a scan that returned no row, and which tables let it pass. A panic of the codec is counted.
    pub(crate) fn note_empty_scan(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>, passed: &Passed) {
        self.counters.count_empty_scan();
        for (level, passed) in passed.by_level().filter(|&(_, passed)| passed > 0) {
            self.counters.count_false_positives(level, passed);
        }
        let noted = catch_unwind(AssertUnwindSafe(|| {
            self.log.record(lo, hi);
            if let Some(gaps) = &self.gaps {
                gaps.hint_tags(lo, hi, &passed.tags());
            }
        }));
        if noted.is_err() {
            self.count_panic("noting an empty scan panicked; please report this");
        }
    }

    pub(crate) fn builder(&self) -> GuardBuilder {
        GuardBuilder::new(Arc::clone(&self.spec), Arc::clone(&self.log), Arc::clone(&self.counters))
    }

    pub(crate) fn codec(&self) -> &GuardCodec {
        self.spec.codec()
    }

    pub(crate) fn count_answer(&self, level: Option<usize>, may_contain: bool) {
        self.counters.count_query(level, may_contain);
    }

    pub(crate) fn count_panic(&self, problem: &str) {
        self.counters.count_panic(problem);
    }

    pub(crate) fn count_gap_skip(&self, level: Option<usize>) {
        self.counters.count_gap_skip(level);
    }

    /// Whether the table with this tag is known to hold no key between the bounds.
    pub(crate) fn is_known_empty(&self, tag: Option<FileTag>, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        match (&self.gaps, tag) {
            (Some(gaps), Some(tag)) => gaps.is_known_empty(tag, lo, hi),
            _ => false,
        }
    }

    pub(crate) fn count_scanned(&self, reason: Reason) {
        self.scanned.count(reason);
    }
}

impl fmt::Display for TableStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.filters, self.scanned)?;
        if self.partitions != PartitionStats::default() {
            write!(f, "\n{}", self.partitions)?;
        }
        Ok(())
    }
}
