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

#[cfg(test)]
mod tests;
mod walk;
mod watched;

use std::collections::HashMap;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lacuna_cache_protocol::embedded::SteadyClock;
use lacuna_cache_protocol::ports::Clock as _;

use super::entries::{About, Entries, Key};
#[cfg(feature = "flaws")]
use super::settings::Flaw;
use super::span::{ColumnId, Span, Touched};

pub(crate) use walk::Walked;
pub(crate) use watched::WouldBe;

/// A write that is under way, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Hold(u64);

/// What a write touches that is under way.
#[derive(Debug)]
struct HeldWrite {
    touched: Touched,
    /// The server process that writes, if it is known.
    process: Option<i32>,
    since: Instant,
}

/// A statement without an answer.
#[derive(Debug)]
struct View {
    /// The reading of the catalogue by which it was understood.
    generation: u64,
    process: Option<i32>,
}

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

#[derive(Debug)]
struct State {
    entries: Entries,
    /// Entries that were dropped under this lock.
    freed: Vec<Entries>,
    holds: HashMap<u64, HeldWrite>,
    /// Those that are doubted are among the holds, too.
    views: HashMap<u64, View>,
    /// Whether definitions are those of the last reading.
    is_certain: bool,
    /// Whether a doubted view has ended since the last check began.
    has_doubted: bool,
    /// The reading by which results were opened last.
    opened: u64,
    tickets: HashMap<u64, (ColumnId, Span)>,
    /// Entries that are compared, until a write touches their interval.
    watched: HashMap<u64, (ColumnId, Span)>,
    next: u64,
    /// Why nothing is shown.
    closed: Option<String>,
    /// Until when the lease lasts.
    serves_until_ms: u64,
    /// How often a check of the catalogue was asked for, and how much of that was done.
    checks_wanted: u64,
    checks_done: u64,
    /// The reading of the catalogue by which intervals are understood.
    generation: u64,
    /// Holds without an answer, with the server process that may still commit.
    doubts: Vec<(i32, Hold)>,
}

impl Results {
    pub(crate) fn new(column_count: usize, max_bytes: usize) -> Self {
        let state = State {
            entries: Entries::new(column_count, max_bytes),
            freed: Vec::new(),
            holds: HashMap::new(),
            views: HashMap::new(),
            is_certain: false,
            has_doubted: false,
            opened: 1,
            tickets: HashMap::new(),
            watched: HashMap::new(),
            next: 0,
            closed: Some("the catalogue was not checked yet".to_owned()),
            serves_until_ms: 0,
            checks_wanted: 0,
            checks_done: 0,
            generation: 1,
            doubts: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
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
    pub(crate) fn ticket(&self, generation: u64, column: ColumnId, span: Span) -> Option<Ticket> {
        let mut state = self.lock();
        let is_held = state.holds.values().any(|held| held.touched.overlaps(column, span));
        if is_held || state.generation != generation || !state.is_open(self.now_ms()) {
            return None;
        }
        let number = state.number();
        state.tickets.insert(number, (column, span));
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
        state.tickets.retain(|_, (column, span)| keeps_tickets || !touched.overlaps(*column, *span));
        state.watched.retain(|_, (column, span)| !touched.overlaps(*column, *span));
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

impl State {
    const fn is_open(&self, now_ms: u64) -> bool {
        self.closed.is_none() && self.checks_done == self.checks_wanted && now_ms <= self.serves_until_ms
    }

    const fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn release(&mut self, hold: Hold) -> bool {
        let held = self.holds.remove(&hold.0);
        let must_check = match (self.views.remove(&hold.0), &held) {
            (None, Some(held)) => held.touched.may_define,
            (Some(view), Some(_)) => {
                self.has_doubted = true;
                view.generation != self.generation
            }
            (_, None) => false,
        };
        if must_check {
            self.distrust();
        }
        must_check
    }

    fn distrust(&mut self) {
        self.checks_wanted += 1;
        self.doubt_views();
        self.clear();
    }

    /// Definitions may change from now on.
    fn doubt_views(&mut self) {
        self.is_certain = false;
        let views: Vec<_> = self.views.iter().map(|(number, view)| (*number, view.process)).collect();
        views.into_iter().for_each(|(number, process)| self.doubt_view(number, process));
    }

    fn doubt_view(&mut self, number: u64, process: Option<i32>) {
        let touched = Touched { is_all: true, ..Touched::default() };
        self.holds.entry(number).or_insert_with(|| HeldWrite { touched, process, since: Instant::now() });
        self.clear();
    }

    /// A check has ended. If definitions are what they were, what statements were taken for was right. If they are not,
    /// one that was on its way may have changed them as well, unseen: then there must be another check.
    fn settle_views(&mut self, check: u64) -> bool {
        let has_changed = mem::replace(&mut self.opened, self.generation) != self.generation;
        let defines = |(number, held): (&u64, &HeldWrite)| {
            held.touched.may_define
                || self.views.get(number).is_some_and(|view| view.generation != self.generation)
        };
        if check != self.checks_wanted || self.holds.iter().any(defines) {
            return false;
        }
        let is_overlapped =
            self.has_doubted || self.views.keys().any(|number| self.holds.contains_key(number));
        if has_changed && is_overlapped {
            self.distrust();
            return true;
        }
        self.is_certain = true;
        self.holds.retain(|number, _| !self.views.contains_key(number));
        false
    }

    /// Drops all entries, and returns how many there were.
    fn clear_entries(&mut self) -> usize {
        let cleared = self.entries.clear();
        let count = cleared.len();
        self.freed.push(cleared);
        count
    }

    fn clear(&mut self) {
        self.clear_entries();
        self.tickets.clear();
        self.watched.clear();
    }
}
