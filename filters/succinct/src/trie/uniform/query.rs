//! Walks: which ends of a range are stored, and the next prefix at or after a given one.

use std::cmp::Ordering;

use super::super::step::Step;
use super::layout::UniformTrie;
use super::path::{IntegerPath, Path};
use crate::arch::Isa;

/// Which prefixes of a range are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meeting {
    /// The first one is.
    pub first: bool,
    /// The last one is.
    pub last: bool,
    /// One strictly between them is; if so, the others may be left open.
    pub between: bool,
}

impl Meeting {
    const NONE: Self = Self { first: false, last: false, between: false };
    const BETWEEN: Self = Self { first: false, last: false, between: true };
}

impl UniformTrie {
    /// Whether the prefix `path` is stored.
    #[inline(always)]
    pub fn contains<I: Isa>(&self, isa: I, bytes: &[u8], path: &impl Path) -> bool {
        self.meet(isa, bytes, path, path).first
    }

    /// Which of the prefixes from `lo` to `hi`, which must not be below it, are stored.
    #[inline(always)]
    pub fn meet<I: Isa>(&self, isa: I, bytes: &[u8], lo: &impl Path, hi: &impl Path) -> Meeting {
        let trie = bytes.get(self.branches_at..).unwrap_or_default();
        let mut node = self.branches.root();
        for depth in 0..self.labels {
            let (low, high) = (lo.label(depth), hi.label(depth));
            if low != high {
                return self.meet_fork(isa, (bytes, trie), node, depth, (lo, hi));
            }
            match self.branches.step(isa, trie, node, low) {
                Step::Absent => return Meeting::NONE,
                Step::Leaf(slot) => {
                    let tail = self.tail_at(isa, (bytes, trie), slot, depth + 1);
                    return place(compare(tail, lo, depth + 1), compare(tail, hi, depth + 1));
                }
                Step::Node { child, .. } => node = child,
            }
        }
        // Only damaged bytes have a node after the last label.
        Meeting::BETWEEN
    }

    /// As [`meet`](Self::meet), from the `node` at `depth` where the two paths part.
    #[inline(always)]
    fn meet_fork<I: Isa>(
        &self,
        isa: I,
        (bytes, trie): (&[u8], &[u8]),
        node: u64,
        depth: usize,
        (lo, hi): (&impl Path, &impl Path),
    ) -> Meeting {
        let after = u32::from(lo.label(depth)) + 1;
        let inner = self.branches.first_at_or_after(isa, trie, node, after);
        if inner.is_some_and(|slot| self.branches.label(trie, slot) < hi.label(depth)) {
            return Meeting::BETWEEN;
        }
        let low = self.side(isa, (bytes, trie), node, depth, lo, Ordering::Greater);
        if low == Side::Inside {
            return Meeting::BETWEEN;
        }
        let high = self.side(isa, (bytes, trie), node, depth, hi, Ordering::Less);
        Meeting { first: low == Side::At, last: high == Side::At, between: high == Side::Inside }
    }

    /// What is stored below the branch that `path` takes from `node`: `path` itself, or a prefix that is `inner` to it.
    #[inline(always)]
    fn side<I: Isa>(
        &self,
        isa: I,
        (bytes, trie): (&[u8], &[u8]),
        mut node: u64,
        mut depth: usize,
        path: &impl Path,
        inner: Ordering,
    ) -> Side {
        loop {
            match self.branches.step(isa, trie, node, path.label(depth)) {
                Step::Absent => return Side::Nothing,
                Step::Leaf(slot) => {
                    let tail = self.tail_at(isa, (bytes, trie), slot, depth + 1);
                    return Side::of(compare(tail, path, depth + 1), inner);
                }
                Step::Node { child, .. } => node = child,
            }
            depth += 1;
            if depth >= self.labels {
                return Side::Inside;
            }
            let label = u32::from(path.label(depth));
            let neighbour = match inner {
                Ordering::Greater => self.branches.first_at_or_after(isa, trie, node, label + 1),
                _ => self.branches.last_before(isa, trie, node, label),
            };
            if neighbour.is_some() {
                return Side::Inside;
            }
        }
    }

