//! The conditions of a statement that bound a registered column.

use std::collections::BTreeMap;

use lacuna_cache_protocol::{DomainId, DomainType, Result};
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

use super::expression::param_number;
use super::names::Names;
use super::refused;
use crate::sql::database::{ColumnKind, Dialect, TextOrder};
use crate::sql::sql_value::SqlValue;

/// How a value bounds a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Equal,
    AtLeast,
    Above,
    AtMost,
    Below,
}

/// Where a bound comes from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    Param(usize),
    Literal(SqlValue),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    pub(super) sign: Sign,
    pub(super) source: Source,
}

/// The conditions of a statement, all of which must hold.
pub(super) struct Conditions<'a> {
    pub(super) domain: DomainId,
    pub(super) bounds: Vec<Bound>,
    /// Those that bound another column, or none.
    pub(super) others: Vec<&'a Expr>,
}

/// Chooses the registered column that the conditions bound best: by one value, from both sides, or from one; the one that
/// was registered first of those that are bounded alike.
pub(super) fn conditions<'a>(names: &Names<'_>, selection: &'a Expr) -> Result<Conditions<'a>> {
    let mut all = Vec::new();
    flatten(selection, &mut all);
    let found: Vec<Option<(DomainId, Vec<Bound>)>> =
        all.iter().map(|condition| bounds_of(names, condition)).collect();
    let mut by_domain: BTreeMap<DomainId, Vec<Bound>> = BTreeMap::new();
    for (domain, bounds) in found.iter().flatten() {
        by_domain.entry(*domain).or_default().extend(bounds.iter().cloned());
    }
    let best = by_domain.into_iter().rev().max_by_key(|(_, bounds)| tightness(bounds));
    let Some((domain, bounds)) = best else {
        let registered: Vec<&str> = names.own().domains.iter().map(|(name, _)| name.as_str()).collect();
        return Err(refused(format!(
            "no condition bounds a registered column ({}) by =, <, <=, >, >= or BETWEEN, with parameters or numbers of \
             its type and in an order that the database and the cache share; add such a condition by AND",
            registered.join(", ")
        )));
    };
    let is_other =
        |found: &Option<(DomainId, Vec<Bound>)>| found.as_ref().is_none_or(|(other, _)| *other != domain);
    let others =
        all.into_iter().zip(&found).filter(|(_, found)| is_other(found)).map(|(condition, _)| condition);
    Ok(Conditions { domain, bounds, others: others.collect() })
}

fn tightness(bounds: &[Bound]) -> u8 {
    let has = |signs: &[Sign]| bounds.iter().any(|bound| signs.contains(&bound.sign));
    if has(&[Sign::Equal]) {
        return 3;
    }
    u8::from(has(&[Sign::AtLeast, Sign::Above])) + u8::from(has(&[Sign::AtMost, Sign::Below]))
}

fn flatten<'a>(condition: &'a Expr, all: &mut Vec<&'a Expr>) {
    match condition {
        Expr::Nested(inner) => flatten(inner, all),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            flatten(left, all);
            flatten(right, all);
        }
        other => all.push(other),
    }
}

fn bounds_of(names: &Names<'_>, condition: &Expr) -> Option<(DomainId, Vec<Bound>)> {
    match condition {
        Expr::BinaryOp { left, op, right } => {
            let sign = sign(op)?;
            if let Some(domain) = domain_of(names, left) {
                let source = source(names, domain, right)?;
                return is_shared(names, domain, sign).then_some((domain, vec![Bound { sign, source }]));
            }
            let (domain, sign) = (domain_of(names, right)?, turned(sign));
            let source = source(names, domain, left)?;
            is_shared(names, domain, sign).then_some((domain, vec![Bound { sign, source }]))
        }
        Expr::Between { expr, negated: false, low, high } => {
            let domain = domain_of(names, expr)?;
            let low = Bound { sign: Sign::AtLeast, source: source(names, domain, low)? };
            let high = Bound { sign: Sign::AtMost, source: source(names, domain, high)? };
            is_shared(names, domain, Sign::AtLeast).then_some((domain, vec![low, high]))
        }
        _ => None,
    }
}

const fn sign(op: &BinaryOperator) -> Option<Sign> {
    Some(match op {
        BinaryOperator::Eq => Sign::Equal,
        BinaryOperator::GtEq => Sign::AtLeast,
        BinaryOperator::Gt => Sign::Above,
        BinaryOperator::LtEq => Sign::AtMost,
        BinaryOperator::Lt => Sign::Below,
        _ => return None,
    })
}

/// The sign of `20 < age`, as one of `age`.
const fn turned(sign: Sign) -> Sign {
    match sign {
        Sign::Equal => Sign::Equal,
        Sign::AtLeast => Sign::AtMost,
        Sign::Above => Sign::Below,
        Sign::AtMost => Sign::AtLeast,
        Sign::Below => Sign::Above,
    }
}

fn domain_of(names: &Names<'_>, expr: &Expr) -> Option<DomainId> {
    let place = names.column(expr).ok()??;
    names.own().domain_of(names.own().columns.get(place)?).ok()
}

fn source(names: &Names<'_>, domain: DomainId, expr: &Expr) -> Option<Source> {
    let domain_type = names.own().domains[domain].1;
    let number = |text: &str| match domain_type {
        DomainType::Float => text.parse().ok().map(SqlValue::Float),
        DomainType::Decimal { .. } => SqlValue::decimal(text).ok(),
        DomainType::Integer => text.parse().ok().map(SqlValue::Integer),
        DomainType::Unsigned => text.parse::<u64>().ok().map(SqlValue::from),
        _ => None,
    };
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Placeholder(_) => param_number(&value.value).map(Source::Param),
            Value::Number(text, false) => number(text).map(Source::Literal),
            // `CHAR(n)` compares literals without the spaces at their end.
            Value::SingleQuotedString(text) if domain_type == DomainType::Text && !text.ends_with(' ') => {
                Some(Source::Literal(text.as_str().into()))
            }
            Value::Boolean(value) if domain_type == DomainType::Bool => {
                Some(Source::Literal((*value).into()))
            }
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match &**expr {
            Expr::Value(value) => match &value.value {
                Value::Number(text, false) => number(&format!("-{text}")).map(Source::Literal),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Whether the database compares values of the column as they are compared here: texts by their bytes.
fn is_shared(names: &Names<'_>, domain: DomainId, sign: Sign) -> bool {
    let schema = names.own();
    let (column, domain_type) = &schema.domains[domain];
    if *domain_type != DomainType::Text {
        return true;
    }
    let Some(column) = schema.column(column).ok().map(|place| &schema.described[place]) else {
        return false;
    };
    match names.dialect {
        Dialect::Sqlite => column.is_equal_by_bytes,
        _ if column.kind != ColumnKind::Text => false,
        _ => column.order == TextOrder::Bytes || (sign == Sign::Equal && column.is_equal_by_bytes),
    }
}
