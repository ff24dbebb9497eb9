//! A process with owners: carries what they say, renews their leases, claims ranges that nobody has.

use std::collections::BTreeMap;
use std::sync::Arc;

use lacuna_cache_protocol::{
    Action, CacheReply, Config, Ending, Epoch, Event, Flaw, Notice, Owner, PeerId, PeerReply, Policy,
    RangeId, RangeTable, RequestId, WriteOutcome,
};

use super::coordinator::Claim;
use super::network::{From, Message, Node};
use super::table::{Change, Table};
use super::world::World;

#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) owner: Owner<Table>,
    pub(crate) cache: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Dendrite {
    pub(crate) seats: BTreeMap<RangeId, Seat>,
    /// Whom to answer: a client and its ticket.
    pub(crate) requests: BTreeMap<RequestId, (Node, u64)>,
    /// Leases of transactions, and when they are given up.
    pub(crate) holds: BTreeMap<RequestId, (RangeId, u64)>,
    /// Where leaders of other ranges are.
    peers: BTreeMap<PeerId, Node>,
    /// Durable writes of ended tenures, answered when the next one serves.
    durable: Vec<(RangeId, RequestId)>,
    /// The newest table that it has seen.
    table: Option<Arc<RangeTable>>,
    next_request: u64,
    pub(crate) paused_until: u64,
    alarms: u64,
}

/// Time between two alarms.
pub(crate) const ALARM: u64 = 40;

impl Dendrite {
    pub(crate) fn request(&mut self, from: Node, ticket: u64) -> RequestId {
        self.next_request += 1;
        let request = RequestId(self.next_request);
        self.requests.insert(request, (from, ticket));
        request
    }

    fn learn(&mut self, table: &Arc<RangeTable>) {
        if self.table.as_ref().is_none_or(|known| known.version() < table.version()) {
            self.table = Some(table.clone());
        }
    }
}

impl World {
    pub(crate) fn dendrite_hears(&mut self, me: usize, from: Node, message: Message) {
        match message {
            Message::Alarm => self.dendrite_alarm(me),
            Message::Read(range, query, ticket) => {
                let request = self.dendrites[me].request(from, ticket);
                self.ask_owner(me, range, request, |request| Event::Read(request, query));
            }
            Message::Write(range, write, ticket) => {
                let request = self.dendrites[me].request(from, ticket);
                self.ask_owner(me, range, request, |request| Event::Write(request, write));
            }
            Message::Hold(range, write, ticket) => self.begin_hold(me, from, range, write, ticket),
            Message::HoldDone(range, request) => self.end_hold(me, range, request),
            Message::CacheReply(from, reply) => {
                let is_warm = matches!(&reply, CacheReply::Warm(chunks) if !chunks.is_empty());
                self.counts.warm += u64::from(is_warm);
                self.tell_owner(me, from, |call| Event::Cache(call, reply));
            }
            Message::StoreReply(from, reply) => self.tell_owner(me, from, |call| Event::Store(call, reply)),
            Message::LogReply(from, reply) => self.tell_owner(me, from, |call| Event::Log(call, reply)),
            Message::Claimed(range, claim) => self.sit_down(me, range, claim),
            // Told that the range is another's; with luck, before the fences say so.
            Message::Renewed(range, epoch, false, _) => {
                let is_seated = |seat: &mut Seat| seat.owner.epoch() == epoch;
                self.dendrites[me].seats.retain(|seated, seat| *seated != range || !is_seated(seat));
            }
            Message::Renewed(range, epoch, true, table) if self.is_seated(me, range, epoch) => {
                self.dendrites[me].learn(&table);
                self.drive(me, range, Event::Table(table));
            }
            Message::Verify(range, query, ticket) => {
                let request = self.dendrites[me].request(from, ticket);
                self.ask_owner(me, range, request, |request| Event::Verify(request, query));
            }
            Message::StopRange(range) => self.drive(me, range, Event::Stop),
            Message::Peer(range, peer, call, what) => {
                self.dendrites[me].peers.insert(peer, from);
                if self.dendrites[me].seats.contains_key(&range) {
                    self.drive(me, range, Event::Peer(peer, call, what));
                } else {
                    let reply = Message::PeerReply((peer.range, peer.epoch, call), PeerReply::Refused);
                    self.send(Node::Dendrite(me), from, reply);
                }
            }
            Message::PeerReply(from, reply) => {
                self.tell_owner(me, from, |call| Event::PeerReply(call, reply));
            }
            _ => {}
        }
    }

