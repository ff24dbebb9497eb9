//! A statement that came alone: from the cache, or to the server with a ticket for its reply.

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use super::Session;
use super::capture::{Capture, Purpose};
use super::flight::{Extended, Flight};
use super::state::{Block, SessionIdentity, State};
use super::unseen::Before;
use crate::cache::{
    CHANGED, Comparison, Effect, Identity, Meant, Plan, Prepared, Reading, add_duration, count, effect, meant,
};
use crate::recognise::strict::{Read, Statement};
use crate::wire::Fields;

/// What is known of the log since a statement came.
#[derive(Debug, Clone, Copy)]
pub(super) enum Logged {
    /// It was not asked.
    Unasked,
    /// Everything that was committed before this moment has been dropped.
    ReadSoFar(Instant),
    /// It is not read, or is late.
    Unread,
}

/// What becomes of a statement that came alone.
#[derive(Debug)]
pub(super) enum Served {
    /// These bytes answer it.
    Reply(Vec<u8>),
    /// The session must be asked first who it is.
    Ask,
    /// The log must be read first.
    Wait,
    /// It goes to the server.
    Relay,
}

const PARSE_COMPLETE: &[u8] = b"1\0\0\0\x04";
const BIND_COMPLETE: &[u8] = b"2\0\0\0\x04";

impl Session<'_> {
    /// The session is about to be asked who it is.
    pub(super) fn asks(&self) {
        self.lock().question = Some(Vec::new());
    }

    /// What becomes of a statement that came alone.
    pub(super) fn serve(&self, flight: &Flight<'_>, logged: Logged) -> Served {
        let mut state = self.lock();
        let Some(transaction) = self.following.rest().filter(|_| !state.is_lost && !state.is_mid_message)
        else {
            return Served::Relay;
        };
        let Some(prepared) = self.prepared(&state, flight) else { return Served::Relay };
        let (plan, reading) = (&prepared.plan, self.cache.reading());
        let is_known = matches!(
            plan.statement,
            Statement::Read(_) | Statement::Harmless(_) | Statement::Write(_) | Statement::Begin { .. }
        );
        if is_known && transaction == b'I' && state.must_ask(reading.surroundings) {
            return Served::Ask;
        }
        let Statement::Read(read) = &plan.statement else { return Served::Relay };
        if !is_certain(&state, flight) {
            return Served::Relay;
        }
        state.is_counted = true;
        if transaction == b'E' || (transaction == b'T' && state.block != Block::Clean) {
            self.cache.counters.relayed("it is in a transaction that has written, or sees another state");
            return Served::Relay;
        }
        let SessionIdentity::Known(Identity { number: identity, .. }) = state.identity else {
            let why = state.why_not_kept();
            self.cache.counters.relayed(&format!("no reply of its session is kept: {why}"));
            return Served::Relay;
        };
        if !state.is_as_prepared(flight, &prepared, read, &reading) {
            self.cache.counters.relayed(CHANGED);
            return Served::Relay;
        }
        let key = mem::take(&mut state.key);
        let key = key_of(key, plan, identity, flight);
        let served = match logged {
            Logged::Unread => None,
            Logged::Unasked if self.cache.waits_for_log() => {
                self.cache.results.has(&key).then_some(Served::Wait)
            }
            _ if self.cache.shadow.is_some() => self.would_be_hit(&mut state, plan, &key, transaction),
            Logged::Unasked => self.hit(&mut state, &prepared, flight, &key, transaction, Instant::now()),
            Logged::ReadSoFar(begun) => self.hit(&mut state, &prepared, flight, &key, transaction, begun),
        };
        let served = served.unwrap_or_else(|| {
            self.miss(&mut state, plan, flight, &key, transaction);
            Served::Relay
        });
        state.key = key;
        served
    }

    fn hit(
        &self,
        state: &mut State,
        prepared: &Prepared,
        flight: &Flight<'_>,
        key: &[u8],
        transaction: u8,
        begun: Instant,
    ) -> Option<Served> {
        let (reply, took) = self.cache.results.get(key)?;
        let reply = state.hit(flight, prepared, &reply, transaction);
        let (counters, elapsed) = (&self.cache.counters, begun.elapsed());
        count(&counters.hits);
        add_duration(&counters.hit_nanos, elapsed);
        add_duration(&counters.saved_nanos, took.saturating_sub(elapsed));
        Some(Served::Reply(reply))
    }

    /// A cache that answers nothing: the server is asked, and its reply compared.
    fn would_be_hit(
        &self,
        state: &mut State,
        plan: &Arc<Plan>,
        key: &[u8],
        transaction: u8,
    ) -> Option<Served> {
        let shadow = self.cache.shadow.as_ref()?;
        let would_be = self.cache.results.watch(key)?;
        shadow.begins();
        let purpose = Purpose::Compare(Comparison { would_be, plan: plan.clone() });
        state.capture = Some(Capture::new(purpose, self.cache.max_reply, self.cache.room(), transaction));
        Some(Served::Relay)
    }

    fn prepared(&self, state: &State, flight: &Flight<'_>) -> Option<Prepared> {
        let plan = match flight {
            Flight::Simple(text) => self.queried(text)?,
            Flight::Extended(Extended { parse: Some(parse), .. }) => self.parsed(&parse[5..]).1?,
            Flight::Extended(Extended { name, .. }) => return state.names.get_or_unconfirmed(name),
        };
        Some(self.prepared_now(state, plan))
    }

    /// The plan of the text of a `Query`.
    pub(super) fn queried(&self, text: &[u8]) -> Option<Arc<Plan>> {
        Some(self.cache.plans.get(std::str::from_utf8(text).ok()?, &[]))
    }

    /// Name and plan of a `Parse`.
    pub(super) fn parsed<'b>(&self, body: &'b [u8]) -> (&'b [u8], Option<Arc<Plan>>) {
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
        let searched = state.searched(reading.surroundings).ok_or(state.why_not_kept());
        let as_of = Some(reading.mark());
        let Effect::Cacheable(column, spans) = effect(plan, as_of, values, &reading.catalogue, searched)
        else {
            return;
        };
        count(&self.cache.counters.misses);
        match self.cache.results.ticket(reading.number, column, spans) {
            Some(ticket) => {
                let purpose = Purpose::Keep(ticket, key.into(), plan.shape.clone());
                state.capture =
                    Some(Capture::new(purpose, self.cache.max_reply, self.cache.room(), transaction));
            }
            None => self.cache.counters.relayed("a write is under way, or nothing is shown for now"),
        }
    }
}

