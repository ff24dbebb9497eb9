//! Statements of the application over ranges of the table.

use std::sync::{Arc, PoisonError};

use lacuna_cache_protocol::Result;

use super::Table;
use crate::sql::asking::{Answer, Recognised, recognised};
use crate::sql::rows::decode;
use crate::sql::sql_value::SqlValue;

impl Table {
    /// The result of a `SELECT` over this table, from the cache if it is there.
    ///
    /// Its `WHERE` bounds a registered column by `=`, `<`, `<=`, `>`, `>=` or `BETWEEN`, with parameters or literals, and
    /// any other conditions that depend on the row alone are joined to these by `AND`. The result may consist of
    /// expressions, be `DISTINCT`, grouped, ordered and limited. Parameters are written `?`, or with numbers as the
    /// database has them. Every write of a row whose bounded column lies between the bounds drops the result; under
    /// write-back the next one is asked for when the database has these writes. Equal statements with equal values
    /// share a result; statements are recognised once and remembered, 256 of them.
    ///
    /// Other tables that are registered with the same cache may be joined, by `JOIN ... ON` and `LEFT JOIN ... ON`. Every
    /// write of a joined table drops the result, whatever row it writes.
    ///
    /// ```
    /// # use lacuna_cache::sql::{DomainType, Schema};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let cache = lacuna_cache::sql::open("sqlite::memory:").await?;
    /// # cache.run_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, city TEXT, age INTEGER)").await?;
    /// # let people = cache.table(Schema::new("people", "id").with_domain("age", DomainType::Integer)).await?;
    /// # people.insert([("id", 1.into()), ("city", "Rome".into()), ("age", 20.into())]).await?;
    /// let sql = "SELECT city, COUNT(*) AS n FROM people WHERE age BETWEEN ? AND ? AND city <> ? GROUP BY city";
    /// let cities = people.query(sql, &[18.into(), 22.into(), "Oslo".into()]).await?;
    /// assert_eq!(cities.columns(), ["city", "n"]);
    /// assert_eq!(cities.rows(), [["Rome".into(), 1.into()]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidInput` with the reason if results of such a statement are not cached, if the number or a type of the
    /// values is wrong, or with the message of the database; `Unavailable` if there is no answer.
    pub async fn query(&self, sql: &str, params: &[SqlValue]) -> Result<Answer> {
        let statement = self.recognised(sql)?;
        let query = statement.query(self.dialect, &self.schema, params)?;
        let value = if statement.joined().is_empty() {
            self.requests.read(query).await?
        } else if let Some(value) = self.joined(query, statement.joined()).await? {
            value
        } else {
            return self.query_alone(&statement, sql, params).await;
        };
        let rows = decode(statement.column_count(), &value)?;
        Ok(statement.answer(&self.schema, rows))
    }

    pub(in crate::sql) fn recognised(&self, sql: &str) -> Result<Arc<Recognised>> {
        let kept = || self.recognised.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().get(sql) {
            return Ok(known);
        }
        let new = Arc::new(recognised(self.dialect, &self.schema, &self.registry.all(), sql)?);
        kept().keep(sql, &new);
        Ok(new)
    }
}
