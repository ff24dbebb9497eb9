//! A run: load, warm up, measure, drain, check.
//!
//! The clock runs from the first operation until everything that was acknowledged is in the store. So write-back pays for
//! what it put off. After each fiftieth of the operations the bytes are read that log servers hold and must not
//! evict. After the drain every record is read from the store itself: what was acknowledged must be there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lacuna_core::{Error, Result};
use tokio::task::JoinSet;

use crate::bare::Bare;
use crate::choice::Choice;
use crate::contender::{self, Contender, Traffic};
use crate::ground::{Databases, Ground, start_redis};
use crate::interrupt;
use crate::pinned::pinned_bytes;
use crate::records::version_of;
use crate::row::Row;
use crate::setup::{Length, Setup};
use crate::versions::Versions;

/// Parts of a run, after each of which pinned bytes are read.
const PARTS: u32 = 50;
/// Records that are read at once in the end.
const BATCH: u64 = 1_000;
/// Failed operations in turn after which a client gives up.
const MOST_FAILURES: u64 = 20;
/// How long a client waits after a failure.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs of one process: what they share.
#[derive(Debug, Default)]
pub(crate) struct Bench {
    databases: Databases,
    runs: u64,
}

impl Bench {
    /// Measures one setup. Servers end with the thread that calls this.
    ///
    /// # Errors
    /// `InvalidInput` if its parts do not go together, `Unavailable` if a server is not installed, does not answer, or the
    /// run was interrupted.
    pub(crate) fn measure(&mut self, setup: Setup, say: &mut dyn FnMut(String)) -> Result<Row> {
        let setup = setup.checked()?;
        interrupt::check()?;
        say(format!("{}: starting servers", setup.system.name()));
        self.databases.start(setup.store)?;
        let servers = start_redis(&setup)?;
        self.runs += 1;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| Error::unavailable(format!("no runtime: {error}")))?;
        let row = runtime.block_on(async {
            tokio::select! {
                row = run(&self.databases, servers, setup, self.runs, say) => row,
                why = interrupt::wait() => Err(why),
            }
        });
        runtime.shutdown_timeout(Duration::from_millis(200));
        row
    }
}

async fn run(
    databases: &Databases,
    servers: (Vec<lacuna_test_servers::Redis>, Vec<lacuna_test_servers::Redis>),
    setup: Setup,
    run: u64,
    say: &mut dyn FnMut(String),
) -> Result<Row> {
    let name = setup.system.name();
    say(format!("{name}: loading {} records", setup.records));
    let ground = Ground::prepare(databases, servers, &setup, run).await?;
    let contender = contender::open(&setup, &ground).await?;
    let versions = Arc::new(Versions::new(setup.records_of_a_table() * setup.tables()));
    let load = Arc::new(Load { setup, contender, versions, tally: Tally::default() });
    if load.setup.is_warm {
        say(format!("{name}: warming up"));
        load.warm_up().await?;
    }
    say(format!("{name}: measuring"));
    let before = load.contender.traffic();
    let start = Instant::now();
    let pinned = tokio::spawn(watch(load.clone(), ground.log_urls.clone(), start));
    load.clone().clients(start).await?;
    let ran = start.elapsed();
    let mut pinned = pinned.await.map_err(|_| Error::unavailable("a task of the bench ended"))??;
    pinned.push((ran.as_secs_f64(), pinned_bytes(&ground.log_urls).await?));
    say(format!("{name}: draining"));
    load.contender.stop().await?;
    let whole = start.elapsed();
    let traffic = load.contender.traffic().since(before);
    let lost = if load.setup.system.has_store() { lost_updates(&load, &ground).await? } else { 0 };
    Ok(load.row(traffic, (ran, whole), pinned, lost))
}

/// What clients share.
struct Load {
    setup: Setup,
    contender: Arc<dyn Contender>,
    versions: Arc<Versions>,
    tally: Tally,
}

/// What clients did.
#[derive(Debug, Default)]
struct Tally {
    begun: AtomicU64,
    scans: AtomicU64,
    updates: AtomicU64,
    scan_nanos: AtomicU64,
    update_nanos: AtomicU64,
    failures: AtomicU64,
}

/// Pinned bytes after each part of the operations, or of the time, but for the last; with the seconds from the start.
async fn watch(load: Arc<Load>, log_urls: Vec<String>, start: Instant) -> Result<Vec<(f64, u64)>> {
    let mut samples = Vec::new();
    for part in 1..PARTS {
        while !load.is_over(part, start) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        samples.push((start.elapsed().as_secs_f64(), pinned_bytes(&log_urls).await?));
    }
    Ok(samples)
}

