//! The walks to the next key that may be there, in both directions; the rules are proved in [`docs/design/surf-seek.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/surf-seek.md).
//!
//! On the way down the path of `from`, the deepest branch that turns off to the wanted side is remembered, so that one
//! walk down that branch finds the neighbour and nothing is stacked up.

use std::cmp::Ordering;

use lacuna_base::Candidate;
use lacuna_succinct::arch::Isa;

use super::codec::Body;
use super::key::PathKey;
use super::side::{Above, Below, Side};
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

/// The deepest place at which a walk can leave the path of the key asked from.
#[derive(Debug, Clone, Copy)]
struct Turn {
    /// Bytes of the path up to there.
    depth: usize,
    /// The slot to turn off at; without one, the mark of the node.
    slot: Option<u64>,
}

/// The result of following one byte of the path.
enum Pass {
    /// To this node.
    Node(u64),
    /// Off the path, at the last turn.
    Off,
    /// To the walk's outcome.
    Done(Option<Place>),
}

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
        let (mut node, mut turn) = (self.trie.root(), None);
        for depth in 0..path.len() {
            match self.pass::<I, Above>(isa, bytes, from, depth, node, &mut turn, out) {
                Pass::Node(child) => node = child,
                Pass::Off => return self.turn_off::<I, Above>(isa, bytes, path, turn?, out),
                Pass::Done(place) => return place,
            }
        }
        // Every key here starts with `from`.
        if self.trie.mark(bytes, node) {
            out.extend(path);
            return Some(Place::Written(CERTAIN));
        }
        let slot = Above::first_slot(&self.trie, isa, bytes, node)?;
        self.outermost::<I, Above>(isa, bytes, path, slot, out)
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
        let (mut node, mut turn) = (self.trie.root(), None);
        for depth in 0..=path.len() {
            // A key that ends on the way is below all that go on.
            if self.trie.mark(bytes, node) {
                turn = Some(Turn { depth, slot: None });
            }
            if depth == path.len() {
                break;
            }
            match self.pass::<I, Below>(isa, bytes, from, depth, node, &mut turn, out) {
                Pass::Node(child) => node = child,
                Pass::Off => break,
                Pass::Done(place) => return place,
            }
        }
        self.turn_off::<I, Below>(isa, bytes, path, turn?, out)
    }

    /// The largest candidate of all.
    #[inline(always)]
    pub(crate) fn last_of_all<I: Isa>(&self, isa: I, bytes: &[u8], out: &mut impl Sink) -> Option<Place> {
        let root = self.trie.root();
        match Below::first_slot(&self.trie, isa, bytes, root) {
            Some(slot) => self.outermost::<I, Below>(isa, bytes, &[], slot, out),
            None if self.trie.mark(bytes, root) => Some(Place::Written(CERTAIN)),
            None => None,
        }
    }

    /// Follows byte `depth` of `from` from `node`, and remembers in `turn` where the walk could leave it.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "a step of two walks, which share all of this")]
    fn pass<I: Isa, S: Side>(
        &self,
        isa: I,
        bytes: &[u8],
        from: &impl PathKey,
        depth: usize,
        node: u64,
        turn: &mut Option<Turn>,
        out: &mut impl Sink,
    ) -> Pass {
        let (trie, label) = (&self.trie, from.path()[depth]);
        let Some(slot) = S::slot_from(trie, isa, bytes, node, label) else { return Pass::Off };
        if trie.label(bytes, slot) != label {
            *turn = Some(Turn { depth, slot: Some(slot) });
            return Pass::Off;
        }
        if let Some(beyond) = S::slot_beyond(trie, bytes, slot) {
            *turn = Some(Turn { depth, slot: Some(beyond) });
        }
        if trie.has_child(bytes, slot) {
            return Pass::Node(trie.child(isa, bytes, slot));
        }
        match self.compare(isa, bytes, slot, from, depth + 1) {
            Ordering::Equal => Pass::Done(Some(Place::AskedKey)),
            order if order == S::UNWANTED => Pass::Off,
            _ => Pass::Done(self.outermost::<I, S>(isa, bytes, &from.path()[..depth], slot, out)),
        }
    }

    /// Writes the candidate beyond `turn`.
    #[inline(always)]
    fn turn_off<I: Isa, S: Side>(
        &self,
        isa: I,
        bytes: &[u8],
        path: &[u8],
        turn: Turn,
        out: &mut impl Sink,
    ) -> Option<Place> {
        let path = &path[..turn.depth];
        match turn.slot {
            Some(slot) => self.outermost::<I, S>(isa, bytes, path, slot, out),
            None => {
                out.extend(path);
                Some(Place::Written(CERTAIN))
            }
        }
    }

    /// Writes the first candidate after `path` and then `slot`.
    #[inline(always)]
    fn outermost<I: Isa, S: Side>(
        &self,
        isa: I,
        bytes: &[u8],
        path: &[u8],
        mut slot: u64,
        out: &mut impl Sink,
    ) -> Option<Place> {
        out.extend(path);
        for _ in path.len()..self.trie.levels() {
            out.push(self.trie.label(bytes, slot));
            if !self.trie.has_child(bytes, slot) {
                let stored = self.trie.value(bytes, self.trie.leaf(isa, bytes, slot));
                let (bits, count) = (self.suffixes.real(stored), self.suffixes.real_bits);
                return Some(Place::Written(S::end(out, bits, count)));
            }
            let node = self.trie.child(isa, bytes, slot);
            if S::MARK_FIRST && self.trie.mark(bytes, node) {
                return Some(Place::Written(CERTAIN));
            }
            slot = S::first_slot(&self.trie, isa, bytes, node)?;
        }
        None
    }
}
