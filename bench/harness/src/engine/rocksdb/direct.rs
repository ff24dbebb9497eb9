//! Whether the folder for temporary files has direct I/O, which a file system in memory may not.

use std::sync::OnceLock;

use rust_rocksdb::{DB, Options};

/// Tried once in a process: a table is written, opened and read past the page cache.
pub(crate) fn direct_reads_work() -> bool {
    static WORK: OnceLock<bool> = OnceLock::new();
    *WORK.get_or_init(|| try_them().is_some())
}

fn try_them() -> Option<()> {
    let folder = tempfile::tempdir().ok()?;
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_use_direct_reads(true);
    let db = DB::open(&options, folder.path()).ok()?;
    db.put(b"key", b"value").ok()?;
    db.flush().ok()?;
    db.get_pinned(b"key").ok()??;
    Some(())
}
