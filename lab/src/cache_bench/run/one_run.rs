//! One setup from its first server to its last check.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_base::{Error, Result};
use lacuna_testkit::servers::Redis;

use super::load::{Load, Stretch};
use crate::cache_bench::bare::Bare;
use crate::cache_bench::log_notes::LogNotes;
use crate::cache_bench::pinned::{Held, held};
use crate::cache_bench::records::version_of;
use crate::cache_bench::row::Row;
use crate::cache_bench::servers::{Databases, RunServers};
use crate::cache_bench::setup::{Length, Setup, System};
use crate::cache_bench::system::{self, Traffic};

/// A turn is over when nothing was written to the store for this long: buffered writes gather for 50 ms, and a transaction of
/// theirs is some requests of a store that may be some milliseconds away.
const SILENCE: Duration = Duration::from_millis(150);
/// Between two looks at what was written.
const LOOK: Duration = Duration::from_millis(2);
/// How long the store may take until it has every acknowledged write.
const DRAINING: Duration = Duration::from_secs(60);
/// Records that are read at once in the end.
const BATCH: u64 = 1_000;

/// A setup that is at work.
pub(super) struct Run {
    load: Arc<Load>,
    servers: RunServers,
    before: Traffic,
    turns: u64,
    /// The time of the clients, all stretches together.
    ran: Duration,
    /// What servers held, with the seconds from the first operation.
    held: Vec<(f64, Held)>,
    /// The calls of the first log server until the last operation, where they are noted.
    log: Option<LogNotes>,
}

impl Run {
    /// Servers, records, and every scan once.
    pub(super) async fn prepare(
        databases: &Databases,
        servers: (Vec<Redis>, Vec<Redis>),
        setup: Setup,
        run: u64,
        say: &mut dyn FnMut(String),
    ) -> Result<Self> {
        let name = setup.system.name();
        say(format!("{name}: loading {} records", setup.records));
        let servers = RunServers::prepare(databases, servers, &setup, run).await?;
        let system = system::open(&setup, &servers).await?;
        let load = Arc::new(Load::new(setup, system, &servers.versions));
        if load.setup.is_warm {
            say(format!("{name}: warming up"));
            load.warm_up().await?;
        }
        servers.hold_back(true);
        let before = load.system.traffic();
        Ok(Self { load, servers, before, turns: 0, ran: Duration::ZERO, held: Vec::new(), log: None })
    }

