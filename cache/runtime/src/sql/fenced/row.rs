//! The table of fences: one row for each range.

use lacuna_cache_protocol::{Epoch, RangeId};
use lacuna_cache_protocol::{Error, Result};

use super::slots;
use crate::sql::database::{Database, Dialect, Table};
use crate::sql::own_tables::{check_no_other_set, ensure};
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;

/// Makes the tables of fences.
pub(crate) async fn prepare(database: &dyn Database) -> Result<()> {
    let name = database.dialect().name_type();
    let sql = format!(
        "CREATE TABLE IF NOT EXISTS lacuna_fence (range_id INTEGER NOT NULL PRIMARY KEY, name {name} NOT NULL UNIQUE, \
         epoch BIGINT NOT NULL, recovered BIGINT NOT NULL, applied_lsn BIGINT NOT NULL, is_buffered INTEGER NOT NULL){}",
        database.dialect().engine()
    );
    ensure(database, "lacuna_fence", &sql).await?;
    slots::prepare(database).await
}

/// The range of a table that no other set of these tables has.
///
/// # Errors
/// `Conflict` if another has it, or may have it; then nothing is added to this one, unless two programs begin at once.
pub(crate) async fn sole_range_of(database: &dyn Database, table: &str) -> Result<RangeId> {
    check_no_other_set(database, table).await?;
    let range = range_of(database, table).await?;
    // A program with another set that has looked before this row was there is seen now.
    check_no_other_set(database, table).await?;
    Ok(range)
}

/// The range of a table; the same in every process.
pub(crate) async fn range_of(database: &dyn Database, table: &str) -> Result<RangeId> {
    for _ in 0..10 {
        if let Some(range) = known_range(database, table).await? {
            return Ok(range);
        }
        let mut transaction = database.begin().await.map_err(|failure| failure.error)?;
        // Another process may win the race: the next round finds its row.
        if transaction.execute(&new_range(database.dialect(), table)).await.is_ok() {
            drop(transaction.commit().await);
        }
    }
    Err(Error::unavailable(format!(
        "no range number for the table {table}: other processes keep taking the next"
    )))
}

/// The statement that gives a name the next number.
pub(crate) fn new_range(dialect: Dialect, name: &str) -> Statement {
    let sql = "INSERT INTO lacuna_fence (range_id, name, epoch, recovered, applied_lsn, is_buffered) \
               SELECT COALESCE(MAX(range_id), 0) + 1, {}, 0, 0, 0, 0 FROM lacuna_fence";
    dialect.statement(sql, &[name.into()])
}

pub(crate) async fn known_range(database: &dyn Database, table: &str) -> Result<Option<RangeId>> {
    let sql = format!("SELECT range_id FROM lacuna_fence WHERE name = {}", database.dialect().placeholder(1));
    let found = database.query(&Statement::new(sql).with(table)).await.map_err(|failure| failure.error)?;
    Ok(number(&found, 0).and_then(|number| u32::try_from(number).ok()).map(RangeId))
}

pub(super) fn number(found: &Table, place: usize) -> Option<u64> {
    match found.first()?.get(place)? {
        SqlValue::Integer(value) => u64::try_from(*value).ok(),
        _ => None,
    }
}

pub(crate) fn integer(number: u64) -> SqlValue {
    SqlValue::Integer(i64::try_from(number).expect("epochs and numbers of writes are counted up from 1"))
}

/// The epoch of a range; `None` if there is no such range.
pub(crate) async fn fence_of(database: &dyn Database, range: RangeId) -> Result<Option<Epoch>> {
    let sql =
        format!("SELECT epoch FROM lacuna_fence WHERE range_id = {}", database.dialect().placeholder(1));
    let found = database.query(&Statement::new(sql).with(i64::from(range.0))).await;
    Ok(number(&found.map_err(|failure| failure.error)?, 0).map(Epoch))
}

/// The largest epoch of any range.
pub(crate) async fn largest_epoch(database: &dyn Database) -> Result<Epoch> {
    let found = database.query(&Statement::new("SELECT COALESCE(MAX(epoch), 0) FROM lacuna_fence")).await;
    Ok(Epoch(number(&found.map_err(|failure| failure.error)?, 0).unwrap_or(0)))
}
