//! The tables and columns that a statement may name, and the kinds of what it reads.

use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Value};

use lacuna_cache_protocol::Result;

use super::refused;
use crate::sql::database::{Column, ColumnKind, Dialect};
use crate::sql::schema::Schema;

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

    pub(super) fn quoted_column(&self, place: usize) -> String {
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

    /// Tables of MariaDB differ by case where its files do.
    pub(super) fn is_same_table(&self, one: &str, other: &str) -> bool {
        if self.dialect == Dialect::Sqlite { one.eq_ignore_ascii_case(other) } else { one == other }
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
