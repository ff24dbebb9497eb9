//! The gaps of all files of one database.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::codec::GuardCodec;
use crate::counters::Counters;
use crate::learned_gaps::file_gaps::{FileGaps, Neighbours};
use crate::learned_gaps::file_tag::FileTag;
use crate::learned_gaps::gap_options::GapOptions;
use crate::learned_gaps::hints::{Hint, HintQueue};
use crate::learned_gaps::places::{NO_LEASE, Place};
use crate::learned_gaps::tag_index::{INDEX_BYTES, TagIndex};

/// Learned gaps of one database, and the hints where to look for more.
///
/// ```
/// use lacuna_guard::{Counters, FileTag, GapOptions, GuardCodec, LearnedGaps, Neighbours};
/// use std::ops::Bound::Included;
/// use std::sync::Arc;
///
/// let codec = GuardCodec::parse("fixed_be:1")?;
/// let all = LearnedGaps::new(&codec, GapOptions::default(), Arc::new(Counters::new()));
/// let file = all.open_file(FileTag([7; 16]));
/// // The file was read, and 10 and 90 stand side by side in it.
/// file.learn(&Neighbours { below: Some(&[10]), above: Some(&[90]), smallest: &[2], largest: &[99] });
/// assert!(file.is_known_empty(Included(&[11]), Included(&[89])));
/// assert!(!file.is_known_empty(Included(&[11]), Included(&[90])));
/// assert!(!all.open_file(FileTag([8; 16])).is_known_empty(Included(&[11]), Included(&[89])));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug)]
pub struct LearnedGaps {
    codec: GuardCodec,
    options: GapOptions,
    /// Bytes for the gaps of one file.
    per_file: usize,
    places: Box<[Place]>,
    index: TagIndex,
    files: Mutex<Files>,
    hints: HintQueue,
    counters: Arc<Counters>,
}

/// Which files are open, and which of them are at a place. Its holder may change places.
#[derive(Debug)]
struct Files {
    open: HashMap<FileTag, Weak<FileGaps>>,
    /// Number of open files at which dropped files are removed.
    prune_at: usize,
    /// The file at each place.
    tenants: Vec<Option<Tenant>>,
    last_number: u64,
    last_lease: u64,
    /// Where the clock's hand stands.
    hand: usize,
}

/// A file at its place.
#[derive(Debug, Clone, Copy)]
struct Tenant {
    tag: FileTag,
    number: u64,
    lease: u64,
}

/// Most bytes for the gaps of one file, whatever is asked for: they are taken at once.
const MAX_FILE_BYTES: usize = 1 << 30;
/// Most files that have gaps at a time.
const MAX_PLACES: usize = 1 << 18;

/// Bytes of a place without its gaps.
const PLACE_BYTES: usize = size_of::<Place>() + size_of::<Option<Tenant>>() + INDEX_BYTES;

impl LearnedGaps {
    /// No gaps yet, of files whose keys go through `codec`.
    pub fn new(codec: &GuardCodec, options: GapOptions, counters: Arc<Counters>) -> Arc<Self> {
        let beside = size_of::<Self>().saturating_add(options.hints.saturating_mul(Hint::MAX_BYTES));
        let for_files = options.memory_bytes.saturating_sub(beside);
        let per_file =
            options.memory_bytes_per_file.min(for_files.saturating_sub(PLACE_BYTES)).min(MAX_FILE_BYTES);
        let count = if per_file == 0 { 0 } else { (for_files / (per_file + PLACE_BYTES)).min(MAX_PLACES) };
        let files = Files {
            open: HashMap::new(),
            prune_at: 64,
            tenants: vec![None; count],
            last_number: 0,
            last_lease: NO_LEASE,
            hand: 0,
        };
        Arc::new(Self {
            codec: codec.clone(),
            options,
            per_file,
            places: (0..count).map(|_| Place::new()).collect(),
            index: TagIndex::for_places(count),
            files: Mutex::new(files),
            hints: HintQueue::new(options.hints),
            counters,
        })
    }

    /// The gaps of the file with this tag; those of an earlier call if they are still in use, or still have their
    /// place. About 100 bytes for each open file, on top of the budget.
    pub fn open_file(self: &Arc<Self>, tag: FileTag) -> Arc<FileGaps> {
        let mut files = self.lock();
        if let Some(open) = files.open.get(&tag).and_then(Weak::upgrade) {
            return open;
        }
        files.prune();
        let tenant = files.tenants.iter().flatten().find(|tenant| tenant.tag == tag);
        let (number, lease) = match tenant {
            Some(tenant) => (tenant.number, tenant.lease),
            None => (files.next_number(), NO_LEASE),
        };
        let file = Arc::new(FileGaps::new(tag, number, lease, Arc::clone(self)));
        files.open.insert(tag, Arc::downgrade(&file));
        file
    }

