//! Transactions that read before they write, over one table or several.
//!
//! A transaction names what it may touch when it begins: ranges of registered columns, or whole tables. It holds leases
//! on these, so that no other request reads or writes there, then runs at the database. Its reads show the state after
//! every acknowledged write, and nothing that it has read changes before its commit. Cached results of its ranges are
//! dropped when it begins; all others stay.
//!
//! Guarantee: a commit that returns `Ok` is seen by every later read, and by none before; all of the transaction is done
//! or nothing is. If a process dies with an open transaction, the database undoes it, and new owners wait for that.
//!
//! Cost: for each table one call to each owner concerned, at the beginning and the end; one connection to the database
//! as long as it is open; other requests for its ranges wait.
//!
//! | file | idea |
//! | --- | --- |
//! | `coverage.rs` | what it holds of a table |
//! | `open.rs` | the transaction at the database, its leases, and how it ends |

mod coverage;
mod open;

use std::fmt;
use std::ops::RangeBounds;
use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::{Error, Result};
use lacuna_cache_protocol::{Form, Interval, Query, Stamps, Touched, Write, WriteSet};
use tracing::debug;

use super::Table;
use super::range::checked_words;
use super::row::RowWrite;
use crate::owner::WriteError;
use crate::sql::asking::{Answer, Question};
use crate::sql::cache::Cache;
use crate::sql::database::Database;
use crate::sql::registry::Registered;
use crate::sql::rows::{Row, Rows};
use crate::sql::select::select;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Effect, SqlWrite, Statement};
use coverage::Coverage;
use open::{Leases, Running};

/// How long a transaction may be open by default.
const DURATION: Duration = Duration::from_secs(10);
/// How long it may be open at most: owners end leases after twice this time.
const MAX_DURATION: Duration = Duration::from_secs(3_600);
/// How much longer its leases last, so that it ends before them.
const MARGIN: Duration = Duration::from_secs(2);

/// A table of a transaction, and what it holds of it.
#[derive(Debug)]
struct Part {
    table: Table,
    coverage: Coverage,
}

impl Part {
    /// Whether it is about the table of this handle, or of another handle to it.
    fn is_of(&self, table: &Table) -> bool {
        self.table.schema.table == table.schema.table
    }

    /// Whether numbers of domains mean the same columns.
    fn is_alike(&self, table: &Table) -> Result<()> {
        if self.table.fingerprint == table.fingerprint {
            return Ok(());
        }
        let message =
            format!("{} is registered twice, with other columns: use one of its handles", table.schema.table);
        Err(Error::invalid_input(message))
    }

    /// What a lease for it is on; the command carries the columns that the numbers of domains mean.
    fn held(&self) -> Write {
        let fingerprint = self.table.fingerprint;
        let nothing = SqlWrite { fingerprint, statements: Vec::new(), effect: Effect::Unknown };
        Write { touched: self.coverage.touched(), command: nothing.into_command() }
    }
}

/// A transaction that has not begun: what it will hold.
#[derive(Debug)]
#[must_use = "it begins with `begin`"]
pub struct TransactionBuilder {
    database: Arc<dyn Database>,
    patience: Duration,
    duration: Duration,
    parts: Result<Vec<Part>>,
}

impl Cache {
    /// A transaction over registered tables of this database.
    ///
    /// ```
    /// # use lacuna_cache::sql::{DomainType, Schema};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let cache = lacuna_cache::sql::open("sqlite::memory:").await?;
    /// # cache.run_sql("CREATE TABLE accounts (id INTEGER PRIMARY KEY, cents INTEGER)").await?;
    /// # cache.run_sql("CREATE TABLE transfers (id INTEGER PRIMARY KEY, cents INTEGER)").await?;
    /// # let accounts = cache.table(Schema::new("accounts", "id").with_domain("id", DomainType::Integer)).await?;
    /// # let transfers = cache.table(Schema::new("transfers", "id").with_domain("id", DomainType::Integer)).await?;
    /// # accounts.insert([("id", 1.into()), ("cents", 500.into())]).await?;
    /// let mut transaction = cache.transaction().on(&accounts, "id", 1..=1).on_all(&transfers).begin().await?;
    /// let account = transaction.get(&accounts, "id", 1..=1).await?.remove(0);
    /// let cents = account.integer("cents").unwrap_or(0);
    /// if cents >= 200 {
    ///     transaction.update(&accounts, &account, [("cents", (cents - 200).into())]).await?;
    ///     transaction.insert(&transfers, [("id", 1.into()), ("cents", 200.into())]).await?;
    /// }
    /// transaction.commit().await?;
    /// assert_eq!(transfers.get("id", 1..=1).await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn transaction(&self) -> TransactionBuilder {
        TransactionBuilder::over(self.database.clone(), self.options.patience)
    }
}

impl TransactionBuilder {
    /// Over tables of this database.
    pub(super) fn over(database: Arc<dyn Database>, patience: Duration) -> Self {
        Self { database, patience, duration: DURATION, parts: Ok(Vec::new()) }
    }

