//! `INSERT`, `UPDATE` and `DELETE` of one table whose expressions do nothing but compute.
//!
//! A column has a range if its values before and after the statement are known to be in it. All others may change anywhere.

use sqlparser::ast::{
    Assignment, AssignmentTarget, ConflictTarget, Delete, Expr, FromTable, Function, FunctionArguments,
    Insert, OnConflict, OnConflictAction, OnInsert, Query, SelectItem, SetExpr, Statement as Parsed,
    TableObject, Update, WildcardAdditionalOptions,
};

use super::operands::{Operand, Range, operand};
use super::{Name, Reason, Statement, Write, params};
use crate::recognise::bounds::{column, conjuncts};
use crate::recognise::expression::is_known;
use crate::recognise::{Grammar, Table, clauses, only_table, table_parts};

/// Functions without arguments that PostgreSQL has itself, so that one of a user is never found before them.
const MOMENTS: [&str; 9] = [
    "clock_timestamp",
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
    "now",
    "statement_timestamp",
    "transaction_timestamp",
];

/// # Errors
/// Why it may do anything.
pub(super) fn recognise(statement: &Parsed, plain: &str) -> Result<Statement, Reason> {
    let (table, ranges) = match statement {
        Parsed::Insert(insert) => inserted(insert)?,
        Parsed::Update(update) => updated(update)?,
        Parsed::Delete(delete) => deleted(delete)?,
        _ => return Err("it is no SELECT, INSERT, UPDATE or DELETE".to_owned()),
    };
    let table = Name::of(&table).ok_or("its table is one of another database")?;
    Ok(Statement::Write(Write { table, ranges, params: params(plain) }))
}

type Ranges = Vec<(String, Range)>;

fn unknown() -> Reason {
    "it writes in a way that is not known here".to_owned()
}

fn inserted(insert: &Insert) -> Result<(Vec<String>, Ranges), Reason> {
    let Insert {
        insert_token: _,
        optimizer_hints,
        or: None,
        ignore: false,
        into: true,
        table: TableObject::TableName(name),
        table_alias: None,
        columns,
        by_name: false,
        overwrite: false,
        source: Some(source),
        assignments,
        partitioned: None,
        after_columns,
        overriding: None,
        has_table_keyword: false,
        on,
        returning,
        output: None,
        replace_into: false,
        priority: None,
        insert_alias: None,
        settings: None,
        format_clause: None,
        multi_table_insert_type: None,
        multi_table_into_clauses,
        multi_table_when_clauses,
        multi_table_else_clause: None,
    } = insert
    else {
        return Err(unknown());
    };
    let is_plain = optimizer_hints.is_empty()
        && assignments.is_empty()
        && after_columns.is_empty()
        && multi_table_into_clauses.is_empty()
        && multi_table_when_clauses.is_empty();
    if !is_plain {
        return Err(unknown());
    }
    let rows = rows_of(source).ok_or("it inserts what is no list of VALUES")?;
    rows.iter().flat_map(|row| row.iter()).try_for_each(computes)?;
    returned(returning.as_deref())?;
    let keeps_rows = match on {
        None => true,
        Some(on) => conflict(on)?,
    };
    let ranges = columns.iter().enumerate().filter(|_| keeps_rows).filter_map(|(nth, name)| {
        let [name] = &table_parts(Grammar::Postgres, name).ok()?[..] else { return None };
        let operands: Vec<Operand> =
            rows.iter().map(|row| row.get(nth).and_then(constant)).collect::<Option<_>>()?;
        Some((name.clone(), Range::Stored(operands)))
    });
    Ok((table_parts(Grammar::Postgres, name)?, ranges.collect()))
}

/// The rows of `VALUES`, if the query is nothing else.
fn rows_of(query: &Query) -> Option<Vec<&[Expr]>> {
    match clauses::parts(query) {
        Ok((SetExpr::Values(values), None, None)) => {
            Some(values.rows.iter().map(|row| &row.content[..]).collect())
        }
        _ => None,
    }
}

/// Whether rows that are there already stay as they are.
fn conflict(on: &OnInsert) -> Result<bool, Reason> {
    let OnInsert::OnConflict(OnConflict { conflict_target, action }) = on else { return Err(unknown()) };
    if !matches!(
        conflict_target,
        None | Some(ConflictTarget::Columns { predicate: None, .. } | ConflictTarget::OnConstraint(_))
    ) {
        return Err(unknown());
    }
    match action {
        OnConflictAction::DoNothing => Ok(true),
        OnConflictAction::DoUpdate(update) => {
            assigned(&update.assignments)?;
            update.selection.iter().try_for_each(is_known)?;
            Ok(false)
        }
    }
}