    /// The open file with this number.
    pub fn file(&self, number: u64) -> Option<Arc<FileGaps>> {
        let open: Vec<Arc<FileGaps>> = self.lock().open.values().filter_map(Weak::upgrade).collect();
        open.into_iter().find(|file| file.number() == number)
    }

    /// Notes that a scan found nothing although the filters of `files` let it pass. Never waits: hints for which there is
    /// no room, or that come at the wrong moment, are dropped and counted.
    pub fn hint(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>, files: &[u64]) {
        if !files.is_empty() {
            self.counters.gaps().count_hint(self.hints.push(lo, hi, files, &[]));
        }
    }

    /// As [`hint`](Self::hint), for an adapter that knows files by their tags alone.
    pub fn hint_tags(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>, tags: &[FileTag]) {
        if !tags.is_empty() {
            self.counters.gaps().count_hint(self.hints.push(lo, hi, &[], tags));
        }
    }

    /// Whether the file with this tag was shown to hold no key between the bounds, as
    /// `FileGaps::is_known_empty`, for an adapter that holds nothing for a file between two questions. Takes no lock
    /// and allocates nothing.
    pub fn is_known_empty(&self, tag: FileTag, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        let mut places = self.index.places_of(tag).filter_map(|home| self.places.get(home));
        places.any(|place| {
            place.lease_of(tag).is_some_and(|lease| place.is_known_empty(lease, &self.codec, lo, hi))
        })
    }

    /// The oldest hint.
    pub fn take_hint(&self) -> Option<Hint> {
        self.hints.pop()
    }

    /// Hints that wait.
    pub fn hint_count(&self) -> usize {
        self.hints.len()
    }

    /// The options as given.
    pub fn options(&self) -> GapOptions {
        self.options
    }

    /// The counters.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Number of gaps of all files.
    pub fn gap_count(&self) -> usize {
        self.places.iter().map(|place| place.extent().0).sum()
    }

    /// Bytes of memory that places, gaps and as many hints as may wait take.
    pub fn memory_bytes(&self) -> usize {
        let gaps: usize = self.places.iter().map(|place| place.extent().1).sum();
        size_of::<Self>()
            + self.places.len() * PLACE_BYTES
            + gaps
            + self.options.hints.saturating_mul(Hint::MAX_BYTES)
    }

    pub(super) fn is_known_empty_for(&self, file: &FileGaps, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> bool {
        let lease = file.lease();
        let place = self.place(lease);
        place.is_some_and(|place| place.is_known_empty(lease, &self.codec, lo, hi))
    }

    pub(super) fn learn(&self, file: &FileGaps, found: &Neighbours<'_>) {
        let mut files = self.lock();
        let home = self.home(file.lease()).filter(|&home| self.places[home].is_under(file.lease()));
        if let Some(home) = home {
            self.places[home].learn(&self.codec, found);
            // Another file may have been noted over it.
            self.index.restore(file.tag(), home);
        } else if let Some(home) = files.free_place(&self.places) {
            let (place, lease) = (&self.places[home], files.next_lease(home));
            if let Some(before) = files.tenants[home] {
                self.index.remove(before.tag, home);
            }
            place.move_in(lease, file.tag(), &self.codec, self.per_file, found);
            place.learn(&self.codec, found);
            self.index.insert(file.tag(), home);
            files.tenants[home] = Some(Tenant { tag: file.tag(), number: file.number(), lease });
            file.set_lease(lease);
        }
    }

    /// The place of a lease, which may have ended.
    fn place(&self, lease: u64) -> Option<&Place> {
        self.home(lease).and_then(|home| self.places.get(home))
    }

    /// The number of that place; `None` if there are no places.
    fn home(&self, lease: u64) -> Option<usize> {
        usize::try_from(lease.checked_rem(self.places.len() as u64)?).ok()
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files {
    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// A lease of the place `home`, whose number is the remainder by the number of places.
    fn next_lease(&mut self, home: usize) -> u64 {
        let places = self.tenants.len() as u64;
        self.last_lease = (self.last_lease / places + 1) * places + home as u64;
        self.last_lease
    }

    /// A place that no file has, or one from which no query got an answer since the hand came by last.
    fn free_place(&mut self, places: &[Place]) -> Option<usize> {
        if let Some(empty) = self.tenants.iter().position(Option::is_none) {
            return Some(empty);
        }
        let turns = (0..2 * places.len()).map(|turn| (self.hand + turn) % places.len());
        let place = turns.into_iter().find(|&place| !places[place].take_asked_for());
        let place = place.or(Some(self.hand)).filter(|&place| place < places.len())?;
        self.hand = (place + 1) % places.len();
        Some(place)
    }

    /// Forgets files that no reader has open, once in a while.
    fn prune(&mut self) {
        if self.open.len() >= self.prune_at {
            self.open.retain(|_, file| file.strong_count() > 0);
            self.prune_at = 64.max(2 * self.open.len());
        }
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