    fn dendrite_alarm(&mut self, me: usize) {
        self.dendrites[me].alarms += 1;
        self.abandon_holds(me);
        let is_time = self.dendrites[me].alarms.is_multiple_of(8);
        for range in self.coordinator.table.ranges() {
            match self.dendrites[me].seats.get(&range).map(|seat| seat.owner.epoch()) {
                Some(epoch) => {
                    self.drive(me, range, Event::Tick);
                    if is_time {
                        self.send(Node::Dendrite(me), Node::Coordinator, Message::Renew(range, epoch));
                    }
                }
                None if is_time => {
                    self.send(Node::Dendrite(me), Node::Coordinator, Message::Claim(range, None));
                }
                None => {}
            }
        }
        let time = self.now + ALARM;
        self.network.send_at(time, Node::Dendrite(me), Node::Dendrite(me), Message::Alarm);
    }

    fn sit_down(&mut self, me: usize, range: RangeId, claim: Claim) {
        let is_old =
            self.dendrites[me].seats.get(&range).is_some_and(|seat| seat.owner.epoch() > claim.epoch);
        if is_old {
            return;
        }
        let is_first = self.dendrites[me].table.is_none();
        if is_first || self.setup.flaw != Some(Flaw::BeginWithOwnTable) {
            self.dendrites[me].learn(&claim.table);
        }
        let config = Config {
            domain_count: self.setup.domains,
            call_timeout: if self.setup.waits_long && claim.epoch.0.is_multiple_of(3) { 900 } else { 150 },
            attempts: 4,
            write_through_for: 500,
            apply_batch: if self.setup.flaw == Some(Flaw::ApplyBackwards) { 8 } else { 3 },
            apply_pause: 50,
            max_buffered: 6,
            max_gaps: 20,
            patch_room: 100,
            max_entries: self.setup.max_entries,
            max_known_rows: 10,
            serve_from: claim.serve_from,
            flaw: self.setup.flaw,
            beta: if self.setup.beta_varies && claim.epoch.0.is_multiple_of(2) { 0 } else { self.setup.beta },
            keeps_log: self.setup.is_warm,
            warm_from: claim.before,
            log_batch: 4,
            range,
            table: self.dendrites[me].table.clone(),
            peer_timeout: 1_500,
            request_timeout: 700,
            ..Config::new(self.setup.policy)
        };
        let owner = Owner::new(config, Table::default(), claim.epoch);
        self.dendrites[me].seats.insert(range, Seat { owner, cache: claim.cache });
        self.drive(me, range, Event::Tick);
    }

    pub(crate) fn ask_owner(
        &mut self,
        me: usize,
        range: RangeId,
        request: RequestId,
        event: impl FnOnce(RequestId) -> Event,
    ) {
        let event = event(request);
        if self.dendrites[me].seats.contains_key(&range) {
            return self.drive(me, range, event);
        }
        let is_read = matches!(event, Event::Read(..) | Event::Verify(..));
        self.answer(me, request, |ticket| {
            if is_read {
                Message::ReadDone(ticket, lacuna_cache_protocol::ReadOutcome::Retry)
            } else {
                Message::WriteDone(ticket, WriteOutcome::Retry)
            }
        });
    }

    fn is_seated(&self, me: usize, range: RangeId, epoch: Epoch) -> bool {
        self.dendrites[me].seats.get(&range).is_some_and(|seat| seat.owner.epoch() == epoch)
    }

    fn tell_owner(
        &mut self,
        me: usize,
        (range, epoch, call): From,
        event: impl FnOnce(lacuna_cache_protocol::CallId) -> Event,
    ) {
        if self.dendrites[me].seats.get(&range).is_some_and(|seat| seat.owner.epoch() == epoch) {
            self.drive(me, range, event(call));
        }
    }

    fn answer(&mut self, me: usize, request: RequestId, message: impl FnOnce(u64) -> Message) {
        if let Some((client, ticket)) = self.dendrites[me].requests.remove(&request) {
            self.send(Node::Dendrite(me), client, message(ticket));
        }
    }

