//! A database of interleaved SSTs: written, opened with warm caches, and scanned.

use std::sync::Arc;
use std::time::Duration;

use slatedb::config::{FlushOptions, FlushType, ScanOptions, Settings};
use slatedb::db_cache::SplitCache;
use slatedb::db_cache::moka::{MokaCache, MokaCacheOptions};
use slatedb::object_store::ObjectStore;
use slatedb::{CacheTarget, Db, DbBuilder, DbCacheManagerOps, Error, WriteBatch};

use super::counting_store::{CountingStore, Reads};
use crate::config::RangeFilters;

/// Bytes of cache for filters and indexes: more than any of the experiments has.
const META_CACHE_BYTES: u64 = 1 << 30;
/// SSTs that may overlap before SlateDB holds back a flush: never reached.
const NO_BACK_PRESSURE: usize = 100_000;

/// A database in an object store, with filters or as SlateDB is out of the box.
#[derive(Debug)]
pub struct MeasuredDb {
    store: Arc<CountingStore>,
    path: String,
    filters: Filters,
}

/// The filters of a measured database.
#[derive(Debug, Clone)]
enum Filters {
    None,
    SlateDb,
    Lacuna(RangeFilters),
}

/// Rows that a run of scans found, and reads that it took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanCount {
    /// Scans made.
    pub scans: u64,
    /// Rows they returned.
    pub rows: u64,
    /// Their reads of SSTs.
    pub reads: Reads,
}

impl MeasuredDb {
    /// A database at `path` of `store`; `None` leaves SlateDB as it is, with its Bloom filters.
    pub fn new(store: Arc<dyn ObjectStore>, path: &str, lacuna: Option<RangeFilters>) -> Self {
        Self::with_filters(store, path, lacuna.map_or(Filters::SlateDb, Filters::Lacuna))
    }

    /// A database at `path` of `store` without any filter.
    pub fn without_filters(store: Arc<dyn ObjectStore>, path: &str) -> Self {
        Self::with_filters(store, path, Filters::None)
    }

    fn with_filters(store: Arc<dyn ObjectStore>, path: &str, filters: Filters) -> Self {
        Self { store: Arc::new(CountingStore::new(store)), path: path.to_owned(), filters }
    }

    /// Waits `delay` before each read of the store; nothing is counted yet.
    #[must_use]
    pub fn with_read_delay(mut self, delay: Duration) -> Self {
        let store = Arc::into_inner(self.store).expect("the store was not handed out yet");
        self.store = Arc::new(store.with_read_delay(delay));
        self
    }

    /// The store, to count with.
    pub fn store(&self) -> &Arc<CountingStore> {
        &self.store
    }

    /// The filters, if there are any.
    pub fn lacuna(&self) -> Option<&RangeFilters> {
        match &self.filters {
            Filters::Lacuna(lacuna) => Some(lacuna),
            Filters::None | Filters::SlateDb => None,
        }
    }

    /// A builder with everything set that a measurement needs, caches apart.
    pub fn builder(&self) -> DbBuilder<String> {
        let settings = Settings {
            l0_max_ssts: NO_BACK_PRESSURE,
            l0_max_ssts_per_key: NO_BACK_PRESSURE,
            compactor_options: None,
            garbage_collector_options: None,
            ..Settings::default()
        };
        let store: Arc<dyn ObjectStore> = Arc::<CountingStore>::clone(&self.store);
        let builder = Db::builder(self.path.clone(), store).with_settings(settings);
        match &self.filters {
            Filters::Lacuna(lacuna) => lacuna.install(builder),
            Filters::SlateDb => builder,
            Filters::None => builder.with_filter_policies(Vec::new()),
        }
    }

    /// Writes `keys` (big-endian, with values of `value_bytes` zeros and the key's own bytes) into `ssts` SSTs of
    /// level 0: key `i` goes into number `i % ssts`.
    ///
    /// # Errors
    /// As SlateDB's.
    pub async fn write_interleaved(
        &self,
        keys: &[u64],
        ssts: usize,
        value_bytes: usize,
    ) -> Result<(), Error> {
        let rows = keys.iter().map(|&key| (key.to_be_bytes(), value_of(key, value_bytes)));
        self.write_rows_interleaved(rows, ssts).await
    }

    /// Writes rows into `ssts` SSTs of level 0: row `i` goes into number `i % ssts`.
    ///
    /// # Errors
    /// As SlateDB's.
    pub async fn write_rows_interleaved<K, V>(
        &self,
        rows: impl Iterator<Item = (K, V)> + Clone,
        ssts: usize,
    ) -> Result<(), Error>
    where
        K: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        let db = self.builder().build().await?;
        for first in 0..ssts {
            let mut batch = WriteBatch::new();
            for (key, value) in rows.clone().skip(first).step_by(ssts) {
                batch.put(key, value);
            }
            db.write(batch).await?;
            db.flush_with_options(FlushOptions { flush_type: FlushType::MemTable }).await?;
        }
        db.close().await
    }

    /// Opens the database with a block cache of `block_cache_bytes`, and loads all filters and indexes.
    ///
    /// # Errors
    /// As SlateDB's.
    pub async fn open_warm(&self, block_cache_bytes: u64) -> Result<Db, Error> {
        let cache = SplitCache::new()
            .with_block_cache(Some(moka(block_cache_bytes)))
            .with_meta_cache(Some(moka(META_CACHE_BYTES)))
            .build();
        let db = self.builder().with_db_cache(Arc::new(cache), 0).build().await?;
        let manifest = db.manifest();
        for view in manifest.all_sst_views() {
            db.warm_sst(view.sst.id, &[CacheTarget::Filters, CacheTarget::Index]).await?;
        }
        Ok(db)
    }

    /// Scans closed ranges one after the other and reads each to its end. Blocks that are read go into the block cache.
    ///
    /// # Errors
    /// As SlateDB's.
    pub async fn scan_all(&self, db: &Db, ranges: &[(u64, u64)]) -> Result<ScanCount, Error> {
        let before = self.store.reads();
        let mut count = ScanCount::default();
        let options = ScanOptions { cache_blocks: true, ..ScanOptions::default() };
        for (lo, hi) in ranges {
            let mut rows = db.scan_with_options(lo.to_be_bytes()..=hi.to_be_bytes(), &options).await?;
            while rows.next().await?.is_some() {
                count.rows += 1;
            }
            count.scans += 1;
        }
        count.reads = self.store.reads() - before;
        Ok(count)
    }
}

fn moka(max_capacity: u64) -> Arc<MokaCache> {
    Arc::new(MokaCache::new_with_opts(MokaCacheOptions { max_capacity, ..MokaCacheOptions::default() }))
}

fn value_of(key: u64, value_bytes: usize) -> Vec<u8> {
    let mut value = vec![0; value_bytes];
    value.extend_from_slice(&key.to_be_bytes());
    value
}
