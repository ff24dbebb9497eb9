//! A database in memory with the filters under test.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_slatedb::measure::CountingStore;
use lacuna_slatedb::{GapLearner, RangeFilters};
use slatedb::admin::Admin;
use slatedb::compactor::{CompactionSpec, CompactionStatus, SourceId};
use slatedb::config::{CompactionWorkerOptions, CompactorOptions, FlushOptions, FlushType, Settings};
use slatedb::manifest::SsTableId;
use slatedb::object_store::ObjectStore;
use slatedb::object_store::memory::InMemory;
use slatedb::{Db, DbBuilder, DbIterator};

use super::merge::Concatenate;

const PATH: &str = "db";
const POLL: Duration = Duration::from_millis(40);
/// What a busy machine may take for a compaction.
const AT_MOST: Duration = Duration::from_secs(120);

/// Flushes and compacts only on request; filters for every SST.
pub(crate) fn quiet_settings() -> Settings {
    Settings {
        min_filter_keys: 0,
        l0_max_ssts: 10_000,
        l0_max_ssts_per_key: 10_000,
        manifest_poll_interval: POLL,
        garbage_collector_options: None,
        compactor_options: Some(quiet_compactor()),
        ..Settings::default()
    }
}

pub(crate) fn quiet_compactor() -> CompactorOptions {
    CompactorOptions {
        poll_interval: POLL,
        commit_compacted_interval: POLL,
        scheduler_options: HashMap::from([("min_compaction_sources".to_owned(), "100000".to_owned())]),
        worker: Some(quiet_worker()),
        ..CompactorOptions::default()
    }
}

pub(crate) fn quiet_worker() -> CompactionWorkerOptions {
    CompactionWorkerOptions {
        compactions_poll_interval: POLL,
        min_filter_keys: 0,
        ..CompactionWorkerOptions::default()
    }
}

/// A database and all that is needed to close, compact and open it again.
pub(crate) struct TestDb {
    pub(crate) store: Arc<CountingStore>,
    pub(crate) lacuna: Option<RangeFilters>,
    pub(crate) settings: Settings,
    pub(crate) db: Db,
}

impl TestDb {
    /// An empty database; without `lacuna`, one without any filter.
    pub(crate) async fn new(lacuna: Option<RangeFilters>) -> Self {
        let store = Arc::new(CountingStore::new(Arc::new(InMemory::new())));
        Self::open(store, lacuna, quiet_settings()).await
    }

    pub(crate) async fn parse(spec: &str) -> Self {
        Self::new(Some(RangeFilters::parse(spec).unwrap())).await
    }

    /// The database in `store`.
    pub(crate) async fn open(
        store: Arc<CountingStore>,
        lacuna: Option<RangeFilters>,
        settings: Settings,
    ) -> Self {
        let builder = Self::builder(&store, lacuna.as_ref()).with_settings(settings.clone());
        let db = builder.build().await.unwrap();
        Self { store, lacuna, settings, db }
    }

    pub(crate) fn builder(store: &Arc<CountingStore>, lacuna: Option<&RangeFilters>) -> DbBuilder<String> {
        let store: Arc<dyn ObjectStore> = Arc::<CountingStore>::clone(store);
        let builder = Db::builder(PATH.to_owned(), store).with_merge_operator(Arc::new(Concatenate));
        match lacuna {
            Some(lacuna) => lacuna.install(builder),
            None => builder.with_filter_policies(Vec::new()),
        }
    }

    pub(crate) fn lacuna(&self) -> &RangeFilters {
        self.lacuna.as_ref().expect("this database has filters")
    }

    /// What follows the hints of its scans.
    pub(crate) fn learner(&self) -> GapLearner {
        GapLearner::new(self.lacuna(), PATH, self.object_store()).unwrap()
    }

    /// Closes it and opens it again with `lacuna`.
    pub(crate) async fn reopen_with(self, lacuna: Option<RangeFilters>) -> Self {
        self.db.close().await.unwrap();
        Self::open(self.store, lacuna, self.settings).await
    }

    pub(crate) async fn reopen(self) -> Self {
        let lacuna = self.lacuna.clone();
        self.reopen_with(lacuna).await
    }

    /// Writes rows and flushes them into one SST.
    pub(crate) async fn write_sst<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) {
        for key in keys {
            self.db.put(key.as_ref(), [b"v", key.as_ref()].concat()).await.unwrap();
        }
        self.flush().await;
    }

    pub(crate) async fn flush(&self) {
        self.db.flush_with_options(FlushOptions { flush_type: FlushType::MemTable }).await.unwrap();
    }

    /// Merges all SSTs of level 0, and all sorted runs if `everything`, into one run. Waits until it is done.
    pub(crate) async fn compact(&self, everything: bool) {
        let manifest = self.db.manifest();
        let level_0 = manifest.l0().iter().map(|view| SourceId::SstView(view.id));
        let runs: Vec<u32> = manifest.compacted().iter().map(|run| run.id).collect();
        let old_runs = runs.iter().filter(|_| everything).map(|&id| SourceId::SortedRun(id));
        let sources: Vec<SourceId> = level_0.chain(old_runs).collect();
        let before: Vec<SsTableId> = manifest.l0().iter().map(|view| view.sst.id).collect();
        if sources.is_empty() {
            return;
        }
        let next = runs.iter().max().map_or(0, |id| id + 1);
        let destination = if everything { runs.iter().min().copied().unwrap_or(next) } else { next };
        let admin = Admin::builder(PATH, self.object_store()).build();
        let submitted = admin.submit_compaction(CompactionSpec::new(sources, destination)).await.unwrap();
        let start = Instant::now();
        while start.elapsed() < AT_MOST {
            let compaction = admin.read_compaction(submitted.id(), None).await.unwrap();
            let status = compaction.map(|compaction| compaction.status());
            match status {
                Some(CompactionStatus::Completed) if self.is_compacted(&before) => return,
                Some(CompactionStatus::Failed) => panic!("the compaction failed: {:?}", self.db.manifest()),
                _ => tokio::time::sleep(POLL).await,
            }
        }
        panic!("no compaction in two minutes: {:?}", self.db.manifest());
    }

    fn is_compacted(&self, level_0: &[SsTableId]) -> bool {
        self.db.manifest().l0().iter().all(|view| !level_0.contains(&view.sst.id))
    }

    /// Lengths of the filter blocks of all SSTs.
    pub(crate) fn filter_lengths(&self) -> Vec<u64> {
        self.db.manifest().all_sst_views().map(|view| view.sst.info.filter_len).collect()
    }

    pub(crate) fn object_store(&self) -> Arc<dyn ObjectStore> {
        Arc::<CountingStore>::clone(&self.store)
    }
}

/// All rows left in an iterator.
pub(crate) async fn rows(mut rows: DbIterator) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    while let Some(row) = rows.next().await.unwrap() {
        all.push((row.key.to_vec(), row.value.to_vec()));
    }
    all
}
