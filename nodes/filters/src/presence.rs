//! What one node holds of one table: ANY and DEAD.
//!
//! ANY is a cuckoo table of every key about which the node knows anything; between rebuilds keys only come. DEAD names,
//! exactly, keys that are proven deleted here. A key is live if ANY may hold it and DEAD does not: fingerprints are never
//! taken out, so neither a twin nor a deletion of a key that never was can hide another.
//!
//! Where memory is capped, fingerprints get shorter first; then the answer is "unknown", which is always "maybe".

use lacuna_base::{Error, Result};
use lacuna_families::{CuckooTable, MarkTable};

use crate::key_id::KeyId;
use crate::losses::Losses;
use crate::margins::{MARGIN, Side};
use crate::wire::Reader;

/// Fewest bits that a cap shortens fingerprints to.
const MIN_BITS: u32 = 8;

/// What a filter says about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The node knows nothing of the key.
    Absent,
    /// The node may hold a live row.
    Live,
    /// Everything that the node holds of the key is deleted.
    Dead,
    /// The filter does not know.
    Unknown,
}

impl Presence {
    /// Whether the node surely holds no live row.
    pub fn is_empty(self) -> bool {
        matches!(self, Self::Absent | Self::Dead)
    }
}

/// A deletion and what might outlive it. Times are those that the store compares cells by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deletion {
    /// Time of the deletion.
    pub time: u64,
    /// Largest time in any file that may hold the key, if there is one.
    pub newest_in_files: Option<u64>,
    /// Largest time of the key in memory, if there is any.
    pub newest_in_memory: Option<u64>,
}

impl Deletion {
    /// Whether nothing of the key can be alive: a deletion wins against everything that is not newer.
    pub(crate) fn is_proof(self) -> bool {
        self.newest_in_files.max(self.newest_in_memory).is_none_or(|newest| newest <= self.time)
    }
}

/// The filter of one table on one node.
#[derive(Debug)]
pub struct NodeFilter {
    pub(crate) any: Option<CuckooTable>,
    pub(crate) dead: MarkTable,
    /// Ends of buckets without a live row, by their names: how far each reaches.
    pub(crate) margins: MarkTable,
    /// Keys that it held when the next one found no place; 0 if each has.
    full_at: u64,
    /// Keys that it held when it was given up.
    given_up_at: u64,
    losses: Losses,
}

impl NodeFilter {
    /// An empty filter for `capacity` keys at a false positive rate of at most `rate`; it grows.
    pub fn new(capacity: u64, rate: f64) -> Self {
        Self { any: Some(CuckooTable::for_rate(capacity, rate)), ..Self::unknown() }
    }

    /// The same for a filter that may take `max_bytes`: all memory is taken at the beginning, so it is made for no more keys than fit with
    /// the shortest fingerprints, whatever the estimate says.
    pub(crate) fn within(capacity: u64, rate: f64, max_bytes: usize) -> Self {
        // At MIN_BITS, and the load that a table is filled to.
        let max_keys = max_bytes.saturating_sub(size_of::<CuckooTable>()) as u64 / 10 * 9;
        if capacity > max_keys {
            return Self { any: Some(CuckooTable::new(max_keys, MIN_BITS)), ..Self::unknown() };
        }
        Self::new(capacity, rate)
    }

    /// A filter that says "unknown" to everything.
    pub(crate) fn unknown() -> Self {
        let (dead, margins) = (MarkTable::default(), MarkTable::default());
        Self { any: None, dead, margins, full_at: 0, given_up_at: 0, losses: Losses::new() }
    }

    /// What has been lost of what it knew.
    pub(crate) fn losses(&self) -> &Losses {
        &self.losses
    }

    /// What it says about a key.
    pub fn presence(&self, id: KeyId) -> Presence {
        match &self.any {
            None => Presence::Unknown,
            Some(any) if !any.may_contain(id.hash()) => Presence::Absent,
            Some(_) if self.dead.get(id.mark()).is_some() => Presence::Dead,
            Some(_) => Presence::Live,
        }
    }

