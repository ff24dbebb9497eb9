//! A database with a cache in front of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Alarm, Counts, FileLog, RangeCache, RangeGauges, Requests, Servers};
use lacuna_cache_protocol::embedded::{MemoryCache, MemoryLog, SingleProcess, SteadyClock};
use lacuna_cache_protocol::ports::{CacheServer, Clock, Coordinator, LogServer};
use lacuna_cache_protocol::{Config, Policy, RangeId};
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use tokio::sync::OnceCell;
use tracing::info_span;

use crate::owner::requests::request_timeout_ms;
use crate::sql::application::TableRows;
use crate::sql::database::{Database, Failure, describe, rights};
use crate::sql::fenced::{FencedTable, GuardedStore, largest_epoch, prepare, sole_range_of};
use crate::sql::file_lock::FileLock;
use crate::sql::file_tenures::FileTenures;
use crate::sql::options::Options;
use crate::sql::registry::Registry;
use crate::sql::schema::Schema;
use crate::sql::statement::Statement;
use crate::sql::table::Table;
use crate::sql::table_lease::TableLease;
use crate::sql::watchdog::{Family, Watchdog};
use crate::sql::whole::{self, WholeTables};

/// How long an owner waits for a reply; a database may be slow.
const CALL_TIMEOUT_MS: u64 = 30_000;
/// Buffered writes of one transaction: they share the cost of its four messages to a server.
const APPLY_BATCH: usize = 256;
/// How long they gather.
const APPLY_PAUSE_MS: u64 = 50;
/// How often an owner tries before a server counts as lost.
const ATTEMPTS: u32 = 3;

/// Opens the database at `url` with a cache in the memory of this process, writing through.
///
/// # Errors
/// As [`Options::open`].
pub async fn open(url: &str) -> Result<Cache> {
    Options::new(url).open().await
}

/// A database and the cache in front of its registered tables.
#[derive(Debug)]
pub struct Cache {
    pub(crate) database: Arc<dyn Database>,
    pub(crate) options: Options,
    pub(crate) caches: Vec<Arc<dyn CacheServer>>,
    pub(crate) logs: Vec<Arc<dyn LogServer>>,
    /// The one among them that was opened here, next to the database.
    own_log: Option<Arc<FileLog>>,
    /// Made when the first table is registered: a client of dendrites needs none.
    coordination: OnceCell<Coordination>,
    pub(crate) clock: Arc<dyn Clock>,
    tables: Mutex<Tables>,
    pub(crate) lock: Option<Arc<FileLock>>,
    pub(crate) watchdog: Option<Arc<Watchdog>>,
    /// Whether the connections are those of another cache, which closes them.
    is_guest: bool,
    pub(crate) registry: Arc<Registry>,
}

/// Which process may cache a table.
#[derive(Debug)]
pub(crate) struct Coordination {
    coordinator: Arc<dyn Coordinator>,
    /// The same for a database that other processes reach, too.
    whole_tables: Option<Arc<WholeTables>>,
}

/// How this process uses its tables.
#[derive(Debug, Default)]
struct Tables {
    whole: Vec<RangeCache>,
    /// Tables of dendrites, if no other process has the database.
    cut: BTreeSet<RangeId>,
    /// Tables that are about to be, and by how many calls.
    cutting: BTreeMap<RangeId, u32>,
}

/// While the row that marks the ranges of a table as owned by dendrites is written, this process does not open the
/// table as a whole.
struct Cutting<'a>(&'a Cache, RangeId);

impl<'a> Cutting<'a> {
    fn begin(cache: &'a Cache, range: RangeId, table: &str) -> Result<Self> {
        let mut tables = cache.tables();
        if tables.has(range) {
            return Err(whole::open_as_a_whole(table));
        }
        *tables.cutting.entry(range).or_default() += 1;
        Ok(Self(cache, range))
    }
}

impl Drop for Cutting<'_> {
    fn drop(&mut self) {
        let mut tables = self.0.tables();
        let count = tables.cutting.remove(&self.1).unwrap_or_default();
        if count > 1 {
            tables.cutting.insert(self.1, count - 1);
        }
    }
}

impl Tables {
    fn is_cut(&self, range: RangeId) -> bool {
        self.cut.contains(&range) || self.cutting.contains_key(&range)
    }

    fn has(&self, range: RangeId) -> bool {
        self.whole.iter().any(|table| table.range() == range)
    }
}

impl Cache {
    pub(crate) async fn open(options: Options) -> Result<Self> {
        options.check()?;
        let lock =
            options.beside("-lacuna.lock")?.map(|path| FileLock::take(&path)).transpose()?.map(Arc::new);
        let database = crate::sql::database::open(&options.url).await?;
        Self::over(database, options, lock, false).await
    }

