//! What the server sends: replies that are kept on their way, answers to the proxy's own messages, and the rest after them.

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use tracing::warn;

use super::Session;
use super::capture::{Capture, Captured, LONG_ROW, Purpose};
use super::names::OutOfStep;
use super::state::{Block, SessionIdentity, State};
use crate::cache::{
    About, Answer, Comparison, NoIdentity, Ticket, Touched, Verdict, add_duration, compare, count, of_error,
};
use crate::recognise::strict::{AboutSession, Statement};
use crate::wire::{Inbox, Next, Severity, severity_and_code};

/// What the server's bytes have led to.
#[derive(Debug, Default)]
pub(super) struct Received {
    /// Bytes for the client.
    pub(super) bytes: Vec<u8>,
    /// Whether the question was answered.
    pub(super) is_answered: bool,
}

/// Whether a message is one of the answers to the question, and of no statement of the client. An error that ends the session is for
/// the client, too.
fn is_of_an_answer(tag: u8, body: &[u8]) -> bool {
    let is_fatal = || severity_and_code(body).is_none_or(|(severity, _)| severity == Severity::Fatal);
    matches!(tag, b'1' | b'2' | b'3' | b'T' | b'n' | b'D' | b'C' | b'I' | b'Z')
        || (tag == b'E' && !is_fatal())
}

