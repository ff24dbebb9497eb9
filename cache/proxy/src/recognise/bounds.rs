//! Conditions that bound columns.

use sqlparser::ast::{BinaryOperator, CastKind, Expr, InTarget, UnaryOperator, Value};

use super::{Bound, Bounded, Comparand, Table};

/// The columns that `selection` bounds, each once, in the order of the statement.
pub(super) fn bounded_columns(table: &Table, selection: &Expr) -> Vec<Bounded> {
    let mut columns: Vec<Bounded> = Vec::new();
    for condition in conjuncts(selection) {
        let Some((column, bounds)) = bounds_of(table, condition) else { continue };
        match columns.iter_mut().find(|bounded| bounded.column == column) {
            Some(bounded) => bounded.bounds.extend(bounds),
            None => columns.push(Bounded { column, bounds }),
        }
    }
    columns
}

/// The conditions that must all hold.
pub(super) fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    match condition {
        Expr::Nested(inner) => conjuncts(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            [conjuncts(left), conjuncts(right)].concat()
        }
        other => vec![other],
    }
}

fn bounds_of(table: &Table, condition: &Expr) -> Option<(String, Vec<Bound>)> {
    match condition {
        Expr::BinaryOp { left, op, right } => match column(table, left) {
            Some(name) => Some((name, vec![bound(op, operand(right)?)?])),
            None => Some((column(table, right)?, vec![bound(&turned(op), operand(left)?)?])),
        },
        Expr::Between { expr, negated: false, low, high } => {
            let bounds = vec![Bound::AtLeast(operand(low)?), Bound::AtMost(operand(high)?)];
            Some((column(table, expr)?, bounds))
        }
        Expr::In { expr, target: InTarget::List(list), negated: false, global: false } => {
            let operands = list.iter().map(operand).collect::<Option<_>>()?;
            Some((column(table, expr)?, vec![Bound::OneOf(operands)]))
        }
        _ => None,
    }
}

fn bound(op: &BinaryOperator, operand: Comparand) -> Option<Bound> {
    Some(match op {
        BinaryOperator::Eq => Bound::OneOf(vec![operand]),
        BinaryOperator::GtEq => Bound::AtLeast(operand),
        BinaryOperator::Gt => Bound::Above(operand),
        BinaryOperator::LtEq => Bound::AtMost(operand),
        BinaryOperator::Lt => Bound::Below(operand),
        _ => return None,
    })
}

/// The operator of `20 < age`, as one of `age`.
pub(super) fn turned(op: &BinaryOperator) -> BinaryOperator {
    match op {
        BinaryOperator::GtEq => BinaryOperator::LtEq,
        BinaryOperator::Gt => BinaryOperator::Lt,
        BinaryOperator::LtEq => BinaryOperator::GtEq,
        BinaryOperator::Lt => BinaryOperator::Gt,
        other => other.clone(),
    }
}

/// The column that an expression is.
pub(super) fn column(table: &Table, expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => column(table, inner),
        Expr::Identifier(name) => Some(table.grammar.column(name)),
        Expr::CompoundIdentifier(parts) => match &parts[..] {
            [of, name] if table.grammar.table(of) == table.alias => Some(table.grammar.column(name)),
            _ => None,
        },
        _ => None,
    }
}

/// A constant or a parameter, with a cast that was found to be harmless around it.
pub(super) fn operand(expr: &Expr) -> Option<Comparand> {
    match expr {
        Expr::Nested(inner) => operand(inner),
        Expr::Cast { kind: CastKind::Cast | CastKind::DoubleColon, expr, .. } => operand(expr),
        Expr::Value(value) => constant(&value.value),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match operand(expr)? {
            Comparand::Integer(number) => number.checked_neg().map(Comparand::Integer),
            Comparand::Text(number) => Some(Comparand::Text(format!("-{number}"))),
            Comparand::Param(place) => Some(Comparand::Minus(place)),
            Comparand::Minus(place) => Some(Comparand::Param(place)),
        },
        _ => None,
    }
}

fn constant(value: &Value) -> Option<Comparand> {
    match value {
        Value::Placeholder(name) => {
            let number: usize = name.strip_prefix(['$', '?'])?.parse().ok()?;
            number.checked_sub(1).map(Comparand::Param)
        }
        Value::Number(text, false) => Some(number(text)),
        Value::SingleQuotedString(text) => Some(number(text)),
        Value::Boolean(value) => Some(Comparand::Text(value.to_string())),
        _ => None,
    }
}

/// An integer is one with quotes, too.
pub(super) fn number(text: &str) -> Comparand {
    text.parse().map_or_else(|_| Comparand::Text(text.to_owned()), Comparand::Integer)
}
