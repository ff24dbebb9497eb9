//! A database that learns gaps on request.

use lacuna_rocksdb::{CountersSnapshot, GapLearner, GapOptions, GuardSpec, RangeFilters, Readable};

use super::database::{TestDb, options};
use super::rows::Row;

/// Filters that let every range of more than 64 keys pass, so that whatever is not read is a gap's doing.
pub(crate) const BLIND: &str = "bloom@14 codec=fixed_be:8";

/// A database, and what follows its hints.
pub(crate) struct Learning {
    pub(crate) test: TestDb,
    pub(crate) learner: GapLearner,
}

impl Learning {
    pub(crate) fn new(spec: &str) -> Self {
        Self::with_options(spec, GapOptions::default())
    }

    pub(crate) fn with_options(spec: &str, gaps: GapOptions) -> Self {
        let lacuna = RangeFilters::new(GuardSpec::parse(spec).unwrap()).with_sample_queue(1_000, 1);
        let test = TestDb::of(lacuna.with_learned_gaps(gaps), |_| {});
        let learner = GapLearner::new(&test.lacuna, &options(&test.env, None)).unwrap();
        Self { test, learner }
    }

    pub(crate) fn stats(&self) -> CountersSnapshot {
        self.test.lacuna.stats().filters
    }

    /// Rows between the bounds, both included, scanned in both directions so that nothing found is a hint.
    pub(crate) fn scan<R: Readable>(&self, reader: &R, lo: &[u8], hi: &[u8]) -> Vec<Row> {
        self.test.rows_in(reader, lo, hi)
    }

    /// Keys of the database's own rows there.
    pub(crate) fn keys(&self, lo: &[u8], hi: &[u8]) -> Vec<Vec<u8>> {
        self.test.rows(lo, hi).into_iter().map(|(key, _)| key).collect()
    }

    /// Follows all hints.
    pub(crate) fn learn(&mut self) {
        self.learner.follow_all(&self.test.db);
    }

    /// Scans until all there is to learn there is learned, and once more; each time nothing may be found.
    pub(crate) fn learn_from_nothing(&mut self, lo: &[u8], hi: &[u8]) {
        for _ in 0..2 {
            assert_eq!(self.keys(lo, hi), Vec::<Vec<u8>>::new());
            self.learn();
        }
    }
}
