//! Whether a cache would answer a statement, in a sentence.

use std::fmt;

use super::harmless::examine;
use super::strict::{self, Range};
use super::{Bounded, Recognised, recognise};

/// What a cache would do with a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Explanation {
    /// A cache could answer it, if one of the columns is registered.
    Cacheable {
        /// The table that it reads.
        table: String,
        /// The columns that it bounds.
        columns: Vec<String>,
    },
    /// Suggestions count it for these columns, and the cache does not keep its reply.
    Counted {
        /// The table that it reads.
        table: String,
        /// The columns that it bounds.
        columns: Vec<String>,
        /// Why its reply is not kept.
        reason: String,
    },
    /// It writes the table, and takes results of it from the cache.
    Write {
        /// The table.
        table: String,
        /// The columns of which it takes an interval; of all others it takes everything.
        columns: Vec<String>,
    },
    /// It is relayed and nothing else.
    Relayed {
        /// Why.
        reason: String,
    },
}

/// Says what a cache would do with a statement, by its text alone: types of columns are in the catalogue.
///
/// ```
/// use lacuna_proxy::explain;
///
/// let read = explain("SELECT * FROM orders WHERE customer = $1 ORDER BY day");
/// assert_eq!(read.to_string(), "a cache can answer it if orders.customer is registered");
/// let locking = explain("SELECT * FROM orders WHERE customer = $1 FOR UPDATE");
/// assert_eq!(locking.to_string(), "it is relayed: it locks rows, which a cached result does not");
/// ```
#[must_use]
pub fn explain(sql: &str) -> Explanation {
    let names = |columns: Vec<Bounded>| columns.into_iter().map(|bounded| bounded.column).collect();
    match (recognise(sql), strict::statement(sql, &examine(sql).harmless)) {
        (Ok(Recognised::Read { table, .. }), strict::Statement::Read(read)) => {
            let columns = read.ranges.into_iter().map(|(column, _): (String, Range)| column).collect();
            Explanation::Cacheable { table, columns }
        }
        (Ok(Recognised::Read { table, columns }), strict::Statement::Harmless(reason)) => {
            Explanation::Counted { table, columns: names(columns), reason }
        }
        (Ok(Recognised::Read { table, columns }), _) => Explanation::Counted {
            table,
            columns: names(columns),
            reason: "its text is read in more than one way".to_owned(),
        },
        (Ok(Recognised::Write { table, columns }), strict::Statement::Write(_)) => {
            Explanation::Write { table, columns: names(columns) }
        }
        (Ok(Recognised::Write { table, .. }), _) => Explanation::Write { table, columns: Vec::new() },
        (Err(reason), _) => Explanation::Relayed { reason },
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cacheable { table, columns } => {
                let columns: Vec<String> = columns.iter().map(|column| format!("{table}.{column}")).collect();
                write!(f, "a cache can answer it if {} is registered", columns.join(" or "))
            }
            Self::Counted { table, columns, reason } => {
                let columns: Vec<String> = columns.iter().map(|column| format!("{table}.{column}")).collect();
                write!(f, "it is relayed: {reason}; suggestions count it for {}", columns.join(" and "))
            }
            Self::Write { table, columns } if columns.is_empty() => {
                write!(f, "it writes {table}: every result of the table leaves the cache")
            }
            Self::Write { table, columns } => write!(
                f,
                "it writes {table}: results leave the cache that overlap it in {}; those by other columns all do",
                columns.join(" or ")
            ),
            Self::Relayed { reason } => write!(f, "it is relayed: {reason}"),
        }
    }
}
