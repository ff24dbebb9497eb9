//! The port to the database: every write checks the fence of its range.
//!
//! A row of `lacuna_fence` holds the epoch of the owner of each range (`row.rs`). A write reads it under a lock,
//! so that a new owner that raises it waits for writes of the old one that are in flight, and later writes of the
//! old one change nothing (P3). A single statement has the fence among its conditions, and costs one round trip
//! (`statement.rs`); several statements, or SQL of the application, read it in their transaction before they begin
//! (`transaction.rs`, `apply.rs`). Holders of leases run transactions by themselves (`guarded.rs`). [`docs/design/range-cache-fence.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/range-cache-fence.md) shows that both are equally safe.

mod apply;
mod guarded;
mod row;
mod slots;
mod statement;
mod transaction;

use std::sync::Arc;

use lacuna_cache_protocol::ports::{Answer, DataStore, Reply};
use lacuna_cache_protocol::{Epoch, Form, Policy, Query, RangeId, Rows, StoreCall, StoreReply};
use lacuna_cache_protocol::{Error, Result};

pub(crate) use guarded::GuardedStore;
pub(crate) use row::{
    fence_of, integer, known_range, largest_epoch, new_range, prepare, range_of, sole_range_of,
};
pub(crate) use slots::{Slots, raise_slots};
use transaction::Undone;
pub(crate) use transaction::execute;

use crate::sql::asking::{Question, new_stamp, stamped};
use crate::sql::cache::Cache;
use crate::sql::database::{Database, Failure, FailureKind, Mark, Table};
use crate::sql::domain_key;
use crate::sql::file_lock::FileLock;
use crate::sql::rows::encode;
use crate::sql::schema::Schema;
use crate::sql::select::select;
use crate::sql::sql_value::SqlValue;
use crate::sql::watchdog::{Family, Watchdog};

/// Whether logs may have writes that the database lacks, as `is_buffered` of a fence says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Buffering {
    No = 0,
    /// Those of the process that has the table as a whole.
    Whole = 1,
    /// Those of dendrites, whose logs number ranges otherwise.
    Cut = 2,
}

/// A table with its fence.
#[derive(Debug)]
pub(crate) struct FencedTable {
    pub(crate) database: Arc<dyn Database>,
    pub(crate) schema: Arc<Schema>,
    /// Whether owners buffer writes, which a take-over must know.
    pub(crate) buffering: Buffering,
    /// What its writes hold of the fence.
    pub(crate) slots: Slots,
    /// The mark by which watchdogs recognize its writes.
    pub(crate) mark: Option<Mark>,
    /// Looks for foreign writes as long as the table may be read through the cache.
    pub(crate) _watchdog: Option<Arc<Watchdog>>,
    /// Keeps other processes out of the file while this lives.
    pub(crate) _lock: Option<Arc<FileLock>>,
}

impl FencedTable {
    /// A table of `cache`, which the watchdog knows as this `family`.
    pub(crate) fn new(cache: &Cache, schema: &Arc<Schema>, family: Option<&Family>) -> Self {
        Self {
            database: cache.database.clone(),
            schema: schema.clone(),
            buffering: if cache.options.policy == Policy::WriteBack {
                Buffering::Whole
            } else {
                Buffering::No
            },
            slots: Slots::default(),
            mark: family.map(Family::mark),
            // Owners that still run when the cache is dropped are still watched, and keep the lock.
            _watchdog: cache.watchdog.clone(),
            _lock: cache.lock.clone(),
        }
    }

    /// The same for ranges of dendrites.
    pub(crate) fn of_dendrites(mut self) -> Self {
        if self.buffering == Buffering::Whole {
            self.buffering = Buffering::Cut;
        }
        self
    }

