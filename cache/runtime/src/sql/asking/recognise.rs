//! The clauses of a `SELECT`: those that are known here, each field of the parser's trees named once, so that a new one
//! is a compile error.

use std::collections::BTreeSet;
use std::sync::Arc;

use lacuna_cache_protocol::Result;
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, LimitClause, Offset, OrderBy, OrderByExpr, OrderByKind, OrderByOptions,
    OrderBySort, Query, Select, SelectFlavor, SelectItem, SetExpr, Statement, Value,
    WildcardAdditionalOptions,
};
use sqlparser::dialect::{Dialect as Grammar, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use super::bounds::{Conditions, Source, conditions};
use super::chains::check_chains;
use super::expression::{Writer, param_number};
use super::from::tables;
use super::{Output, Part, Recognised, refused};
use crate::sql::database::{ColumnKind, Dialect};
use crate::sql::registry::Registered;
use crate::sql::schema::Schema;

/// Most bytes of a statement, and how deep its expressions may be.
const MAX_TEXT: usize = 4_096;
const MAX_DEPTH: usize = 40;

/// The statement that `text` is, over `schema` and tables that are `registered` beside it.
///
/// # Errors
/// `InvalidInput` with the reason why its results are not cached.
pub(crate) fn recognised(
    dialect: Dialect,
    schema: &Schema,
    registered: &[Arc<Registered>],
    text: &str,
) -> Result<Recognised> {
    let query = parsed(dialect, text)?;
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
    } = &query
    else {
        return Err(refused("WITH, FETCH and clauses of other databases are not known here"));
    };
    if !locks.is_empty() {
        return Err(refused("it locks rows, which a cached result does not"));
    }
    let SetExpr::Select(select) = &**body else {
        return Err(refused("it is not one SELECT"));
    };
    if !pipe_operators.is_empty() {
        return Err(refused("pipes are not known here"));
    }
    statement(dialect, (schema, registered), select, order_by.as_ref(), limit_clause.as_ref())
}

fn parsed(dialect: Dialect, text: &str) -> Result<Query> {
    if text.len() > MAX_TEXT {
        return Err(refused(format!("its text is longer than {MAX_TEXT} bytes")));
    }
    if text.contains(['\\', '\0']) {
        return Err(refused(
            "\\ means different things in different sessions; give such a text as a parameter",
        ));
    }
    let grammar: &dyn Grammar = match dialect {
        Dialect::Sqlite => &SQLiteDialect {},
        Dialect::Postgres => &PostgreSqlDialect {},
        Dialect::MariaDb => &MySqlDialect {},
    };
    if dialect == Dialect::MariaDb && text.contains("/*!") {
        // The tokenizer takes their content for SQL, which the database does by its version.
        return Err(refused("a comment may be an instruction to the database"));
    }
    let tokens = Tokenizer::new(grammar, text).tokenize();
    let tokens = numbered(tokens.map_err(|error| refused(format!("it cannot be read: {error}")))?)?;
    check_chains(&tokens).map_err(refused)?;
    let mut parser = Parser::new(grammar).with_recursion_limit(MAX_DEPTH).with_tokens(tokens);
    let statements = parser.parse_statements();
    let statements = statements.map_err(|error| refused(format!("it cannot be read: {error}")))?;
    match <[Statement; 1]>::try_from(statements) {
        Ok([Statement::Query(query)]) => Ok(*query),
        Ok(_) => Err(refused("it is no SELECT")),
        Err(_) => Err(refused("it is not one statement")),
    }
}

/// Parameters named by their numbers: `?` by its place.
fn numbered(mut tokens: Vec<Token>) -> Result<Vec<Token>> {
    let (mut count, mut has_numbers) = (0, false);
    for token in &mut tokens {
        let name = match token {
            Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)) => {
                return Err(refused("a comment may be an instruction to the database"));
            }
            Token::Question => "?".to_owned(),
            Token::Placeholder(name) => name.clone(),
            _ => continue,
        };
        let number = if name == "?" {
            count += 1;
            count
        } else {
            has_numbers = true;
            let digits = name.strip_prefix(['?', '$']).and_then(|digits| digits.parse::<usize>().ok());
            digits
                .filter(|number| (1..=999).contains(number))
                .ok_or_else(|| refused(format!("{name} is no number of a parameter")))?
        };
        *token = Token::Placeholder(format!("${number}"));
    }
    if count > 0 && has_numbers {
        return Err(refused("its parameters are named both by number and by place"));
    }
    Ok(tokens)
}

