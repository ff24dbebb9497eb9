//! Finds foreign writes to a registered table, past the cache, and then drops all cached entries.
//!
//! The replication log of a database server contains all changes of transactions: PostgreSQL decodes it for a slot
//! that ends with its connection (`decoding.rs`), MariaDB shows its binary log (`binlog.rs`). Both are read ten
//! times a second by a separate connection (`follow.rs`). A transaction of a cache has a mark in the log, which
//! names the table it was sent to. A transaction that changes a watched table and has no mark of it is foreign
//! (`transaction.rs`); so is a new definition of the table (`family.rs`).
//!
//! With rows 1 and 2 written through the cache and row 3 by `psql`, the third transaction raises the alarm:
//! results without row 3 are shown for a tenth of a second and the time it takes to drop them. A write to `orders`
//! through its cache whose trigger changes `people` has only the mark of `orders`, and raises the alarm of
//! `people`.
//!
//! Guarantee: none about reads until then; a cache cannot know of a write before it is in the log. While the log
//! cannot be followed, there may be foreign writes: the alarm is raised then, too, once a second.
//!
//! Cost: a mark in each statement of a write, up to three queries in a tenth of a second, and the server's work
//! for its log. However large a transaction is, only the names of its tables are kept.
//!
//! Foreign writes void the report's protocol (the report assumes that there are none); the watchdog detects them.

#[cfg(feature = "mariadb")]
mod binlog;
#[cfg(feature = "postgres")]
mod catalogue;
#[cfg(feature = "postgres")]
mod decoding;
#[cfg(feature = "mariadb")]
mod events;
mod family;
mod follow;
#[cfg(feature = "postgres")]
mod lines;
#[cfg(feature = "postgres")]
mod pending;
mod transaction;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::owner::Alarm;
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use tokio::task::JoinHandle;
use tracing::debug;

use crate::sql::database::{Database, Later, TableName};
pub(crate) use family::Family;

/// How long starting to follow a log may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Watched tables, by their names in SQL.
type Families = BTreeMap<String, Family>;

/// The log of a database server, read from where it was opened.
trait Journal: Debug + Send {
    /// Reads on, with a limit. Returns whether there is more.
    fn read(&mut self) -> Later<'_, Result<bool>>;

    /// The tables among these with foreign writes, by everything that was read and not reported before. From here
    /// on the tables are compared with their present state.
    fn touched<'a>(&'a mut self, watched: &'a mut Families) -> Later<'a, Result<BTreeSet<String>>>;
}

/// A table that is watched.
#[derive(Debug)]
struct Watched {
    table: String,
    /// Its state before any of it was cached.
    family: Family,
    alarm: Alarm,
}

type Tables = Arc<Mutex<Vec<Watched>>>;

/// Looks for foreign writes until it is dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    database: Arc<dyn Database>,
    tables: Tables,
    task: JoinHandle<()>,
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn locked(tables: &Tables) -> MutexGuard<'_, Vec<Watched>> {
    tables.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watchdog {
    /// Begins to follow the log of the server at `url`, which is also the server of `database`.
    ///
    /// # Errors
    /// `Unsupported` or `InvalidInput` if there is no log that can be followed, `Unavailable` if it cannot be
    /// followed now.
    pub(crate) async fn start(url: &str, database: Arc<dyn Database>) -> Result<Self> {
        let (journal, tables) = (opened(url).await?, Tables::default());
        debug!("the log of the database is followed");
        let task = tokio::spawn(follow::follow(journal, url.to_owned(), tables.clone()));
        Ok(Self { database, tables, task })
    }

    /// The present state of the table.
    ///
    /// # Errors
    /// `Unsupported` if the log does not show who changes it.
    pub(crate) async fn family(&self, table: &TableName) -> Result<Family> {
        family(&*self.database, table).await
    }

    /// Stops looking.
    pub(crate) fn rest(&self) {
        self.task.abort();
    }

    /// From now on a foreign write to `table`, by its name in SQL, also one since it was this `family`, raises the alarm. Entries that
    /// other processes cached before are dropped.
    pub(crate) fn watch(&self, table: &str, family: Family, alarm: Alarm) {
        locked(&self.tables).push(Watched { table: table.to_owned(), family, alarm: alarm.clone() });
        alarm.begin_cold();
    }
}

/// Starts to follow a log.
async fn opened(url: &str) -> Result<Box<dyn Journal>> {
    let late = |_| {
        let message = "the log of the database server could not be followed within 30 seconds. PostgreSQL begins to decode it only \
                       when all transactions have ended that are open: look for old ones in pg_stat_activity (xact_start) and \
                       pg_prepared_xacts";
        Error::unavailable(message)
    };
    tokio::time::timeout(PATIENCE, open(url)).await.map_err(late)?
}

async fn open(url: &str) -> Result<Box<dyn Journal>> {
    match url.split(':').next() {
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => Ok(Box::new(decoding::Decoding::open(url).await?)),
        #[cfg(feature = "mariadb")]
        Some("mysql" | "mariadb") => Ok(Box::new(binlog::Binlog::open(url).await?)),
        _ => {
            let message = "a watchdog needs the log of a database server, which SQLite does not have: `with_verified_hits` finds \
                           foreign writes there, too";
            Err(Error::new(ErrorKind::Unsupported, message))
        }
    }
}

async fn family(database: &dyn Database, table: &TableName) -> Result<Family> {
    match database.dialect() {
        #[cfg(feature = "postgres")]
        crate::sql::database::Dialect::Postgres => {
            catalogue::family(database, &table.quoted(database.dialect())).await
        }
        #[cfg(feature = "mariadb")]
        crate::sql::database::Dialect::MariaDb => binlog::family(database, table).await,
        _ => Err(Error::new(
            ErrorKind::Unsupported,
            format!("the database has no log that shows the writes to {table}"),
        )),
    }
}

/// All rows of a statement that returns few.
#[cfg(any(feature = "postgres", feature = "mariadb"))]
async fn few_rows(database: &dyn Database, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
    let mut rows = Vec::new();
    let mut keep = |row: &[Option<String>]| -> Result<()> {
        rows.push(row.to_vec());
        Ok(())
    };
    database.each_row(sql, &mut keep).await?;
    Ok(rows)
}
