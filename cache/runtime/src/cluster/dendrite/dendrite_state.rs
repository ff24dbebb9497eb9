//! The state of a dendrite: its owner tasks, the range table, and the addresses of other owners.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::Reply;
use lacuna_cache_protocol::{
    Application, CallId, Config, Notice, PeerCall, PeerId, PeerReply, RangeId, RangeLoad, RangeTable,
};
use tokio::sync::{broadcast, mpsc, oneshot};
use tracing::{Instrument as _, Span, debug, info, info_span};

use super::{KNOWN_MS, Membership};
use crate::owner::counters::Counters;
use crate::owner::error::cache_stopped;
use crate::owner::gauges::Gauges;
use crate::owner::measured_sizes::MeasuredSizes;
use crate::owner::owner_handle::{MakesResults, OwnerCommand, OwnerHandle, Peers};
use crate::owner::owner_task::{Claims, OwnerTask};
use crate::owner::range_cache::NOTICES;
use crate::owner::route::RouteCell;
use crate::owner::sample::Sample;
use crate::owner::servers::Servers;

/// Where a request for a range goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The owner task here, which may have to claim the range first.
    Here,
    /// The dendrite at an address.
    At(String),
}

/// The owner tasks by their ranges.
#[derive(Debug, Default)]
struct Owners {
    tasks: BTreeMap<RangeId, Arc<OwnerHandle>>,
    /// Then no task is started any more.
    is_closed: bool,
}

type NewOwner = Box<dyn Fn(RangeId, Arc<RangeTable>) -> Arc<OwnerHandle> + Send + Sync>;

pub(crate) struct DendriteState {
    pub(super) servers: Servers,
    pub(super) membership: Membership,
    pub(super) counters: Arc<Counters>,
    pub(super) notices: broadcast::Sender<Notice>,
    pub(super) verified: Arc<Sample>,
    /// Whether the entries that other processes left in the cache server may be wrong.
    begins_cold: Arc<AtomicBool>,
    table: RwLock<Arc<RangeTable>>,
    new_owner: NewOwner,
    owners: Mutex<Owners>,
    /// Where each owner was last reported, and until when this is used.
    known: Mutex<BTreeMap<RangeId, (Place, u64)>>,
}

impl fmt::Debug for DendriteState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DendriteState")
            .field("membership", &self.membership)
            .field("owners", &self.owners)
            .finish_non_exhaustive()
    }
}

