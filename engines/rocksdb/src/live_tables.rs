//! Databases that name their table files.

use rust_rocksdb::{DBWithThreadMode, Error, LiveFile, OptimisticTransactionDB, ThreadMode};

/// A database that can say which table files it consists of.
pub trait LiveTables {
    /// The table files of all column families at this moment.
    ///
    /// # Errors
    /// Errors of RocksDB.
    fn live_tables(&self) -> Result<Vec<LiveFile>, Error>;
}

impl<T: ThreadMode> LiveTables for DBWithThreadMode<T> {
    fn live_tables(&self) -> Result<Vec<LiveFile>, Error> {
        self.live_files()
    }
}

impl<T: ThreadMode> LiveTables for OptimisticTransactionDB<T> {
    fn live_tables(&self) -> Result<Vec<LiveFile>, Error> {
        self.live_files()
    }
}

/// What distinguishes the files of a database. The path alone does not: file numbers start over when a database is
/// destroyed and made anew in the same place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FileKey {
    path: String,
    size: usize,
    seqnos: [u64; 2],
}

impl FileKey {
    pub(crate) fn of(file: &LiveFile) -> Self {
        let path = format!("{}/{}", file.directory, file.name.trim_start_matches('/'));
        Self { path, size: file.size, seqnos: [file.smallest_seqno, file.largest_seqno] }
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is the key of one of `files`.
    pub(crate) fn is_among(&self, files: &[LiveFile]) -> bool {
        let seqnos = |file: &LiveFile| [file.smallest_seqno, file.largest_seqno];
        let similar = files.iter().filter(|file| (file.size, seqnos(file)) == (self.size, self.seqnos));
        similar.map(Self::of).any(|key| key == *self)
    }
}
