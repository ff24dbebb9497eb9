//! Rows of a table, and their bytes in the cache.

use std::sync::Arc;

use lacuna_base::wire::Writer;
use lacuna_cache_protocol::Value;
use lacuna_cache_protocol::{Error, Result};

use crate::sql::sql_value::{SqlValue, reader};

const VERSION: u8 = 1;

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    columns: Arc<[String]>,
    values: Vec<SqlValue>,
}

/// Rows in the order of the queried range.
pub type Rows = Vec<Row>;

impl Row {
    pub(crate) const fn new(columns: Arc<[String]>, values: Vec<SqlValue>) -> Self {
        Self { columns, values }
    }

    /// The value of a column, `None` if the table has no such column.
    pub fn get(&self, column: &str) -> Option<&SqlValue> {
        let place = self.columns.iter().position(|name| name == column)?;
        self.values.get(place)
    }

    /// The value of a column of whole numbers, unless it is NULL.
    pub fn integer(&self, column: &str) -> Option<i64> {
        match self.get(column)? {
            SqlValue::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// The value of a column of text, of JSON, or of a type that is carried as text, unless it is NULL.
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.get(column)? {
            SqlValue::Text(value) | SqlValue::Json(value) => Some(value),
            _ => None,
        }
    }

    /// All values, in the order of the columns.
    pub fn values(&self) -> &[SqlValue] {
        &self.values
    }
}

/// A result as it is cached: version, number of columns, number of rows, values row by row.
pub(crate) fn encode(column_count: usize, rows: &[Vec<SqlValue>]) -> Value {
    let mut writer = Writer::default();
    writer.byte(VERSION);
    writer.number(column_count as u64);
    writer.number(rows.len() as u64);
    rows.iter().flatten().for_each(|value| value.write(&mut writer));
    writer.into_bytes().into()
}

pub(crate) fn decode(column_count: usize, value: &Value) -> Result<Vec<Vec<SqlValue>>> {
    let mut reader = reader(value.as_bytes());
    if reader.byte()? != VERSION {
        return Err(Error::unsupported("a cached result has an unknown version"));
    }
    if reader.length()? != column_count {
        return Err(Error::corrupt("a cached result has another number of columns than its table"));
    }
    let row_count = reader.length()?;
    let mut rows = Vec::new();
    for _ in 0..row_count {
        let row: Result<Vec<SqlValue>> = (0..column_count).map(|_| SqlValue::read(&mut reader)).collect();
        rows.push(row?);
    }
    Ok(rows)
}
