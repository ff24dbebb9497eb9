//! Dendrites and clients, a host each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lacuna_cache::cluster::{Dendrite, Membership};
use lacuna_cache::cluster::{Net, Secret, Server};
use lacuna_cache::{Counts, Servers};
use lacuna_cache_protocol::ports::LogServer;
use lacuna_cache_protocol::{Config, Policy, Query};
use lacuna_workload::Rng;
use turmoil::{Builder, Sim};

use crate::sim::history::{Checker, Moment};
use crate::sim::store::Store;
use crate::sim::table::{Change, Table, closed, decode};
use crate::simulation::clients::{COLLECTION, Journal, SimulatedClient, connected};
use crate::simulation::servers::{KEYS, LogWay, SharedServers, Way};
use crate::simulation::weather::Weather;
use crate::simulation::wires::{Ear, PORT, SimulatedClock, Wires, now};

const DENDRITES: usize = 3;
const CLIENTS: usize = 4;
/// How long clients work and hosts break.
const WORK: Duration = Duration::from_secs(12);
/// When everything has been carried out at the latest.
const REST: Duration = Duration::from_secs(120);

/// What a run came to.
pub(crate) struct Ended {
    pub(crate) checked: Result<(), String>,
    pub(crate) reads: u64,
    pub(crate) hits: u64,
    pub(crate) done: u64,
    pub(crate) unknown: u64,
    pub(crate) faults: BTreeMap<&'static str, u64>,
}

/// Dendrites of one collection.
pub(crate) struct SimulatedCluster {
    seed: u64,
    policy: Policy,
    servers: Arc<SharedServers>,
    journal: Arc<Mutex<Journal>>,
    hits: Arc<Mutex<u64>>,
    takes_silence_for_no: bool,
}

fn secret() -> Secret {
    Secret::new(b"what all hosts of the simulation know").unwrap()
}

fn names(kind: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{kind}{number}")).collect()
}

fn addresses() -> Vec<String> {
    names("dendrite", DENDRITES).iter().map(|name| format!("{name}:{PORT}")).collect()
}

impl SimulatedCluster {
    pub(crate) fn new(seed: u64, policy: Policy) -> Self {
        let mut store = Store::new(None, policy == Policy::WriteBack);
        let mut journal = Journal::default();
        for key in 0..KEYS {
            let id = u32::try_from(key).unwrap() + 1;
            journal.history.push(Moment::WriteBegan(id));
            store.write(&Change::Put { key, other: key % 5 }.write(id, false).command);
        }
        let log_count = if policy == Policy::WriteBack { 2 } else { 0 };
        let servers = SharedServers::new(seed, store, log_count);
        let journal = Arc::new(Mutex::new(journal));
        Self { seed, policy, servers, journal, hits: Arc::default(), takes_silence_for_no: false }
    }

    /// With clients that are wrong.
    pub(crate) fn whose_clients_take_silence_for_no(mut self) -> Self {
        self.takes_silence_for_no = true;
        self
    }

    fn build<'a>(&self) -> Sim<'a> {
        let mut builder = Builder::new();
        builder
            .rng_seed(self.seed)
            .simulation_duration(REST)
            .tick_duration(Duration::from_millis(2))
            .min_message_latency(Duration::from_millis(1))
            .max_message_latency(Duration::from_millis(20))
            .tcp_capacity(4_096);
        let mut sim = builder.build();
        for name in names("dendrite", DENDRITES) {
            let house = House {
                way: Way { servers: self.servers.clone(), address: format!("{name}:{PORT}") },
                policy: self.policy,
                // In every other run clients of the owner's process put results together themselves.
                beta: if self.seed.is_multiple_of(2) { 0 } else { 100 },
                hits: self.hits.clone(),
            };
            sim.host(name, move || house.clone().live());
        }
        sim
    }

    /// Clients work while everything breaks; then it mends, comes to rest, and is looked at.
    pub(crate) fn live(&self) -> Ended {
        let mut sim = self.build();
        for (number, name) in (0..).zip(names("client", CLIENTS)) {
            let client = SimulatedClient {
                journal: self.journal.clone(),
                rng: Rng::with_stream(self.seed, 100 + number),
                takes_silence_for_no: self.takes_silence_for_no,
            };
            sim.client(name, async move {
                client.live(connected(&addresses(), &secret()).await, WORK).await;
                Ok(())
            });
        }
        let servers = self.servers.clone();
        sim.client("auditor", async move {
            tokio::time::sleep(WORK).await;
            come_to_rest(&servers).await;
            Ok(())
        });
        let rng = Rng::with_stream(self.seed, 2);
        let mut weather = Weather::new(rng, names("dendrite", DENDRITES), &names("client", CLIENTS));
        while !sim.step().unwrap() {
            let is_over = sim.elapsed() >= WORK;
            weather.pass(&mut sim, is_over);
        }
        drop(sim);
        self.ended(weather)
    }