impl State {
    /// The reply of a hit, after which the server has not seen what the client has sent.
    fn hit(&mut self, flight: &Flight<'_>, prepared: &Prepared, reply: &[u8], transaction: u8) -> Vec<u8> {
        let mut out = Vec::with_capacity(reply.len() + 16);
        match flight {
            Flight::Simple(_) => {
                self.names.set(b"", None);
                self.unseen.closes_statement();
            }
            Flight::Extended(Extended { parse, .. }) => {
                if let Some(parse) = parse {
                    out.extend_from_slice(PARSE_COMPLETE);
                    self.names.set(b"", Some(prepared.clone()));
                    self.unseen.parses(parse);
                }
                out.extend_from_slice(BIND_COMPLETE);
            }
        }
        // Outside of a transaction the server has no portal any more.
        if transaction == b'T' {
            self.unseen.closes_portal();
        }
        out.extend_from_slice(reply);
        out.extend_from_slice(&[b'Z', 0, 0, 0, 5, transaction]);
        out
    }

    /// Tells the server what it has not seen and must see before this message.
    pub(super) fn catch_up(&mut self, tag: u8, message: &[u8], out: &mut Vec<u8>) {
        let Before { statement, portal, replaced } = self.unseen.before(tag, message);
        if let Some(own) = statement {
            out.extend_from_slice(&own);
            self.names.own(Some(own));
        }
        if let Some(own) = portal {
            out.extend_from_slice(own);
            self.names.own(None);
        }
        self.names.replaces(replaced);
    }

    /// Whether the statement is to the server what its text would be now; if so, the next question is answered faster.
    fn is_as_prepared(
        &mut self,
        flight: &Flight<'_>,
        prepared: &Prepared,
        read: &Read,
        reading: &Reading,
    ) -> bool {
        let now = self.as_of(reading.mark());
        if (prepared.as_of.reading.number, prepared.as_of.path) == (reading.number, now.path) {
            return true;
        }
        let meant = meant(&reading.catalogue, &read.table, self.searched(reading.surroundings));
        let Meant::Registered(table) = meant else {
            // It is not kept for another reason.
            return true;
        };
        let is_same = table.has_columns_of(self.reading_of(prepared), read);
        if let (true, Flight::Extended(Extended { name, .. })) = (is_same, flight) {
            self.names.renew(name, now);
        }
        is_same
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
