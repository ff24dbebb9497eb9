//! What is known of a session whose replies may be kept, and what that makes of each message.
//!
//! *At rest* nothing that was sent waits for an answer, and the server's last word on the transaction is true: `I` outside of
//! one, `T` in one, `E` in one that has failed. Only a statement that comes alone at rest is answered from the cache or
//! kept. A write outside of a transaction is held from before it is sent until the session is at rest again; one inside is
//! collected, and held from before the COMMIT is sent. A statement that may do anything may commit, too: it is held at once.
//! Savepoints, rollbacks to them and errors never make the collected set smaller.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Instant;

use super::Session;
use super::capture::{Capture, Captured};
use super::flight::{self, Extended, Flight};
use super::names::{Lost, Names};
use crate::cache::{Answer, Effect, Hold, Identity, Plan, Stranger, Touched, count, effect};
use crate::follow::TooLong;
use crate::recognise::strict::{Session as AboutSession, Statement};
use crate::session::relay::End;
use crate::wire::{Fields, Inbox, Next};

/// What a session may do in the transaction that it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    /// It is in none.
    None,
    /// One that sees what is committed, and has read only.
    Clean,
    Other,
}

/// Whose session it is.
#[derive(Debug)]
enum Who {
    Known(Identity),
    /// It may have changed since it was asked.
    Unknown,
    /// Its replies are not kept, by what it said in these surroundings.
    Stranger(u64),
}

/// What a portal executes.
#[derive(Debug, Clone)]
struct Portal {
    plan: Option<Arc<Plan>>,
    values: Box<[u8]>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct State {
    who: Who,
    /// Schemas that it searches, if names mean what they say.
    searched: Option<(u64, Vec<String>)>,
    is_of_other_database: bool,
    /// The server process as the login has named it.
    process: Option<i32>,
    /// The same, if its end can be waited for.
    pid: Option<i32>,
    names: Names,
    portals: HashMap<Box<[u8]>, Portal>,
    /// The transaction's state when the session was last at rest, while no statement was executed since.
    began: Option<u8>,
    block: Block,
    /// What the open transaction has touched.
    pending: Touched,
    holds: Vec<Hold>,
    capture: Option<Capture>,
    /// The row of the question's answer, while it is on its way.
    question: Option<Vec<u8>>,
    /// What the server has not seen of statements that were answered here, as messages of which each has an answer.
    unseen: Vec<Vec<u8>>,
    is_lost: bool,
    /// Whether the client has received a part of a message.
    is_mid_message: bool,
    /// Whether the read that came last was counted.
    is_counted: bool,
    key: Vec<u8>,
}

/// What becomes of a statement that came alone.
#[derive(Debug)]
pub(super) enum Served {
    /// These bytes answer it.
    Reply(Vec<u8>),
    /// The session must be asked first who it is.
    Ask,
    /// It goes to the server.
    Relay,
}

/// What the server's bytes have led to.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Bytes for the client.
    pub(super) bytes: Vec<u8>,
    /// Whether the question was answered.
    pub(super) is_answered: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            who: Who::Unknown,
            searched: None,
            is_of_other_database: false,
            process: None,
            pid: None,
            names: Names::default(),
            portals: HashMap::new(),
            began: None,
            block: Block::None,
            pending: Touched::default(),
            holds: Vec::new(),
            capture: None,
            question: None,
            unseen: Vec::new(),
            is_lost: false,
            is_mid_message: false,
            is_counted: false,
            key: Vec::new(),
        }
    }
}

const PARSE_COMPLETE: &[u8] = b"1\0\0\0\x04";
const BIND_COMPLETE: &[u8] = b"2\0\0\0\x04";
const CLOSE_STATEMENT: &[u8] = b"C\0\0\0\x06S\0";
const CLOSE_PORTAL: &[u8] = b"C\0\0\0\x06P\0";
/// Most portals that are remembered between two transactions.
const MAX_PORTALS: usize = 1_000;

