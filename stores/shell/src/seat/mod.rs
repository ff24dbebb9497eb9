//! The seat of a range: the task that runs its owner, tenure after tenure.
//!
//! It hears requests and replies one at a time, gives them to the owner, and has what the owner wants carried out
//! (`carry.rs`). When a tenure ends it claims the next. Requests that come in between wait.
//!
//! A cache server that does not answer ends the tenure. The coordinator may then name another; if it names one that is
//! known not to answer, the tenure runs on a cache in this process that keeps nothing, so that requests go on against the
//! store, fenced and in order as ever, until the server is back.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use lacuna_core::{Error, Result};
use lacuna_range_cache::embedded::MemoryCache;
use lacuna_range_cache::ports::{CacheServer, Tenure};
use lacuna_range_cache::{
    Action, Application, Command, Config, Ending, Epoch, Event, Interval, Notice, Owner, PeerReply, Policy,
    Query, RangeId, ReadOutcome, RequestId, Write, WriteOutcome,
};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::carry::Why;
use crate::counters::{Counters, count};
use crate::error::again;
use crate::route::{Route, RouteCell};
use crate::servers::Servers;

/// How often an owner is told that time passes.
const TICK: Duration = Duration::from_millis(10);
/// How often a cache server that did not answer is asked whether it is back, in ticks.
const PROBE_TICKS: u64 = 25;
/// Longest pause before a claim.
const LONGEST_PAUSE_MS: u64 = 500;
/// How often a stopping seat takes the range again to drain what a lost tenure left.
const DRAIN_ATTEMPTS: u32 = 5;

pub(crate) type ReadAnswer = (ReadOutcome, Option<Error>);
pub(crate) type WriteAnswer = (WriteOutcome, Option<Error>);

/// What a seat hears.
#[derive(Debug)]
pub(crate) enum Heard {
    Read(Query, oneshot::Sender<ReadAnswer>),
    Write(Write, oneshot::Sender<WriteAnswer>),
    Claimed { sent_ms: u64, claimed: Result<Option<Tenure>> },
    Renewed { epoch: Epoch, sent_ms: u64, is_ours: Result<bool> },
    Answered { epoch: Epoch, event: Event, why: Option<Why> },
    CacheIsBack(Epoch),
    Stop(Option<oneshot::Sender<()>>),
}

/// What seat and clients share.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) servers: Servers,
    pub(crate) range: RangeId,
    pub(crate) route: RouteCell,
    pub(crate) counters: Counters,
    pub(crate) mouth: mpsc::UnboundedSender<Heard>,
    pub(crate) notices: broadcast::Sender<Notice>,
}

/// A request that waits for its answer.
#[derive(Debug)]
enum Waiting {
    Read(Query, oneshot::Sender<ReadAnswer>, Option<Error>),
    Write(Command, oneshot::Sender<WriteAnswer>, Option<Error>),
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
}