    /// What stands for the key in the filter: where one of two with the same name is held, the other is no news.
    pub(crate) fn twin_name(&self, id: KeyId) -> u64 {
        self.any.as_ref().map_or(id.hash(), |any| any.twin_name(id.hash()))
    }

    /// Whether a key is proven deleted, whether or not the filter holds anything else.
    pub(crate) fn is_dead(&self, id: KeyId) -> bool {
        self.any.is_some() && self.dead.get(id.mark()).is_some()
    }

    /// Makes a key live: `true` if others have to learn of it. What does not fit makes the filter unknown.
    pub fn write(&mut self, id: KeyId) -> bool {
        let was_dead = self.dead.remove(id.mark()).is_some();
        if was_dead {
            self.losses.note(id.hash());
        }
        self.insert(id.hash()) || was_dead
    }

    /// How far the margin of this name reaches.
    pub(crate) fn margin(&self, id: KeyId) -> Option<u64> {
        if self.margins.is_empty() { None } else { self.margins.get(id.mark()) }
    }

    /// Whether there are margins that a write may end.
    pub(crate) fn has_margins(&self) -> bool {
        !self.margins.is_empty()
    }

    /// Enters a proven margin; `false` if one is known that reaches as far.
    pub(crate) fn enter_margin(&mut self, id: KeyId, side: Side, inner: u64) -> bool {
        let is_known = self.margin(id).is_some_and(|known| side.holds(known, inner));
        if !is_known {
            self.margins.insert(id.mark(), inner);
        }
        !is_known
    }

    /// A row is written into a margin: others have to learn that it is none.
    pub(crate) fn end_margin(&mut self, id: KeyId) {
        self.margins.remove(id.mark());
        self.losses.note(id.hash());
        self.insert(id.hash());
    }

    /// Takes over the margins of the filter that this one stands in for.
    pub(crate) fn keep_margins(&mut self, before: &mut Self) {
        self.margins = std::mem::take(&mut before.margins);
    }

    /// As [`write`](Self::write) for a key known by its first half only: all dead keys that begin so are live again.
    pub(crate) fn write_hash(&mut self, hash: u64) {
        let risen: Vec<_> = self.dead.marks_of(hash).collect();
        let had_dead = !risen.is_empty();
        for mark in risen {
            self.dead.remove(mark);
        }
        let ended: Vec<_> = self.margins.marks_of(hash).collect();
        if had_dead || !ended.is_empty() {
            self.losses.note(hash);
        }
        for mark in ended {
            self.margins.remove(mark);
        }
        self.insert(hash);
    }

    /// Enters a proven deletion; `false` if it is known, or no proof.
    pub(crate) fn bury(&mut self, id: KeyId, deletion: Deletion) -> bool {
        deletion.is_proof() && self.dead.insert(id.mark(), deletion.time) != Some(deletion.time)
    }

    /// Enters a key that is proven dead elsewhere, or a margin.
    pub(crate) fn enter_dead(&mut self, id: KeyId, number: u64) {
        if number & MARGIN == 0 {
            self.dead.insert(id.mark(), number);
        } else {
            self.margins.insert(id.mark(), number & !MARGIN);
        }
    }

    /// Enters a key that was proven dead before this filter, or its latest state, came: of use only if it is taken for live.
    pub(crate) fn keep_dead(&mut self, id: KeyId, time: u64) {
        if self.presence(id) == Presence::Live {
            self.dead.insert(id.mark(), time);
        }
    }

    /// Forgets all deletions and margins: a crash does. Only "no" is lost.
    pub(crate) fn forget_deletions(&mut self) {
        (self.dead, self.margins) = (MarkTable::default(), MarkTable::default());
        self.losses.note_all();
    }

    /// The dead keys with the times of their deletions.
    pub(crate) fn dead(&self) -> impl Iterator<Item = (KeyId, u64)> {
        self.dead.iter().map(|((hash, check), time)| (KeyId::from_halves(hash, check), time))
    }

    /// Number of dead keys.
    pub fn dead_count(&self) -> usize {
        self.dead.len()
    }

    /// Number of keys, twins counted once.
    pub fn key_count(&self) -> u64 {
        self.any.as_ref().map_or(0, CuckooTable::stored)
    }

