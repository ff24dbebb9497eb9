//! The task that keeps the cache true to what is outside: the catalogue, the lease, and sessions past the proxy.
//!
//! Four times a second it asks which server processes and prepared transactions there are; once a second, and at once when a
//! statement may have changed it, it reads the catalogue and renews the lease. While anything is wrong the cache is closed,
//! and it begins cold.
//!
//! A session past the proxy is one of a role that may write, or might when it began, in this database, whose process is not
//! one of the proxy's own. It counts once two looks in a row have found it, or one has and the next one finds it ended, as a
//! session that begins is seen before its number is known here. What a role has written is committed though it may write no
//! more: nothing is shown until the transactions of before a change of rights have ended.
//!
//! With several hosts the account goes on to the server that takes the place of its own: `servers.rs`, `go_on.rs`.

mod go_on;
mod register;
mod servers;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use lacuna_base::{Error, Result};
use lacuna_cache::sql::{SqlValue, Statement, TableClaim, TableClaims};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::auto::Advisor;
use super::catalogue::{self, Catalogue, Fact};
use super::guard::{self, Guard};
use super::registered::Registered;
use super::results::Hold;
use super::settings::{CacheSettings, Past};
use super::{Cache, Log, Processes, log};
use crate::suggest::Suggestions;
use crate::upstream::Connector;
use servers::Servers;

/// Pause between two looks at server processes.
const LOOK: Duration = Duration::from_millis(250);
/// Shortest pause between two looks.
const BETWEEN: Duration = Duration::from_millis(30);
/// Pause while nothing is shown.
const CLOSED: Duration = Duration::from_millis(50);
/// How old a renewal of the lease may be when the catalogue is read.
const RENEWAL_MS: u64 = 900;
/// Longest wait for the answer to a short question.
const SHORT: Duration = Duration::from_secs(5);
/// Looks after which the catalogue is read again.
const LOOKS_A_READING: u32 = 4;

/// The server process of the oldest transaction with a number, and its role.
const OLDEST: &str = "SELECT pid::text, coalesce(usename::text, '') FROM pg_catalog.pg_stat_activity \
    WHERE backend_xid IS NOT NULL ORDER BY pg_catalog.age(backend_xid) DESC LIMIT 1";

/// Sessions past the proxy: the role of each server process.
type Sessions = BTreeMap<i32, String>;

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
    claims: RwLock<Arc<TableClaims>>,
    /// Set if there are several hosts.
    servers: Option<Servers>,
    tables: Mutex<Tables>,
    writers: Vec<String>,
    past: Past,
    guard: Option<Arc<Guard>>,
}

/// What is cached, which may change.
#[derive(Debug)]
struct Tables {
    registered: Registered,
    /// By their names.
    claimed: Vec<(String, TableClaim)>,
    /// Columns that are kept from being cached until all transactions up to one have ended.
    unsettled: Vec<(u64, Hold)>,
}

/// What two looks have in common.
#[derive(Debug, Default)]
struct Looked {
    /// Whether the last look has found something wrong.
    has_failed: bool,
    /// Sessions past the proxy at the last look.
    suspects: Sessions,
    /// Looks until the catalogue is read.
    until_reading: u32,
    /// How long the last reading took.
    reading_took: Duration,
    /// When the lease was renewed last.
    renewed_ms: Option<u64>,
    /// Roles that may write, at the last reading.
    writers: BTreeSet<String>,
    /// Roles that were among them before, and whose sessions were not looked for yet.
    gone: BTreeSet<String>,
    /// Sessions of such: one keeps the role that it has taken.
    former: HashSet<i32>,
    /// A transaction that is younger than all that others may have begun when they might write.
    newest: Option<u64>,
}

impl Looked {
    /// Before the next look. Statements that may do anything come in any number; the catalogue is not read for each of them, and no more
    /// than half of the time.
    fn pause(&mut self) -> Duration {
        BETWEEN.max(mem::take(&mut self.reading_took))
    }
}

