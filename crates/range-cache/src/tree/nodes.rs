//! Leaves and inner nodes: rows of columns, under one set of movements.
//!
//! A row of a leaf is an entry. A row of an inner node is a child: the smallest entry that may stand below it (its
//! *separator*), its number, and its reach. The separator of the first child is not looked at.

use std::cmp::Ordering;

use super::column::Column;
use crate::interval::{Cut, Interval};

/// An entry, or a separator.
#[derive(Clone)]
pub(super) struct OwnedEntry<B, V> {
    pub(super) interval: Interval<B>,
    pub(super) value: V,
}

impl<B: Ord, V: Ord> OwnedEntry<B, V> {
    #[inline]
    fn cmp_row(&self, lo: &Cut<B>, hi: &Cut<B>, value: &V) -> Ordering {
        let by_interval = lo.cmp(self.interval.lo()).then_with(|| hi.cmp(self.interval.hi()));
        by_interval.then_with(|| value.cmp(&self.value))
    }
}

/// The first three columns of a leaf or an inner node, and which nodes are in use.
#[derive(Clone)]
pub(super) struct Rows<B, V, const N: usize> {
    lens: Vec<u32>,
    free: Vec<u32>,
    los: Column<Cut<B>, N>,
    his: Column<Cut<B>, N>,
    values: Column<V, N>,
}

