//! What a dendrite knows: its seats, the range table, and where other owners are.

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

use super::{Around, KNOWN_MS};
use crate::owner::counters::Counters;
use crate::owner::desk::{Desk, Heard, Peers};
use crate::owner::error::stopped;
use crate::owner::range_cache::NOTICES;
use crate::owner::route::RouteCell;
use crate::owner::sample::Sample;
use crate::owner::seat::{Claims, Seat};
use crate::owner::servers::Servers;

/// Who is to be asked about a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The seat here, which may have to claim it first.
    Here,
    /// The dendrite at an address.
    At(String),
}

type NewSeat = Box<dyn Fn(RangeId, Arc<RangeTable>) -> Arc<Desk> + Send + Sync>;

pub(crate) struct House {
    pub(super) servers: Servers,
    pub(super) around: Around,
    pub(super) counters: Arc<Counters>,
    pub(super) notices: broadcast::Sender<Notice>,
    pub(super) verified: Arc<Sample>,
    /// Whether what other processes left in the cache server may be wrong.
    begins_cold: Arc<AtomicBool>,
    table: RwLock<Arc<RangeTable>>,
    new_seat: NewSeat,
    /// `None` once it was closed.
    seats: Mutex<Option<BTreeMap<RangeId, Arc<Desk>>>>,
    /// Where owners are said to be, and until when that is believed.
    known: Mutex<BTreeMap<RangeId, (Place, u64)>>,
}

impl fmt::Debug for House {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("House")
            .field("around", &self.around)
            .field("seats", &self.seats)
            .finish_non_exhaustive()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        for desk in self.close() {
            drop(desk.mouth.send(Heard::Stop(None)));
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl House {
    pub(super) fn new<A: Application + Clone + Send + Sync + 'static>(
        me: Weak<Self>,
        servers: Servers,
        around: Around,
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
        let new_seat = move |range, table| {
            let (mouth, ears) = mpsc::unbounded_channel();
            let desk = Arc::new(Desk {
                servers: shared.clone(),
                range,
                peers: Arc::new(Through(me.clone())),
                route: RouteCell::default(),
                counters: shared_counters.clone(),
                unseen: AtomicU64::default(),
                untold: AtomicU64::default(),
                verified: shared_verified.clone(),
                mouth,
                notices: shared_notices.clone(),
            });
            let config = Config { range, table: Some(table), ..config.clone() };
            let (application, is_cold) = (application.clone(), shared_begins_cold.load(Ordering::SeqCst));
            tokio::spawn(Seat::new(desk.clone(), ears, config, application, Claims::OnDemand, is_cold).run());
            desk
        };
        let (seats, known) = (Mutex::new(Some(BTreeMap::new())), Mutex::default());
        let (new_seat, table) = (Box::new(new_seat), RwLock::new(table));
        Self { servers, around, counters, notices, verified, begins_cold, table, new_seat, seats, known }
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.servers.clock.now_ms()
    }

    pub(super) fn table(&self) -> Arc<RangeTable> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes a newer table, and tells the seats.
    pub(super) fn take_table(&self, table: &Arc<RangeTable>) {
        let mut known = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if known.version() < table.version() {
            *known = table.clone();
            drop(known);
            locked(&self.known).clear();
            self.desks().iter().for_each(|desk| drop(desk.mouth.send(Heard::Table(table.clone()))));
        }
    }

    /// From now on no range takes over what another process left in the cache server. Returns where owners hear who were there before.
    pub(crate) fn begin_cold(&self) -> Vec<mpsc::UnboundedSender<Heard>> {
        self.begins_cold.store(true, Ordering::SeqCst);
        self.mouths()
    }

    /// Where owners hear.
    fn mouths(&self) -> Vec<mpsc::UnboundedSender<Heard>> {
        self.desks().iter().map(|desk| desk.mouth.clone()).collect()
    }

    pub(super) fn desks(&self) -> Vec<Arc<Desk>> {
        locked(&self.seats).iter().flat_map(BTreeMap::values).cloned().collect()
    }

    /// The seat of a range, which is made when it is first needed.
    pub(super) fn desk(&self, range: RangeId) -> Result<Arc<Desk>> {
        let table = self.table();
        let mut seats = locked(&self.seats);
        let seats = seats.as_mut().ok_or_else(stopped)?;
        Ok(seats.entry(range).or_insert_with(|| (self.new_seat)(range, table)).clone())
    }

    /// Whether a range is served here at this moment.
    pub(super) fn serves(&self, range: RangeId) -> bool {
        let desk = locked(&self.seats).as_ref().and_then(|seats| seats.get(&range).cloned());
        desk.is_some_and(|desk| desk.route.at(self.now_ms()).is_some())
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
        let place = match self.around.directory.address(range).await {
            Ok(Some(address)) if address != self.around.address => Place::At(address),
            _ => Place::Here,
        };
        locked(&self.known).insert(range, (place.clone(), now + KNOWN_MS));
        place
    }

    /// The owner that is known did not answer: the next who asks about the range tries to claim it.
    pub(super) fn doubt(&self, range: RangeId) {
        locked(&self.known).insert(range, (Place::Here, self.now_ms() + KNOWN_MS));
    }

    /// The range could not be claimed: the directory knows more.
    pub(super) fn ask_again(&self, range: RangeId) {
        locked(&self.known).remove(&range);
    }

    /// What was asked of the owners here since this was last called.
    pub(super) async fn loads(&self) -> Vec<(RangeId, RangeLoad)> {
        let mut loads = Vec::new();
        for desk in self.desks().into_iter().filter(|desk| self.serves(desk.range)) {
            let (reply, answer) = oneshot::channel();
            drop(desk.mouth.send(Heard::Load(reply)));
            loads.extend(answer.await.ok().map(|load| (desk.range, load)));
        }
        loads
    }

    /// Has a range claimed that nobody asks for here.
    pub(super) fn claim(&self, range: RangeId) {
        // A house that is closed claims nothing.
        if !self.serves(range)
            && let Ok(desk) = self.desk(range)
        {
            drop(desk.mouth.send(Heard::Claim));
        }
    }

    /// Drains a range and gives it back.
    pub(super) fn leave(&self, range: RangeId) {
        let desk = self.desks().into_iter().find(|desk| desk.range == range);
        desk.into_iter().for_each(|desk| drop(desk.mouth.send(Heard::Leave)));
    }

    pub(super) fn is_closed(&self) -> bool {
        locked(&self.seats).is_none()
    }

    /// From now on there are no seats; returns those that were.
    pub(super) fn close(&self) -> Vec<Arc<Desk>> {
        locked(&self.seats).take().into_iter().flat_map(BTreeMap::into_values).collect()
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
        self.desk(range)?.mouth.send(Heard::Peer(peer, call, what, reply)).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())
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
        let reply = self.around.neighbours.peer(&address, range, peer, call, what).await;
        if !matches!(reply, Ok(PeerReply::Held(_) | PeerReply::Released)) {
            self.doubt(range);
        }
        reply
    }
}

/// The way from a seat to the owners of other ranges.
#[derive(Debug)]
struct Through(Weak<House>);

impl Peers for Through {
    fn call(&self, range: RangeId, peer: PeerId, call: CallId, what: PeerCall) -> Reply<'_, PeerReply> {
        Box::pin(async move {
            let house = self.0.upgrade().ok_or_else(stopped)?;
            house.peer(range, peer, call, what).await
        })
    }
}