impl Watch {
    pub(super) async fn start(
        settings: &CacheSettings,
        suggestions: Option<&Arc<Suggestions>>,
        connector: &Arc<Connector>,
    ) -> Result<(Arc<Cache>, Self)> {
        let servers = Servers::begin(&settings.account, connector).await?;
        let account = servers.as_ref().map_or_else(|| settings.account.clone(), Servers::url);
        // Those that read the log find what the others write.
        let claims = match settings.past {
            Past::Log => TableClaims::open_shared(&account).await?,
            Past::Rights | Past::Guards => TableClaims::open(&account).await?,
        };
        let claims = RwLock::new(Arc::new(claims));
        let registered = settings.registered.clone();
        let tables =
            Mutex::new(Tables { registered: registered.clone(), claimed: Vec::new(), unsettled: Vec::new() });
        let (writers, past) = (settings.writers.clone(), settings.past);
        let mut watcher = Watcher { claims, servers, tables, writers, past, guard: None };
        if past == Past::Log {
            log::check(&account, &watcher.claims()).await?;
        }
        let catalogue = watcher.reading(&registered).await?;
        if past == Past::Guards {
            let (schema, table) = guard::TABLE;
            watcher.claim(schema, table).await?;
            watcher.guard = Some(Arc::new(Guard::begin(&account).await?));
        }
        for (schema, table) in registered.tables() {
            watcher.claim(schema, table).await?;
        }
        let advisor = settings.auto.zip(suggestions.cloned());
        let advisor = advisor.map(|(auto, suggestions)| Advisor::new(auto, suggestions));
        let log = (past == Past::Log).then(|| Arc::new(Log::new(account)));
        let cache = Arc::new(Cache::new(settings, catalogue, advisor, watcher.guard.clone(), log.clone()));
        let watcher = Arc::new(watcher);
        let follower = log.map(|log| tokio::spawn(log::follow(cache.clone(), log)));
        if let Some(servers) = &watcher.servers {
            servers.arrive();
        }
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
        for (_, claim) in claimed {
            drop(timeout(LOOK, self.watcher.claims().release(claim)).await);
        }
        drop(timeout(LOOK, self.watcher.claims().close()).await);
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
        let seen = watcher.see(&cache, &mut looked).await;
        looked.has_failed = seen.is_err();
        if let Err(why) = seen {
            if cache.results.closed().as_deref() != Some(&why.to_string()) {
                tracing::warn!(%why, "the cache is closed");
            }
            cache.results.close(why.to_string());
            looked.until_reading = 0;
        }
        sleep(looked.pause()).await;
        let pause = if cache.results.closed().is_some() { CLOSED } else { LOOK };
        let woken = timeout(pause, cache.wake.notified()).await.is_ok();
        looked.until_reading = if woken { 0 } else { looked.until_reading.saturating_sub(1) };
    }
}

