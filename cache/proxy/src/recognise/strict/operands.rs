//! What a column is compared with, and the values that it may then have.

use sqlparser::ast::{BinaryOperator, CastKind, DataType, ExactNumberInfo, Expr, UnaryOperator, Value};

/// A constant or a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operand {
    Integer(i64),
    /// A number that is none of these integers, as it is written: to PostgreSQL it is a `numeric`.
    Decimal(String),
    /// A parameter, by its place from 0 on.
    Param(usize),
    /// A parameter that is cast, which is its type if none was declared.
    Cast(usize, Cast),
    /// A text between quotes that is no integer.
    Text(String),
    Bool,
}

/// What a parameter is cast to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cast {
    Integer,
    /// `numeric` without a modifier, by which it would be rounded.
    Numeric,
}

/// Values of a column: those that meet every condition, or any of the listed ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Range {
    /// From the first to the last, both included; an end that is missing is open.
    Between(Option<End>, Option<End>),
    /// Each of these.
    Among(Vec<Operand>),
    /// The same of what is kept of these, which the column's type may round.
    Stored(Vec<Operand>),
    /// What is in all of these.
    All(Vec<Range>),
}

/// The end of a range: an operand, and what is to be added to it if the values are integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) operand: Operand,
    pub(crate) plus: i64,
}

impl Range {
    /// Constants and parameters in it.
    pub(super) fn operands(&self) -> usize {
        match self {
            Self::Between(low, high) => low.iter().chain(high).count(),
            Self::Among(operands) | Self::Stored(operands) => operands.len(),
            Self::All(ranges) => ranges.iter().map(Self::operands).sum(),
        }
    }
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

/// The operand that an expression is. A cast is known if it is one of a parameter to an integer type or `numeric`, or one of
/// a constant to `numeric`.
pub(super) fn operand(expr: &Expr) -> Option<Operand> {
    match expr {
        Expr::Nested(inner) => operand(inner),
        Expr::Value(value) => constant(&value.value),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match &**expr {
            Expr::Value(value) => match &value.value {
                Value::Number(text, false) => Some(number(format!("-{text}"))),
                _ => None,
            },
            _ => None,
        },
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon, expr, data_type, format: None, ..
        } => cast(operand(expr)?, data_type),
        _ => None,
    }
}

fn cast(operand: Operand, data_type: &DataType) -> Option<Operand> {
    let to = match data_type {
        DataType::Integer(None) | DataType::Int(None) | DataType::BigInt(None) => Cast::Integer,
        DataType::Numeric(ExactNumberInfo::None) | DataType::Decimal(ExactNumberInfo::None) => Cast::Numeric,
        _ => return None,
    };
    match (operand, to) {
        (Operand::Param(place), to) => Some(Operand::Cast(place, to)),
        (Operand::Cast(place, Cast::Integer), Cast::Integer) => Some(Operand::Cast(place, Cast::Integer)),
        (Operand::Integer(number), Cast::Numeric) => Some(Operand::Decimal(number.to_string())),
        (Operand::Decimal(text) | Operand::Text(text), Cast::Numeric) => Some(Operand::Decimal(text)),
        _ => None,
    }
}

/// A number without quotes.
fn number(text: String) -> Operand {
    plain_integer(&text).map_or_else(|| Operand::Decimal(text), Operand::Integer)
}

fn constant(value: &Value) -> Option<Operand> {
    match value {
        Value::Placeholder(name) => {
            let number: usize = name.strip_prefix('$')?.parse().ok()?;
            number.checked_sub(1).map(Operand::Param)
        }
        Value::Number(text, false) => Some(number(text.clone())),
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
