//! The task that keeps the cache true to what is outside: the catalogue, the lease, and sessions past the proxy.
//!
//! Four times a second it asks which server processes and prepared transactions there are; once a second, and at once when a
//! statement may have changed it, it reads the catalogue and renews the lease. While anything is wrong the cache is closed,
//! and it begins cold.
//!
//! A session past the proxy is one of a role that may write, in this database, whose process is not one of the proxy's own;
//! it counts once two looks in a row have found it, as a session that begins is seen before its number is known here.

mod register;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lacuna_base::{Error, Result};
use lacuna_cache::sql::{Statement, TableClaim, TableClaims};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::auto::Advisor;
use super::catalogue::{self, Catalogue, Fact};
use super::guard::{self, Guard};
use super::registered::Registered;
use super::settings::{CacheSettings, Past};
use super::{Cache, Log, Processes, log};
use crate::suggest::Suggestions;

/// Pause between two looks at server processes.
const LOOK: Duration = Duration::from_millis(250);
/// Shortest pause between two looks.
const BETWEEN: Duration = Duration::from_millis(30);
/// Pause while nothing is shown.
const CLOSED: Duration = Duration::from_millis(50);
/// How old a renewal of the lease may be when the catalogue is read.
const RENEWAL_MS: u64 = 900;
/// Looks after which the catalogue is read again.
const LOOKS_A_READING: u32 = 4;

/// Watches until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    cache: Arc<Cache>,
    watcher: Arc<Watcher>,
    task: JoinHandle<()>,
    /// Reads the log.
    follower: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Watcher {
    claims: TableClaims,
    tables: Mutex<Tables>,
    writers: Vec<String>,
    past: Past,
    guard: Option<Arc<Guard>>,
}

/// What is cached, which may grow.
#[derive(Debug, Clone)]
struct Tables {
    registered: Registered,
    claimed: Vec<TableClaim>,
}

/// What two looks have in common.
#[derive(Debug, Default)]
struct Looked {
    /// Processes past the proxy at the last look.
    suspects: HashSet<i32>,
    /// Looks until the catalogue is read.
    until_reading: u32,
    /// When the lease was renewed last.
    renewed_ms: Option<u64>,
}

impl Watch {
    pub(super) async fn start(
        settings: &CacheSettings,
        suggestions: Option<&Arc<Suggestions>>,
    ) -> Result<(Arc<Cache>, Self)> {
        // Those that read the log find what the others write.
        let claims = match settings.past {
            Past::Log => TableClaims::open_shared(&settings.account).await?,
            Past::Rights | Past::Guards => TableClaims::open(&settings.account).await?,
        };
        let registered = settings.registered.clone();
        let tables = Mutex::new(Tables { registered: registered.clone(), claimed: Vec::new() });
        let (writers, past) = (settings.writers.clone(), settings.past);
        let mut watcher = Watcher { claims, tables, writers, past, guard: None };
        if past == Past::Log {
            log::check(&settings.account, &watcher.claims).await?;
        }
        let catalogue = watcher.reading(&registered).await?;
        if past == Past::Guards {
            let (schema, table) = guard::TABLE;
            watcher.claim(schema, table).await?;
            watcher.guard = Some(Arc::new(Guard::begin(&settings.account).await?));
        }
        for (schema, table) in registered.tables() {
            watcher.claim(schema, table).await?;
        }
        let advisor = settings.auto.zip(suggestions.cloned());
        let advisor = advisor.map(|(auto, suggestions)| Advisor::new(auto, suggestions));
        let log = (past == Past::Log).then(|| Arc::new(Log::new()));
        let cache = Arc::new(Cache::new(settings, catalogue, advisor, watcher.guard.clone(), log.clone()));
        let watcher = Arc::new(watcher);
        let follower = log.map(|log| tokio::spawn(log::follow(settings.account.clone(), cache.clone(), log)));
        let task = tokio::spawn(watch(watcher.clone(), cache.clone()));
        Ok((cache.clone(), Self { cache, watcher, task, follower }))
    }

    fn abort(&self) {
        self.task.abort();
        self.follower.iter().for_each(JoinHandle::abort);
    }

    /// Shows nothing any more, and gives the tables back.
    pub(crate) async fn stop(self) {
        self.abort();
        self.cache.results.close("the proxy stops");
        let claimed = self.watcher.lock().claimed.clone();
        for claim in claimed {
            drop(timeout(LOOK, self.watcher.claims.release(claim)).await);
        }
        drop(timeout(LOOK, self.watcher.claims.close()).await);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.abort();
        self.cache.results.close("the proxy has stopped");
    }
}

