//! The seat of a range: the task that runs its owner, tenure after tenure.
//!
//! It hears requests and replies one at a time, gives them to the owner, and has what the owner wants carried out
//! (`carry.rs`). When a tenure ends it claims the next (`tenure.rs`), unless it is to let go (`leaving.rs`). Requests that come in between wait (`waiting.rs`).
//! Leases for bulk loads are in `loading.rs`.
//!
//! A cache server that does not answer ends the tenure. The coordinator may then name another; if it names one that is
//! known not to answer, the tenure runs on a cache in this process that keeps nothing, so that requests go on against the
//! store, fenced and in order as ever, until the server is back.

mod leaving;
mod loading;
mod tenure;
mod waiting;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::Error;
use lacuna_cache_protocol::ports::{CacheServer, Tenure};
use lacuna_cache_protocol::{
    Action, Application, Config, Epoch, Event, Interval, Notice, Owner, PeerCall, RangeTable, ReadOutcome,
    RequestId,
};
use tokio::sync::{mpsc, oneshot};

use crate::owner::carry::Why;
use crate::owner::counters::count;
use crate::owner::desk::{Desk, Heard};
use crate::owner::error::again;
use crate::owner::route::Route;
use loading::Load;
use waiting::{Guests, Requests, Waiting, send_away};

/// How often an owner is told that time passes.
const TICK: Duration = Duration::from_millis(10);

/// When a seat wants a tenure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claims {
    /// From its start to its end.
    Always,
    /// Once somebody asks for it, and as long as it is not lost to another.
    OnDemand,
}

/// An owner at work.
#[derive(Debug)]
struct Sitting<A> {
    owner: Owner<A>,
    tenure: Tenure,
    cache: Arc<dyn CacheServer>,
    until_ms: u64,
    is_bypass: bool,
    is_published: bool,
    /// Whether it was told to stop: no more requests for it.
    is_leaving: bool,
    /// Whether another is to have the range then.
    is_for_others: bool,
}

pub(crate) struct Seat<A> {
    desk: Arc<Desk>,
    ears: mpsc::UnboundedReceiver<Heard>,
    config: Config,
    application: A,
    claims: Claims,
    is_claiming: bool,
    sitting: Option<Sitting<A>>,
    requests: Requests,
    guests: Guests,
    loads: BTreeMap<RequestId, Load>,
    /// Requests that wait for a tenure.
    room: VecDeque<Heard>,
    /// Cache servers that did not answer.
    unreachable: BTreeSet<usize>,
    lost_cache: Option<usize>,
    /// The last tenure that was granted.
    granted: Option<Epoch>,
    /// Until when the hits of another process may lead to a cache server that was not told of a tenure here.
    others_until_ms: u64,
    /// Whether what the cache server still has may be wrong.
    begins_cold: bool,
    /// Tenures in turn that ended before they served.
    failures: u32,
    ticks: u64,
    stopping: Option<Vec<oneshot::Sender<()>>>,
    drains: u32,
    is_done: bool,
}

