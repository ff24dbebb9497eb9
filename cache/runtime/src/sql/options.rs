//! How to open a database with a cache in front of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "flaws")]
use lacuna_cache_protocol::Flaw;
use lacuna_cache_protocol::Policy;
use lacuna_cache_protocol::ports::{CacheServer, LogServer};
use lacuna_cache_protocol::{Error, Result};

use crate::sql::cache::Cache;

/// Settings of a cache; the defaults are those of [`crate::sql::open`].
///
/// ```
/// use lacuna_cache::sql::{Options, Policy};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cache = Options::new("sqlite::memory:").with_policy(Policy::WriteThrough).with_cache_bytes(16 << 20).open().await?;
/// # cache.stop().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    pub(crate) url: String,
    pub(crate) policy: Policy,
    pub(crate) cache_bytes: usize,
    pub(crate) max_gaps: usize,
    pub(crate) max_entries: usize,
    pub(crate) beta: u8,
    pub(crate) beta_auto: bool,
    pub(crate) measures_sizes: bool,
    pub(crate) patience: Duration,
    pub(crate) verified_percent: u8,
    pub(crate) has_watchdog: bool,
    pub(crate) has_warm_start: bool,
    pub(crate) caches: Vec<Arc<dyn CacheServer>>,
    pub(crate) logs: Vec<Arc<dyn LogServer>>,
    #[cfg(feature = "flaws")]
    pub(crate) flaw: Option<Flaw>,
}

