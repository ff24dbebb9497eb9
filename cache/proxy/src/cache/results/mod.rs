//! Which replies may be shown: entries, the writes that hold them back, and the reads that fill them.
//!
//! A write *holds* what it touches from before the moment at which the database may commit it until after the answer. A
//! hold drops entries, and nothing that overlaps it is filled while it lasts. A read that found nothing takes a *ticket*
//! before it is sent; a hold that begins meanwhile takes the ticket away, and a reply without a ticket is not kept. So of
//! "read old, invalidate, install old" the last step cannot happen.
//!
//! Guarantee: a reply that is shown was read after the answer to every write that overlaps it and was answered, and no
//! write that overlaps it was begun between that read and the showing.
//!
//! A hold whose write has no answer (a connection that broke in a COMMIT) becomes a *doubt*: it lasts until the server
//! process is known to have ended. While the cache is *closed* nothing is shown and nothing is filled.
//!
//! What a statement may do is known by a reading of the catalogue, which another session may change while the statement is on
//! its way: a view becomes one that writes, a table gets a trigger. So each statement without an answer has a *view* of the
//! catalogue. A statement that may define holds everything. From its answer on, until a check has found that definitions are
//! what they were, every view is *doubted*: its statement holds everything, too.
//!
//! Cost: one lock; a hit is one hash of its key.

mod state;
#[cfg(test)]
mod tests;
mod walk;
mod watched;

use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lacuna_cache_protocol::embedded::SteadyClock;
use lacuna_cache_protocol::ports::Clock as _;

use super::entries::{About, Entries, Key};
#[cfg(feature = "flaws")]
use super::settings::Flaw;
use super::span::{ColumnId, Spans, Touched};

use state::{HeldWrite, State, View};
pub(crate) use walk::Walked;
pub(crate) use watched::WouldBe;

/// A write that is under way, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Hold(u64);

/// The oldest hold of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Longest {
    /// The server process that writes, if it is known.
    pub(crate) process: Option<i32>,
    pub(crate) age: Duration,
}

/// The right to keep the reply of a read that is about to be sent.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ticket(u64);

/// Entries and what happens to them.
#[derive(Debug)]
pub(crate) struct Results {
    state: Mutex<State>,
    clock: SteadyClock,
    #[cfg(feature = "flaws")]
    flaw: Option<Flaw>,
}

/// The lock. Entries that were dropped all at once are freed after it is released: a hit does not wait for that.
#[derive(Debug)]
struct Locked<'r> {
    // Fields are dropped in this order.
    state: MutexGuard<'r, State>,
    freed: Vec<Entries>,
}

impl Results {
    pub(crate) fn new(column_count: usize, max_bytes: usize) -> Self {
        Self {
            state: Mutex::new(State::new(column_count, max_bytes)),
            clock: SteadyClock::new(),
            #[cfg(feature = "flaws")]
            flaw: None,
        }
    }

    #[cfg(feature = "flaws")]
    pub(crate) fn with_flaw(self, flaw: Option<Flaw>) -> Self {
        Self { flaw, ..self }
    }

    /// The reply to the statement of this identity, and the time that the server took for it.
    pub(crate) fn get(&self, key: &[u8]) -> Option<(Arc<[u8]>, Duration)> {
        let mut state = self.lock();
        let entry = if state.is_open(self.now_ms()) { state.entries.get(key) } else { None };
        entry.map(|entry| (entry.reply.clone(), entry.about.took))
    }

    /// Call it before the read is sent, which was understood by this reading of the catalogue.
    pub(crate) fn ticket(&self, generation: u64, column: ColumnId, spans: Spans) -> Option<Ticket> {
        let mut state = self.lock();
        let is_held = state.holds.values().any(|held| held.touched.overlaps(column, &spans));
        if is_held || state.generation != generation || !state.is_open(self.now_ms()) {
            return None;
        }
        let number = state.number();
        state.tickets.insert(number, (column, spans));
        Some(Ticket(number))
    }

    /// Keeps a reply that came as a whole; `false` if a write has taken the ticket away.
    pub(crate) fn fill(&self, ticket: &Ticket, key: Key, reply: Arc<[u8]>, about: About) -> bool {
        let mut state = self.lock();
        let Some(place) = state.tickets.remove(&ticket.0) else { return false };
        let may_show = state.is_open(self.now_ms());
        if may_show {
            state.entries.insert(key, place, reply, about);
        }
        may_show
    }

    /// The read has no reply that could be kept.
    pub(crate) fn give_up(&self, ticket: &Ticket) {
        self.lock().tickets.remove(&ticket.0);
    }

    /// Call it before a statement is sent to this server process that may commit what it touches. Returns how many entries were
    /// dropped, too.
    pub(crate) fn hold(&self, touched: Touched, process: Option<i32>) -> (Hold, usize) {
        let mut state = self.lock();
        let number = state.number();
        #[cfg(feature = "flaws")]
        if self.flaw == Some(Flaw::NoHold) {
            return (Hold(number), 0);
        }
        let dropped =
            if touched.is_all { state.clear_entries() } else { state.entries.drop_touched(&touched.spans) };
        let keeps_tickets = self.keeps_tickets();
        state.tickets.retain(|_, (column, spans)| keeps_tickets || !touched.overlaps(*column, spans));
        state.watched.retain(|_, (column, spans)| !touched.overlaps(*column, spans));
        state.holds.insert(number, HeldWrite { touched, process, since: Instant::now() });
        (Hold(number), dropped)
    }

