//! A table is open as a whole in one process, or dendrites own its ranges: never both.
//!
//! Both would write without updating each other's entries, and both would show stale results. A process that has a
//! table as a whole leases its row (`table_lease.rs`) and counts it up as long as it serves. The first dendrite
//! waits until the row was released, or has not moved for longer than a lease; if it is counted up meanwhile, the
//! dendrite is refused. Then one transaction counts the row up, raises the fence of the table against writes that
//! are still under way (P3), and adds the row `people#` to the fences. A process that claims the table as a whole
//! looks for that row before the claim, and again after it:
//!
//! - a dendrite that came before the claim has left its row, which is found;
//! - a dendrite that comes after the claim finds the lease counted up, and changes nothing.
//!
//! So no order of the two admits both. The claim costs five queries more than that of a range, the start of a
//! dendrite one, and that of the first dendrite a transaction.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::ports::{Coordinator, Reply, Tenure};
use lacuna_cache_protocol::{Epoch, RangeId};
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use tracing::{debug, info};

use crate::sql::database::{Database, Failure, in_time};
use crate::sql::fenced::{Buffering, integer, known_range, largest_epoch, new_range, raise_slots, range_of};
use crate::sql::sql_value::{SqlValue, text};
use crate::sql::statement::Statement;
use crate::sql::table_lease::{Lease, TableLease};

/// How often a dendrite checks whether the table is still open as a whole.
const LOOK: Duration = Duration::from_millis(250);
/// How often a hand-over may fail because of the database, or lose a race.
const MAX_FAILURES: u32 = 20;

/// The name of the row of `lacuna_fence` that marks the ranges of a table as owned by dendrites, whichever
/// coordinator leases them.
fn name_of_dendrites(table: &str) -> String {
    format!("{table}#")
}

fn of_dendrites(table: &str) -> Error {
    let row = name_of_dendrites(table);
    let message = format!(
        "dendrites own ranges of the table {table}: ask them, or stop them all and delete the row {row} of lacuna_fence"
    );
    Error::new(ErrorKind::Conflict, message)
}

/// The error of a dendrite while a process has the table as a whole.
pub(crate) fn open_as_a_whole(table: &str) -> Error {
    let message = format!(
        "a running process has the table {table} open as a whole: stop it before dendrites start on the table"
    );
    Error::new(ErrorKind::Conflict, message)
}

/// The error of a process that opens a table as a whole while another one has it.
fn open_elsewhere(table: &str) -> Error {
    let message = format!(
        "another running process caches the table {table}: stop it, or let both be clients of dendrites (`lacuna cache \
         dendrite`)"
    );
    Error::new(ErrorKind::Conflict, message)
}

/// Fails if dendrites own ranges of the table.
pub(crate) async fn check_whole(database: &dyn Database, table: &str) -> Result<()> {
    let found = known_range(database, &name_of_dendrites(table)).await?;
    found.map_or(Ok(()), |_| Err(of_dendrites(table)))
}

/// Gives the ranges to dendrites, if no other process can have the table: in a file of SQLite. The epoch of the table is raised
/// with it, so that results from before do not count as warm when the table is open as a whole again: dendrites may change rows
/// without ever having the first range, whose fence this is.
pub(crate) async fn leave_to_dendrites(database: &dyn Database, table: &str) -> Result<()> {
    let range = range_of(database, table).await?;
    if known_range(database, &name_of_dendrites(table)).await?.is_some() {
        return Ok(());
    }
    check_whole_drained(database, table, range).await?;
    let epoch = largest_epoch(database).await?.0 + 1;
    let error = |failure: Failure| failure.error;
    let raise = "UPDATE lacuna_fence SET epoch = {} WHERE range_id = {} AND epoch > 0";
    let raise = database.dialect().statement(raise, &[integer(epoch), i64::from(range.0).into()]);
    let mut open = database.begin().await.map_err(error)?;
    if let Err(failure) = open.execute(&new_range(database.dialect(), &name_of_dendrites(table))).await {
        open.rollback().await;
        // Another call of this process may have been faster.
        let found = known_range(database, &name_of_dendrites(table)).await?;
        return found.map(drop).ok_or_else(|| error(failure));
    }
    open.execute(&raise).await.map_err(error)?;
    open.commit().await.map_err(error)
}

fn left_by_a_process(table: &str) -> Error {
    let message = format!(
        "a process with write-back had the table {table} and did not stop in order, so that logs may have acknowledged writes that the database \
         lacks: start the same again, with write-back and the same log servers, and stop it in order"
    );
    Error::new(ErrorKind::Conflict, message)
}

