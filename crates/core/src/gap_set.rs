//! What has been learned about one immutable file: intervals of keys that are proven to hold none.
//!
//! A filter repeats its false positives for as long as the file lives. Whoever has read the file and found nothing
//! between two of its keys may note that here, and the next query inside the gap needs no read: with keys 3, 7 and 9
//! the gaps are `[4, 6]` and `[8, 8]`, and the range `5..=6` is known to be empty. Intervals that overlap or touch
//! become one; those two never do, since the key 7 stands between them.
//!
//! Guarantee: what is reported empty lies in the union of what was learned, so it is as true as the proofs. Only the
//! file's own raw entries, of every type and sequence number, are proofs: an empty scan of a database is none, because
//! snapshots, tombstones and expiry hide entries that the file holds.
//!
//! Cost: 17 bytes an interval, within a budget of memory that is taken at once. A question is one binary search,
//! without a lock; one that meets a writer again and again is answered "not known". Learning is off the query path:
//! it takes a lock and moves the intervals behind the new one. When the budget is used up, the clock algorithm drops an
//! interval that was not asked for since the hand came by last.
//!
//! The sequence lock is Boehm's, "Can seqlocks get along with programming language memory models?", MSPC 2012; the clock
//! is Corbató's, 1968.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::range::U64Range;

/// How often a question that meets a writer is asked again.
const ATTEMPTS: usize = 8;

/// A bounded set of disjoint closed intervals proven empty for one immutable file.
///
/// ```
/// use lacuna_core::{GapSet, U64Range};
///
/// let gaps = GapSet::within(4_096);
/// gaps.learn(U64Range::new(4, 6).expect("4 <= 6"));
/// gaps.learn(U64Range::point(8));
/// assert!(gaps.is_known_empty(U64Range::new(5, 6).expect("5 <= 6")));
/// assert!(!gaps.is_known_empty(U64Range::new(6, 8).expect("6 <= 8")));
/// ```
pub struct GapSet {
    /// Odd while a writer is at work.
    version: AtomicU64,
    len: AtomicUsize,
    slots: Box<[Slot]>,
    asked_for: Box<[AtomicU8]>,
    /// Where the clock's hand stands; whoever holds it may write.
    hand: Mutex<usize>,
}

/// One interval.
#[derive(Default)]
struct Slot {
    lo: AtomicU64,
    hi: AtomicU64,
}

impl Slot {
    fn load(&self) -> (u64, u64) {
        (self.lo.load(Ordering::Relaxed), self.hi.load(Ordering::Relaxed))
    }

    fn store(&self, (lo, hi): (u64, u64)) {
        self.lo.store(lo, Ordering::Relaxed);
        self.hi.store(hi, Ordering::Relaxed);
    }
}

impl GapSet {
    /// Bytes one interval takes: two ends and its clock bit.
    pub const INTERVAL_BYTES: usize = size_of::<Slot>() + size_of::<AtomicU8>();

    /// A set that takes at most `memory_bytes` of memory, itself included; if that is too little for an interval, it
    /// learns nothing.
    pub fn within(memory_bytes: usize) -> Self {
        let capacity = memory_bytes.saturating_sub(size_of::<Self>()) / Self::INTERVAL_BYTES;
        Self {
            version: AtomicU64::new(0),
            len: AtomicUsize::new(0),
            slots: (0..capacity).map(|_| Slot::default()).collect(),
            asked_for: (0..capacity).map(|_| AtomicU8::new(0)).collect(),
            hand: Mutex::new(0),
        }
    }

    /// Whether `range` lies in an interval that was learned. Takes no lock and allocates nothing.
    pub fn is_known_empty(&self, range: U64Range) -> bool {
        for _ in 0..ATTEMPTS {
            let before = self.version.load(Ordering::Acquire);
            let place = self.place_of(range);
            fence(Ordering::Acquire);
            let undisturbed = before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before;
            if undisturbed {
                return place.is_some();
            }
            std::hint::spin_loop();
        }
        false
    }

    /// The interval around `range`, if what is read now stands still.
    fn place_of(&self, range: U64Range) -> Option<usize> {
        let place = self.count_from_below(range.lo()).checked_sub(1)?;
        let (lo, hi) = self.slots.get(place)?.load();
        if lo > range.lo() || hi < range.hi() {
            return None;
        }
        let asked_for = self.asked_for.get(place)?;
        if asked_for.load(Ordering::Relaxed) == 0 {
            asked_for.store(1, Ordering::Relaxed);
        }
        Some(place)
    }

