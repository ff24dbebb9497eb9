//! One setup from its first server to its last check.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lacuna_base::{Error, Result};
use lacuna_testkit::servers::Redis;

use super::load::{Load, Stretch};
use crate::cache_bench::bare::Bare;
use crate::cache_bench::pinned::{Held, held};
use crate::cache_bench::records::version_of;
use crate::cache_bench::row::Row;
use crate::cache_bench::servers::{Databases, RunServers};
use crate::cache_bench::setup::{Length, Setup};
use crate::cache_bench::system::{self, Traffic};

/// A turn is over when nothing was written to the store for this long.
const SILENCE: Duration = Duration::from_millis(20);
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
        let load = Arc::new(Load::new(setup, system));
        if load.setup.is_warm {
            say(format!("{name}: warming up"));
            load.warm_up().await?;
        }
        let before = load.system.traffic();
        Ok(Self { load, servers, before, turns: 0, ran: Duration::ZERO, held: Vec::new() })
    }

    /// Name of the measured system.
    pub(super) fn name(&self) -> &'static str {
        self.load.setup.system.name()
    }

    /// Lets all clients work. Pinned bytes are read after each part of the time only, because reading them takes time
    /// from clients.
    pub(super) async fn go(&mut self, length: Length, parts: u32) -> Result<()> {
        let took = self.work(length, parts).await?;
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
            tokio::time::sleep(SILENCE / 10).await;
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
    pub(super) async fn end(self) -> Result<Row> {
        let start = Instant::now();
        self.load.system.stop().await?;
        let drain = start.elapsed();
        let traffic = self.load.system.traffic().since(self.before);
        let lost = if self.load.setup.system.has_store() {
            lost_updates(&self.load, &self.servers).await?
        } else {
            0
        };
        Ok(self.load.row(traffic, (self.ran, drain), &self.held, lost))
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

/// Records whose newest acknowledged update the store lacks, asked past every cache.
async fn lost_updates(load: &Load, servers: &RunServers) -> Result<u64> {
    let bare = Bare::open(&servers.direct_url, 1).await?;
    let count = load.setup.records_of_a_table();
    let mut lost = 0;
    for table in 0..load.setup.tables() {
        for first in
            (table * count..(table + 1) * count).step_by(usize::try_from(BATCH).expect("it is small"))
        {
            let last = (first + BATCH).min((table + 1) * count) - 1;
            let rows = bare.scan(table, first, last, 1).await?;
            for (record, row) in (first..).zip(&rows) {
                lost += u64::from(load.is_lost(record, version_of(&row[0])?));
            }
        }
    }
    bare.close().await;
    Ok(lost)
}
