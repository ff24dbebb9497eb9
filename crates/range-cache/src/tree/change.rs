//! Insertion: down to the leaf, raising reaches; a full node is split, and its parent told.

use super::nodes::{Child, Move, Nodes, OwnedEntry};
use super::{IntervalTree, MAX_HEIGHT};
use crate::interval::{Cut, Interval};

/// The way from the root to a leaf: inner nodes and the rows taken.
pub(super) type Path = [(u32, usize); MAX_HEIGHT];

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> IntervalTree<B, V, N> {
    /// Adds an entry; false if it was there. Intervals may repeat with other values, and values with other intervals.
    pub fn insert(&mut self, interval: Interval<B>, value: V) -> bool {
        let entry = OwnedEntry { interval, value };
        if self.is_empty() {
            self.root = self.leaves.new_node(value);
            self.height = 0;
        }
        let (path, leaf) = self.path_to(&entry);
        let row = self.leaves.rows().rows_before(leaf, 0, &entry, false);
        if self.leaves.rows().is_row(leaf, row, &entry) {
            return false;
        }
        self.raise_reaches(&path, entry.interval.hi());
        if self.leaves.rows().len(leaf) < N {
            self.leaves.insert(leaf, row, entry);
        } else {
            self.insert_and_split(&path, leaf, row, entry);
        }
        self.len += 1;
        true
    }

    /// The way to the leaf where `entry` is or belongs.
    #[inline]
    pub(super) fn path_to(&self, entry: &OwnedEntry<B, V>) -> (Path, u32) {
        let mut path = [(0, 0); MAX_HEIGHT];
        let mut node = self.root;
        for step in &mut path[..self.height] {
            let row = self.inners.rows().rows_before(node, 1, entry, true) - 1;
            *step = (node, row);
            node = self.inners.child(node, row);
        }
        (path, node)
    }

    #[inline]
    fn raise_reaches(&mut self, path: &Path, hi: &Cut<B>) {
        for &(node, row) in &path[..self.height] {
            if *hi > self.inners.reaches(node)[row] {
                self.inners.set_reach(node, row, hi.clone());
            }
        }
    }

    fn insert_and_split(&mut self, path: &Path, leaf: u32, row: usize, entry: OwnedEntry<B, V>) {
        let new = self.leaves.split_off(leaf, N / 2);
        if row <= N / 2 {
            self.leaves.insert(leaf, row, entry);
        } else {
            self.leaves.insert(new, row - N / 2, entry);
        }
        let (mut left, mut right) = (self.leaves.reach(leaf).clone(), child_of(&self.leaves, new));
        for &(node, row) in path[..self.height].iter().rev() {
            self.inners.set_reach(node, row, left);
            if self.inners.rows().len(node) < N {
                self.inners.insert(node, row + 1, right);
                return;
            }
            let new = self.inners.split_off(node, N / 2);
            if row < N / 2 {
                self.inners.insert(node, row + 1, right);
            } else {
                self.inners.insert(new, row + 1 - N / 2, right);
            }
            (left, right) = (self.inners.reach(node).clone(), child_of(&self.inners, new));
        }
        self.grow(left, right);
    }

    /// Puts a new root above the old one, whose reach is `left`, and its new sibling.
    fn grow(&mut self, left: Cut<B>, right: Child<B, V>) {
        assert!(
            self.height < MAX_HEIGHT,
            "nodes of {N} rows are too small for a tree of {} entries",
            self.len
        );
        let root = self.inners.new_node(right.separator.value);
        // The separator of a first child is not looked at.
        let first = Child { separator: right.separator.clone(), node: self.root, reach: left };
        self.inners.insert(root, 0, first);
        self.inners.insert(root, 1, right);
        (self.root, self.height) = (root, self.height + 1);
    }
}

/// How a parent knows `node`, whose first row has a true separator.
fn child_of<B: Ord + Clone, V: Ord + Copy, const N: usize>(
    nodes: &impl Nodes<B, V, N>,
    node: u32,
) -> Child<B, V> {
    Child { separator: nodes.rows().entry(node, 0), node, reach: nodes.reach(node).clone() }
}
