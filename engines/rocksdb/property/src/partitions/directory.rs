//! The property of a table whose filter is in partitions: which keys are in which, and where they are.
//!
//! Partition `i` holds the keys from its lower end to the lower end of the next, that one excluded; the last ends at the
//! upper end. All ends are short keys that lie between the keys of the table. Read in O(1), after the first question to a table,
//! and searched where it lies.

use std::ops::Bound;
use std::ops::Range;

use lacuna_base::hash::hash_bytes;
use lacuna_base::{Error, Result};
use lacuna_guard::GuardCodec;

use crate::partitions::place::{FileId, PartitionPlace};
use crate::property::{level_byte, level_of};
use crate::verified;

/// Version of a property that holds a directory.
pub(crate) const VERSION: u8 = 2;
const HEADER_BYTES: usize = 48;
/// Where the hash of all other bytes stands.
const HASH_AT: usize = 40;
const ENTRY_BYTES: usize = 24;
/// Length of an upper end that is above all keys.
const NO_END: u32 = u32::MAX;

/// A directory taken apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Directory<'a> {
    pub(crate) level: Option<usize>,
    pub(crate) file: FileId,
    entries: &'a [[u8; ENTRY_BYTES]],
    /// Lower ends, one after the other.
    ends: &'a [u8],
    upper: Option<&'a [u8]>,
}

/// Which partitions can say something about a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Touched {
    /// A partition lies inside of the range as a whole, and it has keys.
    Certain,
    /// One or two, or none: then no key of the table is in the range.
    Partitions(Range<usize>),
}

impl<'a> Directory<'a> {
    /// Takes a property of version 2 apart.
    ///
    /// # Errors
    /// `Unsupported` for bytes that this version leaves zero, and for another codec; `Corrupt` if it is not what was written.
    pub(crate) fn parse(bytes: &'a [u8], codec: &GuardCodec) -> Result<Self> {
        let cut = || Error::corrupt("a directory of partitions was cut or appended to");
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or_else(cut)?;
        if header[0] != VERSION || header[3] != 0 || header[6..8] != [0, 0] {
            return Err(Error::unsupported("the directory of partitions is newer than this code; update it"));
        }
        if header[2] != codec.key_space() as u8
            || header[4..6] != codec.id().number.to_le_bytes()
            || header[8..16] != codec.id().parameter.to_le_bytes()
        {
            return Err(Error::unsupported(
                "the filter's keys went through another codec; reading the table",
            ));
        }
        let stored = u64_at(header, HASH_AT);
        if !verified::is_intact(bytes, stored, || hash_of(bytes) == stored) {
            return Err(Error::corrupt(
                "a directory of partitions is not what was written; reading the table",
            ));
        }
        let (count, upper) = (u32_at(header, 32), u32_at(header, 36));
        let upper_bytes = if upper == NO_END { 0 } else { size(upper) };
        let entries_bytes = size(count).checked_mul(ENTRY_BYTES).ok_or_else(cut)?;
        let (entries, ends) = rest.split_at_checked(entries_bytes).ok_or_else(cut)?;
        let (entries, _) = entries.as_chunks::<ENTRY_BYTES>();
        let lower_bytes = entries.last().map(|entry| size(u32_at(entry, 16))).ok_or_else(cut)?;
        let (ends, last) = ends.split_at_checked(lower_bytes).ok_or_else(cut)?;
        if last.len() != upper_bytes {
            return Err(cut());
        }
        let file = FileId(*header[16..].first_chunk().expect("the header has 48 bytes"));
        let upper = (upper != NO_END).then_some(last);
        Ok(Self { level: level_of(header[1]), file, entries, ends, upper })
    }

    /// Number of partitions.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Where the bytes of a partition are; `None` if it has none, since no filter could be built over its keys.
    pub(crate) fn place(&self, partition: usize) -> Option<PartitionPlace> {
        let entry = &self.entries[partition];
        let start = partition.checked_sub(1).map_or(0, |before| u64_at(&self.entries[before], 0));
        let bytes = usize::try_from(u64_at(entry, 0).checked_sub(start)?).ok()?;
        let place = PartitionPlace { file: self.file, start, bytes, hash: u64_at(entry, 8) };
        (bytes > 0).then_some(place)
    }

    /// The partitions that can hold a key between the bounds. Ends that do not hold together, which the hash excludes, are
    /// searched in bounds.
    pub(crate) fn touched(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) -> Touched {
        let first = self.first_ending_above(lo);
        let end = self.count_beginning_below(hi);
        let inside = |partition: usize| self.begins_inside(partition, lo) && self.stays_inside(partition, hi);
        match end.saturating_sub(first) {
            0 => Touched::Partitions(0..0),
            1 if inside(first) => Touched::Certain,
            2 if inside(first) || inside(first + 1) => Touched::Certain,
            1 | 2 => Touched::Partitions(first..end),
            _ => Touched::Certain,
        }
    }

