//! Reading a map: the place of a string, and the cover of a range.

use super::interval::{Interval, WordInterval};
use super::long::{LongInterval, LongPlace};
use super::{BYTE_SET, HEADER_BYTES, NODE_LOG2, ROW_LOG2};
use crate::range::{ByteRange, U64Range};

/// A place map as a view of its bytes; any bytes give places, only those that were built for the keys give good ones.
#[derive(Debug, Clone, Copy)]
pub struct PlaceMap<'m> {
    bytes: &'m [u8],
    bits: u32,
    alphabet: &'m [u8; BYTE_SET],
    contexts: &'m [u8; BYTE_SET],
    symbols: usize,
    nodes: &'m [u8],
}

/// Where a string stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place<A> {
    pub(super) at: A,
    /// Whether every smaller string has a smaller place, and every larger one a larger.
    pub(super) is_sharp: bool,
}

impl<A> Place<A> {
    fn sharp(at: A) -> Self {
        Self { at, is_sharp: true }
    }
    fn shared(at: A) -> Self {
        Self { at, is_sharp: false }
    }
}

/// The way on from a node.
enum Step<'k, I: Interval> {
    Node(usize, I, &'k [u8]),
    Below(I, u8, &'k [u8]),
    End(Place<I::At>),
}

impl<'m> PlaceMap<'m> {
    /// The map in `bytes`, read in constant time; `None` if they are no map.
    #[inline]
    pub fn new(bytes: &'m [u8]) -> Option<Self> {
        let &[bits, rows, ..] = bytes else { return None };
        let (alphabet, rest) = bytes.get(2..)?.split_first_chunk::<BYTE_SET>()?;
        let (contexts, _) = rest.split_first_chunk::<BYTE_SET>()?;
        let symbols = ones(alphabet);
        let nodes = bytes.get(HEADER_BYTES + usize::from(rows) * symbols * 2..)?;
        let bits = u32::from(bits);
        let known = (1..=64).contains(&bits) && rows > 0;
        known.then_some(Self { bytes, bits, alphabet, contexts, symbols, nodes })
    }

    /// Bits of a place.
    #[inline]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The largest place.
    #[inline]
    pub fn largest(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &'m [u8] {
        self.bytes
    }

    /// The place of `key`.
    #[inline]
    pub fn place(&self, key: &[u8]) -> u64 {
        self.shifted(self.locate::<WordInterval>(key).at)
    }

    /// The closed range of places that holds the place of every key of `range`; `None` if it holds no string.
    #[inline]
    pub fn cover(&self, range: ByteRange<'_>) -> Option<U64Range> {
        let lo = self.locate::<WordInterval>(range.lo());
        // A point is walked once.
        if range.as_point().is_some() {
            return Some(U64Range::point(self.shifted(lo.at)));
        }
        let first = if range.lo_excluded() && lo.is_sharp { lo.at.checked_add(1)? } else { lo.at };
        let last = match range.hi().map(|end| self.locate::<WordInterval>(end)) {
            None => u64::MAX,
            Some(end) if range.hi_excluded() && end.is_sharp => end.at.checked_sub(1)?,
            Some(end) => end.at,
        };
        if first <= last { U64Range::new(self.shifted(first), self.shifted(last)) } else { None }
    }

    /// The place of `key` in 512 bits, whatever the bits of the map are.
    #[inline]
    pub fn long_place(&self, key: &[u8]) -> LongPlace {
        self.locate::<LongInterval>(key).at
    }

    /// The first and the last of the long places that the keys of `range` may have; `None` if it holds no string.
    #[inline]
    pub fn long_cover(&self, range: ByteRange<'_>) -> Option<(LongPlace, LongPlace)> {
        let lo = self.locate::<LongInterval>(range.lo());
        if range.as_point().is_some() {
            return Some((lo.at, lo.at));
        }
        let first = if range.lo_excluded() && lo.is_sharp { lo.at.after()? } else { lo.at };
        let last = match range.hi().map(|end| self.locate::<LongInterval>(end)) {
            None => LongPlace::MAX,
            Some(end) if range.hi_excluded() && end.is_sharp => end.at.before()?,
            Some(end) => end.at,
        };
        if first <= last { Some((first, last)) } else { None }
    }

    #[inline(always)]
    fn shifted(&self, at: u64) -> u64 {
        at >> (64 - self.bits)
    }

    /// Walks the trie, then the rows.
    pub(super) fn locate<I: Interval>(&self, key: &[u8]) -> Place<I::At> {
        let (mut node, mut interval, mut rest) = (0, I::ALL, key);
        loop {
            match self.step(node, interval, rest) {
                Step::Node(next, narrower, after) => (node, interval, rest) = (next, narrower, after),
                Step::Below(narrower, before, after) => return self.below(narrower, before, after),
                Step::End(place) => return place,
            }
        }
    }

    /// Where a walk of `key` leaves the trie, and the byte before; the end of the key and more if it never does.
    pub(super) fn left_at(&self, key: &[u8]) -> (usize, u8) {
        let (mut node, mut interval, mut rest) = (0, WordInterval::ALL, key);
        loop {
            match self.step(node, interval, rest) {
                Step::Node(next, narrower, after) => (node, interval, rest) = (next, narrower, after),
                Step::Below(_, before, after) => return (key.len() - after.len(), before),
                Step::End(_) => return (key.len() + 1, 0),
            }
        }
    }

    /// One node: its label, then the next byte.
    #[inline(always)]
    fn step<'k, I: Interval>(&self, node: usize, interval: I, key: &'k [u8]) -> Step<'k, I> {
        if !interval.is_divisible() {
            return Step::End(Place::shared(interval.lo()));
        }
        let Some(Node { label, bytes, starts, deep }) = self.node(node) else {
            return Step::End(Place::shared(interval.lo()));
        };
        let (interval, rest) = match key.strip_prefix(label) {
            Some(rest) if label.is_empty() => (interval, rest),
            Some(rest) => (interval.between_gaps(), rest),
            None if key < label => return Step::End(Place::shared(interval.lo())),
            None => return Step::End(Place::shared(interval.gap())),
        };
        if bytes.is_empty() {
            return Step::Below(interval, label.last().copied().unwrap_or_default(), rest);
        }
        if !interval.is_divisible() {
            return Step::End(Place::shared(interval.lo()));
        }
        let Some((&byte, rest)) = rest.split_first() else { return Step::End(Place::sharp(interval.lo())) };
        let child = bytes.partition_point(|&known| known < byte);
        let start = |child: usize| starts.get(child).map_or(1 << NODE_LOG2, |&start| u32::from(start));
        if bytes.get(child) != Some(&byte) {
            let before = if child == 0 { 0 } else { start(child - 1) };
            return Step::End(Place::shared(interval.units(before, start(child), NODE_LOG2).gap()));
        }
        let inner = interval.units(start(child), start(child + 1), NODE_LOG2).inner();
        match deep.iter().find(|[index, ..]| usize::from(*index) == child) {
            // A node is at least one byte further, so that walks end.
            Some(&[_, low, high]) => Step::Node(usize::from(u16::from_le_bytes([low, high])), inner, rest),
            None => Step::Below(inner, byte, rest),
        }
    }

    /// Below the trie, after the byte `before`: a row for each byte.
    #[inline(always)]
    fn below<I: Interval>(&self, mut interval: I, mut before: u8, key: &[u8]) -> Place<I::At> {
        for &byte in key {
            if !interval.is_divisible() {
                return Place::shared(interval.lo());
            }
            let row = self.row(before);
            let rank = rank(self.alphabet, byte);
            let start = |symbol: usize| match symbol {
                0 => 0,
                _ => row.get(symbol - 1).map_or(1 << ROW_LOG2, |&start| u32::from(u16::from_le_bytes(start))),
            };
            // Symbol 0 is the end of a string.
            if !has(self.alphabet, byte) {
                return Place::shared(interval.units(start(rank), start(rank + 1), ROW_LOG2).gap());
            }
            interval = interval.units(start(rank + 1), start(rank + 2), ROW_LOG2).inner();
            before = byte;
        }
        Place { at: interval.lo(), is_sharp: interval.is_divisible() }
    }

    /// The starts of all symbols but the first in the row after the byte `before`.
    #[inline(always)]
    fn row(&self, before: u8) -> &'m [[u8; 2]] {
        let row = if has(self.contexts, before) { 1 + rank(self.contexts, before) } else { 0 };
        let at = HEADER_BYTES + row * self.symbols * 2;
        self.bytes.get(at..at + self.symbols * 2).unwrap_or_default().as_chunks::<2>().0
    }

    #[inline(always)]
    fn node(&self, at: usize) -> Option<Node<'m>> {
        let (&label_len, rest) = self.nodes.get(at..)?.split_first()?;
        let (label, rest) = rest.split_at_checked(usize::from(label_len))?;
        let (&children, rest) = rest.split_first()?;
        let (bytes, rest) = rest.split_at_checked(usize::from(children))?;
        let (starts, rest) = rest.split_at_checked(usize::from(children))?;
        let (&deep, rest) = rest.split_first()?;
        let deep = rest.get(..usize::from(deep) * 3)?.as_chunks::<3>().0;
        Some(Node { label, bytes, starts, deep })
    }
}

