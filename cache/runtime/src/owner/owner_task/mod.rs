//! The task that runs the owner of a range, tenure after tenure.
//!
//! It receives requests and replies one at a time, passes them to the owner, and executes the owner's actions
//! (`carry.rs`). When a tenure ends it claims the next (`tenure.rs`), unless the range is to be released
//! (`leaving.rs`). Requests between two tenures wait (`waiting.rs`). Leases that callers hold are in `holding.rs`.
//!
//! A cache server that does not answer ends the tenure. The coordinator may then name another; if it names one
//! that is known not to answer, the tenure runs on a cache in this process that keeps nothing, so that requests go
//! on against the store, fenced and in order as before, until the server is back.

mod holding;
mod leaving;
mod tenure;
mod waiting;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::ports::{CacheServer, Tenure};
use lacuna_cache_protocol::{
    Action, Application, Config, Ending, Epoch, Event, Interval, Notice, Owner, PeerCall, PeerReply, Policy,
    RangeTable, ReadOutcome, RequestId, WriteOutcome,
};
use tokio::sync::mpsc;
use tracing::{debug, error, info, warn};

use crate::owner::carry::FailureCause;
use crate::owner::counters::count;
use crate::owner::error::logs_missing;
use crate::owner::owner_handle::{OwnerCommand, OwnerHandle};
use crate::owner::route::Route;
use holding::Held;
use leaving::{Stopping, WishToLeave};
use waiting::{PeerLeases, Requests, Waiting, WaitingForTenure};

/// How often an owner receives a tick.
const TICK: Duration = Duration::from_millis(10);

/// A panic counts as this number of failed claims: what caused it may come again at once.
const PANIC_FAILURES: u32 = 7;

/// How often it is said that a server does not answer.
const WARNING_MS: u64 = 10_000;

/// When an owner task wants a tenure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claims {
    /// From its start to its end.
    Always,
    /// From the first request for it, until the range is lost to another process.
    OnDemand,
}

