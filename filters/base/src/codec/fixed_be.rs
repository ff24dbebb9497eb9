//! Keys of a fixed width as big-endian integers.

use std::ops::Bound;

use super::{CodecId, Cover, KeyCodec};
use crate::error::{Error, Result};
use crate::range::U64Range;

/// Keys that are big-endian unsigned integers of exactly `width` bytes, mapped to `u64` exactly.
///
/// Bounds may have any length: shorter and longer ones are rounded to the keys they enclose.
///
/// ```
/// use lacuna_base::{Cover, FixedBe, KeyCodec, U64Range};
/// use std::ops::Bound::{Excluded, Included};
///
/// let codec = FixedBe::try_new(2).expect("1 to 8 bytes");
/// let range = U64Range::new(10, 255).expect("10 <= 255");
/// assert_eq!(codec.cover(Excluded(&[0, 9]), Excluded(&[1])), Cover::Range(range));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedBe {
    width: usize,
}

impl FixedBe {
    /// Number of this codec in the envelope.
    pub const NUMBER: u16 = 1;

    /// A codec for keys of `width` bytes.
    ///
    /// # Errors
    /// `InvalidInput` unless `1 <= width <= 8`.
    pub fn try_new(width: usize) -> Result<Self> {
        if (1..=8).contains(&width) {
            Ok(Self { width })
        } else {
            Err(Error::invalid_input(format!("codec fixed_be:{width} does not exist; give 1 to 8 bytes")))
        }
    }

    fn largest(self) -> u64 {
        u64::MAX >> (64 - 8 * self.width)
    }

    /// The integer in the first `width` bytes, zeros where `bytes` ends.
    fn head(self, bytes: &[u8]) -> u64 {
        let mut padded = [0; 8];
        let taken = bytes.len().min(self.width);
        padded[8 - self.width..8 - self.width + taken].copy_from_slice(&bytes[..taken]);
        u64::from_be_bytes(padded)
    }

    /// Smallest key integer at or above the lower bound; `None` if there is none.
    fn first_at(self, lo: Bound<&[u8]>) -> Option<u64> {
        let (bytes, excluded) = match lo {
            Bound::Unbounded => return Some(0),
            Bound::Included(bytes) => (bytes, false),
            Bound::Excluded(bytes) => (bytes, true),
        };
        // A shorter bound stands before the key that starts with it, so that key is inside even if it is excluded.
        let skip = bytes.len() > self.width || (excluded && bytes.len() == self.width);
        let first = self.head(bytes).checked_add(u64::from(skip))?;
        if first <= self.largest() { Some(first) } else { None }
    }

    /// Largest key integer at or below the upper bound; `None` if there is none.
    fn last_at(self, hi: Bound<&[u8]>) -> Option<u64> {
        let (bytes, excluded) = match hi {
            Bound::Unbounded => return Some(self.largest()),
            Bound::Included(bytes) => (bytes, false),
            Bound::Excluded(bytes) => (bytes, true),
        };
        let skip = bytes.len() < self.width || (excluded && bytes.len() == self.width);
        self.head(bytes).checked_sub(u64::from(skip))
    }
}

impl KeyCodec<u64> for FixedBe {
    fn id(&self) -> CodecId {
        CodecId { number: Self::NUMBER, parameter: self.width as u64 }
    }
    fn name(&self) -> String {
        format!("fixed_be:{}", self.width)
    }
    fn key(&self, key: &[u8]) -> Result<u64> {
        if key.len() == self.width {
            Ok(self.head(key))
        } else {
            Err(Error::invalid_input(format!(
                "a key has {} bytes, but codec fixed_be:{} takes keys of exactly {}; use codec bytes",
                key.len(),
                self.width,
                self.width
            )))
        }
    }
    fn cover<'a>(&self, lo: Bound<&'a [u8]>, hi: Bound<&'a [u8]>) -> Cover<U64Range> {
        let ends = self.first_at(lo).zip(self.last_at(hi));
        ends.and_then(|(lo, hi)| U64Range::new(lo, hi)).map_or(Cover::Empty, Cover::Range)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::range::ByteRange;

    proptest! {
        #[test]
        fn the_cover_is_exact(
            key in any::<[u8; 2]>(),
            lo in prop::collection::vec(0u8..3, 0..4),
            hi in prop::collection::vec(0u8..3, 0..4),
            (lo_kind, hi_kind) in (0u8..3, 0u8..3),
        ) {
            let key = [key[0] % 3, key[1] % 3];
            let bound = |kind, bytes: &'static [u8]| match kind {
                0 => Bound::Included(bytes),
                1 => Bound::Excluded(bytes),
                _ => Bound::Unbounded,
            };
            let (lo, hi): (&'static [u8], &'static [u8]) = (lo.leak(), hi.leak());
            let codec = FixedBe::try_new(2).expect("2 bytes");
            let (lo, hi) = (bound(lo_kind, lo), bound(hi_kind, hi));
            let inside = ByteRange::from_bounds(lo, hi).is_some_and(|range| range.contains(&key));
            let covered = match codec.cover(lo, hi) {
                Cover::Range(range) => range.contains(codec.key(&key).expect("2 bytes")),
                Cover::Empty | Cover::Unknown => false,
            };
            prop_assert_eq!(inside, covered);
        }
    }
}
