//! Disjoint closed intervals of codes, read without a lock, written by one at a time, evicted by a clock.

use std::array;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a question that meets a writer is asked again.
const ATTEMPTS: usize = 8;

/// A number of `WORDS` words, the most significant first.
pub(super) type Code<const WORDS: usize> = [u64; WORDS];

/// The code after `code`; `None` after the last.
pub(super) fn successor<const WORDS: usize>(code: Code<WORDS>) -> Option<Code<WORDS>> {
    let place = code.iter().rposition(|&word| word < u64::MAX)?;
    // After the word that grows stand only words of ones, which become zeros.
    Some(array::from_fn(|at| if at < place { code[at] } else { code[at].wrapping_add(1) }))
}

/// The code before `code`; `None` before the first.
pub(super) fn predecessor<const WORDS: usize>(code: Code<WORDS>) -> Option<Code<WORDS>> {
    let place = code.iter().rposition(|&word| word > 0)?;
    // After the word that shrinks stand only zeros, which become words of ones.
    Some(array::from_fn(|at| if at < place { code[at] } else { code[at].wrapping_sub(1) }))
}

/// A closed interval of codes with `lo <= hi`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval<const WORDS: usize> {
    pub(super) lo: Code<WORDS>,
    pub(super) hi: Code<WORDS>,
}

/// A place for one interval.
pub(super) struct Slot<const WORDS: usize> {
    lo: [AtomicU64; WORDS],
    hi: [AtomicU64; WORDS],
}

impl<const WORDS: usize> Slot<WORDS> {
    fn new() -> Self {
        Self { lo: array::from_fn(|_| AtomicU64::new(0)), hi: array::from_fn(|_| AtomicU64::new(0)) }
    }

    fn lo(&self) -> Code<WORDS> {
        array::from_fn(|at| self.lo[at].load(Ordering::Relaxed))
    }

    fn hi(&self) -> Code<WORDS> {
        array::from_fn(|at| self.hi[at].load(Ordering::Relaxed))
    }

    fn load(&self) -> Interval<WORDS> {
        Interval { lo: self.lo(), hi: self.hi() }
    }

    fn store(&self, Interval { lo, hi }: Interval<WORDS>) {
        for at in 0..WORDS {
            self.lo[at].store(lo[at], Ordering::Relaxed);
            self.hi[at].store(hi[at], Ordering::Relaxed);
        }
    }
}

/// Intervals in ascending order that neither overlap nor touch each other.
pub(super) struct Intervals<const WORDS: usize> {
    /// Odd while a writer is at work.
    version: AtomicU64,
    len: AtomicUsize,
    slots: Box<[Slot<WORDS>]>,
    asked_for: Box<[AtomicU8]>,
    /// Where the clock's hand stands; its holder may write.
    hand: Mutex<usize>,
}

impl<const WORDS: usize> Intervals<WORDS> {
    /// Bytes one interval takes: two ends and its clock bit.
    pub(super) const INTERVAL_BYTES: usize = size_of::<Slot<WORDS>>() + size_of::<AtomicU8>();

    /// As many places as fit `memory_bytes`.
    pub(super) fn within(memory_bytes: usize) -> Self {
        let capacity = memory_bytes / Self::INTERVAL_BYTES;
        Self {
            version: AtomicU64::new(0),
            len: AtomicUsize::new(0),
            slots: (0..capacity).map(|_| Slot::new()).collect(),
            asked_for: (0..capacity).map(|_| AtomicU8::new(0)).collect(),
            hand: Mutex::new(0),
        }
    }

    /// Whether the interval that `asked` returns lies in a held interval. `asked` is called again if a writer changes
    /// the set meanwhile, and may read what [`write`](Self::write) changes. Takes no lock and allocates nothing.
    pub(super) fn holds(&self, asked: impl Fn() -> Option<Interval<WORDS>>) -> bool {
        for _ in 0..ATTEMPTS {
            let before = self.version.load(Ordering::Acquire);
            let found = asked().is_some_and(|asked| self.is_inside_one(asked));
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before {
                return found;
            }
            std::hint::spin_loop();
        }
        false
    }