    /// It may read rows of `table` whose `column` lies in `range`, and write rows whose value of it lies there before
    /// and after the write. Other registered columns are held whole, unless another call names them.
    pub fn on<V: Into<SqlValue> + Clone>(
        self,
        table: &Table,
        column: &str,
        range: impl RangeBounds<V>,
    ) -> Self {
        let interval = table.schema.domain_of(column).and_then(|domain| {
            let empty = || Error::invalid_input(format!("the range of {column} is empty"));
            Ok((domain, table.interval(column, range)?.ok_or_else(empty)?))
        });
        self.with(table, |coverage| {
            let (domain, interval) = interval?;
            coverage.add(domain, interval);
            Ok(())
        })
    }

    /// It may read and write all rows of `table`.
    pub fn on_all(self, table: &Table) -> Self {
        self.with(table, |coverage| {
            coverage.add_all();
            Ok(())
        })
    }

    /// Sets how long it may be open, 10 seconds by default and an hour at most. Then it is undone, and other requests
    /// for what it holds go on.
    pub fn with_duration(self, duration: Duration) -> Self {
        Self { duration: duration.min(MAX_DURATION), ..self }
    }

    fn with(mut self, table: &Table, add: impl FnOnce(&mut Coverage) -> Result<()>) -> Self {
        self.parts = self.parts.and_then(|mut parts| {
            if !Arc::ptr_eq(table.store.database(), &self.database) {
                let message =
                    format!("{} was registered by a cache with other connections", table.schema.table);
                return Err(Error::invalid_input(message));
            }
            let place = parts.iter().position(|part| part.is_of(table)).unwrap_or_else(|| {
                parts.push(Part { table: table.clone(), coverage: Coverage::default() });
                parts.len() - 1
            });
            parts[place].is_alike(table)?;
            add(&mut parts[place].coverage)?;
            Ok(parts)
        });
        self
    }

    /// Waits until earlier requests for what it holds are answered and the database has their writes, and begins.
    ///
    /// # Errors
    /// `InvalidInput` for a column that is not registered, an empty range, a bound of another type, a table of a cache
    /// with other connections, or without any table; `Unavailable` if a lease is not granted in time, or the database
    /// does not answer. Nothing is held then.
    pub async fn begin(self) -> Result<Transaction> {
        let mut parts = self.parts?;
        if parts.is_empty() {
            return Err(Error::invalid_input("a transaction without a table: name them by `on` or `on_all`"));
        }
        // In one order in all processes, so that no two transactions wait for each other.
        parts.sort_by(|a, b| a.table.schema.table.cmp(&b.table.schema.table));
        let waits =
            u32::try_from(parts.len()).map_or(self.patience, |count| self.patience.saturating_mul(2 * count));
        let lasts = self.duration.saturating_add(waits).saturating_add(MARGIN);
        let mut leases = Leases::default();
        for part in &parts {
            match part.table.requests.hold(part.held(), lasts).await {
                Ok(lease) => leases.0.push(lease),
                Err(why) => {
                    leases.let_go();
                    return Err(why);
                }
            }
        }
        match open_under(&*self.database, &parts, &leases).await {
            Ok(open) => {
                debug!(tables = ?names(&parts), "a transaction has begun");
                Ok(Transaction { running: Running::new(open, leases, self.duration), parts })
            }
            Err(why) => {
                debug!(tables = ?names(&parts), why = ?why.kind(), "a transaction could not begin");
                leases.let_go();
                Err(why)
            }
        }
    }
}

/// The tables, for a person.
fn names(parts: &[Part]) -> Vec<&str> {
    parts.iter().map(|part| part.table.schema.table.as_str()).collect()
}

/// Begins at the database, and locks the fences of all leases.
async fn open_under(
    database: &dyn Database,
    parts: &[Part],
    leases: &Leases,
) -> Result<Box<dyn crate::sql::database::Transaction>> {
    let mut fences = Vec::new();
    for (part, lease) in parts.iter().zip(&leases.0) {
        fences.push(part.table.store.rows_of(lease.fences()).await?);
    }
    let mut open = database.begin().await.map_err(|failure| failure.error)?;
    for (part, rows) in parts.iter().zip(&fences) {
        if let Err(failure) = part.table.store.lock_fences(&mut *open, rows).await {
            open.rollback().await;
            return Err(failure.error);
        }
    }
    Ok(open)
}

