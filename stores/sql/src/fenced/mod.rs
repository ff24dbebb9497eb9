//! The port to the database: every write checks the fence of its range in its own transaction.
//!
//! A row of `lacuna_fence` holds the epoch of the owner of each range. A write reads it under a lock, so that a new owner
//! who raises it waits for writes of the old one that are in flight, and those that come later change nothing.

use std::sync::Arc;

use lacuna_core::{Error, ErrorKind, Result};
use lacuna_range_cache::ports::{Answer, DataStore, Reply};
use lacuna_range_cache::{Command, Epoch, Form, Query, RangeId, Rows, StoreCall, StoreReply, StoreState};

use crate::database::{Database, Failure, FailureKind, Table, Transaction};
use crate::domain_key;
use crate::file_lock::FileLock;
use crate::rows::encode;
use crate::schema::Schema;
use crate::select::select;
use crate::sql_value::SqlValue;
use crate::statement::{SqlWrite, Statement};

/// A table behind its fence.
#[derive(Debug)]
pub(crate) struct FencedTable {
    pub(crate) database: Arc<dyn Database>,
    pub(crate) schema: Arc<Schema>,
    /// Whether owners buffer writes, which a take-over without logs must then report.
    pub(crate) is_buffering: bool,
    /// The file is nobody else's while this lives.
    pub(crate) _lock: Option<Arc<FileLock>>,
}

/// Makes the table of fences.
pub(crate) async fn prepare(database: &dyn Database) -> Result<()> {
    let name = database.dialect().name_type();
    let sql = format!(
        "CREATE TABLE IF NOT EXISTS lacuna_fence (range_id INTEGER NOT NULL PRIMARY KEY, name {name} NOT NULL UNIQUE, \
         epoch BIGINT NOT NULL, recovered BIGINT NOT NULL, applied_lsn BIGINT NOT NULL, is_buffered INTEGER NOT NULL)"
    );
    database.run(&sql).await.map_err(|failure| failure.error)
}

/// The range of a table; the same in every process.
pub(crate) async fn range_of(database: &dyn Database, table: &str) -> Result<RangeId> {
    for _ in 0..10 {
        if let Some(range) = known_range(database, table).await? {
            return Ok(range);
        }
        let dialect = database.dialect();
        let sql = format!(
            "INSERT INTO lacuna_fence (range_id, name, epoch, recovered, applied_lsn, is_buffered) \
             SELECT COALESCE(MAX(range_id), 0) + 1, {}, 0, 0, 0, 0 FROM lacuna_fence",
            dialect.placeholder(1)
        );
        let mut transaction = database.begin().await.map_err(|failure| failure.error)?;
        // Another process may be first: the next round finds its row.
        if transaction.execute(&Statement::new(sql).with(table)).await.is_ok() {
            drop(transaction.commit().await);
        }
    }
    Err(Error::unavailable(format!("no range for the table {table}: others keep taking the next")))
}

async fn known_range(database: &dyn Database, table: &str) -> Result<Option<RangeId>> {
    let sql = format!("SELECT range_id FROM lacuna_fence WHERE name = {}", database.dialect().placeholder(1));
    let found = database.query(&Statement::new(sql).with(table)).await.map_err(|failure| failure.error)?;
    Ok(number(&found, 0).and_then(|number| u32::try_from(number).ok()).map(RangeId))
}

fn number(found: &Table, place: usize) -> Option<u64> {
    match found.first()?.get(place)? {
        SqlValue::Integer(value) => u64::try_from(*value).ok(),
        _ => None,
    }
}

fn integer(number: u64) -> SqlValue {
    SqlValue::Integer(i64::try_from(number).expect("epochs and numbers of writes are counted up from 1"))
}

/// A transaction that came to nothing.
enum Undone {
    Fenced,
    Refused { lsn: Option<u64>, failure: Failure },
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self::Refused { lsn: None, failure }
    }
}

