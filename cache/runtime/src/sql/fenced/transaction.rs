//! Transactions that check their fence.
//!
//! The fence is read under a lock that lasts as long as the transaction, whatever its isolation level: a new owner
//! that raises it waits for transactions of the old one that are in flight, and later transactions of the old one
//! find it raised (P3).

use lacuna_cache_protocol::{Command, Epoch, RangeId, StoreReply, StoreState};
use lacuna_cache_protocol::{Error, ErrorKind};

use super::row::{integer, number};
use super::slots::{Slot, raise_slots};
use super::{Buffering, FencedTable, before_write};
use crate::sql::database::{Failure, FailureKind, Table, Transaction};
use crate::sql::statement::{SqlWrite, Statement};

/// A transaction that was not committed.
pub(super) enum Undone {
    Fenced,
    Refused { lsn: Option<u64>, failure: Failure },
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self::Refused { lsn: None, failure }
    }
}

impl FencedTable {
    async fn fence(&self, open: &mut dyn Transaction, range: RangeId, lock: &str) -> Result<Table, Failure> {
        let dialect = self.database.dialect();
        let mark = dialect.mark_of_fence(self.mark.as_ref()).map(|mark| format!(", {mark}"));
        let sql = format!(
            "SELECT epoch, recovered, applied_lsn, is_buffered{} FROM lacuna_fence WHERE range_id = {}{lock}",
            mark.unwrap_or_default(),
            dialect.placeholder(1)
        );
        open.query(&Statement::new(sql).with(i64::from(range.0))).await.map_err(before_write)
    }

    /// Whether the fence is at this epoch; it stays there until the transaction ends.
    async fn check(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
        slot: &Slot<'_>,
    ) -> Result<(), Undone> {
        let dialect = self.database.dialect();
        if !dialect.has_slots() {
            return self.check_under(open, range, epoch, dialect.shared_lock()).await.map(drop);
        }
        let mark = dialect.mark_of_fence(self.mark.as_ref()).map(|mark| format!(", {mark}"));
        let found = open.query(&slot.query(dialect, &mark.unwrap_or_default(), range)).await;
        let found = found.map_err(before_write)?;
        if number(&found, 0) == Some(epoch.0) { Ok(()) } else { Err(Undone::Fenced) }
    }

    pub(super) async fn check_under(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
        lock: &str,
    ) -> Result<Table, Undone> {
        let found = self.fence(open, range, lock).await?;
        if number(&found, 0) == Some(epoch.0) { Ok(found) } else { Err(Undone::Fenced) }
    }

    pub(super) async fn raise_fence(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
    ) -> Result<StoreReply, Undone> {
        let dialect = self.database.dialect();
        if let Some(durably) = dialect.durably() {
            open.execute(&Statement::new(durably)).await?;
        }
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
        raise_slots(open, dialect, range, epoch).await?;
        let part = |place| number(&found, place).unwrap_or(0);
        let (recovered, applied_lsn, is_buffered) = (Epoch(part(1)), part(2), part(3) > 0);
        Ok(StoreReply::State(StoreState { applied_lsn, recovered, is_buffered }))
    }

    /// From now on the logs may have writes that the database lacks, or have none.
    pub(super) async fn recovered(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
        buffering: Buffering,
    ) -> Result<StoreReply, Undone> {
        self.check_under(open, range, epoch, self.database.dialect().exclusive_lock()).await?;
        let dialect = self.database.dialect();
        let sql = format!(
            "UPDATE lacuna_fence SET recovered = {}, is_buffered = {} WHERE range_id = {}",
            dialect.placeholder(1),
            dialect.placeholder(2),
            dialect.placeholder(3)
        );
        let recovered = Statement::new(sql).with(integer(epoch.0)).with(buffering as i64);
        open.execute(&recovered.with(i64::from(range.0))).await?;
        Ok(StoreReply::Done)
    }

    pub(super) async fn write(
        &self,
        open: &mut dyn Transaction,
        (range, epoch): (RangeId, Epoch),
        command: &Command,
        slot: &Slot<'_>,
    ) -> Result<StoreReply, Undone> {
        self.check(open, range, epoch, slot).await?;
        self.execute_all(open, command).await?;
        Ok(StoreReply::Done)
    }

    /// One write of several ranges, whose fences are all checked.
    pub(super) async fn write_across(
        &self,
        open: &mut dyn Transaction,
        (range, epoch): (RangeId, Epoch),
        command: &Command,
        others: &[(RangeId, Epoch)],
        slot: &Slot<'_>,
    ) -> Result<StoreReply, Undone> {
        for (other, epoch) in others {
            self.check(open, *other, *epoch, slot).await?;
        }
        self.write(open, (range, epoch), command, slot).await
    }

    async fn execute_all(&self, open: &mut dyn Transaction, command: &Command) -> Result<(), Failure> {
        let write = SqlWrite::of(command).map_err(|error| Failure { error, kind: FailureKind::Never })?;
        for statement in &write.statements {
            let sql = self.database.dialect().commented(&statement.sql, self.mark.as_ref()).into_owned();
            execute(open, &Statement { sql, ..statement.clone() }).await?;
        }
        Ok(())
    }
}

pub(crate) async fn execute(open: &mut dyn Transaction, statement: &Statement) -> Result<(), Failure> {
    let changed = open.execute(statement).await?;
    changed_as_expected(statement.expected, changed)
}

pub(super) fn changed_as_expected(expected: Option<u64>, changed: u64) -> Result<(), Failure> {
    if expected.is_none_or(|expected| expected == changed) {
        return Ok(());
    }
    let message = format!("the row has changed, or is gone: {changed} rows of {expected:?}");
    Err(Failure { error: Error::new(ErrorKind::Conflict, message), kind: FailureKind::Never })
}
