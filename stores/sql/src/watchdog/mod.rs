//! Whoever writes to a registered table past the cache is found, and nothing cached is believed any more.
//!
//! All that transactions change, and the marks that writes of a cache leave, are in the log by which a database server is copied: PostgreSQL
//! decodes it for a slot that ends with its connection (`decoding.rs`), MariaDB shows its binary log (`binlog.rs`). Both are asked
//! ten times a second by a connection of their own. A transaction that changes a watched table and has no mark is a stranger's.
//!
//! With rows 1 and 2 written through the cache and row 3 by `psql`, the third transaction raises the alarm: results without row
//! 3 are shown for a tenth of a second and what it takes to drop them.
//!
//! Guarantee: none about what is read until then; a cache cannot know of a write before it is in the log. When the log
//! could not be followed, there may have been a stranger: the alarm is raised then, too.
//!
//! Cost: a mark in each statement of a write, a query in a tenth of a second, and what the server spends on its log.
//!
//! A bypass writer voids the report's protocol (the report takes it that there are none); this finds out.

#[cfg(feature = "mariadb")]
mod binlog;
#[cfg(feature = "postgres")]
mod decoding;
mod transaction;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lacuna_cache_shell::Alarm;
use lacuna_core::{Error, ErrorKind, Result};
use tokio::task::JoinHandle;

use crate::database::{Database, Later};

/// How often the log is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Between two attempts to follow it again.
const PAUSE: Duration = Duration::from_secs(1);

/// What strangers have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Strangers {
    /// Tables, by the names that the log has for them.
    Changed(BTreeSet<String>),
    /// Nobody can tell what.
    ChangedAny,
}

impl Strangers {
    fn none() -> Self {
        Self::Changed(BTreeSet::new())
    }

    fn changed(&mut self, tables: BTreeSet<String>) {
        if let Self::Changed(all) = self {
            all.extend(tables);
        }
    }
}

/// The log of a database server.
trait Journal: Debug + Send {
    /// Follows it from now on.
    fn begin(&mut self) -> Later<'_, Result<()>>;

    /// What strangers have changed since it was asked last.
    fn strangers(&mut self) -> Later<'_, Result<Strangers>>;
}

/// A table that is watched.
#[derive(Debug)]
struct Watched {
    table: String,
    alarm: Alarm,
}

type Tables = Arc<Mutex<Vec<Watched>>>;

/// Looks for strangers until it is dropped.
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
    /// Begins to follow the log of the server at `url`, which `database` is at, too.
    pub(crate) async fn start(url: &str, database: Arc<dyn Database>) -> Result<Self> {
        let mut journal = journal(url).await?;
        journal.begin().await?;
        let tables = Tables::default();
        let task = tokio::spawn(watch(journal, database.clone(), tables.clone()));
        Ok(Self { database, tables, task })
    }

    /// Whether the log tells who changes `table`.
    pub(crate) async fn check(&self, table: &str) -> Result<()> {
        names(&*self.database, table).await.map(drop)
    }

    /// Looks no longer.
    pub(crate) fn rest(&self) {
        self.task.abort();
    }

    /// From now on whoever changes `table` past the cache raises the alarm.
    pub(crate) fn watch(&self, table: &str, alarm: Alarm) {
        locked(&self.tables).push(Watched { table: table.to_owned(), alarm });
    }
}

async fn journal(url: &str) -> Result<Box<dyn Journal>> {
    match url.split(':').next() {
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => Ok(Box::new(decoding::Decoding::open(url).await?)),
        #[cfg(feature = "mariadb")]
        Some("mysql" | "mariadb") => Ok(Box::new(binlog::Binlog::open(url).await?)),
        _ => {
            let message = "a watchdog needs the log of a database server, which SQLite does not have: `verify_hits` finds                            strangers there, too";
            Err(Error::new(ErrorKind::Unsupported, message))
        }
    }
}

/// The names of a table in the log, and of those that its rows may be in.
async fn names(database: &dyn Database, table: &str) -> Result<BTreeSet<String>> {
    match database.dialect() {
        #[cfg(feature = "postgres")]
        crate::database::Dialect::Postgres => decoding::names(database, table).await,
        #[cfg(feature = "mariadb")]
        crate::database::Dialect::MariaDb => binlog::names(database, table).await,
        _ => Ok(BTreeSet::from([table.to_owned()])),
    }
}

async fn watch(mut journal: Box<dyn Journal>, database: Arc<dyn Database>, tables: Tables) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Ok(strangers) = journal.strangers().await else {
            follow_again(&mut *journal, &tables).await;
            continue;
        };
        if strangers == Strangers::none() {
            continue;
        }
        // A table is asked for its names now: it may have got another partition.
        let watched: Vec<(String, Alarm)> =
            locked(&tables).iter().map(|one| (one.table.clone(), one.alarm.clone())).collect();
        for (table, alarm) in watched {
            if is_touched(&*database, &table, &strangers).await {
                alarm.raise();
            }
        }
    }
}

async fn is_touched(database: &dyn Database, table: &str, strangers: &Strangers) -> bool {
    match strangers {
        Strangers::ChangedAny => true,
        Strangers::Changed(changed) => {
            names(database, table).await.map_or(true, |names| !names.is_disjoint(changed))
        }
    }
}

/// What happens meanwhile is seen by nobody: the alarm is raised as long as it lasts, and once more when it is over.
async fn follow_again(journal: &mut dyn Journal, tables: &Tables) {
    loop {
        let is_followed = journal.begin().await.is_ok();
        locked(tables).iter().for_each(|watched| watched.alarm.raise());
        if is_followed {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