    fn ended(&self, weather: Weather) -> Ended {
        let (store, journal) = (self.servers.store.lock().unwrap(), self.journal.lock().unwrap());
        let mut checker = Checker::new(&store, KEYS, self.policy != Policy::WriteBack);
        let mut faults = weather.faults;
        *faults.entry("calls to servers lost or late").or_default() +=
            *self.servers.lost_calls.lock().unwrap();
        Ended {
            checked: checker.check(&journal.history),
            reads: journal.reads,
            hits: *self.hits.lock().unwrap(),
            done: journal.done,
            unknown: journal.unknown,
            faults,
        }
    }

    /// How long after a partition that all connections of a client were in until it is answered again.
    pub(crate) fn is_answered_after_a_partition(&self) -> Duration {
        let took = Arc::new(Mutex::new(Duration::MAX));
        let (mut sim, said) = (self.build(), took.clone());
        sim.client("client0", async move {
            let client = connected(&addresses(), &secret()).await;
            let query = Query::all(0, closed(0, 3));
            while client.get(&query).await.is_err() {}
            turmoil::partition("client0", turmoil::lookup("dendrite0"));
            turmoil::partition("client0", turmoil::lookup("dendrite1"));
            turmoil::partition("client0", turmoil::lookup("dendrite2"));
            assert!(client.get(&query).await.is_err(), "nobody can be reached");
            names("dendrite", DENDRITES).iter().for_each(|name| turmoil::repair("client0", name.as_str()));
            let begun = now();
            while client.get(&query).await.is_err() {}
            *said.lock().unwrap() = now() - begun;
            Ok(())
        });
        sim.run().unwrap();
        *took.lock().unwrap()
    }
}

/// Until what was acknowledged is what the store has: a client is shown no more than that.
async fn come_to_rest(servers: &SharedServers) {
    let (client, all) = (connected(&addresses(), &secret()).await, Query::all(0, closed(0, KEYS - 1)));
    let mut times_alike = 0;
    while times_alike < 5 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let Ok(shown) = client.get(&all).await else { continue };
        let is_alike = decode(&shown) == servers.store.lock().unwrap().fresh(&all);
        times_alike = if is_alike { times_alike + 1 } else { 0 };
    }
}

/// A dendrite and what it stands before.
#[derive(Debug, Clone)]
struct House {
    way: Way,
    policy: Policy,
    beta: u8,
    hits: Arc<Mutex<u64>>,
}

impl House {
    /// Until the host crashes.
    async fn live(self) -> turmoil::Result {
        let way = Arc::new(self.way.clone());
        let logs = if self.policy == Policy::WriteBack { 2 } else { 0 };
        let log = |place| Arc::new(LogWay(way.servers.clone(), place)) as Arc<dyn LogServer>;
        let servers = Servers {
            caches: vec![way.clone()],
            store: way.clone(),
            logs: (0..logs).map(log).collect(),
            coordinator: way.clone(),
            clock: Arc::new(SimulatedClock),
        };
        let transport = Arc::new(Net::over(Wires, secret(), COLLECTION));
        let membership = Membership { directory: way.clone(), transport, address: way.address.clone() };
        let config = Config {
            beta: self.beta,
            log_count: logs,
            call_timeout: 300,
            attempts: 4,
            write_through_for: 500,
            peer_timeout: 4_000,
            request_timeout: 1_500,
            keeps_log: true,
            ..Config::new(self.policy)
        };
        // A dendrite that the directory does not answer ends, and is started again, as operators have it.
        let dendrite = loop {
            let started =
                Dendrite::start(servers.clone(), membership.clone(), config.clone(), Table::default());
            match started.await {
                Ok(dendrite) => break dendrite,
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        };
        let server = Server::start(Ear::open().await?, [(COLLECTION, dendrite)], secret());
        let mut before = Counts::default();
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let counts = server.dendrites()[COLLECTION].counts();
            *self.hits.lock().unwrap() += counts.hits - before.hits;
            before = counts;
        }
    }
}
