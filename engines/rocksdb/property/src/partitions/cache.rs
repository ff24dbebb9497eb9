//! The partitions in memory, and the budget that they share.
//!
//! A clock over sixteen parts: a question marks the partition that it finds, and room is made by the hand, which takes the
//! mark away first and the partition at its next turn. So one that was asked once goes before one that was asked again. Memory is taken before a partition is read and given back when
//! its last user lets go, so that the budget holds at every moment. A question holds no lock while it reads or asks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::partitions::counts::PartitionCounters;
use crate::partitions::place::PartitionPlace;

/// Parts with a lock of their own.
const SHARDS: usize = 16;
/// Memory that a partition takes beside its bytes: its owner, its slot, its entry in a hash table half empty.
const OVERHEAD_BYTES: usize = 256;

/// A sealed filter in memory.
#[derive(Debug)]
pub(crate) struct Partition {
    sealed: Vec<u8>,
    _room: Room,
}

impl Partition {
    pub(crate) fn new(sealed: Vec<u8>, room: Room) -> Self {
        Self { sealed, _room: room }
    }

    pub(crate) fn sealed(&self) -> &[u8] {
        &self.sealed
    }
}

/// The memory that partitions take together.
#[derive(Debug)]
struct Budget {
    max_bytes: usize,
    taken: AtomicUsize,
    counters: PartitionCounters,
}

/// Memory taken for one partition, given back on drop.
#[derive(Debug)]
pub(crate) struct Room {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.budget.taken.fetch_sub(self.bytes, Relaxed);
        self.budget.counters.released_bytes.add(self.bytes as u64);
    }
}

#[derive(Debug)]
struct Slot {
    place: PartitionPlace,
    partition: Arc<Partition>,
    is_used: AtomicBool,
}

#[derive(Debug, Default)]
struct Shard {
    slots: Vec<Slot>,
    index: HashMap<PartitionPlace, usize>,
    hand: usize,
}

/// Partitions by their places.
#[derive(Debug)]
pub(crate) struct PartitionCache {
    shards: [RwLock<Shard>; SHARDS],
    /// The part whose turn it is to give one up.
    turn: AtomicUsize,
    budget: Arc<Budget>,
}

impl PartitionCache {
    pub(crate) fn new(max_bytes: usize) -> Self {
        let budget = Budget { max_bytes, taken: AtomicUsize::new(0), counters: PartitionCounters::default() };
        Self { shards: Default::default(), turn: AtomicUsize::new(0), budget: Arc::new(budget) }
    }

    pub(crate) fn counters(&self) -> &PartitionCounters {
        &self.budget.counters
    }

    /// Bytes that all partitions together may take.
    pub(crate) fn max_bytes(&self) -> usize {
        self.budget.max_bytes
    }

    /// Bytes that partitions take now, those being read included.
    pub(crate) fn resident_bytes(&self) -> usize {
        self.budget.taken.load(Relaxed)
    }

    /// The partition, if it is in memory.
    pub(crate) fn get(&self, place: &PartitionPlace) -> Option<Arc<Partition>> {
        let shard = read(&self.shards[shard_of(place)]);
        let slot = &shard.slots[*shard.index.get(place)?];
        slot.is_used.store(true, Relaxed);
        Some(Arc::clone(&slot.partition))
    }

    /// Takes memory for a partition of `bytes`, and gives up others for it; `None` if that makes no room, because it is
    /// larger than the budget, or all of that is in use at this moment.
    pub(crate) fn make_room(&self, bytes: usize) -> Option<Room> {
        let bytes = bytes.saturating_add(OVERHEAD_BYTES);
        let fits = |taken: usize| taken.checked_add(bytes).filter(|&sum| sum <= self.budget.max_bytes);
        if bytes > self.budget.max_bytes {
            return None;
        }
        while self.budget.taken.fetch_update(Relaxed, Relaxed, fits).is_err() {
            self.evict()?;
        }
        self.counters().loaded_bytes.add(bytes as u64);
        Some(Room { budget: Arc::clone(&self.budget), bytes })
    }

