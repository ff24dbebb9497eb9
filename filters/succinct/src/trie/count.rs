//! Counting the leaves between two borders, level by level.
//!
//! Leaves are numbered level by level, so those between two keys are not one run of numbers but one run on each level.
//! A *border* cuts every level in two: what is before a key, and what is not. On the levels of the key's own path, the
//! cut is at the slot where the path leaves the level; below the path, it is before the first child of whatever stands
//! after the cut above. The difference of two ranks on each level, summed, is the count; where two cuts meet, all
//! levels below are equal too.

use super::geometry::BLOCK_SLOTS;
use super::layout::Layout;
use super::step::Step;
use crate::arch::Isa;

/// Where a border stands, relative to the leaf that the key's path meets.
pub trait Border {
    /// The key whose path the border follows.
    fn key(&self) -> &[u8];
    /// Whether the border is after the leaf at the end of the whole key: after the key itself.
    fn is_behind_key(&self) -> bool;
    /// Whether the border is after the leaf at `slot`, number `leaf()`, whose path is the first `depth` bytes of the key.
    fn is_behind(&self, depth: usize, slot: u64, leaf: impl FnOnce() -> u64) -> bool;
}

/// The border right before or right after a key, in a trie that keeps whole keys.
#[derive(Debug, Clone, Copy)]
pub struct KeyBorder<'k> {
    /// The key.
    pub key: &'k [u8],
    /// Whether the key itself is before the border.
    pub is_behind: bool,
}

impl Border for KeyBorder<'_> {
    #[inline(always)]
    fn key(&self) -> &[u8] {
        self.key
    }
    #[inline(always)]
    fn is_behind_key(&self) -> bool {
        self.is_behind
    }
    #[inline(always)]
    fn is_behind(&self, depth: usize, _slot: u64, _leaf: impl FnOnce() -> u64) -> bool {
        // A shorter key is before this one.
        depth < self.key.len() || self.is_behind
    }
}

/// A border on its way down.
struct Descent<'a, C> {
    border: &'a C,
    /// The node of the next level on the key's path, while the path goes on.
    node: Option<u64>,
    /// The cut of the level that was last passed.
    cut: Cut,
}

/// Where a level is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    slot: u64,
    /// Whether the mark of the node that starts at `slot` is after the cut.
    before_mark: bool,
}

impl Layout {
    /// Number of leaves after `lo` and before `hi`, or up to the end without `hi`.
    #[inline(always)]
    pub fn count<I: Isa>(&self, isa: I, bytes: &[u8], lo: &impl Border, hi: Option<&impl Border>) -> u64 {
        let start = Cut { slot: self.root(), before_mark: true };
        let mut lo = Descent { border: lo, node: Some(self.root()), cut: start };
        let mut hi = hi.map(|border| Descent { border, node: Some(self.root()), cut: start });
        let mut level_end = self.root();
        let mut count = 0_u64;
        for depth in 0..self.levels() {
            lo.pass_level(isa, bytes, self, depth);
            let (end, is_done) = match &mut hi {
                Some(hi) => {
                    hi.pass_level(isa, bytes, self, depth);
                    (hi.cut, lo.node.is_none() && hi.node.is_none() && lo.cut == hi.cut)
                }
                None => {
                    // After the last slot of a level stands the first node of the next.
                    level_end = self.child(isa, bytes, level_end);
                    (Cut { slot: level_end, before_mark: true }, lo.node.is_none() && lo.cut.slot >= self.end)
                }
            };
            if is_done {
                break;
            }
            if end != lo.cut {
                count += self
                    .leaves_before(isa, bytes, end)
                    .saturating_sub(self.leaves_before(isa, bytes, lo.cut));
            }
        }
        count
    }

    #[inline(always)]
    fn leaves_before<I: Isa>(&self, isa: I, bytes: &[u8], cut: Cut) -> u64 {
        if cut.slot >= self.end {
            self.leaves
        } else if cut.before_mark {
            self.mark_leaf(isa, bytes, cut.slot)
        } else {
            self.leaf(isa, bytes, cut.slot)
        }
    }
}

impl<C: Border> Descent<'_, C> {
    #[inline(always)]
    fn pass_level<I: Isa>(&mut self, isa: I, bytes: &[u8], layout: &Layout, depth: usize) {
        let Some(node) = self.node.take() else {
            self.cut = Cut { slot: layout.child(isa, bytes, self.cut.slot), before_mark: true };
            return;
        };
        let Some(&label) = self.border.key().get(depth) else {
            self.cut = match self.border.is_behind_key() {
                true => Cut { slot: layout.behind_mark(bytes, node), before_mark: false },
                false => Cut { slot: node, before_mark: true },
            };
            return;
        };
        self.cut = match layout.step(isa, bytes, node, label) {
            Step::Absent => Cut { slot: layout.border(isa, bytes, node, label), before_mark: false },
            Step::Leaf(slot) => {
                behind_if(slot, self.border.is_behind(depth + 1, slot, || layout.leaf(isa, bytes, slot)))
            }
            Step::Node { slot, child } => {
                self.node = Some(child);
                behind_if(slot, false)
            }
        };
    }
}

/// The cut before `slot`, or after it.
#[inline(always)]
fn behind_if(slot: u64, is_behind: bool) -> Cut {
    let slot = slot + u64::from(is_behind);
    // After the last label of a dense node stands the next node, mark first.
    Cut { slot, before_mark: is_behind && slot.is_multiple_of(BLOCK_SLOTS) }
}