/// An open transaction. A statement that fails ends it and undoes all of it; so does dropping it. While it is open,
/// requests of the same task past it may wait for what it holds.
#[must_use = "without `commit` it changes nothing"]
pub struct Transaction {
    running: Running,
    parts: Vec<Part>,
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl Transaction {
    /// The rows of `table` whose `column` lies in `range`, as [`Table::get`], with what this transaction has written.
    ///
    /// # Errors
    /// `InvalidInput` for a range that it does not hold, and as [`Table::get`]; `Conflict` if the transaction is over.
    pub async fn get<V: Into<SqlValue> + Clone>(
        &mut self,
        table: &Table,
        column: &str,
        range: impl RangeBounds<V>,
    ) -> Result<Rows> {
        let domain = table.schema.domain_of(column)?;
        let Some(interval) = table.interval(column, range)? else { return Ok(Vec::new()) };
        let query = Query {
            domain,
            interval,
            form: Form::All,
            fingerprint: table.fingerprint,
            question: None,
            stamps: Stamps::NONE,
        };
        self.check_read(table, &query)?;
        let rows = self.running.query(&select(table.dialect, &table.schema, &query)?).await?;
        let columns = &table.schema.columns;
        Ok(rows.into_iter().map(|row| Row::new(columns.clone(), table.schema.received(row))).collect())
    }

    /// The result of a `SELECT` over a range of `table`, as [`Table::query`], with what this transaction has written.
    ///
    /// # Errors
    /// As [`Transaction::get`] and [`Table::query`].
    pub async fn query(&mut self, table: &Table, sql: &str, params: &[SqlValue]) -> Result<Answer> {
        let recognised = table.recognised(sql)?;
        let query = recognised.query(table.dialect, &table.schema, params)?;
        let question = Question::read(query.question.as_deref().unwrap_or_default())?;
        if question.asks_rows() {
            self.check_read(table, &query)?;
        } else {
            self.part(table)?;
        }
        self.check_joined(recognised.joined())?;
        let statement = question.statement(table.dialect, &table.schema, &query)?;
        let rows = self.running.query(&statement).await?;
        Ok(recognised.answer(&table.schema, rows))
    }

    /// Adds a row, as [`Table::insert`].
    ///
    /// # Errors
    /// `Refused` if the database refuses it, or the transaction does not hold what it touches; `NotDone` if the
    /// transaction is over. See [`WriteError`].
    pub async fn insert<'a>(
        &mut self,
        table: &Table,
        values: impl IntoIterator<Item = (&'a str, SqlValue)>,
    ) -> Result<(), WriteError> {
        self.write(table, table.adding(values)?).await
    }

    /// Sets columns of a row, as [`Table::update`].
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub async fn update<'a>(
        &mut self,
        table: &Table,
        row: &Row,
        values: impl IntoIterator<Item = (&'a str, SqlValue)>,
    ) -> Result<(), WriteError> {
        self.write(table, table.setting(row, values)?).await
    }

    /// Removes a row, as [`Table::delete`].
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub async fn delete(&mut self, table: &Table, row: &Row) -> Result<(), WriteError> {
        self.write(table, table.removing(row)?).await
    }

    /// Runs statements of the application that write `table`, as [`Table::execute`]: `touched` must hold the values of
    /// registered columns of every row that they change, before and after, and columns that it does not name are
    /// touched whole. **A missing value leaves stale results in the cache.**
    ///
    /// # Errors
    /// As [`Transaction::insert`] and [`Table::execute`].
    pub async fn execute(
        &mut self,
        table: &Table,
        touched: &[WriteSet],
        statements: Vec<Statement>,
    ) -> Result<(), WriteError> {
        checked_words(&statements)?;
        self.run(table, &table.sure_touched(touched)?, statements).await
    }

    /// Makes it durable: every later read shows all of it.
    ///
    /// # Errors
    /// `Refused` or `NotDone` if nothing of it is done, `Unknown` if the reply of the database was lost. See
    /// [`WriteError`].
    pub async fn commit(self) -> Result<(), WriteError> {
        self.running.commit().await
    }

    /// Undoes it. Dropping it does the same, without waiting.
    pub async fn rollback(self) {
        self.running.rollback().await;
    }

    fn part(&self, table: &Table) -> Result<&Part> {
        let missing = || {
            let name = &table.schema.table;
            Error::invalid_input(format!("the transaction does not hold {name}: name it by `on` or `on_all`"))
        };
        let part = self.parts.iter().find(|part| part.is_of(table)).ok_or_else(missing)?;
        part.is_alike(table)?;
        Ok(part)
    }

    /// Joined tables are held whole.
    fn check_joined(&self, tables: &[Arc<Registered>]) -> Result<()> {
        for Registered { schema, .. } in tables.iter().map(|table| &**table) {
            let part = self.parts.iter().find(|part| part.table.schema.table == schema.table);
            let holds_all =
                |part: &Part| part.coverage.check_read(&part.table.schema, 0, &Interval::all()).is_ok();
            let is_held = part.is_some_and(holds_all);
            if !is_held {
                let message =
                    format!("a transaction that joins {} holds it whole: name it by `on_all`", schema.table);
                return Err(Error::invalid_input(message));
            }
        }
        Ok(())
    }

    fn check_read(&self, table: &Table, query: &Query) -> Result<()> {
        self.part(table)?.coverage.check_read(&table.schema, query.domain, &query.interval)
    }

    async fn write(&self, table: &Table, write: RowWrite) -> Result<(), WriteError> {
        self.run(table, &write.touched, vec![write.statement]).await
    }

    async fn run(
        &self,
        table: &Table,
        touched: &[Touched],
        statements: Vec<Statement>,
    ) -> Result<(), WriteError> {
        self.part(table)?.coverage.check_write(&table.schema, touched)?;
        for statement in statements {
            self.running.execute(&table.store.marked(statement)).await?;
        }
        Ok(())
    }
}
