//! A database in memory, with filters or without.

use lacuna_rocksdb::{GuardSpec, RangeFilters};
use rust_rocksdb::{BottommostLevelCompaction, CompactOptions, DB, DBAccess, Env, Options};

use super::rows::{Row, rows_of};

const PATH: &str = "/db";

/// An integer far from its neighbours, as a key.
pub(crate) fn key(number: u64) -> [u8; 8] {
    (number << 20).to_be_bytes()
}

/// An integer between `key(number)` and the next.
pub(crate) fn gap(number: u64) -> [u8; 8] {
    ((number << 20) + 77_777).to_be_bytes()
}

/// Options of a database that compacts only on request.
pub(crate) fn options(env: &Env, lacuna: Option<&RangeFilters>) -> Options {
    let mut options = Options::default();
    options.set_env(env);
    options.create_if_missing(true);
    options.set_disable_auto_compactions(true);
    options.set_merge_operator_associative("concatenate", |_, old, operands| {
        let mut whole = old.unwrap_or_default().to_vec();
        operands.iter().for_each(|operand| whole.extend_from_slice(operand));
        Some(whole)
    });
    if let Some(lacuna) = lacuna {
        lacuna.install(&mut options);
    }
    options
}

/// Rewrites every table into the last level.
pub(crate) fn compact_all(db: &DB) {
    let mut compaction = CompactOptions::default();
    compaction.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
    db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &compaction);
}

/// A database in memory with filters that remember every empty scan.
pub(crate) struct TestDb {
    pub(crate) db: DB,
    pub(crate) env: Env,
    pub(crate) lacuna: RangeFilters,
}

impl TestDb {
    /// A database with filters of this spec.
    pub(crate) fn new(spec: &str) -> Self {
        Self::with(spec, |_| {})
    }

    /// The same with further options.
    pub(crate) fn with(spec: &str, change: impl FnOnce(&mut Options)) -> Self {
        Self::of(RangeFilters::new(GuardSpec::parse(spec).unwrap()).with_sample_queue(1_000, 1), change)
    }

    /// A database with these filters.
    pub(crate) fn of(lacuna: RangeFilters, change: impl FnOnce(&mut Options)) -> Self {
        let env = Env::mem_env().unwrap();
        let mut options = options(&env, Some(&lacuna));
        change(&mut options);
        Self { db: DB::open(&options, PATH).unwrap(), env, lacuna }
    }

    /// The same data opened again, with other filters or none; reads ask `lacuna` either way.
    pub(crate) fn reopen(self, spec: &str, build: bool) -> Self {
        let Self { db, env, .. } = self;
        drop(db);
        let lacuna = RangeFilters::parse(spec).unwrap();
        let options = options(&env, build.then_some(&lacuna));
        Self { db: DB::open(&options, PATH).unwrap(), env, lacuna }
    }

    /// Writes a table with these keys.
    pub(crate) fn write_table<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) {
        keys.into_iter().for_each(|key| self.db.put(key, b"value").unwrap());
        self.db.flush().unwrap();
    }

    /// Rows of a closed range with filters, forward; the same backward; both must agree.
    pub(crate) fn rows(&self, lo: &[u8], hi: &[u8]) -> Vec<Row> {
        self.rows_in(&self.db, lo, hi)
    }

    /// As `rows`, in a snapshot or transaction.
    pub(crate) fn rows_in<R: lacuna_rocksdb::Readable>(&self, reader: &R, lo: &[u8], hi: &[u8]) -> Vec<Row>
    where
        R::Access: DBAccess,
    {
        let forward = rows_of(self.lacuna.read(lo..=hi).scan(reader));
        let mut reverse = rows_of(self.lacuna.read_reverse(lo..=hi).scan(reader));
        reverse.reverse();
        assert_eq!(forward, reverse, "both directions between {lo:?} and {hi:?}");
        forward
    }

    /// Tables skipped, tables that a filter let pass.
    pub(crate) fn asked(&self) -> (u64, u64) {
        let filters = self.lacuna.stats().filters;
        (filters.skipped(), filters.passed())
    }
}
