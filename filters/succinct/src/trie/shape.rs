//! The shape of a trie before it is written: how many nodes and slots each level has.
//!
//! Counting is a small part of building, and it gives the exact size of the bytes: for a budget, for the level at
//! which dense ends and sparse begins, and for a trie that is cut at a level because the whole does not fit.

use super::geometry::{DENSE_BYTES, GROUP_BYTES, GROUP_SHIFT, Geometry};

/// Which levels are dense.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Divide {
    /// As many upper levels as give the smallest bytes.
    #[default]
    LeastSize,
    /// As many upper levels as keep the dense part below one part in this many of the sparse part; the paper takes 64.
    Ratio(u64),
    /// This many, where there are that many.
    Levels(usize),
}

/// A key's path in the trie: what it adds to the keys before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// Leading bytes that the path shares with the path before it.
    pub shared: usize,
    /// Bytes of the path.
    pub depth: usize,
    /// Whether later paths go on from its end, so that a mark in the node there stands for it.
    pub is_prefix: bool,
}

impl Branch {
    /// The path of a key of `len` bytes that keeps its whole length.
    ///
    /// `shared_before` and `shared_after` are the leading bytes it shares with the keys next to it; none without one.
    pub(crate) fn whole(len: usize, shared_before: Option<usize>, shared_after: Option<usize>) -> Self {
        Self {
            shared: shared_before.unwrap_or(0),
            depth: len,
            is_prefix: shared_after == Some(len) || len == 0,
        }
    }

    /// The shortest path that distinguishes a key of `len` bytes from the keys next to it: one byte more than it
    /// shares.
    pub fn unique(len: usize, shared_before: Option<usize>, shared_after: Option<usize>) -> Self {
        let shared = shared_before.max(shared_after).unwrap_or(0);
        Self { depth: len.min(shared + 1), ..Self::whole(len, shared_before, shared_after) }
    }

    /// The path cut to at most `most` bytes; `None` if the path before it is then the same.
    pub fn cut(self, max: usize, shared_after: Option<usize>) -> Option<Self> {
        if self.shared >= max {
            return None;
        }
        let merged = shared_after.is_some_and(|shared| shared >= max);
        let depth = if merged { max } else { self.depth.min(max) };
        Some(Self { depth, is_prefix: self.is_prefix && !merged, ..self })
    }
}

/// The counts of one level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Level {
    nodes: u64,
    slots: u64,
}

/// The counts of every level.
///
/// ```
/// use lacuna_succinct::trie::{Branch, Divide, Shape};
///
/// let mut shape = Shape::new();
/// // "ab", then "ac", which shares one byte with it.
/// shape.add(Branch { shared: 0, depth: 2, is_prefix: false });
/// shape.add(Branch { shared: 1, depth: 2, is_prefix: false });
/// assert_eq!((shape.leaves(), shape.slots(), shape.depth()), (2, 3, 2));
/// assert!(shape.byte_len(Divide::LeastSize, 0) < 80);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    levels: Vec<Level>,
    leaves: u64,
    /// Whether the empty path is one of them.
    pub(super) root_marked: bool,
}

impl Shape {
    /// No path yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next path in ascending order.
    #[inline]
    pub fn add(&mut self, branch: Branch) {
        let deepest = branch.depth + usize::from(branch.is_prefix);
        if self.levels.len() < deepest {
            self.levels.resize(deepest, Level::default());
        }
        for (place, level) in self.levels[branch.shared..deepest].iter_mut().enumerate() {
            level.slots += 1;
            level.nodes += u64::from(place > 0);
        }
        if self.leaves == 0 {
            self.levels[0].nodes += 1;
            self.root_marked = branch.depth == 0;
        }
        self.leaves += 1;
    }

    /// The shape that `leaves` paths would have if these are a fair sample of them: all counts grow alike.
    #[must_use]
    pub fn scaled(&self, leaves: u64) -> Self {
        let grown = |count: u64| {
            let product = u128::from(count) * u128::from(leaves) / u128::from(self.leaves.max(1));
            u64::try_from(product).unwrap_or(u64::MAX)
        };
        let level = |level: &Level| Level { nodes: grown(level.nodes), slots: grown(level.slots) };
        Self { levels: self.levels.iter().map(level).collect(), leaves, root_marked: self.root_marked }
    }

    /// Adds a level below the others by its counts alone.
    pub(super) fn push_level(&mut self, nodes: u64, slots: u64) {
        self.levels.push(Level { nodes, slots });
    }

    /// Number of paths.
    pub fn leaves(&self) -> u64 {
        self.leaves
    }

    /// Number of slots on all levels: labels, and marks of prefix keys.
    pub fn slots(&self) -> u64 {
        self.levels.iter().map(|level| level.slots).sum()
    }

    /// Number of levels.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Bytes of the trie with values of `value_bits` bits.
    pub fn byte_len(&self, divide: Divide, value_bits: u32) -> usize {
        let dense = self.dense_levels(divide);
        self.geometry(dense, value_bits).parts().end
    }

    /// Bytes of the trie cut to its first `levels` levels, without values.
    pub fn cut_byte_len(&self, divide: Divide, levels: usize) -> usize {
        let kept = levels.min(self.levels.len());
        let cut = Self { levels: self.levels[..kept].to_vec(), ..*self };
        cut.byte_len(divide, 0)
    }

    /// Number of dense levels.
    pub(super) fn dense_levels(&self, divide: Divide) -> usize {
        let levels = match divide {
            Divide::LeastSize => self.smallest_division(),
            Divide::Ratio(ratio) => self.division_by_ratio(ratio),
            Divide::Levels(levels) => levels.min(self.levels.len()),
        };
        // A sparse root that holds the mark alone would read as one real label.
        levels.max(usize::from(self.root_marked && self.leaves == 1))
    }

    pub(super) fn geometry(&self, dense_levels: usize, value_bits: u32) -> Geometry {
        let (dense, sparse) = self.levels.split_at(dense_levels.min(self.levels.len()));
        Geometry {
            dense_nodes: dense.iter().map(|level| level.nodes).sum(),
            sparse_slots: sparse.iter().map(|level| level.slots).sum(),
            leaves: self.leaves,
            value_bits,
        }
    }

    fn smallest_division(&self) -> usize {
        let node_bits = DENSE_BYTES as u64 * 8 + ((GROUP_BYTES as u64 * 8) >> GROUP_SHIFT);
        let mut best = (0, 0);
        let mut gain = 0_i64;
        for (place, level) in self.levels.iter().enumerate() {
            // A sparse slot takes 10 bits, and 5/32 of a bit for its block and group.
            let sparse = (level.slots * 10 + level.slots * 5 / 32).cast_signed();
            gain += sparse - (level.nodes * node_bits).cast_signed();
            if gain > best.0 {
                best = (gain, place + 1);
            }
        }
        best.1
    }

    fn division_by_ratio(&self, ratio: u64) -> usize {
        let mut sparse: u64 = self.slots();
        let mut dense = 0;
        for (place, level) in self.levels.iter().enumerate() {
            sparse -= level.slots;
            dense += level.nodes * 512;
            if dense.saturating_mul(ratio) > sparse * 10 {
                return place;
            }
        }
        self.levels.len()
    }
}
