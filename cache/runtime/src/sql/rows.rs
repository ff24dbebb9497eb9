//! Rows of a table, and their bytes in the cache.
//!
//! Writes append patches to a cached result ([`row_patch`](super::row_patch)); `settling.rs` makes rows of both.

use std::sync::Arc;

use lacuna_base::wire::{Reader, Writer};
use lacuna_cache_protocol::Value;
use lacuna_cache_protocol::{Error, Result};

use crate::sql::sql_value::{SqlValue, reader};

const VERSION: u8 = 2;
/// Most bytes before the rows.
const HEADER_BYTES: usize = 1 + 3 * 10;

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

    /// Whether its values are of these columns.
    pub(crate) fn has_columns(&self, columns: &Arc<[String]>) -> bool {
        Arc::ptr_eq(&self.columns, columns) || self.columns == *columns
    }

    /// All values, in the order of the columns.
    pub fn values(&self) -> &[SqlValue] {
        &self.values
    }
}

/// A result as it is cached: version, number of columns, number of rows, the length of the rows in bytes, and their
/// values row by row.
pub(crate) fn encode(column_count: usize, rows: &[Vec<SqlValue>]) -> Value {
    let mut writer = Writer::default();
    rows.iter().flatten().for_each(|value| value.write(&mut writer));
    enclose(column_count, rows.len(), &[writer.as_bytes()])
}

/// A result of rows that are written already, in pieces of any number of rows.
pub(super) fn enclose(column_count: usize, row_count: usize, pieces: &[impl AsRef<[u8]>]) -> Value {
    let len: usize = pieces.iter().map(|piece| piece.as_ref().len()).sum();
    let mut writer = Writer::with_capacity(len + HEADER_BYTES);
    writer.byte(VERSION);
    writer.number(column_count as u64);
    writer.number(row_count as u64);
    writer.number(len as u64);
    pieces.iter().for_each(|piece| writer.fixed(piece.as_ref()));
    writer.into_bytes().into()
}

/// A cached result and what writes have added to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored<'a> {
    pub(super) row_count: usize,
    pub(super) rows: Reader<'a>,
    pub(super) patches: Reader<'a>,
}

impl<'a> Stored<'a> {
    pub(super) fn read(column_count: usize, value: &'a Value) -> Result<Self> {
        let mut reader = reader(value.as_bytes());
        if reader.byte()? != VERSION {
            return Err(Error::unsupported("a cached result has an unknown version"));
        }
        if reader.length()? != column_count {
            return Err(Error::corrupt("a cached result has another number of columns than its table"));
        }
        let row_count = reader.length()?;
        let rows = super::sql_value::reader(reader.bytes()?);
        Ok(Self { row_count, rows, patches: reader })
    }
}

/// The rows of a result without patches.
pub(crate) fn decode(column_count: usize, value: &Value) -> Result<Vec<Vec<SqlValue>>> {
    let Stored { row_count, mut rows, patches } = Stored::read(column_count, value)?;
    if !patches.is_at_end() {
        return Err(Error::corrupt("a cached result goes on after its rows"));
    }
    let mut decoded = Vec::new();
    for _ in 0..row_count {
        decoded.push(read_row(column_count, &mut rows)?);
    }
    Ok(decoded)
}

pub(super) fn read_row(column_count: usize, rows: &mut Reader<'_>) -> Result<Vec<SqlValue>> {
    let mut row = Vec::with_capacity(column_count);
    for _ in 0..column_count {
        row.push(SqlValue::read(rows)?);
    }
    Ok(row)
}