    /// Number of intervals that start at or below `key`.
    fn count_from_below(&self, key: u64) -> usize {
        let intervals = &self.slots[..self.len().min(self.slots.len())];
        intervals.partition_point(|slot| slot.lo.load(Ordering::Relaxed) <= key)
    }

    /// Notes that the file holds no key in `gap`.
    pub fn learn(&self, gap: U64Range) {
        if self.slots.is_empty() {
            return;
        }
        let mut hand = self.lock();
        let (first, end) = self.touched_by(gap);
        if first < end && self.slots[first].load().0 <= gap.lo() && self.slots[first].load().1 >= gap.hi() {
            return;
        }
        self.write(|| {
            if first < end {
                let lo = self.slots[first].load().0.min(gap.lo());
                let hi = self.slots[end - 1].load().1.max(gap.hi());
                self.slots[first].store((lo, hi));
                self.remove(first + 1, end, &mut hand);
            } else {
                if self.len() == self.slots.len() {
                    self.evict(&mut hand);
                }
                self.insert(self.count_from_below(gap.lo()), gap, &mut hand);
            }
        });
    }

    /// The intervals that overlap `gap` or touch it.
    fn touched_by(&self, gap: U64Range) -> (usize, usize) {
        let intervals = &self.slots[..self.len()];
        // An interval that ends one key before the gap touches it.
        let first = intervals.partition_point(|slot| slot.load().1.saturating_add(1) < gap.lo());
        let end = intervals.partition_point(|slot| slot.load().0 <= gap.hi().saturating_add(1));
        (first, end)
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `change` while readers see an odd version. Only for the holder of the lock.
    fn write(&self, change: impl FnOnce()) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        change();
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// Puts `gap` at `place`, in front of what stands there; there is room. The hand comes to it last.
    fn insert(&self, place: usize, gap: U64Range, hand: &mut usize) {
        let len = self.len();
        (place..len).rev().for_each(|from| self.copy(from, from + 1));
        self.slots[place].store((gap.lo(), gap.hi()));
        self.asked_for[place].store(0, Ordering::Relaxed);
        *hand += usize::from(place <= *hand);
        self.len.store(len + 1, Ordering::Relaxed);
    }

    /// Takes out the intervals `from..to`; the hand keeps pointing to what it points to.
    fn remove(&self, from: usize, to: usize, hand: &mut usize) {
        let len = self.len();
        *hand -= (*hand).clamp(from, to) - from;
        (to..len).for_each(|place| self.copy(place, place - (to - from)));
        self.len.store(len - (to - from), Ordering::Relaxed);
    }

    fn copy(&self, from: usize, to: usize) {
        self.slots[to].store(self.slots[from].load());
        self.asked_for[to].store(self.asked_for[from].load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Takes out the first interval from the hand on that was not asked for, giving the others another round.
    fn evict(&self, hand: &mut usize) {
        let len = self.len();
        // Readers may set bits behind the hand, so a second round need not find one either: then it takes what is there.
        for _ in 0..2 * len {
            *hand %= len;
            if self.asked_for[*hand].swap(0, Ordering::Relaxed) == 0 {
                break;
            }
            *hand += 1;
        }
        *hand %= len;
        let place = *hand;
        self.remove(place, place + 1, hand);
    }

    /// Number of intervals.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Whether nothing was learned.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Most intervals it can hold.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Bytes of memory it takes, however many intervals it holds.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.capacity() * Self::INTERVAL_BYTES
    }

    /// The intervals, ascending, as they stand between two changes.
    pub fn intervals(&self) -> Vec<U64Range> {
        let _hand = self.lock();
        let intervals = self.slots[..self.len()].iter().map(Slot::load);
        intervals.filter_map(|(lo, hi)| U64Range::new(lo, hi)).collect()
    }
}

impl fmt::Debug for GapSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GapSet").field("len", &self.len()).field("capacity", &self.capacity()).finish()
    }
}

#[cfg(test)]
#[path = "gap_set_tests.rs"]
mod tests;
