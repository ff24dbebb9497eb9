//! Expressions that depend on the row alone: what is not listed here is refused.
//!
//! Columns are written with their table and quoted, expressions in parentheses, texts with doubled quotes, so that what
//! the database reads is what was recognised.

use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Ident, InTarget, ObjectNamePart, UnaryOperator, Value,
};

use lacuna_cache_protocol::Result;

use super::{Part, refused};
use crate::sql::database::{Column, ColumnKind, Dialect};
use crate::sql::schema::Schema;

/// Functions whose results depend on their arguments alone, and how many these are.
const FUNCTIONS: [(&str, usize, usize); 5] =
    [("abs", 1, 1), ("length", 1, 1), ("lower", 1, 1), ("round", 1, 2), ("upper", 1, 1)];
/// The same, which are words of SQL rather than functions that could be defined anew.
const WORDS: [(&str, usize, usize); 2] = [("coalesce", 2, 16), ("nullif", 2, 2)];
const AGGREGATES: [&str; 5] = ["avg", "count", "max", "min", "sum"];

/// A table of a statement.
pub(super) struct Named<'a> {
    pub(super) schema: &'a Schema,
    /// How the statement calls it.
    called: String,
}

impl<'a> Named<'a> {
    pub(super) fn new(schema: &'a Schema) -> Self {
        Self { schema, called: schema.bare_name().to_owned() }
    }
}

/// The names that a statement may use. The place of a column is its place among those of all tables.
pub(super) struct Names<'a> {
    pub(super) dialect: Dialect,
    /// The table that is asked, then those that are joined.
    pub(super) tables: Vec<Named<'a>>,
    /// Their numbers in the order of FROM.
    pub(super) order: Vec<usize>,
}