    #[inline(always)]
    fn tail_at<'b, I: Isa>(
        &self,
        isa: I,
        (bytes, trie): (&'b [u8], &[u8]),
        slot: u64,
        depth: usize,
    ) -> &'b [u8] {
        if depth == self.labels {
            return &[];
        }
        self.tail(bytes, self.branches.leaf(isa, trie, slot), depth)
    }

    /// Writes the labels of the smallest stored prefix that is not below `path` to `out`, which must hold one byte for
    /// each label; gives whether there is one.
    pub fn next<I: Isa>(&self, isa: I, bytes: &[u8], path: &impl Path, out: &mut [u8]) -> bool {
        let trie = bytes.get(self.branches_at..).unwrap_or_default();
        let mut node = self.branches.root();
        // The deepest branch after `path`, with its depth: where to go if the path itself leads nowhere.
        let mut behind = None;
        for depth in 0..self.labels.min(out.len()) {
            let label = path.label(depth);
            if let Some(slot) = self.branches.first_at_or_after(isa, trie, node, u32::from(label) + 1) {
                behind = Some((slot, depth));
            }
            out[depth] = label;
            match self.branches.step(isa, trie, node, label) {
                Step::Absent => break,
                Step::Leaf(slot) => {
                    let tail = self.tail_at(isa, (bytes, trie), slot, depth + 1);
                    if compare(tail, path, depth + 1) == Ordering::Less {
                        break;
                    }
                    put_tail(tail, &mut out[depth + 1..]);
                    return true;
                }
                Step::Node { child, .. } => node = child,
            }
        }
        let Some((slot, depth)) = behind else { return false };
        self.first_below(isa, (bytes, trie), slot, depth, out)
    }

    /// Writes the labels from `depth` on of the first prefix below `slot`.
    fn first_below<I: Isa>(
        &self,
        isa: I,
        (bytes, trie): (&[u8], &[u8]),
        mut slot: u64,
        depth: usize,
        out: &mut [u8],
    ) -> bool {
        for place in depth..self.labels.min(out.len()) {
            out[place] = self.branches.label(trie, slot);
            if !self.branches.has_child(trie, slot) {
                put_tail(self.tail_at(isa, (bytes, trie), slot, place + 1), &mut out[place + 1..]);
                return true;
            }
            let child = self.branches.child(isa, trie, slot);
            match self.branches.first_at_or_after(isa, trie, child, 0) {
                Some(first) => slot = first,
                None => return false,
            }
        }
        false
    }

    /// The smallest stored prefix that is not below `prefix`, in a trie of at most 64 bits; `None` also if the trie is
    /// deeper.
    pub fn next_integer<I: Isa>(&self, isa: I, bytes: &[u8], prefix: u64) -> Option<u64> {
        if self.bits > 64 {
            return None;
        }
        let mut labels = [0; 8];
        let path = IntegerPath::new(prefix, self.bits);
        if self.next(isa, bytes, &path, &mut labels[..self.labels]) {
            Some(u64::from_be_bytes(labels) >> (64 - 8 * self.labels))
        } else {
            None
        }
    }
}

/// The result of a walk along one end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Nothing,
    At,
    Inside,
}

impl Side {
    fn of(order: Ordering, inner: Ordering) -> Self {
        match order {
            Ordering::Equal => Self::At,
            order if order == inner => Self::Inside,
            _ => Self::Nothing,
        }
    }
}

/// How a stored prefix with this tail compares with `path`, which shares its first `depth` labels.
#[inline(always)]
fn compare(tail: &[u8], path: &impl Path, depth: usize) -> Ordering {
    for (place, &label) in tail.iter().enumerate() {
        match label.cmp(&path.label(depth + place)) {
            Ordering::Equal => {}
            order => return order,
        }
    }
    Ordering::Equal
}

/// The meeting of a single stored prefix that compares so with the ends of the range.
fn place(with_lo: Ordering, with_hi: Ordering) -> Meeting {
    Meeting {
        first: with_lo == Ordering::Equal,
        last: with_hi == Ordering::Equal,
        between: with_lo == Ordering::Greater && with_hi == Ordering::Less,
    }
}

fn put_tail(tail: &[u8], out: &mut [u8]) {
    let len = tail.len().min(out.len());
    out[..len].copy_from_slice(&tail[..len]);
}