    /// Name of the measured system.
    pub(super) fn name(&self) -> &'static str {
        self.load.setup.system.name()
    }

    /// Lets all clients work. Pinned bytes are read after each part of the time only, because reading them takes time
    /// from clients.
    pub(super) async fn go(&mut self, length: Length, parts: u32) -> Result<()> {
        let took = self.work(length, parts).await?;
        // Writes are still pending now.
        self.log = self.load.system.log_notes();
        self.pass(took).await
    }

    /// Lets all clients work, and waits until the store has what they wrote; returns operations a second.
    pub(super) async fn take_turn(&mut self, length: Length) -> Result<f64> {
        let before = self.load.operations();
        let start = Instant::now();
        self.work(length, 1).await?;
        let took = self.settle().await.duration_since(start);
        self.pass(took).await?;
        Ok((self.load.operations() - before) as f64 / took.as_secs_f64())
    }

    /// Returns how long clients took.
    async fn work(&mut self, length: Length, parts: u32) -> Result<Duration> {
        let stretch = Stretch::new(length, self.turns);
        self.turns += 1;
        let urls = [self.servers.log_urls.clone(), self.servers.logging_cache_urls.clone()];
        let watching = tokio::spawn(watch(self.load.clone(), urls, stretch, parts));
        self.load.clone().clients(stretch).await?;
        let took = stretch.start.elapsed();
        let held = watching.await.map_err(|_| Error::unavailable("a task of the bench ended"))??;
        let earlier = self.ran.as_secs_f64();
        self.held.extend(held.into_iter().map(|(seconds, held)| (earlier + seconds, held)));
        Ok(took)
    }

    /// Waits until nothing is written to the store; returns when that began.
    async fn settle(&self) -> Instant {
        let writes = || self.load.system.traffic().store_writes;
        let (mut known, mut since) = (writes(), Instant::now());
        while since.elapsed() < SILENCE {
            tokio::time::sleep(LOOK).await;
            if writes() != known {
                (known, since) = (writes(), Instant::now());
            }
        }
        since
    }

    /// Adds this time to what clients took.
    async fn pass(&mut self, took: Duration) -> Result<()> {
        self.ran += took;
        let held = held(&self.servers.log_urls, &self.servers.logging_cache_urls).await?;
        self.held.push((self.ran.as_secs_f64(), held));
        Ok(())
    }

    /// Waits for the writes that were put off, and checks that the store has them.
    pub(super) async fn end(mut self) -> Result<Row> {
        let start = Instant::now();
        self.load.system.stop().await?;
        let drain = start.elapsed();
        let shown = self.shown().await?;
        let row = self.row(drain, &shown);
        if row.failures == 0 && row.lost_updates == 0 {
            self.servers.keep_rows(&self.load.setup, shown);
        }
        Ok(row)
    }

    /// The same, but the system stays at work, and may [`resume`](Self::resume). A store that is silent while it waits for its disk
    /// does not have everything yet: it is waited for again.
    pub(super) async fn pause(&mut self) -> Result<Row> {
        let start = Instant::now();
        loop {
            let drain = self.settle().await.duration_since(start);
            let shown = self.shown().await?;
            if self.lost_updates(&shown) == 0 || start.elapsed() > DRAINING {
                let row = self.row(drain, &shown);
                self.servers.versions = shown;
                return Ok(row);
            }
        }
    }

    /// Begins anew with other shares, choices and lengths: what was evicted or deleted is cached again.
    pub(super) async fn resume(&mut self, setup: Setup) -> Result<()> {
        self.servers.clean_up(&setup).await?;
        let keeps_results = setup.system != System::Store;
        self.load = Arc::new(Load::new(setup, self.load.system.clone(), &self.servers.versions));
        if self.load.setup.is_warm && keeps_results {
            self.servers.hold_back(false);
            self.load.warm_up_again().await?;
            self.servers.hold_back(true);
        }
        (self.before, self.ran) = (self.load.system.traffic(), Duration::ZERO);
        self.held.clear();
        Ok(())
    }

    /// The versions that the store has of all records; none if there is no store.
    async fn shown(&self) -> Result<Vec<u64>> {
        let setup = &self.load.setup;
        if setup.system.has_store() { versions(setup, &self.servers).await } else { Ok(Vec::new()) }
    }

    /// Records whose newest acknowledged update is not among these versions.
    fn lost_updates(&self, shown: &[u64]) -> u64 {
        (0..).zip(shown).filter(|(record, shown)| self.load.is_lost(*record, **shown)).count() as u64
    }

    fn row(&mut self, drain: Duration, shown: &[u64]) -> Row {
        let traffic = self.load.system.traffic().since(self.before);
        let (held, log) = (std::mem::take(&mut self.held), self.log.take());
        self.load.row(traffic, (self.ran, drain), &held, self.lost_updates(shown), log)
    }
}

/// What servers hold after each part of the operations, or of the time, but for the last; with the seconds from the start.
async fn watch(
    load: Arc<Load>,
    [log_urls, logging_cache_urls]: [Vec<String>; 2],
    stretch: Stretch,
    parts: u32,
) -> Result<Vec<(f64, Held)>> {
    let mut samples = Vec::new();
    for part in 1..parts {
        while !load.has_done(stretch, part, parts) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let seconds = stretch.start.elapsed().as_secs_f64();
        samples.push((seconds, held(&log_urls, &logging_cache_urls).await?));
    }
    Ok(samples)
}

/// The versions that the store has of all records, asked past every cache.
async fn versions(setup: &Setup, servers: &RunServers) -> Result<Vec<u64>> {
    let bare = Bare::open(&servers.direct_url, 1).await?;
    let count = setup.records_of_a_table();
    let mut versions = Vec::new();
    for table in 0..setup.tables() {
        for first in
            (table * count..(table + 1) * count).step_by(usize::try_from(BATCH).expect("it is small"))
        {
            let last = (first + BATCH).min((table + 1) * count) - 1;
            for row in &bare.scan(table, first, last, 1).await? {
                versions.push(version_of(&row[0])?);
            }
        }
    }
    bare.close().await;
    Ok(versions)
}