impl FencedTable {
    async fn run(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Result<Answer> {
        if let StoreCall::Query(query) = call {
            return self.query(&query).await;
        }
        let mut transaction = match self.database.begin().await {
            Ok(begun) => begun,
            Err(failure) => return refused(&call, None, failure),
        };
        let done = match &call {
            StoreCall::Fence => self.raise_fence(&mut *transaction, range, epoch).await,
            StoreCall::Recovered => self.recovered(&mut *transaction, range, epoch).await,
            StoreCall::Write(command) => self.write(&mut *transaction, range, epoch, command).await,
            StoreCall::WriteAcross(command, others) => {
                self.write_across(&mut *transaction, (range, epoch), command, others).await
            }
            StoreCall::Apply(commands) => self.apply(&mut *transaction, range, epoch, commands).await,
            StoreCall::Query(_) => unreachable!("answered above"),
        };
        match done {
            Ok(reply) => {
                // Without an answer to a commit nobody knows: that is what an error of this port means.
                transaction.commit().await.map_err(|failure| failure.error)?;
                Ok(reply.into())
            }
            Err(undone) => {
                transaction.rollback().await;
                match undone {
                    Undone::Fenced => Ok(StoreReply::Fenced.into()),
                    Undone::Refused { lsn, failure } => refused(&call, lsn, failure),
                }
            }
        }
    }

    async fn query(&self, query: &Query) -> Result<Answer> {
        let statement = select(self.database.dialect(), &self.schema, query)?;
        let mut rows = self.database.query(&statement).await.map_err(|failure| failure.error)?;
        let limit = match query.form {
            Form::All => None,
            Form::First(limit) | Form::Last(limit) => Some(limit as usize),
        };
        let last = rows.last().filter(|_| limit == Some(rows.len()));
        let domain = self.schema.domains.get(query.domain).map(|(_, domain)| *domain);
        let last = match (last, domain) {
            (Some(row), Some(domain)) => {
                domain_key::key(domain, self.schema.domain_value(query.domain, row))?
            }
            _ => None,
        };
        if matches!(query.form, Form::Last(_)) {
            rows.reverse();
        }
        let value = encode(self.schema.columns.len(), &rows);
        Ok(StoreReply::Rows(Rows { value, is_empty: rows.is_empty(), last }).into())
    }

    async fn fence(&self, open: &mut dyn Transaction, range: RangeId, lock: &str) -> Result<Table, Failure> {
        let sql = format!(
            "SELECT epoch, recovered, applied_lsn, is_buffered FROM lacuna_fence WHERE range_id = {}{lock}",
            self.database.dialect().placeholder(1)
        );
        open.query(&Statement::new(sql).with(i64::from(range.0))).await
    }

    /// The fence is this epoch, and stays so until the transaction ends.
    async fn check(&self, open: &mut dyn Transaction, range: RangeId, epoch: Epoch) -> Result<Table, Undone> {
        self.check_under(open, range, epoch, self.database.dialect().shared_lock()).await
    }

    async fn check_under(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
        lock: &str,
    ) -> Result<Table, Undone> {
        let found = self.fence(open, range, lock).await?;
        if number(&found, 0) == Some(epoch.0) { Ok(found) } else { Err(Undone::Fenced) }
    }

    async fn raise_fence(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
    ) -> Result<StoreReply, Undone> {
        let dialect = self.database.dialect();
        let sql = format!(
            "UPDATE lacuna_fence SET epoch = {} WHERE range_id = {} AND epoch <= {}",
            dialect.placeholder(1),
            dialect.placeholder(2),
            dialect.placeholder(3)
        );
        let raise =
            Statement::new(sql).with(integer(epoch.0)).with(i64::from(range.0)).with(integer(epoch.0));
        open.execute(&raise).await?;
        let found = self.fence(open, range, "").await?;
        if number(&found, 0) != Some(epoch.0) {
            return Err(Undone::Fenced);
        }
        let part = |place| number(&found, place).unwrap_or(0);
        let (recovered, applied_lsn, is_buffered) = (Epoch(part(1)), part(2), part(3) > 0);
        Ok(StoreReply::State(StoreState { applied_lsn, recovered, is_buffered }))
    }

    async fn recovered(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
    ) -> Result<StoreReply, Undone> {
        self.check_under(open, range, epoch, self.database.dialect().exclusive_lock()).await?;
        let dialect = self.database.dialect();
        let sql = format!(
            "UPDATE lacuna_fence SET recovered = {}, is_buffered = {} WHERE range_id = {}",
            dialect.placeholder(1),
            dialect.placeholder(2),
            dialect.placeholder(3)
        );
        let is_buffered = i64::from(self.is_buffering);
        open.execute(&Statement::new(sql).with(integer(epoch.0)).with(is_buffered).with(i64::from(range.0)))
            .await?;
        Ok(StoreReply::Done)
    }

    async fn write(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
        command: &Command,
    ) -> Result<StoreReply, Undone> {
        self.check(open, range, epoch).await?;
        execute(open, command).await?;
        Ok(StoreReply::Done)
    }

    /// One write of several ranges, all of whose fences are checked.
    async fn write_across(
        &self,
        open: &mut dyn Transaction,
        (range, epoch): (RangeId, Epoch),
        command: &Command,
        others: &[(RangeId, Epoch)],
    ) -> Result<StoreReply, Undone> {
        for (other, epoch) in others {
            self.check(open, *other, *epoch).await?;
        }
        self.write(open, range, epoch, command).await
    }

    async fn apply(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
        commands: &[(u64, Option<Command>)],
    ) -> Result<StoreReply, Undone> {
        // It is changed at the end: a shared lock would have to be raised then, and could not be behind a waiting owner.
        let found = self.check_under(open, range, epoch, self.database.dialect().exclusive_lock()).await?;
        let mut applied = number(&found, 2).unwrap_or(0);
        for (lsn, command) in commands.iter().filter(|(lsn, _)| *lsn > number(&found, 2).unwrap_or(0)) {
            if let Some(command) = command {
                execute(open, command)
                    .await
                    .map_err(|failure| Undone::Refused { lsn: Some(*lsn), failure })?;
            }
            applied = *lsn;
        }
        let dialect = self.database.dialect();
        let sql = format!(
            "UPDATE lacuna_fence SET applied_lsn = {} WHERE range_id = {}",
            dialect.placeholder(1),
            dialect.placeholder(2)
        );
        open.execute(&Statement::new(sql).with(integer(applied)).with(i64::from(range.0))).await?;
        Ok(StoreReply::Done)
    }
}

async fn execute(open: &mut dyn Transaction, command: &Command) -> Result<(), Failure> {
    let write = SqlWrite::read(command).map_err(|error| Failure { error, kind: FailureKind::Never })?;
    for statement in &write.statements {
        let changed = open.execute(statement).await?;
        if statement.expected.is_some_and(|expected| expected != changed) {
            let message =
                format!("the row has changed, or is gone: {changed} rows of {:?}", statement.expected);
            let error = Error::new(ErrorKind::Conflict, message);
            return Err(Failure { error, kind: FailureKind::Never });
        }
    }
    Ok(())
}

/// A transaction that surely changed nothing. An owner that begins does not hear of refusals: it asks again.
fn refused(call: &StoreCall, lsn: Option<u64>, failure: Failure) -> Result<Answer> {
    let first = match call {
        StoreCall::Apply(commands) => commands.first().map(|(lsn, _)| *lsn),
        StoreCall::Fence | StoreCall::Recovered => return Err(failure.error),
        _ => None,
    };
    let retry = failure.kind == FailureKind::Later;
    Ok(Answer { reply: StoreReply::Refused { lsn: lsn.or(first), retry }, why: Some(failure.error) })
}

impl DataStore for FencedTable {
    fn call(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Reply<'_, Answer> {
        Box::pin(self.run(range, epoch, call))
    }

    fn largest_epoch(&self) -> Reply<'_, Epoch> {
        Box::pin(async move { largest_epoch(&*self.database).await })
    }
}

/// The largest epoch of any range.
pub(crate) async fn largest_epoch(database: &dyn Database) -> Result<Epoch> {
    let found = database.query(&Statement::new("SELECT COALESCE(MAX(epoch), 0) FROM lacuna_fence")).await;
    Ok(Epoch(number(&found.map_err(|failure| failure.error)?, 0).unwrap_or(0)))
}
