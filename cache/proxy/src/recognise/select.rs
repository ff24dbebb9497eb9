//! `SELECT` of one table. Each field of the parser's trees is named once, so that a new one is a compile error.

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, LimitClause, Offset, OrderBy, OrderByExpr, OrderByKind, OrderByOptions,
    OrderBySort, Query, Select, SelectFlavor, SelectItem, SetExpr, WildcardAdditionalOptions,
};

use super::bounds::bounded_columns;
use super::expression::is_known;
use super::{Reason, Statement, only_table};

pub(super) fn recognise(query: &Query) -> Result<Statement, Reason> {
    let Query {
        with: None,
        body,
        order_by,
        limit_clause,
        fetch: None,
        locks,
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators,
    } = query
    else {
        return Err("WITH and FETCH are not known here".to_owned());
    };
    if !locks.is_empty() {
        return Err("it locks rows, which a cached result does not".to_owned());
    }
    let SetExpr::Select(select) = &**body else {
        return Err("it is not one SELECT".to_owned());
    };
    if !pipe_operators.is_empty() {
        return Err("pipes are not known here".to_owned());
    }
    order(order_by.as_ref())?;
    limit(limit_clause.as_ref())?;
    statement(select)
}

fn statement(select: &Select) -> Result<Statement, Reason> {
    let Select {
        select_token: _,
        optimizer_hints,
        distinct,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection,
        exclude: None,
        into: None,
        from,
        lateral_views,
        prewhere: None,
        selection,
        connect_by,
        group_by: GroupByExpr::Expressions(group_by, group_modifiers),
        cluster_by,
        distribute_by,
        sort_by,
        having,
        named_window,
        qualify: None,
        window_before_qualify: _,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    } = select
    else {
        return Err("INTO and clauses of other databases are not known here".to_owned());
    };
    let is_plain = optimizer_hints.is_empty()
        && lateral_views.is_empty()
        && connect_by.is_empty()
        && group_modifiers.is_empty()
        && cluster_by.is_empty()
        && distribute_by.is_empty()
        && sort_by.is_empty()
        && named_window.is_empty();
    if !is_plain {
        return Err("windows, ROLLUP and clauses of other databases are not known here".to_owned());
    }
    let table = only_table(from)?;
    if matches!(distinct, Some(Distinct::On(_))) {
        return Err("DISTINCT ON is not known here".to_owned());
    }
    projection.iter().try_for_each(projected)?;
    group_by.iter().chain(having).try_for_each(is_known)?;
    let selection = selection.as_ref().ok_or("it has no WHERE: a cache keeps results of intervals")?;
    is_known(selection)?;
    let columns = bounded_columns(&table, selection);
    if columns.is_empty() {
        return Err(
            "no condition bounds a column by =, <, <=, >, >=, BETWEEN or IN and a constant".to_owned()
        );
    }
    Ok(Statement::Read { table: table.name, columns })
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

fn limit(limit: Option<&LimitClause>) -> Result<(), Reason> {
    match limit {
        None => Ok(()),
        Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
            let offset = offset.as_ref().map(|Offset { value, rows: _ }| value);
            limit.iter().chain(offset).try_for_each(row_count)
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
