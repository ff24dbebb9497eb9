//! What the holder of a lease needs of a table's store, to run a transaction on its own.
//!
//! The transaction locks the fences of its lease before its first statement, as the owner's writes do, and keeps them
//! locked until it ends. So a new owner that raises a fence waits for it, and a transaction that comes later finds the
//! fence raised and does nothing (P3).

use std::sync::Arc;

use lacuna_cache_protocol::ports::DataStore;
use lacuna_cache_protocol::{Epoch, Error, RangeId};

use super::FencedTable;
use super::row::number;
use super::slots::free_slot;
use super::transaction::Undone;
use crate::sql::database::{Database, Failure, FailureKind, Later, Transaction};
use crate::sql::statement::Statement;

/// The store of a table, for holders of leases on it.
pub(crate) trait GuardedStore: DataStore {
    fn database(&self) -> &Arc<dyn Database>;

    /// The fences of a lease, by the rows of the database. This may ask the database over another connection: call it before a
    /// transaction has one, or transactions wait for each other's.
    fn rows_of<'a>(
        &'a self,
        fences: &'a [(RangeId, Epoch)],
    ) -> Later<'a, Result<Vec<(RangeId, Epoch)>, Error>>;

    /// Makes sure that fences, by their rows, stand in `open`, and stay until it ends. Whatever it returns, nothing has
    /// changed yet.
    fn lock_fences<'a>(
        &'a self,
        open: &'a mut dyn Transaction,
        rows: &'a [(RangeId, Epoch)],
    ) -> Later<'a, Result<(), Failure>>;

    /// A statement of such a transaction, as watchdogs recognize it.
    fn marked(&self, statement: Statement) -> Statement;
}

fn lease_lost() -> Failure {
    let error = Error::unavailable("the lease of the transaction was lost before it began: begin it again");
    Failure { error, kind: FailureKind::Later }
}

impl FencedTable {
    async fn lock_fence(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
    ) -> Result<(), Failure> {
        let dialect = self.database.dialect();
        if dialect.has_slots() {
            let mark = dialect.mark_of_fence(self.mark.as_ref()).map(|mark| format!(", {mark}"));
            let found = free_slot(open, dialect, &mark.unwrap_or_default(), range).await?;
            return if number(&found, 0) == Some(epoch.0) { Ok(()) } else { Err(lease_lost()) };
        }
        self.check_under(open, range, epoch, dialect.shared_lock()).await.map(drop).map_err(|undone| {
            match undone {
                Undone::Fenced => lease_lost(),
                Undone::Refused { failure, .. } => failure,
            }
        })
    }
}

impl GuardedStore for FencedTable {
    fn database(&self) -> &Arc<dyn Database> {
        &self.database
    }

    fn rows_of<'a>(
        &'a self,
        fences: &'a [(RangeId, Epoch)],
    ) -> Later<'a, Result<Vec<(RangeId, Epoch)>, Error>> {
        Box::pin(async move { Ok(fences.to_vec()) })
    }

    fn lock_fences<'a>(
        &'a self,
        open: &'a mut dyn Transaction,
        rows: &'a [(RangeId, Epoch)],
    ) -> Later<'a, Result<(), Failure>> {
        Box::pin(async move {
            for (range, epoch) in rows {
                self.lock_fence(open, *range, *epoch).await?;
            }
            Ok(())
        })
    }

    fn marked(&self, statement: Statement) -> Statement {
        let sql = self.database.dialect().commented(&statement.sql, self.mark.as_ref()).into_owned();
        Statement { sql, ..statement }
    }
}
