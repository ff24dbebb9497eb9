//! The identity of a table: the same for as long as its file lives, and in every copy of it.

use lacuna_base::hash::hash_bytes;
use lacuna_guard::FileTag;

/// The two properties by which RocksDB distinguishes table files for ever: the session of the database, or of the
/// `SstFileWriter`, that wrote the file, and the number it gave it. Copies of a file keep them, and its entries.
///
/// ```
/// use lacuna_rocksdb_property::TableIdentity;
///
/// let table = TableIdentity { session: b"Z1X8VJ2N0QHYW5Q4K7P3", number: 12 };
/// assert!(table.tag().is_some());
/// assert_ne!(table.tag(), TableIdentity { number: 13, ..table }.tag());
/// assert_eq!(TableIdentity { session: b"", number: 12 }.tag(), None, "written before sessions had names");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableIdentity<'a> {
    /// `TableProperties::db_session_id`; empty for tables older than RocksDB 6.13.
    pub session: &'a [u8],
    /// `TableProperties::orig_file_number`; zero if it is not known.
    pub number: u64,
}

impl TableIdentity<'_> {
    /// The tag under which gaps of the table are kept; `None` if the table cannot be distinguished. A session's name
    /// has 103 random bits, and the tag is a hash of 128.
    pub fn tag(&self) -> Option<FileTag> {
        let is_known = !self.session.is_empty() && self.number > 0;
        let half = |seed: u64| hash_bytes(self.session, self.number ^ seed);
        is_known.then(|| FileTag::from_halves([half(0), half(0x9E37_79B9_7F4A_7C15)]))
    }
}
