//! Transactions under a lease: a client holds what it will touch, then reads and writes at the store past the cache.

use lacuna_cache_protocol::{
    Command, Epoch, Event, Query, RangeId, RequestId, StoreCall, StoreReply, Write, WriteOutcome,
};

use super::client::{PATIENCE, Work};
use super::history::{How, Moment};
use super::network::{Message, Node};
use super::table::{Change, Row, closed};
use super::world::World;

/// How long a lease lasts of which nothing is heard: longer than a client waits for the store.
const LASTS: u64 = 2_000;

/// The lease of a transaction.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    dendrite: Node,
    range: RangeId,
    request: RequestId,
    /// The fences that the store has to check.
    fences: Vec<(RangeId, Epoch)>,
    /// The number of the read in it.
    read: u64,
}

impl Change {
    /// What a transaction reads before it writes this: rows that its lease covers.
    fn query(self) -> Query {
        let (lo, hi) = match self {
            Self::Put { key, .. } | Self::Delete { key } | Self::Edit { key, .. } | Self::Add { key, .. } => {
                (key, key)
            }
            Self::Touch { lo, hi } => (lo, hi),
            Self::Move { from, .. } => (from, from),
        };
        Query::all(0, closed(lo, hi))
    }
}

/// The process with the owner.
impl World {
    pub(crate) fn begin_hold(&mut self, me: usize, from: Node, range: RangeId, write: Write, ticket: u64) {
        let request = self.dendrites[me].request(from, ticket);
        self.ask_owner(me, range, request, |request| Event::Hold(request, write));
    }

    pub(crate) fn hold_is_ready(
        &mut self,
        me: usize,
        own: (RangeId, Epoch),
        request: RequestId,
        others: Vec<(RangeId, Epoch)>,
    ) {
        let Some((client, ticket)) = self.dendrites[me].requests.get(&request).copied() else { return };
        self.dendrites[me].holds.insert(request, (own.0, self.now + LASTS));
        let fences = [vec![own], others].concat();
        let held = Held { dendrite: Node::Dendrite(me), range: own.0, request, fences, read: 0 };
        self.send(Node::Dendrite(me), client, Message::HoldReady(ticket, held));
    }

    pub(crate) fn end_hold(&mut self, me: usize, range: RangeId, request: RequestId) {
        self.dendrites[me].requests.remove(&request);
        if self.dendrites[me].holds.remove(&request).is_some() {
            self.drive(me, range, Event::HoldDone(request));
        }
    }

    /// Clients that are heard no more may have transactions on their way.
    pub(crate) fn abandon_holds(&mut self, me: usize) {
        let now = self.now;
        let over = |(_, (_, until)): &(&RequestId, &(RangeId, u64))| *until <= now;
        let given_up: Vec<(RequestId, RangeId)> = self.dendrites[me]
            .holds
            .iter()
            .filter(over)
            .map(|(request, (range, _))| (*request, *range))
            .collect();
        for (request, range) in given_up {
            self.dendrites[me].holds.remove(&request);
            self.drive(me, range, Event::HoldAbandoned(request));
            self.dendrites[me].requests.remove(&request);
        }
    }
}

/// The store.
impl World {
    /// All in one: the rows that it reads, and what it writes after that.
    pub(crate) fn transact(
        &mut self,
        fences: &[(RangeId, Epoch)],
        change: Change,
        command: Command,
    ) -> (Vec<Row>, StoreReply) {
        let rows = self.store.fresh(&change.query());
        let hiccup = self.setup.faults && self.rng.below(50) == 0;
        let ((range, epoch), others) = fences.split_first().expect("a lease has a tenure");
        let write = StoreCall::WriteAcross(command, others.to_vec());
        (rows, self.store.call(*range, *epoch, &write, hiccup))
    }
}

/// The client.
impl World {
    pub(crate) fn has_lease(&self, me: usize) -> bool {
        self.clients[me].operation.as_ref().is_some_and(|operation| operation.held.is_some())
    }

    pub(crate) fn lease_is_held(&mut self, me: usize, ticket: u64, held: Held) {
        let here = Node::Client(me);
        if !self.is_current(me, ticket) || self.has_lease(me) {
            // Too late: nothing is done under it.
            return self.send(here, held.dendrite, Message::HoldDone(held.range, held.request));
        }
        let (read, deadline) = (self.new_number(), self.now + PATIENCE);
        let Some(operation) = &mut self.clients[me].operation else { return };
        let Work::Write(id, change) = operation.work else { return };
        operation.deadline = deadline;
        operation.held = Some(Held { read, ..held.clone() });
        self.history.push(Moment::ReadBegan(read));
        let command = change.write(id, false).command;
        self.send(here, Node::Store, Message::Transaction(held.fences, change, command, ticket));
    }

    pub(crate) fn transaction_ended(&mut self, me: usize, reply: &StoreReply, rows: Vec<Row>) {
        let Some(operation) = &mut self.clients[me].operation else { return };
        let (Some(held), Work::Write(_, change)) = (operation.held.take(), &operation.work) else { return };
        let query = change.query();
        let (outcome, what) = match reply {
            StoreReply::Done => (WriteOutcome::Done, "Done"),
            StoreReply::Refused { retry: false, .. } => (WriteOutcome::Refused, "Refused"),
            StoreReply::Refused { .. } => (WriteOutcome::Retry, "Undone"),
            _ => (WriteOutcome::Retry, "Fenced"),
        };
        *self.counts.transactions.entry(what.to_owned()).or_default() += 1;
        if outcome != WriteOutcome::Retry {
            self.history.push(Moment::ReadEnded(held.read, query, rows, How::Direct));
        }
        self.write_ended(me, outcome);
        self.send(Node::Client(me), held.dendrite, Message::HoldDone(held.range, held.request));
    }
}
