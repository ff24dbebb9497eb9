//! Keys that begin with a big-endian integer: a time and a name, a counter and a tag.

use std::ops::Bound;

use super::{CodecId, Cover, KeyCodec};
use crate::error::{Error, Result};
use crate::range::{ByteRange, U64Range};

/// Keeps the first `width` bytes of a key as a big-endian integer, zeros where the key ends, and forgets the rest.
///
/// Monotone, so keys stay in order; lossy, so ends with bytes after the head are rounded outward. An excluded
/// end that stops within the head stays excluded: `[t1, t2)` asks for `t1 ..= t2 - 1`.
///
/// ```
/// use lacuna_base::{Cover, Head, KeyCodec, U64Range};
/// use std::ops::Bound::{Excluded, Included};
///
/// let codec = Head::try_new(2).expect("1 to 8 bytes");
/// assert_eq!(codec.key(b"\x00\x07name").expect("any key has a head"), 7);
/// let range = U64Range::new(7, 8).expect("7 <= 8");
/// assert_eq!(codec.cover(Included(b"\x00\x07name"), Excluded(b"\x00\x09")), Cover::Range(range));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    width: usize,
}

impl Head {
    /// Number of this codec in the envelope.
    pub const NUMBER: u16 = 3;

    /// A codec for the first `width` bytes.
    ///
    /// # Errors
    /// `InvalidInput` unless `1 <= width <= 8`.
    pub fn try_new(width: usize) -> Result<Self> {
        if (1..=8).contains(&width) {
            Ok(Self { width })
        } else {
            Err(Error::invalid_input(format!("codec head:{width} does not exist; give 1 to 8 bytes")))
        }
    }

    fn head(self, bytes: &[u8]) -> u64 {
        let mut padded = [0; 8];
        let taken = bytes.len().min(self.width);
        padded[8 - self.width..8 - self.width + taken].copy_from_slice(&bytes[..taken]);
        u64::from_be_bytes(padded)
    }

    /// Whether every string before `end` has a smaller head: `end` stops within the head and not in a zero, which the
    /// padding of a shorter string would equal.
    fn ends_sharply(self, end: &[u8]) -> bool {
        end.len() <= self.width && end.last().is_some_and(|&byte| byte != 0)
    }
}

impl KeyCodec<u64> for Head {
    fn id(&self) -> CodecId {
        CodecId { number: Self::NUMBER, parameter: self.width as u64 }
    }
    fn name(&self) -> String {
        format!("head:{}", self.width)
    }
    fn key(&self, key: &[u8]) -> Result<u64> {
        Ok(self.head(key))
    }
    fn cover<'a>(&self, lo: Bound<&'a [u8]>, hi: Bound<&'a [u8]>) -> Cover<U64Range> {
        if ByteRange::from_bounds(lo, hi).is_none() {
            return Cover::Empty;
        }
        let first = match lo {
            Bound::Included(bytes) | Bound::Excluded(bytes) => self.head(bytes),
            Bound::Unbounded => 0,
        };
        let last = match hi {
            Bound::Included(bytes) => self.head(bytes),
            Bound::Excluded(bytes) => self.head(bytes) - u64::from(self.ends_sharply(bytes)),
            Bound::Unbounded => u64::MAX >> (64 - 8 * self.width),
        };
        U64Range::new(first, last).map_or(Cover::Empty, Cover::Range)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn string() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(vec![0u8, 1, 0xFE, 0xFF]), 0..5)
    }

    fn bound(kind: u8, bytes: &[u8]) -> Bound<&[u8]> {
        match kind {
            0 => Bound::Included(bytes),
            1 => Bound::Excluded(bytes),
            _ => Bound::Unbounded,
        }
    }

    proptest! {
        #[test]
        fn every_key_inside_maps_into_the_cover(
            key in string(), lo in string(), hi in string(), kinds in (0u8..3, 0u8..3),
        ) {
            let codec = Head::try_new(2).expect("2 bytes");
            let (lo, hi) = (bound(kinds.0, &lo), bound(kinds.1, &hi));
            let inside = ByteRange::from_bounds(lo, hi).is_some_and(|range| range.contains(&key));
            let mapped = codec.key(&key).expect("any key has a head");
            match codec.cover(lo, hi) {
                Cover::Range(range) => prop_assert!(!inside || range.contains(mapped), "{:?}", range),
                Cover::Empty => prop_assert!(!inside),
                Cover::Unknown => prop_assert!(false, "a head is always known"),
            }
        }

        #[test]
        fn heads_keep_the_order(a in string(), b in string()) {
            let codec = Head::try_new(3).expect("3 bytes");
            let (small, large) = if a <= b { (a, b) } else { (b, a) };
            prop_assert!(codec.key(&small).expect("any key") <= codec.key(&large).expect("any key"));
        }
    }
}
