//! Results of several tables.
//!
//! A reader finds the stamps of the joined tables, then the result that was made under these (`sql/asking/stamps.rs`). Where
//! joined tables may have buffered writes, it reads the stamps once more: the database may lack a write that was acknowledged
//! after the first reading, and have one of the asked table that came later still.

use std::sync::Arc;

use lacuna_cache_protocol::{Query, Result, Stamps, Value};

use super::Table;
use super::transaction::TransactionBuilder;
use crate::sql::asking::{Answer, Recognised, checked, made_under, stamps};
use crate::sql::registry::Registered;

/// How often a read begins again when a joined table was written in between.
const TRIES: u32 = 4;

impl Table {
    /// `None` if joined tables were written each time.
    pub(super) async fn joined(&self, query: Query, tables: &[Arc<Registered>]) -> Result<Option<Value>> {
        checked(tables)?;
        let may_buffer = tables.iter().any(|table| table.may_buffer);
        for _ in 0..TRIES {
            let stamps = self.stamps(tables).await?;
            let value = self.requests.read(Query { stamps: stamps.clone(), ..query.clone() }).await?;
            // A read that others began has their stamps.
            let Some(rows) = made_under(&stamps, &value) else { continue };
            if !may_buffer || self.stamps_again(tables, &stamps).await? {
                return Ok(Some(rows));
            }
        }
        Ok(None)
    }

    async fn stamps(&self, tables: &[Arc<Registered>]) -> Result<Stamps> {
        #[cfg(feature = "flaws")]
        if self.registry.flaw == Some(lacuna_cache_protocol::Flaw::KeepStamps) {
            return Ok(Stamps::new(b"for ever"));
        }
        stamps(tables).await
    }

    /// Whether the stamps are still these.
    async fn stamps_again(&self, tables: &[Arc<Registered>], before: &Stamps) -> Result<bool> {
        #[cfg(feature = "flaws")]
        if self.registry.flaw == Some(lacuna_cache_protocol::Flaw::StampOnce) {
            return Ok(true);
        }
        Ok(self.stamps(tables).await?.as_bytes() == before.as_bytes())
    }

    /// Reads under leases on all of the tables, which keep writers out.
    pub(in crate::sql) async fn query_alone(
        &self,
        statement: &Recognised,
        sql: &str,
        params: &[crate::sql::SqlValue],
    ) -> Result<Answer> {
        let builder = TransactionBuilder::over(self.store.database().clone(), self.registry.patience);
        let all = |builder: TransactionBuilder, table: &Arc<Registered>| builder.on_all(&self.beside(table));
        let builder = statement.joined().iter().fold(builder.on_all(self), all);
        let mut transaction = builder.begin().await?;
        let answer = transaction.query(self, sql, params).await;
        transaction.rollback().await;
        answer
    }

    /// Another table of the same cache.
    fn beside(&self, table: &Registered) -> Self {
        let (requests, schema) = (table.requests.clone(), table.schema.clone());
        Self::new(requests, schema, self.dialect, table.store.clone(), self.registry.clone())
    }
}