impl Watcher {
    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claims(&self) -> Arc<TableClaims> {
        self.claims.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The rows of a short question.
    async fn rows(&self, question: &Statement) -> Result<Vec<Vec<SqlValue>>> {
        let rows = timeout(SHORT, self.claims().rows(question)).await;
        Ok(rows.map_err(|_| Error::unavailable("the database does not answer"))??)
    }

    async fn claim(&self, schema: &str, table: &str) -> Result<()> {
        let name = format!("{schema}.{table}");
        let claim = self.claims().claim(&name).await?;
        self.lock().claimed.push((name, claim));
        Ok(())
    }

    /// A look at the server at which the account is to be.
    ///
    /// # Errors
    /// Why nothing may be shown.
    async fn see(&self, cache: &Cache, looked: &mut Looked) -> Result<()> {
        if let Some(servers) = &self.servers {
            self.follow(servers, cache, looked).await?;
        }
        self.look(cache, looked).await
    }

    /// # Errors
    /// Why nothing may be shown.
    async fn look(&self, cache: &Cache, looked: &mut Looked) -> Result<()> {
        // Closed or not, the tables stay claimed, and what is shown is shown for as long as they are.
        let renewed_ms = self.renew(cache, looked).await?;
        if looked.until_reading > 0 {
            cache.results.stay_open(renewed_ms + TableClaims::LEASE_MS);
            return self.activity(cache, looked).await;
        }
        let has_more = self.do_asked(cache).await;
        if !has_more {
            self.register_advised(cache).await;
        }
        self.claim_missing(cache).await?;
        let check = cache.results.check_begins();
        let began = Instant::now();
        let registered = self.lock().registered.clone();
        let oldest = self.oldest().await?;
        let catalogue = self.reading(&registered).await?;
        if let Some(servers) = &self.servers {
            servers.check(&catalogue.start.0)?;
        }
        looked.reading_took = began.elapsed();
        self.notes_writers(looked, &catalogue).await?;
        cache.read(catalogue, oldest);
        self.activity(cache, looked).await?;
        self.settles(cache, looked).await?;
        if looked.suspects.is_empty() {
            // A large catalogue takes a good part of a lease to read.
            let renewed_ms = self.renew(cache, looked).await?;
            let is_next_due = cache.results.open(check, renewed_ms + TableClaims::LEASE_MS) || has_more;
            looked.until_reading = if is_next_due { 0 } else { LOOKS_A_READING };
        } else if cache.results.closed().is_some() {
            return Err(past_the_proxy(&looked.suspects));
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
        for (_, claim) in claimed {
            if !self.claims().renew(claim).await? {
                return Err(superseded(cache));
            }
        }
        looked.renewed_ms = Some(now);
        Ok(now)
    }

    async fn reading(&self, registered: &Registered) -> Result<Catalogue> {
        let writers = &self.writers;
        let rows = self.claims().rows(&catalogue::question(registered, writers, self.past)).await?;
        Catalogue::read(catalogue::facts(rows)?, registered, writers)
    }

    /// What a role has written is committed though it may write no more, and its sessions may have taken a role that may.
    async fn notes_writers(&self, looked: &mut Looked, catalogue: &Catalogue) -> Result<()> {
        if self.past != Past::Rights {
            return Ok(());
        }
        let gone: Vec<String> = looked.writers.difference(&catalogue.writers).cloned().collect();
        if looked.writers.is_empty() || !gone.is_empty() {
            looked.newest = Some(self.newest().await?);
        }
        looked.gone.extend(gone);
        looked.writers.clone_from(&catalogue.writers);
        Ok(())
    }

    /// A transaction that is younger than all that are open.
    async fn newest(&self) -> Result<u64> {
        self.number("SELECT pg_current_xact_id()::text").await
    }

    /// The oldest transaction that is open, or the next one.
    async fn oldest(&self) -> Result<u64> {
        self.number("SELECT pg_snapshot_xmin(pg_current_snapshot())::text").await
    }

    /// Lets columns be cached once what was open when they were registered has ended.
    ///
    /// # Errors
    /// Transactions are open that others may have begun when they might write.
    async fn settles(&self, cache: &Cache, looked: &mut Looked) -> Result<()> {
        if looked.newest.is_none() && self.lock().unsettled.is_empty() {
            return Ok(());
        }
        let oldest = self.oldest().await?;
        self.lock().unsettled.retain(|(newest, hold)| {
            let is_open = oldest <= *newest;
            if !is_open {
                cache.release(*hold);
            }
            is_open
        });
        if looked.newest.is_some_and(|newest| oldest <= newest) {
            let whose = self.oldest_process().await?;
            return Err(Error::unavailable(format!(
                "a transaction is open that began before the rights were what they are{whose}: the cache begins when it has ended"
            )));
        }
        looked.newest = None;
        Ok(())
    }

    /// Whose transaction is the oldest one, for people, if that is known.
    async fn oldest_process(&self) -> Result<String> {
        let rows = self.rows(&Statement::new(OLDEST)).await?;
        Ok(match rows.first().map(Vec::as_slice) {
            Some([SqlValue::Text(pid), SqlValue::Text(role)]) => {
                format!(" (server process {pid} of role {role})")
            }
            _ => String::new(),
        })
    }

    async fn number(&self, question: &str) -> Result<u64> {
        let rows = self.rows(&Statement::new(question)).await?;
        let number = match rows.first().and_then(|row| row.first()) {
            Some(SqlValue::Text(text)) => text.parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| Error::unavailable("the database names transactions in an unknown form"))
    }

    async fn activity(&self, cache: &Cache, looked: &mut Looked) -> Result<()> {
        let doubted = cache.results.doubted();
        let left: HashSet<i32> =
            cache.processes.lock().unwrap_or_else(PoisonError::into_inner).left.keys().copied().collect();
        let rows = self.rows(&Statement::new(catalogue::ACTIVITY)).await?;
        let facts = catalogue::facts(rows)?;
        if let Some([_, gid, owner, ..]) = facts.iter().find(|[kind, ..]| kind == "prepared") {
            return Err(Error::unavailable(format!(
                "a prepared transaction waits for its end: {gid:?} of role {owner}"
            )));
        }
        if let Some(guard) = &self.guard {
            guard.check().await?;
        }
        let alive: HashSet<i32> = facts.iter().filter_map(|[_, pid, ..]| pid.parse().ok()).collect();
        let ended: Vec<i32> = doubted.into_iter().filter(|pid| !alive.contains(pid)).collect();
        if cache.results.settle(&ended) {
            // The catalogue is read with the next look.
            cache.wake.notify_one();
        }
        let mut processes = cache.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let catalogue = cache.reading().catalogue;
        let started = &catalogue.start.0;
        let past: Vec<(i32, &str)> =
            facts.iter().filter_map(|fact| past(fact, &processes, started)).collect();
        let is_own = |pid: &i32| processes.has(*pid, started);
        let mut ended_unseen = looked.suspects.clone();
        ended_unseen.retain(|pid, _| !alive.contains(pid) && !is_own(pid));
        processes.left.retain(|pid, _| alive.contains(pid) || !left.contains(pid));
        drop(processes);
        looked.former.retain(|pid| alive.contains(pid));
        let gone = mem::take(&mut looked.gone);
        // A role that was dropped has no name any more.
        let is_gone = |role: &str| gone.contains(role) || (role.is_empty() && !gone.is_empty());
        looked.former.extend(past.iter().filter(|(_, role)| is_gone(role)).map(|(pid, _)| *pid));
        let writers = &catalogue.writers;
        let may_write = |pid: &i32, role: &str| writers.contains(role) || looked.former.contains(pid);
        let writing = past.iter().filter(|(pid, role)| may_write(pid, role));
        let foreign: Sessions = writing.map(|(pid, role)| (*pid, (*role).to_owned())).collect();
        let mut again = foreign.clone();
        again.retain(|pid, _| looked.suspects.contains_key(pid));
        looked.suspects = foreign;
        match (again.is_empty(), ended_unseen.is_empty()) {
            (true, true) => Ok(()),
            (true, false) => Err(past_the_proxy(&ended_unseen)),
            (false, _) => Err(past_the_proxy(&again)),
        }
    }
}

/// Sessions here end, since another cache would not see what they write.
fn superseded(cache: &Cache) -> Error {
    cache.is_superseded.send_replace(true);
    Error::unavailable("another process has taken the lease of a table")
}

/// The process and the role of a session of this database that is not one of the proxy's own.
fn past<'f>(fact: &'f Fact, processes: &Processes, started: &str) -> Option<(i32, &'f str)> {
    let [_, pid, role, is_here, leader, _] = fact;
    let is_own = |pid: &str| pid.parse().is_ok_and(|pid: i32| processes.has(pid, started));
    if is_here == "true" && !is_own(pid) && !is_own(leader) { Some((pid.parse().ok()?, role)) } else { None }
}

fn past_the_proxy(sessions: &Sessions) -> Error {
    let count = sessions.len();
    let first = sessions.iter().next();
    let first =
        first.map_or_else(String::new, |(pid, role)| format!(": server process {pid} of role {role}"));
    let others = if count > 1 { " and others" } else { "" };
    Error::unavailable(format!(
        "{count} sessions of roles that may write registered tables are connected to the database past the proxy{first}{others}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_after_a_long_reading_is_made_once() {
        let mut looked = Looked { reading_took: LOOK, ..Looked::default() };
        assert_eq!([looked.pause(), looked.pause()], [LOOK, BETWEEN]);
    }
}