fn updated(update: &Update) -> Result<(Vec<String>, Ranges), Reason> {
    let Update {
        update_token: _,
        optimizer_hints,
        table,
        on_cluster: None,
        assignments,
        from: None,
        selection,
        returning,
        output: None,
        or: None,
        order_by,
        limit: None,
        settings: None,
    } = update
    else {
        return Err(unknown());
    };
    if !(optimizer_hints.is_empty() && order_by.is_empty()) {
        return Err(unknown());
    }
    let table = only_table(Grammar::Postgres, std::slice::from_ref(table))?;
    let assigned = assigned(assignments)?;
    returned(returning.as_deref())?;
    let mut ranges = bounded(&table, selection.as_ref())?;
    // A row has another value in such a column afterwards.
    ranges.retain(|(column, _)| !assigned.contains(column));
    Ok((table.parts, ranges))
}

/// What is written may be the moment, too.
fn computes(expr: &Expr) -> Result<(), Reason> {
    match expr {
        Expr::Function(Function {
            name, uses_odbc_syntax: false, args, filter: None, over: None, ..
        }) => {
            let has_none = match args {
                FunctionArguments::None => true,
                FunctionArguments::List(list) => list.args.is_empty() && list.clauses.is_empty(),
                FunctionArguments::Subquery(_) => false,
            };
            let is_moment = has_none && MOMENTS.contains(&&*name.to_string().to_ascii_lowercase());
            if is_moment { Ok(()) } else { is_known(expr) }
        }
        other => is_known(other),
    }
}

/// The columns that are set.
fn assigned(assignments: &[Assignment]) -> Result<Vec<String>, Reason> {
    assignments
        .iter()
        .map(|Assignment { target, value }| {
            computes(value)?;
            match target {
                AssignmentTarget::ColumnName(name) => match &table_parts(Grammar::Postgres, name)?[..] {
                    [column] => Ok(column.clone()),
                    _ => Err(unknown()),
                },
                AssignmentTarget::Tuple(_) => Err(unknown()),
            }
        })
        .collect()
}

fn deleted(delete: &Delete) -> Result<(Vec<String>, Ranges), Reason> {
    let Delete {
        delete_token: _,
        optimizer_hints,
        tables,
        from: FromTable::WithFromKeyword(from),
        on_cluster: None,
        using: None,
        selection,
        returning,
        output: None,
        order_by,
        limit: None,
        settings: None,
    } = delete
    else {
        return Err(unknown());
    };
    if !(optimizer_hints.is_empty() && tables.is_empty() && order_by.is_empty()) {
        return Err(unknown());
    }
    let table = only_table(Grammar::Postgres, from)?;
    returned(returning.as_deref())?;
    let ranges = bounded(&table, selection.as_ref())?;
    Ok((table.parts, ranges))
}

fn returned(items: Option<&[SelectItem]>) -> Result<(), Reason> {
    items.unwrap_or_default().iter().try_for_each(|item| match item {
        SelectItem::Wildcard(options) if *options == WildcardAdditionalOptions::default() => Ok(()),
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => is_known(expr),
        _ => Err(unknown()),
    })
}

/// What holds for all rows that a condition selects.
fn bounded(table: &Table, selection: Option<&Expr>) -> Result<Ranges, Reason> {
    let Some(selection) = selection else { return Ok(Vec::new()) };
    is_known(selection)?;
    let mut ranges: Ranges = Vec::new();
    for (column, range) in conjuncts(selection).into_iter().filter_map(|condition| bound(table, condition)) {
        match ranges.iter_mut().find(|(bounded, _)| *bounded == column) {
            Some((_, known)) => *known = Range::All(vec![known.clone(), range]),
            None => ranges.push((column, range)),
        }
    }
    Ok(ranges)
}

fn bound(table: &Table, condition: &Expr) -> Option<(String, Range)> {
    match condition {
        Expr::BinaryOp { left, op, right } => Some((column(table, left)?, Range::of(op, constant(right)?)?)),
        Expr::Between { expr, negated: false, low, high } => {
            Some((column(table, expr)?, Range::closed(constant(low)?, constant(high)?)))
        }
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<Operand> {
    operand(expr).filter(Operand::is_bound)
}
