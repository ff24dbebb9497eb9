//! A set of keys that takes and forgets keys and never forgets another: the table, and exact marks beside it.
//!
//! Two keys may share a fingerprint. If the fingerprint of a removed key were taken out, its twin would be denied. Nor
//! can the filter check that a key was never inserted, since it knows less than its keys. So a removal is a mark: the
//! key's 128 bits of hash, at most 32 bytes, in a table of their own. The fingerprint stays, for other keys that share
//! it. An insertion takes the mark off. A sealed filter has no place for marks, so removed keys are "maybe" again
//! there, until the next build from the keys themselves.

use std::fmt::Debug;
use std::marker::PhantomData;

use lacuna_base::{
    BuildPlan, ByteRange, Error, ErrorKind, InsertKey, KeySpace, RangeFilter, RemoveKey, Result, Sealed,
    U64Range, Window,
};

use super::CuckooSpec;
use super::codec::VERSION;
use super::key_state::{HashedKey, KeyState};
use super::marks::{Mark, MarkTable};
use super::table::CuckooTable;
use crate::bloom::MAX_POINTS;
use crate::family::FilterFamily as _;
use crate::frame::push_window_section;
use crate::integer_build::envelope;

/// Makes the second half of a mark independent of the first.
const SECOND_HALF: u64 = 0xA076_1D64_78BD_642F;

/// A cuckoo filter that takes and forgets keys.
///
/// ```
/// use lacuna_base::{InsertKey, RangeFilter, RemoveKey};
/// use lacuna_families::{CuckooMut, KeyState};
///
/// let mut filter = CuckooMut::<[u8]>::new(1_000, 0.01, 7);
/// filter.insert(b"ada")?;
/// assert_eq!(filter.state(b"ada"), KeyState::Present);
/// assert!(filter.remove(b"ada")?);
/// assert_eq!(filter.state(b"ada"), KeyState::Deleted);
/// filter.insert(b"ada")?;
/// assert!(filter.may_contain(b"ada"));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug)]
pub struct CuckooMut<K: KeySpace + ?Sized> {
    table: CuckooTable,
    marks: MarkTable,
    max_marks: usize,
    seed: u64,
    key_space: PhantomData<fn(&K)>,
}

impl<K: HashedKey + ?Sized> CuckooMut<K> {
    /// A filter for `capacity` keys at a false positive rate of at most `rate`, which grows beyond without the keys.
    pub fn new(capacity: u64, rate: f64, seed: u64) -> Self {
        let table = CuckooTable::for_rate(capacity, rate);
        Self { table, marks: MarkTable::default(), max_marks: usize::MAX, seed, key_space: PhantomData }
    }

    /// Keeps at most `max_marks` removed keys and reported false positives, 32 bytes each.
    #[must_use]
    pub fn with_max_marks(mut self, max_marks: usize) -> Self {
        self.max_marks = max_marks;
        self
    }

    /// The state of `key`. `Absent` and `Deleted` are certain, `Present` is not.
    pub fn state(&self, key: K::Ref<'_>) -> KeyState {
        let (hash, second) = self.mark(key);
        if self.table.may_contain(hash) {
            KeyState::of(self.marks.get((hash, second)))
        } else {
            KeyState::Absent
        }
    }

    /// Remembers that `key`, which was "maybe", is not there, so that it is denied from now on until it is inserted;
    /// `false` if there is no room for that. The caller promises that it is not there.
    pub fn report_false_positive(&mut self, key: K::Ref<'_>) -> bool {
        let mark = self.mark(key);
        let has_room = self.marks.len() < self.max_marks;
        if has_room && self.marks.get(mark).is_none() && self.table.may_contain(mark.0) {
            self.marks.insert(mark, 0);
        }
        has_room
    }

    /// The table of fingerprints: for readers beside a writer, and its numbers.
    pub fn table(&self) -> &CuckooTable {
        &self.table
    }

    fn mark(&self, key: K::Ref<'_>) -> Mark {
        (K::hash(K::shorten(key), self.seed), K::hash(key, self.seed ^ SECOND_HALF))
    }

    fn insert_key(&mut self, key: K::Ref<'_>) -> Result<bool> {
        let mark = self.mark(key);
        let is_new = self.table.insert_mut(mark.0)?;
        Ok(self.marks.remove(mark).is_some() || is_new)
    }

