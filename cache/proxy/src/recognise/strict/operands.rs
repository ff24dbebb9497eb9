//! What a column is compared with, and the values that it may then have.

use sqlparser::ast::{BinaryOperator, CastKind, DataType, Expr, UnaryOperator, Value};

/// A constant or a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operand {
    Integer(i64),
    /// A parameter, by its place from 0 on; it must have an integer type, or none that was declared.
    Param(usize),
    /// A text between quotes that is no integer.
    Text(String),
    Bool,
}

/// Values of a column: those that meet every condition, or any of the listed ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Range {
    /// From the first to the last, both included; an end that is missing is open.
    Between(Option<End>, Option<End>),
    /// All of these are in it, and what lies between them may be.
    Among(Vec<Operand>),
    /// What is in all of these.
    All(Vec<Range>),
}

/// The end of a range: an operand, and what is to be added to it if the values are integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) operand: Operand,
    pub(crate) plus: i64,
}

impl Operand {
    /// Whether it can bound a column.
    pub(super) const fn is_bound(&self) -> bool {
        !matches!(self, Self::Bool)
    }
}

impl Range {
    /// The values of a column that compares so with an operand; `None` for an operator that bounds nothing.
    pub(super) fn of(op: &BinaryOperator, operand: Operand) -> Option<Self> {
        let end = |plus| Some(End { operand: operand.clone(), plus });
        Some(match op {
            BinaryOperator::Eq => Self::Between(end(0), end(0)),
            BinaryOperator::GtEq => Self::Between(end(0), None),
            BinaryOperator::Gt => Self::Between(end(1), None),
            BinaryOperator::LtEq => Self::Between(None, end(0)),
            BinaryOperator::Lt => Self::Between(None, end(-1)),
            _ => return None,
        })
    }

    pub(super) const fn closed(low: Operand, high: Operand) -> Self {
        Self::Between(Some(End { operand: low, plus: 0 }), Some(End { operand: high, plus: 0 }))
    }
}

/// The operand that an expression is. A cast is known if it is one of a parameter to an integer type: the server then takes
/// the parameter as one of that type.
pub(super) fn operand(expr: &Expr) -> Option<Operand> {
    match expr {
        Expr::Nested(inner) => operand(inner),
        Expr::Value(value) => constant(&value.value),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match &**expr {
            Expr::Value(value) => match &value.value {
                Value::Number(text, false) => plain_integer(&format!("-{text}")).map(Operand::Integer),
                _ => None,
            },
            _ => None,
        },
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon, expr, data_type, format: None, ..
        } => match (operand(expr)?, data_type) {
            (
                Operand::Param(place),
                DataType::Integer(None) | DataType::Int(None) | DataType::BigInt(None),
            ) => Some(Operand::Param(place)),
            _ => None,
        },
        _ => None,
    }
}

fn constant(value: &Value) -> Option<Operand> {
    match value {
        Value::Placeholder(name) => {
            let number: usize = name.strip_prefix('$')?.parse().ok()?;
            number.checked_sub(1).map(Operand::Param)
        }
        Value::Number(text, false) => plain_integer(text).map(Operand::Integer),
        Value::SingleQuotedString(text) => {
            Some(plain_integer(text).map_or_else(|| Operand::Text(text.clone()), Operand::Integer))
        }
        Value::Boolean(_) => Some(Operand::Bool),
        _ => None,
    }
}

/// An integer in the one form that every version reads alike: digits, with a minus or without.
pub(crate) fn plain_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = (1..=18).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { text.parse().ok() } else { None }
}
