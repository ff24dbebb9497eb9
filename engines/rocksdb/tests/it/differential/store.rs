//! The operations that both kinds of database offer, under one name.

use lacuna_rocksdb::Readable;
use rust_rocksdb::{
    CompactOptions, DB, DBAccess, Env, OptimisticTransactionDB, Options, SnapshotWithThreadMode, Transaction,
    WriteBatch,
};

/// A plain or transactional database.
pub(crate) trait Store: Readable<Access = Self> + DBAccess + Sized {
    fn open(options: &Options) -> Self;
    fn put(&self, key: &[u8], value: &[u8]);
    fn delete(&self, key: &[u8]);
    fn single_delete(&self, key: &[u8]);
    fn merge(&self, key: &[u8], value: &[u8]);
    /// Does nothing where range deletes are not offered.
    fn delete_range(&self, from: &[u8], to: &[u8]);
    fn flush(&self);
    fn compact(&self, options: &CompactOptions);
    fn ingest(&self, path: &str);
    fn snapshot(&self) -> SnapshotWithThreadMode<'_, Self>;
    /// `None` where transactions are not offered.
    fn begin(&self) -> Option<Transaction<'_, Self>>;
}

macro_rules! store {
    ($db:ty, delete_range = $delete_range:expr, begin = $begin:expr) => {
        impl Store for $db {
            fn open(options: &Options) -> Self {
                <$db>::open(options, "/db").unwrap()
            }
            fn put(&self, key: &[u8], value: &[u8]) {
                <$db>::put(self, key, value).unwrap();
            }
            fn delete(&self, key: &[u8]) {
                <$db>::delete(self, key).unwrap();
            }
            fn single_delete(&self, key: &[u8]) {
                <$db>::single_delete(self, key).unwrap();
            }
            fn merge(&self, key: &[u8], value: &[u8]) {
                <$db>::merge(self, key, value).unwrap();
            }
            fn delete_range(&self, from: &[u8], to: &[u8]) {
                let delete_range: fn(&$db, &[u8], &[u8]) = $delete_range;
                delete_range(self, from, to);
            }
            fn flush(&self) {
                <$db>::flush(self).unwrap();
            }
            fn compact(&self, options: &CompactOptions) {
                self.compact_range_opt(None::<&[u8]>, None::<&[u8]>, options);
            }
            fn ingest(&self, path: &str) {
                self.ingest_external_file(vec![path]).unwrap();
            }
            fn snapshot(&self) -> SnapshotWithThreadMode<'_, Self> {
                <$db>::snapshot(self)
            }
            fn begin(&self) -> Option<Transaction<'_, Self>> {
                let begin: for<'a> fn(&'a $db) -> Option<Transaction<'a, $db>> = $begin;
                begin(self)
            }
        }
    };
}

store!(
    DB,
    delete_range = |db, from, to| {
        let mut batch = WriteBatch::default();
        batch.delete_range(from, to);
        db.write(&batch).unwrap();
    },
    begin = |_| None
);
store!(OptimisticTransactionDB, delete_range = |_, _, _| {}, begin = |db| Some(db.transaction()));

/// Options of small tables and many levels.
pub(crate) fn small_tables(env: &Env) -> Options {
    let mut options = crate::support::options(env, None);
    options.set_disable_auto_compactions(false);
    options.set_level_zero_file_num_compaction_trigger(3);
    options.set_target_file_size_base(2 << 10);
    options.set_max_bytes_for_level_base(8 << 10);
    options.set_max_bytes_for_level_multiplier(3.0);
    options.set_max_background_jobs(1);
    options
}
