//! Rows of a node in parallel arrays: what leaves and inner nodes have in common.

use std::cmp::Ordering;

use crate::interval::{Cut, Interval};

/// An entry, or a separator.
#[derive(Clone)]
pub(super) struct OwnedEntry<B, V> {
    pub(super) interval: Interval<B>,
    pub(super) value: V,
}

/// What leaves and inner nodes have in common. The content of slots from `len` on is undefined.
#[derive(Clone)]
pub(super) struct Rows<B, V, const N: usize> {
    pub(super) len: usize,
    pub(super) peaks: [u8; N],
    los: [Cut<B>; N],
    his: [Cut<B>; N],
    values: [V; N],
}

impl<B: Ord + Clone, V: Ord + Copy, const N: usize> Rows<B, V, N> {
    pub(super) fn new(value: V) -> Self {
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

    /// Index of the first row from `first` on that is greater than `entry`, or equal to it unless `or_equal`.
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

    pub(super) fn insert(&mut self, row: usize, entry: OwnedEntry<B, V>) {
        let (lo, hi) = entry.interval.into_cuts();
        put(&mut self.los[row..=self.len], lo);
        put(&mut self.his[row..=self.len], hi);
        put(&mut self.values[row..=self.len], entry.value);
        self.len += 1;
    }

    pub(super) fn remove(&mut self, row: usize) {
        take(&mut self.los[row..self.len], Cut::Least);
        take(&mut self.his[row..self.len], Cut::Greatest);
        self.values[row..self.len].rotate_left(1);
        self.len -= 1;
    }
}

/// Whether cuts are so small that a linear scan is faster than a binary search: their cache lines are fetched
/// together.
const fn is_small<B>() -> bool {
    size_of::<Cut<B>>() <= 16
}

/// Number of cuts before the first for which `holds` is false; it is false for all later ones.
#[inline(always)]
pub(super) fn count_while<B>(cuts: &[Cut<B>], holds: impl Fn(&Cut<B>) -> bool) -> usize {
    if is_small::<B>() {
        cuts.iter().position(|cut| !holds(cut)).unwrap_or(cuts.len())
    } else {
        cuts.partition_point(holds)
    }
}

/// Inserts `value` at the front and shifts the others by one; the last is overwritten.
pub(super) fn put<T>(slots: &mut [T], value: T) {
    slots.rotate_right(1);
    slots[0] = value;
}

/// Removes the first, shifts the others by one, and puts `filler` last.
pub(super) fn take<T>(slots: &mut [T], filler: T) {
    slots.rotate_left(1);
    slots[slots.len() - 1] = filler;
}

/// Swaps `count` rows of two nodes.
pub(super) fn swap_rows<B, V, const N: usize>(
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

/// Rotates the first `len` rows so that those starting at `from` come first.
pub(super) fn rotate_rows<B, V, const N: usize>(rows: &mut Rows<B, V, N>, len: usize, from: usize) {
    rows.los[..len].rotate_left(from);
    rows.his[..len].rotate_left(from);
    rows.values[..len].rotate_left(from);
}
