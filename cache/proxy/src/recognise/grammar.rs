//! The grammars of databases: which words a text is made of, and what its names mean.

use sqlparser::ast::{Ident, Statement as Parsed};
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect};

use super::template::{self, Template};
use super::{Reason, Recognised, folded, parsed, select, words, write};
use crate::mysql::grammar as mysql;

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Grammar {
    Postgres,
    /// MariaDB's, too.
    MySql,
}

impl Grammar {
    /// The statement that `text` is.
    ///
    /// # Errors
    /// Why it is not recognised.
    pub(crate) fn recognise(self, text: &str) -> Result<Recognised, Reason> {
        let plain = match self {
            Self::Postgres => words::plain(text)?,
            Self::MySql => mysql::plain(text)?,
        };
        match <[Parsed; 1]>::try_from(parsed(self, &plain)?) {
            Ok([Parsed::Query(query)]) => select::recognise(self, &query),
            Ok([other]) => write::recognise(self, &other),
            Err(all) if all.is_empty() => Err("it is empty".to_owned()),
            Err(_) => Err("it is more than one statement".to_owned()),
        }
    }

    /// The template of a text; `None` if it has parameters already or cannot be read.
    pub(crate) fn template(self, text: &str) -> Option<Template> {
        match self {
            Self::Postgres => template::template(text),
            Self::MySql => mysql::template(text),
        }
    }

    pub(super) fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Postgres => &PostgreSqlDialect {},
            Self::MySql => &MySqlDialect {},
        }
    }

    /// The name of a table, or of what a statement calls it. MySQL's are files, mostly of a system that tells cases apart.
    pub(super) fn table(self, ident: &Ident) -> String {
        match self {
            Self::Postgres => folded(ident),
            Self::MySql => ident.value.clone(),
        }
    }

    /// The name of a column. MySQL's are the same in each case, with quotes, too.
    pub(super) fn column(self, ident: &Ident) -> String {
        match self {
            Self::Postgres => folded(ident),
            Self::MySql => ident.value.to_ascii_lowercase(),
        }
    }

    /// Whether a name that begins with this part is one of the server's own tables.
    pub(super) fn is_of_catalogue(self, first: &str) -> bool {
        match self {
            Self::Postgres => first.starts_with("pg_") || first == "information_schema",
            Self::MySql => ["information_schema", "performance_schema", "mysql", "sys"]
                .iter()
                .any(|schema| first.eq_ignore_ascii_case(schema)),
        }
    }
}
