//! An open database that counts what it reads.

use std::cell::RefCell;

use crate::engine::{Counts, Database, Direction, Question, Shape, half_zero_value};
use lacuna_base::{ByteColumn, Error, Result};
use lacuna_rocksdb::RangeFilters;
use lacuna_workload::Rng;
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use rust_rocksdb::{
    BottommostLevelCompaction, CompactOptions, DB, DBRawIterator, ReadOptions, WaitForCompactOptions,
};
use tempfile::TempDir;

use crate::engine::rocksdb::bulk::{Values, write_levels};
use crate::engine::rocksdb::direct::direct_reads_work;
use crate::engine::rocksdb::filter_bytes;
use crate::engine::rocksdb::layout::Layout;

/// A RocksDB in a folder that goes away with it.
///
/// With `max_open_files` as it is by default every table is open, and its index and filters lie on the heap; a block that
/// is fetched is then a block of data.
pub struct RocksDatabase {
    db: DB,
    lacuna: Option<RangeFilters>,
    /// What RocksDB counts for this thread, in all databases together.
    perf: RefCell<PerfContext>,
    io: &'static str,
    _folder: TempDir,
}

impl RocksDatabase {
    /// Writes `levels`, uppermost first, with values of `value_bytes`, into a database with an empty cache.
    ///
    /// # Errors
    /// `Unavailable` if RocksDB fails.
    pub fn write(
        layout: Layout,
        lacuna: Option<RangeFilters>,
        levels: &[ByteColumn],
        value_bytes: usize,
        seed: u64,
    ) -> Result<Self> {
        let folder = tempfile::tempdir().map_err(|error| {
            Error::unavailable(format!("no folder can be made: {error}")).with_source(error)
        })?;
        let files = folder.path().join("db");
        let direct_reads = layout.direct_reads && direct_reads_work();
        let layout = Layout { direct_reads, ..layout };
        let db = DB::open(&layout.options(lacuna.as_ref(), None), &files).map_err(failed)?;
        let values = Values { bytes: value_bytes, seed };
        write_levels(&db, folder.path(), &layout, lacuna.as_ref(), levels, values)?;
        if layout.compactions.is_some() {
            db.set_options(&[("disable_auto_compactions", "false")]).map_err(failed)?;
        }
        set_perf_stats(PerfStatsLevel::EnableCount);
        let io = if direct_reads { "direct I/O" } else { "page cache" };
        Ok(Self { db, lacuna, perf: RefCell::default(), io, _folder: folder })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// `Unavailable` if RocksDB fails.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        self.db.put(key, value).map_err(failed)
    }

    /// Writes `keys` in random order, a flush at every `file_bytes`, and waits each time for compactions to end, so that
    /// the tree is the same whenever it is made.
    ///
    /// # Errors
    /// `Unavailable` if RocksDB fails.
    pub fn fill(&self, keys: &ByteColumn, file_bytes: u64, value_bytes: usize, seed: u64) -> Result<()> {
        let mut rng = Rng::new(seed);
        let mut order: Vec<usize> = (0..keys.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, rng.index(last + 1));
        }
        let (mut value, mut written) = (Vec::new(), 0);
        for key in order.into_iter().map(|place| keys.get(place)) {
            half_zero_value(&mut rng, value_bytes, &mut value);
            self.put(key, &value)?;
            written += (key.len() + value.len()) as u64;
            if written >= file_bytes {
                self.settle()?;
                written = 0;
            }
        }
        self.settle()
    }

    /// Sets the bytes of memory that are flushed as one file.
    ///
    /// # Errors
    /// `Unavailable` if RocksDB refuses.
    pub fn set_memory(&self, bytes: u64) -> Result<()> {
        self.db.set_options(&[("write_buffer_size", &bytes.max(64 << 10).to_string())]).map_err(failed)
    }

    /// Rewrites every file, with filters for what was asked lately.
    ///
    /// # Errors
    /// `Unavailable` if RocksDB fails.
    pub fn rewrite(&self) -> Result<()> {
        self.settle()?;
        let mut whole = CompactOptions::default();
        whole.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
        self.db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &whole);
        self.settle()
    }

    /// Waits for flushes and compactions to end.
    ///
    /// # Errors
    /// `Unavailable` if RocksDB fails.
    pub fn settle(&self) -> Result<()> {
        self.db.flush().map_err(failed)?;
        self.db.wait_for_compact(&WaitForCompactOptions::default()).map_err(failed)
    }

    /// The filters, where they are ours.
    pub fn lacuna(&self) -> Option<&RangeFilters> {
        self.lacuna.as_ref()
    }

    /// Files by level.
    ///
    /// # Errors
    /// `Unavailable` if RocksDB fails.
    pub(crate) fn files_by_level(&self) -> Result<Vec<usize>> {
        let mut levels = Vec::new();
        for file in self.db.live_files().map_err(failed)? {
            let level = usize::try_from(file.level).expect("levels count from 0");
            levels.resize(levels.len().max(level + 1), 0);
            levels[level] += 1;
        }
        Ok(levels)
    }

    fn iterator(&self, options: ReadOptions, direction: Direction) -> DBRawIterator<'_> {
        let mut rows = self.db.raw_iterator_opt(options);
        match direction {
            Direction::Forward => rows.seek_to_first(),
            Direction::Reverse => rows.seek_to_last(),
        }
        rows
    }
}