    /// Call it before a statement is sent to this server process that was understood by this reading of the catalogue.
    pub(crate) fn view(&self, generation: u64, process: Option<i32>) -> Hold {
        let mut state = self.lock();
        let number = state.number();
        state.views.insert(number, View { generation, process });
        if !state.is_certain || state.generation != generation {
            state.doubt_view(number, process);
        }
        Hold(number)
    }

    const fn keeps_tickets(&self) -> bool {
        #[cfg(feature = "flaws")]
        return matches!(self.flaw, Some(Flaw::NoFillCheck));
        #[cfg(not(feature = "flaws"))]
        false
    }

    /// The database has answered: what is read from now on shows the write. Says whether nothing is shown until the
    /// catalogue was checked.
    pub(crate) fn release(&self, hold: Hold) -> bool {
        let mut state = self.lock();
        state.release(hold)
    }

    /// The database has not answered, and the server process of this number may still commit.
    pub(crate) fn doubt(&self, hold: Hold, pid: i32) {
        self.lock().doubts.push((pid, hold));
    }

    /// Whether it is a view, and not doubted.
    pub(crate) fn is_clear(&self, hold: Hold) -> bool {
        !self.lock().holds.contains_key(&hold.0)
    }

    /// Server processes whose end is waited for. Ask the database for its processes after this, and then call
    /// [`Results::settle`].
    pub(crate) fn doubted(&self) -> Vec<i32> {
        self.lock().doubts.iter().map(|(pid, _)| *pid).collect()
    }

    /// These server processes have ended: what they have not committed they never will. Says whether nothing is shown until the
    /// catalogue was checked.
    pub(crate) fn settle(&self, ended: &[i32]) -> bool {
        let mut state = self.lock();
        let settled: Vec<Hold> =
            state.doubts.extract_if(.., |(pid, _)| ended.contains(pid)).map(|(_, hold)| hold).collect();
        let mut must_check = false;
        for hold in settled {
            must_check |= state.release(hold);
        }
        must_check
    }

    /// Nothing is shown until a check of the catalogue that begins from now on has succeeded.
    pub(crate) fn distrust(&self) {
        self.lock().distrust();
    }

    /// What a check that begins now will have done.
    pub(crate) fn check_begins(&self) -> u64 {
        let mut state = self.lock();
        state.has_doubted = false;
        state.checks_wanted
    }

    /// The check has found nothing wrong: results are shown for as long as the lease lasts. Says whether there must be
    /// another one at once.
    pub(crate) fn open(&self, check: u64, serves_until_ms: u64) -> bool {
        let now = self.now_ms();
        let mut state = self.lock();
        if state.serves_until_ms < now {
            state.clear();
        }
        state.checks_done = check;
        state.serves_until_ms = serves_until_ms;
        state.closed = None;
        state.settle_views(check)
    }

    /// The lease was renewed: what is shown is shown for longer.
    pub(crate) fn stay_open(&self, serves_until_ms: u64) {
        let now = self.now_ms();
        let mut state = self.lock();
        if now <= state.serves_until_ms {
            state.serves_until_ms = state.serves_until_ms.max(serves_until_ms);
        }
    }

    /// Drops everything: the catalogue says something else from this reading on.
    pub(crate) fn read_anew(&self, generation: u64) {
        let mut state = self.lock();
        state.generation = generation;
        state.doubt_views();
        state.clear();
    }

    /// Nothing is shown until [`Results::open`], from when on there are more columns.
    pub(crate) fn grow(&self, column_count: usize) {
        self.close("a column is being registered");
        self.lock().entries.grow(column_count);
    }

    /// Nothing is shown until [`Results::open`].
    pub(crate) fn close(&self, why: impl Into<String>) {
        let mut state = self.lock();
        state.closed = Some(why.into());
        state.clear();
    }

    /// Why nothing is shown, if that is so.
    pub(crate) fn closed(&self) -> Option<String> {
        let state = self.lock();
        if state.closed.is_some() {
            return state.closed.clone();
        }
        let (is_late, now) = (state.checks_done < state.checks_wanted, self.now_ms());
        let why = if is_late { "the catalogue is being checked" } else { "the lease was not renewed" };
        (is_late || state.serves_until_ms < now).then(|| why.to_owned())
    }

    /// What holds everything for longest, if anything does.
    pub(crate) fn held(&self) -> Option<Longest> {
        let state = self.lock();
        let of_all = state.holds.values().filter(|held| held.touched.is_all);
        let oldest = of_all.min_by_key(|held| held.since);
        oldest.map(|held| Longest { process: held.process, age: held.since.elapsed() })
    }

    /// Whether definitions are those of the last reading, as far as is known.
    pub(crate) fn knows_definitions(&self) -> bool {
        self.lock().is_open(self.now_ms())
    }

    /// Whether a reply to the statement of this identity is there.
    pub(crate) fn has(&self, key: &[u8]) -> bool {
        let state = self.lock();
        state.is_open(self.now_ms()) && state.entries.contains(key)
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Entries, and their bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let state = self.lock();
        (state.entries.len(), state.entries.bytes())
    }

    fn lock(&self) -> Locked<'_> {
        Locked { state: self.state.lock().unwrap_or_else(PoisonError::into_inner), freed: Vec::new() }
    }
}

impl Deref for Locked<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        mem::swap(&mut self.freed, &mut self.state.freed);
    }
}
