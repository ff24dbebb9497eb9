//! Statements that bound columns of one table.
//!
//! What is recognised is a whitelist: a statement with anything in it that is not listed here is none, for a reason that
//! can be read ([`explain`]). PostgreSQL's words differ from those of the parser in places, so a text is first cut into
//! words by the rules of PostgreSQL ([`words`]), and one that could be read in two ways goes no further. The same is done by
//! the rules of MySQL for texts of its sessions ([`Grammar`]): estimates alone are made of them.
//!
//! Reasons name functions, never values: they are printed in reports.

mod bounds;
mod clauses;
mod explain;
mod expression;
mod grammar;
pub(crate) mod harmless;
mod select;
pub(crate) mod strict;
mod template;
mod words;
mod write;

#[cfg(test)]
mod tests;

use lacuna_cache::sql::check_chains;
use sqlparser::ast::{Ident, ObjectName, ObjectNamePart, Statement as Parsed, TableFactor, TableWithJoins};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Tokenizer;

pub use explain::{Explanation, explain};
pub(crate) use grammar::Grammar;
pub(crate) use template::{Template, shape};

/// How deep expressions may be: the parser works by recursion.
const MAX_DEPTH: usize = 40;

/// How the reason begins if a statement is not of the grammar that is known here.
pub(crate) const UNREADABLE: &str = "it cannot be read";

/// Why a statement is not recognised.
pub(crate) type Reason = String;

/// A statement that is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Recognised {
    /// It reads one table, and bounds these of its columns.
    Read { table: String, columns: Vec<Bounded> },
    /// It writes one table. All rows that it touches, before and after, are within these bounds.
    Write { table: String, columns: Vec<Bounded> },
}

/// A column and what must hold for its values: all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bounded {
    pub(crate) column: String,
    pub(crate) bounds: Vec<Bound>,
}

/// A condition on the values of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bound {
    OneOf(Vec<Comparand>),
    AtLeast(Comparand),
    Above(Comparand),
    AtMost(Comparand),
    Below(Comparand),
}

/// What a column is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Comparand {
    /// A parameter, by its place from 0 on.
    Param(usize),
    /// A parameter with a minus before it.
    Minus(usize),
    Integer(i64),
    /// Another constant, as it is written.
    Text(String),
}

/// The statement of PostgreSQL that `text` is.
///
/// # Errors
/// Why it is not recognised.
fn recognise(text: &str) -> Result<Recognised, Reason> {
    Grammar::Postgres.recognise(text)
}

/// The statements of a text without comments.
///
/// # Errors
/// It cannot be read, or is too deep.
fn parsed(grammar: Grammar, plain: &str) -> Result<Vec<Parsed>, Reason> {
    let tokens = Tokenizer::new(grammar.dialect(), plain).tokenize();
    let tokens = tokens.map_err(|_| format!("{UNREADABLE}: its grammar is not known here"))?;
    check_chains(&tokens)?;
    let parser = Parser::new(grammar.dialect()).with_recursion_limit(MAX_DEPTH);
    let parsed = parser.with_tokens(tokens).parse_statements();
    parsed.map_err(|why| format!("{UNREADABLE}: {}", without_values(&why)))
}

/// The kind of the parser's error: its words may repeat a part of the statement.
fn without_values(why: &sqlparser::parser::ParserError) -> &'static str {
    match why {
        sqlparser::parser::ParserError::RecursionLimitExceeded => "its expressions are too deep",
        _ => "its grammar is not known here",
    }
}

/// A name as PostgreSQL understands it: without quotes it is in lower case.
fn folded(ident: &Ident) -> String {
    match ident.quote_style {
        None => ident.value.to_ascii_lowercase(),
        Some(_) => ident.value.clone(),
    }
}

/// A table, with the schema's name if it is written.
fn table_name(grammar: Grammar, name: &ObjectName) -> Result<String, Reason> {
    table_parts(grammar, name).map(|parts| parts.join("."))
}

fn table_parts(grammar: Grammar, name: &ObjectName) -> Result<Vec<String>, Reason> {
    let parts: Option<Vec<String>> = name
        .0
        .iter()
        .map(|part| match part {
            ObjectNamePart::Identifier(ident) => Some(grammar.table(ident)),
            ObjectNamePart::Function(_) => None,
        })
        .collect();
    let parts = parts.ok_or("its table is a function")?;
    if parts.first().is_some_and(|first| grammar.is_of_catalogue(first)) {
        return Err("it asks the catalogue".to_owned());
    }
    Ok(parts)
}

/// A table of a statement, and how the statement calls it.
#[derive(Debug)]
struct Table {
    grammar: Grammar,
    name: String,
    /// The parts of the name, the last one being the table's own.
    parts: Vec<String>,
    alias: String,
}

/// The one table of `FROM` and its like.
fn only_table(grammar: Grammar, from: &[TableWithJoins]) -> Result<Table, Reason> {
    let [TableWithJoins { relation, joins }] = from else {
        return Err(
            if from.is_empty() { "it reads no table" } else { "it reads more than one table" }.to_owned()
        );
    };
    if !joins.is_empty() {
        return Err("it reads more than one table".to_owned());
    }
    let TableFactor::Table {
        name,
        alias,
        args: None,
        with_hints,
        version: None,
        with_ordinality: false,
        partitions,
        json_path: None,
        sample: None,
        index_directives,
        inheritance: None,
    } = relation
    else {
        return Err("FROM names no plain table".to_owned());
    };
    if !(with_hints.is_empty() && partitions.is_empty() && index_directives.is_empty()) {
        return Err("FROM names no plain table".to_owned());
    }
    let parts = table_parts(grammar, name)?;
    let alias = match alias {
        None => parts.last().cloned().unwrap_or_default(),
        Some(alias) if alias.columns.is_empty() && alias.at.is_none() => grammar.table(&alias.name),
        // `FROM t AS q(b, a)` gives columns other names.
        Some(_) => return Err("an alias gives columns other names".to_owned()),
    };
    Ok(Table { grammar, name: parts.join("."), parts, alias })
}
