//! The owner of a range (the report's "dendrite"): one tenure, from take-over to its end.
//!
//! Every read that misses and every write of a range goes through its one owner, which admits them by interval
//! ([`LeaseTable`]) and knows the cached entries ([`PredicateIndex`]) and the buffered writes
//! ([`BufferedWrites`]). It is a state machine: [`Owner::handle`] takes one event and returns actions.
//!
//! A tenure has an epoch. Cache server, store and log servers refuse older ones, so that calls that a paused or
//! replaced owner still has in flight change nothing (P3). Whenever an owner cannot know something that matters
//! (whether a write landed, what a cache server still shows), it ends, and the next tenure, of the same process or
//! another, begins with a higher epoch and an empty cache. This one rule replaces all special recoveries.
//!
//! - take-over: fence the cache server, then the logs, then the store; apply what the logs still have; serve
//!   (`start.rs`);
//! - reads: shared lease, lookup, buffered writes of the interval into the store, store query, install (`read.rs`,
//!   `install.rs`);
//! - writes: exclusive lease, then hide the entries *before* the store has the write, change and show them after
//!   (`write.rs`, `buffer.rs`, `patching.rs`, `patched_value.rs`, `patched_values.rs`; `task.rs` lists the steps of a write, `admission.rs` has those that wait);
//! - buffered writes: into the store in order, set aside if refused for good (`apply.rs`);
//! - entries: a log of them, for a warm take-over (`entry_log.rs`); their number is bounded (`eviction.rs`);
//! - several ranges: leases in the order of ranges, from owner to owner (`across.rs`, `guest.rs`);
//! - results put together from cached ones (`parts.rs`);
//! - calls: answered, repeated, or given up (`calls.rs`); every other event (`events.rs`), and the end
//!   (`ending.rs`).
//!
//! Guarantee: if the driver keeps the contract of [`Event`] and [`Action`], a read returns a result that holds
//! every write acknowledged before the read began, and that is not older than the result of any read finished
//! before it began.
//!
//! Report, sections 2 to 6; the corrections P1 to P14 are explained in [`docs/design/range-cache-protocol.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/range-cache-protocol.md).

mod across;
mod admission;
mod apply;
mod buffer;
mod calls;
mod covered;
mod ending;
mod entry_log;
mod events;
mod eviction;
mod guest;
mod install;
mod parts;
mod patched_value;
mod patched_values;
mod patching;
mod read;
mod start;
mod task;
mod write;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Deref;

use crate::auto_beta::AutoBeta;
use crate::balance::{LoadMeter, RangeLoad};
use crate::buffered_writes::BufferedWrites;
use crate::config::{Application, Config, Flaw, Policy};
use crate::gaps::Gaps;
use crate::known_entries::{EntryReader, KnownEntries};
use crate::known_rows::KnownRows;
use crate::lease_table::{LeaseId, LeaseTable};
use crate::message::{Action, CallId, Epoch, Event, ReadOutcome, RequestId, Session, WriteOutcome};
use crate::predicate_index::PredicateIndex;
use crate::query::{Query, Touched};
use crate::range_key::RangeKey;

use admission::Admission;
use apply::Applying;
use buffer::Appending;
use calls::Pending;
use entry_log::EntryLog;
use eviction::Eviction;
use guest::ReleasedPeers;
use patching::Patching;
use read::ReadTask;
use start::Starting;
use task::WriteTask;

/// How often gaps are split under the flaw that does it late.
const LATE_SPLIT: u64 = 320;

/// Number of a read or write in progress.
type TaskId = u64;

/// One tenure of a range.
#[derive(Debug, Clone)]
pub struct Owner<A> {
    config: Config,
    application: A,
    epoch: Epoch,
    phase: Phase,
    now: u64,
    next_number: u64,
    calls: BTreeMap<CallId, Pending>,
    leases: LeaseTable<RangeKey>,
    holders: BTreeMap<LeaseId, TaskId>,
    reads: BTreeMap<TaskId, ReadTask>,
    /// The read in progress of each query: others join it.
    flights: BTreeMap<Query, TaskId>,
    writes: BTreeMap<TaskId, WriteTask>,
    released: ReleasedPeers,
    admission: Admission,
    patching: Patching,
    known: KnownRows,
    index: KnownEntries,
    gaps: Gaps,
    late_splits: Vec<Touched>,
    buffered: BufferedWrites,
    appending: Appending,
    applying: Applying,
    /// Tasks that continue once the buffered write with this number is applied.
    flushing: Vec<(u64, TaskId)>,
    next_lsn: u64,
    write_through_until: u64,
    full_until: u64,
    entry_log: EntryLog,
    eviction: Eviction,
    auto_beta: AutoBeta,
    /// The largest result that is worth caching, as far as the driver has measured.
    largest_worth: usize,
    load: LoadMeter,
    actions: Vec<Action>,
}

#[derive(Debug, Clone)]
enum Phase {
    Starting(Starting, VecDeque<Event>),
    Serving,
    Stopping(Parting),
    Ended,
}

/// The step of an end in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parting {
    /// Tasks are in progress.
    Finishing,
    /// The store is recording that no log has a write that it lacks.
    Recording,
    /// It has.
    Recorded,
}