    /// The smallest partition with an end above the lower bound.
    fn first_ending_above(&self, lo: Bound<&[u8]>) -> usize {
        let (Bound::Included(lo) | Bound::Excluded(lo)) = lo else { return 0 };
        search(self.len(), |partition| self.end(partition).is_some_and(|end| end <= lo))
    }

    /// How many partitions begin below the upper bound.
    fn count_beginning_below(&self, hi: Bound<&[u8]>) -> usize {
        search(self.len(), |partition| match hi {
            Bound::Included(hi) => self.lower(partition) <= hi,
            Bound::Excluded(hi) => self.lower(partition) < hi,
            Bound::Unbounded => true,
        })
    }

    fn begins_inside(&self, partition: usize, lo: Bound<&[u8]>) -> bool {
        match lo {
            Bound::Included(lo) => lo <= self.lower(partition),
            Bound::Excluded(lo) => lo < self.lower(partition),
            Bound::Unbounded => true,
        }
    }

    fn stays_inside(&self, partition: usize, hi: Bound<&[u8]>) -> bool {
        match hi {
            Bound::Included(hi) | Bound::Excluded(hi) => self.end(partition).is_some_and(|end| end <= hi),
            Bound::Unbounded => true,
        }
    }

    fn lower(&self, partition: usize) -> &'a [u8] {
        let start = partition.checked_sub(1).map_or(0, |before| u32_at(&self.entries[before], 16));
        let end = u32_at(&self.entries[partition], 16);
        self.ends.get(size(start)..size(end)).unwrap_or_default()
    }

    /// The end above all keys of the partition; `None` if all keys may be below.
    fn end(&self, partition: usize) -> Option<&'a [u8]> {
        if partition + 1 < self.len() { Some(self.lower(partition + 1)) } else { self.upper }
    }
}

/// XXH3-64 over all bytes of a directory but the hash itself: over the hash of what is before it, as the seed, and what is
/// after it.
fn hash_of(directory: &[u8]) -> u64 {
    const SEED: u64 = 0x4C41_4355_4E41_4431;
    let (before, rest) = directory.split_at(HASH_AT);
    hash_bytes(&rest[HEADER_BYTES - HASH_AT..], hash_bytes(before, SEED))
}

/// The number of the file that a property speaks of; `None` if its filter is in no file.
pub(crate) fn file_of(property: &[u8]) -> Option<FileId> {
    let header = property.first_chunk::<HEADER_BYTES>().filter(|header| header[0] == VERSION)?;
    Some(FileId(*header[16..].first_chunk()?))
}

/// The number of leading numbers below `count` for which `holds`, by bisection.
fn search(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Writes a directory.
#[derive(Debug, Default)]
pub(crate) struct DirectoryBuilder {
    entries: Vec<u8>,
    ends: Vec<u8>,
    has_filter: bool,
}

impl DirectoryBuilder {
    /// Adds the next partition: its lower end, its sealed bytes if it has a filter, and the length of the file after it.
    pub(crate) fn add(&mut self, lower: &[u8], sealed: Option<&[u8]>, file_len: u64) {
        self.ends.extend_from_slice(lower);
        let ends = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.entries.extend_from_slice(&file_len.to_le_bytes());
        self.entries.extend_from_slice(&sealed.map_or(0, PartitionPlace::hash_of).to_le_bytes());
        self.entries.extend_from_slice(&u64::from(ends).to_le_bytes());
        self.has_filter |= sealed.is_some();
    }

    /// Whether no partition was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The property; `None` if it says nothing, or would be larger than its numbers.
    pub(crate) fn finish(
        self,
        level: Option<usize>,
        codec: &GuardCodec,
        file: FileId,
        upper: Option<&[u8]>,
    ) -> Option<Vec<u8>> {
        let count = u32::try_from(self.entries.len() / ENTRY_BYTES).ok()?;
        u32::try_from(self.ends.len()).ok().filter(|&ends| ends < u32::MAX && self.has_filter)?;
        let upper_len = upper.map_or(Some(NO_END), |upper| u32::try_from(upper.len()).ok())?;
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[0] = VERSION;
        bytes[1] = level_byte(level);
        bytes[2] = codec.key_space() as u8;
        bytes[4..6].copy_from_slice(&codec.id().number.to_le_bytes());
        bytes[8..16].copy_from_slice(&codec.id().parameter.to_le_bytes());
        bytes[16..32].copy_from_slice(&file.0);
        bytes[32..36].copy_from_slice(&count.to_le_bytes());
        bytes[36..40].copy_from_slice(&upper_len.to_le_bytes());
        bytes.extend_from_slice(&self.entries);
        bytes.extend_from_slice(&self.ends);
        bytes.extend_from_slice(upper.unwrap_or_default());
        let hash = hash_of(&bytes);
        bytes[HASH_AT..HEADER_BYTES].copy_from_slice(&hash.to_le_bytes());
        Some(bytes)
    }
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("the caller knows the length"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("the caller knows the length"))
}
