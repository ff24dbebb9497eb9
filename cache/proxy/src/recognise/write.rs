//! Writes of one table. They serve estimates: what else a write may touch, by triggers and cascades, is not seen here.

use sqlparser::ast::{
    Assignment, AssignmentTarget, CopySource, Delete, Expr, FromTable, Insert, Query, SetExpr,
    Statement as Parsed, TableObject, Truncate, Update,
};

use super::bounds::{bounded_columns, operand};
use super::{Bound, Bounded, Reason, Recognised, Table, folded, only_table, table_name};

pub(super) fn recognise(statement: &Parsed) -> Result<Recognised, Reason> {
    match statement {
        Parsed::Insert(insert) => inserted(insert),
        Parsed::Update(update) => updated(update),
        Parsed::Delete(delete) => deleted(delete),
        Parsed::Truncate(Truncate { table_names, .. }) => match &table_names[..] {
            [table] => Ok(whole(table_name(&table.name)?)),
            _ => Err("it empties more than one table".to_owned()),
        },
        Parsed::Copy { source: CopySource::Table { table_name: name, .. }, to: false, .. } => {
            Ok(whole(table_name(name)?))
        }
        _ => Err("it is no SELECT, INSERT, UPDATE, DELETE, TRUNCATE or COPY".to_owned()),
    }
}

/// A write that may touch any row of the table.
const fn whole(table: String) -> Recognised {
    Recognised::Write { table, columns: Vec::new() }
}

fn inserted(insert: &Insert) -> Result<Recognised, Reason> {
    let TableObject::TableName(name) = &insert.table else {
        return Err("it writes no plain table".to_owned());
    };
    let table = table_name(name)?;
    // ON CONFLICT may change a row that has other values.
    let rows = insert.source.as_deref().filter(|_| insert.on.is_none()).and_then(rows_of);
    let Some(rows) = rows else { return Ok(whole(table)) };
    let columns = insert.columns.iter().enumerate().filter_map(|(nth, name)| {
        let column = table_name(name).ok()?;
        let operands = rows.iter().map(|row| row.get(nth).and_then(operand)).collect::<Option<_>>()?;
        Some(Bounded { column, bounds: vec![Bound::OneOf(operands)] })
    });
    Ok(Recognised::Write { columns: columns.collect(), table })
}

fn rows_of(query: &Query) -> Option<Vec<&[Expr]>> {
    match &*query.body {
        SetExpr::Values(values) => Some(values.rows.iter().map(|row| &row.content[..]).collect()),
        _ => None,
    }
}

fn updated(update: &Update) -> Result<Recognised, Reason> {
    let table = only_table(std::slice::from_ref(&update.table))?;
    let Some(assigned) = update.assignments.iter().map(assigned_column).collect::<Option<Vec<_>>>() else {
        return Ok(whole(table.name));
    };
    let mut columns = bounded(&table, update.selection.as_ref());
    // A row has another value in such a column afterwards.
    columns.retain(|bounded| !assigned.contains(&bounded.column));
    Ok(Recognised::Write { table: table.name, columns })
}

fn assigned_column(Assignment { target, .. }: &Assignment) -> Option<String> {
    match target {
        AssignmentTarget::ColumnName(name) => match &name.0[..] {
            [part] => part.as_ident().map(folded),
            _ => None,
        },
        AssignmentTarget::Tuple(_) => None,
    }
}

fn deleted(delete: &Delete) -> Result<Recognised, Reason> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let table = only_table(from)?;
    let columns = bounded(&table, delete.selection.as_ref());
    Ok(Recognised::Write { table: table.name, columns })
}

fn bounded(table: &Table, selection: Option<&Expr>) -> Vec<Bounded> {
    selection.map(|selection| bounded_columns(table, selection)).unwrap_or_default()
}
