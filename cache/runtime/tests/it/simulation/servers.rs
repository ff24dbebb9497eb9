//! What dendrites stand before: a store, a cache server, logs and a coordinator in memory, which answer late or not at all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use lacuna_cache_protocol::ports::{
    self, Answer, Clock as _, Coordinator, DataStore, Directory, Reply, Seen, SeenTogether, Tenure,
};
use lacuna_cache_protocol::{
    CacheCall, CacheModel, CacheReply, Cut, Epoch, LogCall, LogReply, Query, RangeId, RangeTable, StoreCall,
};
use lacuna_cache_protocol::{Error, Result};
use lacuna_workload::Rng;

use crate::sim::store::{LogServer, Store};
use crate::simulation::wires::SimulatedClock;

/// Keys of the collection.
pub(crate) const KEYS: u64 = 16;
/// Those below are in range 0, the others in range 1.
pub(crate) const CUT: u64 = 8;
/// How long a tenure holds for its owner, and for others.
const LEASE_MS: u64 = 800;
const TTL_MS: u64 = 1_000;
/// Of so many calls, one goes wrong.
const SELDOM: u64 = 150;

/// Everything behind the dendrites; it does not die with any of them.
#[derive(Debug)]
pub(crate) struct SharedServers {
    pub(crate) store: Mutex<Store>,
    cache: Mutex<CacheModel>,
    logs: Vec<Mutex<LogServer>>,
    leases: Mutex<Leases>,
    rng: Mutex<Rng>,
    largest: Mutex<Epoch>,
    pub(crate) lost_calls: Mutex<u64>,
}

#[derive(Debug)]
struct Leases {
    next: u64,
    held: BTreeMap<RangeId, Held>,
    table: Arc<RangeTable>,
}

#[derive(Debug)]
struct Held {
    epoch: Epoch,
    address: String,
    until_ms: u64,
}

/// What becomes of a call.
enum Fate {
    Answered,
    /// It is carried out, and nobody hears of it.
    Lost,
    /// The caller hears that nobody knows; it is carried out a while later.
    Late(Duration),
}

impl SharedServers {
    pub(crate) fn new(seed: u64, store: Store, log_count: usize) -> Arc<Self> {
        let table = RangeTable::new(1).split(0, Cut::Before(CUT.into())).unwrap();
        let leases = Leases { next: 1, held: BTreeMap::new(), table: Arc::new(table) };
        Arc::new(Self {
            store: Mutex::new(store),
            cache: Mutex::new(CacheModel::new(40)),
            logs: (0..log_count).map(|_| Mutex::default()).collect(),
            leases: Mutex::new(leases),
            rng: Mutex::new(Rng::with_stream(seed, 1)),
            largest: Mutex::new(Epoch(0)),
            lost_calls: Mutex::new(0),
        })
    }

    fn fate(&self) -> (Duration, Fate) {
        let mut rng = self.rng.lock().unwrap();
        let way = Duration::from_micros(100 + rng.below(3_000));
        let fate = match rng.below(SELDOM) {
            0 => Fate::Lost,
            1 => Fate::Late(Duration::from_millis(200 + rng.below(3_000))),
            _ => Fate::Answered,
        };
        if !matches!(fate, Fate::Answered) {
            *self.lost_calls.lock().unwrap() += 1;
        }
        (way, fate)
    }

    /// Carries out a call, after a while; says what came of it, after another.
    async fn carry<T: Send + 'static>(
        self: Arc<Self>,
        what: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T> {
        let unknown = || Error::unavailable("nobody answered");
        let (way, fate) = self.fate();
        tokio::time::sleep(way).await;
        match fate {
            Fate::Answered => {
                let answer = what(&self);
                tokio::time::sleep(way).await;
                Ok(answer)
            }
            Fate::Lost => {
                drop(what(&self));
                Err(unknown())
            }
            Fate::Late(late) => {
                tokio::spawn(async move {
                    tokio::time::sleep(late).await;
                    drop(what(&self));
                });
                Err(unknown())
            }
        }
    }

    fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock().unwrap()
    }
}

/// The way of a dendrite to all this.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) servers: Arc<SharedServers>,
    /// Of the dendrite.
    pub(crate) address: String,
}

