//! Builds the filter of one table in partitions, while the table is written.
//!
//! Memory: the keys of one partition, whatever the size of the table.

use std::io;

use lacuna_base::{Error, Sealed};
use lacuna_guard::GuardBuilder;

use crate::partitions::directory::DirectoryBuilder;
use crate::partitions::file::PartitionFile;
use crate::partitions::separator::{above, below, between};
use crate::partitions::store::PartitionStore;
use crate::property::Property;
use crate::table_guard::TableGuard;

/// Filters up to here stay in the property: a directory and a file for them would hardly take less.
const MAX_WHOLE_BYTES: usize = 1 << 10;

/// Takes the keys of one table in their order and cuts them into partitions.
#[derive(Debug)]
pub(crate) struct PartitionedBuilder {
    guard: TableGuard,
    store: PartitionStore,
    builder: GuardBuilder,
    level: Option<usize>,
    /// Keys of a full partition.
    max_keys: usize,
    /// Distinct keys of the partition that is being built.
    keys: usize,
    /// Its lower end.
    lower: Vec<u8>,
    last: Vec<u8>,
    directory: DirectoryBuilder,
    file: Option<PartitionFile>,
    /// What keeps the table from having a filter.
    problem: Option<Error>,
}

impl PartitionedBuilder {
    pub(crate) fn new(guard: &TableGuard, store: &PartitionStore, level: Option<usize>) -> Self {
        let bits_per_key = guard.spec().budget().as_bits_per_key();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and far below 2^53"
        )]
        let max_keys = (store.partition_bytes() as f64 * 8.0 / bits_per_key) as usize;
        Self {
            guard: guard.clone(),
            store: store.clone(),
            builder: guard.builder(),
            level,
            max_keys: max_keys.max(1),
            keys: 0,
            lower: Vec::new(),
            last: Vec::new(),
            directory: DirectoryBuilder::default(),
            file: None,
            problem: None,
        }
    }

    /// Takes the next key.
    pub(crate) fn add(&mut self, key: &[u8]) {
        if self.problem.is_some() || self.keys > 0 && key == self.last {
            return;
        }
        if self.keys == 0 {
            self.lower = below(key).to_vec();
        } else if *key < *self.last {
            return self
                .fail(Error::invalid_input("the engine gave keys that are not in the order of bytes"));
        } else if self.keys >= self.max_keys
            && let Some(len) = between(&self.last, key)
        {
            self.cut();
            self.lower = key[..len].to_vec();
        }
        self.builder.add(key);
        self.keys += 1;
        self.last.clear();
        self.last.extend_from_slice(key);
    }

    /// Gives up on this table.
    pub(crate) fn fail(&mut self, problem: Error) {
        self.file = None;
        self.problem = Some(problem);
    }

    /// Seals the partition and begins the next.
    fn cut(&mut self) {
        let sealed = self.builder.finish_within(self.room());
        // The first one speaks for all: their spec is the same, and asking each would take a third of the time.
        self.builder.skip_check();
        self.keys = 0;
        self.write(sealed.as_ref().map(Sealed::as_bytes));
    }

    fn max_whole_bytes(&self) -> usize {
        self.store.partition_bytes().min(MAX_WHOLE_BYTES)
    }

    /// Bytes that the cap of a table leaves.
    fn room(&self) -> usize {
        let written = self.file.as_ref().map_or(0, PartitionFile::len);
        let room = Property::room_for_sealed(self.guard.max_bytes());
        room.saturating_sub(usize::try_from(written).unwrap_or(usize::MAX))
    }

    fn write(&mut self, sealed: Option<&[u8]>) {
        match self.append(sealed.unwrap_or_default()) {
            Ok(len) => self.directory.add(&self.lower, sealed, len),
            Err(problem) => self.fail_file(problem),
        }
    }

    fn append(&mut self, sealed: &[u8]) -> io::Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            empty => empty.insert(PartitionFile::create(self.store.folder())?),
        };
        file.append(sealed)?;
        Ok(file.len())
    }

    fn fail_file(&mut self, problem: io::Error) {
        self.store.counters().files_failed.add(1);
        self.fail(Error::unavailable("the partitions of a filter could not be written").with_source(problem));
    }

    /// The property of the table, and starts over; `None` if it gets no filter, which is counted.
    pub(crate) fn finish(&mut self) -> Option<Vec<u8>> {
        let mut property = self.try_finish();
        if let Some(problem) = self.problem.take() {
            self.builder.fail(problem);
            self.builder.finish();
            property = None;
        }
        *self = Self::new(&self.guard, &self.store, self.level);
        property
    }

    fn try_finish(&mut self) -> Option<Vec<u8>> {
        if self.problem.is_some() {
            return None;
        }
        let sealed = self.builder.finish_within(self.room());
        let sealed = sealed.as_ref().map(Sealed::as_bytes);
        if self.directory.is_empty() && sealed.is_none_or(|sealed| sealed.len() <= self.max_whole_bytes()) {
            return sealed.map(|sealed| Property { level: self.level, sealed }.to_bytes());
        }
        self.write(sealed);
        self.finish_file()
    }

    /// Keeps the file and returns the directory.
    fn finish_file(&mut self) -> Option<Vec<u8>> {
        let (file, directory) = (self.file.take()?, std::mem::take(&mut self.directory));
        let upper = above(&self.last);
        let property = directory.finish(self.level, self.guard.codec(), file.id(), upper.as_deref())?;
        match file.finish() {
            Ok(()) => self.store.counters().files_written.add(1),
            Err(problem) => self.fail_file(problem),
        }
        Some(property)
    }
}
