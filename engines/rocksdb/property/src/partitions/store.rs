//! The partitions of all tables that share a folder and a budget of memory.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use lacuna_base::{Error, Result};

use crate::partitions::cache::{Partition, PartitionCache, Room};
use crate::partitions::counts::{PartitionCounters, PartitionStats};
use crate::partitions::directory::file_of;
use crate::partitions::file::path_of;
use crate::partitions::folder::Folder;
use crate::partitions::place::{FileId, PartitionPlace};

/// Bytes of a partition unless set otherwise. At 14 bits, 9,400 keys: few enough that reading them costs about as much
/// as reading a block of the table, many enough that their place in the directory costs 0.2 % of them.
const DEFAULT_PARTITION_BYTES: usize = 16 << 10;
/// Fewest bytes of a partition: its envelope alone takes as many.
const MIN_PARTITION_BYTES: usize = 64;
/// Partitions that the budget holds at least, so that several threads find room at once.
const MIN_PARTITIONS: usize = 16;

/// A folder for the filters of a database, and the memory that they may take. A clone is the same store; all column
/// families of a database may share one.
///
/// ```
/// use lacuna_rocksdb_property::{Collector, PartitionStore, TableGuard};
///
/// let folder = std::env::temp_dir().join(format!("lacuna-doc-{}", std::process::id()));
/// let store = PartitionStore::open(&folder, 1 << 20)?;
/// let guard = TableGuard::parse("grafite@14 codec=fixed_be:8")?.with_partitions(&store);
/// let mut collector = Collector::new(&guard, Some(1));
/// (0..100_000u64).for_each(|number| collector.add(Collector::PUT, &(number << 20).to_be_bytes()));
/// let property = collector.finish().expect("built within the budget");
/// assert!(property.len() < 1_000, "the filter of 175,000 bytes is in the file");
/// assert_eq!(store.stats().files_written, 1);
/// std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PartitionStore {
    shared: Arc<Shared>,
    partition_bytes: usize,
}

#[derive(Debug)]
struct Shared {
    folder: Folder,
    cache: PartitionCache,
}

/// Why a partition cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unasked {
    Missing,
    Unreadable,
    Damaged,
    Crowded,
}

impl PartitionStore {
    /// A store in `folder`, which is made if it is not there, with at most `memory_bytes` of partitions in memory at any
    /// time. The folder is for one database, on a disk of this machine; it may lie in the database's own.
    ///
    /// # Errors
    /// `Unavailable` if the folder cannot be made or read.
    pub fn open(folder: impl AsRef<Path>, memory_bytes: usize) -> Result<Self> {
        let path = folder.as_ref();
        let folder = Folder::open(path).map_err(|problem| {
            let place = path.display();
            Error::unavailable(format!("the folder `{place}` for partitions of filters cannot be opened"))
                .with_source(problem)
        })?;
        let shared = Arc::new(Shared { folder, cache: PartitionCache::new(memory_bytes) });
        Ok(Self { shared, partition_bytes: DEFAULT_PARTITION_BYTES })
    }

    /// Sets about how many bytes a partition takes, instead of 16 KiB: what is read when it is not in memory.
    #[must_use]
    pub fn with_partition_bytes(mut self, partition_bytes: usize) -> Self {
        self.partition_bytes = partition_bytes;
        self
    }

    /// Bytes of a partition: as set, but so that the budget holds some.
    pub(crate) fn partition_bytes(&self) -> usize {
        self.partition_bytes.min(self.shared.cache.max_bytes() / MIN_PARTITIONS).max(MIN_PARTITION_BYTES)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.shared.folder.path()
    }

    /// What happened to partitions so far, in this process.
    pub fn stats(&self) -> PartitionStats {
        self.counters().snapshot(self.shared.cache.resident_bytes() as u64)
    }

    pub(crate) fn counters(&self) -> &PartitionCounters {
        self.shared.cache.counters()
    }

    /// Notes that there is a table at `path` with this property, so that its file goes with it.
    pub fn table_created(&self, path: &Path, property: &[u8]) {
        if let Some(file) = file_of(property) {
            self.shared.folder.claim(path, file);
        }
    }

    /// Removes the file of a table that could not be written.
    pub fn table_failed(&self, property: &[u8]) {
        file_of(property).into_iter().for_each(|file| self.remove(file));
    }

    /// Removes the file of the table that was deleted at `path`.
    pub fn table_deleted(&self, path: &Path) {
        self.shared.folder.release(path).into_iter().for_each(|file| self.remove(file));
    }

    /// Removes the files that were there when the store was opened and that no table has been noted for since; returns
    /// how many. To be called once all tables have been noted.
    pub fn remove_unclaimed(&self) -> usize {
        let files = self.shared.folder.take_unclaimed();
        files.iter().for_each(|&file| self.remove(file));
        files.len()
    }

    fn remove(&self, file: FileId) {
        self.counters().files_removed.add(u64::from(self.shared.folder.remove(file)));
    }

    /// The partition at a place, from memory or from its file. No lock is held while the file is read: two threads that
    /// need the same partition may both read it.
    pub(crate) fn partition(&self, place: &PartitionPlace) -> Result<Arc<Partition>, Unasked> {
        if let Some(partition) = self.shared.cache.get(place) {
            self.counters().hits.add(1);
            return Ok(partition);
        }
        let loaded = self.load(place);
        match &loaded {
            Ok(_) => self.counters().loads.add(1),
            Err(Unasked::Missing) => self.counters().missing.add(1),
            Err(Unasked::Unreadable) => self.counters().unreadable.add(1),
            Err(Unasked::Damaged) => self.counters().damaged.add(1),
            Err(Unasked::Crowded) => self.counters().crowded.add(1),
        }
        loaded
    }

    fn load(&self, place: &PartitionPlace) -> Result<Arc<Partition>, Unasked> {
        let mut file = File::open(path_of(self.folder(), place.file)).map_err(|problem| unasked(&problem))?;
        let room = self.shared.cache.make_room(place.bytes).ok_or(Unasked::Crowded)?;
        let sealed = read(&mut file, place).map_err(|problem| unasked(&problem))?;
        self.keep(place, sealed, room)
    }

    fn keep(&self, place: &PartitionPlace, sealed: Vec<u8>, room: Room) -> Result<Arc<Partition>, Unasked> {
        let partition = Partition::new(sealed, room);
        if place.holds(partition.sealed()) {
            Ok(self.shared.cache.keep(*place, partition))
        } else {
            Err(Unasked::Damaged)
        }
    }
}

fn read(file: &mut File, place: &PartitionPlace) -> io::Result<Vec<u8>> {
    let mut sealed = vec![0; place.bytes];
    file.seek(SeekFrom::Start(place.start))?;
    file.read_exact(&mut sealed)?;
    Ok(sealed)
}

fn unasked(problem: &io::Error) -> Unasked {
    match problem.kind() {
        ErrorKind::NotFound => Unasked::Missing,
        // Cut short.
        ErrorKind::UnexpectedEof => Unasked::Damaged,
        _ => Unasked::Unreadable,
    }
}
