//! Everything that RocksDB can iterate over.

use std::any::Any;

use rust_rocksdb::{
    AsColumnFamilyRef, DB, DBAccess, DBRawIteratorWithThreadMode, DBWithThreadMode,
    DEFAULT_COLUMN_FAMILY_NAME, MultiThreaded, OptimisticTransactionDB, ReadOptions, SnapshotWithThreadMode,
    ThreadMode, Transaction, TransactionDB,
};

use crate::refusal::{foreign_comparator, foreign_default_comparator};

/// A database, a transactional one, a snapshot or a transaction.
pub trait Readable {
    /// The object that its iterators borrow.
    type Access: DBAccess;

    /// An iterator over the default column family.
    fn raw(&self, options: ReadOptions) -> DBRawIteratorWithThreadMode<'_, Self::Access>;

    /// An iterator over one column family.
    fn raw_cf(
        &self,
        column_family: &impl AsColumnFamilyRef,
        options: ReadOptions,
    ) -> DBRawIteratorWithThreadMode<'_, Self::Access>;

    /// The name of the default column family's comparator, if it is known and does not order keys by their bytes. Snapshots,
    /// transactions, a [`TransactionDB`], and a database of [`MultiThreaded`] mode that was opened without naming column families do
    /// not know it: there the tables that a read meets say it.
    fn foreign_comparator(&self) -> Option<String> {
        None
    }
}

macro_rules! readable {
    ([$($generics:tt)*] $reader:ty, $access:ty $(, $foreign_comparator:expr)?) => {
        impl<$($generics)*> Readable for $reader {
            type Access = $access;
            fn raw(&self, options: ReadOptions) -> DBRawIteratorWithThreadMode<'_, $access> {
                self.raw_iterator_opt(options)
            }
            fn raw_cf(
                &self,
                column_family: &impl AsColumnFamilyRef,
                options: ReadOptions,
            ) -> DBRawIteratorWithThreadMode<'_, $access> {
                self.raw_iterator_cf_opt(column_family, options)
            }
            $(
                fn foreign_comparator(&self) -> Option<String> {
                    $foreign_comparator(self)
                }
            )?
        }
    };
}

readable!([T: ThreadMode + 'static] DBWithThreadMode<T>, Self, foreign_comparator_of);
readable!([T: ThreadMode] OptimisticTransactionDB<T>, Self, foreign_default_comparator);
readable!([T: ThreadMode] TransactionDB<T>, Self);
readable!(['db, D] Transaction<'db, D>, Self);
readable!(['db, D: DBAccess] SnapshotWithThreadMode<'db, D>, D);

/// `rust_rocksdb` gives the pointer that is asked here for one of the thread modes, that of [`DB`]; in the other mode a handle is asked,
/// which there is if column families were named.
fn foreign_comparator_of<T: ThreadMode + 'static>(db: &DBWithThreadMode<T>) -> Option<String> {
    let db: &dyn Any = db;
    match db.downcast_ref::<DB>() {
        Some(db) => foreign_default_comparator(db),
        None => {
            let db = db.downcast_ref::<DBWithThreadMode<MultiThreaded>>()?;
            foreign_comparator(&db.cf_handle(DEFAULT_COLUMN_FAMILY_NAME)?)
        }
    }
}