fn statement(
    dialect: Dialect,
    (schema, registered): (&Schema, &[Arc<Registered>]),
    select: &Select,
    order_by: Option<&OrderBy>,
    limit: Option<&LimitClause>,
) -> Result<Recognised> {
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
        selection: Some(selection),
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
        return Err(refused("it needs a WHERE, and has no INTO and no clauses of other databases"));
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
        return Err(refused("hints, windows, ROLLUP and clauses of other databases are not known here"));
    }
    let tables = tables(dialect, schema, registered, from)?;
    let names = &tables.names;
    let mut writer = Writer { names, parts: Vec::new() };
    writer.text("SELECT ").text(match distinct {
        None | Some(Distinct::All) => "",
        Some(Distinct::Distinct) => "DISTINCT ",
        Some(Distinct::On(_)) => return Err(refused("DISTINCT ON is not known here")),
    });
    let (outputs, aliases) = projection_of(&mut writer, projection)?;
    if matches!(distinct, Some(Distinct::Distinct)) {
        outputs.iter().try_for_each(|output| is_told_apart(dialect, output))?;
    }
    tables.write(writer.text(" FROM "))?;
    writer.text(" WHERE ");
    let Conditions { domain, bounds, others } = conditions(names, selection)?;
    writer.parts.push(Part::Interval);
    for other in others {
        writer.text(" AND ").expression(other)?;
    }
    if !group_by.is_empty() {
        group_by.iter().try_for_each(no_position)?;
        writer.text(" GROUP BY ").list(group_by, None)?;
    }
    if let Some(having) = having {
        writer.text(" HAVING ").expression(having)?;
    }
    order(&mut writer, order_by, &aliases)?;
    limited(&mut writer, limit)?;
    let parts = writer.parts;
    let in_parts = parts.iter().filter_map(|part| match part {
        Part::Param(number, _) | Part::RowCount(number) => Some(*number),
        Part::Sql(_) | Part::Interval => None,
    });
    let in_bounds = bounds.iter().filter_map(|bound| match bound.source {
        Source::Param(number) => Some(number),
        Source::Literal(_) => None,
    });
    let numbers: BTreeSet<usize> = in_parts.chain(in_bounds).collect();
    let param_count = numbers.len();
    if numbers.last().is_some_and(|last| last + 1 != param_count) {
        return Err(refused("the numbers of its parameters have a gap"));
    }
    let columns = outputs.iter().map(|output: &Output| output.name.clone()).collect();
    let joined = tables.joined;
    Ok(Recognised { domain, bounds, parts, outputs, columns, param_count, joined })
}

/// A name that the statement has given to a column of its result.
struct Alias<'e> {
    name: String,
    /// What is ordered by in its place, where the name would mean a text in place of the value.
    stands_for: Option<&'e Expr>,
}

/// Writes what is selected; the columns of the result, and the names that the statement has given to some.
fn projection_of<'e>(
    writer: &mut Writer<'_>,
    projection: &'e [SelectItem],
) -> Result<(Vec<Output>, Vec<Alias<'e>>)> {
    let names = writer.names;
    let (mut outputs, mut aliases) = (Vec::new(), Vec::new());
    for item in projection {
        match item {
            SelectItem::Wildcard(options) if *options == WildcardAdditionalOptions::default() => {
                let all = names.order.iter().flat_map(|number| names.places(*number));
                for place in all.filter(|place| !names.described(*place).is_hidden) {
                    let name = names.name_of(place).to_owned();
                    output(writer, &mut outputs, Selected::Column(place), name)?;
                }
            }
            SelectItem::UnnamedExpr(expr) => {
                let column = names.column(expr)?.map(|place| names.name_of(place).to_owned());
                let name = column.unwrap_or_else(|| expr.to_string());
                output(writer, &mut outputs, Selected::Expression(expr), name)?;
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                let alias = names.folded(alias)?;
                let is_column = |place: usize| names.name_of(place).eq_ignore_ascii_case(&alias);
                let mut columns = names.order.iter().flat_map(|number| names.places(*number));
                if columns.any(is_column) && !names.column(expr)?.is_some_and(is_column) {
                    return Err(refused(format!("{alias} names a column of the table and something else")));
                }
                output(writer, &mut outputs, Selected::Expression(expr), alias.clone())?;
                writer.text(" AS ").text(&names.dialect.quoted(&alias));
                let is_read_as_it_is =
                    names.kind(expr).is_none_or(|kind| names.dialect.read("\0", kind) == "\0");
                aliases.push(Alias { name: alias, stands_for: (!is_read_as_it_is).then_some(expr) });
            }
            other => return Err(refused(format!("{other} is not known here"))),
        }
    }
    Ok((outputs, aliases))
}

