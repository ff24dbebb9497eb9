//! How a gap between byte strings becomes an interval of fixed size: 32 bytes after the file's common prefix.
//!
//! The map from a string to its *code* (the next 32 bytes as a number, zeros where the string ends) keeps the order
//! but drops the bytes after them: two strings may share a code. So the code of a key of the file is never part of a
//! gap, and the gap between `below` and `above` is what lies **strictly** between their codes: `x <= below` has a code
//! at or below that of `below`, hence every string with a larger code is above `below`; likewise on the other side.
//! With a window of two bytes and the neighbours `"ab"` and `"axe"`, the gap is `"ac"` to `"aw\xFF..."`; `"axd"` is in
//! the real gap, but not in this one.

use std::array;

use super::intervals::{Code, Interval, predecessor, successor};
use crate::range::ByteRange;

/// Words of a code.
pub(super) const WORDS: usize = 4;
/// Bytes of a code.
pub(super) const CODE_BYTES: usize = 8 * WORDS;
/// Most bytes of a file's common prefix that are looked at; a part of the prefix serves as well as all of it.
pub(super) const MAX_PREFIX: usize = 64;

/// The window after `prefix`.
#[derive(Debug, Clone, Copy)]
pub(super) struct GapWindow<'p> {
    pub(super) prefix: &'p [u8],
}

impl GapWindow<'_> {
    /// The codes strictly between those of two neighbours; `None` on a side where the file holds no key at all.
    /// The gap is empty between neighbours of equal or adjacent codes, and for a neighbour without the prefix, whose
    /// code is not known.
    pub(super) fn between(self, below: Option<&[u8]>, above: Option<&[u8]>) -> Option<Interval<WORDS>> {
        let lo = match below {
            Some(key) => successor(self.code(key)?)?,
            None => [0; WORDS],
        };
        let hi = match above {
            Some(key) => predecessor(self.code(key)?)?,
            None => [u64::MAX; WORDS],
        };
        if lo <= hi { Some(Interval { lo, hi }) } else { None }
    }

    /// The codes of all strings of `range`; `None` if they do not all have the prefix.
    pub(super) fn cover(self, range: ByteRange<'_>) -> Option<Interval<WORDS>> {
        let lo = self.code(range.lo())?;
        let end = range.hi()?;
        let hi = self.code(end)?;
        let hi = if range.hi_excluded() && self.ends_sharply(end) { predecessor(hi)? } else { hi };
        if lo <= hi { Some(Interval { lo, hi }) } else { None }
    }

    /// Whether every string before `end` has a smaller code: `end` stops within the window and not in a zero, which the
    /// padding of a shorter string would equal.
    fn ends_sharply(self, end: &[u8]) -> bool {
        let tail_bytes = end.len() - self.prefix.len();
        (1..=CODE_BYTES).contains(&tail_bytes) && end.last() != Some(&0)
    }

    fn code(self, key: &[u8]) -> Option<Code<WORDS>> {
        let tail = key.strip_prefix(self.prefix)?;
        let mut bytes = [0; CODE_BYTES];
        let taken = tail.len().min(CODE_BYTES);
        bytes[..taken].copy_from_slice(&tail[..taken]);
        Some(array::from_fn(|at| {
            u64::from_be_bytes(*bytes[8 * at..].first_chunk().expect("four words of eight bytes"))
        }))
    }
}