    fn remove_key(&mut self, key: K::Ref<'_>) -> Result<bool> {
        let mark = self.mark(key);
        match self.marks.get(mark) {
            Some(_) => Ok(false),
            None if !self.table.may_contain(mark.0) => Ok(false),
            None if self.marks.len() >= self.max_marks => {
                Err(Error::new(ErrorKind::Full, "there is no room for more removed keys; rebuild the filter"))
            }
            None => {
                self.marks.insert(mark, 1);
                Ok(true)
            }
        }
    }

    fn body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        self.table.write_to(self.seed, &mut body);
        body
    }

    fn bytes_of_all(&self) -> usize {
        size_of::<Self>() - size_of::<CuckooTable>() + self.table.memory_bytes() + self.marks.memory_bytes()
    }
}

impl CuckooMut<u64> {
    /// The filter as it is now, without its marks: removed keys are "maybe" again. Only the codec of `plan` matters.
    pub fn seal(&self, plan: &BuildPlan<u64>) -> Sealed {
        let count = usize::try_from(self.table.stored()).expect("fingerprints in memory");
        Sealed::assemble(
            &envelope::<u64>(CuckooSpec::KIND, VERSION, plan, count, (0, u64::MAX)),
            &self.body(),
        )
    }
}

impl CuckooMut<[u8]> {
    /// The filter as it is now, without its marks: removed keys are "maybe" again. Only the codec of `plan` matters.
    pub fn seal(&self, plan: &BuildPlan<[u8]>) -> Sealed {
        let count = usize::try_from(self.table.stored()).expect("fingerprints in memory");
        let mut payload = self.body();
        push_window_section(&mut payload, Window::new(&[], Window::MAX_WIDTH));
        Sealed::assemble(&envelope::<[u8]>(CuckooSpec::KIND, VERSION, plan, count, (0, u64::MAX)), &payload)
    }
}

impl<K: HashedKey + ?Sized> InsertKey<K> for CuckooMut<K>
where
    Self: RangeFilter<K>,
{
    /// `false` also if another key with the same fingerprint was there before.
    fn insert(&mut self, key: K::Ref<'_>) -> Result<bool> {
        self.insert_key(key)
    }
}

impl<K: HashedKey + ?Sized> RemoveKey<K> for CuckooMut<K>
where
    Self: RangeFilter<K>,
{
    /// `true` if the key is "maybe" now and denied from now on. No other key's answer changes, whether this one was ever
    /// inserted or not. Fails with `Full` beyond the most marks.
    fn remove(&mut self, key: K::Ref<'_>) -> Result<bool> {
        self.remove_key(key)
    }
}

impl RangeFilter<u64> for CuckooMut<u64> {
    fn may_contain_range(&self, range: U64Range) -> bool {
        range.hi() - range.lo() >= MAX_POINTS
            || (range.lo()..=range.hi()).any(|key| self.state(key) == KeyState::Present)
    }

    fn rate_bound(&self, range_len: u64) -> f64 {
        if range_len > MAX_POINTS { 1.0 } else { (self.table.rate() * range_len as f64).min(1.0) }
    }

    /// Number of fingerprints: distinct keys ever inserted, less those that share one.
    fn key_count(&self) -> u64 {
        self.table.stored()
    }

    fn size_in_bytes(&self) -> usize {
        lacuna_base::ENVELOPE_BYTES + super::codec::Header::of(&self.table, self.seed).body_bytes()
    }

    fn memory_bytes(&self) -> usize {
        self.bytes_of_all()
    }
}

impl RangeFilter<[u8]> for CuckooMut<[u8]> {
    fn may_contain_range(&self, range: ByteRange<'_>) -> bool {
        range.as_point().is_none_or(|key| self.state(key) == KeyState::Present)
    }

    fn rate_bound(&self, range_len: u64) -> f64 {
        if range_len == 1 { self.table.rate() } else { 1.0 }
    }

    /// Number of fingerprints: distinct keys ever inserted, less those that share one.
    fn key_count(&self) -> u64 {
        self.table.stored()
    }

    fn size_in_bytes(&self) -> usize {
        lacuna_base::ENVELOPE_BYTES + super::codec::Header::of(&self.table, self.seed).body_bytes() + 3
    }

    fn memory_bytes(&self) -> usize {
        self.bytes_of_all()
    }
}
