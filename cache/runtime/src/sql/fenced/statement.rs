//! A single statement that checks its fence.
//!
//! `UPDATE people SET age = 21 WHERE id = 7` becomes, while range 3 has epoch 12, `UPDATE people SET age = 21
//! WHERE id = 7 AND EXISTS (SELECT 1 FROM lacuna_fence WHERE range_id = 3 AND epoch = 12)`, with a shared lock on
//! the row of the fence until the statement is committed, which happens automatically.
//!
//! If it changed a row, the fence was valid. If it changed none, the fence is read to find out why.

use lacuna_cache_protocol::ports::Answer;
use lacuna_cache_protocol::{Command, Epoch, RangeId, StoreReply};
use lacuna_cache_protocol::{Error, ErrorKind, Result};

use super::FencedTable;
use super::row::{integer, number};
use crate::sql::database::{Failure, FailureKind};
use crate::sql::statement::{SqlWrite, Statement};

impl FencedTable {
    /// The write as one statement with its fence, if it has a single statement that can take one.
    pub(super) fn single(&self, command: &Command) -> Option<Statement> {
        let write = SqlWrite::of(command).ok()?;
        let [statement] = &write.statements[..] else { return None };
        if self.schema.has_triggers {
            // A trigger of SQLite that fails (`RAISE(FAIL)`) leaves earlier rows changed, and one of PostgreSQL may
            // change rows and let the statement change none: only a transaction undoes that.
            return None;
        }
        let dialect = self.database.dialect();
        let mark = self.mark.as_ref();
        let sql = dialect.fenced(&statement.sql, statement.shape, statement.params.len(), mark)?;
        Some(Statement { sql, ..statement.clone() })
    }

    pub(super) async fn run_single(
        &self,
        range: RangeId,
        epoch: Epoch,
        statement: Statement,
    ) -> Result<Answer> {
        let slot = self.slots.take();
        let mut statement = statement.with(i64::from(range.0)).with(integer(epoch.0));
        if self.database.dialect().has_slots() {
            statement = statement.with(i64::from(slot.number));
        }
        let changed = match self.database.execute(&statement).await {
            Ok(changed) => changed,
            Err(failure) if failure.kind == FailureKind::Unknown => return Err(failure.error),
            Err(failure) => return Ok(refused(failure)),
        };
        let is_expected = statement.expected.is_none_or(|expected| expected == changed);
        match (changed, is_expected) {
            (0, _) => Ok(self.why_nothing_changed(range, epoch, is_expected).await),
            (_, true) => Ok(StoreReply::Done.into()),
            // Committed although the key is not unique. The next tenure begins with nothing cached.
            (_, false) => Err(Error::corrupt(format!("{changed} rows have one key"))),
        }
    }

    /// Epochs only ascend: if the fence is at `epoch` now, it was at `epoch` before.
    async fn why_nothing_changed(&self, range: RangeId, epoch: Epoch, is_expected: bool) -> Answer {
        let sql = format!("SELECT epoch FROM lacuna_fence WHERE range_id = {}", self.placeholder());
        match self.database.query(&Statement::new(sql).with(i64::from(range.0))).await {
            Ok(found) if number(&found, 0) != Some(epoch.0) => StoreReply::Fenced.into(),
            Ok(_) if is_expected => StoreReply::Done.into(),
            Ok(_) => {
                let message = "the row has changed, or is gone";
                refused(Failure { error: Error::new(ErrorKind::Conflict, message), kind: FailureKind::Never })
            }
            Err(Failure { error, .. }) => refused(Failure { error, kind: FailureKind::Later }),
        }
    }

    fn placeholder(&self) -> String {
        self.database.dialect().placeholder(1)
    }
}

fn refused(failure: Failure) -> Answer {
    let retry = failure.kind == FailureKind::Later;
    Answer { reply: StoreReply::Refused { lsn: None, retry }, why: Some(failure.error) }
}
