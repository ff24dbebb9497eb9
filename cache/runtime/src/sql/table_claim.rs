//! The right to cache whole tables of a database server, for a cache that is not made by [`Options`](super::Options).
//!
//! The proxy keeps results of its own and needs from this library that no other process caches the same tables: it takes
//! the lease that a process with the table open as a whole takes, and renews it. Who holds `people` in tenure 7 keeps a
//! library's cache, dendrites and a second proxy out until it has been silent for 3.5 seconds. Processes that find writes of
//! others themselves may *share* a table: they keep out all but each other.
//!
//! Guarantee: between a successful [`TableClaims::renew`] and [`TableClaims::LEASE_MS`] after its beginning no other cache
//! serves the table, but those that share it. Writes are not fenced here: a claim says who may cache, not who may write.
//!
//! Cost: one connection, and one transaction for each renewal.

use std::sync::Arc;

use lacuna_cache_protocol::embedded::SteadyClock;
use lacuna_cache_protocol::ports::Coordinator as _;
use lacuna_cache_protocol::{Epoch, RangeId};
use lacuna_cache_protocol::{Error, Result};

use crate::sql::database::{Database, canonical, open_alone};
use crate::sql::fenced::{prepare, sole_range_of};
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;
use crate::sql::table_lease::{LEASE_MS, TableLease};
use crate::sql::whole::{WholeTables, check_needs_no_logs, check_whole};

/// How often a claim is tried: other processes may take the lease in between.
const CLAIMS: u32 = 10;

/// A connection to a database server, with the claims that were made over it.
#[derive(Debug)]
pub struct TableClaims {
    database: Arc<dyn Database>,
    whole: WholeTables,
    /// The number by which leases name this process.
    holder: i64,
    is_shared: bool,
}

/// A table that this process alone may cache, or those that share it, as long as it renews the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableClaim {
    range: RangeId,
    epoch: Epoch,
}

impl TableClaims {
    /// How long a claim lasts after a renewal was begun.
    pub const LEASE_MS: u64 = LEASE_MS;

    /// Connects to the database at `url` with one connection, and makes the tables of fences and leases.
    ///
    /// # Errors
    /// `InvalidInput` for a URL that is no database server of this build, `Unavailable` if it does not answer or the
    /// tables are missing and may not be made.
    pub async fn open(url: &str) -> Result<Self> {
        Self::open_as(url, false, None).await
    }

    /// The same for claims that all share who open them so. Each must find out what the others write.
    ///
    /// # Errors
    /// As [`TableClaims::open`].
    pub async fn open_shared(url: &str) -> Result<Self> {
        Self::open_as(url, true, None).await
    }

    /// The same process at another server, which is a copy of this one: of what it has claimed here it [claims](Self::claim) there at
    /// once what has come there.
    ///
    /// # Errors
    /// As [`TableClaims::open`].
    pub async fn open_again(&self, url: &str) -> Result<Self> {
        Self::open_as(url, self.is_shared, Some(self.holder)).await
    }

    async fn open_as(url: &str, is_shared: bool, holder: Option<i64>) -> Result<Self> {
        let database = open_alone(url).await?;
        prepare(&*database).await?;
        let clock = Arc::new(SteadyClock::new());
        let lease = if is_shared {
            TableLease::shared(database.clone(), clock).await?
        } else {
            TableLease::new(database.clone(), clock, 1).await?
        };
        let lease = match holder {
            Some(holder) => lease.of_holder(holder),
            None => lease,
        };
        let holder = lease.holder();
        let whole = WholeTables::new(database.clone(), lease);
        Ok(Self { database, whole, holder, is_shared })
    }

    /// Takes the right to cache a table. After a process that did not stop in order this waits until its lease is over; after those
    /// that share a table, too, unless it is shared with this one.
    ///
    /// # Errors
    /// `Conflict` if another process caches the table, dendrites own its ranges, one of both that buffers writes did not stop in
    /// order, or another set of the tables of fences and leases has it; `InvalidInput` if there is no such table, `Unavailable` if the database does not answer.
    pub async fn claim(&self, table: &str) -> Result<TableClaim> {
        let name = canonical(&*self.database, table).await?;
        let range = sole_range_of(&*self.database, &name).await?;
        check_whole(&*self.database, &name).await?;
        // A row without a holder is added by the first claim, and taken by the second.
        for _ in 0..CLAIMS {
            self.whole.check_free(&name, range).await?;
            check_needs_no_logs(&*self.database, &name, range).await?;
            if let Some(tenure) = self.whole.claim(range, None).await? {
                return Ok(TableClaim { range, epoch: tenure.epoch });
            }
        }
        Err(Error::unavailable(format!(
            "the lease of the table {name} cannot be taken: others keep taking it"
        )))
    }

    /// Keeps the right for another [`TableClaims::LEASE_MS`]; `false` if another process has taken it.
    ///
    /// # Errors
    /// `Unavailable` if the database does not answer: whether the claim holds is unknown.
    pub async fn renew(&self, claim: TableClaim) -> Result<bool> {
        self.whole.renew(claim.range, claim.epoch).await
    }

    /// Gives the right back, so that another process need not wait; not one that others may share.
    ///
    /// # Errors
    /// `Unavailable` if the database does not answer.
    pub async fn release(&self, claim: TableClaim) -> Result<()> {
        if self.is_shared {
            return Ok(());
        }
        self.whole.release(claim.range, claim.epoch).await
    }

    /// The rows of a query over the same connection.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn rows(&self, statement: &Statement) -> Result<Vec<Vec<SqlValue>>> {
        self.database.query(statement).await.map_err(|failure| failure.error)
    }

    /// The rows of a query at the database at `url`, over a connection of its own, and makes no tables.
    ///
    /// # Errors
    /// As [`TableClaims::open`], and those of the query.
    pub async fn ask(url: &str, statement: &Statement) -> Result<Vec<Vec<SqlValue>>> {
        let database = open_alone(url).await?;
        let rows = database.query(statement).await.map_err(|failure| failure.error);
        database.close().await;
        rows
    }

    /// Runs SQL of any number of statements at the database at `url`, and makes no tables.
    ///
    /// # Errors
    /// As [`TableClaims::open`], and those of the SQL.
    pub async fn run(url: &str, sql: &str) -> Result<()> {
        let database = open_alone(url).await?;
        let done = database.run(sql).await.map_err(|failure| failure.error);
        database.close().await;
        done
    }

    /// Closes the connection.
    pub async fn close(&self) {
        self.database.close().await;
    }
}
