//! `SELECT` of one table, by what its clauses say.

use sqlparser::ast::{
    Expr, LimitClause, Offset, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, OrderBySort, Query,
    SelectItem, WildcardAdditionalOptions,
};

use super::bounds::bounded_columns;
use super::clauses::{Clauses, clauses};
use super::expression::is_known;
use super::{Grammar, Reason, Recognised};

pub(super) fn recognise(grammar: Grammar, query: &Query) -> Result<Recognised, Reason> {
    let Clauses { table, projection, selection, group_by, having, order_by, limit, is_distinct: _ } =
        clauses(grammar, query)?;
    order(order_by)?;
    row_counts(limit)?;
    projection.iter().try_for_each(projected)?;
    group_by.iter().chain(having).try_for_each(is_known)?;
    let selection = selection.ok_or("it has no WHERE: a cache keeps results of intervals")?;
    is_known(selection)?;
    let columns = bounded_columns(&table, selection);
    if columns.is_empty() {
        return Err(
            "no condition bounds a column by =, <, <=, >, >=, BETWEEN or IN and a constant".to_owned()
        );
    }
    Ok(Recognised::Read { table: table.name, columns })
}

fn projected(item: &SelectItem) -> Result<(), Reason> {
    match item {
        SelectItem::Wildcard(options) if *options == WildcardAdditionalOptions::default() => Ok(()),
        SelectItem::QualifiedWildcard(_, options) if *options == WildcardAdditionalOptions::default() => {
            Ok(())
        }
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => is_known(expr),
        _ => Err("what it selects is not known here".to_owned()),
    }
}

fn order(order_by: Option<&OrderBy>) -> Result<(), Reason> {
    let Some(OrderBy { kind, interpolate }) = order_by else { return Ok(()) };
    let (OrderByKind::Expressions(exprs), None) = (kind, interpolate) else {
        return Err("ORDER BY ALL is not known here".to_owned());
    };
    exprs.iter().try_for_each(|OrderByExpr { expr, options, with_fill }| {
        let OrderByOptions { sort, nulls_first: _ } = options;
        if with_fill.is_some() || matches!(sort, Some(OrderBySort::Using(_))) {
            return Err("ORDER BY USING is not known here".to_owned());
        }
        is_known(expr)
    })
}

fn row_counts(limit: Option<&LimitClause>) -> Result<(), Reason> {
    match limit {
        None => Ok(()),
        Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
            let offset = offset.as_ref().map(|Offset { value, rows: _ }| value);
            limit.iter().chain(offset).try_for_each(row_count)
        }
        // MySQL's `LIMIT 10, 5`; the parser reads it by the grammar of MySQL alone.
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
            [offset, limit].into_iter().try_for_each(row_count)
        }
        Some(_) => Err("its LIMIT is one of another database".to_owned()),
    }
}

fn row_count(expr: &Expr) -> Result<(), Reason> {
    match expr {
        Expr::Value(_) => Ok(()),
        _ => Err("LIMIT and OFFSET are no numbers or parameters".to_owned()),
    }
}
