//! Everything that RocksDB can iterate over.

use rust_rocksdb::{
    AsColumnFamilyRef, DBAccess, DBRawIteratorWithThreadMode, DBWithThreadMode, OptimisticTransactionDB,
    ReadOptions, SnapshotWithThreadMode, ThreadMode, Transaction, TransactionDB,
};

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
}

macro_rules! readable {
    ([$($generics:tt)*] $reader:ty, $access:ty) => {
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
        }
    };
}

readable!([T: ThreadMode] DBWithThreadMode<T>, Self);
readable!([T: ThreadMode] OptimisticTransactionDB<T>, Self);
readable!([T: ThreadMode] TransactionDB<T>, Self);
readable!(['db, D] Transaction<'db, D>, Self);
readable!(['db, D: DBAccess] SnapshotWithThreadMode<'db, D>, D);