impl Session<'_> {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server process of the session, as the login has named it.
    pub(super) fn process(&self, pid: i32) {
        let mut state = self.lock();
        (state.process, state.pid) = (Some(pid), Some(pid));
        self.cache.process_serves(pid);
    }

    /// Bytes of the login.
    pub(super) fn hears(&self, bytes: &[u8]) {
        self.following.server_sent(bytes, Instant::now());
    }

    /// Bytes of the login.
    ///
    /// # Errors
    /// `TooLong`: the message must not be passed on.
    pub(super) fn says(&self, bytes: &[u8]) -> Result<(), End> {
        self.following.client_sent(bytes, Instant::now()).map_err(|TooLong(len)| End::TooLong(len))
    }

    /// The session is about to be asked who it is.
    pub(super) fn asks(&self) {
        self.lock().question = Some(Vec::new());
    }

    /// What becomes of a statement that came alone.
    pub(super) fn serve(&self, flight: &Flight<'_>) -> Served {
        let mut state = self.lock();
        let Some(transaction) = self.following.rest().filter(|_| !state.is_lost && !state.is_mid_message)
        else {
            return Served::Relay;
        };
        let Some(plan) = self.plan_of(&state, flight) else { return Served::Relay };
        let is_known = matches!(
            plan.statement,
            Statement::Read(_) | Statement::PlainRead { .. } | Statement::Write(_) | Statement::Begin { .. }
        );
        if is_known && transaction == b'I' && state.must_ask(self.cache.reading().surroundings) {
            return Served::Ask;
        }
        if !matches!(plan.statement, Statement::Read(_)) || !is_certain(&state, flight) {
            return Served::Relay;
        }
        state.is_counted = true;
        if transaction == b'E' || (transaction == b'T' && state.block != Block::Clean) {
            self.cache.counters.relayed("it is in a transaction that has written, or sees another state");
            return Served::Relay;
        }
        let Who::Known(Identity { number: identity, .. }) = state.who else {
            let reason = "its session's settings are not known, or such that no reply is kept";
            self.cache.counters.relayed(reason);
            return Served::Relay;
        };
        let key = mem::take(&mut state.key);
        let key = key_of(key, &plan, identity, flight);
        if let Some(reply) = self.cache.results.get(&key) {
            state.key = key;
            count(&self.cache.counters.hits);
            return Served::Reply(state.hit(flight, &plan, &reply, transaction));
        }
        self.miss(&mut state, &plan, flight, &key, transaction);
        state.key = key;
        Served::Relay
    }

    fn plan_of(&self, state: &State, flight: &Flight<'_>) -> Option<Arc<Plan>> {
        match flight {
            Flight::Simple(text) => Some(self.cache.plans.get(std::str::from_utf8(text).ok()?, &[])),
            Flight::Extended(Extended { parse: Some(parse), .. }) => self.parsed(&parse[5..]).1,
            Flight::Extended(Extended { name, .. }) => state.names.get_or_shaken(name),
        }
    }

    /// Name and plan of a `Parse`.
    fn parsed<'b>(&self, body: &'b [u8]) -> (&'b [u8], Option<Arc<Plan>>) {
        let mut fields = Fields::new(body);
        let Some(name) = fields.text() else { return (&[], None) };
        let mut plan = || {
            let text = std::str::from_utf8(fields.text()?).ok()?;
            let types = (0..fields.count(4)?).map(|_| fields.int32().map(i32::cast_unsigned));
            let declared = types.collect::<Option<Vec<u32>>>()?;
            fields.rest().is_empty().then(|| self.cache.plans.get(text, &declared))
        };
        (name, plan())
    }

    /// Takes a ticket for the reply, if it can be kept.
    fn miss(&self, state: &mut State, plan: &Plan, flight: &Flight<'_>, key: &[u8], transaction: u8) {
        let reading = self.cache.reading();
        let values = match flight {
            Flight::Simple(_) => &[][..],
            Flight::Extended(extended) => extended.values,
        };
        let searched = state.searched(reading.surroundings);
        let Effect::Cacheable(column, span) = effect(plan, values, &reading.catalogue, searched) else {
            return;
        };
        count(&self.cache.counters.misses);
        match self.cache.results.ticket(reading.number, column, span) {
            Some(ticket) => {
                state.capture = Some(Capture::new(ticket, key.into(), self.cache.max_reply, transaction));
            }
            None => self.cache.counters.relayed("a write is under way, or nothing is shown for now"),
        }
    }

    /// Takes what the client has sent, message by message, and gives the bytes for the server.
    ///
    /// # Errors
    /// [`TooLong`]: the message must not be passed on.
    pub(super) fn sent(&self, inbox: &mut Inbox, out: &mut Vec<u8>) -> Result<(), TooLong> {
        let mut state = self.lock();
        loop {
            let place = match inbox.next() {
                Next::Nothing => return Ok(()),
                Next::Whole(tag, place) => {
                    let message = inbox.bytes(&place);
                    self.begins(&mut state);
                    state.catch_up(tag, message, out);
                    self.message(&mut state, tag, &message[5..]);
                    place
                }
                Next::Part { tag, place, is_first, .. } => {
                    if is_first {
                        self.begins(&mut state);
                        state.catch_up(tag, &[], out);
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
            self.following.client_sent(bytes, Instant::now())?;
            out.extend_from_slice(bytes);
        }
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
                let text = flight::text(body).and_then(|text| std::str::from_utf8(text).ok());
                let plan = text.map(|text| self.cache.plans.get(text, &[]));
                self.executes(state, plan.as_deref(), &[]);
            }
            b'P' => {
                let (name, plan) = self.parsed(body);
                state.names.parse(name, plan);
            }
            b'B' => state.bind(body),
            b'E' => {
                let portal = Fields::new(body).text().and_then(|name| state.portals.get(name)).cloned();
                let (plan, values) = portal.map_or((None, [].into()), |portal| (portal.plan, portal.values));
                self.executes(state, plan.as_deref(), &values);
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

    /// A message that is too long to be looked at.
    fn long_message(&self, state: &mut State, tag: u8) {
        match tag {
            b'd' => {}
            // Values of any length do not change what a text does, but for its ranges.
            b'B' => state.bind_of_unknown(),
            b'P' => {
                state.names.forget();
                state.names.parse(&[], None);
            }
            b'Q' => {
                state.names.query();
                self.executes(state, None, &[]);
            }
            _ => self.lose(state),
        }
    }

    /// Something came that is not understood: from now on every statement may do anything.
    fn lose(&self, state: &mut State) {
        state.is_lost = true;
        (state.who, state.searched, state.began) = (Who::Stranger(0), None, None);
        state.names.forget();
        self.give_up(state);
        self.hold(state, &Touched::unknown());
    }

    fn executes(&self, state: &mut State, plan: Option<&Plan>, values: &[u8]) {
        // From the second statement on, the transaction's state is that after the first one.
        let transaction = state.began.take();
        let reading = self.cache.reading();
        let searched = state.searched(reading.surroundings);
        let done = match plan {
            Some(plan) => effect(plan, values, &reading.catalogue, searched),
            None => Effect::Unknown("its text is not known".to_owned()),
        };
        let done = if state.is_of_other_database { elsewhere(plan, done) } else { done };
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
                // The transaction is open, and this does not end it.
                if !matches!(transaction, Some(b'T' | b'E')) {
                    let pending = state.pending.clone();
                    self.hold(state, &pending);
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

    fn hold(&self, state: &mut State, touched: &Touched) {
        let (hold, dropped) = self.cache.results.hold(touched.clone());
        state.holds.push(hold);
        let counters = &self.cache.counters;
        count(&counters.held);
        counters.dropped.fetch_add(u64::try_from(dropped).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn give_up(&self, state: &mut State) {
        if let Some(capture) = state.capture.take() {
            self.cache.results.give_up(capture.ticket());
        }
    }

    /// Takes what the server has sent, message by message.
    pub(super) fn received(&self, inbox: &mut Inbox, heard: &mut Heard) {
        let mut state = self.lock();
        loop {
            let place = match inbox.next() {
                Next::Nothing => return,
                Next::Whole(tag, place) => {
                    let message = inbox.bytes(&place);
                    if state.question.is_some() && matches!(tag, b'T' | b'D' | b'C' | b'E' | b'I' | b'Z') {
                        heard.is_answered |= self.answered(&mut state, tag, &message[5..]);
                        continue;
                    }
                    if !self.heard(&mut state, tag, message) {
                        continue;
                    }
                    place
                }
                Next::Part { place, is_last, .. } => {
                    self.give_up(&mut state);
                    state.is_mid_message = !is_last;
                    place
                }
                Next::Broken(place) => {
                    self.lose(&mut state);
                    place
                }
            };
            let bytes = inbox.bytes(&place);
            self.following.server_sent(bytes, Instant::now());
            heard.bytes.extend_from_slice(bytes);
            if let [b'Z', .., transaction] = *bytes {
                state.names.is_ready();
                if self.following.rest() == Some(transaction) {
                    self.rests(&mut state, transaction);
                }
            }
        }
    }

    /// A message for the client; `false` if it answers one of the proxy's own.
    fn heard(&self, state: &mut State, tag: u8, message: &[u8]) -> bool {
        match state.capture.as_mut().map(|capture| capture.take(tag, message)) {
            None | Some(Captured::Coming) => {}
            Some(Captured::GivenUp) => self.give_up(state),
            Some(Captured::Whole) => self.fill(state),
        }
        match tag {
            // A setting has changed, by whatever means.
            b'S' => state.changes(AboutSession { keeps_path: true, keeps_prepared: true }),
            b'1' | b'3' => match state.names.answered(tag) {
                Ok(is_for_client) => return is_for_client,
                Err(Lost) => self.lose(state),
            },
            _ => {}
        }
        true
    }

    fn fill(&self, state: &mut State) {
        let Some(capture) = state.capture.take() else { return };
        let (ticket, key, reply) = capture.into_parts();
        if self.cache.results.fill(&ticket, key, reply) {
            count(&self.cache.counters.filled);
        } else {
            self.cache.counters.relayed("a write has overtaken it");
        }
    }

    /// All that was sent is answered.
    fn rests(&self, state: &mut State, transaction: u8) {
        state.holds.drain(..).for_each(|hold| self.cache.release(hold));
        state.names.rest();
        state.block = match (transaction, state.block) {
            (b'I', _) => Block::None,
            (b'T', Block::Clean) => Block::Clean,
            _ => Block::Other,
        };
        if transaction == b'I' {
            state.pending = Touched::default();
            state.portals.clear();
        }
    }

    /// A message that answers the question; `true` with the last one.
    fn answered(&self, state: &mut State, tag: u8, body: &[u8]) -> bool {
        if tag == b'D' {
            state.question = Some(body.to_vec());
        }
        if tag != b'Z' {
            return false;
        }
        let answer = state.question.take().and_then(|row| Answer::read(&row));
        self.is(state, answer);
        true
    }

    fn is(&self, state: &mut State, answer: Option<Answer>) {
        let surroundings = self.cache.reading().surroundings;
        (state.who, state.searched) = (Who::Stranger(surroundings), None);
        let Some(answer) = answer else { return };
        state.names.confirm(&answer.prepared);
        if state.process != Some(answer.pid) {
            // A pooler stands between, so that the end of a server process cannot be waited for.
            state.pid = None;
            return;
        }
        match self.cache.identity(&answer) {
            Ok(identity) => {
                state.searched = Some((identity.surroundings, identity.searched.clone()));
                state.who = Who::Known(identity);
            }
            Err(Stranger::OtherDatabase) => state.is_of_other_database = true,
            Err(Stranger::OtherIsolation) => state.searched = Some((surroundings, answer.searched)),
            Err(Stranger::OtherStart | Stranger::OtherMeaning) => {}
        }
    }
}

impl State {
    /// Schemas that it searches, as long as the surroundings are those in which it was asked.
    fn searched(&self, surroundings: u64) -> Option<&[String]> {
        self.searched.as_ref().filter(|(asked, _)| *asked == surroundings).map(|(_, searched)| &searched[..])
    }

    fn must_ask(&self, surroundings: u64) -> bool {
        match &self.who {
            Who::Known(identity) => identity.surroundings != surroundings,
            Who::Unknown => true,
            Who::Stranger(asked) => !self.is_lost && !self.is_of_other_database && *asked != surroundings,
        }
    }

    /// Settings may be others.
    fn changes(&mut self, about: AboutSession) {
        if !self.is_lost && !self.is_of_other_database {
            self.who = Who::Unknown;
        }
        if !about.keeps_path {
            self.searched = None;
        }
        if !about.keeps_prepared {
            self.names.forget();
            self.portals.clear();
        }
    }

    fn bind(&mut self, body: &[u8]) {
        let mut fields = Fields::new(body);
        let (Some(portal), Some(name)) = (fields.text(), fields.text()) else {
            return self.bind_of_unknown();
        };
        if self.portals.len() >= MAX_PORTALS {
            self.portals.clear();
        }
        let plan = self.names.get(name);
        // If this fails, the portal of an earlier flight is still there.
        let is_certain = portal.is_empty() || !self.portals.contains_key(portal);
        let bound = Portal { plan: plan.filter(|_| is_certain), values: fields.rest().into() };
        self.portals.insert(portal.into(), bound);
    }

    /// Some portal was bound to some statement.
    fn bind_of_unknown(&mut self) {
        self.portals.clear();
    }

    fn close(&mut self, body: &[u8]) {
        let mut fields = Fields::new(body);
        let kind = fields.byte();
        let name = fields.text().unwrap_or_default();
        if kind == Some(b'P') {
            self.portals.remove(name);
        }
        self.names.close((kind == Some(b'S')).then_some(name));
    }

    /// The reply of a hit, after which the server has not seen what the client has sent.
    fn hit(&mut self, flight: &Flight<'_>, plan: &Arc<Plan>, reply: &[u8], transaction: u8) -> Vec<u8> {
        let mut out = Vec::with_capacity(reply.len() + 16);
        match flight {
            Flight::Simple(_) => {
                self.names.set(b"", None);
                self.unseen = vec![CLOSE_STATEMENT.to_vec()];
                self.forgets_portal(transaction);
            }
            Flight::Extended(Extended { parse, .. }) => {
                if let Some(parse) = parse {
                    out.extend_from_slice(PARSE_COMPLETE);
                    self.names.set(b"", Some(plan.clone()));
                    self.unseen = vec![parse.to_vec()];
                }
                self.forgets_portal(transaction);
                out.extend_from_slice(BIND_COMPLETE);
            }
        }
        out.extend_from_slice(reply);
        out.extend_from_slice(&[b'Z', 0, 0, 0, 5, transaction]);
        out
    }

    /// Outside of a transaction the server has no portal any more.
    fn forgets_portal(&mut self, transaction: u8) {
        if transaction == b'T' && self.unseen.iter().all(|message| message != CLOSE_PORTAL) {
            self.unseen.push(CLOSE_PORTAL.to_vec());
        }
    }

    /// Tells the server what it has not seen, before the next message, unless that takes its place.
    fn catch_up(&mut self, tag: u8, message: &[u8], out: &mut Vec<u8>) {
        let takes_its_place = matches!(tag, b'Q' | b'X') || (tag == b'P' && message.get(5) == Some(&0));
        for message in mem::take(&mut self.unseen) {
            if !takes_its_place {
                self.names.own();
                out.extend_from_slice(&message);
            }
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let mut state = self.lock();
        self.give_up(&mut state);
        let (process, pid) = (state.process, state.pid);
        state.holds.drain(..).for_each(|hold| self.cache.doubt(hold, pid));
        if let Some(pid) = process {
            self.cache.process_left(pid);
        }
    }
}

/// A read or write in another database touches nothing here; anything else may change roles, which all databases share.
fn elsewhere(plan: Option<&Plan>, done: Effect) -> Effect {
    match plan.map(|plan| &plan.statement) {
        Some(Statement::Read(_) | Statement::PlainRead { .. } | Statement::Write(_)) => {
            Effect::Nothing("it is in another database".to_owned())
        }
        _ => done,
    }
}

/// Whether the statement is the one that the server has by this name.
fn is_certain(state: &State, flight: &Flight<'_>) -> bool {
    match flight {
        Flight::Simple(_) | Flight::Extended(Extended { parse: Some(_), .. }) => true,
        Flight::Extended(Extended { name, .. }) => state.names.get(name).is_some(),
    }
}

/// The whole identity of a statement: text and types by their number, roles and settings by theirs, the form of the reply, and
/// the values as they came.
fn key_of(mut key: Vec<u8>, plan: &Plan, identity: u64, flight: &Flight<'_>) -> Vec<u8> {
    key.clear();
    key.extend_from_slice(&plan.number.to_le_bytes());
    key.extend_from_slice(&identity.to_le_bytes());
    match flight {
        Flight::Simple(_) => key.push(0),
        Flight::Extended(Extended { values, is_described, .. }) => {
            key.push(1 + u8::from(*is_described));
            key.extend_from_slice(values);
        }
    }
    key
}