impl<'a> Names<'a> {
    /// The table that is asked.
    pub(super) fn own(&self) -> &'a Schema {
        self.tables[0].schema
    }

    /// Adds a table to FROM.
    pub(super) fn add(&mut self, number: usize, alias: Option<String>) -> Result<()> {
        if let Some(alias) = alias {
            self.tables[number].called = alias;
        }
        let called = &self.tables[number].called;
        if self.order.iter().any(|other| self.tables[*other].called.eq_ignore_ascii_case(called)) {
            return Err(refused(format!("it calls two tables {called}")));
        }
        self.order.push(number);
        Ok(())
    }

    /// Columns are written with the names of their tables, which must not be those of two.
    pub(super) fn are_told_apart(&self) -> Result<()> {
        let name = |number: usize| self.tables[number].schema.bare_name();
        for number in 0..self.tables.len() {
            if (0..number).any(|other| name(other).eq_ignore_ascii_case(name(number))) {
                return Err(refused(format!("it joins two tables named {}", name(number))));
            }
        }
        Ok(())
    }

    /// The table of a column, and the place of the column there.
    fn located(&self, mut place: usize) -> (&'a Schema, usize) {
        for table in &self.tables {
            if place < table.schema.columns.len() {
                return (table.schema, place);
            }
            place -= table.schema.columns.len();
        }
        unreachable!("places are those of columns");
    }

    /// The places of the columns of a table.
    pub(super) fn places(&self, number: usize) -> std::ops::Range<usize> {
        let len = |table: &Named<'_>| table.schema.columns.len();
        let first = self.tables[..number].iter().map(len).sum();
        first..first + len(&self.tables[number])
    }

    pub(super) fn name_of(&self, place: usize) -> &'a str {
        let (schema, place) = self.located(place);
        &schema.columns[place]
    }

    pub(super) fn described(&self, place: usize) -> &'a Column {
        let (schema, place) = self.located(place);
        &schema.described[place]
    }

    fn quoted_column(&self, place: usize) -> String {
        self.located(place).0.quoted_column(self.dialect, self.name_of(place))
    }

    /// A name as the database understands it.
    pub(super) fn folded(&self, ident: &Ident) -> Result<String> {
        match (self.dialect, ident.quote_style) {
            (Dialect::Postgres, None) => Ok(ident.value.to_ascii_lowercase()),
            (_, None) | (Dialect::Postgres | Dialect::Sqlite, Some('"')) | (Dialect::MariaDb, Some('`')) => {
                Ok(ident.value.clone())
            }
            (_, Some(mark)) => {
                Err(refused(format!("{mark} quotes no name in every session of this database")))
            }
        }
    }

    pub(super) fn is_same(&self, one: &str, other: &str) -> bool {
        if self.dialect == Dialect::Postgres { one == other } else { one.eq_ignore_ascii_case(other) }
    }

    /// The place of the column that an expression is; `None` if it is no name.
    pub(super) fn column(&self, expr: &Expr) -> Result<Option<usize>> {
        let (tables, name) = match expr {
            Expr::Nested(inner) => return self.column(inner),
            Expr::Identifier(name) => (self.order.clone(), name),
            Expr::CompoundIdentifier(parts) => match &parts[..] {
                [table, name] => (self.called(table)?, name),
                _ => (Vec::new(), &parts[0]),
            },
            _ => return Ok(None),
        };
        if tables.is_empty() {
            return Err(refused(format!("{expr} is no column of {}", self.shown())));
        }
        let name = self.folded(name)?;
        let places = tables.into_iter().flat_map(|number| self.places(number));
        let found: Vec<usize> = places.filter(|place| self.is_same(self.name_of(*place), &name)).collect();
        match found[..] {
            [place] => Ok(Some(place)),
            [] => Err(refused(format!("{name} is no column of {} that is read here", self.shown()))),
            _ => Err(refused(format!("{name} is a column of several tables: name its table"))),
        }
    }

    /// The number of the table that is called so.
    fn called(&self, name: &Ident) -> Result<Vec<usize>> {
        let name = self.folded(name)?;
        let is_it = |number: &usize| self.is_same(&name, &self.tables[*number].called);
        Ok(self.order.iter().copied().filter(is_it).collect())
    }

    fn shown(&self) -> String {
        let names: Vec<&str> = self.tables.iter().map(|table| table.schema.table.as_str()).collect();
        names.join(" or ")
    }

    /// The kind of column as which the values of the expression are read.
    pub(super) fn kind(&self, expr: &Expr) -> Option<ColumnKind> {
        if let Some(place) = self.column(expr).ok()? {
            return Some(self.described(place).kind);
        }
        let (name, args) = plain_call(expr)?;
        match (&*name, &args[..]) {
            ("min" | "max", [arg]) => self.kind(arg),
            ("nullif", [arg, _]) => self.kind(arg),
            ("lower" | "upper", [arg]) => {
                let is_text = |kind: &ColumnKind| matches!(kind, ColumnKind::Text | ColumnKind::Label { .. });
                self.kind(arg).filter(is_text).map(|_| ColumnKind::Text)
            }
            ("coalesce", [first, rest @ ..]) => {
                let kind = self.kind(first)?;
                let takes_texts = matches!(kind, ColumnKind::Text | ColumnKind::Label { .. });
                let is_alike =
                    |arg: &&Expr| self.kind(arg) == Some(kind) || (takes_texts && is_text_or_param(arg));
                rest.iter().all(is_alike).then_some(kind)
            }
            _ => None,
        }
    }

    /// The column whose type the expression has, so that what it is compared with is taken for a value of that type.
    pub(super) fn typed_as(&self, expr: &Expr) -> Result<Option<usize>> {
        if let Some(place) = self.column(expr)? {
            return Ok(Some(place));
        }
        let Some((name, args)) = plain_call(expr) else { return Ok(None) };
        match (&*name, &args[..]) {
            ("min" | "max", [arg]) | ("nullif", [arg, _]) => self.typed_as(arg),
            ("coalesce", args) => {
                for arg in args {
                    if let Some(place) = self.typed_as(arg)? {
                        return Ok(Some(place));
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

/// The name of a function, in lower case, and its arguments.
fn plain_call(expr: &Expr) -> Option<(String, Vec<&Expr>)> {
    match expr {
        Expr::Nested(inner) => plain_call(inner),
        Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) => {
            let args = list.args.iter().map(|arg| match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) => Some(arg),
                _ => None,
            });
            Some((name.to_string().to_ascii_lowercase(), args.collect::<Option<_>>()?))
        }
        _ => None,
    }
}

fn is_text_or_param(expr: &Expr) -> bool {
    let Expr::Value(value) = expr else { return false };
    matches!(value.value, Value::SingleQuotedString(_) | Value::Placeholder(_) | Value::Null)
}

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
                self.text("(").operand(expr, None)?;
                grouped(low)?;
                grouped(high)?;
                self.text(if *negated { " NOT BETWEEN " } else { " BETWEEN " }).operand(low, column)?;
                self.text(" AND ").operand(high, column)?;
                self.text(")");
                Ok(())
            }
            Expr::In { expr, target: InTarget::List(list), negated, global: false } => {
                let column = self.comparable(expr)?;
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
                self.text(if *negated { " NOT LIKE " } else { " LIKE " }).operand(pattern, None)?;
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
            Value::SingleQuotedString(text) => {
                self.text(&format!("'{}'", text.replace('\'', "''")));
            }
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
            column = column.or(self.names.typed_as(arg)?);
        }
        let is_of_texts = |place: &usize| {
            let kind = self.names.described(*place).kind;
            matches!(kind, ColumnKind::Text) || kind.is_cast()
        };
        self.list(args, column.filter(is_of_texts))?;
        self.text(")");
        Ok(())
    }
}