    /// Whether `asked` lies in one interval; valid only if no writer is active during the read.
    fn is_inside_one(&self, asked: Interval<WORDS>) -> bool {
        let held = &self.slots[..self.len().min(self.slots.len())];
        let Some(place) = held.partition_point(|slot| slot.lo() <= asked.lo).checked_sub(1) else {
            return false;
        };
        let inside = held[place].lo() <= asked.lo && asked.hi <= held[place].hi();
        if inside && self.asked_for[place].load(Ordering::Relaxed) == 0 {
            self.asked_for[place].store(1, Ordering::Relaxed);
        }
        inside
    }

    /// Adds the interval that `read` gives, joined with what overlaps or touches it. No other writer comes between the
    /// reading and the adding.
    pub(super) fn add(&self, read: impl FnOnce() -> Option<Interval<WORDS>>) {
        let mut hand = self.lock();
        let Some(new) = read().filter(|_| !self.slots.is_empty()) else { return };
        let (first, end) = self.touched_by(new);
        if end - first == 1 && self.slots[first].lo() <= new.lo && new.hi <= self.slots[first].hi() {
            return;
        }
        self.write(|| {
            if first < end {
                let lo = self.slots[first].lo().min(new.lo);
                let hi = self.slots[end - 1].hi().max(new.hi);
                self.slots[first].store(Interval { lo, hi });
                self.remove(first + 1, end, &mut hand);
            } else {
                if self.len() == self.slots.len() {
                    self.evict(&mut hand);
                }
                self.insert(new, &mut hand);
            }
        });
    }

    /// The intervals that overlap `new` or touch it.
    fn touched_by(&self, new: Interval<WORDS>) -> (usize, usize) {
        let held = &self.slots[..self.len()];
        // An interval that ends one code before the new one touches it.
        let min = predecessor(new.lo).unwrap_or(new.lo);
        let max = successor(new.hi).unwrap_or(new.hi);
        let first = held.partition_point(|slot| slot.hi() < min);
        (first, held.partition_point(|slot| slot.lo() <= max))
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

    /// Puts `new` where it belongs; there is room. The hand comes to it last.
    fn insert(&self, new: Interval<WORDS>, hand: &mut usize) {
        let len = self.len();
        let place = self.slots[..len].partition_point(|slot| slot.lo() <= new.lo);
        (place..len).rev().for_each(|from| self.copy(from, from + 1));
        self.slots[place].store(new);
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

    /// Takes out the first interval, from the hand on, that was not asked for, and clears the bits of those before it.
    fn evict(&self, hand: &mut usize) {
        let len = self.len();
        // Readers may set bits after the hand, so a second round need not find one either: it then takes the interval
        // there.
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

    /// Forgets everything, and runs `change` in the same moment.
    pub(super) fn clear(&self, change: impl FnOnce()) {
        let mut hand = self.lock();
        self.write(|| {
            *hand = 0;
            self.len.store(0, Ordering::Relaxed);
            change();
        });
    }

    /// Number of intervals.
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Most intervals it can hold.
    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Bytes of memory the places take.
    pub(super) fn memory_bytes(&self) -> usize {
        self.capacity() * Self::INTERVAL_BYTES
    }

    /// The intervals, ascending, as they stand between two changes.
    pub(super) fn list(&self) -> Vec<Interval<WORDS>> {
        let _hand = self.lock();
        self.slots[..self.len()].iter().map(Slot::load).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_count_up_and_down() {
        assert_eq!(successor([0, u64::MAX]), Some([1, 0]));
        assert_eq!(predecessor([1, 0]), Some([0, u64::MAX]));
        assert_eq!(successor([7, 7]), Some([7, 8]));
        assert_eq!(predecessor([7, 7, 7]), Some([7, 7, 6]));
        assert_eq!((successor([u64::MAX; 3]), predecessor([0; 3])), (None, None));
    }
}