/// Refuses distinct values of a column that is read as text, where equal ones have different texts, or others the same:
/// `1 day` and `24:00:00`.
fn is_told_apart(dialect: Dialect, output: &Output) -> Result<()> {
    let Some(kind) = output.kind else { return Ok(()) };
    let is_read_as_it_is = dialect.read("\0", kind) == "\0";
    let has_one_text = match dialect {
        Dialect::Sqlite => true,
        Dialect::Postgres => matches!(kind, ColumnKind::Label { .. }),
        Dialect::MariaDb => matches!(kind, ColumnKind::Bits | ColumnKind::Uuid { .. }),
    };
    if is_read_as_it_is || has_one_text {
        return Ok(());
    }
    Err(refused(format!("{} is read as text, whose distinct values are others", output.name)))
}

/// What a column of the result shows.
#[derive(Clone, Copy)]
enum Selected<'e> {
    /// A column of a table, by its place.
    Column(usize),
    Expression(&'e Expr),
}

/// Writes a column of the result, read in the form in which its values are given back.
fn output(
    writer: &mut Writer<'_>,
    outputs: &mut Vec<Output>,
    selected: Selected<'_>,
    name: String,
) -> Result<()> {
    writer.text(if outputs.is_empty() { "" } else { ", " });
    let kind = match selected {
        Selected::Column(place) => Some(writer.names.described(place).kind),
        Selected::Expression(expr) => writer.names.kind(expr),
    };
    let around = kind.map(|kind| writer.names.dialect.read("\0", kind)).unwrap_or_else(|| "\0".to_owned());
    let (before, after) = around.split_once('\0').unwrap_or_default();
    writer.text(before);
    match selected {
        Selected::Column(place) => writer.column(place),
        Selected::Expression(expr) => writer.expression(expr)?,
    }
    writer.text(after);
    outputs.push(Output { name, kind });
    Ok(())
}

fn no_position(expr: &Expr) -> Result<()> {
    match expr {
        Expr::Nested(inner) => no_position(inner),
        Expr::Value(_) => {
            Err(refused("name what to order or group by: numbers and parameters are not columns"))
        }
        _ => Ok(()),
    }
}

fn order(writer: &mut Writer<'_>, order_by: Option<&OrderBy>, aliases: &[Alias<'_>]) -> Result<()> {
    let Some(OrderBy { kind, interpolate }) = order_by else { return Ok(()) };
    let (OrderByKind::Expressions(exprs), None) = (kind, interpolate) else {
        return Err(refused("ORDER BY ALL is not known here"));
    };
    for (nth, OrderByExpr { expr, options: OrderByOptions { sort, nulls_first }, with_fill }) in
        exprs.iter().enumerate()
    {
        writer.text(if nth > 0 { ", " } else { " ORDER BY " });
        no_position(expr)?;
        let alias = if let Expr::Identifier(ident) = expr { Some(writer.names.folded(ident)?) } else { None };
        let alias =
            alias.and_then(|name| aliases.iter().find(|alias| writer.names.is_same(&alias.name, &name)));
        match alias {
            Some(Alias { stands_for: Some(expr), .. }) => writer.expression(expr)?,
            Some(Alias { name, .. }) => {
                writer.text(&writer.names.dialect.quoted(name));
            }
            None => writer.expression(expr)?,
        }
        writer.text(match sort {
            None | Some(OrderBySort::Asc) => "",
            Some(OrderBySort::Desc) => " DESC",
            Some(OrderBySort::Using(_)) => return Err(refused("ORDER BY USING is not known here")),
        });
        writer.text(match (nulls_first, with_fill) {
            (None, None) => "",
            (Some(true), None) => " NULLS FIRST",
            (Some(false), None) => " NULLS LAST",
            (_, Some(_)) => return Err(refused("WITH FILL is not known here")),
        });
    }
    Ok(())
}

fn limited(writer: &mut Writer<'_>, limit: Option<&LimitClause>) -> Result<()> {
    let (limit, offset) = match limit {
        None => return Ok(()),
        Some(LimitClause::LimitOffset { limit: Some(limit), offset, limit_by }) if limit_by.is_empty() => {
            (limit, offset.as_ref().map(|Offset { value, rows: _ }| value))
        }
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => (limit, Some(offset)),
        Some(_) => return Err(refused("OFFSET needs a LIMIT")),
    };
    row_count(writer.text(" LIMIT "), limit)?;
    if let Some(offset) = offset {
        row_count(writer.text(" OFFSET "), offset)?;
    }
    Ok(())
}

fn row_count(writer: &mut Writer<'_>, expr: &Expr) -> Result<()> {
    let number = if let Expr::Value(value) = expr { Some(&value.value) } else { None };
    match number {
        Some(Value::Number(text, false)) if text.parse::<u32>().is_ok() => {
            writer.text(text);
        }
        Some(value) if param_number(value).is_some() => {
            writer.parts.push(Part::RowCount(param_number(value).expect("it was one")));
        }
        _ => return Err(refused(format!("{expr} is no number of rows and no parameter"))),
    }
    Ok(())
}