impl Session<'_> {
    /// Bytes of the login that the server has sent.
    pub(super) fn login_received(&self, bytes: &[u8]) {
        self.following.server_sent(bytes, Instant::now());
    }

    /// Takes what the server has sent, message by message.
    pub(super) fn received(&self, inbox: &mut Inbox, received: &mut Received) {
        let mut state = self.lock();
        loop {
            // The type of a message that has come to its end.
            let (place, ended) = match inbox.next() {
                Next::Nothing => return,
                Next::Whole(tag, place) => {
                    let message = inbox.bytes(&place);
                    if state.question.is_some() && is_of_an_answer(tag, &message[5..]) {
                        received.is_answered |= self.answered(&mut state, tag, &message[5..]);
                        continue;
                    }
                    if !self.passes(&mut state, tag, message) {
                        continue;
                    }
                    (place, tag)
                }
                Next::Part { tag: b'D', place, is_first, .. } if state.question.is_some() => {
                    state.long_answer(inbox.bytes(&place), is_first);
                    continue;
                }
                Next::Part { tag, place, is_last, .. } => {
                    self.has_no_room(&mut state, LONG_ROW);
                    state.is_mid_message = !is_last;
                    (place, if is_last { tag } else { 0 })
                }
                Next::Broken(place) => {
                    self.lose(&mut state);
                    (place, 0)
                }
            };
            let bytes = inbox.bytes(&place);
            self.following.server_sent(bytes, Instant::now());
            received.bytes.extend_from_slice(bytes);
            if !self.following.is_followed() {
                self.lose(&mut state);
            }
            match (ended, bytes) {
                (b'E', _) => state.names.failed(self.following.failed()),
                (b'Z', [.., transaction]) => self.is_ready(&mut state, *transaction),
                _ => {}
            }
        }
    }

    fn is_ready(&self, state: &mut State, transaction: u8) {
        if let Some(owed) = state.names.is_ready() {
            state.unseen.is_owed_again(owed);
        }
        if self.following.rest() == Some(transaction) {
            self.rests(state, transaction);
        }
    }

    /// A message for the client; `false` if it answers one of the proxy's own.
    fn passes(&self, state: &mut State, tag: u8, message: &[u8]) -> bool {
        match state.capture.as_mut().map(|capture| capture.take(tag, message)) {
            None | Some(Captured::Coming) => {}
            Some(Captured::GivenUp) if tag == b'E' => self.refused(state, &message[5..]),
            Some(Captured::GivenUp) => self.give_up(state),
            Some(Captured::NoRoom(why)) => self.has_no_room(state, why),
            Some(Captured::Whole) => self.whole(state),
        }
        match tag {
            // A setting has changed, by whatever means.
            b'S' => state.changes(AboutSession { keeps_path: true, keeps_prepared: true }),
            b'1' | b'3' => match state.names.answered(tag) {
                Ok(is_for_client) => return is_for_client,
                Err(OutOfStep) => self.lose_names(state),
            },
            _ => {}
        }
        true
    }

    /// A reply is there that is kept or compared.
    fn whole(&self, state: &mut State) {
        match state.capture.take() {
            Some(Capture { purpose: Purpose::Keep(ticket, key, shape), reply, begun, .. }) => {
                let about = About { shape, took: begun.elapsed() };
                self.fill(&ticket, key, reply.into(), about);
            }
            Some(Capture { purpose: Purpose::Compare(comparison), reply, begun, .. }) => {
                let Statement::Read(read) = &comparison.plan.statement else { return };
                let has_loose_texts = self.cache.has_loose_texts(&comparison);
                let verdict = compare(&comparison.would_be.reply, &reply, read.freedom, has_loose_texts);
                self.compared(comparison, verdict, (reply.len(), begun));
            }
            None => {}
        }
    }

    fn fill(&self, ticket: &Ticket, key: Arc<[u8]>, reply: Arc<[u8]>, about: About) {
        let took = about.took;
        if self.cache.results.fill(ticket, key, reply, about) {
            count(&self.cache.counters.filled);
            add_duration(&self.cache.counters.fill_nanos, took);
        } else {
            self.cache.counters.relayed("a write has overtaken it");
        }
    }

    /// The server has answered a read with an error.
    fn refused(&self, state: &mut State, error: &[u8]) {
        match state.capture.take() {
            Some(Capture { purpose: Purpose::Compare(comparison), begun, .. }) => {
                self.compared(comparison, of_error(error), (error.len(), begun));
            }
            other => {
                state.capture = other;
                self.give_up(state);
            }
        }
    }

    fn compared(&self, comparison: Comparison, verdict: Verdict, answered: (usize, Instant)) {
        let cache = self.cache.clone();
        let log = cache.log.clone().filter(|_| !matches!(verdict, Verdict::Uncertain(_)));
        let Some(log) = log else { return cache.compared(&comparison, verdict, answered) };
        // What the server has shown of others' writes may still be on its way here.
        tokio::spawn(async move {
            let unread = Verdict::Uncertain("the log was not read so far in time");
            let verdict = if log.is_read_so_far().await { verdict } else { unread };
            cache.compared(&comparison, verdict, answered);
        });
    }

    /// The reply is neither kept nor compared.
    pub(super) fn give_up(&self, state: &mut State) {
        if let Some(Purpose::Compare(comparison)) = self.given_up(state) {
            let other = Verdict::Uncertain("the server's reply has another form, or never came");
            self.compared(comparison, other, (0, Instant::now()));
        }
    }

    /// The same, since there is no room for it.
    fn has_no_room(&self, state: &mut State, why: &'static str) {
        match self.given_up(state) {
            Some(Purpose::Keep(..)) => self.cache.counters.relayed(why),
            Some(Purpose::Compare(comparison)) => {
                self.compared(comparison, Verdict::Uncertain(why), (0, Instant::now()));
            }
            None => {}
        }
    }

    /// What the reply was for.
    fn given_up(&self, state: &mut State) -> Option<Purpose> {
        let purpose = state.capture.take()?.purpose;
        if let Purpose::Keep(ticket, ..) = &purpose {
            self.cache.results.give_up(ticket);
        }
        Some(purpose)
    }

    /// All that was sent is answered.
    fn rests(&self, state: &mut State, transaction: u8) {
        for hold in state.holds.drain(..) {
            self.cache.release(hold);
        }
        self.ends_views(state, transaction);
        state.held = Touched::default();
        state.names.rest();
        state.block = match (transaction, state.block) {
            (b'I', _) => Block::None,
            (b'T', Block::Clean) => Block::Clean,
            _ => Block::Other,
        };
        if transaction == b'I' {
            state.path.ends_transaction();
            state.pending = Touched::default();
            state.portals.clear();
        }
    }

    /// What a doubted statement may have done is committed with the rest of its transaction, and so is what was written to a
    /// table or a column that is registered meanwhile: a view that lasts is doubted then, and holds everything.
    fn ends_views(&self, state: &mut State, transaction: u8) {
        let is_open = transaction != b'I';
        let is_remembered = state.has_written && self.cache.remembers_writers();
        state.views.retain(|(_, view)| {
            let is_kept = is_open && (is_remembered || !self.cache.results.is_clear(*view));
            if !is_kept {
                self.cache.release(*view);
            }
            is_kept
        });
        if is_open && !state.views.is_empty() {
            state.block = Block::Other;
        }
        state.has_written &= is_open;
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
        self.identify(state, answer);
        true
    }

    fn identify(&self, state: &mut State, answer: Option<Answer>) {
        let surroundings = self.cache.reading().surroundings;
        let not_kept = |why| SessionIdentity::NotKept(surroundings, why);
        state.searched = None;
        let Some(answer) = answer else {
            // A cancel that came late, or a limit of time: the next question may be answered.
            return state.identity = SessionIdentity::Unanswered(Instant::now());
        };
        state.names.confirm(&answer.prepared);
        if let Some((path, renumbered)) = state.path.is_told(&answer.searched) {
            state.names.renumber(path, renumbered);
        }
        if state.process != Some(answer.pid) {
            // A pooler stands between, so that the end of a server process cannot be waited for.
            state.pid = None;
            state.identity = not_kept("a pooler stands between the proxy and the server");
            return;
        }
        state.is_confirmed = true;
        state.identity = match self.cache.identity(&answer) {
            Ok(identity) => {
                state.searched = Some((identity.surroundings, identity.searched.clone()));
                SessionIdentity::Known(identity)
            }
            Err(NoIdentity::Database) => {
                state.is_of_other_database = true;
                not_kept("it is of another database")
            }
            Err(NoIdentity::Start) => not_kept("its server was started at another moment than the account's"),
            Err(NoIdentity::Isolation) => {
                state.searched = Some((surroundings, answer.searched));
                not_kept("its isolation is not READ COMMITTED")
            }
            Err(NoIdentity::Meaning(why)) => {
                if !mem::replace(&mut state.is_reported, true) {
                    warn!(process = answer.pid, why, "each statement of a session empties the cache");
                }
                not_kept(why)
            }
        };
    }
}
