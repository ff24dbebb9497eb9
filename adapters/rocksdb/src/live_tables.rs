//! Databases that name their table files.

use rust_rocksdb::{DBWithThreadMode, Error, LiveFile, OptimisticTransactionDB, ThreadMode};

/// A database that can say which table files it consists of.
pub trait LiveTables {
    /// The table files of all column families at this moment.
    ///
    /// # Errors
    /// What RocksDB says.
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

/// Where the file of a table is.
pub(crate) fn path(file: &LiveFile) -> String {
    format!("{}/{}", file.directory, file.name.trim_start_matches('/'))
}
