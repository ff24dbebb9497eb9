//! Tables that follow each other in the order of keys, as a seek sees them: where does the next key begin?
//!
//! RocksDB says the smallest and largest key of each table; a SuRF in its property knows more. Of both, the later place
//! is the candidate: no key of the table lies before it. A table of level 0 is a run of its own, every deeper level is
//! one run.

use std::fmt;
use std::ops::Bound::{Included, Unbounded};
use std::sync::Arc;

use lacuna_base::{ByteRange, Candidate, Cover, FixedBe, KeyCodec, RangeFilter, Result, SeekCandidate};
use lacuna_families::open_seek;
use lacuna_guard::{GuardCodec, SharedBytes};

use crate::property::Property;

/// One table: its bounds, and its filter if that names next keys. Holds a copy of the filter.
pub struct SeekTable {
    smallest: Vec<u8>,
    largest: Vec<u8>,
    filter: Option<SeekFilter>,
}

enum SeekFilter {
    /// Keys of `width` big-endian bytes.
    Integers {
        filter: Box<dyn SeekCandidate<u64>>,
        codec: Arc<dyn KeyCodec<u64>>,
        width: usize,
    },
    Strings(Box<dyn SeekCandidate<[u8]>>),
}

impl SeekTable {
    /// A table with all its keys between these two, and its property if it has one. A filter of another family, of
    /// another codec, or that does not open, is left out: the bounds then are all that is known.
    pub fn new(smallest: Vec<u8>, largest: Vec<u8>, property: Option<&[u8]>, codec: &GuardCodec) -> Self {
        let filter = property.and_then(|property| SeekFilter::open(property, codec).ok().flatten());
        Self { smallest, largest, filter }
    }

    /// Whether its filter names next keys.
    pub fn is_seekable(&self) -> bool {
        self.filter.is_some()
    }

    /// Bytes of memory it takes.
    pub fn memory_bytes(&self) -> usize {
        let filter = match &self.filter {
            Some(SeekFilter::Integers { filter, .. }) => filter.memory_bytes(),
            Some(SeekFilter::Strings(filter)) => filter.memory_bytes(),
            None => 0,
        };
        size_of::<Self>() + self.smallest.len() + self.largest.len() + filter
    }

    /// A place at or above `from` with no key of the table between.
    fn first(&self, from: &[u8]) -> Option<Vec<u8>> {
        let named = match &self.filter {
            Some(filter) => filter.first(from)?,
            None => from.to_vec(),
        };
        let place = named.max(self.smallest.clone());
        Some(place).filter(|place| *place <= self.largest)
    }

    /// A place at or below `from` with no key of the table between, and whether it is excluded.
    fn last(&self, from: &[u8]) -> Option<(Vec<u8>, bool)> {
        let (named, is_excluded) = match &self.filter {
            Some(filter) => filter.last(from)?,
            None => (from.to_vec(), false),
        };
        let place = if self.largest < named { (self.largest.clone(), false) } else { (named, is_excluded) };
        Some(place).filter(|(place, _)| *place >= self.smallest)
    }
}

impl SeekFilter {
    /// `None` if the family names no next keys, or the codec does not keep keys whole.
    fn open(property: &[u8], codec: &GuardCodec) -> Result<Option<Self>> {
        let property = Property::parse(property)?;
        property.envelope(codec)?;
        let bytes = SharedBytes::copy_of(property.sealed);
        match codec {
            GuardCodec::Integers { codec, .. } if codec.id().number == FixedBe::NUMBER => {
                let width = usize::try_from(codec.id().parameter).unwrap_or(usize::MAX).min(8);
                let (filter, codec) = (open_seek::<u64, _>(bytes)?, Arc::clone(codec));
                Ok(Some(Self::Integers { filter, codec, width }))
            }
            GuardCodec::Strings { .. } => Ok(Some(Self::Strings(open_seek::<[u8], _>(bytes)?))),
            _ => Ok(None),
        }
    }

    fn first(&self, from: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Integers { filter, codec, width } => {
                let Cover::Range(range) = codec.cover(Included(from), Unbounded) else { return None };
                let mut number = 0;
                filter.first_candidate(range.lo(), &mut number).map(|_| last_bytes(number, *width))
            }
            Self::Strings(filter) => {
                let mut place = Vec::new();
                filter.first_candidate(from, &mut place).map(|_| place)
            }
        }
    }

    fn last(&self, from: &[u8]) -> Option<(Vec<u8>, bool)> {
        match self {
            Self::Integers { filter, codec, width } => {
                let Cover::Range(range) = codec.cover(Unbounded, Included(from)) else { return None };
                let mut number = 0;
                let found = filter.last_candidate(range.hi(), &mut number)?;
                Some((last_bytes(number, *width), found.is_excluded))
            }
            Self::Strings(filter) => {
                let mut place = Vec::new();
                filter.last_candidate(from, &mut place).map(|found| (place, found.is_excluded))
            }
        }
    }
}

/// A number as a key of `width` bytes.
fn last_bytes(number: u64, width: usize) -> Vec<u8> {
    number.to_be_bytes()[8 - width..].to_vec()
}

/// Tables side by side, in ascending order.
#[derive(Debug)]
pub struct SeekRun {
    tables: Vec<Arc<SeekTable>>,
}

impl SeekRun {
    /// Takes tables that do not overlap, in any order.
    pub fn new(mut tables: Vec<Arc<SeekTable>>) -> Self {
        tables.sort_by(|left, right| left.smallest.cmp(&right.smallest));
        Self { tables }
    }

    /// Its tables.
    pub fn tables(&self) -> &[Arc<SeekTable>] {
        &self.tables
    }

    /// A key at or above all of its keys; `None` if it has no tables.
    pub fn largest(&self) -> Option<&[u8]> {
        self.tables.last().map(|table| &table.largest[..])
    }
}

/// The bounds of tables are not asked for yes or no here: the candidate decides.
impl RangeFilter<[u8]> for SeekRun {
    fn may_contain_range(&self, _: ByteRange<'_>) -> bool {
        true
    }
    fn key_count(&self) -> u64 {
        0
    }
    fn size_in_bytes(&self) -> usize {
        0
    }
    fn memory_bytes(&self) -> usize {
        self.tables.iter().map(|table| table.memory_bytes()).sum()
    }
}

impl SeekCandidate<[u8]> for SeekRun {
    fn first_candidate(&self, from: &[u8], candidate: &mut Vec<u8>) -> Option<Candidate> {
        let start = self.tables.partition_point(|table| table.largest[..] < *from);
        *candidate = self.tables[start..].iter().find_map(|table| table.first(from))?;
        Some(Candidate { is_certain: false, is_excluded: false })
    }

    fn last_candidate(&self, from: &[u8], candidate: &mut Vec<u8>) -> Option<Candidate> {
        let end = self.tables.partition_point(|table| table.smallest[..] <= *from);
        let (place, is_excluded) = self.tables[..end].iter().rev().find_map(|table| table.last(from))?;
        *candidate = place;
        Some(Candidate { is_certain: false, is_excluded })
    }
}

impl fmt::Debug for SeekTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeekTable")
            .field("smallest", &self.smallest)
            .field("largest", &self.largest)
            .field("is_seekable", &self.is_seekable())
            .finish()
    }
}