impl<A: Application> Owner<A> {
    /// Begins the tenure `epoch`. The first actions come with the first event, for example an [`Event::Tick`].
    pub fn new(config: Config, application: A, epoch: Epoch) -> Self {
        let domains = config.domain_count;
        Self {
            application,
            epoch,
            phase: Phase::Starting(Starting::Cold, VecDeque::new()),
            now: 0,
            next_number: 1,
            calls: BTreeMap::new(),
            leases: LeaseTable::new(domains),
            holders: BTreeMap::new(),
            reads: BTreeMap::new(),
            flights: BTreeMap::new(),
            writes: BTreeMap::new(),
            released: ReleasedPeers::default(),
            admission: Admission::default(),
            patching: Patching::default(),
            known: KnownRows::new(config.max_known_rows),
            index: KnownEntries::new(domains),
            gaps: Gaps::new(domains, config.max_gaps),
            late_splits: Vec::new(),
            buffered: BufferedWrites::new(domains),
            appending: Appending::default(),
            applying: Applying::default(),
            flushing: Vec::new(),
            next_lsn: 1,
            write_through_until: 0,
            full_until: 0,
            entry_log: EntryLog::new(),
            eviction: Eviction::default(),
            auto_beta: AutoBeta::new(config.beta),
            largest_worth: usize::MAX,
            load: LoadMeter::new(),
            actions: Vec::new(),
            config,
        }
    }

    /// The actions that follow from an event at the time `now`, which never decreases.
    pub fn handle(&mut self, now: u64, event: Event) -> Vec<Action> {
        self.now = self.now.max(now);
        match &mut self.phase {
            Phase::Ended => self.refuse(event),
            Phase::Starting(_, queue)
                if matches!(
                    event,
                    Event::Read(..)
                        | Event::Write(..)
                        | Event::Verify(..)
                        | Event::ReadAll(..)
                        | Event::Hold(..)
                        | Event::ForeignWrite(_)
                        | Event::Stop
                ) =>
            {
                queue.push_back(event);
            }
            _ => self.take(event),
        }
        self.index.set_parts(self.beta() == 0);
        std::mem::take(&mut self.actions)
    }

    /// The present β, in percent: fixed, or chosen by the load.
    pub const fn beta(&self) -> u8 {
        if self.config.beta_auto { self.auto_beta.beta() } else { self.config.beta }
    }

    /// The load since the last call: the input of [`spread`](crate::spread) and [`recut`](crate::recut). Hits of
    /// clients are not counted here.
    pub fn read_load(&mut self) -> RangeLoad {
        self.load.read()
    }

    /// The tasks in progress, by name: the points at which a crash may strike.
    #[doc(hidden)]
    pub fn in_progress(&self) -> Vec<String> {
        let start = match &self.phase {
            Phase::Starting(starting, _) => Some(format!("starting {}", starting.name())),
            _ => None,
        };
        let writes = self.writes.values().map(|write| format!("{} {}", write.kind.name(), write.step.name()));
        let reads = self.reads.values().map(|read| format!("read {}", read.step_name()));
        let applying = (!self.applying.is_idle()).then(|| "applying".to_owned());
        start.into_iter().chain(writes).chain(reads).chain(applying).collect()
    }

    const fn is_stopping(&self) -> bool {
        matches!(self.phase, Phase::Stopping(_))
    }

    /// Whether nothing is in progress and the store has every write.
    pub fn is_idle(&self) -> bool {
        self.reads.is_empty()
            && self.writes.is_empty()
            && self.admission.is_empty()
            && self.buffered.is_empty()
    }

    /// Whether the take-over is complete and the tenure has not ended.
    pub const fn is_serving(&self) -> bool {
        matches!(self.phase, Phase::Serving)
    }

    /// The epoch of this tenure.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The cached entries that it knows of.
    pub fn index(&self) -> impl Deref<Target = PredicateIndex> {
        self.index.read()
    }

    /// The same for clients in this process, if β is or may become 0: then a result is seldom an entry, and often made of
    /// several.
    pub fn entry_reader(&self) -> Option<EntryReader> {
        let may_be_parts = self.config.beta == 0 || self.config.beta_auto;
        (may_be_parts && self.application.can_fuse()).then(|| self.index.reader())
    }

    /// The leases that are granted or waited for, those of reads and writes in progress.
    pub fn lease_count(&self) -> usize {
        self.leases.len()
    }

    /// About the bytes of memory that it takes to know the cached entries: their index, and where writes have changed them.
    pub fn index_bytes(&self) -> usize {
        self.index.read().memory_bytes() + self.patching.memory_bytes()
    }

    /// Bytes of the log of entries in the cache server, as far as it keeps one and has received what was sent.
    pub const fn entry_log_bytes(&self) -> usize {
        self.entry_log.bytes()
    }

    /// Acknowledged writes that the store does not have yet.
    pub const fn buffered(&self) -> &BufferedWrites {
        &self.buffered
    }

    #[cfg(feature = "flaws")]
    const fn is_flawed(&self, flaw: Flaw) -> bool {
        matches!(self.config.flaw, Some(present) if present as u8 == flaw as u8)
    }

    /// Users have none.
    #[cfg(not(feature = "flaws"))]
    const fn is_flawed(&self, _: Flaw) -> bool {
        false
    }

    fn next_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    fn new_session(&mut self) -> Session {
        Session(self.next_number())
    }

    /// Whether writes are buffered now: the policy says so, and the log has room.
    fn is_buffering(&self) -> bool {
        self.config.policy == Policy::WriteBack && self.now >= self.write_through_until && !self.is_stopping()
    }

    fn answer_read(&mut self, request: RequestId, outcome: ReadOutcome) {
        self.actions.push(Action::ReadDone(request, outcome));
    }

    fn answer_write(&mut self, request: RequestId, outcome: WriteOutcome) {
        self.actions.push(Action::WriteDone(request, outcome));
    }

    /// Releases a lease and continues the tasks that waited for it.
    fn release(&mut self, lease: LeaseId) {
        self.holders.remove(&lease);
        for granted in self.leases.release(lease) {
            let Some(&task) = self.holders.get(&granted) else { continue };
            if self.reads.contains_key(&task) {
                self.read_granted(task);
            } else {
                self.write_granted(task);
            }
        }
    }
}
