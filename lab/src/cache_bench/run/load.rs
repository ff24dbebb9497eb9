//! Clients at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lacuna_base::{Error, Result};
use tokio::task::JoinSet;

use crate::cache_bench::choice::Choice;
use crate::cache_bench::log_notes::LogNotes;
use crate::cache_bench::pinned::Held;
use crate::cache_bench::row::Row;
use crate::cache_bench::setup::{Length, Setup, System};
use crate::cache_bench::system::{SystemUnderTest, Traffic};
use crate::cache_bench::versions::Versions;

/// Clients that warm the cache at least.
const WARMING_CLIENTS: usize = 16;
/// Failed operations in turn after which a client gives up.
const MAX_FAILURES: u64 = 20;
/// Scans that show whether a cache is still warm.
const PROBES: u64 = 20_000;
/// How long a client waits after a failure.
const PAUSE: Duration = Duration::from_millis(20);

/// From when to when clients work, and for which time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) start: Instant,
    length: Length,
    turn: u64,
}

impl Stretch {
    /// A stretch that begins now.
    pub(super) fn new(length: Length, turn: u64) -> Self {
        Self { start: Instant::now(), length, turn }
    }
}

/// State that clients share.
pub(super) struct Load {
    pub(super) setup: Setup,
    pub(super) system: Arc<dyn SystemUnderTest>,
    versions: Versions,
    tally: Tally,
}

/// Counts of the clients' work.
#[derive(Debug, Default)]
struct Tally {
    begun: AtomicU64,
    scans: AtomicU64,
    updates: AtomicU64,
    scan_nanos: AtomicU64,
    update_nanos: AtomicU64,
    failures: AtomicU64,
}

impl Load {
    /// Clients of a system whose records have these versions.
    pub(super) fn new(setup: Setup, system: Arc<dyn SystemUnderTest>, versions: &[u64]) -> Self {
        Self { setup, system, versions: Versions::new(versions), tally: Tally::default() }
    }

    /// Every scan once, by many clients together. For the store alone every row once: it keeps no results.
    pub(super) async fn warm_up(self: &Arc<Self>) -> Result<()> {
        let apart = if self.setup.system == System::Store { self.setup.rows } else { 1 };
        self.scan_each(apart).await
    }

    /// Warms up again, unless some scans, evenly spread over all, need no store: with 20,000 of them, 99.98 % of all scans are still
    /// cached, and to ask a million of them would take longer than to measure.
    pub(super) async fn warm_up_again(self: &Arc<Self>) -> Result<()> {
        let (before, apart) = (self.system.traffic(), (self.setup.records / PROBES).max(1));
        self.scan_each(apart).await?;
        let traffic = self.system.traffic().since(before);
        // Where there are few, all of them were asked.
        let is_warm = apart == 1 || (traffic.hits > 0 && traffic.store_queries == 0);
        if is_warm { Ok(()) } else { self.warm_up().await }
    }

    /// Every scan of which `apart` - 1 are left out after each, by many clients together.
    async fn scan_each(self: &Arc<Self>, apart: u64) -> Result<()> {
        let next = Arc::new(AtomicU64::new(0));
        let choice = Choice::new(&self.setup);
        let tables = self.setup.tables();
        self.together(self.setup.clients.max(WARMING_CLIENTS), move |_| {
            let (load, next) = (self.clone(), next.clone());
            async move {
                loop {
                    let scan = next.fetch_add(1, Ordering::Relaxed);
                    let scan = scan % tables + scan / tables * apart * tables;
                    let Some(first) = choice.scan_number(scan) else { return Ok(()) };
                    load.scan(first).await?;
                }
            }
        })
        .await?;
        self.tally.scans.store(0, Ordering::Relaxed);
        self.tally.scan_nanos.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Lets all clients work until the stretch is over.
    pub(super) async fn clients(self: Arc<Self>, stretch: Stretch) -> Result<()> {
        self.tally.begun.store(0, Ordering::Relaxed);
        self.together(self.setup.clients, |client| self.clone().client(client, stretch)).await
    }

    /// Scans and updates that were answered so far.
    pub(super) fn operations(&self) -> u64 {
        self.tally.scans.load(Ordering::Relaxed) + self.tally.updates.load(Ordering::Relaxed)
    }

    /// Whether the newest acknowledged update of a record is newer than this version.
    pub(super) fn is_lost(&self, record: u64, version: u64) -> bool {
        self.versions.is_lost(record, version)
    }

    async fn together<F>(&self, count: usize, client: impl Fn(u64) -> F) -> Result<()>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let mut clients = JoinSet::new();
        (0..count as u64).for_each(|number| drop(clients.spawn(client(number))));
        while let Some(ended) = clients.join_next().await {
            ended.map_err(|error| Error::unavailable(format!("a client ended: {error}")))??;
        }
        Ok(())
    }

