//! A database that learns gaps on request.

use lacuna_slatedb::{GapLearner, GapOptions, GuardSpec, RangeFilters};
use slatedb::DbReadOps;

use super::database::{TestDb, rows};

/// Filters that let every range of more than 64 keys pass, so that whatever is not read is a gap's doing.
pub(crate) const BLIND: &str = "bloom@14 codec=fixed_be:8";

/// A database, and what follows its hints.
pub(crate) struct Learning {
    pub(crate) test: TestDb,
    pub(crate) learner: GapLearner,
}

impl Learning {
    pub(crate) async fn new(spec: &str) -> Self {
        Self::with_options(spec, GapOptions::default()).await
    }

    pub(crate) async fn with_options(spec: &str, options: GapOptions) -> Self {
        let lacuna = RangeFilters::new(GuardSpec::parse(spec).unwrap()).with_learned_gaps(options);
        let test = TestDb::new(Some(lacuna)).await;
        let learner = test.learner();
        Self { test, learner }
    }

    pub(crate) fn lacuna(&self) -> &RangeFilters {
        self.test.lacuna()
    }

    /// Keys of the rows in `[lo, hi)`, scanned through the guard so that nothing found is a hint.
    pub(crate) async fn scan<R: DbReadOps + Sync>(&self, db: &R, lo: &[u8], hi: &[u8]) -> Vec<Vec<u8>> {
        let mut scan = self.lacuna().scan(db, lo..hi).await.unwrap();
        let mut keys = Vec::new();
        while let Some(row) = scan.next().await.unwrap() {
            keys.push(row.key.to_vec());
        }
        keys
    }

    /// Follows all hints.
    pub(crate) async fn learn(&mut self) {
        self.learner.follow_all(&self.test.db).await;
    }

    /// Scans `[lo, hi)` until all there is to learn there is learned, and once more; both times nothing may be found.
    pub(crate) async fn learn_from_nothing<R: DbReadOps + Sync>(&mut self, db: &R, lo: &[u8], hi: &[u8]) {
        assert_eq!(self.scan(db, lo, hi).await, Vec::<Vec<u8>>::new());
        self.learn().await;
        assert_eq!(self.scan(db, lo, hi).await, Vec::<Vec<u8>>::new());
        self.learn().await;
    }

    /// The row with `key`, by a scan without the guard.
    pub(crate) async fn value(&self, key: &[u8]) -> Option<Vec<u8>> {
        let after = [key, &[0]].concat();
        rows(self.test.db.scan(key..&after[..]).await.unwrap()).await.pop().map(|(_, value)| value)
    }
}