async fn watch(watcher: Arc<Watcher>, cache: Arc<Cache>) {
    let mut looked = Looked::default();
    loop {
        let seen = watcher.look(&cache, &mut looked).await;
        if let Err(why) = seen {
            if cache.results.closed().as_deref() != Some(&why.to_string()) {
                tracing::warn!(%why, "the cache is closed");
            }
            cache.results.close(why.to_string());
            looked.until_reading = 0;
        }
        // Statements that may do anything come in any number; the catalogue is not read for each of them.
        sleep(BETWEEN).await;
        let pause = if cache.results.closed().is_some() { CLOSED } else { LOOK };
        let woken = timeout(pause, cache.wake.notified()).await.is_ok();
        looked.until_reading = if woken { 0 } else { looked.until_reading.saturating_sub(1) };
    }
}

impl Watcher {
    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn claim(&self, schema: &str, table: &str) -> Result<()> {
        let claim = self.claims.claim(&format!("{schema}.{table}")).await?;
        self.lock().claimed.push(claim);
        Ok(())
    }

    /// # Errors
    /// Why nothing may be shown.
    async fn look(&self, cache: &Cache, looked: &mut Looked) -> Result<()> {
        if looked.until_reading > 0 {
            return self.activity(cache, looked).await;
        }
        let has_more = self.register_asked(cache).await;
        if !has_more {
            self.register_advised(cache).await;
        }
        let check = cache.results.check_begins();
        // Closed or not, the tables stay claimed.
        let renewed_ms = self.renew(cache, looked).await?;
        let registered = self.lock().registered.clone();
        cache.read(self.reading(&registered).await?);
        self.activity(cache, looked).await?;
        if looked.suspects.is_empty() {
            let is_next_due = cache.results.open(check, renewed_ms + TableClaims::LEASE_MS) || has_more;
            looked.until_reading = if is_next_due { 0 } else { LOOKS_A_READING };
        } else if cache.results.closed().is_some() {
            return Err(past_the_proxy(looked.suspects.len()));
        }
        Ok(())
    }

    /// Renews the lease if that is due, and returns when the last renewal was begun.
    async fn renew(&self, cache: &Cache, looked: &mut Looked) -> Result<u64> {
        let now = cache.results.now_ms();
        if let Some(renewed) = looked.renewed_ms.filter(|renewed| now - renewed < RENEWAL_MS) {
            return Ok(renewed);
        }
        let claimed = self.lock().claimed.clone();
        for claim in claimed {
            if !self.claims.renew(claim).await? {
                cache.is_superseded.send_replace(true);
                return Err(Error::unavailable("another process has taken the lease of a table"));
            }
        }
        looked.renewed_ms = Some(now);
        Ok(now)
    }

    async fn reading(&self, registered: &Registered) -> Result<Catalogue> {
        let writers = &self.writers;
        let rows = self.claims.rows(&catalogue::question(registered, writers, self.past)).await?;
        Catalogue::read(catalogue::facts(rows)?, registered, writers)
    }

    async fn activity(&self, cache: &Cache, looked: &mut Looked) -> Result<()> {
        let doubted = cache.results.doubted();
        let left = cache.processes.lock().unwrap_or_else(PoisonError::into_inner).left.clone();
        let rows = self.claims.rows(&Statement::new(catalogue::ACTIVITY)).await?;
        let facts = catalogue::facts(rows)?;
        if facts.iter().any(|[kind, ..]| kind == "prepared") {
            return Err(Error::unavailable("a prepared transaction waits for its end"));
        }
        if let Some(guard) = &self.guard {
            guard.check().await?;
        }
        let alive: HashSet<i32> = facts.iter().filter_map(|[_, pid, ..]| pid.parse().ok()).collect();
        let ended: Vec<i32> = doubted.into_iter().filter(|pid| !alive.contains(pid)).collect();
        cache.results.settle(&ended);
        let mut processes = cache.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes.left.retain(|pid| alive.contains(pid) || !left.contains(pid));
        let catalogue = cache.reading().catalogue;
        let foreign: HashSet<i32> =
            facts.iter().filter_map(|fact| foreign_writer(fact, &processes, &catalogue)).collect();
        drop(processes);
        let again = foreign.intersection(&looked.suspects).count();
        looked.suspects = foreign;
        if again > 0 { Err(past_the_proxy(again)) } else { Ok(()) }
    }
}

/// The process of a session that could write past the proxy.
fn foreign_writer(fact: &Fact, processes: &Processes, catalogue: &Catalogue) -> Option<i32> {
    let [_, pid, role, is_here, leader, _] = fact;
    let is_own = |pid: &str| {
        pid.parse().is_ok_and(|pid: i32| processes.serving.contains(&pid) || processes.left.contains(&pid))
    };
    let may_write = is_here == "true" && catalogue.writers.contains(role);
    if may_write && !is_own(pid) && !is_own(leader) { pid.parse().ok() } else { None }
}

fn past_the_proxy(count: usize) -> Error {
    Error::unavailable(format!(
        "{count} sessions of roles that may write registered tables are connected to the database past the proxy"
    ))
}
