//! Expressions that depend on the row alone: what is not listed here is refused.
//!
//! Columns are written with their table and quoted, expressions in parentheses, texts with doubled quotes, so that what
//! the database reads is what was recognised.

use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Ident, InTarget, ObjectNamePart, UnaryOperator, Value,
};

use lacuna_cache_protocol::Result;

use super::names::Names;
use super::{Part, refused};
use crate::sql::database::{ColumnKind, Dialect};

/// Functions whose results depend on their arguments alone, and how many these are.
const FUNCTIONS: [(&str, usize, usize); 5] =
    [("abs", 1, 1), ("length", 1, 1), ("lower", 1, 1), ("round", 1, 2), ("upper", 1, 1)];
/// The same, which are words of SQL rather than functions that could be defined anew.
const WORDS: [(&str, usize, usize); 2] = [("coalesce", 2, 16), ("nullif", 2, 2)];
const AGGREGATES: [&str; 5] = ["avg", "count", "max", "min", "sum"];

/// The number of a parameter, from 0 on, as `recognise.rs` has numbered it.
pub(super) fn param_number(value: &Value) -> Option<usize> {
    let Value::Placeholder(name) = value else { return None };
    name.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
}

/// Refuses conditions inside comparisons without parentheses: databases group `a = b < c` in different ways.
fn grouped(expr: &Expr) -> Result<()> {
    let is_condition = match expr {
        Expr::BinaryOp { op, .. } => !matches!(
            op,
            BinaryOperator::Plus
                | BinaryOperator::Minus
                | BinaryOperator::Multiply
                | BinaryOperator::Divide
                | BinaryOperator::Modulo
        ),
        Expr::UnaryOp { op, .. } => *op == UnaryOperator::Not,
        Expr::Between { .. } | Expr::In { .. } | Expr::Like { .. } | Expr::IsNull(_) | Expr::IsNotNull(_) => {
            true
        }
        _ => false,
    };
    if is_condition {
        return Err(refused(format!("databases group {expr} in different ways; put it in parentheses")));
    }
    Ok(())
}

/// A statement under construction.
pub(super) struct Writer<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) parts: Vec<Part>,
}

