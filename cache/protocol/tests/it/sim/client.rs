//! A client: one operation at a time, through the cache, then the owner.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included};
use std::sync::Arc;

use lacuna_cache_protocol::{
    Application as _, Epoch, Flaw, Form, Interval, Query, RangeId, RangeTable, ReadOutcome, Value,
    WriteOutcome,
};

use super::coordinator::{ROUTE_LIFE, Route};
use super::history::{How, Moment};
use super::joining::Join;
use super::network::{Message, Node};
use super::table::{Change, Table, WriteId, closed, decode};
use super::transaction::Held;
use super::world::World;

#[derive(Debug, Clone)]
pub(crate) enum Work {
    Read(u64, Query),
    Write(WriteId, Change),
}

#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) work: Work,
    range: RangeId,
    /// Replies to older tickets are too late.
    ticket: u64,
    attempts: u32,
    pub(crate) deadline: u64,
    /// A write that went out must not go out again unless it surely was not carried out.
    is_out: bool,
    /// Whether a write is a transaction, and the lease that it has.
    is_transaction: bool,
    pub(crate) held: Option<Held>,
    /// The rest of a read of several tables, of which `work` is one stage.
    pub(crate) join: Option<Join>,
}

#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) operation: Option<Operation>,
    /// Routes and when they end.
    routes: BTreeMap<RangeId, (Route, u64)>,
    table: Option<Arc<RangeTable>>,
    /// What it last saw of each key: the value in domain 1, if there was a row.
    seen: BTreeMap<u64, Option<u64>>,
}

impl Client {
    pub(crate) const fn is_idle(&self) -> bool {
        self.operation.is_none()
    }
}

pub(crate) const PATIENCE: u64 = 1_200;

impl World {
    pub(crate) fn client_hears(&mut self, me: usize, message: Message) {
        match message {
            Message::Alarm => self.client_alarm(me),
            Message::Next if self.clients[me].is_idle() && self.is_working => self.begin(me),
            Message::Redirect(ticket, table) => {
                self.client_learns(me, table);
                if self.is_current(me, ticket) {
                    self.counts.redirects += 1;
                    self.try_again(me);
                }
            }
            Message::Route(range, asked, Some(route), table) => {
                self.client_learns(me, table);
                self.clients[me].routes.insert(range, (route, asked + ROUTE_LIFE));
                if self.clients[me]
                    .operation
                    .as_ref()
                    .is_some_and(|operation| operation.range == range && !operation.is_out)
                {
                    self.go(me);
                }
            }
            Message::Got(ticket, found) if self.is_current(me, ticket) => self.got(me, found),
            Message::GotTogether(ticket, parts, found) if self.is_current(me, ticket) => {
                let found = found.map(|(fence, values)| (fence, self.fused(me, &parts, values)));
                self.got(me, found);
            }
            Message::ReadDone(ticket, outcome) if self.is_current(me, ticket) => match outcome {
                ReadOutcome::Value(value) => self.read_ended(me, &value, How::Miss),
                ReadOutcome::Retry => self.try_again(me),
            },
            Message::DirectRows(ticket, value) if self.is_current(me, ticket) => {
                self.read_ended(me, &value, How::Direct);
            }
            // What the store has is not for the owner to say.
            Message::WriteDone(ticket, _) if self.is_current(me, ticket) && self.has_lease(me) => {}
            Message::WriteDone(ticket, outcome) if self.is_current(me, ticket) => {
                self.write_ended(me, outcome);
            }
            Message::HoldReady(ticket, held) => self.lease_is_held(me, ticket, held),
            Message::Committed(ticket, reply, rows) if self.is_current(me, ticket) => {
                self.transaction_ended(me, &reply, rows);
            }
            _ => {}
        }
    }

    /// Routes are those of a table: with a newer one, they are asked for anew.
    fn client_learns(&mut self, me: usize, table: Arc<RangeTable>) {
        let client = &mut self.clients[me];
        if client.table.as_ref().is_none_or(|known| known.version() < table.version()) {
            client.table = Some(table);
            client.routes.clear();
        }
    }

    /// Where the operation at hand goes, by the table that this client has.
    fn place_of(&self, me: usize, work: &Work) -> (RangeId, bool) {
        let table = self.clients[me].table.as_ref().unwrap_or(&self.coordinator.table);
        let touched = match work {
            Work::Read(_, query) => vec![(query.domain, query.interval.clone())],
            Work::Write(id, change) => change.write(*id, false).touched,
        };
        let parts = table.parts(&touched);
        (*parts.keys().next().unwrap(), parts.len() == 1)
    }

