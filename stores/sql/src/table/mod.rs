//! A registered table: reads by range, and writes that know what they touch.
//!
//! Every write of a row knows the values of the registered columns before and after it, and the database checks that it
//! was right: an update or a deletion of a [`Row`] is refused with `Conflict` if the row was changed meanwhile.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use lacuna_cache_shell::{Counts, RangeCache, WriteError};
use lacuna_core::{Error, Result};
use lacuna_range_cache::{Form, Interval, Notice, Query, RangeKey, Touched, Write, WriteSet};
use tokio::sync::broadcast;

use crate::database::Dialect;
use crate::domain_key::{domain_value, key};
use crate::rows::{Row, Rows, decode};
use crate::schema::Schema;
use crate::select::Sql;
use crate::sql_value::SqlValue;
use crate::statement::{Effect, SqlWrite, Statement};

/// A table with a cache before it. Clones are the same table.
#[derive(Debug, Clone)]
pub struct Table {
    cache: RangeCache,
    schema: Arc<Schema>,
    dialect: Dialect,
    fingerprint: u64,
}

impl Table {
    pub(crate) fn new(cache: RangeCache, schema: Arc<Schema>, dialect: Dialect) -> Self {
        let fingerprint = schema.fingerprint();
        Self { cache, schema, dialect, fingerprint }
    }

