//! Filters in partition files, inside a real RocksDB on a disk.

mod copies;
mod life;
mod savings;
mod threads;

use std::fs;
use std::path::{Path, PathBuf};

use lacuna_rocksdb::{PartitionStore, RangeFilters};
use rust_rocksdb::{DB, Options};
use tempfile::TempDir;

use crate::support::{gap, key};

const SPEC: &str = "grafite@20 codec=fixed_be:8";
const BUDGET: usize = 256 << 10;

/// A database in a folder, with the partitions of its filters beside it.
struct Home {
    folder: TempDir,
}

/// An open database, the filters that it was opened with, and where their partitions are.
struct Opened {
    db: DB,
    lacuna: RangeFilters,
    store: PartitionStore,
    options: Options,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn partitions(&self) -> PathBuf {
        self.path("partitions")
    }

    /// Opens the database, with nothing in memory.
    fn open(&self) -> Opened {
        self.open_at(&self.path("db"), &self.partitions())
    }

    fn open_at(&self, db: &Path, partitions: &Path) -> Opened {
        let (lacuna, store, options) = filters(partitions);
        let db = DB::open(&options, db).unwrap();
        Opened { db, lacuna, store, options }
    }

    /// Number of partition files.
    fn files(&self) -> usize {
        fs::read_dir(self.partitions()).unwrap().count()
    }
}

/// Filters whose partitions are in a folder, and options with them.
fn filters(partitions: &Path) -> (RangeFilters, PartitionStore, Options) {
    let store = PartitionStore::open(partitions, BUDGET).unwrap().with_partition_bytes(1 << 10);
    let lacuna = RangeFilters::parse(SPEC).unwrap().with_partitions(&store);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_disable_auto_compactions(true);
    lacuna.install(&mut options);
    (lacuna, store, options)
}

impl Opened {
    /// Writes a table with every `step`th key from `first`.
    fn write(&self, first: u64, step: usize) {
        (first..10_000).step_by(step).for_each(|number| self.db.put(key(number), b"value").unwrap());
        self.db.flush().unwrap();
    }

    /// Of 100 gaps, those that tables were read for. No key may be lost.
    fn passed(&self) -> u64 {
        let before = self.lacuna.stats();
        for number in (0..10_000).step_by(100) {
            assert!(self.lacuna.get(&self.db, key(number)).unwrap().is_some(), "key {number} is lost");
        }
        let keys = self.lacuna.stats();
        for number in (0..10_000).step_by(100) {
            assert!(self.lacuna.get(&self.db, gap(number)).unwrap().is_none());
        }
        let gaps = self.lacuna.stats();
        assert!(
            keys.filters.passed() + keys.scanned.total() > before.filters.passed() + before.scanned.total()
        );
        gaps.filters.passed() + gaps.scanned.total() - keys.filters.passed() - keys.scanned.total()
    }
}
