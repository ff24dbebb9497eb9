//! Points and ranges, by walking down the paths of both ends at once.
//!
//! While the ends agree, there is one path to follow. Where they part, any branch strictly between them is a "maybe";
//! if there is none, the two branches that the ends take remain: one is followed for a key at or above the lower end,
//! the other for a key at or below the upper end. No step is undone.

use std::cmp::Ordering;

use lacuna_succinct::arch::Isa;
use lacuna_succinct::trie::{Step, shared_len};

use super::codec::Body;
use super::key::{Lower, PathKey, Upper};
use crate::probes::note_probe;

impl Body {
    /// Whether `key` may be there.
    #[inline(always)]
    pub(crate) fn may_contain<I: Isa>(&self, isa: I, bytes: &[u8], key: &impl PathKey) -> bool {
        let Some(met) = self.trie.leaf_on(isa, bytes, key.path()) else { return false };
        // A mark is the whole key, so there is nothing after it to compare.
        if met.is_mark || self.suffixes.bits() == 0 {
            return true;
        }
        let stored = self.trie.value(bytes, met.leaf(isa, bytes, &self.trie));
        stored == self.suffixes.of(key, met.depth)
    }

    /// Whether the leaf `slot`, whose path is the first `depth` bytes of `key`, may stand for `key`.
    #[inline(always)]
    pub(crate) fn holds<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        slot: u64,
        key: &impl PathKey,
        depth: usize,
    ) -> bool {
        let stored = || self.trie.value(bytes, self.trie.leaf(isa, bytes, slot));
        self.suffixes.bits() == 0 || stored() == self.suffixes.of(key, depth)
    }

    /// Whether a key that starts with `prefix` may be there.
    #[inline(always)]
    pub(crate) fn any_with_prefix<I: Isa>(&self, isa: I, bytes: &[u8], prefix: &impl PathKey) -> bool {
        let mut node = self.trie.root();
        for (depth, &label) in prefix.path().iter().enumerate() {
            match self.trie.step(isa, bytes, node, label) {
                Step::Absent => return false,
                Step::Leaf(slot) => return self.agrees(isa, bytes, slot, prefix, depth + 1),
                Step::Node { child, .. } => node = child,
            }
        }
        self.trie.is_node(node)
    }

    /// Whether the real bits of the leaf `slot` and those of `prefix` agree, as far as `prefix` goes.
    #[inline(always)]
    fn agrees<I: Isa>(&self, isa: I, bytes: &[u8], slot: u64, prefix: &impl PathKey, depth: usize) -> bool {
        let real_bits = self.suffixes.real_bits;
        let given_bits = (prefix.path().len() - depth).saturating_mul(8);
        let known = u32::try_from(given_bits).map_or(real_bits, |given| given.min(real_bits));
        if known == 0 {
            return true;
        }
        let stored = self.suffixes.real(self.trie.value(bytes, self.trie.leaf(isa, bytes, slot)));
        stored >> (real_bits - known) == prefix.bits_behind(depth, known)
    }

    /// Whether a key at or above `lo` and at or below `hi` may be there; there is no upper end without `hi`.
    #[inline(always)]
    pub(crate) fn any_in<I: Isa, K: PathKey>(
        &self,
        isa: I,
        bytes: &[u8],
        lo: Lower<'_, K>,
        hi: Option<Upper<'_, K>>,
    ) -> bool {
        let shared = hi.map_or(0, |hi| shared_len(lo.key.path(), hi.key.path()));
        let mut node = self.trie.root();
        for (depth, &label) in lo.key.path()[..shared].iter().enumerate() {
            note_probe();
            match self.trie.step(isa, bytes, node, label) {
                Step::Absent => return false,
                Step::Leaf(slot) => return self.leaf_between(isa, bytes, slot, lo, hi, depth + 1),
                Step::Node { child, .. } => node = child,
            }
        }
        self.any_between(isa, bytes, node, lo, hi, shared)
    }

    /// Whether the key of the leaf `slot`, whose path is the first `depth` bytes of both ends, may lie between them.
    #[inline(always)]
    pub(crate) fn leaf_between<I: Isa, K: PathKey>(
        &self,
        isa: I,
        bytes: &[u8],
        slot: u64,
        lo: Lower<'_, K>,
        hi: Option<Upper<'_, K>>,
        depth: usize,
    ) -> bool {
        hi.is_none_or(|hi| self.is_within(isa, bytes, slot, hi, depth))
            && self.reaches(isa, bytes, slot, lo, depth)
    }

    /// As [`any_in`](Self::any_in), below `node`, where both paths are `depth` bytes long and part.
    #[inline(always)]
    pub(crate) fn any_between<I: Isa, K: PathKey>(
        &self,
        isa: I,
        bytes: &[u8],
        node: u64,
        lo: Lower<'_, K>,
        hi: Option<Upper<'_, K>>,
        depth: usize,
    ) -> bool {
        let low = lo.key.path().get(depth).copied();
        let high = hi.map(|hi| hi.key.path().get(depth).copied());
        if low.is_none() && !lo.is_excluded && self.trie.mark(bytes, node) {
            return high != Some(None) || hi.is_some_and(|hi| !hi.is_excluded);
        }
        let bound = match high {
            None => 256,
            Some(Some(high)) => u32::from(high),
            // The upper end is the prefix of all that follows.
            Some(None) => return false,
        };
        let from = low.map_or(0, |low| u32::from(low) + 1);
        let between = self.trie.first_at_or_after(isa, bytes, node, from);
        if between.is_some_and(|slot| u32::from(self.trie.label(bytes, slot)) < bound) {
            return true;
        }
        low.is_some_and(|low| self.any_above(isa, bytes, node, low, lo, depth))
            || hi.is_some_and(|hi| self.any_below(isa, bytes, node, hi, depth))
    }

    /// Whether a key at or above `lo` may be below the branch `label` of `node`, which `lo` takes at `depth`.
    #[inline(always)]
    fn any_above<I: Isa, K: PathKey>(
        &self,
        isa: I,
        bytes: &[u8],
        mut node: u64,
        mut label: u8,
        lo: Lower<'_, K>,
        mut depth: usize,
    ) -> bool {
        loop {
            depth += 1;
            note_probe();
            match self.trie.step(isa, bytes, node, label) {
                Step::Absent => return false,
                Step::Leaf(slot) => return self.reaches(isa, bytes, slot, lo, depth),
                Step::Node { child, .. } => node = child,
            }
            // Everything here goes on after the end of `lo`.
            let Some(&next) = lo.key.path().get(depth) else { return self.trie.is_node(node) };
            label = next;
            if self.trie.first_at_or_after(isa, bytes, node, u32::from(label) + 1).is_some() {
                return true;
            }
        }
    }

    /// Whether a key at or below `hi` may be below the branch that `hi` takes from `node` at `depth`.
    #[inline(always)]
    fn any_below<I: Isa, K: PathKey>(
        &self,
        isa: I,
        bytes: &[u8],
        mut node: u64,
        hi: Upper<'_, K>,
        mut depth: usize,
    ) -> bool {
        while let Some(&label) = hi.key.path().get(depth) {
            depth += 1;
            note_probe();
            match self.trie.step(isa, bytes, node, label) {
                Step::Absent => return false,
                Step::Leaf(slot) => return self.is_within(isa, bytes, slot, hi, depth),
                Step::Node { child, .. } => node = child,
            }
            let is_whole = depth == hi.key.path().len();
            if self.trie.mark(bytes, node) {
                return !(is_whole && hi.is_excluded);
            }
            let next = hi.key.path().get(depth).map_or(0, |&next| u32::from(next));
            if self.trie.last_before(isa, bytes, node, next).is_some() {
                return true;
            }
        }
        false
    }

    /// Whether the key of the leaf `slot`, whose path is the first `depth` bytes of `lo`, may be at or above `lo`.
    #[inline(always)]
    fn reaches<I: Isa, K: PathKey>(
        &self,
        isa: I,
        bytes: &[u8],
        slot: u64,
        lo: Lower<'_, K>,
        depth: usize,
    ) -> bool {
        self.compare(isa, bytes, slot, lo.key, depth) != Ordering::Less
    }

    /// Whether the key of the leaf `slot`, whose path is the first `depth` bytes of `hi`, may be at or below `hi`.
    #[inline(always)]
    fn is_within<I: Isa, K: PathKey>(
        &self,
        isa: I,
        bytes: &[u8],
        slot: u64,
        hi: Upper<'_, K>,
        depth: usize,
    ) -> bool {
        // All keys with this path are at or above an end that is the path itself.
        let is_free = hi.is_excluded && hi.key.path().len() == depth;
        !is_free && self.compare(isa, bytes, slot, hi.key, depth) != Ordering::Greater
    }

    /// How the key of the leaf `slot` compares with `key`; the leaf's path is the first `depth` bytes of `key`.
    #[inline(always)]
    pub(crate) fn compare<I: Isa>(
        &self,
        isa: I,
        bytes: &[u8],
        slot: u64,
        key: &impl PathKey,
        depth: usize,
    ) -> Ordering {
        if self.suffixes.real_bits == 0 {
            return Ordering::Equal;
        }
        let stored = self.trie.value(bytes, self.trie.leaf(isa, bytes, slot));
        self.suffixes.compare(stored, key, depth)
    }
}
