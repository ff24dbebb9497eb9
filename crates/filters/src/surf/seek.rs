//! The next key that may be there, in both directions; the rules are proved in `docs/design/surf-seek.md`.
//!
//! On the way down the path of `from`, the deepest branch that turns off to the wanted side is remembered, so that one
//! walk down that branch finds the neighbour and nothing is stacked up.

use std::cmp::Ordering;

use lacuna_core::{Candidate, RangeFilter, SeekCandidate};
use lacuna_succinct::arch::{Isa, Kernel, dispatch};

use super::codec::Body;
use super::filter::{Surf, Tail};
use super::key::{IntegerKey, PathKey, StringKey};
use crate::kind::FilterBytes;

/// Takes the bytes of a candidate.
pub(crate) trait Sink {
    /// Appends one byte.
    fn push(&mut self, byte: u8);
    /// Appends several.
    fn extend(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.push(byte));
    }
    /// Ends with the smallest key that goes on with these bits, which are the low ones of `bits`.
    fn end_low(&mut self, bits: u64, count: u32);
    /// Ends with the largest key that goes on with these bits; true: with the key behind all of them.
    fn end_high(&mut self, bits: u64, count: u32) -> bool;
}

/// Eight bytes of an integer.
#[derive(Debug, Default)]
struct IntegerSink {
    value: u64,
    free_bits: u32,
}

impl IntegerSink {
    fn new() -> Self {
        Self { value: 0, free_bits: 64 }
    }

    fn put(&mut self, bits: u64, count: u32) {
        let taken = count.min(self.free_bits);
        self.free_bits -= taken;
        self.value |= (bits.checked_shr(count - taken).unwrap_or(0)).checked_shl(self.free_bits).unwrap_or(0);
    }
}

impl Sink for IntegerSink {
    #[inline(always)]
    fn push(&mut self, byte: u8) {
        self.put(u64::from(byte), 8);
    }
    #[inline(always)]
    fn end_low(&mut self, bits: u64, count: u32) {
        self.put(bits, count);
    }
    #[inline(always)]
    fn end_high(&mut self, bits: u64, count: u32) -> bool {
        self.put(bits, count);
        self.value |= lacuna_succinct::bytes::low_mask(self.free_bits);
        false
    }
}

/// A byte string; starts with the common prefix.
impl Sink for Vec<u8> {
    #[inline(always)]
    fn push(&mut self, byte: u8) {
        Self::push(self, byte);
    }
    #[inline(always)]
    fn extend(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
    fn end_low(&mut self, bits: u64, count: u32) {
        let aligned = bits.checked_shl(64 - count).unwrap_or(0).to_be_bytes();
        // A key that ended before its suffix did reads as zeros, so zeros at the end may not be there.
        let used = aligned.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        self.extend_from_slice(&aligned[..used]);
    }
    fn end_high(&mut self, bits: u64, count: u32) -> bool {
        let aligned = bits.checked_shl(64 - count).unwrap_or(0);
        let filled = aligned | lacuna_succinct::bytes::low_mask(64 - count);
        self.extend_from_slice(&filled.to_be_bytes()[..count.div_ceil(8) as usize]);
        while self.pop_if(|last| *last == 0xFF).is_some() {}
        if let Some(last) = self.last_mut() {
            *last += 1;
        }
        true
    }
}

/// A walk's outcome, beside what it wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The sink holds a candidate.
    Written(Candidate),
    /// The key asked from may be there itself, or anything beyond it in its leaf; nothing was written.
    AskedKey,
}

const CERTAIN: Candidate = Candidate { is_certain: true, is_excluded: false };