    /// All rows whose `column` lies in `range`, in the order of that column, then of the key.
    ///
    /// # Errors
    /// `InvalidInput` for a column that is not registered or a bound of another type, `Unavailable` if nobody answers.
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
        let query = Query { domain, interval, form, fingerprint: self.fingerprint };
        let value = self.cache.read(query).await?;
        let columns = &self.schema.columns;
        let rows = decode(columns.len(), &value)?;
        Ok(rows.into_iter().map(|values| Row::new(columns.clone(), values)).collect())
    }

    /// `None` if no value can lie in the range.
    fn interval<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
    ) -> Result<Option<Interval<RangeKey>>> {
        let (_, domain) = self.schema.domains[self.schema.domain_of(column)?];
        let bound = |bound: Bound<&V>| bound.map(|value| value.clone().into());
        let (lo, hi): (Bound<SqlValue>, Bound<SqlValue>) =
            (bound(range.start_bound()), bound(range.end_bound()));
        let value = |bound: &Bound<SqlValue>| -> Result<Bound<Option<RangeKey>>> {
            Ok(match bound {
                Bound::Included(value) => Bound::Included(key(domain, value)?),
                Bound::Excluded(value) => Bound::Excluded(key(domain, value)?),
                Bound::Unbounded => Bound::Unbounded,
            })
        };
        let (Some(lo), Some(hi)) = (known(value(&lo)?), known(value(&hi)?)) else { return Ok(None) };
        Ok(Interval::new(lo, hi))
    }

    /// Adds a row.
    ///
    /// # Errors
    /// `Refused` if the database refuses it or a value is of another type; see [`WriteError`].
    pub async fn insert<'a>(
        &self,
        values: impl IntoIterator<Item = (&'a str, SqlValue)>,
    ) -> Result<(), WriteError> {
        let values: Vec<(&str, SqlValue)> = values.into_iter().collect();
        let mut row = vec![None; self.schema.columns.len()];
        for (column, value) in &values {
            row[self.schema.column(column)?] = Some(value.clone());
        }
        let is_kept = row
            .iter()
            .enumerate()
            .all(|(place, value)| value.as_ref().is_some_and(|value| self.schema.keeps(place, value)));
        // A key that the database makes up is not known here.
        let has_key = !matches!(row[self.schema.key_place()], None | Some(SqlValue::Null));
        let mut touched = Vec::new();
        for (domain, (column, domain_type)) in self.schema.domains.iter().enumerate() {
            // A column that is left out gets a default, which may be any value: its domain is taken whole.
            if let Some(value) = &row[self.schema.column(column)?] {
                let mut values = WriteSet::new(domain, *domain_type);
                values.after(checked(*domain_type, value)?)?;
                touched.extend(values.touched());
            }
        }
        let mut sql = Sql::new(self.dialect);
        sql.text("INSERT INTO ").name(&self.schema.table).text(" (");
        for (place, (column, _)) in values.iter().enumerate() {
            sql.text(if place > 0 { ", " } else { "" }).name(column);
        }
        sql.text(") VALUES (");
        for (place, (_, value)) in values.iter().enumerate() {
            sql.text(if place > 0 { ", " } else { "" }).value(value);
        }
        sql.text(")");
        let row: Option<Vec<SqlValue>> = row.into_iter().collect();
        let effect = row.filter(|_| is_kept && has_key).map_or(Effect::Unknown, Effect::Insert);
        self.write(touched, vec![sql.into_statement().expecting(1)], effect).await
    }

    /// Gives columns of a row new values.
    ///
    /// # Errors
    /// `Refused`, of the kind `Conflict`, if a registered column of the row is not what `row` says, or the row is gone;
    /// see [`WriteError`].
    pub async fn update<'a>(
        &self,
        row: &Row,
        values: impl IntoIterator<Item = (&'a str, SqlValue)>,
    ) -> Result<(), WriteError> {
        let values: Vec<(&str, SqlValue)> = values.into_iter().collect();
        let mut columns = Vec::new();
        for (column, value) in &values {
            columns.push((self.schema.column(column)?, value.clone()));
        }
        if columns.iter().any(|(place, _)| *place == self.schema.key_place()) {
            return Err(Error::invalid_input(
                "the primary key of a row does not change: delete it and insert",
            )
            .into());
        }
        let mut touched = self.touched_by(row, &columns)?;
        touched.dedup();
        let mut sql = Sql::new(self.dialect);
        sql.text("UPDATE ").name(&self.schema.table).text(" SET ");
        for (place, (column, value)) in values.iter().enumerate() {
            sql.text(if place > 0 { ", " } else { "" }).name(column).text(" = ").value(value);
        }
        self.where_row(&mut sql, row);
        let is_kept = columns.iter().all(|(place, value)| self.schema.keeps(*place, value));
        let key = row.values()[self.schema.key_place()].clone();
        let effect = if is_kept { Effect::Set(key, columns) } else { Effect::Unknown };
        self.write(touched, vec![sql.into_statement().expecting(1)], effect).await
    }

    /// Removes a row.
    ///
    /// # Errors
    /// As [`Table::update`].
    pub async fn delete(&self, row: &Row) -> Result<(), WriteError> {
        let touched = self.touched_by(row, &[])?;
        let mut sql = Sql::new(self.dialect);
        sql.text("DELETE FROM ").name(&self.schema.table);
        self.where_row(&mut sql, row);
        let key = row.values()[self.schema.key_place()].clone();
        let effect = if self.schema.has_triggers { Effect::Unknown } else { Effect::Delete(key) };
        self.write(touched, vec![sql.into_statement().expecting(1)], effect).await
    }

    /// Values of the registered columns, before and after columns get new values.
    fn touched_by(&self, row: &Row, columns: &[(usize, SqlValue)]) -> Result<Vec<Touched>> {
        let mut touched = Vec::new();
        for (domain, (column, domain_type)) in self.schema.domains.iter().enumerate() {
            let mut values = WriteSet::new(domain, *domain_type);
            values.before(checked(*domain_type, self.schema.domain_value(domain, row.values()))?)?;
            let place = self.schema.column(column)?;
            if let Some((_, value)) = columns.iter().find(|(changed, _)| *changed == place) {
                values.after(checked(*domain_type, value)?)?;
            }
            touched.extend(values.touched());
        }
        Ok(touched)
    }

    /// The row is there, and its registered columns are what `row` says.
    fn where_row(&self, sql: &mut Sql, row: &Row) {
        sql.text(" WHERE ").holds(&self.schema.key, &row.values()[self.schema.key_place()]);
        for (domain, (column, _)) in self.schema.domains.iter().enumerate() {
            sql.text(" AND ").holds(column, self.schema.domain_value(domain, row.values()));
        }
    }

    /// Removes all rows whose `column` lies in `range`.
    ///
    /// # Errors
    /// As [`Table::insert`].
    pub async fn delete_range<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
    ) -> Result<(), WriteError> {
        let change = |sql: &mut Sql, table: &str| {
            sql.text("DELETE FROM ").name(table);
        };
        self.change_range(column, range, change).await
    }

    /// Sets columns that are not registered, by expressions of SQL, in all rows whose `column` lies in `range`.
    ///
    /// # Errors
    /// `Refused` for a registered column; as [`Table::insert`] otherwise.
    pub async fn update_range<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
        assignments: &[(&str, &str)],
    ) -> Result<(), WriteError> {
        for (assigned, _) in assignments {
            self.schema.column(assigned)?;
            if self.schema.domain_of(assigned).is_ok() || *assigned == self.schema.key {
                let message =
                    format!("{assigned} is registered: name the rows and use `update`, or `execute`");
                return Err(Error::invalid_input(message).into());
            }
        }
        let change = |sql: &mut Sql, table: &str| {
            sql.text("UPDATE ").name(table).text(" SET ");
            for (place, (assigned, expression)) in assignments.iter().enumerate() {
                sql.text(if place > 0 { ", " } else { "" }).name(assigned).text(" = ").text(expression);
            }
        };
        self.change_range(column, range, change).await
    }

    async fn change_range<V: Into<SqlValue> + Clone>(
        &self,
        column: &str,
        range: impl RangeBounds<V>,
        change: impl FnOnce(&mut Sql, &str),
    ) -> Result<(), WriteError> {
        let domain = self.schema.domain_of(column)?;
        let Some(interval) = self.interval(column, range)? else { return Ok(()) };
        let mut sql = Sql::new(self.dialect);
        change(&mut sql, &self.schema.table);
        sql.text(" WHERE ");
        sql.within(column, self.schema.domains[domain].1, &interval)?;
        // Rows of the range may have any value in other registered columns, which are therefore taken whole.
        self.write(vec![(domain, interval)], vec![sql.into_statement()], Effect::Unknown).await
    }

    /// Runs statements of your own in one transaction. `touched` must hold the values of registered columns of every row
    /// that they change, before and after; registered columns that it does not name are taken whole. **A set that lacks
    /// a value leaves stale results behind.**
    ///
    /// # Errors
    /// As [`Table::insert`].
    pub async fn execute(&self, touched: &[WriteSet], statements: Vec<Statement>) -> Result<(), WriteError> {
        let touched = touched.iter().flat_map(WriteSet::touched).collect();
        self.write(touched, statements, Effect::Unknown).await
    }

    /// An empty set of values of a registered column, for [`Table::execute`].
    ///
    /// # Errors
    /// `InvalidInput` for a column that is not registered.
    pub fn write_set(&self, column: &str) -> Result<WriteSet> {
        let domain = self.schema.domain_of(column)?;
        Ok(WriteSet::new(domain, self.schema.domains[domain].1))
    }

    async fn write(
        &self,
        touched: Vec<Touched>,
        statements: Vec<Statement>,
        effect: Effect,
    ) -> Result<(), WriteError> {
        let command = SqlWrite { statements, effect }.command();
        self.cache.write(Write { touched, command }).await
    }

    /// What has happened since it was registered.
    pub fn counts(&self) -> Counts {
        self.cache.counts()
    }

    /// What the application must know, from now on. Under write-back, acknowledged writes that the database refused for
    /// good are told here.
    pub fn notices(&self) -> broadcast::Receiver<Notice> {
        self.cache.notices()
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

/// The value for a set of values, bytes refused.
fn checked(
    domain: lacuna_range_cache::DomainType,
    value: &SqlValue,
) -> Result<lacuna_range_cache::DomainValue<'_>> {
    key(domain, value)?;
    Ok(domain_value(domain, value))
}
