//! Many rows at once, past the cache.
//!
//! A bulk load has a lease on all ranges of the table: there are no cached results, and all other reads and writes
//! wait. Its statements go from here to the database, in transactions that check the fences of all ranges. With
//! two dendrites in tenures 7 and 9, a transaction is committed only if neither has been replaced.
//!
//! Guarantee: what a transaction of the load commits is in every later result. If the lease is lost because an
//! owner was replaced, later transactions are refused. Other clients may have seen the earlier commits, and so
//! half of the load; what they see is the state of the database. One transaction is all or nothing for every
//! client.
//!
//! Cost: one call to each owner at the beginning and the end, no message to the cache in between.
//!
//! Report, section 8 ("bulk loading"); there nothing checks that the lease still holds.

use std::time::Duration;

use crate::owner::{OpenLease, WriteError};
use lacuna_cache_protocol::{Command, Error, Result, StoreReply, Write};
use tracing::{debug, info};

use super::Table;
use super::range::checked_words;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Effect, SqlWrite, Statement};

/// A bulk load that has begun. If it is dropped before it is finished, other requests are admitted again; if a
/// transaction is under way then, only after some seconds.
#[derive(Debug)]
pub struct BulkLoad {
    table: Table,
    /// `None` once it is over.
    lease: Option<OpenLease>,
    /// Whether a transaction may be under way.
    is_in_doubt: bool,
}

fn lease_lost() -> Error {
    Error::unavailable("the lease of the bulk load was lost: begin another")
}

impl Table {
    /// Begins a bulk load that takes at most `lasts` (and never more than two hours); the lease is lost after that.
    /// Waits until earlier requests are answered, and buffered writes are in the database.
    ///
    /// ```
    /// # use lacuna_cache::sql::{DomainType, Schema};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let cache = lacuna_cache::sql::open("sqlite::memory:").await?;
    /// # cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)").await?;
    /// # let people = cache.table(Schema::new("people", "id").with_domain("age", DomainType::Integer)).await?;
    /// assert!(people.get("age", 18..=22).await?.is_empty());
    /// let mut load = people.bulk_load(std::time::Duration::from_secs(60)).await?;
    /// load.insert((0..100_i64).map(|id| [("id", id.into()), ("age", (id % 50).into())])).await?;
    /// load.finish().await?;
    /// assert_eq!(people.get("age", 18..=22).await?.len(), 10);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Unavailable` if the lease is not granted in time.
    pub async fn bulk_load(&self, lasts: Duration) -> Result<BulkLoad> {
        // No registered column is named, so that all are touched whole.
        let everything = Write { touched: Vec::new(), command: Command::new(b"") };
        let lease = self.requests.hold(everything, lasts).await?;
        debug!(table = self.schema.table.as_str(), "a bulk load has begun");
        Ok(BulkLoad { table: self.clone(), lease: Some(lease), is_in_doubt: false })
    }
}

impl BulkLoad {
    /// Adds rows, in one transaction.
    ///
    /// # Errors
    /// As [`BulkLoad::execute`].
    pub async fn insert<'a, R: IntoIterator<Item = (&'a str, SqlValue)>>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), WriteError> {
        let statements =
            rows.into_iter().map(|row| self.table.insertion(row).map(|(statement, _)| statement));
        let statements = statements.collect::<Result<Vec<Statement>>>()?;
        self.run(statements).await
    }

    /// Runs statements of the application, in one transaction.
    ///
    /// # Errors
    /// `Refused` if the database refuses one, or it does not read or write rows; `NotDone` if the lease was lost
    /// before, and `Unknown` if the reply of the database was lost. See [`WriteError`].
    pub async fn execute(&mut self, statements: Vec<Statement>) -> Result<(), WriteError> {
        checked_words(&statements)?;
        self.run(statements).await
    }

    async fn run(&mut self, statements: Vec<Statement>) -> Result<(), WriteError> {
        let command = SqlWrite { fingerprint: 0, statements, effect: Effect::Unknown }.into_command();
        let lease = self.lease.as_ref().ok_or_else(|| WriteError::NotDone(lease_lost()))?;
        let (range, epoch, call) = lease.call(command);
        // If the caller stops waiting for the answer, this stays set.
        let was_in_doubt = std::mem::replace(&mut self.is_in_doubt, true);
        let answer = self.table.store.call(range, epoch, call).await.map_err(|_| WriteError::Unknown)?;
        self.is_in_doubt = was_in_doubt;
        match answer.reply {
            StoreReply::Done => Ok(()),
            // The same may succeed later.
            StoreReply::Refused { retry: true, .. } => {
                Err(WriteError::NotDone(answer.why.unwrap_or_else(lease_lost)))
            }
            StoreReply::Refused { .. } => {
                let silent = || Error::invalid_input("the database refused it and did not say why");
                Err(WriteError::Refused(answer.why.unwrap_or_else(silent)))
            }
            _ => {
                info!(table = self.table.schema.table.as_str(), "a bulk load has lost its lease");
                Err(WriteError::NotDone(lease_lost()))
            }
        }
    }

    /// Admits other requests again. If it returns `Ok`, none was admitted since the load began, even if other
    /// writes to the table went past the cache meanwhile (those of a database tool, for example, that has ended by
    /// now).
    ///
    /// # Errors
    /// `Unavailable` if the lease was lost before, or it is unknown whether it was, or the database does not show the fences.
    pub async fn finish(mut self) -> Result<()> {
        // A transaction that changes nothing, and checks that the fences are what they were.
        self.run(Vec::new()).await.map_err(|error| match error {
            WriteError::Refused(why) | WriteError::NotDone(why) => why,
            WriteError::Unknown => lease_lost(),
        })?;
        if let Some(lease) = self.lease.take().filter(|_| !self.is_in_doubt) {
            // Losing the lease from here on does no harm: later reads show the load.
            drop(lease.give_back().await);
        }
        debug!(table = self.table.schema.table.as_str(), "a bulk load has ended");
        Ok(())
    }
}

impl Drop for BulkLoad {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take().filter(|_| !self.is_in_doubt) {
            lease.let_go();
        }
    }
}
