//! The servers of a run: real ones, on free ports of this machine, which end with it; and relays before them.

use std::collections::BTreeMap;
use std::sync::Arc;

use lacuna_base::{Error, Result};
use lacuna_testkit::servers::{MariaDb, Postgres, Redis};
use tempfile::TempDir;

use crate::cache_bench::bare::Bare;
use crate::cache_bench::relay::{Relay, Shape};
use crate::cache_bench::setup::{Setup, StoreKind};

/// Databases that are started once for all runs of a process.
#[derive(Debug, Default)]
pub(crate) struct Databases {
    started: BTreeMap<StoreKind, Database>,
}

/// A database; the server, if it is one, ends when this is dropped.
#[derive(Debug)]
enum Database {
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
    _relays: Vec<Relay>,
    _servers: Arc<Vec<Redis>>,
}

impl Databases {
    /// Starts the database of a run, unless it runs already. Servers end with the thread that calls this.
    ///
    /// # Errors
    /// `Unavailable` if it is not installed.
    pub(crate) fn start(&mut self, store: StoreKind) -> Result<()> {
        if self.started.contains_key(&store) {
            return Ok(());
        }
        let database = match store {
            StoreKind::Sqlite => Database::File(folder()?),
            StoreKind::MariaDb => {
                Database::MariaDb(MariaDb::durable().ok_or_else(|| absent("mariadb-server"))?)
            }
            StoreKind::Postgres | StoreKind::PostgresAsync => {
                Database::Postgres(Postgres::durable().ok_or_else(|| absent("postgresql"))?)
            }
        };
        self.started.insert(store, database);
        Ok(())
    }

    /// Where the database is; a new file each time if it is one.
    fn url(&self, store: StoreKind, run: u64) -> Result<String> {
        match self.started.get(&store) {
            Some(Database::File(folder)) => {
                Ok(format!("sqlite:{}", folder.path().join(format!("run{run}.db")).display()))
            }
            Some(Database::MariaDb(server)) => Ok(server.url()),
            Some(Database::Postgres(server)) => Ok(server.url()),
            None => Err(Error::unavailable(format!("{} was not started", store.name()))),
        }
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
    /// Puts relays before the servers, where the run wants them, and makes the database forget former runs.
    pub(crate) async fn prepare(
        databases: &Databases,
        (caches, logs): (Vec<Redis>, Vec<Redis>),
        setup: &Setup,
        run: u64,
    ) -> Result<Self> {
        let direct_url = databases.url(setup.store, run)?;
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
        let servers = Self {
            direct_url,
            store_url,
            cache_urls,
            logging_cache_urls,
            log_urls,
            _relays: relays,
            _servers: servers,
        };
        servers.load(setup).await?;
        Ok(servers)
    }

    /// Tables as if no run had been there before.
    async fn load(&self, setup: &Setup) -> Result<()> {
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
            bare.load(table, table * count, count, crate::cache_bench::records::COLUMNS).await?;
        }
        bare.close().await;
        Ok(())
    }
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