/// When it was last said of a server that it does not answer: a slow one may fail a thousand calls a second.
#[derive(Debug, Default)]
struct Warnings(BTreeMap<(ServerKind, usize), u64>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ServerKind {
    Cache,
    Log,
}

impl Warnings {
    /// Whether it is to be said again.
    fn is_due(&mut self, kind: ServerKind, server: usize, now: u64) -> bool {
        let is_due = self.0.get(&(kind, server)).is_none_or(|last| now - last >= WARNING_MS);
        if is_due {
            self.0.insert((kind, server), now);
        }
        is_due
    }
}

/// The kind of a notice, and of how many writes or intervals it is. What these are is for the application alone: events hold no
/// values of rows.
fn about(notice: &Notice) -> (&'static str, usize) {
    match notice {
        Notice::SetAside(writes) => ("SetAside", writes.len()),
        Notice::BufferedWritesLost => ("BufferedWritesLost", 0),
        Notice::WritingThrough => ("WritingThrough", 0),
        Notice::BypassDetected(intervals) => ("BypassDetected", intervals.len()),
        _ => ("other", 0),
    }
}

/// A running owner.
#[derive(Debug)]
struct ActiveTenure<A> {
    owner: Owner<A>,
    tenure: Tenure,
    cache: Arc<dyn CacheServer>,
    until_ms: u64,
    is_bypass: bool,
    /// Whether the hit path knows it, until its lease now ends.
    is_published: bool,
    /// Whether it was ever published: then the owner knows all that the logs have.
    has_served: bool,
    /// Since when it has been asked to stop: it takes no more requests.
    leaving_since_ms: Option<u64>,
    /// Whether another process should have the range then.
    is_for_others: bool,
}

pub(crate) struct OwnerTask<A> {
    handle: Arc<OwnerHandle>,
    inbox: mpsc::UnboundedReceiver<OwnerCommand>,
    config: Config,
    application: A,
    claims: Claims,
    is_claiming: bool,
    active: Option<ActiveTenure<A>>,
    requests: Requests,
    peer_leases: PeerLeases,
    holds: BTreeMap<RequestId, Held>,
    /// Writes that are durable, and whose entries the last tenure could not change: they are done once a tenure of
    /// this task serves.
    durable: Vec<RequestId>,
    waiting_for_tenure: WaitingForTenure,
    /// Cache servers that did not answer.
    unreachable: BTreeSet<usize>,
    lost_cache: Option<usize>,
    warnings: Warnings,
    /// The last tenure that was granted.
    granted: Option<Epoch>,
    /// Until when hits of another process may lead to a cache server that does not have the fence of a tenure
    /// here.
    others_until_ms: u64,
    /// Whether the entries that are left in the cache server may be wrong.
    begins_cold: bool,
    /// Tenures in a row that ended before they served.
    failures: u32,
    ticks: u64,
    stopping: Option<Stopping>,
    wish: WishToLeave,
    /// Whether the logs may have acknowledged writes that the store lacks, for the next tenure to apply.
    may_have_left: bool,
    /// Whether the last claim found another process.
    was_elsewhere: bool,
    /// Whether the last tenure that was granted was of ranges that were cut for other columns.
    is_of_other_columns: bool,
    /// Until when this task claims nothing, so that a process with the logs that are missing here can.
    refused_until_ms: u64,
    is_done: bool,
}

impl<A: Application + Clone + Send + Sync + 'static> OwnerTask<A> {
    pub(crate) fn new(
        handle: Arc<OwnerHandle>,
        inbox: mpsc::UnboundedReceiver<OwnerCommand>,
        config: Config,
        application: A,
        claims: Claims,
        begins_cold: bool,
    ) -> Self {
        Self {
            handle,
            inbox,
            config,
            application,
            claims,
            is_claiming: false,
            active: None,
            requests: Requests::default(),
            peer_leases: PeerLeases::default(),
            holds: BTreeMap::new(),
            durable: Vec::new(),
            waiting_for_tenure: WaitingForTenure::default(),
            unreachable: BTreeSet::new(),
            lost_cache: None,
            warnings: Warnings::default(),
            granted: None,
            others_until_ms: 0,
            begins_cold,
            failures: 0,
            ticks: 0,
            stopping: None,
            wish: WishToLeave::default(),
            may_have_left: false,
            was_elsewhere: false,
            is_of_other_columns: false,
            refused_until_ms: 0,
            is_done: false,
        }
    }

    /// Runs until it was stopped.
    pub(crate) async fn run(mut self) {
        let mut ticks = tokio::time::interval(TICK);
        if self.claims == Claims::Always {
            self.claim();
        }
        while !self.is_done {
            tokio::select! {
                heard = self.inbox.recv() => heard.into_iter().for_each(|heard| self.survive(|task| task.hear(heard))),
                _ = ticks.tick() => self.survive(Self::tick),
            }
        }
    }

    /// A panic ends the tenure as the loss of the range does: the next one begins without anything of it.
    fn survive(&mut self, step: impl FnOnce(&mut Self)) {
        if std::panic::catch_unwind(AssertUnwindSafe(|| step(self))).is_err() {
            error!(range = self.handle.range.0, "the owner of the range has panicked: its tenure ends");
            self.begins_cold = true;
            self.failures = self.failures.max(PANIC_FAILURES);
            self.lose_tenure();
            self.may_have_left = self.config.policy == Policy::WriteBack;
            if self.gives_up_draining() {
                self.finish(None);
            }
        }
    }

    fn hear(&mut self, heard: OwnerCommand) {
        match heard {
            OwnerCommand::Read(..)
            | OwnerCommand::Verify(..)
            | OwnerCommand::Write(..)
            | OwnerCommand::ReadAll(..)
            | OwnerCommand::Hold(..)
            | OwnerCommand::Peer(..) => self.ask(heard),
            OwnerCommand::ForeignWrite => self.foreign_write(),
            OwnerCommand::Memory(percent) => self.tell_hits(percent),
            OwnerCommand::HoldOver(request, reply) => self.hold_over(request, reply),
            OwnerCommand::Table(table) => self.take_table(table),
            OwnerCommand::Claim if self.active.is_none() && self.stopping.is_none() => self.claim(),
            OwnerCommand::Claim => {}
            OwnerCommand::Leave => self.leave_to_others(),
            OwnerCommand::GivenBack => self.given_back(),
            OwnerCommand::Load(reply) => self.tell_load(reply),
            OwnerCommand::Claimed { sent_ms, claimed } => {
                self.is_claiming = false;
                match claimed {
                    Ok(Some(tenure)) => self.begin_tenure(tenure, sent_ms),
                    Ok(None) => self.is_elsewhere(),
                    Err(why) => self.is_without_claim(&why),
                }
            }
            OwnerCommand::Renewed { epoch, sent_ms, is_ours } => self.renewed(epoch, sent_ms, is_ours),
            OwnerCommand::Answered { epoch, event, why } if self.epoch() == Some(epoch) => {
                self.answered(event, why);
            }
            OwnerCommand::Answered { .. } => {}
            OwnerCommand::CacheIsBack(epoch) if self.epoch() == Some(epoch) => self.leave_bypass(),
            OwnerCommand::CacheIsBack(_) => {}
            OwnerCommand::Stop(reply) => self.stop(reply),
        }
    }

    fn epoch(&self) -> Option<Epoch> {
        self.active.as_ref().map(|active| active.tenure.epoch)
    }

    fn ask(&mut self, heard: OwnerCommand) {
        if let OwnerCommand::Peer(peer, _, PeerCall::Release, _) = heard {
            self.waiting_for_tenure.withdraw(peer);
        }
        match (&self.active, heard) {
            // Nothing is held here, and perhaps elsewhere: without a reply the caller asks again.
            (None, OwnerCommand::Peer(_, _, what, _)) if what.is_about_a_held_lease() => {}
            (None, heard) => {
                self.waiting_for_tenure.add(self.handle.now_ms(), heard);
                self.claim();
            }
            (Some(active), heard) if self.waits_for_leaving(active, &heard) => {
                self.waiting_for_tenure.add(self.handle.now_ms(), heard);
            }
            (Some(_), heard) => self.ask_owner(heard),
        }
    }

    fn ask_owner(&mut self, heard: OwnerCommand) {
        match heard {
            OwnerCommand::Read(query, reply) => {
                let request = self.requests.add(Waiting::Read(query.clone(), reply, None));
                self.drive(Event::Read(request, query));
            }
            OwnerCommand::Verify(query, reply) => {
                let request = self.requests.add(Waiting::Read(query.clone(), reply, None));
                self.drive(Event::Verify(request, query));
            }
            OwnerCommand::Write(write, reply) => {
                let request = self.requests.add(Waiting::Write(write.command.clone(), reply, None));
                self.drive(Event::Write(request, write));
            }
            OwnerCommand::ReadAll(queries, reply) => {
                let request = self.requests.add(Waiting::ReadAll(queries.clone(), reply, None));
                self.drive(Event::ReadAll(request, queries));
            }
            OwnerCommand::Hold(held, lasts_ms, reply) => {
                let request = self.requests.add(Waiting::Hold(lasts_ms, reply, None));
                self.drive(Event::Hold(request, held));
            }
            OwnerCommand::Peer(peer, call, what, reply) => {
                self.peer_leases.add(peer, call, &what, reply);
                self.drive(Event::Peer(peer, call, what));
            }
            _ => {}
        }
    }

    /// Drops all entries, and takes none over into the next tenure.
    fn foreign_write(&mut self) {
        self.begins_cold = true;
        let everywhere = (0..self.config.domain_count).map(|domain| (domain, Interval::all()));
        self.drive(Event::ForeignWrite(everywhere.collect()));
    }

    /// A tenure whose range is cut anew ends, and the next one gets the new interval.
    pub(super) fn take_table(&mut self, table: Arc<RangeTable>) {
        if self.config.table.as_ref().is_some_and(|known| known.version() < table.version()) {
            self.config.table = Some(table.clone());
            self.drive(Event::Table(table));
        }
    }

    fn answered(&mut self, event: Event, why: Option<FailureCause>) {
        if let Some(active) = &self.active {
            let (server, now, range) = (active.tenure.cache, self.handle.now_ms(), self.handle.range.0);
            match &why {
                Some(FailureCause::Cache(error)) => {
                    if self.warnings.is_due(ServerKind::Cache, server, now) {
                        warn!(range, server, %error, "a cache server does not answer in time");
                    }
                    self.unreachable.insert(server);
                    self.lost_cache = Some(server);
                }
                Some(FailureCause::Log(server, error))
                    if self.warnings.is_due(ServerKind::Log, *server, now) =>
                {
                    warn!(range, server, %error, "a log server does not keep writes");
                }
                None if matches!(event, Event::Cache(..)) && !active.is_bypass => {
                    // One late answer says nothing of the next tenure, which may begin hours later.
                    self.unreachable.remove(&server);
                    self.lost_cache = self.lost_cache.filter(|lost| *lost != server);
                }
                _ => {}
            }
        }
        if let Some(why) = why {
            self.requests.note(&why);
        }
        self.drive(event);
    }

    /// Passes an event to the owner, and executes its actions; replies that come at once are passed back at once.
    fn drive(&mut self, event: Event) {
        let mut events = VecDeque::from([(event, None)]);
        while let Some((event, why)) = events.pop_front() {
            if let Some(why) = &why {
                self.requests.note(why);
            }
            let now = self.handle.now_ms();
            let Some(active) = &mut self.active else { return };
            let (actions, epoch) = (active.owner.handle(now, event), active.tenure.epoch);
            let cache = active.cache.clone();
            if actions.iter().any(|action| matches!(action, Action::Ended(Ending::LogsMissing))) {
                self.requests.note(&FailureCause::Tenure(logs_missing()));
            }
            if !actions.iter().any(|action| matches!(action, Action::Ended(_))) {
                self.requests.note_waits(&actions);
            }
            for action in actions {
                if let Some(call) = self.take(action) {
                    events.extend(self.handle.carry(epoch, &cache, call));
                }
            }
            self.publish();
        }
    }

    /// Executes the actions of the task itself; returns those that must be carried to others.
    fn take(&mut self, action: Action) -> Option<Action> {
        match action {
            Action::ReadDone(request, outcome) => {
                let outcome = if self.lease_is_over() { ReadOutcome::Retry } else { outcome };
                self.requests.read_done(request, outcome);
            }
            Action::WriteDone(request, outcome) if self.holds.contains_key(&request) => {
                self.hold_done(request, outcome);
            }
            Action::WriteDone(request, outcome) => self.requests.write_done(request, outcome),
            Action::Durable(request) => self.durable.push(request),
            Action::ReadAllDone(request, values) => {
                let values = Some(values).filter(|_| !self.lease_is_over());
                self.requests.read_all_done(request, values);
            }
            Action::HoldReady(request, held) => self.hold_ready(request, held),
            Action::Notice(notice) => {
                let (range, (kind, number)) = (self.handle.range.0, about(&notice));
                if matches!(notice, Notice::BufferedWritesLost | Notice::SetAside(_)) {
                    warn!(range, notice = kind, number, "acknowledged writes are not in the store");
                } else {
                    debug!(range, notice = kind, number, "a notice for the application");
                }
                if matches!(notice, Notice::BypassDetected(_)) {
                    count(&self.handle.counters.foreign_writes);
                    // This tenure may end before it has dropped everything.
                    self.begins_cold = true;
                }
                drop(self.handle.notices.send(notice));
            }
            Action::Ended(ending) => self.ended(ending),
            // Without a reply the leader asks again, and finds the process that has the range now.
            Action::PeerReply(_, _, PeerReply::Held(_)) if self.lease_is_over() => {}
            Action::PeerReply(peer, call, reply) => self.peer_leases.answer(peer, call, reply),
            Action::Redirect(request, _) => self.requests.is_elsewhere(request),
            // Its reason was noted.
            Action::LedInVain(_) => {}
            call => return Some(call),
        }
        None
    }

    /// Answers writes that a tenure has left durable: `Done` when the next one here serves, as its entries show them.
    fn answer_durable(&mut self, outcome: WriteOutcome) {
        let durable = std::mem::take(&mut self.durable);
        durable.into_iter().for_each(|request| self.requests.write_done(request, outcome));
    }

    /// Shows the tenure to the hit path once it serves.
    fn publish(&mut self) {
        let Some(active) = &mut self.active else { return };
        if active.is_published || !active.owner.is_serving() {
            return;
        }
        (active.is_published, active.has_served) = (true, true);
        self.failures = 0;
        let (epoch, cache, until_ms) = (active.tenure.epoch, active.cache.clone(), active.until_ms);
        let entries = active.owner.entry_reader();
        self.others_until_ms = 0;
        if !self.handle.route.holds(epoch, 0) {
            info!(range = self.handle.range.0, epoch = epoch.0, "the range is served");
            count(&self.handle.counters.tenures);
        }
        self.handle.route.set(Some(Route { epoch, cache, entries, until_ms }));
        self.answer_durable(WriteOutcome::Done);
    }
}