fn left_by_dendrites(table: &str, range: i64) -> Error {
    let message = format!(
        "dendrites with write-back had the table {table} and did not stop in order, so that logs may have acknowledged writes that \
         the database lacks: start them again, with write-back and the same log servers, wait until they serve all ranges, and stop \
         them in order. If the logs are lost, or no dendrite has that range any more: UPDATE lacuna_fence SET is_buffered = 0 WHERE \
         range_id = {range}"
    );
    Error::new(ErrorKind::Conflict, message)
}

/// Fails if the process that had the table as a whole left writes in logs, which dendrites could not read.
async fn check_whole_drained(database: &dyn Database, table: &str, range: RangeId) -> Result<()> {
    let sql = "SELECT is_buffered FROM lacuna_fence WHERE range_id = {}";
    let asked = database.dialect().statement(sql, &[i64::from(range.0).into()]);
    let found = database.query(&asked).await.map_err(|failure| failure.error)?;
    let is_left = found.concat() == [SqlValue::Integer(Buffering::Whole as i64)];
    if is_left { Err(left_by_a_process(table)) } else { Ok(()) }
}

/// The ranges of the table that dendrites had, other than the first.
///
/// # Errors
/// `Conflict` if dendrites left writes in logs, which a process that has the table as a whole could not read.
async fn drained_parts(database: &dyn Database, table: &str) -> Result<Vec<RangeId>> {
    let rows = Statement::new("SELECT range_id, name, is_buffered FROM lacuna_fence");
    let mut parts = Vec::new();
    for row in database.query(&rows).await.map_err(|failure| failure.error)? {
        let [SqlValue::Integer(range), name, SqlValue::Integer(mark)] = &row[..] else { continue };
        let part = text(name.clone()).and_then(|name| part_of(&name, table));
        // Only dendrites have other ranges than the first.
        let is_theirs = |part: u32| *mark == Buffering::Cut as i64 || (part > 0 && *mark != 0);
        if part.is_some_and(is_theirs) {
            return Err(left_by_dendrites(table, *range));
        }
        if part.is_some_and(|part| part > 0) {
            parts.extend(u32::try_from(*range).ok().map(RangeId));
        }
    }
    Ok(parts)
}

/// Fails if logs may have writes of the table, for a process that reads none.
pub(crate) async fn check_needs_no_logs(database: &dyn Database, table: &str, range: RangeId) -> Result<()> {
    check_whole_drained(database, table, range).await?;
    drained_parts(database, table).await.map(drop)
}

/// Invalidates everything that dendrites left of a table before it is written to as a whole: entries that they
/// kept, and their writes that are still under way (P3).
///
/// # Errors
/// `Conflict` if dendrites left writes in logs.
pub(crate) async fn supersede_dendrites(database: &dyn Database, table: &str) -> Result<()> {
    for range in drained_parts(database, table).await? {
        let epoch = Epoch(largest_epoch(database).await?.0 + 1);
        supersede(database, range, epoch).await.map_err(|failure| failure.error)?;
    }
    Ok(())
}

/// Raises the fence of a range as if its entries had been recovered.
async fn supersede(database: &dyn Database, range: RangeId, epoch: Epoch) -> Result<(), Failure> {
    let (dialect, number) = (database.dialect(), i64::from(range.0));
    let sql = "UPDATE lacuna_fence SET epoch = {}, recovered = {} WHERE range_id = {}";
    let raise = dialect.statement(sql, &[integer(epoch.0), integer(epoch.0), number.into()]);
    let mut open = database.begin().await?;
    if let Some(impatiently) = dialect.impatiently() {
        open.execute(&Statement::new(impatiently)).await?;
    }
    open.execute(&raise).await?;
    raise_slots(&mut *open, dialect, range, epoch).await?;
    open.commit().await
}

/// The number of a range of the table by the name of its row: 0 for `people`, 2 for `people#2`.
fn part_of(name: &str, table: &str) -> Option<u32> {
    match name.strip_prefix(table)? {
        "" => Some(0),
        rest => rest.strip_prefix('#')?.parse().ok(),
    }
}

/// Leases on whole tables of a database server.
#[derive(Debug)]
pub(crate) struct WholeTables {
    database: Arc<dyn Database>,
    lease: TableLease,
}

impl WholeTables {
    pub(crate) fn new(database: Arc<dyn Database>, lease: TableLease) -> Self {
        Self { database: in_time(database), lease }
    }

    async fn claim_whole(&self, range: RangeId, lost_cache: Option<usize>) -> Result<Option<Tenure>> {
        let table = self.name(range).await?;
        check_whole(&*self.database, &table).await?;
        drained_parts(&*self.database, &table).await?;
        let Some(tenure) = self.lease.claim(range, lost_cache).await? else { return Ok(None) };
        if known_range(&*self.database, &name_of_dendrites(&table)).await?.is_some() {
            self.lease.release(range, tenure.epoch).await?;
            return Err(of_dendrites(&table));
        }
        supersede_dendrites(&*self.database, &table).await?;
        Ok(Some(tenure))
    }

