//! Which table has a tag, and a few tables kept open.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;

use lacuna_base::ByteRange;
use lacuna_guard::{FileTag, reach_into};
use rust_rocksdb::{LiveFile, Options};

use crate::live_tables::FileKey;
use crate::raw_table::{NotOpened, RawTable};

/// Table files by tag, and those that were looked into last.
pub(super) struct OpenTables {
    options: Options,
    /// Tags of files; `None` for a file that has no tag and never will. Files that could not be read are not among
    /// them.
    tags: HashMap<FileKey, Option<FileTag>>,
    /// Newest last.
    open: VecDeque<OpenTable>,
    max_bytes: usize,
    /// Blocks read by tables that are closed by now, or were never opened.
    reads: u64,
}

struct OpenTable {
    key: FileKey,
    tag: FileTag,
    table: RawTable,
}

impl OpenTables {
    /// Reads files as a database with these options does; open tables take `max_bytes`, or are one.
    pub(super) fn new(options: Options, max_bytes: usize) -> Self {
        Self { options, tags: HashMap::new(), open: VecDeque::new(), max_bytes, reads: 0 }
    }

    /// The table with this tag, which must be among those of `files` that overlap `range`, and what is known of its file;
    /// `None` if there is none.
    ///
    /// # Errors
    /// A file that may be the table with this tag could not be read.
    pub(super) fn find<'f>(
        &mut self,
        tag: FileTag,
        range: ByteRange<'_>,
        files: &'f [LiveFile],
    ) -> Result<Option<(&mut RawTable, &'f LiveFile)>, NotOpened> {
        let Some(file) = self.file_of(tag, range, files)? else { return Ok(None) };
        if !self.open.iter().any(|open| open.tag == tag) {
            self.open(file)?;
        }
        // The properties of the opened file say which table it is.
        let open = self.open.iter_mut().find(|open| open.tag == tag);
        Ok(open.map(|open| (&mut open.table, file)))
    }

    /// Blocks read so far.
    pub(super) fn reads(&self) -> u64 {
        self.reads + self.open.iter().map(|open| open.table.reads()).sum::<u64>()
    }

    fn file_of<'f>(
        &mut self,
        tag: FileTag,
        range: ByteRange<'_>,
        files: &'f [LiveFile],
    ) -> Result<Option<&'f LiveFile>, NotOpened> {
        let mut problem = None;
        for file in files.iter().filter(|file| overlaps(file, range)) {
            match self.tag_of(file) {
                Ok(known) if known == Some(tag) => return Ok(Some(file)),
                Ok(_) | Err(NotOpened::Gone) => {}
                Err(found) => problem = Some(found),
            }
        }
        problem.map_or(Ok(None), Err)
    }

    fn tag_of(&mut self, file: &LiveFile) -> Result<Option<FileTag>, NotOpened> {
        match self.tags.get(&FileKey::of(file)) {
            Some(known) => Ok(*known),
            None => self.open(file),
        }
    }

    /// Opens a file, keeps it open if it has a tag, and remembers that.
    fn open(&mut self, file: &LiveFile) -> Result<Option<FileTag>, NotOpened> {
        let key = FileKey::of(file);
        let tag = match RawTable::open(&self.options, key.path(), &mut self.reads) {
            Ok(table) => self.keep_open(key.clone(), table),
            Err(NotOpened::Foreign | NotOpened::OtherOrder) => None,
            Err(problem) => return Err(problem),
        };
        self.tags.insert(key, tag);
        Ok(tag)
    }

    /// Keeps the newest tables, as many as fit.
    fn keep_open(&mut self, key: FileKey, table: RawTable) -> Option<FileTag> {
        let tag = table.identity().tag();
        match tag {
            Some(tag) => self.open.push_back(OpenTable { key, tag, table }),
            None => self.reads += table.reads(),
        }
        while self.open.len() > 1 && self.memory_bytes() > self.max_bytes {
            self.reads += self.open.pop_front().map_or(0, |closed| closed.table.reads());
        }
        tag
    }

    fn memory_bytes(&self) -> usize {
        self.open.iter().map(|open| open.table.memory_bytes()).sum()
    }

    /// Closes the tables that are not among `files` any more, because an open file keeps its space on the disk, and
    /// drops their tags once they are the larger part.
    pub(super) fn forget_gone(&mut self, files: &[LiveFile]) {
        self.close_unless(|key| key.is_among(files));
        if self.tags.len() > 64 + 2 * files.len() {
            let live: HashSet<FileKey> = files.iter().map(FileKey::of).collect();
            self.tags.retain(|key, _| live.contains(key));
        }
    }

    /// Closes all tables.
    pub(super) fn close(&mut self) {
        self.close_unless(|_| false);
    }

    fn close_unless(&mut self, is_kept: impl Fn(&FileKey) -> bool) {
        let reads = &mut self.reads;
        self.open.retain(|open| {
            let is_kept = is_kept(&open.key);
            *reads += if is_kept { 0 } else { open.table.reads() };
            is_kept
        });
    }
}

/// Whether the keys of a table reach into `range`.
fn overlaps(file: &LiveFile, range: ByteRange<'_>) -> bool {
    reach_into(file.start_key.as_deref(), file.end_key.as_deref(), range)
}

impl fmt::Debug for OpenTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenTables")
            .field("tags", &self.tags.len())
            .field("open", &self.open.len())
            .finish_non_exhaustive()
    }
}
