//! Which table has a tag, and a few tables kept open.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use lacuna_core::ByteRange;
use lacuna_guard::FileTag;
use rust_rocksdb::{LiveFile, Options};

use crate::live_tables::path;
use crate::raw_table::RawTable;

/// Table files by tag, and those that were looked into last.
pub(super) struct OpenTables {
    options: Options,
    /// Tags by path; `None` for tables that have none or cannot be read.
    tags: HashMap<String, Option<FileTag>>,
    /// Newest last.
    open: VecDeque<(FileTag, RawTable)>,
    most_bytes: usize,
    /// Blocks read by tables that are closed by now.
    reads: u64,
}

impl OpenTables {
    /// Reads files as a database with these options does; open tables take `most_bytes`, or are one.
    pub(super) fn new(options: Options, most_bytes: usize) -> Self {
        Self { options, tags: HashMap::new(), open: VecDeque::new(), most_bytes, reads: 0 }
    }

    /// The table with this tag, which must be among those of `files` that overlap `range`, and what is known of its file.
    pub(super) fn find<'f>(
        &mut self,
        tag: FileTag,
        range: ByteRange<'_>,
        files: &'f [LiveFile],
    ) -> Option<(&mut RawTable, &'f LiveFile)> {
        self.forget_gone(files);
        let file = files.iter().filter(|file| overlaps(file, range)).find(|file| self.has_tag(file, tag))?;
        if !self.open.iter().any(|(known, _)| *known == tag) {
            self.keep_open(RawTable::open(&self.options, &path(file))?);
        }
        let (_, table) = self.open.iter_mut().find(|(known, _)| *known == tag)?;
        Some((table, file))
    }

    /// Blocks read so far.
    pub(super) fn reads(&self) -> u64 {
        self.reads + self.open.iter().map(|(_, table)| table.reads()).sum::<u64>()
    }

    fn has_tag(&mut self, file: &LiveFile, tag: FileTag) -> bool {
        let path = path(file);
        if let Some(known) = self.tags.get(&path) {
            return *known == Some(tag);
        }
        let table = RawTable::open(&self.options, &path);
        let found = table.as_ref().and_then(|table| table.identity().tag());
        self.tags.insert(path, found);
        if let Some(table) = table {
            self.keep_open(table);
        }
        found == Some(tag)
    }

    /// Keeps the newest tables, as many as fit.
    fn keep_open(&mut self, table: RawTable) {
        let Some(tag) = table.identity().tag() else { return };
        self.open.push_back((tag, table));
        while self.open.len() > 1 && self.memory_bytes() > self.most_bytes {
            let closed = self.open.pop_front().map_or(0, |(_, table)| table.reads());
            self.reads += closed;
        }
    }

    fn memory_bytes(&self) -> usize {
        self.open.iter().map(|(_, table)| table.memory_bytes()).sum()
    }

    /// Drops the tags of tables that are no longer there, once they are the larger part. RocksDB gives no number twice.
    fn forget_gone(&mut self, files: &[LiveFile]) {
        if self.tags.len() > 64 + 2 * files.len() {
            let live: std::collections::HashSet<String> = files.iter().map(path).collect();
            self.tags.retain(|path, _| live.contains(path));
        }
    }
}

/// Whether the keys of a table reach into `range`.
fn overlaps(file: &LiveFile, range: ByteRange<'_>) -> bool {
    let starts_before_end = match (&file.start_key, range.hi()) {
        (Some(first), Some(hi)) => &first[..] <= hi,
        _ => true,
    };
    let ends_behind_start = file.end_key.as_ref().is_none_or(|last| &last[..] >= range.lo());
    starts_before_end && ends_behind_start
}

impl fmt::Debug for OpenTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenTables")
            .field("tags", &self.tags.len())
            .field("open", &self.open.len())
            .finish_non_exhaustive()
    }
}
