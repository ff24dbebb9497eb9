//! A leaf or an inner node: rows in parallel arrays.
//!
//! A row of a leaf is an entry. A row of an inner node is a child: the smallest entry that may stand below it (its
//! *separator*), its number, and its reach. The separator of the first child is not looked at.
//!
//! Each row also knows which row, up to itself, ends last: its *peak*. Among the rows that start in time, those before
//! the first whose peak reaches the query cannot match, so a query looks at few rows of a node where intervals are short.

use std::cmp::Ordering;

use crate::interval::{Cut, Interval};

/// An entry, or a separator.
#[derive(Clone)]
pub(super) struct OwnedEntry<B, V> {
    pub(super) interval: Interval<B>,
    pub(super) value: V,
}

/// What leaves and inner nodes have in common. Slots behind `len` hold something that does not count.
#[derive(Clone)]
pub(super) struct Rows<B, V, const N: usize> {
    len: usize,
    peaks: [u8; N],
    los: [Cut<B>; N],
    his: [Cut<B>; N],
    values: [V; N],
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Rows<B, V, N> {
    fn new(value: V) -> Self {
        let (los, his) = (std::array::from_fn(|_| Cut::Least), std::array::from_fn(|_| Cut::Greatest));
        Self { len: 0, peaks: [0; N], los, his, values: [value; N] }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn los(&self) -> &[Cut<B>] {
        &self.los[..self.len]
    }

    #[inline(always)]
    pub(super) fn his(&self) -> &[Cut<B>] {
        &self.his[..self.len]
    }

    #[inline(always)]
    pub(super) fn value(&self, row: usize) -> V {
        self.values[row]
    }

    /// The entry of a row.
    pub(super) fn entry(&self, row: usize) -> OwnedEntry<B, V> {
        let interval = Interval::between(self.los[row].clone(), self.his[row].clone());
        OwnedEntry { interval: interval.expect("rows hold intervals"), value: self.values[row] }
    }

    #[inline]
    fn cmp_row(&self, row: usize, entry: &OwnedEntry<B, V>) -> Ordering {
        let by_lo = self.los[row].cmp(entry.interval.lo());
        by_lo
            .then_with(|| self.his[row].cmp(entry.interval.hi()))
            .then_with(|| self.values[row].cmp(&entry.value))
    }

    /// Number of the first row, `first` or behind it, that does not stand before `entry`, or is not it if `or_equal`.
    #[inline]
    pub(super) fn place_of(&self, first: usize, entry: &OwnedEntry<B, V>, or_equal: bool) -> usize {
        let (mut low, mut high) = (first, self.len);
        if is_small::<B>() {
            low += count_while(&self.los()[first..], |lo| lo < entry.interval.lo());
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            let order = self.cmp_row(middle, entry);
            if order == Ordering::Less || (or_equal && order == Ordering::Equal) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Whether a row is `entry`.
    pub(super) fn is_row(&self, row: usize, entry: &OwnedEntry<B, V>) -> bool {
        row < self.len && self.cmp_row(row, entry) == Ordering::Equal
    }

    pub(super) fn set_entry(&mut self, row: usize, entry: OwnedEntry<B, V>) {
        (self.los[row], self.his[row]) = entry.interval.into_cuts();
        self.values[row] = entry.value;
    }

    fn insert(&mut self, row: usize, entry: OwnedEntry<B, V>) {
        let (lo, hi) = entry.interval.into_cuts();
        put(&mut self.los[row..=self.len], lo);
        put(&mut self.his[row..=self.len], hi);
        put(&mut self.values[row..=self.len], entry.value);
        self.len += 1;
    }

    fn remove(&mut self, row: usize) {
        take(&mut self.los[row..self.len], Cut::Least);
        take(&mut self.his[row..self.len], Cut::Greatest);
        self.values[row..self.len].rotate_left(1);
        self.len -= 1;
    }
}

/// Whether cuts are so small that comparing them in turn beats halving: their cache lines are fetched together.
const fn is_small<B>() -> bool {
    size_of::<Cut<B>>() <= 16
}

/// Number of cuts before the first for which `holds` is false; it is for all behind that.
#[inline(always)]
pub(super) fn count_while<B>(cuts: &[Cut<B>], holds: impl Fn(&Cut<B>) -> bool) -> usize {
    if is_small::<B>() {
        cuts.iter().position(|cut| !holds(cut)).unwrap_or(cuts.len())
    } else {
        cuts.partition_point(holds)
    }
}

/// Puts `value` first, and the others one place on, over the last.
fn put<T>(slots: &mut [T], value: T) {
    slots.rotate_right(1);
    slots[0] = value;
}

/// Drops the first, moves the others there, and puts `filler` last.
fn take<T>(slots: &mut [T], filler: T) {
    slots.rotate_left(1);
    slots[slots.len() - 1] = filler;
}

/// A leaf or an inner node, so that splits and merges are written once.
pub(super) trait Node<B: Ord + Clone, V: Ord + Copy, const N: usize>: Sized {
    /// A node without rows; `value` fills its slots.
    fn new(value: V) -> Self;
    fn rows(&self) -> &Rows<B, V, N>;
    fn rows_mut(&mut self) -> &mut Rows<B, V, N>;
    /// Where the rows end: the upper ends of entries, the reaches of children.
    fn ends(&self) -> &[Cut<B>];
    /// Swaps `count` slots from `from` on with those of another node from `to` on.
    fn swap(&mut self, from: usize, other: &mut Self, to: usize, count: usize);
    /// Turns the first `len` slots so that those from `from` on come first.
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

    /// Finds the peaks of the rows from `from` on anew.
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

    /// Moves `count` rows from row `at` on behind the rows of `to`. They are the first or the last here.
    fn move_to_end(&mut self, at: usize, count: usize, to: &mut Self) {
        let (len, to_len) = (self.rows().len, to.rows().len);
        self.swap(at, to, to_len, count);
        self.rotate(len, if at == 0 { count } else { 0 });
        self.set_len(len - count);
        to.set_len(to_len + count);
    }

    /// Moves the last `count` rows before the rows of `to`.
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

fn swap_rows<B, V, const N: usize>(
    a: &mut Rows<B, V, N>,
    from: usize,
    b: &mut Rows<B, V, N>,
    to: usize,
    count: usize,
) {
    a.los[from..from + count].swap_with_slice(&mut b.los[to..to + count]);
    a.his[from..from + count].swap_with_slice(&mut b.his[to..to + count]);
    a.values[from..from + count].swap_with_slice(&mut b.values[to..to + count]);
}

fn rotate_rows<B, V, const N: usize>(rows: &mut Rows<B, V, N>, len: usize, from: usize) {
    rows.los[..len].rotate_left(from);
    rows.his[..len].rotate_left(from);
    rows.values[..len].rotate_left(from);
}