impl Options {
    /// The database at `url`: `sqlite:FILE`, `sqlite::memory:`, with features `postgres://...` and `mysql://...`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            policy: Policy::WriteThrough,
            cache_bytes: 64 << 20,
            max_gaps: 10_000,
            max_entries: 1_000_000,
            beta: 100,
            beta_auto: true,
            measures_sizes: false,
            patience: Duration::from_secs(5),
            verified_percent: 0,
            has_watchdog: false,
            has_warm_start: false,
            caches: Vec::new(),
            logs: Vec::new(),
            #[cfg(feature = "flaws")]
            flaw: None,
        }
    }

    /// What a write does to cached results; [`Policy::WriteThrough`] by default.
    #[must_use]
    pub const fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Memory for results in this process; 64 MiB by default. Without effect if other cache servers are given.
    #[must_use]
    pub const fn with_cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Known-empty intervals to keep for each table; 10,000 by default.
    #[must_use]
    pub const fn with_max_gaps(mut self, gaps: usize) -> Self {
        self.max_gaps = gaps;
        self
    }

    /// β: the largest percentage of its rows that a cached result may share with another. Below 100 a result is put together from
    /// overlapping cached ones and queries for the gaps between them, so that a write changes fewer entries and a read
    /// may need several. Without this, each range chooses its own ([`Options::with_auto_beta`]).
    #[must_use]
    pub fn with_beta(mut self, percent: u8) -> Self {
        (self.beta, self.beta_auto) = (percent.min(100), false);
        self
    }

    /// Lets each range choose β automatically, which it does from 100 on unless [`Options::with_beta`] has fixed it. After this,
    /// the fixed one is the initial value. It is decided once a second, if 1,000 operations have passed: down where writes
    /// change many entries that overlap or the cache server's memory is short, up where reads find whole results.
    #[must_use]
    pub const fn with_auto_beta(mut self) -> Self {
        self.beta_auto = true;
        self
    }

    /// Sets how many results the owner of a range knows of; 1,000,000 by default, which take up to 200 MB with keys of 8 bytes,
    /// and some 400 MB more if writes have changed all of them in place. Beyond that it deletes some of them from the cache server. A
    /// cache server that evicts results itself should keep no more.
    #[must_use]
    pub const fn with_max_entries(mut self, entries: usize) -> Self {
        self.max_entries = entries;
        self
    }

    /// Lets each range measure which results are too large to be worth caching: those whose lookups take longer than
    /// their queries. This saves memory, hardly time: a result that is not cached is mostly looked up before it is queried, too.
    /// By default, everything up to 1 MiB is cached.
    #[must_use]
    pub const fn with_measured_sizes(mut self) -> Self {
        self.measures_sizes = true;
        self
    }

    /// How long a request is tried before it fails, and how long its last try may take; 5 seconds by default, at least a
    /// millisecond.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The percentage of hits that are verified at the database, under their lease; none by default. If one
    /// differs, a foreign write went past the cache: the read returns the result of the database, all cached
    /// entries of the table are dropped, [`Counts::foreign_writes`](crate::sql::Counts) counts it, and
    /// [`Notice::BypassDetected`](crate::sql::Notice) reports it.
    #[must_use]
    pub fn with_verified_hits(mut self, percent: u8) -> Self {
        self.verified_percent = percent.min(100);
        self
    }

    /// Follows the log of the database server, and drops all cached entries of a table after a foreign write;
    /// counted and reported as by [`Options::with_verified_hits`]. Reads between that write and a tenth of a second later
    /// may still be wrong. Every process that writes to these tables through a cache must have a watchdog, or its
    /// writes count as foreign.
    ///
    /// PostgreSQL needs `wal_level = logical` and a user with `REPLICATION`; MariaDB `log_bin`, `binlog_format =
    /// ROW` and a user with `BINLOG MONITOR` and `REPLICATION SLAVE`. SQLite has no such log.
    #[must_use]
    pub const fn with_watchdog(mut self) -> Self {
        self.has_watchdog = true;
        self
    }

    /// Begins with the results that the last program with the table open has left in the cache server, if that one had this
    /// option, too, and nothing says that they may be wrong; off by default. The cache server keeps a log of its results for
    /// that, which takes memory there ([`Cache::gauges`]).
    ///
    /// Who turns this on promises that nothing writes to the tables past a cache while no program has them open: no console, no
    /// migration, no restored backup, no other file in the place of this one. Such a write cannot be seen, and results from before
    /// it are shown for an hour. Empty the cache servers (`FLUSHDB`) after one.
    ///
    /// Without effect in memory, which ends with the program, in [`Hashed`](crate::sql::Hashed), which keeps no log, and for a
    /// database in memory; with a watchdog, which did not watch in between, a program begins with an empty cache.
    #[must_use]
    pub const fn with_warm_start(mut self) -> Self {
        self.has_warm_start = true;
        self
    }

    /// Another cache server in place of the memory of this process; tables spread over all that are given. A
    /// remote server may be wrapped in [`Compressed`](crate::sql::Compressed), several in
    /// [`Hashed`](crate::sql::Hashed).
    #[must_use]
    pub fn with_cache_server(mut self, server: Arc<dyn CacheServer>) -> Self {
        self.caches.push(server);
        self
    }

    /// A log server for [`Policy::WriteBack`]; a write is acknowledged when all given servers have it. Without
    /// any, a file next to a database of SQLite is the log; a database server needs log servers.
    #[must_use]
    pub fn with_log_server(mut self, server: Arc<dyn LogServer>) -> Self {
        self.logs.push(server);
        self
    }

    /// The injected flaw, in tests that must fail.
    #[cfg(feature = "flaws")]
    #[doc(hidden)]
    #[must_use]
    pub const fn with_flaw(mut self, flaw: Flaw) -> Self {
        self.flaw = Some(flaw);
        self
    }

    /// Opens the database.
    ///
    /// # Errors
    /// `InvalidInput` for a URL of an unsupported database and for requests without patience, `Conflict` while another
    /// process has the file open with a cache, `Unavailable` if it cannot be opened. With a watchdog `InvalidInput` or
    /// `Unsupported` if the server keeps no log for it.
    pub async fn open(self) -> Result<Cache> {
        Cache::open(self).await
    }

    /// # Errors
    /// `InvalidInput` for settings under which no request that waits for another would be answered.
    pub(crate) fn check(&self) -> Result<()> {
        if self.patience.as_millis() == 0 {
            let message = "a request is tried for no time: give `with_patience` at least a millisecond";
            return Err(Error::invalid_input(message));
        }
        Ok(())
    }

    /// Whether other processes can reach the database, too.
    pub(crate) fn is_shared(&self) -> bool {
        !self.url.starts_with("sqlite:")
    }

    /// Whether the cache server keeps a log of entries: a database in memory is another one after each start.
    pub(crate) fn keeps_log(&self) -> bool {
        self.has_warm_start && !crate::sql::database::is_in_memory(&self.url)
    }

    /// The path of the database's file with a suffix; `None` if it is in memory, or a server's.
    pub(crate) fn beside(&self, suffix: &str) -> Result<Option<PathBuf>> {
        let with_suffix = |file: PathBuf| {
            let mut name = file.into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        };
        Ok(crate::sql::database::file_of(&self.url)?.map(with_suffix))
    }
}
