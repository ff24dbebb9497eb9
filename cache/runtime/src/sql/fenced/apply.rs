//! Applies buffered writes in one transaction, with few messages for any number of writes.

use lacuna_cache_protocol::{Command, Epoch, RangeId, StoreReply};

use super::FencedTable;
use super::row::number;
use super::transaction::{Undone, changed_as_expected, execute};
use crate::sql::database::{Failure, FailureKind, Transaction, inlined};
use crate::sql::statement::{Effect, SqlWrite};

/// Bytes of a message; servers accept much more by default.
const MESSAGE_BYTES: usize = 1 << 20;

/// Statements that are sent together; for each, the number of its write, and how many rows it must change.
#[derive(Debug, Default)]
struct Message {
    sql: String,
    of: Vec<(Option<u64>, Option<u64>)>,
}

impl Message {
    fn push(&mut self, sql: &str, lsn: Option<u64>, expected: Option<u64>) {
        self.sql.push_str(sql);
        self.sql.push_str(";\n");
        self.of.push((lsn, expected));
    }

    /// Sends the gathered statements.
    async fn send(&mut self, open: &mut dyn Transaction) -> Result<(), Undone> {
        let Self { sql, of } = std::mem::take(self);
        if of.is_empty() {
            return Ok(());
        }
        let lsn = |place: usize| of.get(place).and_then(|(lsn, _)| *lsn);
        let changed = open.run(&sql).await;
        let changed = changed.map_err(|(place, failure)| Undone::Refused { lsn: lsn(place), failure })?;
        for ((lsn, expected), changed) in of.iter().zip(changed) {
            changed_as_expected(*expected, changed)
                .map_err(|failure| Undone::Refused { lsn: *lsn, failure })?;
        }
        Ok(())
    }
}

impl FencedTable {
    pub(super) async fn apply(
        &self,
        open: &mut dyn Transaction,
        range: RangeId,
        epoch: Epoch,
        commands: &[(u64, Option<Command>)],
    ) -> Result<StoreReply, Undone> {
        // The fence row is changed at the end: a shared lock would have to be upgraded, which deadlocks with a
        // waiting owner.
        let found = self.check_under(open, range, epoch, self.database.dialect().exclusive_lock()).await?;
        let before = number(&found, 2).unwrap_or(0);
        let (mut applied, mut message) = (before, Message::default());
        for (lsn, command) in commands.iter().filter(|(lsn, _)| *lsn > before) {
            if let Some(command) = command {
                self.add(open, &mut message, *lsn, command).await?;
            }
            applied = *lsn;
        }
        let sql = format!("UPDATE lacuna_fence SET applied_lsn = {applied} WHERE range_id = {}", range.0);
        message.push(&self.database.dialect().commented(&sql, self.mark.as_ref()), None, None);
        message.send(open).await?;
        Ok(StoreReply::Done)
    }

    /// Adds a write to the message; a write that cannot be part of it is sent separately, after those before it.
    async fn add(
        &self,
        open: &mut dyn Transaction,
        message: &mut Message,
        lsn: u64,
        command: &Command,
    ) -> Result<(), Undone> {
        let refused = |failure| Undone::Refused { lsn: Some(lsn), failure };
        let write =
            SqlWrite::of(command).map_err(|error| refused(Failure { error, kind: FailureKind::Never }))?;
        for statement in &write.statements {
            // The effect of such a write is unknown, so it may contain SQL of the application.
            let is_ours = write.effect != Effect::Unknown;
            if let Some(sql) = inlined(self.database.dialect(), statement).filter(|_| is_ours) {
                message.push(&sql, Some(lsn), statement.expected);
            } else {
                message.send(open).await?;
                execute(open, statement).await.map_err(refused)?;
            }
            if message.sql.len() >= MESSAGE_BYTES {
                message.send(open).await?;
            }
        }
        Ok(())
    }
}
