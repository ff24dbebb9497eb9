//! Learns the gaps of SSTs from their raw entries, in the background.
//!
//! A scan through [`RangeFilters::scan`] that returned no row hints at the SSTs whose filters let it pass. For each of
//! them this looks into the file itself: which keys stand left and right of the scan's range, among all entries, whatever
//! their type and sequence number? If there is none between them, the gap is learned, and the next scan in it does not
//! read the file. If there is one (deleted, expired, or invisible to the scan), nothing is, and
//! the same hint is not followed again for a while.
//!
//! Which file a filter belongs to is known by its tag (see [`docs/design/learned-gaps.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/learned-gaps.md)); the tag of an SST is read from
//! its filter block once. A look costs one to three blocks and, if it is not cached, the index of the SST. A database
//! with compressed blocks, or with a block transformer, learns nothing: its filter blocks are not read here.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_base::{ByteRange, Error, Result};
use lacuna_guard::{FileTag, Hint, LearnedGaps, Looks, Neighbours, ReadBudget, reach_into};
use slatedb::db_cache::SplitCache;
use slatedb::db_cache::moka::{MokaCache, MokaCacheOptions};
use slatedb::manifest::{SsTableHandle, SsTableId};
use slatedb::object_store::path::Path;
use slatedb::object_store::{ObjectStore, ObjectStoreExt};
use slatedb::{DbMetadataOps, SstReader, VersionedManifest};
use tracing::debug;

use crate::config::RangeFilters;
use crate::gap_learner::filter_block::tag_of;
use crate::gap_learner::surroundings::{Surroundings, look};
use crate::measure::CountingStore;

mod filter_block;
mod surroundings;

/// How long to sleep when there is no hint.
const IDLE: Duration = Duration::from_millis(50);

/// Follows the hints of one database.
///
/// ```no_run
/// use lacuna_slatedb::{GapLearner, GapOptions, RangeFilters};
/// use slatedb::Db;
/// use slatedb::object_store::memory::InMemory;
/// use std::sync::Arc;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Arc::new(InMemory::new());
/// let lacuna = RangeFilters::parse("grafite@14 codec=fixed_be:8")?.with_learned_gaps(GapOptions::default());
/// let db = lacuna.install(Db::builder("sensors", store.clone())).build().await?;
/// let learner = GapLearner::new(&lacuna, "sensors", store)?;
/// let background = tokio::spawn({
///     let db = db.clone();
///     async move { learner.run(&db).await }
/// });
/// // Scans through `lacuna.scan` now leave hints, and find gaps.
/// background.abort();
/// # Ok(())
/// # }
/// ```
pub struct GapLearner {
    looks: Looks,
    policy: String,
    store: Arc<CountingStore>,
    path: Path,
    reader: SstReader,
    /// Tags of the SSTs looked at; `None` for those without one.
    tags: HashMap<SsTableId, Option<FileTag>>,
}

impl GapLearner {
    /// A learner for the database at `path` of `store`, both as given to SlateDB.
    ///
    /// # Errors
    /// `InvalidInput` if `lacuna` is without [`with_learned_gaps`](RangeFilters::with_learned_gaps).
    pub fn new(lacuna: &RangeFilters, path: impl Into<Path>, store: Arc<dyn ObjectStore>) -> Result<Self> {
        let missing =
            || Error::invalid_input("these filters learn no gaps; ask for it by `with_learned_gaps`");
        let gaps = Arc::clone(lacuna.learned_gaps().ok_or_else(missing)?);
        let (path, store) = (path.into(), Arc::new(CountingStore::new(store)));
        let options =
            MokaCacheOptions { max_capacity: gaps.options().index_cache_bytes as u64, ..Default::default() };
        let cache =
            SplitCache::new().with_meta_cache(Some(Arc::new(MokaCache::new_with_opts(options)))).build();
        let counted = Arc::<CountingStore>::clone(&store);
        Ok(Self {
            looks: Looks::new(gaps),
            policy: lacuna.policies()[0].name().to_owned(),
            store,
            reader: SstReader::new(path.clone(), counted, Some(Arc::new(cache)), None),
            path,
            tags: HashMap::new(),
        })
    }

    fn gaps(&self) -> &Arc<LearnedGaps> {
        self.looks.gaps()
    }

