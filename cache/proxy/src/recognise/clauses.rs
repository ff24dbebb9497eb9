//! The clauses of a `SELECT` of one table. Each field of the parser's trees is named once, so that a new one is a compile error.

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, LimitClause, OrderBy, Query, Select, SelectFlavor, SelectItem, SetExpr,
};

use super::{Grammar, Reason, Table, only_table};

/// What such a statement may have; it has nothing else.
#[derive(Debug)]
pub(super) struct Clauses<'q> {
    pub(super) table: Table,
    pub(super) projection: &'q [SelectItem],
    pub(super) selection: Option<&'q Expr>,
    pub(super) group_by: &'q [Expr],
    pub(super) having: Option<&'q Expr>,
    pub(super) is_distinct: bool,
    pub(super) order_by: Option<&'q OrderBy>,
    pub(super) limit: Option<&'q LimitClause>,
}

/// # Errors
/// What it has besides.
pub(super) fn clauses(grammar: Grammar, query: &Query) -> Result<Clauses<'_>, Reason> {
    let (body, order_by, limit) = parts(query)?;
    let SetExpr::Select(select) = body else {
        return Err("it is not one SELECT".to_owned());
    };
    Ok(Clauses { order_by, limit, ..of_select(grammar, select)? })
}

/// What is asked, its order and its limit.
type Parts<'q> = (&'q SetExpr, Option<&'q OrderBy>, Option<&'q LimitClause>);

/// # Errors
/// What the query has besides.
pub(super) fn parts(query: &Query) -> Result<Parts<'_>, Reason> {
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
    if !pipe_operators.is_empty() {
        return Err("pipes are not known here".to_owned());
    }
    Ok((body, order_by.as_ref(), limit_clause.as_ref()))
}

fn of_select(grammar: Grammar, select: &Select) -> Result<Clauses<'_>, Reason> {
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
    let table = only_table(grammar, from)?;
    if matches!(distinct, Some(Distinct::On(_))) {
        return Err("DISTINCT ON is not known here".to_owned());
    }
    let (selection, having) = (selection.as_ref(), having.as_ref());
    let is_distinct = distinct.is_some();
    Ok(Clauses { table, projection, selection, group_by, having, is_distinct, order_by: None, limit: None })
}