    /// Expected share of absent keys that are taken for live; 1 if the filter knows nothing.
    pub fn rate(&self) -> f64 {
        self.any.as_ref().map_or(1.0, CuckooTable::rate)
    }

    /// Whether every answer is "unknown".
    pub fn is_unknown(&self) -> bool {
        self.any.is_none()
    }

    /// The capacity that another filter in its place needs, once this one holds more than twice the keys that it was made for: it
    /// errs as many times more often, and from 64 times on it knows nothing. `None` also where a cap on memory is the reason.
    pub fn outgrown(&self) -> Option<u64> {
        match &self.any {
            Some(any) => (any.stored() > 2 * any.first_capacity()).then(|| any.stored() + any.stored() / 4),
            None => (self.full_at > 0).then_some(2 * self.full_at),
        }
    }

    /// Keys that it held when it had to be given up, for want of memory or of a place for the next one; 0 if it knows its keys. Far fewer fit.
    pub fn given_up_at(&self) -> u64 {
        if self.is_unknown() { self.given_up_at } else { 0 }
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> usize {
        self.any.as_ref().map_or(0, CuckooTable::memory_bytes) + self.mark_bytes()
    }

    fn mark_bytes(&self) -> usize {
        self.dead.memory_bytes() + self.margins.memory_bytes()
    }

    /// Whether another deletion or margin surely fits into `max_bytes`, should the table of marks grow for it, by an eighth and a little.
    pub(crate) fn has_room_for_deletions(&self, max_bytes: usize) -> bool {
        self.memory_bytes() + self.mark_bytes() / 6 + 1_024 <= max_bytes
    }

    /// Takes at most `max_bytes`: shorter fingerprints, then no deletions, then nothing at all. `true` if copies of it say
    /// something else from now on: a forgotten mark would stay in them when its key is written again.
    pub(crate) fn shrink_to(&mut self, max_bytes: usize) -> bool {
        let has_changed = self.shorten_to(max_bytes);
        let is_given_up = self.memory_bytes() > max_bytes && self.give_up();
        has_changed || is_given_up
    }

    /// As [`shrink_to`](Self::shrink_to) as far as the filter goes on to know keys.
    pub(crate) fn shorten_to(&mut self, max_bytes: usize) -> bool {
        let mut has_changed = false;
        while self.memory_bytes() > max_bytes
            && let Some(any) = self.any.take_if(|any| any.fingerprint_bits() > MIN_BITS)
        {
            let bits = any.fingerprint_bits() - 1;
            self.any = Some(any.with_fewer_bits(bits));
            has_changed = true;
        }
        if self.memory_bytes() > max_bytes && !(self.dead.is_empty() && self.margins.is_empty()) {
            self.forget_deletions();
            has_changed = true;
        }
        has_changed
    }

    /// Knows nothing from now on; `false` if it did not before.
    fn give_up(&mut self) -> bool {
        self.given_up_at = self.key_count().max(self.given_up_at);
        self.any.take().is_some()
    }

    /// A fingerprint that finds no place would be a "no" that is false: then the filter knows nothing any more.
    fn insert(&mut self, hash: u64) -> bool {
        match self.any.as_mut().map(|any| any.insert_mut(hash)) {
            Some(Ok(is_new)) => is_new,
            Some(Err(_)) => {
                self.full_at = self.key_count();
                self.give_up()
            }
            None => false,
        }
    }

    /// Reads a filter from the end of a snapshot.
    pub(crate) fn read_from(reader: &mut Reader<'_>) -> Result<Self> {
        let mut read = Self::unknown();
        for _ in 0..reader.number()? {
            let id = KeyId::from_halves(reader.word()?, reader.word()?);
            read.enter_dead(id, reader.word()?);
        }
        let rest = reader.take_rest();
        let any = if rest.is_empty() {
            None
        } else {
            let (any, _) =
                CuckooTable::from_bytes(rest).map_err(|error: Error| error.with_context("a snapshot"))?;
            Some(any)
        };
        Ok(Self { any, ..read })
    }
}
