//! A registered table: reads by range, and writes with known touched values.
//!
//! - reads, here;
//! - rows: every write of a row knows the values of the registered columns before and after it (`row.rs`);
//! - ranges, and SQL of the application (`range.rs`);
//! - reads with several conditions (`conditions.rs`);
//! - statements over a range (`asking.rs`), and with other tables (`joined.rs`);
//! - many rows at once, past the cache (`bulk.rs`);
//! - transactions that read before they write, over several tables (`transaction/`);
//! - results that are loaded ahead of requests (`prefetch.rs`).

mod asking;
mod bulk;
mod conditions;
mod joined;
mod prefetch;
mod range;
mod row;
mod transaction;

use std::ops::{Bound, RangeBounds};
use std::sync::{Arc, Mutex, OnceLock};

use crate::owner::{Counts, Requests, WriteError};
use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{Form, Interval, Notice, Query, RangeKey, Selectivity, Stamps, Touched, Write};
use tokio::sync::broadcast;

use crate::sql::application::TableRows;
use crate::sql::asking::Kept;
use crate::sql::database::Dialect;
use crate::sql::domain_key::key;
use crate::sql::fenced::GuardedStore;
use crate::sql::registry::Registry;
use crate::sql::rows::{Row, Rows, decode};
use crate::sql::schema::Schema;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Effect, SqlWrite, Statement};

pub use bulk::BulkLoad;
pub use conditions::Condition;
pub use prefetch::QueryLog;
pub use transaction::{Transaction, TransactionBuilder};

/// A table with a cache in front of it. Clones are the same table.
#[derive(Debug, Clone)]
pub struct Table {
    requests: Arc<dyn Requests>,
    schema: Arc<Schema>,
    /// What its results mean.
    table_rows: TableRows,
    dialect: Dialect,
    fingerprint: u64,
    /// What the numbers of its registered columns mean.
    columns_mark: u64,
    /// For callers that hold a lease: bulk loads and transactions.
    store: Arc<dyn GuardedStore>,
    /// The log of queries, if they are recorded.
    log: Arc<OnceLock<QueryLog>>,
    /// How many rows results of conditions had.
    selectivity: Arc<Mutex<Selectivity>>,
    /// Statements that were recognised.
    recognised: Arc<Mutex<Kept>>,
    /// The tables that statements may join.
    registry: Arc<Registry>,
}

impl Table {
    pub(crate) fn new(
        requests: Arc<dyn Requests>,
        schema: Arc<Schema>,
        dialect: Dialect,
        store: Arc<dyn GuardedStore>,
        registry: Arc<Registry>,
    ) -> Self {
        let (fingerprint, columns_mark) = (schema.fingerprint(), schema.columns_mark());
        let table_rows = TableRows::new(schema.clone());
        Self {
            requests,
            schema,
            table_rows,
            dialect,
            fingerprint,
            columns_mark,
            store,
            log: Arc::default(),
            selectivity: Arc::default(),
            recognised: Arc::default(),
            registry,
        }
    }

    /// All rows whose `column` lies in `range`, in the order of that column, then of the key.
    ///
    /// # Errors
    /// `InvalidInput` for a column that is not registered or a bound of another type, `Unavailable` if there is no
    /// answer.
    pub async fn get<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
    ) -> Result<Rows> {
        self.ask(column, range, Form::All).await
    }

    /// The first `limit` of these rows (`> x LIMIT n`).
    ///
    /// # Errors
    /// As [`Table::get`].
    pub async fn first<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
        limit: u32,
    ) -> Result<Rows> {
        self.ask(column, range, Form::First(limit)).await
    }

    /// The last `limit` of these rows (`< x LIMIT n`), in ascending order.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub async fn last<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
        limit: u32,
    ) -> Result<Rows> {
        self.ask(column, range, Form::Last(limit)).await
    }

    async fn ask<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
        form: Form,
    ) -> Result<Rows> {
        let domain = self.schema.domain_of(column)?;
        let Some(interval) = self.interval(column, range)? else { return Ok(Vec::new()) };
        if matches!(form, Form::First(0) | Form::Last(0)) {
            return Ok(Vec::new());
        }
        let query = Query {
            domain,
            interval,
            form,
            fingerprint: self.fingerprint,
            question: None,
            stamps: Stamps::NONE,
        };
        if let Some(log) = self.log.get() {
            log.note(&query);
        }
        let value = self.requests.read(query).await?;
        let columns = &self.schema.columns;
        let rows = decode(columns.len(), &value)?;
        Ok(rows.into_iter().map(|values| Row::new(columns.clone(), values)).collect())
    }

    /// `None` if the range is empty.
    fn interval<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
    ) -> Result<Option<Interval<RangeKey>>> {
        let (_, domain) = self.schema.domains[self.schema.domain_of(column)?];
        let bound = |bound: Bound<&V>| bound.map(|value| value.clone().into());
        let (lo, hi): (Bound<SqlValue>, Bound<SqlValue>) =
            (bound(range.start_bound()), bound(range.end_bound()));
        let key = |value: &SqlValue| {
            self.dialect.can_bound(value)?;
            key(domain, value)
        };
        let value = |bound: &Bound<SqlValue>| -> Result<Bound<Option<RangeKey>>> {
            Ok(match bound {
                Bound::Included(value) => Bound::Included(key(value)?),
                Bound::Excluded(value) => Bound::Excluded(key(value)?),
                Bound::Unbounded => Bound::Unbounded,
            })
        };
        let (Some(lo), Some(hi)) = (known(value(&lo)?), known(value(&hi)?)) else { return Ok(None) };
        Ok(Interval::new(lo, hi))
    }

    async fn send(
        &self,
        touched: Vec<Touched>,
        statements: Vec<Statement>,
        effect: Effect,
    ) -> Result<(), WriteError> {
        let command = SqlWrite { fingerprint: self.fingerprint, statements, effect }.into_command();
        self.requests.write(Write { touched, command }).await
    }

    /// Indexes that the table lacks for ranges of its registered columns, as statements that create them, or what else
    /// is to be done; without one the database reads the whole table for a result that is not cached. PostgreSQL serves ranges of text only
    /// by an index `COLLATE "C"` or `text_pattern_ops`, unless the column has the collation `C`.
    pub fn index_advice(&self) -> Vec<String> {
        self.schema.index_advice()
    }

    /// Counters since it was registered.
    pub fn counts(&self) -> Counts {
        self.requests.counts()
    }

    /// Notices for the application, from now on. Under write-back they report acknowledged writes that the
    /// database refused for good.
    pub fn notices(&self) -> broadcast::Receiver<Notice> {
        self.requests.notices()
    }
}

/// A bound without NULL.
fn known(bound: Bound<Option<RangeKey>>) -> Option<Bound<RangeKey>> {
    match bound {
        Bound::Included(key) => key.map(Bound::Included),
        Bound::Excluded(key) => key.map(Bound::Excluded),
        Bound::Unbounded => Some(Bound::Unbounded),
    }
}