    /// Keeps a partition, unless another thread was faster; returns the one that is kept.
    pub(crate) fn keep(&self, place: PartitionPlace, partition: Partition) -> Arc<Partition> {
        let mut shard = write(&self.shards[shard_of(&place)]);
        if let Some(&slot) = shard.index.get(&place) {
            return Arc::clone(&shard.slots[slot].partition);
        }
        let partition = Arc::new(partition);
        let slot = Slot { place, partition: Arc::clone(&partition), is_used: AtomicBool::new(false) };
        let end = shard.slots.len();
        shard.index.insert(place, end);
        shard.slots.push(slot);
        partition
    }

    /// Gives one partition up; `None` if there is none that nothing uses.
    fn evict(&self) -> Option<()> {
        let first = self.turn.fetch_add(1, Relaxed);
        // The first round may only take marks away.
        let mut shards = (0..2 * SHARDS).map(|step| &self.shards[first.wrapping_add(step) % SHARDS]);
        // Its memory is given back after the lock.
        let evicted = shards.find_map(|shard| write(shard).evict())?;
        self.counters().evictions.add(1);
        drop(evicted);
        Some(())
    }
}

impl Shard {
    /// Moves the hand to the next partition without a mark that nothing uses, once around at most, and takes it out.
    fn evict(&mut self) -> Option<Slot> {
        for _ in 0..self.slots.len() {
            let place = self.hand % self.slots.len();
            let slot = &mut self.slots[place];
            let is_used = std::mem::take(slot.is_used.get_mut());
            // A partition that a question holds would give no memory back now.
            if !is_used && Arc::strong_count(&slot.partition) == 1 {
                return Some(self.take(place));
            }
            self.hand = place + 1;
        }
        None
    }

    fn take(&mut self, place: usize) -> Slot {
        let slot = self.slots.swap_remove(place);
        self.index.remove(&slot.place);
        if let Some(moved) = self.slots.get(place) {
            self.index.insert(moved.place, place);
        }
        slot
    }
}

/// The part in which a place is kept.
fn shard_of(place: &PartitionPlace) -> usize {
    let [byte, ..] = place.hash.to_le_bytes();
    usize::from(byte) % SHARDS
}

// A panic leaves a part whole: it is changed in steps that do not panic.
fn read(shard: &RwLock<Shard>) -> RwLockReadGuard<'_, Shard> {
    shard.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(shard: &RwLock<Shard>) -> RwLockWriteGuard<'_, Shard> {
    shard.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partitions::place::FileId;

    fn place(number: u64) -> PartitionPlace {
        PartitionPlace { file: FileId([0; 16]), start: number, bytes: 1_000, hash: number }
    }

    fn load(cache: &PartitionCache, number: u64) -> Option<Arc<Partition>> {
        let room = cache.make_room(1_000)?;
        Some(cache.keep(place(number), Partition::new(vec![0; 1_000], room)))
    }

    #[test]
    fn the_budget_holds_and_what_is_used_stays() {
        let cache = PartitionCache::new(20 * (1_000 + OVERHEAD_BYTES));
        for number in 0..1_000 {
            load(&cache, number).unwrap();
            assert!(cache.resident_bytes() <= cache.max_bytes(), "{number}");
            // Asked again and again.
            assert_eq!(cache.get(&place(3)).is_some(), number >= 3, "{number}");
        }
        let stats = cache.counters().snapshot(cache.resident_bytes() as u64);
        assert_eq!((stats.evictions, stats.resident_bytes), (980, cache.max_bytes() as u64));
        assert_eq!(stats.loaded_bytes - stats.released_bytes, stats.resident_bytes);
    }

    #[test]
    fn what_a_question_holds_is_never_given_up() {
        let cache = PartitionCache::new(3 * (1_000 + OVERHEAD_BYTES));
        let held: Vec<_> = (0..3).map(|number| load(&cache, number).unwrap()).collect();
        assert!(load(&cache, 3).is_none(), "no room");
        drop(held);
        assert!(load(&cache, 3).is_some());
        assert!(cache.make_room(1 << 20).is_none(), "larger than the budget");
        assert_eq!(cache.resident_bytes(), cache.max_bytes());
    }

    #[test]
    fn a_second_load_of_the_same_is_dropped() {
        let cache = PartitionCache::new(1 << 20);
        let first = load(&cache, 7).unwrap();
        let second = load(&cache, 7).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(cache.resident_bytes(), 1_000 + OVERHEAD_BYTES);
    }
}
