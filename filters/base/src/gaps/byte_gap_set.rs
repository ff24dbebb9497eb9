//! Gaps between byte strings.

use std::array;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::gap_window::{GapWindow, MAX_PREFIX, WORDS};
use super::intervals::Intervals;
use crate::range::ByteRange;

/// Words that hold the prefix.
const PREFIX_WORDS: usize = MAX_PREFIX / 8;

/// A bounded set of gaps between the byte strings of one immutable file.
///
/// A gap is kept as an interval of the 32 bytes after the file's common prefix, 65 bytes whatever the length of the
/// keys; neighbours that agree in all of them are not kept apart, and their gap is not kept.
///
/// ```
/// use lacuna_base::{ByteGapSet, ByteRange};
///
/// let gaps = ByteGapSet::within(4_096);
/// gaps.clear_for(b"user:adam", b"user:zoe");
/// gaps.learn_between(Some(b"user:adam"), Some(b"user:eve"));
/// assert!(gaps.is_known_empty(ByteRange::new(b"user:bob", b"user:dan").expect("ascending")));
/// assert!(!gaps.is_known_empty(ByteRange::new(b"user:bob", b"user:eve").expect("ascending")));
/// ```
pub struct ByteGapSet {
    intervals: Intervals<WORDS>,
    /// The file's common prefix, read and written as the intervals are.
    prefix: [AtomicU64; PREFIX_WORDS],
    prefix_len: AtomicU64,
}

impl ByteGapSet {
    /// Bytes one interval takes: two ends and its clock bit.
    pub const INTERVAL_BYTES: usize = Intervals::<WORDS>::INTERVAL_BYTES;

    /// A set for a file of any keys that takes at most `memory_bytes` of memory, itself included; if that is too little
    /// for an interval, it learns nothing.
    pub fn within(memory_bytes: usize) -> Self {
        Self {
            intervals: Intervals::within(memory_bytes.saturating_sub(size_of::<Self>())),
            prefix: array::from_fn(|_| AtomicU64::new(0)),
            prefix_len: AtomicU64::new(0),
        }
    }

    /// Forgets everything, for the use by a file with this `smallest` and `largest` key, whose common prefix every key
    /// of the file has.
    pub fn clear_for(&self, smallest: &[u8], largest: &[u8]) {
        let common = smallest.iter().zip(largest).take_while(|(a, b)| a == b).count().min(MAX_PREFIX);
        let mut bytes = [0; MAX_PREFIX];
        bytes[..common].copy_from_slice(&smallest[..common]);
        self.intervals.clear(|| {
            for (word, bytes) in self.prefix.iter().zip(bytes.chunks_exact(8)) {
                let bytes = bytes.first_chunk().expect("chunks of eight bytes");
                word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
            }
            self.prefix_len.store(common as u64, Ordering::Relaxed);
        });
    }

    /// Whether every string of `range` lies in a gap that was learned. Takes no lock and allocates nothing.
    pub fn is_known_empty(&self, range: ByteRange<'_>) -> bool {
        self.intervals.holds(|| self.with_window(|window| window.cover(range)))
    }

    /// Notes that the file holds no key between its keys `below` and `above`, neither of which is in the gap; `None`
    /// where it holds none at all on that side.
    pub fn learn_between(&self, below: Option<&[u8]>, above: Option<&[u8]>) {
        self.intervals.add(|| self.with_window(|window| window.between(below, above)));
    }

    fn with_window<T>(&self, ask: impl FnOnce(GapWindow<'_>) -> T) -> T {
        let mut bytes = [0; MAX_PREFIX];
        for (word, bytes) in self.prefix.iter().zip(bytes.chunks_exact_mut(8)) {
            bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
        }
        let len = usize::try_from(self.prefix_len.load(Ordering::Relaxed)).unwrap_or(0);
        ask(GapWindow { prefix: &bytes[..len.min(MAX_PREFIX)] })
    }

    /// Number of intervals.
    pub fn len(&self) -> usize {
        self.intervals.len()
    }

    /// Whether nothing was learned.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Most intervals it can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.intervals.capacity()
    }

    /// Bytes of memory it takes, however many intervals it holds.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.intervals.memory_bytes()
    }
}

impl fmt::Debug for ByteGapSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteGapSet").field("len", &self.len()).field("capacity", &self.capacity()).finish()
    }
}

#[cfg(test)]
#[path = "byte_gap_set_tests.rs"]
mod tests;
