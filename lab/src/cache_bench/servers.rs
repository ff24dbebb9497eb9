//! The servers of a run: real ones, on free ports of this machine, which end with it; and relays before them.
//!
//! A database stays for all runs that want the same of it, and so do its tables: loading a million records takes longer than most
//! runs. The versions that the last run has left in them are where the next one begins. A run that did not end well, or wants
//! other tables, loads them anew.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lacuna_base::{Error, Result};
use lacuna_testkit::servers::{MariaDb, Postgres, Redis};
use tempfile::TempDir;

use crate::cache_bench::bare::Bare;
use crate::cache_bench::data_folder;
use crate::cache_bench::relay::{Relay, Shape};
use crate::cache_bench::setup::{Setup, StoreKind};

/// Databases that are started once for all runs of a process.
#[derive(Debug, Default)]
pub(crate) struct Databases {
    started: BTreeMap<Kind, Database>,
    /// Where a store with little memory has its data; by default where this program is.
    data_folder: Option<PathBuf>,
}

/// What runs want of a database: which it is, the bytes it has for rows, and whether these are too few for all.
type Kind = (StoreKind, u64, bool);

fn kind(setup: &Setup) -> Kind {
    (setup.store, setup.server_memory(), setup.store_memory.is_some())
}

/// A database and what is in it.
#[derive(Debug)]
struct Database {
    server: Server,
    rows: SharedRows,
}

/// The tables that a run has left in a database.
#[derive(Debug)]
struct Rows {
    tables: u64,
    /// Of all records, in order.
    versions: Vec<u64>,
}

type SharedRows = Arc<Mutex<Option<Rows>>>;

/// Where the rows are; the server, if it is one, ends when this is dropped.
#[derive(Debug)]
enum Server {
    /// The folder of files, one for each run.
    File(TempDir),
    MariaDb(MariaDb),
    Postgres(Postgres),
}

/// Servers of one run.
#[derive(Debug)]
pub(crate) struct RunServers {
    /// The store without a relay.
    pub(crate) direct_url: String,
    /// The store as clients reach it.
    pub(crate) store_url: String,
    /// Cache servers as clients reach them.
    pub(crate) cache_urls: Vec<String>,
    /// Those among them that keep a log of entries, without a relay.
    pub(crate) logging_cache_urls: Vec<String>,
    /// Log servers.
    pub(crate) log_urls: Vec<String>,
    /// Of all records, in order, before the run.
    pub(crate) versions: Vec<u64>,
    rows: SharedRows,
    relays: Vec<Relay>,
    _servers: Arc<Vec<Redis>>,
}

impl Databases {
    /// Starts the database of a run, unless it runs already. Servers end with the thread that calls this.
    ///
    /// # Errors
    /// `Unavailable` if it is not installed.
    pub(crate) fn start(&mut self, setup: &Setup) -> Result<()> {
        let kind = kind(setup);
        if self.started.contains_key(&kind) {
            return Ok(());
        }
        // A server whose rows another run wants to be in memory has its share of that for nothing now.
        self.started.retain(|(store, ..), _| *store != setup.store);
        let server = self.server(setup)?;
        self.started.insert(kind, Database { server, rows: SharedRows::default() });
        Ok(())
    }

    fn server(&self, setup: &Setup) -> Result<Server> {
        let data = match setup.store_memory {
            Some(_) => Some(data_folder::chosen(self.data_folder.as_deref())?),
            None => None,
        };
        let (memory, data) = (setup.server_memory(), data.as_deref());
        Ok(match setup.store {
            StoreKind::Sqlite => Server::File(folder()?),
            StoreKind::MariaDb => {
                let server = MariaDb::with_memory(memory, data);
                Server::MariaDb(server.ok_or_else(|| absent("mariadb-server"))?)
            }
            StoreKind::Postgres | StoreKind::PostgresAsync => {
                if let Some(data) = data.filter(|data| !Postgres::can_reach(data)) {
                    return Err(Error::invalid_input(format!(
                        "the user of PostgreSQL cannot reach {}: give --data-folder on a disk where it can",
                        data.display()
                    )));
                }
                let server = Postgres::with_memory(memory, data);
                Server::Postgres(server.ok_or_else(|| absent("postgresql"))?)
            }
        })
    }

    /// The database of a run.
    fn of(&self, setup: &Setup) -> Result<&Database> {
        let absent = || Error::unavailable(format!("{} was not started", setup.store.name()));
        self.started.get(&kind(setup)).ok_or_else(absent)
    }

    /// Databases whose data is in `folder` where they have little memory.
    pub(crate) fn with_data_folder(folder: Option<PathBuf>) -> Self {
        Self { data_folder: folder, ..Self::default() }
    }
}

impl Database {
    /// Where it is; a new file each time if it is one.
    fn url(&self, run: u64) -> String {
        match &self.server {
            Server::File(folder) => {
                format!("sqlite:{}", folder.path().join(format!("run{run}.db")).display())
            }
            Server::MariaDb(server) => server.url(),
            Server::Postgres(server) => server.url(),
        }
    }

    /// What the last run has left, which is nothing from now on.
    fn take_rows(&self, setup: &Setup) -> Option<Rows> {
        let is_file = matches!(self.server, Server::File(_));
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let count = rows.versions.len() as u64;
        let fits = rows.tables == setup.tables() && count == setup.records_of_a_table() * setup.tables();
        (fits && !is_file).then_some(rows)
    }
}