impl Body {
    /// The smallest candidate at or above `from`.
    #[inline(always)]
    pub(crate) fn first<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        from: &impl PathKey,
        out: &mut impl Sink,
    ) -> Option<Place> {
        let path = from.path();
        let (mut node, mut later) = (self.trie.root(), None);
        for (depth, &label) in path.iter().enumerate() {
            let Some(slot) = self.trie.first_at_or_after(isa, bytes, node, u32::from(label)) else { break };
            if self.trie.label(bytes, slot) != label {
                later = Some((depth, slot));
                break;
            }
            later = self.trie.next_slot(bytes, slot).map(|slot| (depth, slot)).or(later);
            if !self.trie.has_child(bytes, slot) {
                match self.compare(isa, bytes, slot, from, depth + 1) {
                    Ordering::Less => break,
                    Ordering::Equal => return Some(Place::AskedKey),
                    Ordering::Greater => return self.leftmost(isa, bytes, &path[..depth], slot, out),
                }
            }
            node = self.trie.child(isa, bytes, slot);
            if depth + 1 == path.len() {
                // Every key here starts with `from`.
                return self.leftmost_below(isa, bytes, path, node, out);
            }
        }
        if path.is_empty() {
            return self.leftmost_below(isa, bytes, path, node, out);
        }
        let (depth, slot) = later?;
        self.leftmost(isa, bytes, &path[..depth], slot, out)
    }

    /// Writes the smallest key behind `path` and then `slot`.
    #[inline(always)]
    fn leftmost<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        path: &[u8],
        slot: u64,
        out: &mut impl Sink,
    ) -> Option<Place> {
        out.extend(path);
        let mut slot = slot;
        for _ in path.len()..self.trie.levels() {
            out.push(self.trie.label(bytes, slot));
            if !self.trie.has_child(bytes, slot) {
                let stored = self.trie.value(bytes, self.trie.leaf(isa, bytes, slot));
                out.end_low(self.suffixes.real(stored), self.suffixes.real_bits);
                return Some(Place::Written(CERTAIN));
            }
            let node = self.trie.child(isa, bytes, slot);
            if self.trie.mark(bytes, node) {
                return Some(Place::Written(CERTAIN));
            }
            slot = self.trie.first_at_or_after(isa, bytes, node, 0)?;
        }
        None
    }

    #[inline(always)]
    fn leftmost_below<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        path: &[u8],
        node: u64,
        out: &mut impl Sink,
    ) -> Option<Place> {
        if self.trie.mark(bytes, node) {
            out.extend(path);
            return Some(Place::Written(CERTAIN));
        }
        let slot = self.trie.first_at_or_after(isa, bytes, node, 0)?;
        self.leftmost(isa, bytes, path, slot, out)
    }

    /// The largest candidate at or below `from`.
    #[inline(always)]
    pub(crate) fn last<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        from: &impl PathKey,
        out: &mut impl Sink,
    ) -> Option<Place> {
        let path = from.path();
        // A slot to turn off at, or without one the mark of the node at that depth.
        let (mut node, mut earlier) = (self.trie.root(), None);
        if self.trie.mark(bytes, node) {
            earlier = Some((0, None));
        }
        for (depth, &label) in path.iter().enumerate() {
            let Some(slot) = self.trie.last_before(isa, bytes, node, u32::from(label) + 1) else { break };
            if self.trie.label(bytes, slot) != label {
                earlier = Some((depth, Some(slot)));
                break;
            }
            let before = self.trie.previous_slot(bytes, slot);
            earlier = before.map(|slot| (depth, Some(slot))).or(earlier);
            if !self.trie.has_child(bytes, slot) {
                match self.compare(isa, bytes, slot, from, depth + 1) {
                    Ordering::Greater => break,
                    Ordering::Equal => return Some(Place::AskedKey),
                    Ordering::Less => return self.rightmost(isa, bytes, &path[..depth], slot, out),
                }
            }
            node = self.trie.child(isa, bytes, slot);
            if self.trie.mark(bytes, node) {
                earlier = Some((depth + 1, None));
            }
        }
        match earlier? {
            (depth, Some(slot)) => self.rightmost(isa, bytes, &path[..depth], slot, out),
            (depth, None) => {
                out.extend(&path[..depth]);
                Some(Place::Written(CERTAIN))
            }
        }
    }

    /// The largest candidate of all.
    #[inline(always)]
    pub(crate) fn last_of_all<I: Isa>(&self, isa: I, bytes: &[u8], out: &mut impl Sink) -> Option<Place> {
        let root = self.trie.root();
        match self.trie.last_before(isa, bytes, root, 256) {
            Some(slot) => self.rightmost(isa, bytes, &[], slot, out),
            None if self.trie.mark(bytes, root) => Some(Place::Written(CERTAIN)),
            None => None,
        }
    }

    /// Writes the end of the largest keys behind `path` and then `slot`.
    #[inline(always)]
    fn rightmost<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        path: &[u8],
        slot: u64,
        out: &mut impl Sink,
    ) -> Option<Place> {
        out.extend(path);
        let mut slot = slot;
        for _ in path.len()..self.trie.levels() {
            out.push(self.trie.label(bytes, slot));
            if !self.trie.has_child(bytes, slot) {
                let stored = self.trie.value(bytes, self.trie.leaf(isa, bytes, slot));
                let is_excluded = out.end_high(self.suffixes.real(stored), self.suffixes.real_bits);
                return Some(Place::Written(Candidate { is_excluded, ..CERTAIN }));
            }
            let node = self.trie.child(isa, bytes, slot);
            slot = self.trie.last_before(isa, bytes, node, 256)?;
        }
        None
    }
}