impl ports::CacheServer for Way {
    fn get<'a>(&'a self, range: RangeId, _: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>> {
        let query = query.clone();
        Box::pin(self.servers.clone().carry(move |servers| {
            let found = servers.cache.lock().unwrap().get(range, &query);
            found.map(|(fence, value)| Seen { fence, value })
        }))
    }

    fn get_together<'a>(
        &'a self,
        range: RangeId,
        _: Epoch,
        queries: &'a [Query],
    ) -> Reply<'a, Option<SeenTogether>> {
        let queries = queries.to_vec();
        Box::pin(self.servers.clone().carry(move |servers| {
            let found = servers.cache.lock().unwrap().get_together(range, &queries);
            found.map(|(fence, values)| SeenTogether { fence, values })
        }))
    }

    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply> {
        let run = move |servers: &SharedServers| servers.cache.lock().unwrap().call(range, epoch, &call);
        Box::pin(self.servers.clone().carry(run))
    }
}

impl DataStore for Way {
    fn call(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Reply<'_, Answer> {
        Box::pin(self.servers.clone().carry(move |servers| {
            if matches!(call, StoreCall::Fence) {
                let mut largest = servers.largest.lock().unwrap();
                *largest = (*largest).max(epoch);
            }
            Answer::from(servers.store.lock().unwrap().call(range, epoch, &call, false))
        }))
    }

    fn largest_epoch(&self) -> Reply<'_, Epoch> {
        Box::pin(self.servers.clone().carry(|servers| *servers.largest.lock().unwrap()))
    }
}

/// The way to one of the logs.
#[derive(Debug)]
pub(crate) struct LogWay(pub(crate) Arc<SharedServers>, pub(crate) usize);

impl ports::LogServer for LogWay {
    fn call(&self, range: RangeId, epoch: Epoch, call: LogCall) -> Reply<'_, LogReply> {
        let log = self.1;
        let run = move |servers: &SharedServers| servers.logs[log].lock().unwrap().call(range, epoch, &call);
        Box::pin(self.0.clone().carry(run))
    }
}

impl Coordinator for Way {
    fn claim(&self, range: RangeId, _: Option<usize>) -> Reply<'_, Option<Tenure>> {
        let address = self.address.clone();
        Box::pin(self.servers.clone().carry(move |servers| servers.leases().claim(range, address)))
    }

    fn renew(&self, range: RangeId, epoch: Epoch) -> Reply<'_, bool> {
        Box::pin(self.servers.clone().carry(move |servers| servers.leases().renew(range, epoch)))
    }

    fn release(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        Box::pin(self.servers.clone().carry(move |servers| servers.leases().release(range, epoch)))
    }
}

impl Leases {
    fn claim(&mut self, range: RangeId, address: String) -> Option<Tenure> {
        let now = SimulatedClock.now_ms();
        let before = self.held.get(&range);
        if before.is_some_and(|held| held.until_ms > now && held.address != address) {
            return None;
        }
        let before = before.map(|held| held.epoch);
        self.next += 1;
        let epoch = Epoch(self.next);
        self.held.insert(range, Held { epoch, address, until_ms: now + TTL_MS });
        Some(Tenure { epoch, cache: 0, serve_after_ms: 0, before, lease_ms: Some(LEASE_MS), table: None })
    }

    fn renew(&mut self, range: RangeId, epoch: Epoch) -> bool {
        let until_ms = SimulatedClock.now_ms() + TTL_MS;
        let held = self.held.get_mut(&range).filter(|held| held.epoch == epoch);
        held.map(|held| held.until_ms = held.until_ms.max(until_ms)).is_some()
    }

    fn release(&mut self, range: RangeId, epoch: Epoch) {
        let held = self.held.get_mut(&range).filter(|held| held.epoch == epoch);
        held.into_iter().for_each(|held| held.until_ms = 0);
    }
}

impl Directory for Way {
    fn table(&self) -> Reply<'_, Arc<RangeTable>> {
        Box::pin(self.servers.clone().carry(|servers| servers.leases().table.clone()))
    }

    fn address(&self, range: RangeId) -> Reply<'_, Option<String>> {
        Box::pin(self.servers.clone().carry(move |servers| {
            let (now, leases) = (SimulatedClock.now_ms(), servers.leases());
            leases.held.get(&range).filter(|held| held.until_ms > now).map(|held| held.address.clone())
        }))
    }
}