pub(crate) struct Seat<A> {
    desk: Arc<Desk>,
    ears: mpsc::UnboundedReceiver<Heard>,
    config: Config,
    application: A,
    sitting: Option<Sitting<A>>,
    requests: BTreeMap<RequestId, Waiting>,
    next_request: u64,
    /// Requests that wait for a tenure.
    room: VecDeque<Heard>,
    /// Cache servers that did not answer.
    unreachable: BTreeSet<usize>,
    lost_cache: Option<usize>,
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
    ) -> Self {
        Self {
            desk,
            ears,
            config,
            application,
            sitting: None,
            requests: BTreeMap::new(),
            next_request: 0,
            room: VecDeque::new(),
            unreachable: BTreeSet::new(),
            lost_cache: None,
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
        self.claim();
        while !self.is_done {
            tokio::select! {
                heard = self.ears.recv() => heard.into_iter().for_each(|heard| self.hear(heard)),
                _ = ticks.tick() => self.tick(),
            }
        }
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Read(..) | Heard::Write(..) => self.ask(heard),
            Heard::Claimed { sent_ms, claimed: Ok(Some(tenure)) } => self.sit_down(tenure, sent_ms),
            Heard::Claimed { claimed: Ok(None), .. } => {
                self.go_without(|| Error::unavailable("another process owns the range"));
            }
            Heard::Claimed { claimed: Err(why), .. } => self.go_without(|| again(&why)),
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
        if self.sitting.as_ref().is_none_or(|sitting| sitting.is_leaving) {
            return self.room.push_back(heard);
        }
        self.next_request += 1;
        let request = RequestId(self.next_request);
        match heard {
            Heard::Read(query, reply) => {
                self.requests.insert(request, Waiting::Read(query.clone(), reply, None));
                self.drive(Event::Read(request, query));
            }
            Heard::Write(write, reply) => {
                self.requests.insert(request, Waiting::Write(write.command.clone(), reply, None));
                self.drive(Event::Write(request, write));
            }
            _ => {}
        }
    }

    fn claim(&self) {
        let (desk, lost) = (self.desk.clone(), self.lost_cache);
        let pause = if self.failures == 0 { 0 } else { (5 << self.failures.min(10)).min(LONGEST_PAUSE_MS) };
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            // The lease holds from here on: nobody knows how long the answer takes.
            let sent_ms = desk.servers.clock.now_ms();
            let claimed = desk.servers.coordinator.claim(desk.range, lost).await;
            drop(desk.mouth.send(Heard::Claimed { sent_ms, claimed }));
        });
    }

    fn sit_down(&mut self, tenure: Tenure, sent_ms: u64) {
        let now = self.desk.servers.clock.now_ms();
        let real = self.desk.servers.caches.get(tenure.cache);
        let is_bypass = real.is_none() || self.unreachable.contains(&tenure.cache);
        let cache = match real {
            Some(real) if !is_bypass => real.clone(),
            _ => Arc::new(MemoryCache::new(0)),
        };
        let mut config = self.config.clone();
        config.serve_from = now + tenure.serve_after_ms;
        if is_bypass {
            count(&self.desk.counters.bypasses);
            // Nothing in memory is an answer without a cache server that says who the owner is.
            config.most_gaps = 0;
        }
        let owner = Owner::new(config, self.application.clone(), tenure.epoch);
        let until_ms = tenure.lease_ms.map_or(u64::MAX, |lease| sent_ms + lease);
        let (is_published, is_leaving) = (false, false);
        self.sitting = Some(Sitting { owner, tenure, cache, until_ms, is_bypass, is_published, is_leaving });
        self.lost_cache = None;
        self.drive(Event::Tick);
        std::mem::take(&mut self.room).into_iter().for_each(|heard| self.ask(heard));
        if self.stopping.is_some() {
            self.leave();
        }
    }

    /// No tenure for now: whoever waits is told why, and the next claim comes soon.
    fn go_without(&mut self, why: impl Fn() -> Error) {
        for heard in std::mem::take(&mut self.room) {
            match heard {
                Heard::Read(_, reply) => drop(reply.send((ReadOutcome::Retry, Some(why())))),
                Heard::Write(_, reply) => drop(reply.send((WriteOutcome::Retry, Some(why())))),
                _ => {}
            }
        }
        self.failures += 1;
        if self.stopping.is_some() && self.is_drained() {
            return self.finish(None);
        }
        self.claim();
    }

    fn tick(&mut self) {
        self.ticks += 1;
        if self.lease_is_over() {
            return self.abandon();
        }
        self.drive(Event::Tick);
        let Some(sitting) = &self.sitting else { return };
        if let Some(lease) = sitting.tenure.lease_ms
            && self.ticks.is_multiple_of((lease / 30).max(1))
        {
            self.renew(sitting.tenure.epoch);
        }
        if sitting.is_bypass && self.ticks.is_multiple_of(PROBE_TICKS) {
            self.probe(sitting.tenure);
        }
    }

    /// Whether another process may have the range by now. Nothing that this one has in memory is an answer then.
    fn lease_is_over(&self) -> bool {
        let now = self.desk.servers.clock.now_ms();
        self.sitting.as_ref().is_some_and(|sitting| now >= sitting.until_ms)
    }

    fn renew(&self, epoch: Epoch) {
        let (desk, sent_ms) = (self.desk.clone(), self.desk.servers.clock.now_ms());
        tokio::spawn(async move {
            let is_ours = desk.servers.coordinator.renew(desk.range, epoch).await;
            drop(desk.mouth.send(Heard::Renewed { epoch, sent_ms, is_ours }));
        });
    }

    fn renewed(&mut self, epoch: Epoch, sent_ms: u64, is_ours: Result<bool>) {
        let Some(sitting) = self.sitting.as_mut().filter(|sitting| sitting.tenure.epoch == epoch) else {
            return;
        };
        match is_ours {
            Ok(true) => {
                sitting.until_ms = sent_ms + sitting.tenure.lease_ms.unwrap_or(0);
                sitting.is_published = false;
                self.publish();
            }
            Ok(false) => self.abandon(),
            Err(_) => {}
        }
    }

    /// The range is another's. What was sent may have been carried out.
    fn abandon(&mut self) {
        self.desk.route.set(None);
        self.sitting = None;
        let requests = std::mem::take(&mut self.requests);
        requests.into_values().for_each(Waiting::answer_lost);
        self.failures += 1;
        self.claim();
    }

    fn probe(&self, tenure: Tenure) {
        let Some(cache) = self.desk.servers.caches.get(tenure.cache).cloned() else { return };
        let desk = self.desk.clone();
        tokio::spawn(async move {
            let nothing = Query::all(0, Interval::all());
            if cache.get(desk.range, tenure.epoch, &nothing).await.is_ok() {
                drop(desk.mouth.send(Heard::CacheIsBack(tenure.epoch)));
            }
        });
    }

    fn leave_bypass(&mut self) {
        self.unreachable.clear();
        self.leave();
    }

    fn leave(&mut self) {
        if let Some(sitting) = self.sitting.as_mut().filter(|sitting| !sitting.is_leaving) {
            sitting.is_leaving = true;
            self.drive(Event::Stop);
        }
    }

    fn stop(&mut self, reply: Option<oneshot::Sender<()>>) {
        self.stopping.get_or_insert_default().extend(reply);
        self.leave();
    }

    fn answered(&mut self, event: Event, why: Option<Why>) {
        if let Some(why) = why {
            if let (Why::Cache, Some(sitting)) = (&why, &self.sitting) {
                self.unreachable.insert(sitting.tenure.cache);
                self.lost_cache = Some(sitting.tenure.cache);
            }
            self.requests.values_mut().for_each(|waiting| waiting.note(&why));
        }
        self.drive(event);
    }

    /// Gives the owner an event, and has what it wants carried out; what is done at once, is heard at once.
    fn drive(&mut self, event: Event) {
        let mut events = VecDeque::from([(event, None)]);
        while let Some((event, why)) = events.pop_front() {
            if let Some(why) = &why {
                self.requests.values_mut().for_each(|waiting: &mut Waiting| waiting.note(why));
            }
            let now = self.desk.servers.clock.now_ms();
            let Some(sitting) = &mut self.sitting else { return };
            let (actions, epoch) = (sitting.owner.handle(now, event), sitting.tenure.epoch);
            let cache = sitting.cache.clone();
            for action in actions {
                match action {
                    Action::ReadDone(request, outcome) => self.answer_read(request, outcome),
                    Action::WriteDone(request, outcome) => self.answer_write(request, outcome),
                    Action::Notice(notice) => drop(self.desk.notices.send(notice)),
                    Action::Ended(ending) => self.ended(ending),
                    // No other owner is known here, so that no range table is ever given to one.
                    Action::Peer(call, ..) => {
                        events.push_back((Event::PeerReply(call, PeerReply::Refused), None));
                    }
                    Action::PeerReply(..) | Action::Redirect(..) | Action::BulkReady(_) => {}
                    call => events.extend(self.desk.carry(epoch, &cache, call)),
                }
            }
            self.publish();
        }
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
        if !self.desk.route.holds(epoch, 0) {
            count(&self.desk.counters.tenures);
        }
        self.desk.route.set(Some(Route { epoch, cache, until_ms }));
    }

    fn answer_read(&mut self, request: RequestId, outcome: ReadOutcome) {
        let outcome = if self.lease_is_over() { ReadOutcome::Retry } else { outcome };
        if let Some(Waiting::Read(_, reply, why)) = self.requests.remove(&request) {
            drop(reply.send((outcome, why)));
        }
    }

    fn answer_write(&mut self, request: RequestId, outcome: WriteOutcome) {
        if let Some(Waiting::Write(_, reply, why)) = self.requests.remove(&request) {
            drop(reply.send((outcome, why)));
        }
    }

    fn ended(&mut self, ending: Ending) {
        self.desk.route.set(None);
        let epoch = self.epoch();
        let was_published = self.sitting.take().is_some_and(|sitting| sitting.is_published);
        self.failures = if was_published { 0 } else { self.failures + 1 };
        let is_drained = ending == Ending::Stopped || self.is_drained();
        if self.stopping.is_some() && is_drained {
            return self.finish(epoch);
        }
        self.drains += u32::from(self.stopping.is_some());
        self.claim();
    }

    /// Whether a stopping seat leaves nothing behind that only an owner can put into the store.
    fn is_drained(&self) -> bool {
        self.config.policy != Policy::WriteBack || self.drains >= DRAIN_ATTEMPTS
    }

    fn finish(&mut self, epoch: Option<Epoch>) {
        self.is_done = true;
        let (desk, waiting) = (self.desk.clone(), self.stopping.take().unwrap_or_default());
        self.room.clear();
        tokio::spawn(async move {
            if let Some(epoch) = epoch {
                drop(desk.servers.coordinator.release(desk.range, epoch).await);
            }
            for reply in waiting {
                // Whoever asked may have gone.
                let _ = reply.send(());
            }
        });
    }
}

impl Waiting {
    /// Keeps the reason that a store gave, for whoever it is about.
    fn note(&mut self, why: &Why) {
        match (self, why) {
            (Self::Read(query, _, place), Why::Query(about, error)) if query == about => {
                *place = Some(again(error));
            }
            (Self::Write(command, _, place), Why::Command(about, error)) if command == about => {
                *place = Some(again(error));
            }
            _ => {}
        }
    }

    fn answer_lost(self) {
        match self {
            Self::Read(_, reply, why) => drop(reply.send((ReadOutcome::Retry, why))),
            Self::Write(_, reply, why) => drop(reply.send((WriteOutcome::Unknown, why))),
        }
    }
}