/// A seek; `from` is `None` where it lies beyond all keys with the common prefix.
struct Seek<'a, K, S> {
    body: &'a Body,
    bytes: &'a [u8],
    from: Option<K>,
    is_first: bool,
    out: &'a mut S,
}

impl<K: PathKey, S: Sink> Kernel for Seek<'_, K, S> {
    type Output = Option<Place>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Option<Place> {
        match &self.from {
            Some(from) if self.is_first => self.body.first(isa, self.bytes, from, self.out),
            Some(from) => self.body.last(isa, self.bytes, from, self.out),
            None => self.body.last_of_all(isa, self.bytes, self.out),
        }
    }
}

/// What a filter without a body knows: keys may be anywhere between the ends.
const UNKNOWN: Candidate = Candidate { is_certain: false, is_excluded: false };

impl<B: FilterBytes> Surf<u64, B> {
    fn seek(&self, from: u64, is_first: bool, candidate: &mut u64) -> Option<Candidate> {
        let Some(body) = &self.body else { return self.seek_ends(from, is_first, candidate) };
        let (mut out, bytes) = (IntegerSink::new(), self.trie_bytes());
        let place =
            dispatch(Seek { body, bytes, from: Some(IntegerKey::new(from)), is_first, out: &mut out })?;
        Some(match place {
            Place::Written(found) => {
                *candidate = out.value;
                found
            }
            Place::AskedKey => {
                *candidate = from;
                UNKNOWN
            }
        })
    }

    /// As [`seek`](Self::seek), from the smallest and largest key alone; `from` lies strictly between them.
    fn seek_ends(&self, from: u64, is_first: bool, candidate: &mut u64) -> Option<Candidate> {
        let envelope = self.frame.envelope();
        let is_all = envelope.key_count <= 2;
        *candidate = match (is_all, is_first) {
            (false, _) => from,
            (true, true) => envelope.largest,
            (true, false) => envelope.smallest,
        };
        Some(Candidate { is_certain: is_all, is_excluded: false })
    }
}

impl<B: FilterBytes> SeekCandidate<u64> for Surf<u64, B> {
    fn first_candidate(&self, from: u64, candidate: &mut u64) -> Option<Candidate> {
        let envelope = self.frame.envelope();
        let end = if from <= envelope.smallest { Some(envelope.smallest) } else { None };
        if self.key_count() == 0 || from > envelope.largest {
            return None;
        }
        if let Some(end) = end.or(if from == envelope.largest { Some(from) } else { None }) {
            *candidate = end;
            return Some(CERTAIN);
        }
        self.seek(from, true, candidate)
    }

    fn last_candidate(&self, from: u64, candidate: &mut u64) -> Option<Candidate> {
        let envelope = self.frame.envelope();
        let end = if from >= envelope.largest { Some(envelope.largest) } else { None };
        if self.key_count() == 0 || from < envelope.smallest {
            return None;
        }
        if let Some(end) = end.or(if from == envelope.smallest { Some(from) } else { None }) {
            *candidate = end;
            return Some(CERTAIN);
        }
        self.seek(from, false, candidate)
    }
}

impl<B: FilterBytes> Surf<[u8], B> {
    fn seek(&self, from: &[u8], is_first: bool, candidate: &mut Vec<u8>) -> Option<Candidate> {
        candidate.clear();
        if self.key_count() == 0 {
            return None;
        }
        let prefix = self.frame.prefix();
        let tail = match (Tail::of(from, prefix), is_first) {
            (Tail::At(tail), _) => Some(StringKey(tail)),
            (Tail::Below, true) => Some(StringKey(&[])),
            (Tail::Above, false) => None,
            (Tail::Below, false) | (Tail::Above, true) => return None,
        };
        let asked = |candidate: &mut Vec<u8>| {
            candidate.clear();
            candidate.extend_from_slice(from);
            UNKNOWN
        };
        let Some(body) = &self.body else { return Some(asked(candidate)) };
        candidate.extend_from_slice(prefix);
        let place = dispatch(Seek { body, bytes: self.trie_bytes(), from: tail, is_first, out: candidate })?;
        Some(match place {
            Place::Written(found) => found,
            Place::AskedKey => asked(candidate),
        })
    }
}

impl<B: FilterBytes> SeekCandidate<[u8]> for Surf<[u8], B> {
    fn first_candidate(&self, from: &[u8], candidate: &mut Vec<u8>) -> Option<Candidate> {
        self.seek(from, true, candidate)
    }

    fn last_candidate(&self, from: &[u8], candidate: &mut Vec<u8>) -> Option<Candidate> {
        self.seek(from, false, candidate)
    }
}
