//! Clients at work while everything between them and the rows breaks: dendrites are killed, paused beyond their lease and cut
//! off; in a long run cache servers, logs, leases and connections of the database, too.
//!
//! A long run reads a million times for each policy, over PostgreSQL, Redis and etcd, and counts only if each fault struck a
//! hundred times and reads were hits, misses and behind writes as often as the issue of this cache asks for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lacuna_cache::sql::Cache;
use lacuna_cache_protocol::Policy;
use lacuna_testkit::effort;
use lacuna_testkit::servers::free_port;

use crate::nemesis::{CacheFault, Faults, break_log, cut_connections};
use crate::relay::{Mood, Relay};
use crate::team::{Ended, Leases, Process, Team};
use crate::world::{Dialect, KEYS, World, make_tables, patient, schema};

/// How long clients wait for what is broken.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much is done, and to what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Storm {
    pub(crate) clients: u64,
    /// Clients go on until they have read so much, however slow the machine is.
    pub(crate) min_reads: u64,
    /// How often each fault strikes at least.
    pub(crate) min_of_each: u64,
    /// Seconds, with etcd; as dendrites have it, if it is not said.
    pub(crate) lease_s: Option<u64>,
    /// Longer than others wait before they take the ranges of a dendrite that says nothing.
    pub(crate) pause: Duration,
    /// Between two rounds of faults, and before their first.
    pub(crate) calm: Duration,
    /// Whether servers break, too.
    pub(crate) breaks_servers: bool,
}

/// Dendrites are cut off, paused and killed.
pub(crate) const SHORT: Storm = Storm {
    clients: 8,
    min_reads: 4_000,
    min_of_each: 1,
    lease_s: None,
    pause: Duration::from_millis(6_500),
    calm: Duration::from_millis(1_100),
    breaks_servers: false,
};

/// And so is everything else.
pub(crate) const MILLION: Storm = Storm {
    clients: 16,
    min_reads: 1_000_000,
    min_of_each: 100,
    lease_s: Some(3),
    pause: Duration::from_millis(4_000),
    calm: Duration::from_millis(600),
    breaks_servers: true,
};

/// All ranges are asked for before anything is broken, so that they have spread over the dendrites by then.
async fn own_a_range_each(team: &Team, cache: &Cache, addresses: &[String]) {
    for (address, place) in addresses.iter().zip([5_i64, 20, 35]) {
        let client = Arc::new(team.client(std::slice::from_ref(address)).await);
        let table = cache.table_over(schema(), client).await.unwrap();
        assert!(table.get("place", place..=place).await.unwrap().is_empty());
    }
}

/// Of a hundred requests, how many are reads: under write-around each write makes misses, under the others few do.
const fn read_percent(policy: Policy) -> u64 {
    if matches!(policy, Policy::WriteAround) { 97 } else { 94 }
}

/// Clients work until it is over. In a long run three of four stay among the keys of one range as it was cut at first, so that
/// they go on while the other ranges have no owner.
fn work(
    world: &Arc<World>,
    storm: Storm,
    policy: Policy,
    is_over: &Arc<AtomicBool>,
) -> tokio::task::JoinSet<()> {
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..storm.clients {
        let (world, is_over) = (world.clone(), is_over.clone());
        let homes = [0..KEYS, 0..12, 12..28, 28..KEYS];
        let home = homes[if storm.breaks_servers { usize::try_from(client % 4).unwrap() } else { 0 }].clone();
        let mut rng = effort::rng(700 + client);
        clients.spawn(async move {
            while !is_over.load(Ordering::Relaxed) || world.table.counts().reads < storm.min_reads {
                world.client_among(&mut rng, 20, read_percent(policy), home.clone()).await;
            }
        });
    }
    clients
}

/// Everything that can be broken.
pub(crate) struct Target {
    pub(crate) team: Team,
    pub(crate) dendrites: Vec<Process>,
    /// Before the first dendrite.
    relay: Relay,
    pub(crate) faults: Faults,
    round: usize,
}

impl Target {
    /// Three dendrites, the first of which others reach through a relay.
    pub(crate) async fn start(team: Team) -> Self {
        let port = free_port();
        let relay = Relay::to(&format!("127.0.0.1:{port}")).await;
        let dendrites = vec![
            team.start(port, Some(relay.address.clone())),
            team.start_somewhere(),
            team.start_somewhere(),
        ];
        Self { team, dendrites, relay, faults: Faults::default(), round: 0 }
    }

    /// Faults of each kind; the third dendrite is gone and the second is paused meanwhile.
    pub(crate) async fn strike(&mut self, storm: Storm) {
        tokio::time::sleep(storm.calm).await;
        self.cut_lines().await;
        if storm.breaks_servers {
            cut_connections(&self.team.store.url(), &self.faults).await;
        }
        self.dendrites[1].signal("STOP");
        let paused = Instant::now();
        self.dendrites[2].kill();
        self.faults.note("dendrite killed", 1);
        if storm.breaks_servers {
            self.break_servers().await;
        }
        tokio::time::sleep(storm.pause.saturating_sub(paused.elapsed())).await;
        self.dendrites[1].signal("CONT");
        self.faults.note("dendrite paused beyond its lease", 1);
        self.dendrites[2] = tokio::task::block_in_place(|| self.team.start_again(&self.dendrites[2]));
        tokio::time::sleep(storm.calm).await;
        self.round += 1;
    }