    /// Gives an owner an event and carries out what it says.
    pub(crate) fn drive(&mut self, me: usize, range: RangeId, event: Event) {
        let Some(seat) = self.dendrites[me].seats.get_mut(&range) else { return };
        let (actions, cache, here) = (seat.owner.handle(self.now, event), seat.cache, Node::Dendrite(me));
        let epoch = seat.owner.epoch();
        for action in actions {
            match action {
                Action::Cache(call, epoch, what) => {
                    self.send(here, Node::Cache(cache), Message::Cache((range, epoch, call), what));
                }
                Action::Store(call, epoch, what) => {
                    self.send(here, Node::Store, Message::Store((range, epoch, call), what));
                }
                Action::Log(server, call, epoch, what) => {
                    self.send(here, Node::Log(server), Message::Log((range, epoch, call), what));
                }
                Action::ReadDone(request, outcome) => {
                    self.answer(me, request, |ticket| Message::ReadDone(ticket, outcome));
                }
                Action::WriteDone(request, outcome) => {
                    self.answer(me, request, |ticket| Message::WriteDone(ticket, outcome));
                }
                Action::Peer(call, other, peer, what) => {
                    if let Some(route) = self.coordinator.route(other) {
                        self.send(here, Node::Dendrite(route.owner), Message::Peer(other, peer, call, what));
                    }
                }
                Action::PeerReply(peer, call, reply) => {
                    *self
                        .counts
                        .peers
                        .entry(format!("{reply:?}").split('(').next().unwrap().to_owned())
                        .or_default() += 1;
                    if let Some(node) = self.dendrites[me].peers.get(&peer).copied() {
                        self.send(here, node, Message::PeerReply((peer.range, peer.epoch, call), reply));
                    }
                }
                Action::Redirect(request, table) => {
                    self.answer(me, request, |ticket| Message::Redirect(ticket, table));
                }
                Action::HoldReady(request, others) => self.hold_is_ready(me, (range, epoch), request, others),
                Action::ReadAllDone(..) | Action::LedInVain(_) => {}
                Action::Durable(request) => self.dendrites[me].durable.push((range, request)),
                Action::Notice(notice) => self.note(notice),
                Action::Ended(ending) => self.stand_up(me, range, cache, ending),
            }
        }
        if !self.dendrites[me].durable.is_empty() {
            self.answer_durable(me, range);
        }
    }

    /// Entries of the tenure before this one are seen no more.
    fn answer_durable(&mut self, me: usize, range: RangeId) {
        let is_serving = |seat: &Seat| seat.owner.is_serving();
        if !self.dendrites[me].seats.get(&range).is_some_and(is_serving) {
            return;
        }
        let (here, others) =
            std::mem::take(&mut self.dendrites[me].durable).into_iter().partition(|(of, _)| *of == range);
        self.dendrites[me].durable = others;
        for (_, request) in here {
            self.counts.durable += 1;
            self.answer(me, request, |ticket| Message::WriteDone(ticket, WriteOutcome::Done));
        }
    }

    fn note(&mut self, notice: Notice) {
        match notice {
            Notice::SetAside(writes) => {
                self.counts.set_aside += 1;
                for (id, change) in writes.iter().map(|(_, command)| Change::read(command)) {
                    self.set_aside.insert(id);
                    self.excused.extend(change.keys());
                }
            }
            Notice::BufferedWritesLost => self.counts.logs_lost += 1,
            Notice::WritingThrough => self.counts.write_through += 1,
            Notice::BypassDetected(_) => self.counts.bypasses += 1,
            _ => unreachable!("owners do not say this"),
        }
    }

    fn stand_up(&mut self, me: usize, range: RangeId, cache: usize, ending: Ending) {
        *self.counts.endings.entry(format!("{ending:?}")).or_default() += 1;
        let epoch = self.dendrites[me].seats.remove(&range).map(|seat| seat.owner.epoch());
        let lost = (ending == Ending::CacheLost && self.rng.below(2) == 0).then_some(cache);
        if ending != Ending::Stopped {
            self.send(Node::Dendrite(me), Node::Coordinator, Message::Claim(range, lost));
        } else if let Some(epoch) = epoch {
            self.send(Node::Dendrite(me), Node::Coordinator, Message::Stopped(range, epoch));
        }
    }

    /// Whether every range has an owner with nothing left to do.
    pub(crate) fn is_settled(&self) -> bool {
        self.coordinator.table.ranges().into_iter().all(|range| {
            let Some(route) = self.coordinator.route(range) else { return false };
            let seat = self.dendrites[route.owner].seats.get(&range);
            seat.is_some_and(|seat| {
                seat.owner.epoch() == route.epoch && seat.owner.is_serving() && seat.owner.is_idle()
            })
        })
    }

    /// Whether the policy of this run may be read past the cache.
    pub(crate) fn is_store_current(&self) -> bool {
        self.setup.policy != Policy::WriteBack
    }
}