/// A node of the trie.
struct Node<'m> {
    /// What all strings below it go on with.
    label: &'m [u8],
    /// The next bytes, ascending.
    bytes: &'m [u8],
    /// Where each begins, in units; before the first is the end of a string.
    starts: &'m [u8],
    /// Children that are nodes: their number, and their offset.
    deep: &'m [[u8; 3]],
}

/// Members of a set.
fn ones(set: &[u8; BYTE_SET]) -> usize {
    words(set).map(|word| word.count_ones() as usize).sum()
}

/// Members of a set below `byte`.
#[inline(always)]
fn rank(set: &[u8; BYTE_SET], byte: u8) -> usize {
    let (word, bit) = (usize::from(byte / 64), u32::from(byte % 64));
    let whole: u32 = words(set).take(word).map(u64::count_ones).sum();
    let part = words(set).nth(word).map_or(0, |last| (last & ((1 << bit) - 1)).count_ones());
    (whole + part) as usize
}

#[inline(always)]
fn has(set: &[u8; BYTE_SET], byte: u8) -> bool {
    set[usize::from(byte / 8)] >> (byte % 8) & 1 == 1
}

#[inline(always)]
fn words(set: &[u8; BYTE_SET]) -> impl Iterator<Item = u64> {
    set.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word))
}