    pub(crate) fn is_current(&self, me: usize, ticket: u64) -> bool {
        self.clients[me].operation.as_ref().is_some_and(|operation| operation.ticket == ticket)
    }

    fn client_alarm(&mut self, me: usize) {
        match &self.clients[me].operation {
            None if self.is_working => self.begin(me),
            Some(operation) if operation.deadline <= self.now => {
                let may_be_there = !operation.is_transaction || operation.held.is_some();
                let is_unknown =
                    operation.is_out && may_be_there && matches!(operation.work, Work::Write(..));
                // Sent back a while ago.
                let is_next = operation.ticket == 0;
                self.clients[me].routes.clear();
                if is_unknown {
                    self.counts.unknown += 1;
                    self.clients[me].operation = None;
                    self.finished(me);
                } else if is_next {
                    self.go(me);
                } else {
                    self.try_again(me);
                }
            }
            _ => {}
        }
        let time = self.now + 60 + self.rng.below(20);
        self.network.send_at(time, Node::Client(me), Node::Client(me), Message::Alarm);
    }

    /// The next operation, right behind the last.
    fn finished(&mut self, me: usize) {
        let time = self.now + self.rng.below(6);
        self.network.send_at(time, Node::Client(me), Node::Client(me), Message::Next);
    }

    fn begin(&mut self, me: usize) {
        let area = RangeId(u32::try_from(self.rng.below(u64::from(self.setup.ranges))).unwrap());
        let mut join = None;
        let work = if self.rng.below(100) < self.setup.read_percent {
            let (read, query) = (self.new_number(), self.some_read(area, &mut join));
            self.history.push(Moment::ReadBegan(read));
            Work::Read(read, query)
        } else {
            let id = WriteId::try_from(self.new_number()).unwrap();
            self.history.push(Moment::WriteBegan(id));
            let change = self.some_change(me, area);
            if self.rng.below(1_000) < self.setup.forbidden {
                self.store.forbidden.push(id);
            }
            Work::Write(id, change)
        };
        let deadline = self.now + PATIENCE;
        let (range, _) = self.place_of(me, &work);
        let is_transaction =
            matches!(work, Work::Write(..)) && self.rng.below(100) < self.setup.transaction_percent;
        self.clients[me].operation = Some(Operation {
            work,
            range,
            ticket: 0,
            attempts: 0,
            deadline,
            is_out: false,
            is_transaction,
            held: None,
            join,
        });
        self.go(me);
    }

    fn some_read(&mut self, range: RangeId, join: &mut Option<Join>) -> Query {
        let joins = self.setup.joined_percent;
        if joins == 0 || self.rng.below(100) >= joins {
            return self.some_query(range);
        }
        let (whole, first) = self.some_join();
        *join = Some(whole);
        first
    }

    fn some_query(&mut self, range: RangeId) -> Query {
        let (first, last) = self.keys_of(range);
        if self.setup.domains > 1 && self.rng.below(4) == 0 {
            let lo = self.rng.below(4);
            return Query::all(1, closed(lo, lo + self.rng.below(2)));
        }
        if self.is_across() && last + 1 < self.key_count() {
            return Query::all(0, closed(last - self.rng.below(2), last + 1 + self.rng.below(2)));
        }
        let lo = first + 2 * self.rng.below(4);
        let limit = u32::try_from(2 + self.rng.below(2)).unwrap();
        match self.rng.below(10) {
            0 => {
                let above = Interval::new(Excluded(lo.into()), Included(last.into())).unwrap();
                Query { form: Form::First(limit), ..Query::all(0, above) }
            }
            1 => {
                let below = Interval::new(Included(first.into()), Included(lo.into())).unwrap();
                Query { form: Form::Last(limit), ..Query::all(0, below) }
            }
            _ => Query::all(0, closed(lo, (lo + [0, 1, 3][self.rng.index(3)]).min(last))),
        }
    }

    fn is_across(&mut self) -> bool {
        self.rng.below(100) < self.setup.across_percent
    }

    /// By what the client saw last, which others may have changed since.
    fn some_condition(&mut self, me: usize, key: u64) -> Change {
        let (other, domains) = (self.rng.below(5), self.setup.domains);
        match self.clients[me].seen.get(&key).copied() {
            Some(Some(was)) if self.rng.below(4) > 0 => Change::Edit { key, was, other, domains },
            Some(Some(_)) => Change::Delete { key },
            _ => Change::Add { key, other, domains },
        }
    }

