//! Statements that a cache may act on: fewer than those that suggestions count.
//!
//! A wrong estimate is a wrong number, a wrong reading here would be a stale result. So every operator is one whose types can
//! be checked against the catalogue, every constant is of a form that means the same in all sessions, and everything else is
//! [`Statement::Unknown`], which may do anything. What columns must be for a statement to be what it looks like is left to
//! the caller, as a list of [`Need`]s.

mod control;
mod moments;
mod numeric;
mod operands;
mod read;
#[cfg(test)]
mod tests;
mod write;

use sqlparser::ast::Statement as Parsed;

use super::{Grammar, Reason, parsed, words};

pub(crate) use moments::Moment;
pub(crate) use numeric::{NUMERIC, Numeric, shown as shown_numeric};
pub(crate) use operands::{Cast, End, Operand, Range, plain_integer};

/// What a statement is to a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Statement {
    /// A read of one table whose reply depends on its rows in a range alone.
    Read(Read),
    /// No reply of it is kept, for this reason. It writes nothing if nothing of a user is among what it names.
    Harmless(Reason),
    /// Rows of one table within these ranges change, and nothing else.
    Write(Write),
    /// A transaction begins; of the session's usual kind if that is plain.
    Begin {
        is_plain: bool,
    },
    Commit,
    Rollback,
    /// A savepoint is set, released or rolled back to.
    Savepoint,
    /// It says something of the session, and changes nothing.
    Show,
    /// It changes settings or prepared statements of the session, and no table.
    Session(AboutSession),
    /// It may do anything.
    Unknown(Reason),
}

/// What a statement about the session leaves as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AboutSession {
    /// Names of tables mean the same afterwards.
    pub(crate) keeps_path: bool,
    /// Prepared statements are still there.
    pub(crate) keeps_prepared: bool,
}

/// A table as a statement names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) schema: Option<String>,
    pub(crate) table: String,
}

/// See [`Statement::Read`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) table: Name,
    /// Whether it shows every column.
    pub(crate) shows_all: bool,
    pub(crate) needs: Vec<(String, Need)>,
    /// What columns are compared with.
    pub(crate) compared: Vec<(String, Operand)>,
    pub(crate) ranges: Vec<(String, Range)>,
    /// How often each parameter occurs.
    pub(crate) params: Vec<usize>,
    pub(crate) freedom: Freedom,
}

/// In what two right replies to one read of the same rows may differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Freedom {
    /// Rows come in an order that was asked for: only those that are equal in it may change places.
    pub(crate) is_ordered: bool,
    /// LIMIT or OFFSET may take others of the rows.
    pub(crate) is_limited: bool,
    /// One of several equal values is shown, by DISTINCT or GROUP BY.
    pub(crate) is_grouped: bool,
}

impl Statement {
    /// Bytes of the constants and parameters that are kept of its text, nearly.
    pub(crate) fn bytes(&self) -> usize {
        let (compared, ranges) = match self {
            Self::Read(read) => (read.compared.len(), &read.ranges),
            Self::Write(write) => (0, &write.ranges),
            _ => return 0,
        };
        let in_ranges: usize = ranges.iter().map(|(_, range)| range.operands()).sum();
        compared * COMPARED_BYTES + in_ranges * OPERAND_BYTES
    }
}

/// Bytes of an operand with the column's name beside it, and of one alone, with what the heap takes for their texts.
const COMPARED_BYTES: usize = 128;
const OPERAND_BYTES: usize = 64;

/// See [`Statement::Write`]. A column without a range may change anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) table: Name,
    pub(crate) ranges: Vec<(String, Range)>,
    pub(crate) params: Vec<usize>,
}

/// What a column must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Of any type, as it is tested for NULL alone.
    Any,
    /// Of a type whose texts depend on the session's settings alone.
    Shown,
    Integer,
    /// An integer or a `numeric`.
    Number,
    /// A number, a date, a timestamp, a text in the order of bytes or a UUID.
    Ordered,
    Bool,
    /// Text that is compared by bytes, a `numeric`, a UUID, a date or a timestamp.
    Text,
    /// A number, a truth value, a text, a UUID, a date or a timestamp: all that can be equal to a parameter.
    Equal,
}

/// What `text` is; it is read in one way or it is unknown. `harmless` is what its words say.
pub(crate) fn statement(text: &str, harmless: &Result<(), Reason>) -> Statement {
    match (understood(text), harmless) {
        (Ok(statement), _) => statement,
        (Err(reason), Ok(())) => Statement::Harmless(reason),
        // What a SELECT calls says more than what the cache misses in it.
        (Err(_), Err(why)) if why.starts_with("it calls") => Statement::Unknown(why.clone()),
        (Err(reason), Err(_)) => Statement::Unknown(reason),
    }
}

fn understood(text: &str) -> Result<Statement, Reason> {
    let plain = words::plain(text)?;
    if let Some(control) = control::recognise(&plain) {
        return Ok(control);
    }
    match <[Parsed; 1]>::try_from(parsed(Grammar::Postgres, &plain)?) {
        Ok([Parsed::Query(query)]) => read::recognise(&query, &plain),
        Ok([other]) => write::recognise(&other, &plain),
        Err(all) if all.is_empty() => Ok(Statement::Show),
        Err(_) => Err("it is more than one statement".to_owned()),
    }
}

impl Name {
    /// From the parts of a name; more than two name a database, too.
    fn of(parts: &[String]) -> Option<Self> {
        match parts {
            [table] => Some(Self { schema: None, table: table.clone() }),
            [schema, table] => Some(Self { schema: Some(schema.clone()), table: table.clone() }),
            _ => None,
        }
    }
}

/// How often each parameter occurs in a text without comments. What looks like one inside quotes counts as well, which
/// makes a statement be relayed that need not be.
fn params(plain: &str) -> Vec<usize> {
    let mut counts = Vec::new();
    for part in plain.split('$').skip(1) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        let Some(place) = digits.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else {
            continue;
        };
        if counts.len() <= place {
            counts.resize(place + 1, 0);
        }
        counts[place] += 1;
    }
    counts
}
