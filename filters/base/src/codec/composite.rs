//! Keys made of a prefix that queries always give whole, and an ordered suffix.

use std::ops::Bound;

use super::{CodecId, Cover, KeyCodec};
use crate::error::{Error, Result};
use crate::hash::hash_bytes;
use crate::range::U64Range;

/// Hashes the first `prefix` bytes and keeps the order of the `suffix` bytes after them: a sensor and a time, a user
/// and a message number. The key is `hash(prefix)` in the high bits and the suffix in the low `8 * suffix` bits.
///
/// Ends with different prefixes are [`Cover::Unknown`], but for the whole of one prefix (`[p, next(p))`). Bytes after
/// the suffix are rounded outward.
///
/// ```
/// use lacuna_base::{Composite, Cover, KeyCodec};
/// use std::ops::Bound::Included;
///
/// let codec = Composite::try_new(2, 4).expect("2 + 4 bytes");
/// let (lo, hi) = (*b"s1\0\0\0\x05", *b"s1\0\0\0\x09");
/// let Cover::Range(range) = codec.cover(Included(&lo[..]), Included(&hi[..])) else { panic!("same prefix") };
/// assert_eq!(range.hi() - range.lo(), 4);
/// assert!(matches!(codec.cover(Included(b"s1"), Included(b"s3")), Cover::Unknown));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Composite {
    prefix: usize,
    suffix: usize,
}

impl Composite {
    /// Number of this codec in the envelope.
    pub const NUMBER: u16 = 2;

    /// A codec for a prefix of `prefix` bytes and a suffix of `suffix` bytes.
    ///
    /// # Errors
    /// `InvalidInput` unless `1 <= prefix <= 65535` and `1 <= suffix <= 6`, so that 16 bits are left for the hash.
    pub fn try_new(prefix: usize, suffix: usize) -> Result<Self> {
        if (1..=65_535).contains(&prefix) && (1..=6).contains(&suffix) {
            Ok(Self { prefix, suffix })
        } else {
            Err(Error::invalid_input(format!(
                "codec composite:{prefix},{suffix} does not exist; give a prefix of 1 to 65535 bytes and a suffix of 1 to 6"
            )))
        }
    }

    fn suffix_bits(self) -> usize {
        8 * self.suffix
    }

    fn largest_suffix(self) -> u64 {
        (1 << self.suffix_bits()) - 1
    }

    fn hashed(self, prefix: &[u8]) -> u64 {
        hash_bytes(prefix, 0) & !self.largest_suffix()
    }

    /// The suffix of `bytes`, zeros where they end.
    fn suffix_of(self, bytes: &[u8]) -> u64 {
        let tail = bytes.get(self.prefix..).unwrap_or_default();
        let mut padded = [0; 8];
        let taken = tail.len().min(self.suffix);
        padded[8 - self.suffix..8 - self.suffix + taken].copy_from_slice(&tail[..taken]);
        u64::from_be_bytes(padded)
    }

    /// Whether `end` is the smallest string above every string with this prefix.
    fn ends_prefix(prefix: &[u8], end: &[u8]) -> bool {
        let kept = prefix.iter().rposition(|&byte| byte != 0xFF);
        kept.is_some_and(|last| end.split_last() == Some((&(prefix[last] + 1), &prefix[..last])))
    }
}

impl KeyCodec<u64> for Composite {
    fn id(&self) -> CodecId {
        CodecId { number: Self::NUMBER, parameter: (self.prefix * 8 + self.suffix) as u64 }
    }
    fn name(&self) -> String {
        format!("composite:{},{}", self.prefix, self.suffix)
    }
    fn key(&self, key: &[u8]) -> Result<u64> {
        let prefix = key.get(..self.prefix).unwrap_or(key);
        Ok(self.hashed(prefix) | self.suffix_of(key))
    }
    fn cover<'a>(&self, lo: Bound<&'a [u8]>, hi: Bound<&'a [u8]>) -> Cover<U64Range> {
        let (Bound::Included(lo_bytes) | Bound::Excluded(lo_bytes)) = lo else { return Cover::Unknown };
        let (Bound::Included(hi_bytes) | Bound::Excluded(hi_bytes)) = hi else { return Cover::Unknown };
        if crate::range::ByteRange::from_bounds(lo, hi).is_none() {
            return Cover::Empty;
        }
        let Some(prefix) = lo_bytes.get(..self.prefix) else { return Cover::Unknown };
        let last = if hi_bytes.get(..self.prefix) == Some(prefix) {
            self.suffix_of(hi_bytes)
        } else if matches!(hi, Bound::Excluded(_)) && Self::ends_prefix(prefix, hi_bytes) {
            self.largest_suffix()
        } else {
            return Cover::Unknown;
        };
        let hash = self.hashed(prefix);
        U64Range::new(hash | self.suffix_of(lo_bytes), hash | last).map_or(Cover::Empty, Cover::Range)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::range::ByteRange;

    fn string() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(vec![0u8, 1, 0xFE, 0xFF]), 0..6)
    }

    proptest! {
        #[test]
        fn every_key_inside_maps_into_the_cover(
            key in string(), lo in string(), hi in string(), kinds in (any::<bool>(), any::<bool>()),
        ) {
            let codec = Composite::try_new(2, 2).expect("2 + 2 bytes");
            let bound = |closed, bytes| if closed { Bound::Included(bytes) } else { Bound::Excluded(bytes) };
            let (lo, hi) = (bound(kinds.0, &lo[..]), bound(kinds.1, &hi[..]));
            let inside = ByteRange::from_bounds(lo, hi).is_some_and(|range| range.contains(&key));
            let mapped = codec.key(&key).expect("any key has a place");
            match codec.cover(lo, hi) {
                Cover::Range(range) => prop_assert!(!inside || range.contains(mapped), "{:?}", range),
                Cover::Empty => prop_assert!(!inside),
                Cover::Unknown => {}
            }
        }
    }

    #[test]
    fn a_whole_prefix_is_one_range() {
        let codec = Composite::try_new(2, 2).expect("2 + 2 bytes");
        let cover = codec.cover(Bound::Included(b"a\xFF"), Bound::Excluded(b"b"));
        let Cover::Range(range) = cover else { panic!("one prefix, not {cover:?}") };
        assert_eq!(range.hi() - range.lo(), 0xFFFF);
    }
}
