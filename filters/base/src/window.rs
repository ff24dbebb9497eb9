//! An order-preserving window of up to eight bytes after a common prefix: how byte strings reach integer filters.
//!
//! All keys of a file usually share a prefix, and the bytes that distinguish them stand right after it. `Window`
//! compares a byte string with that prefix and reads the next bytes as a big-endian integer, zeros where the string
//! ends: with prefix `"user"` and a width of two, `"userA"` becomes `0x4100`. A width no larger than the keys need
//! keeps neighbours one apart, so that a short range of keys is a short range of integers. The map is monotone (`a <=
//! b` gives `position(a) <= position(b)`), so a range of strings maps onto a closed range of integers that holds all
//! its keys. It loses what stands after the window: strings that differ only there share one integer.

use crate::range::{ByteRange, U64Range};

/// Where a byte string stands relative to all strings with the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// Before every string with the prefix.
    Below,
    /// It has the prefix; the window after it reads this.
    At(u64),
    /// After every string with the prefix.
    Above,
}

/// The window of `width` bytes after `prefix`.
///
/// ```
/// use lacuna_base::{Position, Window};
///
/// let window = Window::new(b"user", 2);
/// assert_eq!(window.position(b"userA"), Position::At(0x4100));
/// assert_eq!(window.position(b"use"), Position::Below);
/// assert_eq!(window.position(b"usf"), Position::Above);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window<'p> {
    prefix: &'p [u8],
    width: usize,
}

impl<'p> Window<'p> {
    /// Most bytes a window reads.
    pub const MAX_WIDTH: usize = 8;

    /// The window of `width` bytes (1 to 8; values outside are moved to the nearest) after `prefix`.
    #[inline]
    pub fn new(prefix: &'p [u8], width: usize) -> Self {
        Self { prefix, width: width.clamp(1, Self::MAX_WIDTH) }
    }

    /// The prefix.
    pub fn prefix(&self) -> &'p [u8] {
        self.prefix
    }

    /// Bytes it reads.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The largest integer it reads.
    #[inline]
    pub fn largest(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.width)
    }

    /// Number of leading bytes that `first` and `last` share; all keys between them share them too.
    pub fn common_prefix_len(first: &[u8], last: &[u8]) -> usize {
        first.iter().zip(last).take_while(|(a, b)| a == b).count()
    }

    /// Where `key` stands.
    #[inline]
    pub fn position(&self, key: &[u8]) -> Position {
        match key.get(..self.prefix.len()) {
            Some(head) if head == self.prefix => Position::At(self.read(&key[self.prefix.len()..])),
            Some(head) if head < self.prefix => Position::Below,
            Some(_) => Position::Above,
            // A string shorter than the prefix is before it, even if it is a prefix of the prefix.
            None if key < self.prefix => Position::Below,
            None => Position::Above,
        }
    }

    /// The closed integer range that holds the window of every key of `range` with the prefix; `None` if no key of
    /// the range can have the prefix.
    #[inline]
    pub fn cover(&self, range: ByteRange<'_>) -> Option<U64Range> {
        let lo = match self.position(range.lo()) {
            Position::Below => 0,
            Position::At(window) => window,
            Position::Above => return None,
        };
        let Some(end) = range.hi() else { return U64Range::new(lo, self.largest()) };
        let hi = match self.position(end) {
            Position::Below => return None,
            Position::At(window) if range.hi_excluded() && self.ends_sharply(end) => window.checked_sub(1)?,
            Position::At(window) => window,
            Position::Above => self.largest(),
        };
        U64Range::new(lo, hi)
    }

    /// Whether every string before `end` also reads less than `end` in the window: `end` stops inside the window and
    /// not in a zero, so that no padding can make a smaller string look equal.
    fn ends_sharply(&self, end: &[u8]) -> bool {
        let inside = end.len() <= self.prefix.len() + self.width;
        let sharp = end.len() == self.prefix.len() || end.last() != Some(&0);
        inside && sharp
    }

    /// The first bytes of `tail`, big-endian, zeros where it ends.
    #[inline]
    fn read(&self, tail: &[u8]) -> u64 {
        let eight = match tail.first_chunk::<8>() {
            Some(whole) => u64::from_be_bytes(*whole),
            None => {
                let mut padded = [0; Self::MAX_WIDTH];
                padded[..tail.len()].copy_from_slice(tail);
                u64::from_be_bytes(padded)
            }
        };
        eight >> (64 - 8 * self.width)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use proptest::prelude::*;

    use super::*;

    fn short_string() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(vec![0u8, 1, b'a', 0xFF]), 0..12)
    }

    fn bound(kind: u8, key: &[u8]) -> Bound<&[u8]> {
        match kind {
            0 => Bound::Included(key),
            1 => Bound::Excluded(key),
            _ => Bound::Unbounded,
        }
    }

    proptest! {
        #[test]
        fn positions_keep_the_order(prefix in short_string(), width in 1usize..9, a in short_string(), b in short_string()) {
            let window = Window::new(&prefix, width);
            let (small, large) = if a <= b { (a, b) } else { (b, a) };
            prop_assert!(window.position(&small) <= window.position(&large));
        }

        #[test]
        fn every_key_of_a_range_lies_in_its_cover(
            prefix in short_string(),
            tail in short_string(),
            (lo, lo_kind) in (short_string(), 0u8..3),
            (hi, hi_kind) in (short_string(), 0u8..3),
            (inside, width) in (any::<bool>(), 1usize..9),
        ) {
            let key = [prefix.as_slice(), &tail].concat();
            let (lo, hi) = if inside { ([&prefix[..], &lo].concat(), [&prefix[..], &hi].concat()) } else { (lo, hi) };
            let window = Window::new(&prefix, width);
            let Some(range) = ByteRange::from_bounds(bound(lo_kind, &lo), bound(hi_kind, &hi)) else { return Ok(()) };
            if range.contains(&key) {
                let Position::At(at) = window.position(&key) else { panic!("the key has the prefix") };
                let cover = window.cover(range);
                prop_assert!(cover.is_some_and(|cover| cover.contains(at)), "{range:?} {cover:?} {at:#x}");
            }
        }
    }

    #[test]
    fn an_excluded_end_inside_the_window_stays_excluded() {
        let window = Window::new(b"k", 8);
        let range =
            ByteRange::from_bounds(Bound::Included(b"ka"), Bound::Excluded(b"kb")).expect("not empty");
        let cover = window.cover(range).expect("has the prefix");
        assert_eq!(cover.hi(), 0x6200_0000_0000_0000 - 1);
    }

    #[test]
    fn an_excluded_end_in_a_zero_is_included() {
        let window = Window::new(b"", 8);
        let range =
            ByteRange::from_bounds(Bound::Included(b"k"), Bound::Excluded(b"k\0")).expect("holds \"k\"");
        assert!(window.cover(range).is_some_and(|cover| cover.contains(0x6B00_0000_0000_0000)));
    }
}
