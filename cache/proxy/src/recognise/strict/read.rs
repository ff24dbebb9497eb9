//! `SELECT` of one table whose conditions are known to be immutable.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, InTarget, LimitClause, OrderBy,
    OrderByKind, Query, SelectItem, SelectItemQualifiedWildcardKind, UnaryOperator, Value,
    WildcardAdditionalOptions,
};

use super::operands::{Cast, Operand, Range, operand};
use super::{Freedom, Name, Need, Read, Reason, Statement, params};
use crate::recognise::bounds::{column, turned};
use crate::recognise::clauses::clauses;
use crate::recognise::expression::plain_call;
use crate::recognise::{Grammar, Table, folded, table_parts};

/// # Errors
/// Why no reply of it could be kept.
pub(super) fn recognise(query: &Query, plain: &str) -> Result<Statement, Reason> {
    let clauses = clauses(Grammar::Postgres, query)?;
    if clauses.having.is_some() {
        return Err("HAVING is not known here".to_owned());
    }
    let selection = clauses.selection.ok_or("it has no WHERE: a cache keeps results of intervals")?;
    let mut reader = Reader::new(clauses.table);
    clauses.projection.iter().try_for_each(|item| reader.projected(item))?;
    clauses.group_by.iter().try_for_each(|expr| reader.shown(expr))?;
    reader.condition(selection, true)?;
    reader.order(clauses.order_by)?;
    limit(clauses.limit)?;
    let table = Name::of(&reader.table.parts).ok_or("its table is one of another database")?;
    if reader.ranges.is_empty() {
        return Err(
            "no condition bounds a column by =, <, <=, >, >=, BETWEEN or IN and a constant".to_owned()
        );
    }
    let freedom = Freedom {
        is_ordered: clauses.order_by.is_some(),
        is_limited: clauses.limit.is_some(),
        is_grouped: clauses.is_distinct || !clauses.group_by.is_empty(),
    };
    let Reader { shows_all, needs, compared, ranges, .. } = reader;
    Ok(Statement::Read(Read { table, shows_all, needs, compared, ranges, params: params(plain), freedom }))
}

/// What was read of a statement so far.
struct Reader {
    table: Table,
    /// Names that the statement gives to what it shows.
    given: Vec<String>,
    shows_all: bool,
    needs: Vec<(String, Need)>,
    compared: Vec<(String, Operand)>,
    ranges: Vec<(String, Range)>,
}

impl Reader {
    const fn new(table: Table) -> Self {
        Self {
            table,
            given: Vec::new(),
            shows_all: false,
            needs: Vec::new(),
            compared: Vec::new(),
            ranges: Vec::new(),
        }
    }

    fn projected(&mut self, item: &SelectItem) -> Result<(), Reason> {
        match item {
            SelectItem::Wildcard(options) if *options == WildcardAdditionalOptions::default() => {
                self.shows_all = true;
                Ok(())
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(of), options)
                if *options == WildcardAdditionalOptions::default()
                    && table_parts(Grammar::Postgres, of)? == [self.table.alias.clone()] =>
            {
                self.shows_all = true;
                Ok(())
            }
            SelectItem::UnnamedExpr(expr) => self.value(expr),
            SelectItem::ExprWithAlias { expr, alias } => {
                self.given.push(folded(alias));
                self.value(expr)
            }
            _ => Err("what it selects is not known here".to_owned()),
        }
    }

    /// A column, or an aggregate of PostgreSQL's own that gives the same for the same rows.
    fn value(&mut self, expr: &Expr) -> Result<(), Reason> {
        match expr {
            Expr::Function(function) => self.aggregate(function),
            other => self.shown(other),
        }
    }