    /// Follows hints as they come, within the budget of reads, until it is dropped.
    pub async fn run<D: DbMetadataOps + Sync>(mut self, db: &D) -> Infallible {
        let start = Instant::now();
        let mut budget = ReadBudget::new(self.gaps().options().reads_per_second, start.elapsed());
        loop {
            let Some(hint) = self.gaps().take_hint() else {
                tokio::time::sleep(IDLE).await;
                continue;
            };
            for &number in &hint.files {
                let reads = self.follow_for(number, &hint, &db.manifest()).await;
                tokio::time::sleep(budget.spend(reads, start.elapsed())).await;
            }
        }
    }

    /// Follows all hints that wait, whatever it costs.
    pub async fn follow_all<D: DbMetadataOps + Sync>(&mut self, db: &D) {
        while let Some(hint) = self.gaps().take_hint() {
            for &number in &hint.files {
                self.follow_for(number, &hint, &db.manifest()).await;
            }
        }
    }

    /// Looks into one file of a hint and returns how many reads it took.
    async fn follow_for(&mut self, number: u64, hint: &Hint, manifest: &VersionedManifest) -> u32 {
        let before = self.store.reads().gets;
        if let Err(problem) = self.try_follow(number, hint, manifest).await {
            self.gaps().counters().gaps().count_failure();
            debug!(%problem, "an SST could not be looked into for a gap");
        }
        let reads = self.store.reads().gets - before;
        self.gaps().counters().gaps().count_reads(reads);
        u32::try_from(reads).unwrap_or(u32::MAX)
    }

    async fn try_follow(
        &mut self,
        number: u64,
        hint: &Hint,
        manifest: &VersionedManifest,
    ) -> core::result::Result<(), slatedb::Error> {
        let (lo, hi) = hint.bounds();
        let (Some(range), Some(file)) = (ByteRange::from_bounds(lo, hi), self.gaps().file(number)) else {
            return Ok(());
        };
        if self.looks.is_settled(file.tag(), hint) {
            return Ok(());
        }
        let Some(sst) = self.find(file.tag(), range, manifest).await else {
            self.gaps().counters().gaps().count_unresolved();
            return Ok(());
        };
        let info = sst.info.clone();
        let found = look(&self.reader.open_with_handle(sst)?, range).await?;
        let (smallest, largest) = (info.first_entry.unwrap_or_default(), info.last_entry.unwrap_or_default());
        let gap = match &found {
            Surroundings::Gap { below, above } => Some(Neighbours {
                below: below.as_deref(),
                above: above.as_deref(),
                smallest: &smallest,
                largest: &largest,
            }),
            Surroundings::NoGap => None,
        };
        self.looks.conclude(file.tag(), hint, gap.as_ref());
        Ok(())
    }

    /// The SST with this tag, which must overlap `range`.
    async fn find(
        &mut self,
        tag: FileTag,
        range: ByteRange<'_>,
        manifest: &VersionedManifest,
    ) -> Option<SsTableHandle> {
        self.forget_gone(manifest);
        for view in manifest.all_sst_views().filter(|view| overlaps(&view.sst, range)) {
            let known = match self.tags.get(&view.sst.id) {
                Some(known) => *known,
                None => self.read_tag(&view.sst).await,
            };
            if known == Some(tag) {
                return Some(view.sst.clone());
            }
        }
        None
    }

    /// Reads the tag of an SST and remembers it; a read that fails is tried again another time.
    async fn read_tag(&mut self, sst: &SsTableHandle) -> Option<FileTag> {
        let info = &sst.info;
        if info.filter_len == 0 {
            return None;
        }
        let place = info.filter_offset..info.filter_offset + info.filter_len;
        // Where `SstReader` reads its rows, too; an SST that a clone has borrowed stands elsewhere and is not found.
        let path = Path::from(format!("{}/compacted/{}.sst", self.path, sst.id.value()));
        let block = self.store.get_range(&path, place).await.ok()?;
        let tag = tag_of(info, &block, &self.policy);
        self.tags.insert(sst.id, tag);
        tag
    }

    /// Drops the tags of SSTs that are no longer there, once they are the larger part.
    fn forget_gone(&mut self, manifest: &VersionedManifest) {
        let live = manifest.all_sst_views().count();
        if self.tags.len() > 64 + 2 * live {
            self.tags.retain(|id, _| manifest.all_sst_views().any(|view| view.sst.id == *id));
        }
    }
}

/// Whether the keys of an SST reach into `range`.
fn overlaps(sst: &SsTableHandle, range: ByteRange<'_>) -> bool {
    reach_into(sst.info.first_entry.as_deref(), sst.info.last_entry.as_deref(), range)
}

impl std::fmt::Debug for GapLearner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GapLearner")
            .field("gaps", self.gaps())
            .field("tags", &self.tags.len())
            .finish_non_exhaustive()
    }
}
