//! A dynamic interval tree: which of a million intervals overlap this one?
//!
//! A B+ tree of entries (interval, value) in order of the lower end, then the upper end, then the value. The
//! parent keeps for each child a separator and a *reach*, the largest upper end below the child. Entries that
//! overlap a query start before the query ends, so they lie in a prefix of the tree, and in that prefix only
//! children that reach beyond the start of the query are entered. With `[1, 9]`, `[2, 3]`, `[5, 6]` and the query
//! `[4, 4]`: the prefix is `[1, 9]`, `[2, 3]`, and only the first reaches 4.
//!
//! Guarantee: every entry that overlaps is returned, once, in order; values may repeat, and so may intervals.
//! Cost: a query reads one node for each level and one more path for each scattered hit: O(log n + hits) where
//! intervals are short compared with the domain, O(hits log n) in general. Insert and remove are one path down and
//! up. Nodes are stored in one allocation; an entry costs its own bytes and about half as much again for growth.
//!
//! Sedgewick and Wayne, "Algorithms", 4th edition, interval search trees; B+ trees: Comer 1979. The report uses the
//! former; here nodes are wide, because a binary tree of a million intervals is twenty cache misses deep.

mod arena;
mod change;
mod node;
mod query;
mod remove;
mod rows;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::interval::Interval;
use arena::Arena;
use node::{Inner, Leaf};

pub use query::{Covering, Entries, Entry, Everything, Matches, Overlapping, Probe};

/// Entries of a node. 32 keeps a tree of a million entries four levels high, and a node's ends on a few cache lines.
const NODE: usize = 32;

/// Maximum levels above the leaves. With the usual nodes of at least 8 children, 2^32 nodes make 11 levels.
const MAX_HEIGHT: usize = 16;

/// A set of pairs (interval, value) that finds overlaps.
///
/// `N` is the capacity of a node, an even number from 4 to 256; tests use small ones.
///
/// ```
/// use lacuna_cache_protocol::{Interval, IntervalTree};
///
/// let mut ages: IntervalTree<u32, &str> = IntervalTree::new();
/// ages.insert(Interval::closed(18, 22).expect("18 <= 22"), "students");
/// ages.insert(Interval::closed(20, 30).expect("20 <= 30"), "runners");
/// let at_21: Vec<_> = ages.overlapping(&Interval::point(21)).map(|entry| entry.value).collect();
/// assert_eq!(at_21, ["students", "runners"]);
/// assert!(ages.remove(&Interval::closed(18, 22).expect("18 <= 22"), "students"));
/// assert_eq!(ages.overlapping(&Interval::point(18)).count(), 0);
/// ```
#[derive(Clone)]
pub struct IntervalTree<B, V, const N: usize = NODE> {
    leaves: Arena<Leaf<B, V, N>>,
    inners: Arena<Inner<B, V, N>>,
    /// A leaf if `height` is 0.
    root: u32,
    height: usize,
    len: usize,
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> IntervalTree<B, V, N> {
    /// A tree without entries; allocates nothing.
    pub fn new() -> Self {
        const { assert!(N >= 4 && N <= 256 && N.is_multiple_of(2)) };
        Self { leaves: Arena::default(), inners: Arena::default(), root: 0, height: 0, len: 0 }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the tree has no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entries whose interval overlaps `query`, in order.
    pub fn overlapping<'a>(&'a self, query: &'a Interval<B>) -> Matches<'a, B, V, Overlapping<'a, B>, N> {
        Matches::new(self, Overlapping(query))
    }

    /// The entries whose interval covers all of `query`, in order.
    pub(crate) fn covering<'a>(&'a self, query: &'a Interval<B>) -> Matches<'a, B, V, Covering<'a, B>, N> {
        Matches::new(self, Covering(query))
    }

    /// The entries whose interval lies inside `query`, in order.
    pub fn inside<'a>(&'a self, query: &'a Interval<B>) -> impl Iterator<Item = Entry<'a, B, V>> {
        self.overlapping(query).filter(|entry| entry.lo >= query.lo() && entry.hi <= query.hi())
    }

    /// All entries, in order.
    pub fn iter(&self) -> Entries<'_, B, V, N> {
        Matches::new(self, Everything)
    }

    /// Bytes of memory it takes, without the allocations of its bounds.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.leaves.memory_bytes() + self.inners.memory_bytes()
    }
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Default for IntervalTree<B, V, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, V, const N: usize> fmt::Debug for IntervalTree<B, V, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntervalTree")
            .field("len", &self.len)
            .field("height", &self.height)
            .finish_non_exhaustive()
    }
}
