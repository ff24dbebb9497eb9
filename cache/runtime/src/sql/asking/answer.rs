//! The result of a statement.

use std::sync::Arc;

use crate::sql::sql_value::SqlValue;

/// The result of [`Table::query`](crate::sql::Table::query): names of columns, and rows of values. These are no rows of
/// the table, so writes do not take them.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    columns: Arc<[String]>,
    rows: Vec<Vec<SqlValue>>,
}

impl Answer {
    pub(super) const fn new(columns: Arc<[String]>, rows: Vec<Vec<SqlValue>>) -> Self {
        Self { columns, rows }
    }

    /// The names of the columns: their aliases, the columns of the table that they show, or their expressions.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows, in the order of the statement.
    pub fn rows(&self) -> &[Vec<SqlValue>] {
        &self.rows
    }

    /// The values of one column, from top to bottom; none if there is no such column.
    pub fn column(&self, name: &str) -> impl Iterator<Item = &SqlValue> {
        let place = self.columns.iter().position(|column| column == name);
        self.rows.iter().filter_map(move |row| row.get(place?))
    }
}