    fn aggregate(&mut self, function: &Function) -> Result<(), Reason> {
        let unknown = || "it selects what is no column and no count, min, max or sum of one".to_owned();
        let call = plain_call(function).filter(|(_, list)| list.duplicate_treatment.is_none());
        let (name, list) = call.ok_or_else(unknown)?;
        match (&*name, &list.args[..]) {
            ("count", [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]) => Ok(()),
            ("count" | "min" | "max" | "sum", [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))]) => {
                let column = self.column(expr).ok_or_else(unknown)?;
                // The smallest of 1.0 and 1.00 is either.
                let need = if matches!(&*name, "min" | "max") { Need::Integer } else { Need::Number };
                self.needs.push((column, need));
                Ok(())
            }
            _ => Err(unknown()),
        }
    }

    fn shown(&mut self, expr: &Expr) -> Result<(), Reason> {
        let column = self.column(expr).ok_or("it selects or groups by what is no column")?;
        self.needs.push((column, Need::Shown));
        Ok(())
    }

    /// A column by which rows are ordered, one that the statement has given a name, or a place.
    fn order(&mut self, order_by: Option<&OrderBy>) -> Result<(), Reason> {
        let Some(OrderBy { kind: OrderByKind::Expressions(exprs), interpolate: None }) = order_by else {
            return if order_by.is_none() {
                Ok(())
            } else {
                Err("ORDER BY ALL is not known here".to_owned())
            };
        };
        exprs.iter().try_for_each(|order| {
            let is_using = matches!(order.options.sort, Some(sqlparser::ast::OrderBySort::Using(_)));
            if order.with_fill.is_some() || is_using {
                return Err("ORDER BY USING is not known here".to_owned());
            }
            match &order.expr {
                Expr::Identifier(name) if self.given.contains(&folded(name)) => Ok(()),
                Expr::Value(value) if matches!(value.value, Value::Number(_, false)) => Ok(()),
                expr => self.shown(expr),
            }
        })
    }

    /// A condition; `must_hold` if no row is selected without it.
    fn condition(&mut self, expr: &Expr, must_hold: bool) -> Result<(), Reason> {
        match expr {
            Expr::Nested(inner) => self.condition(inner, must_hold),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.condition(left, must_hold)?;
                self.condition(right, must_hold)
            }
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
                self.condition(left, false)?;
                self.condition(right, false)
            }
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => self.condition(expr, false),
            Expr::IsNull(inner) | Expr::IsNotNull(inner) => self.need(inner, Need::Any),
            Expr::IsTrue(inner) | Expr::IsFalse(inner) => self.need(inner, Need::Bool),
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.need(expr, Need::Bool),
            Expr::BinaryOp { left, op, right } => self.comparison(left, op, right, must_hold),
            Expr::Between { expr, negated, low, high } => {
                let ends = [low, high].map(|end| operand(end).filter(Operand::is_bound));
                let [Some(low), Some(high)] = ends else { return Err(unknown_operand()) };
                self.compare(expr, Need::Ordered, &low)?;
                self.compare(expr, Need::Ordered, &high)?;
                self.bound(expr, Range::closed(low, high), must_hold && !negated);
                Ok(())
            }
            Expr::In { expr, target: InTarget::List(list), negated, global: false } => {
                let operands: Option<Vec<Operand>> = list.iter().map(operand).collect();
                let operands =
                    operands.filter(|operands| !operands.is_empty()).ok_or_else(unknown_operand)?;
                self.listed(expr, operands, must_hold && !negated)
            }
            _ => Err("it has a condition that is not known to be immutable".to_owned()),
        }
    }

    /// `expr IN (…)`: all numbers, all texts or all parameters, so that they have one type.
    fn listed(&mut self, expr: &Expr, operands: Vec<Operand>, must_hold: bool) -> Result<(), Reason> {
        let is_all = |is_like: fn(&Operand) -> bool| operands.iter().all(is_like);
        let need = if is_all(|operand| matches!(operand, Operand::Integer(_) | Operand::Decimal(_))) {
            Need::Number
        } else if is_all(|operand| matches!(operand, Operand::Param(_))) {
            Need::Equal
        } else if is_all(|operand| matches!(operand, Operand::Text(_))) {
            Need::Text
        } else {
            return Err(unknown_operand());
        };
        operands.iter().try_for_each(|operand| self.compare(expr, need, operand))?;
        if operands.iter().all(Operand::is_bound) {
            self.bound(expr, Range::Among(operands), must_hold);
        }
        Ok(())
    }

    fn comparison(
        &mut self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
        must_hold: bool,
    ) -> Result<(), Reason> {
        let (column, op, other) = match self.column(left) {
            Some(_) => (left, op.clone(), right),
            None => (right, turned(op), left),
        };
        let operand = operand(other).ok_or_else(unknown_operand)?;
        let is_equality = matches!(op, BinaryOperator::Eq | BinaryOperator::NotEq);
        let is_order = matches!(
            op,
            BinaryOperator::Lt | BinaryOperator::LtEq | BinaryOperator::Gt | BinaryOperator::GtEq
        );
        let need = match operand {
            Operand::Integer(_) if is_equality && is_quoted(other) => Need::Equal,
            Operand::Integer(_) | Operand::Decimal(_) | Operand::Cast(..) if is_equality || is_order => {
                Need::Number
            }
            Operand::Param(_) | Operand::Text(_) if is_order && operand.is_bound() => Need::Ordered,
            Operand::Param(_) if is_equality => Need::Equal,
            Operand::Text(_) if is_equality => Need::Text,
            Operand::Bool if is_equality => Need::Bool,
            _ => return Err("it compares by an operator that is not known here".to_owned()),
        };
        self.compare(column, need, &operand)?;
        if operand.is_bound()
            && let Some(range) = Range::of(&op, operand)
        {
            self.bound(column, range, must_hold);
        }
        Ok(())
    }

    /// What is compared with a moment must be one that is read in one way. With numbers only columns of numbers are.
    fn compare(&mut self, expr: &Expr, need: Need, operand: &Operand) -> Result<(), Reason> {
        self.need(expr, need)?;
        let column = self.column(expr).filter(|_| need != Need::Number);
        self.compared.extend(column.map(|column| (column, operand.clone())));
        Ok(())
    }

    fn need(&mut self, expr: &Expr, need: Need) -> Result<(), Reason> {
        let column = self.column(expr).ok_or("it compares what is no column")?;
        let is_new = !self.needs.iter().any(|(known, of)| *of == need && *known == column);
        self.needs.extend(is_new.then_some((column, need)));
        Ok(())
    }

    fn bound(&mut self, expr: &Expr, range: Range, must_hold: bool) {
        let Some(column) = self.column(expr).filter(|_| must_hold) else { return };
        match self.ranges.iter_mut().find(|(bounded, _)| *bounded == column) {
            Some((_, Range::All(ranges))) => ranges.push(range),
            Some((_, known)) => *known = Range::All(vec![known.clone(), range]),
            None => self.ranges.push((column, range)),
        }
    }

    fn column(&self, expr: &Expr) -> Option<String> {
        column(&self.table, expr)
    }
}

/// Whether an integer stands between quotes: then it may as well be a text.
fn is_quoted(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_quoted(inner),
        Expr::Value(value) => matches!(value.value, Value::SingleQuotedString(_)),
        _ => false,
    }
}

fn unknown_operand() -> Reason {
    "it compares with what is no plain constant and no parameter".to_owned()
}

/// Plain numbers and parameters.
fn limit(limit: Option<&LimitClause>) -> Result<(), Reason> {
    let Some(limit) = limit else { return Ok(()) };
    let LimitClause::LimitOffset { limit, offset, limit_by } = limit else {
        return Err("its LIMIT is one of another database".to_owned());
    };
    let counts = limit.iter().chain(offset.as_ref().map(|offset| &offset.value));
    let is_count = |expr: &Expr| match operand(expr) {
        Some(Operand::Integer(_)) => !is_quoted(expr),
        Some(Operand::Param(_) | Operand::Cast(_, Cast::Integer)) => true,
        _ => false,
    };
    if limit_by.is_empty() && counts.into_iter().all(is_count) {
        Ok(())
    } else {
        Err("LIMIT and OFFSET are no numbers or parameters".to_owned())
    }
}
