//! The rows of the database for the ranges of a cut table.
//!
//! Dendrites number the ranges of their table from 0; the database keeps fences and leases of all tables in one
//! place. The first range of `people` uses the row that the whole table would use, the others have rows named
//! `people#1`, `people#2`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lacuna_cache_protocol::ports::{Answer, DataStore, Reply};
use lacuna_cache_protocol::{Epoch, RangeId, StoreCall, StoreReply};
use lacuna_cache_protocol::{ErrorKind, Result};

use crate::sql::database::{Database, Failure, Later, Transaction, in_time};
use crate::sql::fenced::{FencedTable, GuardedStore, range_of};
use crate::sql::own_tables::check_no_other_set;
use crate::sql::statement::Statement;

/// Maps each range of a table to its row.
#[derive(Debug)]
pub(crate) struct Numbers {
    database: Arc<dyn Database>,
    table: String,
    known: Mutex<BTreeMap<RangeId, RangeId>>,
}

impl Numbers {
    pub(crate) fn new(database: Arc<dyn Database>, table: &str) -> Self {
        Self { database: in_time(database), table: table.to_owned(), known: Mutex::default() }
    }

    /// The row of a range; the same in every process.
    ///
    /// # Errors
    /// `Conflict` if another set of the tables of fences has the table; those of the database.
    pub(crate) async fn row(&self, range: RangeId) -> Result<RangeId> {
        if let Some(row) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&range) {
            return Ok(*row);
        }
        let name = match range {
            RangeId(0) => self.table.clone(),
            RangeId(number) => format!("{}#{number}", self.table),
        };
        // A row in a set that no dendrite uses would keep those out that do.
        check_no_other_set(&*self.database, &self.table).await?;
        let row = range_of(&*self.database, &name).await?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(range, row);
        Ok(row)
    }
}

/// A table that is cut into ranges, each with its own fence.
#[derive(Debug)]
pub(crate) struct CutTable {
    pub(crate) table: FencedTable,
    pub(crate) numbers: Numbers,
}

impl CutTable {
    async fn run(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Result<Answer> {
        let is_write = matches!(call, StoreCall::Write(_) | StoreCall::WriteAcross(..));
        match self.numbered(range, call).await {
            Ok((row, call)) => self.table.call(row, epoch, call).await,
            // Nothing was sent, so that the write has certainly changed nothing.
            Err(error) if is_write => {
                // A missing right is no less missing later.
                let retry = error.kind() != ErrorKind::InvalidInput;
                Ok(Answer { reply: StoreReply::Refused { lsn: None, retry }, why: Some(error) })
            }
            Err(error) => Err(error),
        }
    }

    /// The row of a range, and the call with those of all others that it names.
    async fn numbered(&self, range: RangeId, call: StoreCall) -> Result<(RangeId, StoreCall)> {
        let call = match call {
            StoreCall::WriteAcross(command, others) => {
                let mut rows = Vec::new();
                for (other, epoch) in others {
                    rows.push((self.numbers.row(other).await?, epoch));
                }
                StoreCall::WriteAcross(command, rows)
            }
            call => call,
        };
        Ok((self.numbers.row(range).await?, call))
    }
}

impl GuardedStore for CutTable {
    fn database(&self) -> &Arc<dyn Database> {
        self.table.database()
    }

    fn rows_of<'a>(&'a self, fences: &'a [(RangeId, Epoch)]) -> Later<'a, Result<Vec<(RangeId, Epoch)>>> {
        Box::pin(async move {
            let mut rows = Vec::new();
            for (range, epoch) in fences {
                rows.push((self.numbers.row(*range).await?, *epoch));
            }
            Ok(rows)
        })
    }

    fn lock_fences<'a>(
        &'a self,
        open: &'a mut dyn Transaction,
        rows: &'a [(RangeId, Epoch)],
    ) -> Later<'a, Result<(), Failure>> {
        self.table.lock_fences(open, rows)
    }

    fn marked(&self, statement: Statement) -> Statement {
        self.table.marked(statement)
    }
}

impl DataStore for CutTable {
    fn call(&self, range: RangeId, epoch: Epoch, call: StoreCall) -> Reply<'_, Answer> {
        Box::pin(self.run(range, epoch, call))
    }

    fn largest_epoch(&self) -> Reply<'_, Epoch> {
        self.table.largest_epoch()
    }
}
