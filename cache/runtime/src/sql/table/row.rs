//! Writes of rows.
//!
//! The touched values of a write are known before it, and the database checks them: an update or a deletion of a
//! [`Row`] is refused with `Conflict` if the row was changed meanwhile. If the database may change a value (it
//! rounds, pads, counts up, has a trigger), the domain is not named, and so touched whole (P9).

use crate::owner::WriteError;
use lacuna_cache_protocol::{Error, Result};
use lacuna_cache_protocol::{Touched, WriteSet};

use super::Table;
use crate::sql::domain_key::{domain_value, key};
use crate::sql::rows::Row;
use crate::sql::select::Sql;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Effect, Shape, Statement};

/// Columns by their indexes, and their new values.
type Columns = Vec<(usize, SqlValue)>;

impl Table {
    /// Adds a row.
    ///
    /// Under write-back it is acknowledged before the database has it only if the cache knows that the key is free
    /// and that no constraint involves the row; otherwise once the database has it (P14).
    ///
    /// # Errors
    /// `Refused` if the database refuses it (a duplicate key, for example) or a value is of another type; see
    /// [`WriteError`].
    pub async fn insert<'a>(
        &self,
        values: impl IntoIterator<Item = (&'a str, SqlValue)>,
    ) -> Result<(), WriteError> {
        let (statement, columns) = self.insertion(values)?;
        let touched = self.touched_by(None, &columns)?;
        let is_known = self.keeps_all(&columns) && columns.len() == self.schema.columns.len();
        let effect = if is_known { Effect::Insert(self.spread(columns)) } else { Effect::Unknown };
        self.send(touched, vec![statement], effect).await
    }

    /// The statement that adds a row, and its columns.
    pub(super) fn insertion<'a>(
        &self,
        values: impl IntoIterator<Item = (&'a str, SqlValue)>,
    ) -> Result<(Statement, Columns)> {
        let columns = self.columns(values)?;
        let mut sql = Sql::new(self.dialect);
        sql.text("INSERT INTO ").name(&self.schema.table).text(" (");
        for (nth, (place, _)) in columns.iter().enumerate() {
            sql.text(if nth > 0 { ", " } else { "" }).name(&self.schema.columns[*place]);
        }
        sql.text(") SELECT ");
        for (nth, (_, value)) in columns.iter().enumerate() {
            sql.text(if nth > 0 { ", " } else { "" }).value(value);
        }
        Ok((sql.into_statement(Shape::Values).expecting(1), columns))
    }

