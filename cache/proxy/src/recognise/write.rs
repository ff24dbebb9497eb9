//! Writes of one table. They serve estimates: what else a write may touch, by triggers and cascades, is not seen here.

use sqlparser::ast::{
    Assignment, AssignmentTarget, CopySource, Delete, Expr, FromTable, Insert, ObjectNamePart, Query,
    SetExpr, Statement as Parsed, TableObject, Truncate, Update,
};

use super::bounds::{bounded_columns, operand};
use super::{Bound, Bounded, Grammar, Reason, Recognised, Table, only_table, table_name};

pub(super) fn recognise(grammar: Grammar, statement: &Parsed) -> Result<Recognised, Reason> {
    match statement {
        Parsed::Insert(insert) => inserted(grammar, insert),
        Parsed::Update(update) => updated(grammar, update),
        Parsed::Delete(delete) => deleted(grammar, delete),
        Parsed::Truncate(Truncate { table_names, .. }) => match &table_names[..] {
            [table] => Ok(whole(table_name(grammar, &table.name)?)),
            _ => Err("it empties more than one table".to_owned()),
        },
        Parsed::Copy { source: CopySource::Table { table_name: name, .. }, to: false, .. } => {
            Ok(whole(table_name(grammar, name)?))
        }
        _ => Err("it is no SELECT, INSERT, UPDATE, DELETE, TRUNCATE or COPY".to_owned()),
    }
}

/// A write that may touch any row of the table.
const fn whole(table: String) -> Recognised {
    Recognised::Write { table, columns: Vec::new() }
}

fn inserted(grammar: Grammar, insert: &Insert) -> Result<Recognised, Reason> {
    let TableObject::TableName(name) = &insert.table else {
        return Err("it writes no plain table".to_owned());
    };
    let table = table_name(grammar, name)?;
    // ON CONFLICT, ON DUPLICATE KEY and REPLACE may change a row that has other values.
    let is_plain = insert.on.is_none() && !insert.replace_into;
    let rows = insert.source.as_deref().filter(|_| is_plain).and_then(rows_of);
    let Some(rows) = rows else { return Ok(whole(table)) };
    let columns = insert.columns.iter().enumerate().filter_map(|(nth, name)| {
        let column = only_column(grammar, &name.0)?;
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

fn updated(grammar: Grammar, update: &Update) -> Result<Recognised, Reason> {
    let table = only_table(grammar, std::slice::from_ref(&update.table))?;
    let assigned = update.assignments.iter().map(|assignment| assigned_column(grammar, assignment));
    let Some(assigned) = assigned.collect::<Option<Vec<_>>>() else {
        return Ok(whole(table.name));
    };
    let mut columns = bounded(&table, update.selection.as_ref());
    // A row has another value in such a column afterwards.
    columns.retain(|bounded| !assigned.contains(&bounded.column));
    Ok(Recognised::Write { table: table.name, columns })
}

fn assigned_column(grammar: Grammar, Assignment { target, .. }: &Assignment) -> Option<String> {
    match target {
        AssignmentTarget::ColumnName(name) => only_column(grammar, &name.0),
        AssignmentTarget::Tuple(_) => None,
    }
}

/// A column whose name stands alone.
fn only_column(grammar: Grammar, parts: &[ObjectNamePart]) -> Option<String> {
    match parts {
        [part] => part.as_ident().map(|name| grammar.column(name)),
        _ => None,
    }
}

fn deleted(grammar: Grammar, delete: &Delete) -> Result<Recognised, Reason> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let table = only_table(grammar, from)?;
    let columns = bounded(&table, delete.selection.as_ref());
    Ok(Recognised::Write { table: table.name, columns })
}

fn bounded(table: &Table, selection: Option<&Expr>) -> Vec<Bounded> {
    selection.map(|selection| bounded_columns(table, selection)).unwrap_or_default()
}
