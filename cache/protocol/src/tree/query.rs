//! Walking the entries that match, without an allocation.

use std::fmt;

use super::node::Node;
use super::rows::count_while;
use super::{IntervalTree, MAX_HEIGHT};
use crate::interval::{Cut, Interval};

/// Which entries match: those that start early enough and reach far enough.
pub trait Probe<B>: Copy {
    /// Whether an entry that starts here may match; false from some cut on.
    fn starts_in_time(&self, lo: &Cut<B>) -> bool;
    /// Whether an entry that ends here may match; true from some cut on.
    fn reaches(&self, hi: &Cut<B>) -> bool;
}

/// Entries that overlap the interval.
#[derive(Debug)]
pub struct Overlapping<'a, B>(pub(super) &'a Interval<B>);

/// Entries that contain the whole interval.
#[derive(Debug)]
pub struct Covering<'a, B>(pub(super) &'a Interval<B>);

/// All entries.
#[derive(Debug, Clone, Copy)]
pub struct Everything;

impl<B> Clone for Overlapping<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<B> Copy for Overlapping<'_, B> {}
impl<B> Clone for Covering<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<B> Copy for Covering<'_, B> {}

impl<B: Ord> Probe<B> for Overlapping<'_, B> {
    #[inline(always)]
    fn starts_in_time(&self, lo: &Cut<B>) -> bool {
        lo < self.0.hi()
    }
    #[inline(always)]
    fn reaches(&self, hi: &Cut<B>) -> bool {
        hi > self.0.lo()
    }
}

impl<B: Ord> Probe<B> for Covering<'_, B> {
    #[inline(always)]
    fn starts_in_time(&self, lo: &Cut<B>) -> bool {
        lo <= self.0.lo()
    }
    #[inline(always)]
    fn reaches(&self, hi: &Cut<B>) -> bool {
        hi >= self.0.hi()
    }
}

impl<B> Probe<B> for Everything {
    fn starts_in_time(&self, _: &Cut<B>) -> bool {
        true
    }
    fn reaches(&self, _: &Cut<B>) -> bool {
        true
    }
}

/// All entries of a tree, in order.
pub type Entries<'a, B, V, const N: usize> = Matches<'a, B, V, Everything, N>;

/// The matching entries of a tree, in order.
pub struct Matches<'a, B, V, P, const N: usize> {
    tree: &'a IntervalTree<B, V, N>,
    probe: P,
    /// The entered inner nodes, the root first, and the children of each that are still to visit.
    path: [Span; MAX_HEIGHT],
    depth: usize,
    /// The current leaf; no rows if there is none.
    leaf: Span,
}

/// Rows of a node that start early enough and are still to visit.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    node: u32,
    next: u32,
    end: u32,
}

impl<'a, B: Ord + Clone, V: Ord + Copy, P: Probe<B>, const N: usize> Matches<'a, B, V, P, N> {
    pub(super) fn new(tree: &'a IntervalTree<B, V, N>, probe: P) -> Self {
        let mut matches =
            Self { tree, probe, path: [Span::default(); MAX_HEIGHT], depth: 0, leaf: Span::default() };
        if !tree.is_empty() {
            matches.enter(tree.root);
        }
        matches
    }

    /// Makes a node of the level below the path the current one.
    #[inline]
    fn enter(&mut self, node: u32) {
        if self.depth == self.tree.height {
            let end = in_time(self.tree.leaves[node].rows().los(), self.probe);
            self.leaf = self.span(&self.tree.leaves[node], node, end);
        } else {
            // The first child may start anywhere: its separator is never read.
            let separators = &self.tree.inners[node].rows().los()[1..];
            let end = in_time(separators, self.probe) + 1;
            self.path[self.depth] = self.span(&self.tree.inners[node], node, end);
            self.depth += 1;
        }
    }

    #[inline]
    fn span(&self, rows: &impl Node<B, V, N>, node: u32, end: usize) -> Span {
        let next = rows.first_to_reach(end, |hi| self.probe.reaches(hi));
        Span { node, next: row_number(next), end: row_number(end) }
    }

    /// Advances to the next leaf that may hold a match; false if there is none.
    #[inline]
    fn next_leaf(&mut self) -> bool {
        while self.depth > 0 {
            let span = self.path[self.depth - 1];
            let reaches = &self.tree.inners[span.node].ends()[span.next as usize..span.end as usize];
            match reaches.iter().position(|reach| self.probe.reaches(reach)) {
                None => self.depth -= 1,
                Some(skipped) => {
                    let row = span.next as usize + skipped;
                    self.path[self.depth - 1].next = row_number(row + 1);
                    let was_last_level = self.depth == self.tree.height;
                    self.enter(self.tree.inners[span.node].child(row));
                    if was_last_level {
                        return true;
                    }
                }
            }
        }
        false
    }
}

/// Number of leading rows that start early enough.
#[inline]
fn in_time<B: Ord>(los: &[Cut<B>], probe: impl Probe<B>) -> usize {
    count_while(los, |lo| probe.starts_in_time(lo))
}

#[expect(clippy::cast_possible_truncation, reason = "a node has far fewer than 2^32 rows")]
fn row_number(row: usize) -> u32 {
    row as u32
}

impl<B, V, P, const N: usize> fmt::Debug for Matches<'_, B, V, P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matches")
            .field("depth", &self.depth)
            .field("leaf", &self.leaf)
            .finish_non_exhaustive()
    }
}

/// An entry of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a, B, V> {
    /// Where its interval starts.
    pub lo: &'a Cut<B>,
    /// Where its interval ends.
    pub hi: &'a Cut<B>,
    /// Its value.
    pub value: V,
}

impl<B: Ord + Clone, V> Entry<'_, B, V> {
    /// A copy of its interval.
    pub(crate) fn interval(&self) -> Interval<B> {
        Interval::between(self.lo.clone(), self.hi.clone()).expect("entries hold intervals")
    }
}

impl<'a, B: Ord + Clone, V: Ord + Copy, P: Probe<B>, const N: usize> Iterator for Matches<'a, B, V, P, N> {
    type Item = Entry<'a, B, V>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Span { node, next, end } = self.leaf;
            if next < end {
                let (rows, next) = (self.tree.leaves[node].rows(), next as usize);
                let his = &rows.his()[next..end as usize];
                if let Some(skipped) = his.iter().position(|hi| self.probe.reaches(hi)) {
                    let row = next + skipped;
                    self.leaf.next = row_number(row + 1);
                    return Some(Entry { lo: &rows.los()[row], hi: &his[skipped], value: rows.value(row) });
                }
            }
            if !self.next_leaf() {
                self.leaf.end = self.leaf.next;
                return None;
            }
        }
    }
}