    fn some_change(&mut self, me: usize, range: RangeId) -> Change {
        let (first, last) = self.keys_of(range);
        if self.is_across() && last + 1 < self.key_count() {
            let (lo, hi) = (last - self.rng.below(3), last + 1 + self.rng.below(3));
            let from_below = self.rng.below(2) == 0;
            return match self.rng.below(2) {
                0 => Change::Touch { lo, hi },
                _ if from_below => Change::Move { from: lo, to: hi },
                _ => Change::Move { from: hi, to: lo },
            };
        }
        let is_hot = self.setup.hunts && self.rng.below(2) == 0;
        let key = if is_hot { first } else { self.rng.between(first, last) };
        if self.rng.below(100) < self.setup.conditional_percent {
            return self.some_condition(me, key);
        }
        if self.setup.is_sparse && self.rng.below(2) == 0 {
            return Change::Delete { key };
        }
        match self.rng.below(10) {
            0..=3 => Change::Put { key, other: self.rng.below(5) },
            4..=5 => Change::Delete { key },
            6 => Change::Move {
                from: key,
                to: first + (key - first + 1 + self.rng.below(3)) % (last - first + 1),
            },
            _ => Change::Touch { lo: key, hi: (key + self.rng.below(4)).min(last) },
        }
    }

    /// Sends the operation on its way, if the route is known.
    fn go(&mut self, me: usize) {
        let (now, ticket, here) = (self.now, self.new_number(), Node::Client(me));
        let is_direct = self.is_store_current() && self.rng.below(20) == 0;
        let Some(work) = self.clients[me].operation.as_ref().map(|operation| operation.work.clone()) else {
            return;
        };
        let (place, is_one) = self.place_of(me, &work);
        let is_plain = matches!(&work, Work::Read(_, query) if query.question.is_none());
        let verifies = self.rng.below(100) < 2 && is_plain;
        let client = &mut self.clients[me];
        let Some(operation) = &mut client.operation else { return };
        (operation.ticket, operation.range) = (ticket, place);
        operation.deadline = now + PATIENCE;
        let range = operation.range;
        let route = client.routes.get(&range).filter(|(_, until)| *until >= now).map(|(route, _)| *route);
        match (operation.work.clone(), route) {
            (Work::Read(_, query), _) if is_direct && is_plain => {
                operation.is_out = true;
                self.send(here, Node::Store, Message::DirectQuery(query, ticket));
            }
            (_, None) => {
                operation.is_out = false;
                self.send(here, Node::Coordinator, Message::AskRoute(range, now));
            }
            (Work::Read(_, query), Some(route)) if !is_one => {
                operation.is_out = true;
                self.send(here, Node::Dendrite(route.owner), Message::Read(range, query, ticket));
            }
            (Work::Read(_, query), Some(route)) if verifies => {
                operation.is_out = true;
                self.send(here, Node::Dendrite(route.owner), Message::Verify(range, query, ticket));
            }
            (Work::Read(_, query), Some(route)) => {
                operation.is_out = true;
                let (to, message) = match self.parts_of(route, range, &query).as_deref() {
                    None => (Node::Dendrite(route.owner), Message::Read(range, query, ticket)),
                    Some([]) => (Node::Cache(route.cache), Message::Get(range, query, ticket)),
                    Some(parts) => {
                        let get = Message::GetTogether(range, parts.to_vec(), Vec::new(), ticket);
                        (Node::Cache(route.cache), get)
                    }
                };
                self.send(here, to, message);
            }
            (Work::Write(id, change), Some(route)) => {
                (operation.is_out, operation.held) = (true, None);
                let is_transaction = operation.is_transaction;
                let write = change.write(id, self.setup.flaw == Some(Flaw::NewValueOnly));
                let asked = if is_transaction { Message::Hold } else { Message::Write };
                self.send(here, Node::Dendrite(route.owner), asked(range, write, ticket));
            }
        }
    }

    /// The entries that a result is put together from, as the owner at hand knows them; `None` if it cannot be a hit.
    fn parts_of(&self, route: Route, range: RangeId, query: &Query) -> Option<Vec<Query>> {
        let seat = self.dendrites[route.owner].seats.get(&range);
        let reader =
            seat.filter(|seat| seat.owner.epoch() == route.epoch).and_then(|seat| seat.owner.entry_reader());
        reader.map_or_else(|| Some(Vec::new()), |reader| reader.parts(query))
    }

    /// The result of the query at hand from these values, if all are there and none needs the store.
    fn fused(&mut self, me: usize, parts: &[Query], values: Vec<Option<Value>>) -> Option<Value> {
        let Work::Read(_, query) = &self.clients[me].operation.as_ref()?.work else { return None };
        let settled = parts.iter().zip(values).map(|(part, value)| {
            let value = Table::default().settle(part, &value?)?;
            Some((part.clone(), value))
        });
        let fused = Table::default().fuse(query, &settled.collect::<Option<Vec<_>>>()?);
        self.counts.fused += u64::from(fused.is_some());
        fused
    }

