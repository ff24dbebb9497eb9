//! The walks to the next key that may be there, in both directions; the rules are proved in `docs/design/surf-seek.md`.
//!
//! On the way down the path of `from`, the deepest branch that turns off to the wanted side is remembered, so that one
//! walk down that branch finds the neighbour and nothing is stacked up.

use std::cmp::Ordering;

use lacuna_core::Candidate;
use lacuna_succinct::arch::Isa;

use super::codec::Body;
use super::key::PathKey;
use super::sink::Sink;

/// A walk's outcome, beside what it wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The sink holds a candidate.
    Written(Candidate),
    /// The key asked from may be there itself, or anything beyond it in its leaf; nothing was written.
    AskedKey,
}

/// A key is there, at the candidate or beyond it in its leaf.
pub(crate) const CERTAIN: Candidate = Candidate { is_certain: true, is_excluded: false };

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