impl<A: Application + Clone + Send + 'static> Seat<A> {
    pub(crate) fn new(
        desk: Arc<Desk>,
        ears: mpsc::UnboundedReceiver<Heard>,
        config: Config,
        application: A,
        claims: Claims,
        begins_cold: bool,
    ) -> Self {
        Self {
            desk,
            ears,
            config,
            application,
            claims,
            is_claiming: false,
            sitting: None,
            requests: Requests::default(),
            guests: Guests::default(),
            loads: BTreeMap::new(),
            room: VecDeque::new(),
            unreachable: BTreeSet::new(),
            lost_cache: None,
            granted: None,
            others_until_ms: 0,
            begins_cold,
            failures: 0,
            ticks: 0,
            stopping: None,
            drains: 0,
            is_done: false,
        }
    }

    /// Until it was stopped.
    pub(crate) async fn run(mut self) {
        let mut ticks = tokio::time::interval(TICK);
        if self.claims == Claims::Always {
            self.claim();
        }
        while !self.is_done {
            tokio::select! {
                heard = self.ears.recv() => heard.into_iter().for_each(|heard| self.hear(heard)),
                _ = ticks.tick() => self.tick(),
            }
        }
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Read(..)
            | Heard::Verify(..)
            | Heard::Write(..)
            | Heard::ReadAll(..)
            | Heard::Bulk(..)
            | Heard::Peer(..) => self.ask(heard),
            Heard::ForeignWrite => self.foreign_write(),
            Heard::Memory(percent) => self.tell_hits(percent),
            Heard::BulkOver(request, reply) => self.bulk_over(request, reply),
            Heard::Table(table) => self.take_table(table),
            Heard::Claim if self.sitting.is_none() && self.stopping.is_none() => self.claim(),
            Heard::Claim => {}
            Heard::Leave => self.leave_to_others(),
            Heard::GivenBack => self.given_back(),
            Heard::Load(reply) => self.tell_load(reply),
            Heard::Claimed { sent_ms, claimed } => {
                self.is_claiming = false;
                match claimed {
                    Ok(Some(tenure)) => self.sit_down(tenure, sent_ms),
                    Ok(None) => self.go_without(|| Error::unavailable("another process owns the range")),
                    Err(why) => self.go_without(|| again(&why)),
                }
            }
            Heard::Renewed { epoch, sent_ms, is_ours } => self.renewed(epoch, sent_ms, is_ours),
            Heard::Answered { epoch, event, why } if self.epoch() == Some(epoch) => self.answered(event, why),
            Heard::Answered { .. } => {}
            Heard::CacheIsBack(epoch) if self.epoch() == Some(epoch) => self.leave_bypass(),
            Heard::CacheIsBack(_) => {}
            Heard::Stop(reply) => self.stop(reply),
        }
    }

    fn epoch(&self) -> Option<Epoch> {
        self.sitting.as_ref().map(|sitting| sitting.tenure.epoch)
    }

    fn ask(&mut self, heard: Heard) {
        // Whoever holds a lease here and leaves waits for its release.
        let is_release = matches!(heard, Heard::Peer(_, _, PeerCall::Release, _));
        if self.sitting.as_ref().is_none_or(|sitting| sitting.is_leaving && !is_release) {
            self.room.push_back(heard);
            if self.sitting.is_none() {
                self.claim();
            }
            return;
        }
        match heard {
            Heard::Read(query, reply) => {
                let request = self.requests.add(Waiting::Read(query.clone(), reply, None));
                self.drive(Event::Read(request, query));
            }
            Heard::Verify(query, reply) => {
                let request = self.requests.add(Waiting::Read(query.clone(), reply, None));
                self.drive(Event::Verify(request, query));
            }
            Heard::Write(write, reply) => {
                let request = self.requests.add(Waiting::Write(write.command.clone(), reply, None));
                self.drive(Event::Write(request, write));
            }
            Heard::ReadAll(queries, reply) => {
                let request = self.requests.add(Waiting::ReadAll(queries.clone(), reply, None));
                self.drive(Event::ReadAll(request, queries));
            }
            Heard::Bulk(lasts_ms, reply) => {
                let request = self.requests.add(Waiting::Bulk(lasts_ms, reply));
                self.drive(Event::BulkLoad(request));
            }
            Heard::Peer(peer, call, what, reply) => {
                self.guests.add(peer, call, &what, reply);
                self.drive(Event::Peer(peer, call, what));
            }
            _ => {}
        }
    }

    /// Drops everything, and takes nothing over into the next tenure.
    fn foreign_write(&mut self) {
        self.begins_cold = true;
        let everywhere = (0..self.config.domain_count).map(|domain| (domain, Interval::all()));
        self.drive(Event::ForeignWrite(everywhere.collect()));
    }

    /// A tenure whose range is cut anew ends, and the next one has the new interval.
    fn take_table(&mut self, table: Arc<RangeTable>) {
        if self.config.table.as_ref().is_some_and(|known| known.version() < table.version()) {
            self.config.table = Some(table.clone());
            self.drive(Event::Table(table));
        }
    }

    fn answered(&mut self, event: Event, why: Option<Why>) {
        if let Some(why) = why {
            if let (Why::Cache, Some(sitting)) = (&why, &self.sitting) {
                self.unreachable.insert(sitting.tenure.cache);
                self.lost_cache = Some(sitting.tenure.cache);
            }
            self.requests.note(&why);
        }
        self.drive(event);
    }

    /// Gives the owner an event, and has what it wants carried out; what is done at once, is heard at once.
    fn drive(&mut self, event: Event) {
        let mut events = VecDeque::from([(event, None)]);
        while let Some((event, why)) = events.pop_front() {
            if let Some(why) = &why {
                self.requests.note(why);
            }
            let now = self.desk.now_ms();
            let Some(sitting) = &mut self.sitting else { return };
            let (actions, epoch) = (sitting.owner.handle(now, event), sitting.tenure.epoch);
            let cache = sitting.cache.clone();
            for action in actions {
                if let Some(call) = self.take(action) {
                    events.extend(self.desk.carry(epoch, &cache, call));
                }
            }
            self.publish();
        }
    }

    /// Does what the seat does itself; returns what is to be carried to others.
    fn take(&mut self, action: Action) -> Option<Action> {
        match action {
            Action::ReadDone(request, outcome) => {
                let outcome = if self.lease_is_over() { ReadOutcome::Retry } else { outcome };
                self.requests.read_done(request, outcome);
            }
            Action::WriteDone(request, outcome) if self.loads.contains_key(&request) => {
                self.bulk_done(request, outcome);
            }
            Action::WriteDone(request, outcome) => self.requests.write_done(request, outcome),
            Action::ReadAllDone(request, values) => {
                let values = Some(values).filter(|_| !self.lease_is_over());
                self.requests.read_all_done(request, values);
            }
            Action::BulkReady(request, held) => self.bulk_ready(request, held),
            Action::Notice(notice) => {
                if matches!(notice, Notice::BypassDetected(_)) {
                    count(&self.desk.counters.foreign_writes);
                    // This tenure may end before it has dropped everything.
                    self.begins_cold = true;
                }
                drop(self.desk.notices.send(notice));
            }
            Action::Ended(ending) => self.ended(ending),
            Action::PeerReply(peer, call, reply) => self.guests.answer(peer, call, reply),
            Action::Redirect(request, _) => self.requests.is_elsewhere(request),
            call => return Some(call),
        }
        None
    }

    /// Shows the tenure to the hit path once it serves.
    fn publish(&mut self) {
        let Some(sitting) = &mut self.sitting else { return };
        if sitting.is_published || !sitting.owner.is_serving() {
            return;
        }
        sitting.is_published = true;
        self.failures = 0;
        let (epoch, cache, until_ms) = (sitting.tenure.epoch, sitting.cache.clone(), sitting.until_ms);
        self.others_until_ms = 0;
        if !self.desk.route.holds(epoch, 0) {
            count(&self.desk.counters.tenures);
        }
        self.desk.route.set(Some(Route { epoch, cache, until_ms }));
    }
}