    /// A hit counts if the fence is the epoch of the route, and the route still holds now that the reply is here.
    fn got(&mut self, me: usize, found: Option<(Epoch, Option<Value>)>) {
        let client = &mut self.clients[me];
        let operation = client.operation.as_mut().unwrap();
        let Work::Read(_, query) = operation.work.clone() else { return };
        let (range, ticket) = (operation.range, operation.ticket);
        let Some((route, until)) = client.routes.get(&range).copied() else { return self.try_again(me) };
        let is_fenced = found.as_ref().is_none_or(|(fence, _)| *fence != route.epoch) || until < self.now;
        self.counts.fenced_hits += u64::from(is_fenced && matches!(found, Some((_, Some(_)))));
        match found {
            Some((_, Some(value))) if !is_fenced && Table::default().settle(&query, &value).is_none() => {
                self.counts.unsettled += 1;
                self.send(Node::Client(me), Node::Dendrite(route.owner), Message::Read(range, query, ticket));
            }
            Some((_, Some(value))) if !is_fenced => {
                self.read_ended(me, &value, How::Hit);
            }
            _ if until < self.now => self.try_again(me),
            _ => {
                self.send(Node::Client(me), Node::Dendrite(route.owner), Message::Read(range, query, ticket));
            }
        }
    }

    fn read_ended(&mut self, me: usize, value: &Value, how: How) {
        let Some((value, how)) = self.read_goes_on(me, value.clone(), how) else { return };
        let Some(Operation { work: Work::Read(read, query), .. }) = self.clients[me].operation.take() else {
            return;
        };
        *self.counts.reads.entry(format!("{how:?}")).or_default() += 1;
        let rows = decode(&value);
        self.counts.empty += u64::from(rows.is_empty() && how != How::Direct);
        if (query.domain, query.form) == (0, Form::All) {
            for key in (0..self.key_count()).filter(|key| query.interval.contains(&(*key).into())) {
                let other = rows.iter().find(|row| row.key == key).map(|row| row.other);
                self.clients[me].seen.insert(key, other);
            }
        }
        let range = RangeId(self.range_of(&query));
        let seen = self.last_seen.insert(query.clone(), self.now);
        let is_behind = how == How::Miss
            && seen.is_some_and(|seen| self.last_written.get(&range).is_some_and(|written| *written > seen));
        self.counts.behind_writes += u64::from(is_behind);
        self.history.push(Moment::ReadEnded(read, query, rows, how));
        self.finished(me);
    }

    /// The next stage of a read.
    pub(crate) fn read_again(&mut self, me: usize) {
        if let Some(operation) = &mut self.clients[me].operation {
            operation.attempts = 0;
        }
        self.go(me);
    }

    pub(crate) fn give_up_read(&mut self, me: usize) {
        self.clients[me].operation = None;
        self.finished(me);
    }

    pub(crate) fn write_ended(&mut self, me: usize, outcome: WriteOutcome) {
        let Some(Operation { work: Work::Write(id, change), .. }) = &self.clients[me].operation else {
            return;
        };
        let (id, change) = (*id, *change);
        let range = self.clients[me].operation.as_ref().map(|operation| operation.range);
        self.last_written.extend(range.map(|range| (range, self.now)));
        *self.counts.writes.entry(format!("{outcome:?}")).or_default() += 1;
        match outcome {
            WriteOutcome::Retry => return self.try_again(me),
            WriteOutcome::Done => self.history.push(Moment::WriteDone(id)),
            WriteOutcome::Refused => self.history.push(Moment::WriteRefused(id, change)),
            WriteOutcome::Unknown => {}
        }
        self.clients[me].operation = None;
        self.finished(me);
    }

    /// The operation surely had no effect: once more, with a new route, or not.
    fn try_again(&mut self, me: usize) {
        let client = &mut self.clients[me];
        let Some(operation) = &mut client.operation else { return };
        client.routes.remove(&operation.range);
        operation.attempts += 1;
        operation.is_out = false;
        if operation.attempts < 6 {
            // The next alarm asks for a route, a while later.
            operation.ticket = 0;
            operation.deadline = self.now + 30;
            return;
        }
        if let Some(Operation { work: Work::Write(id, _), .. }) = client.operation.take() {
            self.history.push(Moment::WriteNot(id));
        }
    }
}