impl Database for RocksDatabase {
    fn seek(&self, Question { lo, hi, .. }: &Question, direction: Direction, max_rows: u64) -> Result<u64> {
        let (options, outcome) = match (&self.lacuna, direction) {
            (Some(lacuna), Direction::Forward) => lacuna.read::<&[u8]>(&lo[..]..=&hi[..]).into_parts(),
            (Some(lacuna), Direction::Reverse) => {
                lacuna.read_reverse::<&[u8]>(&lo[..]..=&hi[..]).into_parts()
            }
            (None, _) => return rows(self.iterator(closed(lo, hi), direction), direction, max_rows),
        };
        let count = rows(self.iterator(options, direction), direction, max_rows)?;
        if count == 0 {
            outcome.note_empty();
        }
        Ok(count)
    }

    fn has(&self, key: &[u8]) -> Result<bool> {
        match &self.lacuna {
            None => Ok(self.db.get_pinned(key).map_err(failed)?.is_some()),
            Some(lacuna) => {
                let (options, outcome) = lacuna.read::<&[u8]>(key..=key).into_parts();
                let found = rows(self.iterator(options, Direction::Forward), Direction::Forward, 1)? > 0;
                if !found {
                    outcome.note_empty();
                }
                Ok(found)
            }
        }
    }

    fn set_clocks(&self, running: bool) {
        set_perf_stats(match running {
            true => PerfStatsLevel::EnableTimeExceptForMutex,
            false => PerfStatsLevel::EnableCount,
        });
    }

    fn counts(&self) -> Counts {
        let asked = self.lacuna.as_ref().map(|lacuna| lacuna.stats().filters.total()).unwrap_or_default();
        Counts {
            data_blocks: self.perf.borrow().metric(PerfMetric::BlockReadCount),
            skipped: asked.skipped,
            false_positives: asked.false_positives,
            read_ns: self.perf.borrow().metric(PerfMetric::BlockReadTime),
        }
    }

    fn shape(&self) -> Result<Shape> {
        let files = self.files_by_level()?.iter().sum();
        let filter_bytes = filter_bytes::ours(&self.db)? + filter_bytes::rocksdbs(&self.db)?;
        Ok(Shape { files, filter_bytes, io: self.io })
    }
}

/// Options of a closed range without a filter: a key's immediate successor has a zero byte after it.
fn closed(lo: &[u8], hi: &[u8]) -> ReadOptions {
    let mut options = ReadOptions::default();
    options.set_iterate_range(lo.to_vec()..[hi, &[0]].concat());
    options
}

fn rows(mut rows: DBRawIterator<'_>, direction: Direction, max_rows: u64) -> Result<u64> {
    let mut count = 0;
    while count < max_rows && rows.valid() {
        count += 1;
        if count < max_rows {
            match direction {
                Direction::Forward => rows.next(),
                Direction::Reverse => rows.prev(),
            }
        }
    }
    rows.status().map_err(failed)?;
    Ok(count)
}

/// A failure of RocksDB.
pub(crate) fn failed(error: rust_rocksdb::Error) -> Error {
    Error::unavailable(format!("RocksDB failed: {error}")).with_source(error)
}