    async fn name(&self, range: RangeId) -> Result<String> {
        let sql = "SELECT name FROM lacuna_fence WHERE range_id = {}";
        let found = self.lease.rows(sql, &[i64::from(range.0).into()]).await?;
        let name = found.into_iter().flatten().next().and_then(text);
        name.ok_or_else(|| Error::unavailable(format!("no table has the range {}", range.0)))
    }

    /// Waits until no other process has the table open, as long as its holder is silent.
    ///
    /// # Errors
    /// `Conflict` as soon as another process renews its lease, `Unavailable` if the database does not answer.
    pub(crate) async fn check_free(&self, table: &str, range: RangeId) -> Result<()> {
        let mut first_beat = None;
        while let Some(lease) = self.lease.lease(range).await? {
            if self.lease.owner(range, &lease).is_none_or(|owner| owner == self.lease.holder()) {
                return Ok(());
            }
            if first_beat.is_none() {
                debug!(
                    table,
                    "a process had the table, and may have it: this one waits as long as its lease"
                );
            }
            if *first_beat.get_or_insert(lease.beat) != lease.beat {
                return Err(open_elsewhere(table));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Gives the ranges of a table to dendrites. Waits until no process has it open as a whole, as long as its
    /// holder is silent.
    ///
    /// # Errors
    /// `Conflict` if a process has it, or left writes that are not in the database; `Unavailable` if the database
    /// does not answer.
    pub(crate) async fn leave_to_dendrites(&self, table: &str) -> Result<()> {
        let range = range_of(&*self.database, table).await?;
        let (mut first_beat, mut failures) = (None, 0);
        loop {
            let lease = self.row(range).await?;
            if known_range(&*self.database, &name_of_dendrites(table)).await?.is_some() {
                return Ok(());
            }
            if lease.holder != 0 && *first_beat.get_or_insert(lease.beat) != lease.beat {
                return Err(open_as_a_whole(table));
            }
            if self.lease.is_over(range, &lease) {
                check_whole_drained(&*self.database, table, range).await?;
                match self.hand_over(table, range, &lease).await {
                    Ok(true) => {
                        info!(table, "dendrites own the ranges of the table from now on");
                        return Ok(());
                    }
                    Err(error) if failures == MAX_FAILURES => return Err(error),
                    Ok(false) | Err(_) => failures += 1,
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn row(&self, range: RangeId) -> Result<Lease> {
        if let Some(lease) = self.lease.lease(range).await? {
            return Ok(lease);
        }
        self.lease.add(range).await;
        let missing = || Error::unavailable("the database does not keep leases");
        self.lease.lease(range).await?.ok_or_else(missing)
    }

    /// `false` if another process was faster.
    async fn hand_over(&self, table: &str, range: RangeId, lease: &Lease) -> Result<bool> {
        let epoch = self.lease.next_epoch(lease).await?;
        self.hand_over_at(epoch, table, range, lease).await.map_err(|failure| failure.error)
    }

    async fn hand_over_at(
        &self,
        epoch: i64,
        table: &str,
        range: RangeId,
        lease: &Lease,
    ) -> Result<bool, Failure> {
        let (dialect, number) = (self.database.dialect(), i64::from(range.0));
        let mut open = self.database.begin().await?;
        for setting in dialect.durably().into_iter().chain(dialect.impatiently()) {
            open.execute(&Statement::new(setting)).await?;
        }
        // A range that was never held stays so: it is claimed at its first request.
        let after = if lease.was_held() { epoch } else { 0 };
        let values = [after, number, lease.holder, lease.beat, lease.epoch].map(SqlValue::from);
        let take = "UPDATE lacuna_lease SET holder = 0, beat = beat + 1, epoch = {} \
                    WHERE range_id = {} AND holder = {} AND beat = {} AND epoch = {}";
        if open.execute(&dialect.statement(take, &values)).await? != 1 {
            open.rollback().await;
            return Ok(false);
        }
        let raise = "UPDATE lacuna_fence SET epoch = {} WHERE range_id = {}";
        open.execute(&dialect.statement(raise, &[epoch.into(), number.into()])).await?;
        raise_slots(&mut *open, dialect, range, Epoch(epoch.cast_unsigned())).await?;
        open.execute(&new_range(dialect, &name_of_dendrites(table))).await?;
        open.commit().await?;
        Ok(true)
    }
}

impl Coordinator for WholeTables {
    fn claim(&self, range: RangeId, lost_cache: Option<usize>) -> Reply<'_, Option<Tenure>> {
        Box::pin(self.claim_whole(range, lost_cache))
    }

    fn renew(&self, range: RangeId, epoch: Epoch) -> Reply<'_, bool> {
        self.lease.renew(range, epoch)
    }

    fn release(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        self.lease.release(range, epoch)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests;