/// Redis servers of a run. They end with the thread that starts them, so do not call this from a task.
///
/// # Errors
/// `Unavailable` if Redis is not installed.
pub(crate) fn start_redis(setup: &Setup) -> Result<(Vec<Redis>, Vec<Redis>)> {
    let memory = ["--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"];
    let start = |server: Option<Redis>| server.ok_or_else(|| absent("redis-server"));
    let limit = setup.cache_bytes.unwrap_or(0).to_string();
    let limited =
        ["--save", "", "--appendonly", "no", "--maxmemory-policy", "volatile-lru", "--maxmemory", &limit];
    let caches = (0..setup.cache_servers).map(|_| start(Redis::with(&limited))).collect::<Result<_>>()?;
    let log = || if setup.is_durable { Redis::durable_log() } else { Redis::with(&memory) };
    let logs = (0..setup.log_servers()).map(|_| start(log())).collect::<Result<_>>()?;
    Ok((caches, logs))
}

impl RunServers {
    /// Puts relays before the servers, where the run wants them, and sees to the tables. Relays pass everything on at once for now.
    pub(crate) async fn prepare(
        databases: &Databases,
        (caches, logs): (Vec<Redis>, Vec<Redis>),
        setup: &Setup,
        run: u64,
    ) -> Result<Self> {
        let database = databases.of(setup)?;
        let direct_url = database.url(run);
        let mut relays = Vec::new();
        let mut cache_urls: Vec<String> = caches.iter().map(Redis::url).collect();
        let logging_cache_urls = if setup.has_warm_start { cache_urls.clone() } else { Vec::new() };
        if setup.bandwidth.is_some() {
            for url in &mut cache_urls {
                let shape = Shape { bandwidth: setup.bandwidth, ..Shape::default() };
                *url = relayed(url, shape, &mut relays).await?;
            }
        }
        let store_url = if setup.delay.is_zero() {
            direct_url.clone()
        } else {
            relayed(&direct_url, Shape { delay: setup.delay, bandwidth: None }, &mut relays).await?
        };
        let log_urls = logs.iter().map(Redis::url).collect();
        let servers = Arc::new(caches.into_iter().chain(logs).collect());
        let mut servers = Self {
            direct_url,
            store_url,
            cache_urls,
            logging_cache_urls,
            log_urls,
            versions: Vec::new(),
            rows: database.rows.clone(),
            relays,
            _servers: servers,
        };
        servers.versions = if setup.system.has_store() {
            servers.prepare_tables(setup, database.take_rows(setup)).await?
        } else {
            first_versions(setup)
        };
        Ok(servers)
    }

    /// From now on, relays hold back, or pass everything on at once.
    pub(crate) fn hold_back(&self, holds_back: bool) {
        self.relays.iter().for_each(|relay| relay.hold_back(holds_back));
    }

    /// Has the database clean up what updates have left of its tables.
    pub(crate) async fn clean_up(&self, setup: &Setup) -> Result<()> {
        let bare = Bare::open(&self.direct_url, 1).await?;
        for table in 0..setup.tables() {
            bare.clean_up(table).await?;
        }
        bare.close().await;
        Ok(())
    }

    /// After a run that ended well: the next one finds these versions.
    pub(crate) fn keep_rows(&self, setup: &Setup, versions: Vec<u64>) {
        if setup.system.has_store() {
            let rows = Rows { tables: setup.tables(), versions };
            *self.rows.lock().unwrap_or_else(PoisonError::into_inner) = Some(rows);
        }
    }

    /// Tables that know nothing of another cache, with all records; returns their versions.
    async fn prepare_tables(&self, setup: &Setup, known: Option<Rows>) -> Result<Vec<u64>> {
        let bare = Bare::open(&self.direct_url, 1).await?;
        let role = if setup.store == StoreKind::PostgresAsync {
            "ALTER ROLE postgres SET synchronous_commit = off; "
        } else {
            ""
        };
        let own = ["lacuna_fence", "lacuna_slot", "lacuna_lease"];
        let drop_own = own.map(|table| format!("DROP TABLE IF EXISTS {table}")).join("; ");
        bare.run(&format!("{role}{drop_own}")).await?;
        let count = setup.records_of_a_table();
        for table in 0..setup.tables() {
            match known {
                Some(_) => bare.clean_up(table).await?,
                None => bare.load(table, table * count, count, crate::cache_bench::records::COLUMNS).await?,
            }
        }
        bare.close().await;
        Ok(known.map_or_else(|| first_versions(setup), |rows| rows.versions))
    }
}

/// Of records that were just made.
fn first_versions(setup: &Setup) -> Vec<u64> {
    (0..setup.records_of_a_table() * setup.tables()).map(|_| 1).collect()
}

/// The same server, reached through a relay.
async fn relayed(url: &str, shape: Shape, relays: &mut Vec<Relay>) -> Result<String> {
    const HOST: &str = "127.0.0.1:";
    let no_port = || Error::invalid_input(format!("{url} names no port of this machine"));
    let (before, after) = url.split_once(HOST).ok_or_else(no_port)?;
    let digits = after.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(after.len());
    let port = after[..digits].parse().map_err(|_| no_port())?;
    let relay = Relay::start(port, shape).await.map_err(|error| {
        Error::unavailable(format!("no relay can be put before {url}: {error}")).with_source(error)
    })?;
    let url = format!("{before}{HOST}{}{}", relay.port(), &after[digits..]);
    relays.push(relay);
    Ok(url)
}

/// A folder for a database, gone with what is returned.
pub(crate) fn folder() -> Result<TempDir> {
    tempfile::tempdir().map_err(|error| {
        Error::unavailable(format!("no folder for the database can be made: {error}")).with_source(error)
    })
}

fn absent(package: &str) -> Error {
    Error::unavailable(format!("{package} is not installed; `apt-get install {package}` brings it"))
}
