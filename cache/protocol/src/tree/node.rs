//! A leaf or an inner node: rows in parallel arrays.
//!
//! A row of a leaf is an entry. A row of an inner node is a child: the smallest entry that may be below it (its
//! *separator*), its number, and its reach. The separator of the first child is never read.
//!
//! Each row also stores the index of the row, up to itself, with the largest end: its *peak*. Rows before the
//! first whose peak reaches the query cannot match, so a query looks at few rows of a node where intervals are
//! short.

use super::rows::{OwnedEntry, Rows, put, rotate_rows, swap_rows, take};
use crate::interval::Cut;

/// A leaf or an inner node, so that splits and merges are written once.
pub(super) trait Node<B: Ord + Clone, V: Ord + Copy, const N: usize>: Sized {
    /// A node without rows; `value` fills its slots.
    fn new(value: V) -> Self;
    fn rows(&self) -> &Rows<B, V, N>;
    fn rows_mut(&mut self) -> &mut Rows<B, V, N>;
    /// The ends of the rows: the upper ends of entries, the reaches of children.
    fn ends(&self) -> &[Cut<B>];
    /// Swaps `count` slots starting at `from` with those of another node starting at `to`.
    fn swap(&mut self, from: usize, other: &mut Self, to: usize, count: usize);
    /// Rotates the first `len` slots so that those starting at `from` come first.
    fn rotate(&mut self, len: usize, from: usize);
    fn remove(&mut self, row: usize);

    /// The largest upper end below the node, which has a row.
    #[inline]
    fn reach(&self) -> &Cut<B> {
        let ends = self.ends();
        &ends[usize::from(self.rows().peaks[ends.len() - 1])]
    }

    /// The first of the rows before `end` that may reach a place, given what reaches it; `end` if none does.
    #[inline(always)]
    fn first_to_reach(&self, end: usize, reaches: impl Fn(&Cut<B>) -> bool) -> usize {
        let (ends, peaks) = (self.ends(), &self.rows().peaks);
        let mut first = end;
        while first > 0 && reaches(&ends[usize::from(peaks[first - 1])]) {
            first -= 1;
        }
        first
    }

    /// Recomputes the peaks of the rows starting at `from`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a node has at most 256 rows")]
    fn find_peaks(&mut self, from: usize) {
        let mut peaks = self.rows().peaks;
        let ends = self.ends();
        for row in from..ends.len() {
            let before = if row > 0 { usize::from(peaks[row - 1]) } else { 0 };
            peaks[row] = if ends[row] > ends[before] { row as u8 } else { before as u8 };
        }
        self.rows_mut().peaks = peaks;
    }

    /// Moves `count` rows starting at row `at` to the end of `to`. They are the first or the last here.
    fn move_to_end(&mut self, at: usize, count: usize, to: &mut Self) {
        let (len, to_len) = (self.rows().len, to.rows().len);
        self.swap(at, to, to_len, count);
        self.rotate(len, if at == 0 { count } else { 0 });
        self.set_len(len - count);
        to.set_len(to_len + count);
    }

    /// Moves the last `count` rows to the front of `to`.
    fn move_to_front(&mut self, count: usize, to: &mut Self) {
        let (len, to_len) = (self.rows().len, to.rows().len);
        self.swap(len - count, to, to_len, count);
        to.rotate(to_len + count, to_len);
        self.set_len(len - count);
        to.set_len(to_len + count);
    }

    fn set_len(&mut self, len: usize) {
        self.rows_mut().len = len;
        self.find_peaks(0);
    }
}

/// A node of the bottom level: entries.
#[derive(Clone)]
pub(super) struct Leaf<B, V, const N: usize>(Rows<B, V, N>);

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Leaf<B, V, N> {
    pub(super) fn insert(&mut self, row: usize, entry: OwnedEntry<B, V>) {
        self.0.insert(row, entry);
        self.find_peaks(row);
    }
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Node<B, V, N> for Leaf<B, V, N> {
    fn new(value: V) -> Self {
        Self(Rows::new(value))
    }
    #[inline(always)]
    fn rows(&self) -> &Rows<B, V, N> {
        &self.0
    }
    fn rows_mut(&mut self) -> &mut Rows<B, V, N> {
        &mut self.0
    }
    #[inline(always)]
    fn ends(&self) -> &[Cut<B>] {
        self.0.his()
    }
    fn swap(&mut self, from: usize, other: &mut Self, to: usize, count: usize) {
        swap_rows(&mut self.0, from, &mut other.0, to, count);
    }
    fn rotate(&mut self, len: usize, from: usize) {
        rotate_rows(&mut self.0, len, from);
    }
    fn remove(&mut self, row: usize) {
        self.0.remove(row);
        self.find_peaks(row);
    }
}

/// A node above the leaves: children with their separators and reaches.
#[derive(Clone)]
pub(super) struct Inner<B, V, const N: usize> {
    rows: Rows<B, V, N>,
    reaches: [Cut<B>; N],
    children: [u32; N],
}

/// A child as its parent knows it.
pub(super) struct Child<B, V> {
    pub(super) separator: OwnedEntry<B, V>,
    pub(super) node: u32,
    pub(super) reach: Cut<B>,
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Inner<B, V, N> {
    #[inline(always)]
    pub(super) fn child(&self, row: usize) -> u32 {
        self.children[row]
    }

    pub(super) fn set_reach(&mut self, row: usize, reach: Cut<B>) {
        self.reaches[row] = reach;
        self.find_peaks(row);
    }

    pub(super) fn insert(&mut self, row: usize, child: Child<B, V>) {
        let len = self.rows.len;
        self.rows.insert(row, child.separator);
        put(&mut self.children[row..=len], child.node);
        put(&mut self.reaches[row..=len], child.reach);
        self.find_peaks(row);
    }
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Node<B, V, N> for Inner<B, V, N> {
    fn new(value: V) -> Self {
        Self { rows: Rows::new(value), reaches: std::array::from_fn(|_| Cut::Least), children: [0; N] }
    }
    #[inline(always)]
    fn rows(&self) -> &Rows<B, V, N> {
        &self.rows
    }
    fn rows_mut(&mut self) -> &mut Rows<B, V, N> {
        &mut self.rows
    }
    #[inline(always)]
    fn ends(&self) -> &[Cut<B>] {
        &self.reaches[..self.rows.len]
    }
    fn swap(&mut self, from: usize, other: &mut Self, to: usize, count: usize) {
        swap_rows(&mut self.rows, from, &mut other.rows, to, count);
        self.children[from..from + count].swap_with_slice(&mut other.children[to..to + count]);
        self.reaches[from..from + count].swap_with_slice(&mut other.reaches[to..to + count]);
    }
    fn rotate(&mut self, len: usize, from: usize) {
        rotate_rows(&mut self.rows, len, from);
        self.children[..len].rotate_left(from);
        self.reaches[..len].rotate_left(from);
    }
    fn remove(&mut self, row: usize) {
        let len = self.rows.len;
        self.rows.remove(row);
        take(&mut self.children[row..len], 0);
        take(&mut self.reaches[row..len], Cut::Least);
        self.find_peaks(row);
    }
}