    /// Another cache over the same connections to a database server, with servers, policy and tables of its own. Stop it
    /// before this one, which closes the connections.
    ///
    /// # Errors
    /// `InvalidInput` if `options` are for another database, `Unsupported` for SQLite; as [`Options::open`].
    pub async fn beside(&self, options: Options) -> Result<Self> {
        options.check()?;
        if !self.options.is_shared() {
            // No lease in the file would keep both from caching one table, and each would miss what the other writes.
            return Err(Error::unsupported("a file of SQLite has one cache: register all tables there"));
        }
        if options.url != self.options.url {
            return Err(Error::invalid_input("connections are shared by caches of one database only"));
        }
        Self::over(self.database.clone(), options, self.lock.clone(), true).await
    }

    async fn over(
        database: Arc<dyn Database>,
        options: Options,
        lock: Option<Arc<FileLock>>,
        is_guest: bool,
    ) -> Result<Self> {
        let (logs, own_log) = logs(&options)?;
        let mut caches = options.caches.clone();
        if caches.is_empty() {
            caches.push(Arc::new(MemoryCache::new(options.cache_bytes)));
        }
        let watchdog = if options.has_watchdog {
            Some(Arc::new(Watchdog::start(&options.url, database.clone()).await?))
        } else {
            None
        };
        let (coordination, tables) = (OnceCell::new(), Mutex::default());
        let clock: Arc<dyn Clock> = Arc::new(SteadyClock::new());
        let registry = Arc::new(Registry::new(&options));
        Ok(Self {
            database,
            options,
            caches,
            logs,
            own_log,
            coordination,
            clock,
            tables,
            lock,
            watchdog,
            is_guest,
            registry,
        })
    }

    /// The tables of fences and leases, made by the first process that needs them.
    pub(crate) async fn coordination(&self) -> Result<&Coordination> {
        self.coordination.get_or_try_init(|| self.coordinate()).await
    }

