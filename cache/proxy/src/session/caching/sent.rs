//! What a client sends: each message is understood, and what it may write is held, before it is passed on.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tracing::warn;

use super::Session;
use super::flight;
use super::path::Path;
use super::state::{Block, SessionIdentity, State};
use crate::cache::{Effect, Plan, Prepared, Touched, count, effect, runs_early};
use crate::follow::TooLong;
use crate::recognise::strict::{AboutSession, Statement};
use crate::session::relay::End;
use crate::wire::{Fields, Inbox, Next};

/// Why a statement may do anything whose text was too long, or not text.
const NO_TEXT: &str = "its text is not known";

impl Session<'_> {
    /// Bytes of the login that the client has sent.
    ///
    /// # Errors
    /// `TooLong`: the message must not be passed on.
    pub(super) fn login_sent(&self, bytes: &[u8]) -> Result<(), End> {
        self.following.client_sent(bytes, Instant::now()).map_err(|TooLong(len)| End::TooLong(len))
    }

    /// Takes what the client has sent, message by message, and gives the bytes for the server.
    ///
    /// # Errors
    /// The message must not be passed on: it is too long, or names a statement that the server cannot be sent any more.
    pub(super) fn sent(&self, inbox: &mut Inbox, out: &mut Vec<u8>) -> Result<(), End> {
        let mut state = self.lock();
        loop {
            let place = match inbox.next() {
                Next::Nothing => return Ok(()),
                Next::Whole(tag, place) => {
                    let message = inbox.bytes(&place);
                    self.begins(&mut state);
                    self.catch_up(&mut state, tag, message, out)?;
                    self.message(&mut state, tag, &message[5..]);
                    if state.names.is_over() && !state.is_lost {
                        self.lose_names(&mut state);
                    }
                    place
                }
                Next::Part { tag, place, is_first, .. } => {
                    if is_first {
                        self.begins(&mut state);
                        self.catch_up(&mut state, tag, &[], out)?;
                        self.long_message(&mut state, tag);
                    }
                    place
                }
                Next::Broken(place) => {
                    self.lose(&mut state);
                    place
                }
            };
            let bytes = inbox.bytes(&place);
            // In the same breath as the hold: at rest means that this was answered, too.
            let checked = self.following.client_sent(bytes, Instant::now());
            checked.map_err(|TooLong(len)| End::TooLong(len))?;
            out.extend_from_slice(bytes);
        }
    }

    /// Tells the server what it has not seen and must see before this message, as long as it is certain which answers are for that.
    fn catch_up(&self, state: &mut State, tag: u8, message: &[u8], out: &mut Vec<u8>) -> Result<(), End> {
        let is_certain = self.following.is_followed() && !state.names.is_out_of_step();
        if !is_certain && state.unseen.is_owed_for(tag, message) {
            return Err(End::Unfollowed);
        }
        state.catch_up(tag, message, out);
        Ok(())
    }

    fn begins(&self, state: &mut State) {
        match self.following.rest() {
            Some(transaction) => state.began = Some(transaction),
            None if !self.following.is_followed() => self.lose(state),
            None => {}
        }
    }

    fn message(&self, state: &mut State, tag: u8, body: &[u8]) {
        match tag {
            b'Q' => {
                state.names.query();
                let plan = flight::text(body).and_then(|text| self.queried(text));
                let prepared = plan.map(|plan| self.prepared_now(state, plan));
                self.executes(state, prepared.as_ref(), &[]);
            }
            b'P' => {
                let (name, plan) = self.parsed(body);
                let has_same_path = !state.may_take_back();
                self.begins_early(state, plan.as_deref(), has_same_path);
                // Not before: what has run early may have changed what the text means.
                let prepared = plan.map(|plan| self.prepared_now(state, plan));
                state.names.parse(name, prepared);
            }
            b'B' => {
                let prepared = state.bind(body);
                let has_same_path =
                    prepared.as_ref().is_some_and(|prepared| state.reading_of(prepared).is_some());
                self.begins_early(state, prepared.as_ref().map(|prepared| &*prepared.plan), has_same_path);
            }
            b'E' => {
                let portal = Fields::new(body).text().and_then(|name| state.portals.get(name)).cloned();
                let (prepared, values) =
                    portal.map_or((None, [].into()), |portal| (portal.prepared, portal.values));
                self.executes(state, prepared.as_ref(), &values);
            }
            b'C' => state.close(body),
            b'S' => state.names.ready(),
            b'F' => {
                state.names.ready();
                self.executes(state, None, &[]);
            }
            // Description, data of COPY and its end, requests to flush, goodbye.
            b'D' | b'd' | b'c' | b'f' | b'H' | b'p' | b'X' => {}
            _ => self.lose(state),
        }
    }

    /// A statement is parsed or bound; `has_same_path` if the session searches the same schemas as when it was prepared. Code of users
    /// that may run before it is executed may do anything.
    fn begins_early(&self, state: &mut State, plan: Option<&Plan>, has_same_path: bool) {
        let reading = self.cache.reading();
        let searched = state.searched(reading.surroundings).filter(|_| has_same_path);
        let why = match plan {
            None => Some(NO_TEXT.to_owned()),
            Some(plan) => runs_early(plan, &reading.catalogue, searched),
        };
        let done = why.map(Effect::Unknown);
        match done.map(|done| if state.is_of_other_database { elsewhere(plan, done) } else { done }) {
            Some(done @ Effect::Unknown(_)) => {
                let transaction = state.began.take();
                self.act(state, done, transaction);
            }
            // It is what it is taken for as long as the catalogue is what it was.
            _ => self.views(state, reading.number),
        }
    }

    /// A message that is too long to be looked at.
    fn long_message(&self, state: &mut State, tag: u8) {
        match tag {
            b'd' => {}
            b'B' => {
                state.bind_of_unknown();
                self.executes(state, None, &[]);
            }
            b'P' => {
                state.names.parse_of_unknown();
                self.executes(state, None, &[]);
            }
            b'F' => {
                state.names.ready();
                self.executes(state, None, &[]);
            }
            b'Q' => {
                state.names.query();
                self.executes(state, None, &[]);
            }
            _ => self.lose(state),
        }
    }

    /// Something came that is not understood: which answer belongs to which message is not known any more.
    pub(super) fn lose(&self, state: &mut State) {
        self.no_more_known(
            state,
            "a session cannot be followed: until it ends, nothing is answered from the cache",
        );
    }

    /// What its statements are is not known any more: from now on every one may do anything.
    pub(super) fn lose_names(&self, state: &mut State) {
        self.no_more_known(
            state,
            "the statements of a session are not known any more: each that it sends empties the cache",
        );
    }

    fn no_more_known(&self, state: &mut State, what: &str) {
        if state.is_lost && state.held.may_define {
            return;
        }
        if !mem::replace(&mut state.is_lost, true) {
            let process = state.process;
            warn!(process, "{what}");
        }
        state.identity = SessionIdentity::NotKept(0, "it cannot be followed");
        (state.searched, state.began) = (None, None);
        state.path.changes();
        state.names.forget();
        self.give_up(state);
        self.hold(state, &Touched::unknown());
    }

    /// What the server makes now of a text.
    pub(super) fn prepared_now(&self, state: &State, plan: Arc<Plan>) -> Prepared {
        let mut as_of = state.as_of(self.cache.reading().mark());
        if state.may_take_back() {
            as_of.path = Path::NONE;
        }
        Prepared { plan, as_of }
    }

    fn executes(&self, state: &mut State, prepared: Option<&Prepared>, values: &[u8]) {
        let plan = prepared.map(|prepared| &*prepared.plan);
        // From the second statement on, the transaction's state is that after the first one.
        let transaction = state.began.take();
        let reading = self.cache.reading();
        let searched = state.searched(reading.surroundings).ok_or(state.why_not_kept());
        let done = match prepared {
            Some(prepared) => {
                let as_of = state.reading_of(prepared);
                effect(&prepared.plan, as_of, values, &reading.catalogue, searched)
            }
            None => Effect::Unknown(NO_TEXT.to_owned()),
        };
        let done = if state.is_of_other_database { elsewhere(plan, done) } else { done };
        if matches!(done, Effect::Cacheable(..) | Effect::Nothing(_) | Effect::Write(_)) {
            self.views(state, reading.number);
            state.has_written |= plan.is_some_and(|plan| matches!(plan.statement, Statement::Write(_)));
        }
        self.act(state, done, transaction);
    }

    fn act(&self, state: &mut State, done: Effect, transaction: Option<u8>) {
        let is_read = matches!(done, Effect::Cacheable(..) | Effect::Nothing(_) | Effect::Savepoint);
        if !is_read {
            state.block = match done {
                Effect::Begin { is_plain: true } if transaction == Some(b'I') => Block::Clean,
                _ => Block::Other,
            };
        }
        match done {
            Effect::Savepoint | Effect::Begin { .. } | Effect::Rollback => {}
            Effect::Cacheable(..) if mem::take(&mut state.is_counted) => {}
            Effect::Cacheable(..) => self.cache.counters.relayed("it did not come alone and in one piece"),
            Effect::Nothing(reason) => self.cache.counters.relayed(&reason),
            Effect::Commit => {
                if !state.pending.is_nothing() {
                    let pending = state.pending.clone();
                    self.hold(state, &pending);
                }
            }
            Effect::Session(about) => state.changes(about),
            Effect::Write(touched) => {
                state.pending.add(&touched);
                // Unless the transaction is open, and this does not end it.
                if !matches!(transaction, Some(b'T' | b'E')) {
                    self.hold(state, &touched);
                }
            }
            Effect::Unknown(reason) => {
                self.cache.counters.relayed(&reason);
                state.pending.add(&Touched::unknown());
                state.changes(AboutSession { keeps_path: false, keeps_prepared: false });
                self.hold(state, &Touched::unknown());
            }
        }
    }

    /// It does what it is taken for as long as the catalogue is what it was in this reading.
    fn views(&self, state: &mut State, reading: u64) {
        if state.views.iter().all(|(of, _)| *of != reading) {
            state.views.push((reading, self.cache.results.view(reading, state.process)));
        }
    }

    fn hold(&self, state: &mut State, touched: &Touched) {
        if state.held.is_all && (state.held.may_define || !touched.may_define) {
            return;
        }
        state.held.add(touched);
        // What counts as all from now on must be held as all.
        let touched = if state.held.is_all { &state.held } else { touched };
        let (hold, dropped) = self.cache.results.hold(touched.clone(), state.process);
        state.holds.push(hold);
        let counters = &self.cache.counters;
        count(&counters.held);
        counters.dropped.fetch_add(u64::try_from(dropped).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// A read or write in another database touches nothing here; anything else may change roles, which all databases share.
fn elsewhere(plan: Option<&Plan>, done: Effect) -> Effect {
    match plan.map(|plan| &plan.statement) {
        Some(Statement::Read(_) | Statement::Harmless(_) | Statement::Write(_)) => {
            Effect::Nothing("it is in another database".to_owned())
        }
        _ => done,
    }
}