impl Writer<'_> {
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        if let Some(Part::Sql(last)) = self.parts.last_mut() {
            last.push_str(text);
        } else {
            self.parts.push(Part::Sql(text.to_owned()));
        }
        self
    }

    /// A column, with its table.
    pub(super) fn column(&mut self, place: usize) {
        let column = self.names.quoted_column(place);
        self.text(&column);
    }

    /// An expression in SQL that needs no parentheses around it.
    pub(super) fn expression(&mut self, expr: &Expr) -> Result<()> {
        self.operand(expr, None)
    }

    fn operand(&mut self, expr: &Expr, column: Option<usize>) -> Result<()> {
        if let Some(place) = self.names.column(expr)? {
            self.column(place);
            return Ok(());
        }
        match expr {
            Expr::Nested(inner) => self.operand(inner, column),
            Expr::Value(value) => self.value(&value.value, column),
            Expr::UnaryOp { op, expr } => {
                let sign = match op {
                    UnaryOperator::Not => "(NOT ",
                    UnaryOperator::Minus => "(- ",
                    op => return Err(refused(format!("the operator {op} is not known here"))),
                };
                self.text(sign).operand(expr, None)?;
                self.text(")");
                Ok(())
            }
            Expr::IsNull(expr) => self.of_null(expr, " IS NULL)"),
            Expr::IsNotNull(expr) => self.of_null(expr, " IS NOT NULL)"),
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right),
            Expr::Between { expr, negated, low, high } => {
                let column = self.comparable(expr)?;
                self.comparable(low)?;
                self.comparable(high)?;
                self.text("(").operand(expr, None)?;
                self.text(if *negated { " NOT BETWEEN " } else { " BETWEEN " }).operand(low, column)?;
                self.text(" AND ").operand(high, column)?;
                self.text(")");
                Ok(())
            }
            Expr::In { expr, target: InTarget::List(list), negated, global: false } => {
                let column = self.comparable(expr)?;
                list.iter().try_for_each(|item| self.comparable(item).map(drop))?;
                self.text("(").operand(expr, None)?;
                self.text(if *negated { " NOT IN (" } else { " IN (" });
                self.list(list.iter(), column)?;
                self.text("))");
                Ok(())
            }
            Expr::Like { negated, any: false, expr, pattern, escape_char: None } => {
                self.comparable(expr)?;
                self.text("(").operand(expr, None)?;
                grouped(pattern)?;
                self.text(if *negated { " NOT LIKE " } else { " LIKE " });
                match &**pattern {
                    // It stays a text, whatever it says.
                    Expr::Value(pattern) => self.pattern(&pattern.value)?,
                    pattern => self.operand(pattern, None)?,
                }
                self.text(")");
                Ok(())
            }
            Expr::Function(function) => self.function(function),
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::In { target: InTarget::Subquery(_), .. } => {
                Err(refused("it contains another query, whose rows are not watched"))
            }
            other => Err(refused(format!("the expression {other} is not known here"))),
        }
    }

    fn of_null(&mut self, expr: &Expr, end: &str) -> Result<()> {
        self.text("(").operand(expr, None)?;
        self.text(end);
        Ok(())
    }

    pub(super) fn list<'e>(
        &mut self,
        list: impl IntoIterator<Item = &'e Expr>,
        column: Option<usize>,
    ) -> Result<()> {
        for (nth, expr) in list.into_iter().enumerate() {
            self.text(if nth > 0 { ", " } else { "" }).operand(expr, column)?;
        }
        Ok(())
    }

    fn pattern(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::SingleQuotedString(text) => {
                self.quoted(text);
                Ok(())
            }
            other => self.value(other, None),
        }
    }

    fn quoted(&mut self, text: &str) {
        self.text(&format!("'{}'", text.replace('\'', "''")));
    }

    fn value(&mut self, value: &Value, column: Option<usize>) -> Result<()> {
        let kind = column.map(|place| self.names.described(place).kind);
        match value {
            Value::Placeholder(_) => {
                let number = param_number(value).ok_or_else(|| refused("a parameter has a name"))?;
                self.parts.push(Part::Param(number, column));
            }
            Value::Number(text, false) => {
                self.text(text);
            }
            Value::SingleQuotedString(_)
                if matches!(kind, Some(ColumnKind::Date | ColumnKind::Moment { .. })) =>
            {
                return Err(refused(
                    "a day or moment as text depends on the session; give it as a parameter",
                ));
            }
            // Beside a column of days in a calculation or a function it takes the type of that column.
            Value::SingleQuotedString(text)
                if self.names.dialect == Dialect::Postgres
                    && kind.is_none_or(|kind| kind.may_mean_now(text))
                    && ColumnKind::Date.may_mean_now(text) =>
            {
                return Err(refused(format!(
                    "'{text}' may be a moment of the database's clock; give it as a parameter"
                )));
            }
            Value::SingleQuotedString(text) => self.quoted(text),
            Value::Boolean(true) => {
                self.text("TRUE");
            }
            Value::Boolean(false) => {
                self.text("FALSE");
            }
            Value::Null => {
                self.text("NULL");
            }
            other => {
                return Err(refused(format!("the value {other} is not known here; give it as a parameter")));
            }
        }
        Ok(())
    }

    /// The column whose type an expression has, if the database compares its values.
    fn comparable(&self, expr: &Expr) -> Result<Option<usize>> {
        grouped(expr)?;
        let Some(place) = self.names.typed_as(expr)? else { return Ok(None) };
        let is_open = match self.names.described(place).kind {
            ColumnKind::Json { .. } | ColumnKind::Geometry => false,
            ColumnKind::Other => self.names.dialect == Dialect::Sqlite,
            _ => true,
        };
        let name = self.names.name_of(place);
        is_open
            .then_some(Some(place))
            .ok_or_else(|| refused(format!("{name} is of a type that is not compared here")))
    }

    fn binary(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<()> {
        let (sign, is_comparison) = match op {
            BinaryOperator::And => (" AND ", false),
            BinaryOperator::Or => (" OR ", false),
            BinaryOperator::Plus => (" + ", false),
            BinaryOperator::Minus => (" - ", false),
            BinaryOperator::Multiply => (" * ", false),
            BinaryOperator::Divide => (" / ", false),
            BinaryOperator::Modulo => (" % ", false),
            BinaryOperator::Eq => (" = ", true),
            BinaryOperator::NotEq => (" <> ", true),
            BinaryOperator::Lt => (" < ", true),
            BinaryOperator::LtEq => (" <= ", true),
            BinaryOperator::Gt => (" > ", true),
            BinaryOperator::GtEq => (" >= ", true),
            op => return Err(refused(format!("the operator {op} is not known here"))),
        };
        let (mut of_left, mut of_right) = (None, None);
        if is_comparison {
            (of_left, of_right) = (self.comparable(left)?, self.comparable(right)?);
        }
        self.text("(").operand(left, of_right)?;
        self.text(sign).operand(right, of_left)?;
        self.text(")");
        Ok(())
    }

    fn function(&mut self, function: &Function) -> Result<()> {
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
            return Err(refused(format!("{function} is not a plain call")));
        };
        let [ObjectNamePart::Identifier(Ident { value, quote_style: None, .. })] = &name.0[..] else {
            return Err(refused(format!("{name} is not known here")));
        };
        let (name, mut args) = (value.to_ascii_lowercase(), Vec::new());
        let is_all = matches!(list.args[..], [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]);
        for arg in list.args.iter().filter(|_| !is_all) {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) = arg else {
                return Err(refused(format!("{function} is not a plain call")));
            };
            args.push(arg);
        }
        let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        let takes = |known: &[(&str, usize, usize)]| {
            let found = known.iter().find(|(known, ..)| *known == name);
            found.is_some_and(|(_, least, most)| (*least..=*most).contains(&args.len()))
        };
        let is_aggregate = AGGREGATES.contains(&name.as_str());
        let is_plain = if is_aggregate {
            if is_all { name == "count" && !is_distinct } else { args.len() == 1 }
        } else {
            !is_all && !is_distinct && (takes(&FUNCTIONS) || takes(&WORDS))
        };
        if !is_plain || !within_group.is_empty() || !list.clauses.is_empty() {
            return Err(refused(format!(
                "{function} is not one of the functions that are known to depend on their arguments alone"
            )));
        }
        // There another function of the same name may be found first.
        let is_word = WORDS.iter().any(|(word, ..)| *word == name);
        if self.names.dialect == Dialect::Postgres && !is_word {
            self.text("pg_catalog.");
        }
        self.text(&name).text("(").text(if is_distinct { "DISTINCT " } else { "" }).text(if is_all {
            "*"
        } else {
            ""
        });
        // Alone, a parameter would be taken for text, which has other rules than `CHAR(n)`.
        let mut column = None;
        for arg in args.iter().filter(|_| is_word) {
            let place = self.names.typed_as(arg)?;
            let is_time = |place: &usize| self.names.described(*place).is_time();
            if let (Dialect::MariaDb, Some(place)) = (self.names.dialect, place.filter(is_time)) {
                return Err(refused(format!(
                    "{name} of {} may be a moment of the database's clock, which gives a time its day",
                    self.names.name_of(place)
                )));
            }
            column = column.or(place);
        }
        let is_of_texts = |place: &usize| {
            let kind = self.names.described(*place).kind;
            matches!(kind, ColumnKind::Text) || kind.is_cast()
        };
        if let ("round", Dialect::Postgres, [value, digits]) = (&*name, self.names.dialect, &args[..])
            && matches!(digits, Expr::Value(digits) if param_number(&digits.value).is_some())
        {
            // It takes no `bigint`, and whole numbers are such as parameters.
            self.operand(value, None)?;
            self.text(", CAST(").operand(digits, None)?;
            self.text(" AS integer))");
            return Ok(());
        }
        self.list(args, column.filter(is_of_texts))?;
        self.text(")");
        Ok(())
    }
}