impl Drop for DendriteState {
    fn drop(&mut self) {
        for handle in self.close() {
            drop(handle.commands.send(OwnerCommand::Stop(None)));
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DendriteState {
    pub(super) fn new<A: Application + Clone + Send + Sync + 'static>(
        me: Weak<Self>,
        servers: Servers,
        membership: Membership,
        config: Config,
        application: A,
        table: Arc<RangeTable>,
    ) -> Self {
        let (counters, (notices, _)) = (Arc::<Counters>::default(), broadcast::channel(NOTICES));
        let verified = Arc::<Sample>::default();
        let shared_verified = verified.clone();
        let begins_cold = Arc::<AtomicBool>::default();
        let shared_begins_cold = begins_cold.clone();
        let (shared, shared_counters, shared_notices) = (servers.clone(), counters.clone(), notices.clone());
        let makes_results: Arc<dyn MakesResults> = Arc::new(application.clone());
        // All owners belong to the span in which the dendrite was started, that of its table.
        let span = Span::current();
        let new_owner = move |range: RangeId, table| {
            let (commands, inbox) = mpsc::unbounded_channel();
            let handle = Arc::new(OwnerHandle {
                servers: shared.clone(),
                range,
                peers: Arc::new(Through(me.clone())),
                application: makes_results.clone(),
                route: RouteCell::default(),
                counters: shared_counters.clone(),
                unseen: AtomicU64::default(),
                untold: AtomicU64::default(),
                gauges: Gauges::default(),
                verified: shared_verified.clone(),
                sizes: MeasuredSizes::new(config.learns_size),
                commands,
                notices: shared_notices.clone(),
            });
            let config = Config { range, table: Some(table), ..config.clone() };
            let (application, is_cold) = (application.clone(), shared_begins_cold.load(Ordering::SeqCst));
            let task = OwnerTask::new(handle.clone(), inbox, config, application, Claims::OnDemand, is_cold);
            tokio::spawn(task.run().instrument(info_span!(parent: &span, "range", range = range.0)));
            handle
        };
        let (owners, known) = (Mutex::default(), Mutex::default());
        let (new_owner, table) = (Box::new(new_owner), RwLock::new(table));
        Self {
            servers,
            membership,
            counters,
            notices,
            verified,
            begins_cold,
            table,
            new_owner,
            owners,
            known,
        }
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.servers.clock.now_ms()
    }

    pub(super) fn table(&self) -> Arc<RangeTable> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores a newer table, and sends it to the owner tasks. Tasks of ranges that it does not have end.
    pub(super) fn take_table(&self, table: &Arc<RangeTable>) {
        let mut known = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if known.version() >= table.version() {
            return;
        }
        if known.marks() != table.marks() {
            return debug!("the ranges were cut anew for other columns while this dendrite is running");
        }
        *known = table.clone();
        drop(known);
        info!(version = table.version(), ranges = table.ranges().len(), "the ranges were cut anew");
        locked(&self.known).clear();
        let ranges = table.ranges();
        let mut owners = locked(&self.owners);
        let tasks = std::mem::take(&mut owners.tasks).into_iter();
        let (kept, over): (BTreeMap<_, _>, BTreeMap<_, _>) =
            tasks.partition(|(range, _)| ranges.contains(range));
        owners.tasks = kept;
        drop(owners);
        over.values().for_each(|handle| drop(handle.commands.send(OwnerCommand::Stop(None))));
        self.handles()
            .iter()
            .for_each(|handle| drop(handle.commands.send(OwnerCommand::Table(table.clone()))));
    }

    /// The next tenure of each range here takes over no entries that another process left in the cache server. Returns the channels
    /// of owners that were already running, which have to be asked for that.
    pub(crate) fn begin_cold(&self) -> Vec<mpsc::UnboundedSender<OwnerCommand>> {
        self.begins_cold.store(true, Ordering::SeqCst);
        self.all_commands()
    }

    /// The channels of all owner tasks.
    fn all_commands(&self) -> Vec<mpsc::UnboundedSender<OwnerCommand>> {
        self.handles().iter().map(|handle| handle.commands.clone()).collect()
    }

    pub(super) fn handles(&self) -> Vec<Arc<OwnerHandle>> {
        locked(&self.owners).tasks.values().cloned().collect()
    }

    /// The owner task of a range, started at its first use.
    pub(super) fn handle(&self, range: RangeId) -> Result<Arc<OwnerHandle>> {
        let mut owners = locked(&self.owners);
        let table = self.table();
        if owners.is_closed {
            return Err(cache_stopped());
        }
        Ok(owners.tasks.entry(range).or_insert_with(|| (self.new_owner)(range, table)).clone())
    }

    /// The owner task of a range, if there is one, even while it stops.
    fn running(&self, range: RangeId) -> Option<Arc<OwnerHandle>> {
        locked(&self.owners).tasks.get(&range).cloned()
    }

    /// Whether a range is served here at this moment.
    pub(super) fn serves(&self, range: RangeId) -> bool {
        self.running(range).is_some_and(|handle| handle.route.at(self.now_ms()).is_some())
    }

    pub(super) async fn place(&self, range: RangeId) -> Place {
        if self.serves(range) {
            return Place::Here;
        }
        let now = self.now_ms();
        if let Some((place, until)) = locked(&self.known).get(&range)
            && now < *until
        {
            return place.clone();
        }
        let place = match self.membership.directory.address(range).await {
            Ok(Some(address)) if address != self.membership.address => Place::At(address),
            _ => Place::Here,
        };
        locked(&self.known).insert(range, (place.clone(), now + KNOWN_MS));
        place
    }

    /// The known owner did not answer: the next request for the range tries to claim it.
    pub(super) fn doubt(&self, range: RangeId) {
        locked(&self.known).insert(range, (Place::Here, self.now_ms() + KNOWN_MS));
    }

    /// The range could not be claimed: the directory is asked anew for its owner.
    pub(super) fn ask_again(&self, range: RangeId) {
        locked(&self.known).remove(&range);
    }

    /// The load of the owners here since the last call.
    pub(super) async fn loads(&self) -> Vec<(RangeId, RangeLoad)> {
        let mut loads = Vec::new();
        for handle in self.handles().into_iter().filter(|handle| self.serves(handle.range)) {
            let (reply, answer) = oneshot::channel();
            drop(handle.commands.send(OwnerCommand::Load(reply)));
            loads.extend(answer.await.ok().map(|load| (handle.range, load)));
        }
        loads
    }

    /// Claims a range without a request for it.
    pub(super) fn claim(&self, range: RangeId) {
        // A closed dendrite claims nothing.
        if !self.serves(range)
            && let Ok(handle) = self.handle(range)
        {
            debug!(range = range.0, "a range without an owner is claimed");
            drop(handle.commands.send(OwnerCommand::Claim));
        }
    }

    /// Drains a range and gives it back.
    pub(super) fn leave(&self, range: RangeId) {
        self.running(range).into_iter().for_each(|handle| drop(handle.commands.send(OwnerCommand::Leave)));
    }

    pub(super) fn is_closed(&self) -> bool {
        locked(&self.owners).is_closed
    }

    /// Closes the dendrite to requests and new owner tasks; returns the tasks that are running.
    pub(super) fn close(&self) -> Vec<Arc<OwnerHandle>> {
        let mut owners = locked(&self.owners);
        owners.is_closed = true;
        owners.tasks.values().cloned().collect()
    }

    pub(super) async fn peer_here(
        &self,
        range: RangeId,
        peer: PeerId,
        call: CallId,
        what: PeerCall,
    ) -> Result<PeerReply> {
        if !self.table().ranges().contains(&range) {
            return Ok(PeerReply::Refused);
        }
        let (reply, answer) = oneshot::channel();
        // An owner that stops waits for the end of a lease; a range that is not here need not be claimed for it.
        let handle = if what.is_about_a_held_lease() {
            self.running(range).ok_or_else(cache_stopped)?
        } else {
            self.handle(range)?
        };
        handle.commands.send(OwnerCommand::Peer(peer, call, what, reply)).map_err(|_| cache_stopped())?;
        answer.await.map_err(|_| cache_stopped())
    }

    async fn peer(&self, range: RangeId, peer: PeerId, call: CallId, what: PeerCall) -> Result<PeerReply> {
        let address = match self.place(range).await {
            Place::Here => {
                let reply = self.peer_here(range, peer, call, what).await;
                if !matches!(reply, Ok(PeerReply::Held(_) | PeerReply::Released)) {
                    self.ask_again(range);
                }
                return reply;
            }
            Place::At(address) => address,
        };
        let reply = self.membership.transport.peer(&address, range, peer, call, what).await;
        if !matches!(reply, Ok(PeerReply::Held(_) | PeerReply::Released)) {
            self.doubt(range);
        }
        reply
    }
}

/// Carries the calls of owner tasks to the owners of other ranges.
#[derive(Debug)]
struct Through(Weak<DendriteState>);

impl Peers for Through {
    fn call(&self, range: RangeId, peer: PeerId, call: CallId, what: PeerCall) -> Reply<'_, PeerReply> {
        Box::pin(async move {
            let state = self.0.upgrade().ok_or_else(cache_stopped)?;
            state.peer(range, peer, call, what).await
        })
    }
}
