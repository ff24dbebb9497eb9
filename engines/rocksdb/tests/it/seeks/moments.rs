//! Seeks among writes of others.

use std::cell::Cell;

use lacuna_rocksdb::{Readable, SeekTables};
use rust_rocksdb::{AsColumnFamilyRef, DB, DBRawIteratorWithThreadMode, ReadOptions, WriteBatch};

use crate::support::{TestDb, key, options};

/// A database in which others write each time an iterator but the first is made.
struct Racing<'a> {
    db: &'a DB,
    iterators: Cell<u32>,
}

impl Readable for Racing<'_> {
    type Access = DB;
    fn raw(&self, options: ReadOptions) -> DBRawIteratorWithThreadMode<'_, DB> {
        self.iterators.set(self.iterators.get() + 1);
        if self.iterators.get() > 1 {
            let mut batch = WriteBatch::default();
            batch.put(key(20), b"before the second place");
            batch.delete(key(100));
            self.db.write(&batch).unwrap();
        }
        self.db.raw(options)
    }
    fn raw_cf(
        &self,
        _: &impl AsColumnFamilyRef,
        options: ReadOptions,
    ) -> DBRawIteratorWithThreadMode<'_, DB> {
        self.raw(options)
    }
}

#[test]
fn a_seek_is_answered_as_of_one_moment() {
    let test = TestDb::new("surf@60 codec=fixed_be:8");
    test.write_table([10, 500].map(key));
    test.db.delete(key(10)).unwrap();
    test.write_table([600].map(key));
    test.write_table([100, 200, 700].map(key));
    let tables = SeekTables::load(&test.lacuna, &options(&test.env, None), &test.db).unwrap();
    let racing = Racing { db: &test.db, iterators: Cell::new(0) };
    // 10 is deleted, so that a second iterator follows; by then 20 has come and 100 has gone, both at once.
    let (found, _) = tables.first(&racing, key(5)..).unwrap().unwrap();
    assert_eq!(racing.iterators.get(), 2);
    assert_eq!(found, key(20), "at no moment was 200 the first");
}