    /// A row that is known without reading it, for [`Table::update`] and [`Table::delete`]: its key and the values
    /// of all registered columns. Other columns may be omitted, and are NULL here.
    ///
    /// # Errors
    /// `InvalidInput` for a column that the table does not have or that is given twice, and if the key or a
    /// registered column is missing.
    pub fn known_row<'a>(&self, values: impl IntoIterator<Item = (&'a str, SqlValue)>) -> Result<Row> {
        let columns = self.columns(values)?;
        for column in self.schema.domains.iter().map(|(name, _)| name).chain(&self.schema.keys) {
            let place = self.schema.column(column)?;
            if columns.iter().all(|(known, _)| *known != place) {
                return Err(Error::invalid_input(format!("a known row lacks its value of {column}")));
            }
        }
        Ok(Row::new(self.schema.columns.clone(), self.spread(columns)))
    }

    /// A whole row of these values, with NULL in the other columns.
    fn spread(&self, columns: Columns) -> Vec<SqlValue> {
        let mut row = vec![SqlValue::Null; self.schema.columns.len()];
        columns.into_iter().for_each(|(place, value)| row[place] = value);
        row
    }

    /// Sets columns of a row.
    ///
    /// Under write-back it is acknowledged before the database has it only if the cache shows the row with the
    /// values of `row` and no constraint involves the columns; otherwise once the database has it (P14).
    ///
    /// # Errors
    /// `Refused`, of the kind `Conflict`, if a registered column of the row differs from `row`, or the row is
    /// gone; see [`WriteError`].
    pub async fn update<'a>(
        &self,
        row: &Row,
        values: impl IntoIterator<Item = (&'a str, SqlValue)>,
    ) -> Result<(), WriteError> {
        let columns = self.columns(values)?;
        if columns.iter().any(|(place, _)| self.schema.key_places().any(|key| key == *place)) {
            return Err(Error::invalid_input(
                "the primary key of a row does not change: delete it and insert",
            )
            .into());
        }
        let touched = self.touched_by(Some(row), &columns)?;
        let mut sql = Sql::new(self.dialect);
        sql.text("UPDATE ").name(&self.schema.table).text(" SET ");
        for (nth, (place, value)) in columns.iter().enumerate() {
            let separator = if nth > 0 { ", " } else { "" };
            sql.text(separator).name(&self.schema.columns[*place]).text(" = ").value(value);
        }
        let key = self.where_row(&mut sql, row)?;
        let was = self.registered_values(row);
        let effect =
            if self.keeps_all(&columns) { Effect::Set { key, was, columns } } else { Effect::Unknown };
        self.send(touched, vec![sql.into_statement(Shape::Condition).expecting(1)], effect).await
    }

    /// Removes a row.
    ///
    /// # Errors
    /// As [`Table::update`].
    pub async fn delete(&self, row: &Row) -> Result<(), WriteError> {
        let touched = self.touched_by(Some(row), &[])?;
        let mut sql = Sql::new(self.dialect);
        sql.text("DELETE FROM ").name(&self.schema.table);
        let key = self.where_row(&mut sql, row)?;
        let was = self.registered_values(row);
        let effect = if self.schema.has_triggers { Effect::Unknown } else { Effect::Delete { key, was } };
        self.send(touched, vec![sql.into_statement(Shape::Condition).expecting(1)], effect).await
    }

    /// The values that the registered columns of the row must have for a write of it to be executed.
    fn registered_values(&self, row: &Row) -> Vec<SqlValue> {
        let domains = 0..self.schema.domains.len();
        domains.map(|domain| self.schema.domain_value(domain, row.values()).clone()).collect()
    }

    /// Columns by their indexes, each once.
    fn columns<'a>(&self, values: impl IntoIterator<Item = (&'a str, SqlValue)>) -> Result<Columns> {
        let mut columns = Columns::new();
        for (column, value) in values {
            let place = self.schema.column(column)?;
            if columns.iter().any(|(known, _)| *known == place) {
                return Err(Error::invalid_input(format!("the column {column} is given twice")));
            }
            let value = self.schema.fitted(place, value);
            self.dialect.can_say(&value)?;
            columns.push((place, value));
        }
        Ok(columns)
    }

    fn keeps_all(&self, columns: &[(usize, SqlValue)]) -> bool {
        columns.iter().all(|(place, value)| self.schema.keeps(*place, value))
    }

    /// Values of the registered columns before a write, in `row` if there is one, and after columns get new values.
    fn touched_by(&self, row: Option<&Row>, columns: &[(usize, SqlValue)]) -> Result<Vec<Touched>> {
        let mut touched = Vec::new();
        for (domain, (column, domain_type)) in self.schema.domains.iter().enumerate() {
            let mut values = WriteSet::new(domain, *domain_type);
            if let Some(row) = row {
                values.before(checked(*domain_type, self.schema.domain_value(domain, row.values()))?)?;
            }
            let place = self.schema.column(column)?;
            let after = columns.iter().find(|(changed, _)| *changed == place).map(|(_, value)| value);
            if let Some(value) = after {
                values.after(checked(*domain_type, value)?)?;
            }
            if self.is_sure_of(domain, place, row, after, columns.is_empty()) {
                touched.extend(values.touched());
            }
        }
        touched.dedup();
        Ok(touched)
    }

    /// Whether the values of a domain are certain: a column that is left out of a new row gets a default, which
    /// may be any value, and a write that sets columns may fire triggers.
    fn is_sure_of(
        &self,
        domain: usize,
        place: usize,
        row: Option<&Row>,
        after: Option<&SqlValue>,
        is_deletion: bool,
    ) -> bool {
        let is_after_sure = match after {
            Some(value) => self.schema.keeps(place, value),
            None => row.is_some() && (is_deletion || !self.schema.has_triggers),
        };
        self.schema.has_order_of(domain) && is_after_sure
    }

    /// The condition that the row exists, and its registered columns are those of `row`. Returns its key.
    fn where_row(&self, sql: &mut Sql, row: &Row) -> Result<Vec<SqlValue>> {
        let key = self.schema.key_of(row.values());
        for (nth, (column, value)) in self.schema.keys.iter().zip(&key).enumerate() {
            if *value == SqlValue::Null {
                let message = format!("{column} is NULL, which may be in several rows: name them by a range");
                return Err(Error::invalid_input(message));
            }
            sql.text(if nth > 0 { " AND " } else { " WHERE " }).holds(column, value);
        }
        for (domain, (column, _)) in self.schema.domains.iter().enumerate() {
            sql.text(" AND ").holds(column, self.schema.domain_value(domain, row.values()));
        }
        Ok(key)
    }
}

/// The value for a set of values, bytes refused.
fn checked(
    domain: lacuna_cache_protocol::DomainType,
    value: &SqlValue,
) -> Result<lacuna_cache_protocol::DomainValue<'_>> {
    key(domain, value)?;
    Ok(domain_value(domain, value))
}
