//! Expressions that depend on the row alone: what is not listed here is not known.

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, InTarget, UnaryOperator, Value,
};

use super::Reason;

/// Functions whose results depend on their arguments alone. Another one of the same name, in a schema that is searched
/// before `pg_catalog`, would have to be found in the catalogue.
const FUNCTIONS: [&str; 14] = [
    "abs", "avg", "coalesce", "count", "greatest", "least", "length", "lower", "max", "min", "nullif",
    "round", "sum", "upper",
];

/// Longest name in a reason.
const MAX_NAME: usize = 64;

/// # Errors
/// What is not known.
pub(super) fn is_known(expr: &Expr) -> Result<(), Reason> {
    match expr {
        Expr::Identifier(_) => Ok(()),
        Expr::CompoundIdentifier(parts) if parts.len() == 2 => Ok(()),
        Expr::Value(value) => is_known_value(&value.value),
        Expr::Nested(inner) | Expr::IsNull(inner) | Expr::IsNotNull(inner) => is_known(inner),
        Expr::IsTrue(inner) | Expr::IsFalse(inner) => is_known(inner),
        Expr::UnaryOp { op: UnaryOperator::Not | UnaryOperator::Minus | UnaryOperator::Plus, expr } => {
            is_known(expr)
        }
        Expr::BinaryOp { left, op, right } => all([is_known_operator(op), is_known(left), is_known(right)]),
        Expr::Between { expr, negated: _, low, high } => all([is_known(expr), is_known(low), is_known(high)]),
        Expr::In { expr, target: InTarget::List(list), negated: _, global: false } => {
            is_known(expr)?;
            list.iter().try_for_each(is_known)
        }
        Expr::Like { negated: _, any: false, expr, pattern, escape_char: None }
        | Expr::ILike { negated: _, any: false, expr, pattern, escape_char: None } => {
            all([is_known(expr), is_known(pattern)])
        }
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon, expr, data_type, format: None, ..
        } => all([is_known(expr), is_known_type(data_type)]),
        Expr::Function(function) => is_known_function(function),
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::In { .. } => {
            Err("it contains another query".to_owned())
        }
        _ => Err("it has an expression that is not known here".to_owned()),
    }
}

fn all<const N: usize>(parts: [Result<(), Reason>; N]) -> Result<(), Reason> {
    parts.into_iter().collect()
}

fn is_known_value(value: &Value) -> Result<(), Reason> {
    match value {
        Value::Placeholder(_)
        | Value::Number(_, false)
        | Value::SingleQuotedString(_)
        | Value::Boolean(_)
        | Value::Null => Ok(()),
        _ => Err("it has a constant that is not known here".to_owned()),
    }
}

fn is_known_operator(op: &BinaryOperator) -> Result<(), Reason> {
    match op {
        BinaryOperator::And
        | BinaryOperator::Or
        | BinaryOperator::Eq
        | BinaryOperator::NotEq
        | BinaryOperator::Lt
        | BinaryOperator::LtEq
        | BinaryOperator::Gt
        | BinaryOperator::GtEq
        | BinaryOperator::Plus
        | BinaryOperator::Minus
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo
        | BinaryOperator::StringConcat => Ok(()),
        _ => Err("it has an operator that is not known here".to_owned()),
    }
}

/// Casts to these give the same in every session and at every time; `'today'::date` does not.
fn is_known_type(data_type: &DataType) -> Result<(), Reason> {
    match data_type {
        DataType::SmallInt(None)
        | DataType::Int(None)
        | DataType::Integer(None)
        | DataType::BigInt(None)
        | DataType::Int2(None)
        | DataType::Int4(None)
        | DataType::Int8(None)
        | DataType::Text
        | DataType::Varchar(_)
        | DataType::Numeric(_)
        | DataType::Decimal(_)
        | DataType::Boolean
        | DataType::Bool
        | DataType::Uuid => Ok(()),
        _ => Err("it has a cast that may depend on the session or the time".to_owned()),
    }
}

fn is_known_function(function: &Function) -> Result<(), Reason> {
    let Some((name, list)) = plain_call(function) else {
        return Err("it has a window, a FILTER or a call that is not plain".to_owned());
    };
    if !FUNCTIONS.contains(&&*name) {
        let name: String = name.chars().take(MAX_NAME).collect();
        return Err(format!("it calls {name}, which is not known to depend on its arguments alone"));
    }
    list.args.iter().try_for_each(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) => is_known(arg),
        FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => Ok(()),
        _ => Err("it has a call that is not plain".to_owned()),
    })
}

/// Name and arguments of a call without further clauses, but for DISTINCT.
pub(super) fn plain_call(function: &Function) -> Option<(String, &FunctionArgumentList)> {
    let Function {
        name,
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(list),
        within_group,
        filter: None,
        null_treatment: None,
        over: None,
    } = function
    else {
        return None;
    };
    let is_plain = within_group.is_empty() && list.clauses.is_empty();
    is_plain.then(|| (name.to_string().to_ascii_lowercase(), list))
}