impl<B, V, const N: usize> Default for Rows<B, V, N> {
    fn default() -> Self {
        let (los, his, values) = (Column::default(), Column::default(), Column::default());
        Self { lens: Vec::new(), free: Vec::new(), los, his, values }
    }
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Rows<B, V, N> {
    #[inline(always)]
    pub(super) fn len(&self, node: u32) -> usize {
        self.lens[node as usize] as usize
    }

    #[inline(always)]
    pub(super) fn los(&self, node: u32) -> &[Cut<B>] {
        &self.los.node(node)[..self.len(node)]
    }

    #[inline(always)]
    pub(super) fn his(&self, node: u32) -> &[Cut<B>] {
        &self.his.node(node)[..self.len(node)]
    }

    #[inline(always)]
    pub(super) fn value(&self, node: u32, row: usize) -> V {
        self.values.node(node)[row]
    }

    /// The entry of a row.
    pub(super) fn entry(&self, node: u32, row: usize) -> OwnedEntry<B, V> {
        let (lo, hi) = (self.los(node)[row].clone(), self.his(node)[row].clone());
        let interval = Interval::between(lo, hi).expect("rows hold intervals");
        OwnedEntry { interval, value: self.value(node, row) }
    }

    /// Number of rows from `first` on, `first` included, that stand before `entry`.
    #[inline]
    pub(super) fn rows_before(
        &self,
        node: u32,
        first: usize,
        entry: &OwnedEntry<B, V>,
        or_equal: bool,
    ) -> usize {
        let (los, his, values) = (self.los(node), self.his(node), self.values.node(node));
        let (mut low, mut high) = (first, los.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let order = entry.cmp_row(&los[middle], &his[middle], &values[middle]);
            if order == Ordering::Less || (or_equal && order == Ordering::Equal) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Whether a row is `entry`.
    pub(super) fn is_row(&self, node: u32, row: usize, entry: &OwnedEntry<B, V>) -> bool {
        row < self.len(node)
            && entry.cmp_row(&self.los(node)[row], &self.his(node)[row], &self.value(node, row))
                == Ordering::Equal
    }

    /// A node without rows: a used one if there is one, else the next number. The second says which it was.
    fn take_node(&mut self, value: V) -> (u32, bool) {
        if let Some(node) = self.free.pop() {
            return (node, false);
        }
        let node = u32::try_from(self.lens.len()).expect("a tree has less than 2^32 nodes");
        self.lens.push(0);
        self.los.add_node(Cut::Least);
        self.his.add_node(Cut::Greatest);
        self.values.add_node(value);
        (node, true)
    }

    fn give_back(&mut self, node: u32) {
        self.lens[node as usize] = 0;
        self.free.push(node);
    }

    fn insert(&mut self, node: u32, row: usize, entry: OwnedEntry<B, V>) {
        let len = self.len(node);
        let (lo, hi) = entry.interval.into_cuts();
        self.los.insert(node, len, row, lo);
        self.his.insert(node, len, row, hi);
        self.values.insert(node, len, row, entry.value);
        self.lens[node as usize] += 1;
    }

    fn remove(&mut self, node: u32, row: usize) {
        let (len, value) = (self.len(node), self.value(node, row));
        self.los.remove(node, len, row, Cut::Least);
        self.his.remove(node, len, row, Cut::Greatest);
        self.values.remove(node, len, row, value);
        self.lens[node as usize] -= 1;
    }

    fn set_entry(&mut self, node: u32, row: usize, entry: OwnedEntry<B, V>) {
        let (lo, hi) = entry.interval.into_cuts();
        self.los.node_mut(node)[row] = lo;
        self.his.node_mut(node)[row] = hi;
        self.values.node_mut(node)[row] = entry.value;
    }
}

/// What leaves and inner nodes have in common, so that splits and merges are written once.
pub(super) trait Nodes<B, V, const N: usize>: Sized {
    fn rows(&self) -> &Rows<B, V, N>;
    fn rows_mut(&mut self) -> &mut Rows<B, V, N>;

    /// A node without rows.
    fn new_node(&mut self, value: V) -> u32;

    /// Swaps slots between two nodes, in all columns.
    fn swap(&mut self, from: (u32, usize), to: (u32, usize), count: usize);

    /// Turns the first `len` slots of a node so that those from `from` on come first.
    fn rotate(&mut self, node: u32, len: usize, from: usize);

    /// The largest upper end below a node, which has a row.
    fn reach(&self, node: u32) -> &Cut<B>;
}

/// Movements of rows.
pub(super) trait Move<B: Ord + Clone, V: Ord + Copy, const N: usize>: Nodes<B, V, N> {
    /// Moves the rows from `at` on into a new node.
    fn split_off(&mut self, node: u32, at: usize) -> u32 {
        let value = self.rows().value(node, 0);
        let new = self.new_node(value);
        self.move_to_end(node, at, self.rows().len(node) - at, new);
        new
    }

    /// Moves `count` rows of `from`, from row `at` on, behind the rows of `to`. They are the last or the first of `from`.
    fn move_to_end(&mut self, from: u32, at: usize, count: usize, to: u32) {
        let (from_len, to_len) = (self.rows().len(from), self.rows().len(to));
        self.swap((from, at), (to, to_len), count);
        self.rotate(from, from_len, if at == 0 { count } else { 0 });
        self.set_lens(from, from_len - count, to, to_len + count);
    }

    /// Moves the last `count` rows of `from` before the rows of `to`.
    fn move_to_front(&mut self, from: u32, count: usize, to: u32) {
        let (from_len, to_len) = (self.rows().len(from), self.rows().len(to));
        self.swap((from, from_len - count), (to, to_len), count);
        self.rotate(to, to_len + count, to_len);
        self.set_lens(from, from_len - count, to, to_len + count);
    }

    fn set_lens(&mut self, from: u32, from_len: usize, to: u32, to_len: usize) {
        let small = |len: usize| u32::try_from(len).expect("a node has at most N rows");
        let lens = &mut self.rows_mut().lens;
        (lens[from as usize], lens[to as usize]) = (small(from_len), small(to_len));
    }

    fn give_back(&mut self, node: u32) {
        self.rows_mut().give_back(node);
    }
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize, T: Nodes<B, V, N>> Move<B, V, N> for T {}

/// The bottom level: entries.
#[derive(Clone)]
pub(super) struct Leaves<B, V, const N: usize> {
    rows: Rows<B, V, N>,
}

impl<B, V, const N: usize> Default for Leaves<B, V, N> {
    fn default() -> Self {
        Self { rows: Rows::default() }
    }
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Leaves<B, V, N> {
    pub(super) fn insert(&mut self, node: u32, row: usize, entry: OwnedEntry<B, V>) {
        self.rows.insert(node, row, entry);
    }

    pub(super) fn remove(&mut self, node: u32, row: usize) {
        self.rows.remove(node, row);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let rows = &self.rows;
        rows.los.memory_bytes()
            + rows.his.memory_bytes()
            + rows.values.memory_bytes()
            + (rows.lens.capacity() + rows.free.capacity()) * size_of::<u32>()
    }
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Nodes<B, V, N> for Leaves<B, V, N> {
    #[inline(always)]
    fn rows(&self) -> &Rows<B, V, N> {
        &self.rows
    }
    fn rows_mut(&mut self) -> &mut Rows<B, V, N> {
        &mut self.rows
    }
    fn new_node(&mut self, value: V) -> u32 {
        self.rows.take_node(value).0
    }
    fn swap(&mut self, from: (u32, usize), to: (u32, usize), count: usize) {
        self.rows.los.swap(from, to, count);
        self.rows.his.swap(from, to, count);
        self.rows.values.swap(from, to, count);
    }
    fn rotate(&mut self, node: u32, len: usize, from: usize) {
        self.rows.los.rotate(node, len, from);
        self.rows.his.rotate(node, len, from);
        self.rows.values.rotate(node, len, from);
    }
    fn reach(&self, node: u32) -> &Cut<B> {
        self.rows.his(node).iter().max().expect("the node has a row")
    }
}

/// The levels above: children with their separators and reaches.
#[derive(Clone)]
pub(super) struct Inners<B, V, const N: usize> {
    rows: Rows<B, V, N>,
    children: Column<u32, N>,
    reaches: Column<Cut<B>, N>,
}

/// A child as its parent knows it.
pub(super) struct Child<B, V> {
    pub(super) separator: OwnedEntry<B, V>,
    pub(super) node: u32,
    pub(super) reach: Cut<B>,
}

impl<B, V, const N: usize> Default for Inners<B, V, N> {
    fn default() -> Self {
        Self { rows: Rows::default(), children: Column::default(), reaches: Column::default() }
    }
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Inners<B, V, N> {
    #[inline(always)]
    pub(super) fn child(&self, node: u32, row: usize) -> u32 {
        self.children.node(node)[row]
    }

    #[inline(always)]
    pub(super) fn reaches(&self, node: u32) -> &[Cut<B>] {
        &self.reaches.node(node)[..self.rows.len(node)]
    }

    pub(super) fn set_reach(&mut self, node: u32, row: usize, reach: Cut<B>) {
        self.reaches.node_mut(node)[row] = reach;
    }

    pub(super) fn set_separator(&mut self, node: u32, row: usize, separator: OwnedEntry<B, V>) {
        self.rows.set_entry(node, row, separator);
    }

    pub(super) fn insert(&mut self, node: u32, row: usize, child: Child<B, V>) {
        let len = self.rows.len(node);
        self.rows.insert(node, row, child.separator);
        self.children.insert(node, len, row, child.node);
        self.reaches.insert(node, len, row, child.reach);
    }

    pub(super) fn remove(&mut self, node: u32, row: usize) {
        let len = self.rows.len(node);
        self.rows.remove(node, row);
        self.children.remove(node, len, row, 0);
        self.reaches.remove(node, len, row, Cut::Least);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let rows = &self.rows;
        rows.los.memory_bytes()
            + rows.his.memory_bytes()
            + rows.values.memory_bytes()
            + self.children.memory_bytes()
            + self.reaches.memory_bytes()
            + (rows.lens.capacity() + rows.free.capacity()) * size_of::<u32>()
    }
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Nodes<B, V, N> for Inners<B, V, N> {
    #[inline(always)]
    fn rows(&self) -> &Rows<B, V, N> {
        &self.rows
    }
    fn rows_mut(&mut self) -> &mut Rows<B, V, N> {
        &mut self.rows
    }
    fn new_node(&mut self, value: V) -> u32 {
        let (node, is_new) = self.rows.take_node(value);
        if is_new {
            self.children.add_node(0);
            self.reaches.add_node(Cut::Least);
        }
        node
    }
    fn swap(&mut self, from: (u32, usize), to: (u32, usize), count: usize) {
        self.rows.los.swap(from, to, count);
        self.rows.his.swap(from, to, count);
        self.rows.values.swap(from, to, count);
        self.children.swap(from, to, count);
        self.reaches.swap(from, to, count);
    }
    fn rotate(&mut self, node: u32, len: usize, from: usize) {
        self.rows.los.rotate(node, len, from);
        self.rows.his.rotate(node, len, from);
        self.rows.values.rotate(node, len, from);
        self.children.rotate(node, len, from);
        self.reaches.rotate(node, len, from);
    }
    fn reach(&self, node: u32) -> &Cut<B> {
        self.reaches(node).iter().max().expect("the node has a child")
    }
}