    async fn cut_lines(&self) {
        for _ in 0..3 {
            self.relay.set(Mood::Cut);
            tokio::time::sleep(Duration::from_millis(30)).await;
            self.relay.set(Mood::Passing);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        self.faults.note("sockets cut", 3);
    }

    async fn break_servers(&mut self) {
        for fault in CacheFault::ALL {
            let place = self.round % self.team.caches.len();
            fault.strike(&mut self.team.caches[place], &self.faults).await;
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        if !self.team.logs.is_empty() {
            let place = self.round % self.team.logs.len();
            break_log(&mut self.team.logs[place], &self.faults).await;
        }
        if let Some(etcd) = &self.team.etcd {
            self.faults.note("lease revoked", u64::from(etcd.revoke_lease(self.round)));
        }
    }

    pub(crate) fn kinds(&self, storm: Storm) -> usize {
        let of_servers = CacheFault::ALL.len() + 1;
        let of_logs = if self.team.logs.is_empty() { 0 } else { 2 };
        3 + if storm.breaks_servers {
            of_servers + of_logs + usize::from(self.team.etcd.is_some())
        } else {
            0
        }
    }

    pub(crate) fn stop(&mut self) -> Vec<Ended> {
        self.dendrites.iter_mut().map(|dendrite| tokio::task::block_in_place(|| dendrite.stop())).collect()
    }
}

async fn clients_see_nothing_stale(policy: Policy, leases: Leases, storm: Storm) {
    let Some(team) = Team::with_lease(policy, leases, storm.lease_s) else { return };
    let options = patient(team.store.url());
    let cache = options.clone().open().await.unwrap();
    make_tables(&cache, Dialect::Postgres).await;
    let mut target = Target::start(team).await;
    let addresses: Vec<String> = target.dendrites.iter().map(Process::address).collect();
    own_a_range_each(&target.team, &cache, &addresses).await;
    let client = target.team.client(&addresses).await.with_patience(PATIENCE);
    let table = cache.table_over(schema(), Arc::new(client)).await.unwrap();
    let world = World::over(cache, table, Dialect::Postgres);
    let (begun, is_over) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    let mut clients = work(&world, storm, policy, &is_over);
    let kinds = target.kinds(storm);
    while target.faults.rarest(kinds) < storm.min_of_each || world.table.counts().reads < storm.min_reads {
        target.strike(storm).await;
    }
    is_over.store(true, Ordering::Relaxed);
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let worked = begun.elapsed();
    world.cached_is_fresh().await;
    let ended = target.stop();
    let seen = world.table.counts();
    println!(
        "{policy:?}, {leases:?}, {worked:.0?}, {:?}: {} unknown, {seen:?}: {ended:#?}",
        target.faults,
        world.unknown.load(Ordering::Relaxed)
    );
    assert!(ended.iter().all(|ended| ended.code == Some(0)), "{ended:?}");
    means_something(&world, storm, &ended);
    world.cache.stop().await.unwrap();
    world.check(options).await;
    println!("{policy:?}, {leases:?}: no anomaly in {} reads", seen.reads);
}

/// Whoever was killed took its counts with it; its ranges are others' since.
fn means_something(world: &World, storm: Storm, ended: &[Ended]) {
    let sum = |name: &str| ended.iter().map(|ended| ended.counts[name].as_u64().unwrap()).sum::<u64>();
    let (reads, hits, tenures) = (sum("reads"), sum("hits"), sum("tenures"));
    assert!(reads > storm.min_reads / 4, "{reads} reads are known of");
    assert!(sum("peer_calls") > 0 && tenures >= 3, "{ended:?}");
    if storm.breaks_servers {
        return world.means_something(reads, hits);
    }
    assert!(hits * 4 >= reads, "reads are hits: {hits} of {reads}");
    assert!((reads - hits) * 10 >= reads, "and a tenth are not: {hits} of {reads}");
    // Each may miss once a tenure without any write: of those there are enough, too.
    let writes = sum("writes");
    assert!(writes * 50 >= reads, "one of fifty is a write: {writes} beside {reads}");
}

/// In a short run dendrites break, in a long one everything.
fn short_or_million() -> Storm {
    effort::short_or_long(SHORT, MILLION)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_dendrites_show_nothing_stale_under_write_through() {
    clients_see_nothing_stale(Policy::WriteThrough, Leases::Etcd, short_or_million()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_dendrites_show_nothing_stale_under_write_back() {
    let storm = Storm { min_of_each: effort::short_or_long(1, 20), ..SHORT };
    clients_see_nothing_stale(Policy::WriteBack, Leases::Database, storm).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_dendrites_and_logs_lose_nothing_under_write_back() {
    if effort::is_long() {
        clients_see_nothing_stale(Policy::WriteBack, Leases::Etcd, MILLION).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_dendrites_show_nothing_stale_under_write_around() {
    if effort::is_long() {
        clients_see_nothing_stale(Policy::WriteAround, Leases::Etcd, MILLION).await;
    }
}
