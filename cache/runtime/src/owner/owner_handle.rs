//! The state that an owner task and its clients share, and their messages.

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lacuna_cache_protocol::ports::{Reply, Tenure};
use lacuna_cache_protocol::{
    Application, CallId, Epoch, Event, Notice, PeerCall, PeerId, PeerReply, Query, RangeId, RangeLoad,
    RangeTable, ReadOutcome, RequestId, Value, Write, WriteOutcome,
};
use lacuna_cache_protocol::{Error, Result};
use tokio::sync::{broadcast, mpsc, oneshot};
use tracing::info;

use crate::owner::carry::FailureCause;
use crate::owner::counters::{Counters, count};
use crate::owner::error::{cache_stopped, no_owner};
use crate::owner::gauges::Gauges;
use crate::owner::measured_sizes::MeasuredSizes;
use crate::owner::open_lease::OpenLease;
use crate::owner::route::{Route, RouteCell};
use crate::owner::sample::Sample;
use crate::owner::servers::Servers;
use crate::owner::slow::Begun;

/// An answer of an owner task.
#[derive(Debug)]
pub(crate) struct OwnerReply<T> {
    pub(crate) outcome: T,
    /// The store's reason, for a person.
    pub(crate) why: Option<Error>,
    /// Whether another owner has the range, or leads it: asking here again is useless for now.
    pub(crate) is_elsewhere: bool,
}

pub(crate) type ReadAnswer = OwnerReply<ReadOutcome>;
pub(crate) type WriteAnswer = OwnerReply<WriteOutcome>;

/// The result of the hit path.
pub(crate) enum Hit {
    Is(Value),
    /// A hit that the owner must compare with the store.
    InDoubt,
    /// The same, put together from several entries, of which the owner must compare this one.
    PartInDoubt(Query),
    Miss,
}

/// The messages to an owner task.
#[derive(Debug)]
pub(crate) enum OwnerCommand {
    Read(Query, oneshot::Sender<ReadAnswer>),
    /// The same, and the cached value must be compared with the store.
    Verify(Query, oneshot::Sender<ReadAnswer>),
    Write(Write, oneshot::Sender<WriteAnswer>),
    /// Results of one moment.
    ReadAll(Vec<Query>, oneshot::Sender<OwnerReply<Option<Vec<Value>>>>),
    /// A lease on what a write would touch, and for how many milliseconds.
    Hold(Write, u64, oneshot::Sender<OwnerReply<Option<OpenLease>>>),
    /// The holder has released its lease, and waits for an answer; or it has ended without releasing.
    HoldOver(RequestId, Option<oneshot::Sender<bool>>),
    /// The owner of another range leads a request that touches this one.
    Peer(PeerId, CallId, PeerCall, oneshot::Sender<PeerReply>),
    /// A foreign write went past the cache.
    ForeignWrite,
    /// How full the memory of the cache server is, in percent.
    Memory(u8),
    /// There is a newer range table.
    Table(Arc<RangeTable>),
    /// The range must be claimed, even without a request for it.
    Claim,
    /// The range must be released, once it is drained.
    Leave,
    /// The release is complete.
    GivenBack,
    /// The load of the owner since this was last asked.
    Load(oneshot::Sender<RangeLoad>),
    Claimed {
        sent_ms: u64,
        claimed: Result<Option<Tenure>>,
    },
    Renewed {
        epoch: Epoch,
        sent_ms: u64,
        is_ours: Result<bool>,
    },
    Answered {
        epoch: Epoch,
        event: Event,
        why: Option<FailureCause>,
    },
    CacheIsBack(Epoch),
    Stop(Option<oneshot::Sender<Result<()>>>),
}

impl OwnerCommand {
    /// The kind of a request, for a person.
    const fn name(&self) -> &'static str {
        match self {
            Self::Read(..) => "read",
            Self::Verify(..) => "verify",
            Self::Write(..) => "write",
            Self::ReadAll(..) => "read of several results",
            Self::Hold(..) => "lease",
            _ => "other",
        }
    }
}

/// Finds the owners of other ranges.
pub(crate) trait Peers: Debug + Send + Sync {
    fn call(&self, range: RangeId, peer: PeerId, call: CallId, what: PeerCall) -> Reply<'_, PeerReply>;
}

/// There are no other ranges.
#[derive(Debug)]
pub(crate) struct NoPeers;

impl Peers for NoPeers {
    fn call(&self, _: RangeId, _: PeerId, _: CallId, _: PeerCall) -> Reply<'_, PeerReply> {
        Box::pin(std::future::ready(Ok(PeerReply::Refused)))
    }
}

/// Makes results of cached values, and of what writes have added to them.
pub(crate) trait MakesResults: Send + Sync {
    /// [`Application::settle`].
    fn settle(&self, query: &Query, value: &Value) -> Option<Value>;
    /// [`Application::fuse`].
    fn fuse(&self, query: &Query, parts: &[(Query, Value)]) -> Option<Value>;
}

impl<A: Application + Send + Sync> MakesResults for A {
    fn settle(&self, query: &Query, value: &Value) -> Option<Value> {
        Application::settle(self, query, value)
    }

    fn fuse(&self, query: &Query, parts: &[(Query, Value)]) -> Option<Value> {
        Application::fuse(self, query, parts)
    }
}

impl Debug for dyn MakesResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an application")
    }
}

