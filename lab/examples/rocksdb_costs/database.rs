//! A filled database in a folder that goes away.

use lacuna_rocksdb::RangeFilters;
use lacuna_workload::Rng;
use rust_rocksdb::{BlockBasedOptions, Cache, DB, DBCompressionType, Options, WaitForCompactOptions};
use tempfile::TempDir;

use crate::SEED;
use crate::clock::Clock;

/// Low bits of every key, all zero: gaps that scans can lie in.
pub(crate) const GAP_BITS: u32 = 20;
const VALUE_BYTES: usize = 92;

/// RocksDB's own filter for points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Points {
    None,
    Bloom,
    Ribbon,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    /// The range filters; `None` for a database without.
    pub(crate) spec: Option<&'static str>,
    pub(crate) points: Points,
}

/// A database on disk, closed.
pub(crate) struct Home {
    folder: TempDir,
    setup: Setup,
    keys: u64,
}

/// The same, opened.
pub(crate) struct Open {
    pub(crate) db: DB,
    pub(crate) lacuna: RangeFilters,
    pub(crate) options: Options,
    pub(crate) from_disk: bool,
    pub(crate) setup: Setup,
    pub(crate) keys: u64,
}

/// The key with this number, in random order.
pub(crate) fn key(number: u64) -> u64 {
    Rng::with_stream(SEED, number).next_u64() >> GAP_BITS << GAP_BITS
}

fn options(setup: Setup, lacuna: &RangeFilters, from_disk: bool) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(&Cache::new_lru_cache(if from_disk { 1 << 20 } else { 2 << 30 }));
    match setup.points {
        Points::None => {}
        Points::Bloom => table.set_bloom_filter(10.0, false),
        Points::Ribbon => table.set_ribbon_filter(10.0),
    }
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&table);
    options.set_compression_type(DBCompressionType::None);
    options.set_write_buffer_size(4 << 20);
    options.set_target_file_size_base(4 << 20);
    options.set_max_bytes_for_level_base(8 << 20);
    options.set_max_bytes_for_level_multiplier(4.0);
    options.set_level_compaction_dynamic_level_bytes(false);
    options.set_use_direct_reads(from_disk);
    if setup.spec.is_some() {
        lacuna.install(&mut options);
    }
    options
}

impl Home {
    pub(crate) fn empty(setup: Setup) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), setup, keys: 0 }
    }

    pub(crate) fn filled(setup: Setup, keys: u64) -> Self {
        let home = Self { keys, ..Self::empty(setup) };
        home.open(false).fill();
        home
    }

    pub(crate) fn with_keys(self, keys: u64) -> Self {
        Self { keys, ..self }
    }

    pub(crate) fn open(&self, from_disk: bool) -> Open {
        let lacuna = RangeFilters::parse(self.setup.spec.unwrap_or("off")).unwrap();
        let options = options(self.setup, &lacuna, from_disk);
        let db = DB::open(&options, self.folder.path()).unwrap();
        Open { db, lacuna, options, from_disk, setup: self.setup, keys: self.keys }
    }

    /// Tables by level, and what the filters take.
    pub(crate) fn shape(&self) -> String {
        let open = self.open(false);
        let files = open.db.live_files().unwrap();
        let mut levels = [0; 8];
        files.iter().for_each(|file| levels[usize::try_from(file.level).unwrap()] += 1);
        let heap = open.db.property_int_value("rocksdb.estimate-table-readers-mem").unwrap().unwrap();
        format!("{} tables, by level {levels:?}; heap of all open tables {heap} bytes", files.len())
    }
}

impl Open {
    /// What reads are timed with.
    pub(crate) fn clock(&self) -> Clock {
        if self.from_disk { Clock::Wall } else { Clock::Thread }
    }

    /// Puts all keys, flushes and compacts.
    pub(crate) fn fill(&self) {
        for number in 0..self.keys {
            self.db.put(key(number).to_be_bytes(), [7; VALUE_BYTES]).unwrap();
        }
        self.db.flush().unwrap();
        self.db.wait_for_compact(&WaitForCompactOptions::default()).unwrap();
    }
}