    /// One client, one operation after the other.
    async fn client(self: Arc<Self>, client: u64, stretch: Stretch) -> Result<()> {
        let mut choice = Choice::new(&self.setup).of_client(client, stretch.turn);
        let mut failures = 0;
        while self.may_begin(stretch) {
            let done = if choice.is_scan() {
                self.scan(choice.scan()).await
            } else {
                self.update(choice.update(self.system.orders_updates())).await
            };
            match done {
                Ok(()) => failures = 0,
                Err(error) if failures == MAX_FAILURES => return Err(error.with_context("again and again")),
                Err(_) => {
                    failures += 1;
                    self.tally.failures.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        Ok(())
    }

    fn may_begin(&self, stretch: Stretch) -> bool {
        let begun = self.tally.begun.fetch_add(1, Ordering::Relaxed);
        match stretch.length {
            Length::Time(time) => stretch.start.elapsed() < time,
            Length::Operations(max) => begun < max,
        }
    }

    /// Whether `part` of the `parts` of a stretch are over.
    pub(super) fn has_done(&self, stretch: Stretch, part: u32, parts: u32) -> bool {
        match stretch.length {
            Length::Time(time) => stretch.start.elapsed() >= time * part / parts,
            Length::Operations(max) => {
                self.tally.begun.load(Ordering::Relaxed) * u64::from(parts) >= max * u64::from(part)
            }
        }
    }

    async fn scan(&self, first: u64) -> Result<()> {
        let rows = self.setup.rows;
        let floor = self.versions.begin_read(first, rows);
        let start = Instant::now();
        let shown = self.system.scan(first, rows).await?;
        self.tally.scan_nanos.fetch_add(nanos(start.elapsed()), Ordering::Relaxed);
        self.tally.scans.fetch_add(1, Ordering::Relaxed);
        self.versions.end_read(first, &floor, &shown);
        Ok(())
    }

    async fn update(&self, record: u64) -> Result<()> {
        let version = self.versions.begin_update(record);
        let start = Instant::now();
        self.system.update(record, version).await?;
        self.versions.end_update(record, version);
        self.tally.update_nanos.fetch_add(nanos(start.elapsed()), Ordering::Relaxed);
        self.tally.updates.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// The result, from the times of the clients and of the drain.
    pub(super) fn row(
        &self,
        traffic: Traffic,
        (ran, drain): (Duration, Duration),
        held: &[(f64, Held)],
        lost_updates: u64,
        log: Option<LogNotes>,
    ) -> Row {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (scans, updates) = (load(&self.tally.scans), load(&self.tally.updates));
        let mean =
            |nanos: &AtomicU64, count: u64| (count > 0).then(|| load(nanos) as f64 / count as f64 / 1e3);
        Row {
            setup: self.setup.clone(),
            scans,
            updates,
            seconds: ran.as_secs_f64(),
            drain_seconds: drain.as_secs_f64(),
            scan_us: mean(&self.tally.scan_nanos, scans),
            update_us: mean(&self.tally.update_nanos, updates),
            traffic,
            pinned: held.iter().map(|(seconds, held)| (*seconds, held.pinned)).collect(),
            entry_log: held.iter().map(|(seconds, held)| (*seconds, held.entry_log)).collect(),
            kept_share: self.system.kept_share(),
            anomalies: self.versions.anomalies(),
            lost_updates,
            failures: load(&self.tally.failures),
            log,
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
