//! Insertion: down to the leaf, raising reaches; a full node is split, and its parent updated.

use super::arena::Arena;
use super::node::{Child, Inner, Leaf, Node};
use super::rows::OwnedEntry;
use super::{IntervalTree, MAX_HEIGHT};
use crate::interval::{Cut, Interval};

/// The path from the root to a leaf: inner nodes and the rows taken.
pub(super) type Path = [(u32, usize); MAX_HEIGHT];

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> IntervalTree<B, V, N> {
    /// Adds an entry; false if it existed. Intervals may repeat with other values, and values with other
    /// intervals.
    pub fn insert(&mut self, interval: Interval<B>, value: V) -> bool {
        let entry = OwnedEntry { interval, value };
        if self.is_empty() {
            self.root = self.leaves.add(Leaf::new(value));
            self.height = 0;
        }
        let (path, leaf) = self.path_to(&entry);
        let row = self.leaves[leaf].rows().place_of(0, &entry, false);
        if self.leaves[leaf].rows().is_row(row, &entry) {
            return false;
        }
        self.raise_reaches(&path, entry.interval.hi());
        if self.leaves[leaf].rows().len() < N {
            self.leaves[leaf].insert(row, entry);
        } else {
            self.insert_and_split(&path, leaf, row, entry);
        }
        self.len += 1;
        true
    }

    /// Whether an entry is there.
    pub fn contains(&self, interval: &Interval<B>, value: V) -> bool {
        if self.is_empty() {
            return false;
        }
        let entry = OwnedEntry { interval: interval.clone(), value };
        let (_, leaf) = self.path_to(&entry);
        let rows = self.leaves[leaf].rows();
        rows.is_row(rows.place_of(0, &entry, false), &entry)
    }

    /// The path to the leaf where `entry` is or belongs.
    #[inline]
    pub(super) fn path_to(&self, entry: &OwnedEntry<B, V>) -> (Path, u32) {
        let mut path = [(0, 0); MAX_HEIGHT];
        let mut node = self.root;
        for step in &mut path[..self.height] {
            let row = self.inners[node].rows().place_of(1, entry, true) - 1;
            *step = (node, row);
            node = self.inners[node].child(row);
        }
        (path, node)
    }

    #[inline]
    fn raise_reaches(&mut self, path: &Path, hi: &Cut<B>) {
        for &(node, row) in &path[..self.height] {
            if *hi > self.inners[node].ends()[row] {
                self.inners[node].set_reach(row, hi.clone());
            }
        }
    }

    fn insert_and_split(&mut self, path: &Path, leaf: u32, row: usize, entry: OwnedEntry<B, V>) {
        let new = split(&mut self.leaves, leaf);
        if row <= N / 2 {
            self.leaves[leaf].insert(row, entry);
        } else {
            self.leaves[new].insert(row - N / 2, entry);
        }
        let (mut left, mut right) = (self.leaves[leaf].reach().clone(), child_of(&self.leaves[new], new));
        for &(node, row) in path[..self.height].iter().rev() {
            self.inners[node].set_reach(row, left);
            if self.inners[node].rows().len() < N {
                self.inners[node].insert(row + 1, right);
                return;
            }
            let new = split(&mut self.inners, node);
            if row < N / 2 {
                self.inners[node].insert(row + 1, right);
            } else {
                self.inners[new].insert(row + 1 - N / 2, right);
            }
            (left, right) = (self.inners[node].reach().clone(), child_of(&self.inners[new], new));
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
        // The separator of a first child is never read.
        let first = Child { separator: right.separator.clone(), node: self.root, reach: left };
        let mut root = Inner::new(right.separator.value);
        root.insert(0, first);
        root.insert(1, right);
        (self.root, self.height) = (self.inners.add(root), self.height + 1);
    }
}

/// Moves the upper half of a full node into a new one.
fn split<B: Ord + Clone, V: Ord + Copy, T: Node<B, V, N>, const N: usize>(
    nodes: &mut Arena<T>,
    node: u32,
) -> u32 {
    let new = nodes.add(T::new(nodes[node].rows().value(0)));
    let (node, upper) = nodes.pair(node, new);
    node.move_to_end(N / 2, N / 2, upper);
    new
}

/// How a parent knows `node`, whose first row has a true separator.
fn child_of<B: Ord + Clone, V: Ord + Copy, const N: usize>(
    node: &impl Node<B, V, N>,
    number: u32,
) -> Child<B, V> {
    Child { separator: node.rows().entry(0), node: number, reach: node.reach().clone() }
}