    async fn coordinate(&self) -> Result<Coordination> {
        prepare(&*self.database).await?;
        if !self.options.is_shared() {
            let epoch = largest_epoch(&*self.database).await?;
            let process = SingleProcess::above(epoch, self.caches.len());
            let coordinator: Arc<dyn Coordinator> = if self.options.keeps_log() {
                Arc::new(FileTenures::new(self.database.clone(), process))
            } else {
                Arc::new(process)
            };
            return Ok(Coordination { coordinator, whole_tables: None });
        }
        let lease = TableLease::new(self.database.clone(), self.clock.clone(), self.caches.len()).await?;
        let shared = Arc::new(WholeTables::new(self.database.clone(), lease));
        Ok(Coordination { coordinator: shared.clone(), whole_tables: Some(shared) })
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a table. From now on all its writes must go through the returned handle.
    ///
    /// # Errors
    /// `InvalidInput` if the table is not what the schema says, `Unsupported` for a domain type that is not offered,
    /// `Conflict` if it was registered before, another process has it, dendrites own its ranges or another set of the tables
    /// `lacuna_fence` and so on has it, `Unavailable` if the database does not answer. After a process that had the table and
    /// did not stop in order, this waits until its lease of three seconds is over.
    pub async fn table(&self, schema: Schema) -> Result<Table> {
        let coordination = self.coordination().await?;
        let (schema, family) = self.read(schema).await?;
        let range = sole_range_of(&*self.database, &schema.table).await?;
        whole::check_whole(&*self.database, &schema.table).await?;
        match &coordination.whole_tables {
            Some(shared) => shared.check_free(&schema.table, range).await?,
            None => whole::supersede_dendrites(&*self.database, &schema.table).await?,
        }
        let store: Arc<dyn GuardedStore> = Arc::new(FencedTable::new(self, &schema, family.as_ref()));
        let servers = Servers {
            caches: self.caches.clone(),
            store: store.clone(),
            logs: self.logs.clone(),
            coordinator: coordination.coordinator.clone(),
            clock: self.clock.clone(),
        };
        let cache = {
            let mut tables = self.tables();
            if tables.has(range) || tables.is_cut(range) {
                let message = format!("the table {} is registered already", schema.table);
                return Err(Error::new(ErrorKind::Conflict, message));
            }
            let config = Config { keeps_log: self.options.keeps_log(), ..self.config(&schema) };
            // A watchdog did not see what was written before it began.
            let begins_cold = family.is_some();
            let rows = TableRows::new(schema.clone());
            let span = info_span!("table", table = schema.table.as_str());
            let cache = span.in_scope(|| RangeCache::begin(servers, range, config, rows, begins_cold));
            let cache = cache.with_patience(self.options.patience);
            let cache = cache.with_verified_hits(self.options.verified_percent);
            tables.whole.push(cache.clone());
            cache
        };
        self.watch(&schema, family, cache.alarm());
        let requests: Arc<dyn Requests> = Arc::new(cache);
        self.registry.add(requests.clone(), schema.clone(), store.clone(), false);
        Ok(Table::new(requests, schema, self.database.dialect(), store, self.registry.clone()))
    }

    /// From now on dendrites own the ranges of a table, here and elsewhere.
    pub(crate) async fn leave_to_dendrites(&self, table: &str) -> Result<()> {
        let coordination = self.coordination().await?;
        let range = sole_range_of(&*self.database, table).await?;
        if let Some(shared) = &coordination.whole_tables {
            return shared.leave_to_dendrites(table).await;
        }
        let _cutting = Cutting::begin(self, range, table)?;
        whole::leave_to_dendrites(&*self.database, table).await?;
        self.tables().cut.insert(range);
        Ok(())
    }

    /// The schema with what the database says of its table, and what a watchdog must know of it.
    pub(crate) async fn read(&self, schema: Schema) -> Result<(Arc<Schema>, Option<Family>)> {
        let mut described = describe(&*self.database, &schema.table).await?;
        if self.options.policy == Policy::WriteBack {
            described.constraints.rights = rights(&*self.database, &described).await?;
        }
        let schema = schema.with_columns(described)?;
        let family = match (&self.watchdog, &schema.name) {
            (Some(watchdog), Some(name)) => Some(watchdog.family(name).await?),
            _ => None,
        };
        Ok((Arc::new(schema), family))
    }

    /// From now on foreign writes to the table raise the alarm, if there is a watchdog. Call it before anything is
    /// read.
    pub(crate) fn watch(&self, schema: &Schema, family: Option<Family>, alarm: Alarm) {
        if let (Some(watchdog), Some(family)) = (&self.watchdog, family) {
            watchdog.watch(&schema.quoted(self.database.dialect()), family, alarm);
        }
    }

    pub(crate) fn config(&self, schema: &Schema) -> Config {
        Config {
            domain_count: schema.domains.len(),
            log_count: self.logs.len(),
            call_timeout: CALL_TIMEOUT_MS,
            attempts: ATTEMPTS,
            request_timeout: request_timeout_ms(self.options.patience),
            apply_batch: APPLY_BATCH,
            apply_pause: APPLY_PAUSE_MS,
            max_gaps: self.options.max_gaps,
            max_entries: self.options.max_entries,
            beta: self.options.beta,
            beta_auto: self.options.beta_auto,
            learns_size: self.options.measures_sizes,
            #[cfg(feature = "flaws")]
            flaw: self.options.flaw,
            ..Config::new(self.options.policy)
        }
    }

    /// Runs statements at the database, past the cache: for creating tables, not for writes to registered ones. What they
    /// set for their session ends with it, unless the database is one in memory.
    ///
    /// # Errors
    /// `InvalidInput` with the message of the database if it refuses them.
    pub async fn run_sql(&self, sql: &str) -> Result<()> {
        self.database.run(sql).await.map_err(|failure: Failure| failure.error)
    }

    /// Asks the database for nothing, to see whether it answers.
    ///
    /// # Errors
    /// `Unavailable` if it does not.
    pub async fn check_database(&self) -> Result<()> {
        let asked = self.database.query(&Statement::new("SELECT 1")).await;
        asked.map(drop).map_err(|failure: Failure| failure.error)
    }

    /// Counters since it was opened, over all tables.
    pub fn counts(&self) -> Counts {
        self.tables().whole.iter().fold(Counts::default(), |sum, table| sum.plus(table.counts()))
    }

    /// What each table holds, in the order in which they were opened.
    ///
    /// # Errors
    /// `Unavailable` once it was stopped.
    pub async fn gauges(&self) -> Result<Vec<RangeGauges>> {
        let tables = self.tables().whole.clone();
        let mut gauges = Vec::new();
        for table in tables {
            gauges.push(table.gauges().await?);
        }
        Ok(gauges)
    }

    /// Waits until the database has every acknowledged write, and closes the connections unless another cache lent
    /// them.
    ///
    /// # Errors
    /// `Unavailable` if it was stopped before, or if the database could not take all of them for at least 5 seconds: then they stay
    /// in the logs, and the next cache with the same logs applies them.
    pub async fn stop(&self) -> Result<()> {
        self.watchdog.iter().for_each(|watchdog| watchdog.rest());
        // Stopped tables keep their counters.
        let tables = self.tables().whole.clone();
        let mut stopped = Ok(());
        let stops: Vec<_> = tables.iter().map(RangeCache::begin_to_stop).collect();
        for stop in stops {
            stopped = stopped.and(stop.await);
        }
        if let Some(log) = &self.own_log {
            log.close().await;
        }
        if !self.is_guest {
            self.database.close().await;
            self.lock.iter().for_each(|lock| lock.release());
        }
        stopped
    }
}

/// The log servers.
type Logs = Vec<Arc<dyn LogServer>>;

/// The given log servers, or a file in which a former process may have left writes, which is named besides.
fn logs(options: &Options) -> Result<(Logs, Option<Arc<FileLog>>)> {
    if !options.logs.is_empty() {
        return Ok((options.logs.clone(), None));
    }
    let is_buffering = options.policy == Policy::WriteBack;
    let logs: Logs = match options.beside("-lacuna.log")? {
        Some(path) if is_buffering || path.exists() => {
            let log = Arc::new(FileLog::open(path)?);
            return Ok((vec![log.clone()], Some(log)));
        }
        None if is_buffering && options.is_shared() => {
            let message =
                "write-back for a database server needs log servers that other processes can reach, too";
            return Err(Error::invalid_input(message));
        }
        None if is_buffering => vec![Arc::new(MemoryLog::default())],
        _ => Vec::new(),
    };
    Ok((logs, None))
}