/// The state that owner task and clients share.
#[derive(Debug)]
pub(crate) struct OwnerHandle {
    pub(crate) servers: Servers,
    pub(crate) range: RangeId,
    pub(crate) peers: Arc<dyn Peers>,
    pub(crate) application: Arc<dyn MakesResults>,
    pub(crate) route: RouteCell,
    pub(crate) counters: Arc<Counters>,
    /// Reads that were answered without the owner since its load was last requested.
    pub(crate) unseen: AtomicU64,
    /// The same, since the owner was last informed of them.
    pub(crate) untold: AtomicU64,
    /// For operators.
    pub(crate) gauges: Gauges,
    /// Hits to be compared with the store.
    pub(crate) verified: Arc<Sample>,
    pub(crate) sizes: MeasuredSizes,
    pub(crate) commands: mpsc::UnboundedSender<OwnerCommand>,
    pub(crate) notices: broadcast::Sender<Notice>,
}

impl OwnerHandle {
    pub(crate) fn now_ms(&self) -> u64 {
        self.servers.clock.now_ms()
    }

    /// Looks the query up in the cache server, and decides whether its value is an answer.
    pub(crate) async fn hit(&self, query: &Query) -> Hit {
        let Some(route) = self.route.at(self.now_ms()) else { return Hit::Miss };
        let known = route.entries.as_ref().map_or_else(|| Some(Vec::new()), |entries| entries.parts(query));
        // What the owner does not know is in no cache.
        let Some(parts) = known else { return Hit::Miss };
        let is_whole = parts.is_empty();
        let found =
            if is_whole { self.whole(&route, query).await } else { self.fused(&route, query, &parts).await };
        let Some(value) = found.filter(|_| self.route.holds(route.epoch, self.now_ms())) else {
            return Hit::Miss;
        };
        count(&self.counters.hits);
        // The order of other rows, and the choice of some of them, is the store's.
        if query.question.is_none() && self.verified.takes_next() {
            count(&self.counters.verified);
            return if is_whole { Hit::InDoubt } else { self.some_part_in_doubt(parts) };
        }
        count(&self.unseen);
        count(&self.untold);
        Hit::Is(value)
    }

    /// One after the other, so that each has its turn even if the same query is repeated.
    fn some_part_in_doubt(&self, mut parts: Vec<Query>) -> Hit {
        let verified = self.counters.verified.load(Ordering::Relaxed);
        let place = usize::try_from(verified % parts.len() as u64).unwrap_or(0);
        Hit::PartInDoubt(parts.swap_remove(place))
    }

    /// A value counts if the fence is the epoch of the route, and the route still holds when the reply has arrived
    /// (P11). One that only the store can settle is a miss: the owner drops it.
    async fn whole(&self, route: &Route, query: &Query) -> Option<Value> {
        count(&self.counters.cache_calls);
        let begun = self.sizes.lookup_begins();
        let seen = route.cache.get(self.range, route.epoch, query).await;
        let value = seen.ok()?.filter(|seen| seen.fence == route.epoch)?.value?;
        let settled = self.application.settle(query, &value)?;
        if let Some(begun) = begun {
            self.sizes.found(value.as_bytes().len(), begun.elapsed());
        }
        Some(settled)
    }

    /// The same for a result that is put together from entries. A write that changes several of them changes or hides
    /// them in one script, so that values of one moment show all of it or nothing.
    async fn fused(&self, route: &Route, query: &Query, parts: &[Query]) -> Option<Value> {
        count(&self.counters.cache_calls);
        let seen = route.cache.get_together(self.range, route.epoch, parts).await;
        let seen = seen.ok()?.filter(|seen| seen.fence == route.epoch)?;
        let settled = parts.iter().zip(seen.values).map(|(part, value)| {
            let value = self.application.settle(part, &value?)?;
            Some((part.clone(), value))
        });
        self.application.fuse(query, &settled.collect::<Option<Vec<_>>>()?)
    }

    /// Asks the owner task once.
    pub(crate) async fn read(&self, query: Query, is_in_doubt: bool, within: Duration) -> Result<ReadAnswer> {
        let (reply, answer) = oneshot::channel();
        let heard =
            if is_in_doubt { OwnerCommand::Verify(query, reply) } else { OwnerCommand::Read(query, reply) };
        self.say(heard, answer, within).await
    }

    /// Asks the owner task once. After an error it is unknown whether the write was executed.
    pub(crate) async fn write(&self, write: Write, within: Duration) -> Result<WriteAnswer> {
        let (reply, answer) = oneshot::channel();
        self.say(OwnerCommand::Write(write, reply), answer, within).await
    }

    /// Asks the owner task once.
    pub(crate) async fn read_all(
        &self,
        queries: Vec<Query>,
        within: Duration,
    ) -> Result<OwnerReply<Option<Vec<Value>>>> {
        let (reply, answer) = oneshot::channel();
        self.say(OwnerCommand::ReadAll(queries, reply), answer, within).await
    }

    /// Asks the owner task once.
    pub(crate) async fn hold(
        &self,
        held: Write,
        lasts: Duration,
        within: Duration,
    ) -> Result<OwnerReply<Option<OpenLease>>> {
        let (reply, answer) = oneshot::channel();
        let lasts_ms = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
        self.say(OwnerCommand::Hold(held, lasts_ms, reply), answer, within).await
    }

    async fn say<T>(
        &self,
        heard: OwnerCommand,
        answer: oneshot::Receiver<OwnerReply<T>>,
        within: Duration,
    ) -> Result<OwnerReply<T>> {
        let (begun, request) = (Begun::now(), heard.name());
        self.commands.send(heard).map_err(|_| cache_stopped())?;
        let answered = match tokio::time::timeout(within, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(cache_stopped()),
            Err(_) => Err(no_owner()),
        };
        if let Some(took_ms) = begun.slow_ms() {
            // What the database says may hold values of rows.
            let why = answered.as_ref().map_or_else(Some, |answer| answer.why.as_ref()).map(Error::kind);
            info!(range = self.range.0, request, took_ms, ?why, "a request has taken long");
        }
        answered
    }
}
