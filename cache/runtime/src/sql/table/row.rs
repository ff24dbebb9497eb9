//! Writes of rows.
//!
//! The touched values of a write are known before it, and the database checks them: an update or a deletion of a
//! [`Row`] is refused with `Conflict` if the row was changed meanwhile. If the database may change a value (it
//! rounds, pads, counts up, has a trigger), the domain is not named, and so touched whole (P9).

use crate::owner::WriteError;
use lacuna_cache_protocol::{Error, Result};
use lacuna_cache_protocol::{Touched, WriteSet};

use super::Table;
use crate::sql::database::Dialect;
use crate::sql::domain_key::{domain_value, key};
use crate::sql::rows::Row;
use crate::sql::select::Sql;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{Columns, Effect, Shape, Statement};

/// The values of a write.
#[derive(Debug, Default)]
pub(super) struct Given {
    columns: Columns,
    /// Columns that the table did not have when it was opened, or that are not read.
    others: Vec<(String, SqlValue)>,
}

/// A write of one row.
#[derive(Debug)]
pub(super) struct RowWrite {
    pub(super) touched: Vec<Touched>,
    pub(super) statement: Statement,
    effect: Effect,
}

impl Table {
    /// Adds a row. It may name columns that the table got after it was opened; until it is opened again they are
    /// written and not read, and such a write drops the cached results that it touches (on MariaDB and SQLite all
    /// of the table).
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
        self.send_row(self.adding(values)?).await
    }

    async fn send_row(&self, write: RowWrite) -> Result<(), WriteError> {
        self.send(write.touched, vec![write.statement], write.effect).await
    }

    pub(super) fn adding<'a>(
        &self,
        values: impl IntoIterator<Item = (&'a str, SqlValue)>,
    ) -> Result<RowWrite> {
        let (statement, given) = self.insertion(values)?;
        let touched = self.touched_by(None, &given)?;
        let is_known = self.keeps_all(&given) && given.columns.len() == self.schema.columns.len();
        let effect = if is_known { Effect::Insert(self.spread(given.columns)) } else { Effect::Unknown };
        Ok(RowWrite { touched, statement, effect })
    }

    /// The statement that adds a row, and its values.
    pub(super) fn insertion<'a>(
        &self,
        values: impl IntoIterator<Item = (&'a str, SqlValue)>,
    ) -> Result<(Statement, Given)> {
        let given = self.given(values)?;
        let mut sql = Sql::new(self.dialect);
        sql.text("INSERT INTO ").table(&self.schema).text(" (");
        let names = given.columns.iter().map(|(place, _)| &self.schema.columns[*place]);
        for (nth, name) in names.chain(given.others.iter().map(|(name, _)| name)).enumerate() {
            sql.text(if nth > 0 { ", " } else { "" }).name(name);
        }
        sql.text(") SELECT ");
        for (nth, (place, value)) in given.columns.iter().enumerate() {
            sql.text(if nth > 0 { ", " } else { "" }).assigned(&self.schema.described[*place], value);
        }
        for (nth, (_, value)) in given.others.iter().enumerate() {
            sql.text(if nth + given.columns.len() > 0 { ", " } else { "" }).value(value);
        }
        Ok((sql.into_statement(Shape::Values).expecting(1), given))
    }

    /// A row that is known without reading it, for [`Table::update`] and [`Table::delete`]: its key and the values
    /// of all registered columns. Other columns may be omitted, and are NULL here.
    ///
    /// # Errors
    /// `InvalidInput` for a column that the table does not have or that is given twice, and if the key or a
    /// registered column is missing.
    pub fn known_row<'a>(&self, values: impl IntoIterator<Item = (&'a str, SqlValue)>) -> Result<Row> {
        let Given { columns, others } = self.named(values)?;
        if let Some((name, _)) = others.first() {
            return Err(Error::invalid_input(format!(
                "the table {} has no column {name}",
                self.schema.table
            )));
        }
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

    /// Sets columns of a row, also such that [`Table::insert`] says of.
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
        self.send_row(self.setting(row, values)?).await
    }

    pub(super) fn setting<'a>(
        &self,
        row: &Row,
        values: impl IntoIterator<Item = (&'a str, SqlValue)>,
    ) -> Result<RowWrite> {
        self.check_row(row)?;
        let given = self.given(values)?;
        if given.columns.is_empty() && given.others.is_empty() {
            return Err(Error::invalid_input("an update of no column: name at least one"));
        }
        if given.columns.iter().any(|(place, _)| self.schema.key_places().any(|key| key == *place)) {
            let message = "the primary key of a row does not change: delete it and insert";
            return Err(Error::invalid_input(message));
        }
        let touched = self.touched_by(Some(row), &given)?;
        let mut sql = Sql::new(self.dialect);
        sql.text("UPDATE ").table(&self.schema).text(" SET ");
        for (nth, (place, value)) in given.columns.iter().enumerate() {
            let separator = if nth > 0 { ", " } else { "" };
            let (name, column) = (&self.schema.columns[*place], &self.schema.described[*place]);
            sql.text(separator).name(name).text(" = ").assigned(column, value);
        }
        for (nth, (name, value)) in given.others.iter().enumerate() {
            let separator = if nth + given.columns.len() > 0 { ", " } else { "" };
            sql.text(separator).name(name).text(" = ").value(value);
        }
        let key = self.where_row(&mut sql, row)?;
        let was = self.registered_values(row);
        let is_known = self.keeps_all(&given);
        let effect =
            if is_known { Effect::Set { key, was, columns: given.columns } } else { Effect::Unknown };
        Ok(RowWrite { touched, statement: sql.into_statement(Shape::Condition).expecting(1), effect })
    }

    /// Removes a row.
    ///
    /// # Errors
    /// As [`Table::update`].
    pub async fn delete(&self, row: &Row) -> Result<(), WriteError> {
        self.send_row(self.removing(row)?).await
    }

    pub(super) fn removing(&self, row: &Row) -> Result<RowWrite> {
        self.check_row(row)?;
        let touched = self.touched_by(Some(row), &Given::default())?;
        let mut sql = Sql::new(self.dialect);
        sql.text("DELETE FROM ").table(&self.schema);
        let key = self.where_row(&mut sql, row)?;
        let was = self.registered_values(row);
        let effect = if self.schema.has_triggers { Effect::Unknown } else { Effect::Delete { key, was } };
        Ok(RowWrite { touched, statement: sql.into_statement(Shape::Condition).expecting(1), effect })
    }

    /// The values that the registered columns of the row must have for a write of it to be executed.
    fn registered_values(&self, row: &Row) -> Vec<SqlValue> {
        let domains = 0..self.schema.domains.len();
        domains.map(|domain| self.schema.domain_value(domain, row.values()).clone()).collect()
    }

    /// Refuses a row of another table, or with other columns, whose values stand in other places.
    fn check_row(&self, row: &Row) -> Result<()> {
        if row.has_columns(&self.schema.columns) {
            return Ok(());
        }
        let message =
            format!("the row has other columns than those that this handle reads of {}", self.schema.table);
        Err(Error::invalid_input(message))
    }

    /// The values of a write, each column once.
    fn given<'a>(&self, values: impl IntoIterator<Item = (&'a str, SqlValue)>) -> Result<Given> {
        let given = self.named(values)?;
        let is_generated = |(place, _): &&(usize, SqlValue)| self.schema.described[*place].is_generated;
        match given.columns.iter().find(is_generated) {
            Some((place, _)) => {
                let message = format!("{} is set by the database alone", self.schema.columns[*place]);
                Err(Error::invalid_input(message))
            }
            None => Ok(given),
        }
    }

    /// Values by columns, each once, in the form of its column.
    fn named<'a>(&self, values: impl IntoIterator<Item = (&'a str, SqlValue)>) -> Result<Given> {
        let mut given = Given::default();
        for (column, value) in values {
            self.dialect.can_say(&value)?;
            let place = self.schema.columns.iter().position(|name| name == column);
            let is_twice = given.columns.iter().any(|(known, _)| Some(*known) == place)
                || given.others.iter().any(|(known, _)| known == column);
            if is_twice {
                return Err(Error::invalid_input(format!("the column {column} is given twice")));
            }
            match place {
                Some(place) => {
                    let value = self.schema.fitted(place, value);
                    self.dialect.can_say(&value)?;
                    given.columns.push((place, value));
                }
                None => given.others.push((column.to_owned(), value)),
            }
        }
        Ok(given)
    }

    fn keeps_all(&self, given: &Given) -> bool {
        given.others.is_empty() && given.columns.iter().all(|(place, value)| self.schema.keeps(*place, value))
    }

    /// Values of the registered columns before a write, in `row` if there is one, and after columns get new values.
    fn touched_by(&self, row: Option<&Row>, given: &Given) -> Result<Vec<Touched>> {
        let mut touched = Vec::new();
        // Where names of columns are found in another spelling, one of these may be a registered column.
        if !given.others.is_empty() && self.dialect != Dialect::Postgres {
            return Ok(touched);
        }
        let columns = &given.columns;
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
            if self.is_sure_of(domain, place, row, after) {
                touched.extend(values.touched());
            }
        }
        touched.dedup();
        Ok(touched)
    }

    /// Whether the values of a domain are certain: a column that is left out of a new row gets a default, which
    /// may be any value, and every write may fire triggers (one that deletes may keep the row and mark it).
    fn is_sure_of(&self, domain: usize, place: usize, row: Option<&Row>, after: Option<&SqlValue>) -> bool {
        let is_after_sure = match after {
            Some(value) => self.schema.keeps(place, value),
            None => row.is_some() && !self.schema.has_triggers,
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
            let described = &self.schema.described[self.schema.column(column)?];
            sql.text(if nth > 0 { " AND " } else { " WHERE " }).holds(column, described, value);
        }
        for (domain, (column, _)) in self.schema.domains.iter().enumerate() {
            let described = &self.schema.described[self.schema.column(column)?];
            sql.text(" AND ").holds(column, described, self.schema.domain_value(domain, row.values()));
        }
        Ok(key)
    }
}

/// The value for a set of values, those of other types refused.
fn checked(
    domain: lacuna_cache_protocol::DomainType,
    value: &SqlValue,
) -> Result<lacuna_cache_protocol::DomainValue<'_>> {
    key(domain, value)?;
    Ok(domain_value(domain, value))
}
