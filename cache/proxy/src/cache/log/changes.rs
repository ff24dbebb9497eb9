//! What a transaction in the log has changed of the registered columns.

use std::mem;

use super::lines::{Line, Row, TableName, Value, Values};
use super::setup::{DEFINITION, PREFIX};
use crate::cache::catalogue::{Catalogue, Kind, Table};
use crate::cache::span::{ColumnId, Span, Touched};
use crate::cache::values::printed;

/// The lines of a transaction so far.
#[derive(Debug, Default)]
pub(super) struct Changes {
    touched: Touched,
}

impl Changes {
    /// Takes a line; at the end of a transaction gives its number and what it has touched.
    pub(super) fn take(&mut self, line: &Line<'_>, catalogue: &Catalogue) -> Option<(u32, Touched)> {
        match line {
            Line::Begin => self.touched = Touched::default(),
            Line::Commit(number) => return Some((*number, mem::take(&mut self.touched))),
            Line::Row(name, row) => {
                if let Some(table) = registered(catalogue, name) {
                    self.add(row_spans(table, row));
                }
            }
            Line::Truncate(names) => {
                for table in names.iter().filter_map(|name| registered(catalogue, name)) {
                    self.add(all_spans(table));
                }
            }
            Line::Message(prefix, content) => {
                if (*prefix, *content) == (PREFIX, DEFINITION) {
                    self.touched = Touched::unknown();
                }
            }
            Line::Unknown => self.lose_sight(),
        }
        None
    }

    /// A line was not read: it may say anything.
    pub(super) fn lose_sight(&mut self) {
        self.touched.add(&Touched { is_all: true, ..Touched::default() });
    }

    fn add(&mut self, spans: Vec<(ColumnId, Span)>) {
        self.touched.add(&Touched { spans, ..Touched::default() });
    }
}

fn registered<'c>(catalogue: &'c Catalogue, (schema, table): &TableName<'_>) -> Option<&'c Table> {
    catalogue.registered_table(schema, table)
}

fn all_spans(table: &Table) -> Vec<(ColumnId, Span)> {
    table.registered.iter().map(|(_, number)| (*number, Span::ALL)).collect()
}

fn row_spans(table: &Table, row: &Row<'_>) -> Vec<(ColumnId, Span)> {
    let (before, after) = match row {
        Row::Inserted(after) => (None, Some(after)),
        Row::Deleted(before) => (Some(before), None),
        Row::Updated(before, after) => (Some(before), Some(after)),
        Row::Unknown => return all_spans(table),
    };
    let mut spans = Vec::new();
    for (column, number) in &table.registered {
        let kind = table.columns.get(column).copied().unwrap_or(Kind::Other);
        // A null before the change is left out, and one after it is written.
        let old = before.map(|values| held(values, column, kind, Held::Nothing));
        let new = after.map(|values| held(values, column, kind, Held::Any));
        for held in old.into_iter().chain(new) {
            match held {
                Held::Nothing => {}
                Held::One(value) => spans.push((*number, Span { low: value, high: value })),
                Held::Any => spans.push((*number, Span::ALL)),
            }
        }
    }
    spans.dedup();
    spans
}

/// What a row holds in a column.
#[derive(Debug, Clone, Copy)]
enum Held {
    /// No value, which is in no range.
    Nothing,
    One(i64),
    Any,
}

fn held(values: &Values<'_>, column: &str, kind: Kind, missing: Held) -> Held {
    match values.iter().find(|(name, _)| name == column).map(|(_, value)| value) {
        None => missing,
        Some(Value::Null) => Held::Nothing,
        Some(Value::Unchanged) => Held::Any,
        Some(Value::Text(text)) => printed(text, kind).map_or(Held::Any, Held::One),
    }
}