    async fn run(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Result<Answer> {
        if let StoreCall::Query(query) = call {
            return self.query(&query).await;
        }
        if let StoreCall::Write(command) = &call
            && let Some(statement) = self.single(command)
        {
            return self.run_single(range, epoch, statement).await;
        }
        if let StoreCall::Check = call {
            let fence = fence_of(&*self.database, range).await?;
            return Ok(if fence == Some(epoch) { StoreReply::Done } else { StoreReply::Fenced }.into());
        }
        // Held until the transaction has ended, with its locks.
        let slot = self.slots.take();
        let mut transaction = match self.database.begin().await {
            Ok(begun) => begun,
            Err(failure) => return refused(&call, None, before_write(failure)),
        };
        let done = match &call {
            StoreCall::Fence => self.raise_fence(&mut *transaction, range, epoch).await,
            StoreCall::Recovered => self.recovered(&mut *transaction, range, epoch, self.buffering).await,
            StoreCall::Drained => self.recovered(&mut *transaction, range, epoch, Buffering::No).await,
            StoreCall::Write(command) => self.write(&mut *transaction, (range, epoch), command, &slot).await,
            StoreCall::WriteAcross(command, others) => {
                self.write_across(&mut *transaction, (range, epoch), command, others, &slot).await
            }
            StoreCall::Apply(commands) => self.apply(&mut *transaction, range, epoch, commands).await,
            StoreCall::Query(_) | StoreCall::Check => unreachable!("answered above"),
        };
        match done {
            Ok(reply) => match transaction.commit().await {
                Ok(()) => Ok(reply.into()),
                // Without an answer to a commit the outcome is unknown: that is what an error of this port means.
                Err(failure) if failure.kind == FailureKind::Unknown => Err(failure.error),
                Err(failure) => refused(&call, None, failure),
            },
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
        // A query without a fingerprint comes from a caller that knows the columns.
        if query.fingerprint != 0 && query.fingerprint != self.schema.fingerprint() {
            return Err(Error::invalid_input(format!(
                "{} is registered otherwise by its owner: name the same columns and domains, in the same order",
                self.schema.table
            )));
        }
        if let Some(question) = &query.question {
            return self.asked(query, &Question::read(question)?).await;
        }
        let statement = select(self.database.dialect(), &self.schema, query)?;
        let rows = self.database.query(&statement).await.map_err(|failure| failure.error)?;
        let mut rows: Table = rows.into_iter().map(|row| self.schema.received(row)).collect();
        let limit = match query.form {
            Form::All => None,
            Form::First(limit) | Form::Last(limit) => Some(limit as usize),
        };
        let last = rows.last().filter(|_| limit == Some(rows.len()));
        let domain = self.schema.domains.get(query.domain).map(|(_, domain)| *domain);
        let last = match (last, domain) {
            // A value without a key, as `infinity`, says no end: the result is that of its whole interval.
            (Some(row), Some(domain)) => {
                domain_key::key(domain, self.schema.domain_value(query.domain, row)).ok().flatten()
            }
            _ => None,
        };
        if matches!(query.form, Form::Last(_)) {
            rows.reverse();
        }
        let value = encode(self.schema.columns.len(), &rows);
        Ok(StoreReply::Rows(Rows { value, is_empty: rows.is_empty(), last }).into())
    }
}

impl FencedTable {
    /// The result of a statement over the interval of `query`. It says nothing of the rows there: a sum of none is a row.
    async fn asked(&self, query: &Query, question: &Question) -> Result<Answer> {
        let rows = if question.is_stamp() {
            vec![vec![SqlValue::Blob(new_stamp()?.to_vec())]]
        } else {
            let statement = question.statement(self.database.dialect(), &self.schema, query)?;
            self.database.query(&statement).await.map_err(|failure| failure.error)?
        };
        let value = stamped(&query.stamps, encode(question.column_count(), &rows));
        Ok(StoreReply::Rows(Rows { value, is_empty: false, last: None }).into())
    }
}

/// A failure before the first statement of a write, which says nothing of the write: it may succeed later.
fn before_write(failure: Failure) -> Failure {
    Failure { kind: FailureKind::Later, ..failure }
}

/// A transaction that certainly changed nothing. An owner that begins gets an error instead of a refusal: it tries
/// again.
fn refused(call: &StoreCall, lsn: Option<u64>, failure: Failure) -> Result<Answer> {
    let first = match call {
        StoreCall::Apply(commands) => commands.first().map(|(lsn, _)| *lsn),
        StoreCall::Fence | StoreCall::Recovered | StoreCall::Drained => return Err(failure.error),
        _ => None,
    };
    let retry = match failure.kind {
        FailureKind::Never => false,
        FailureKind::Denied => matches!(call, StoreCall::Apply(_)),
        FailureKind::Later | FailureKind::Unknown => true,
    };
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests;