impl Load {
    /// Every scan once, by all clients together.
    async fn warm_up(self: &Arc<Self>) -> Result<()> {
        let next = Arc::new(AtomicU64::new(0));
        let choice = Choice::new(&self.setup);
        self.together(|_| {
            let (load, next) = (self.clone(), next.clone());
            async move {
                loop {
                    let scan = next.fetch_add(1, Ordering::Relaxed);
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

    async fn clients(self: Arc<Self>, start: Instant) -> Result<()> {
        self.together(|client| self.clone().client(client, start)).await
    }

    async fn together<F>(&self, client: impl Fn(u64) -> F) -> Result<()>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let mut clients = JoinSet::new();
        (0..self.setup.clients as u64).for_each(|number| drop(clients.spawn(client(number))));
        while let Some(ended) = clients.join_next().await {
            ended.map_err(|error| Error::unavailable(format!("a client ended: {error}")))??;
        }
        Ok(())
    }

    /// One client, one operation after the other.
    async fn client(self: Arc<Self>, client: u64, start: Instant) -> Result<()> {
        let mut choice = Choice::new(&self.setup).of_client(client);
        let mut failures = 0;
        while self.may_begin(start) {
            let done = if choice.is_scan() {
                self.scan(choice.scan()).await
            } else {
                self.update(choice.update(self.contender.orders_updates())).await
            };
            match done {
                Ok(()) => failures = 0,
                Err(error) if failures == MOST_FAILURES => return Err(error.with_context("again and again")),
                Err(_) => {
                    failures += 1;
                    self.tally.failures.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        Ok(())
    }

    fn may_begin(&self, start: Instant) -> bool {
        let begun = self.tally.begun.fetch_add(1, Ordering::Relaxed);
        match self.setup.length {
            Length::Time(time) => start.elapsed() < time,
            Length::Operations(most) => begun < most,
        }
    }

    /// Whether so many parts of the run are over.
    fn is_over(&self, part: u32, start: Instant) -> bool {
        match self.setup.length {
            Length::Time(time) => start.elapsed() >= time * part / PARTS,
            Length::Operations(most) => {
                self.tally.begun.load(Ordering::Relaxed) * u64::from(PARTS) >= most * u64::from(part)
            }
        }
    }

    async fn scan(&self, first: u64) -> Result<()> {
        let rows = self.setup.rows;
        let floor = self.versions.begin_read(first, rows);
        let start = Instant::now();
        let shown = self.contender.scan(first, rows).await?;
        self.tally.scan_nanos.fetch_add(nanos(start.elapsed()), Ordering::Relaxed);
        self.tally.scans.fetch_add(1, Ordering::Relaxed);
        self.versions.end_read(first, &floor, &shown);
        Ok(())
    }

    async fn update(&self, record: u64) -> Result<()> {
        let version = self.versions.begin_update(record);
        let start = Instant::now();
        self.contender.update(record, version).await?;
        self.versions.end_update(record, version);
        self.tally.update_nanos.fetch_add(nanos(start.elapsed()), Ordering::Relaxed);
        self.tally.updates.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn row(
        &self,
        traffic: Traffic,
        (ran, whole): (Duration, Duration),
        pinned: Vec<(f64, u64)>,
        lost_updates: u64,
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
            drain_seconds: (whole - ran).as_secs_f64(),
            scan_us: mean(&self.tally.scan_nanos, scans),
            update_us: mean(&self.tally.update_nanos, updates),
            traffic,
            pinned,
            anomalies: self.versions.anomalies(),
            lost_updates,
            failures: load(&self.tally.failures),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Records whose newest acknowledged update the store lacks, asked past every cache.
async fn lost_updates(load: &Load, ground: &Ground) -> Result<u64> {
    let bare = Bare::open(&ground.direct_url, 1).await?;
    let count = load.setup.records_of_a_table();
    let mut lost = 0;
    for table in 0..load.setup.tables() {
        for first in
            (table * count..(table + 1) * count).step_by(usize::try_from(BATCH).expect("it is small"))
        {
            let last = (first + BATCH).min((table + 1) * count) - 1;
            let rows = bare.scan(table, first, last, 1).await?;
            for (record, row) in (first..).zip(&rows) {
                lost += u64::from(load.versions.is_lost(record, version_of(&row[0])?));
            }
        }
    }
    bare.close().await;
    Ok(lost)
}
