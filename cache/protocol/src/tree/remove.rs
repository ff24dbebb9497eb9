//! Removal: down to the leaf, then up again, refilling nodes that have become too small and lowering reaches.

use super::IntervalTree;
use super::arena::Arena;
use super::node::Node;
use super::rows::OwnedEntry;
use crate::interval::Interval;

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> IntervalTree<B, V, N> {
    /// Minimum rows of a node other than the root. Less than half of N, so that a node at the limit is not split
    /// and merged in turn.
    const MIN: usize = if N / 4 < 2 { 2 } else { N / 4 };

    /// Removes an entry; false if it did not exist.
    pub fn remove(&mut self, interval: &Interval<B>, value: V) -> bool {
        if self.is_empty() {
            return false;
        }
        let entry = OwnedEntry { interval: interval.clone(), value };
        let (path, leaf) = self.path_to(&entry);
        let row = self.leaves[leaf].rows().place_of(0, &entry, false);
        if !self.leaves[leaf].rows().is_row(row, &entry) {
            return false;
        }
        self.leaves[leaf].remove(row);
        self.len -= 1;
        for (level, &(parent, row)) in path[..self.height].iter().enumerate().rev() {
            let is_above_leaves = level + 1 == self.height;
            let child = self.inners[parent].child(row);
            let child_len = if is_above_leaves {
                self.leaves[child].rows().len()
            } else {
                self.inners[child].rows().len()
            };
            if child_len < Self::MIN {
                self.refill(parent, row, is_above_leaves);
            } else if self.inners[parent].ends()[row] == *interval.hi() {
                self.lower_reach(parent, row, is_above_leaves);
            }
        }
        self.shrink();
        true
    }

    fn lower_reach(&mut self, parent: u32, row: usize, is_above_leaves: bool) {
        let child = self.inners[parent].child(row);
        let reach =
            if is_above_leaves { self.leaves[child].reach() } else { self.inners[child].reach() }.clone();
        self.inners[parent].set_reach(row, reach);
    }

    /// Moves rows of a sibling to a small child, or merges both.
    fn refill(&mut self, parent: u32, row: usize, is_above_leaves: bool) {
        let left_row = row.saturating_sub(1);
        let (left, right) = (self.inners[parent].child(left_row), self.inners[parent].child(left_row + 1));
        let merged = if is_above_leaves {
            even_out(&mut self.leaves, left, right)
        } else {
            // The true separator of the first child of the right node is only in its parent.
            let separator = self.inners[parent].rows().entry(left_row + 1);
            self.inners[right].rows_mut().set_entry(0, separator);
            even_out(&mut self.inners, left, right)
        };
        if merged {
            self.inners[parent].remove(left_row + 1);
        } else {
            let separator = if is_above_leaves {
                self.leaves[right].rows().entry(0)
            } else {
                self.inners[right].rows().entry(0)
            };
            self.inners[parent].rows_mut().set_entry(left_row + 1, separator);
            self.lower_reach(parent, left_row + 1, is_above_leaves);
        }
        self.lower_reach(parent, left_row, is_above_leaves);
    }

    /// Drops a root with one child, or without entries.
    fn shrink(&mut self) {
        while self.height > 0 && self.inners[self.root].rows().len() == 1 {
            let child = self.inners[self.root].child(0);
            self.inners.give_back(self.root);
            (self.root, self.height) = (child, self.height - 1);
        }
        if self.len == 0 {
            self.leaves.give_back(self.root);
        }
    }
}

/// Merges two adjacent nodes if they fit into one, and says so; otherwise gives both equally many rows.
fn even_out<B: Ord + Clone, V: Ord + Copy, const N: usize>(
    nodes: &mut Arena<impl Node<B, V, N>>,
    left: u32,
    right_number: u32,
) -> bool {
    let (left, right) = nodes.pair(left, right_number);
    let (left_len, right_len) = (left.rows().len(), right.rows().len());
    let half = (left_len + right_len) / 2;
    if left_len + right_len <= N {
        right.move_to_end(0, right_len, left);
        nodes.give_back(right_number);
        return true;
    }
    if left_len < right_len {
        right.move_to_end(0, half - left_len, left);
    } else {
        left.move_to_front(left_len - half, right);
    }
    false
}
