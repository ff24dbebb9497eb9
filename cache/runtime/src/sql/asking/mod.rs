//! Statements of the application over ranges of a table, whose results are cached.
//!
//! `SELECT city, COUNT(*) FROM people WHERE age BETWEEN ? AND ? AND name <> ? GROUP BY city` asks for more than the rows of
//! a range, but depends on nothing else: so its result is an entry for the ages between the bounds, and every write
//! of a row there deletes it. Where other tables are joined, a write of any of their rows does, too. Only statements of
//! which this is known are recognised; everything else is refused.
//! A statement is written anew from what was recognised, never passed on as text.
//!
//! | file | idea |
//! | --- | --- |
//! | `mod.rs` | a recognised statement, and what its parameters make of it |
//! | `recognise.rs` | the clauses of a `SELECT` |
//! | `chains.rs` | how deep the tree of a statement would be |
//! | `expression.rs` | the expressions that depend on the row alone |
//! | `bounds.rs` | the conditions that bound a registered column |
//! | `names.rs` | the tables and columns that it may name |
//! | `from.rs` | the tables that a statement reads: one that is asked, and others that are joined whole |
//! | `stamps.rs` | whether a joined table was written since |
//! | `question.rs` | the part of a query that is not its interval, and its bytes |
//! | `answer.rs` | the result |
//!
//! [`docs/design/range-cache-queries.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/range-cache-queries.md)

mod answer;
mod bounds;
mod chains;
mod expression;
mod from;
mod names;
mod question;
mod recognise;
mod stamps;

use std::collections::BTreeMap;
use std::sync::Arc;

use lacuna_cache_protocol::{
    Cut, DomainId, DomainType, Error, Form, Interval, Query, RangeKey, Result, Stamps,
};

use crate::sql::database::{ColumnKind, Dialect};
use crate::sql::domain_key::key;
use crate::sql::registry::Registered;
use crate::sql::schema::Schema;
use crate::sql::sql_value::SqlValue;
use bounds::{Bound, Sign, Source};
use question::{MAX_BYTES, Piece};

pub use answer::Answer;
pub use chains::check_chains;
pub(crate) use question::Question;
pub(crate) use recognise::recognised;
pub(crate) use stamps::{checked, is_under, made_under, new_stamp, stamped, stamps};

/// Recognised statements that a table keeps.
const MAX_KEPT: usize = 256;

/// Part of a recognised statement.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Sql(String),
    /// The parameter with this number, from 0 on, and the column that it is compared with.
    Param(usize, Option<usize>),
    /// A parameter that is a number of rows.
    RowCount(usize),
    Interval,
}

/// A column of the result, and the kind of the column of the table that its values come from.
#[derive(Debug, Clone, PartialEq)]
struct Output {
    name: String,
    kind: Option<ColumnKind>,
}

/// A recognised statement.
#[derive(Debug, Clone)]
pub(crate) struct Recognised {
    domain: DomainId,
    bounds: Vec<Bound>,
    parts: Vec<Part>,
    outputs: Vec<Output>,
    columns: Arc<[String]>,
    param_count: usize,
    /// The tables that are joined whole. Places of columns count on from those of the asked table.
    joined: Vec<Arc<Registered>>,
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::invalid_input(format!("this statement is not cached: {why}"))
}

impl Recognised {
    /// The query for these parameters.
    pub(crate) fn query(&self, dialect: Dialect, schema: &Schema, params: &[SqlValue]) -> Result<Query> {
        if params.len() != self.param_count {
            return Err(Error::invalid_input(format!(
                "the statement has {} parameters, and {} values were given",
                self.param_count,
                params.len()
            )));
        }
        params.iter().try_for_each(|value| dialect.can_say(value))?;
        let interval = self.interval(dialect, schema, params)?;
        let pieces = self.parts.iter().map(|part| {
            Ok(match part {
                Part::Sql(text) => Piece::Sql(text.clone()),
                Part::Param(number, column) => {
                    compared(dialect, column.map(|place| self.located(schema, place)), &params[*number])?
                }
                Part::RowCount(number) => Piece::Sql(row_count(&params[*number])?.to_string()),
                Part::Interval if interval.is_none() => Piece::Sql("(1 = 0)".to_owned()),
                Part::Interval => Piece::Interval,
            })
        });
        let question = Question { column_count: self.outputs.len(), pieces: pieces.collect::<Result<_>>()? };
        let question = question.to_bytes();
        if question.len() > MAX_BYTES {
            let message =
                format!("its text and values have {} bytes, of at most {MAX_BYTES}", question.len());
            return Err(refused(message));
        }
        // The result of an empty interval depends on no row, so it may stand under any key.
        let interval = interval.unwrap_or_else(|| Interval::point(RangeKey::from_bytes(b"")));
        let fingerprint = schema.fingerprint();
        Ok(Query {
            domain: self.domain,
            interval,
            form: Form::All,
            fingerprint,
            question: Some(question),
            stamps: Stamps::NONE,
        })
    }

    /// The table of a column, and its place there.
    fn located<'a>(&'a self, own: &'a Schema, mut place: usize) -> (&'a Schema, usize) {
        for schema in std::iter::once(own).chain(self.joined.iter().map(|table| &*table.schema)) {
            if place < schema.columns.len() {
                return (schema, place);
            }
            place -= schema.columns.len();
        }
        unreachable!("places are those of columns");
    }

    /// The tables that it joins.
    pub(crate) fn joined(&self) -> &[Arc<Registered>] {
        &self.joined
    }

    /// Where all bounds hold, `None` if they hold nowhere: NULL is in no range.
    fn interval(
        &self,
        dialect: Dialect,
        schema: &Schema,
        params: &[SqlValue],
    ) -> Result<Option<Interval<RangeKey>>> {
        let (column, domain) = &schema.domains[self.domain];
        let place = schema.column(column)?;
        let (mut lo, mut hi) = (Cut::Least, Cut::Greatest);
        for Bound { sign, source } in &self.bounds {
            let value = match source {
                Source::Param(number) => &params[*number],
                Source::Literal(value) => value,
            };
            dialect.can_bound(value)?;
            let mut value = schema.fitted(place, value.clone());
            if let SqlValue::Text(text) = &mut value
                && schema.described[place].is_blank_padded(dialect)
            {
                // The database compares these without the spaces at their end.
                text.truncate(text.trim_end_matches(' ').len());
            }
            let (value, is_between) = rounded_down(*domain, value);
            let Some(key) = key(*domain, &value)? else { return Ok(None) };
            let (before, after) = (Cut::Before(key.clone()), Cut::After(key));
            let (from, to) = match sign {
                Sign::Equal if is_between => return Ok(None),
                Sign::AtLeast | Sign::Above if is_between => (after, Cut::Greatest),
                Sign::AtMost | Sign::Below if is_between => (Cut::Least, after),
                Sign::Equal => (before, after),
                Sign::AtLeast => (before, Cut::Greatest),
                Sign::Above => (after, Cut::Greatest),
                Sign::AtMost => (Cut::Least, after),
                Sign::Below => (Cut::Least, before),
            };
            (lo, hi) = (lo.max(from), hi.min(to));
        }
        Ok(Interval::between(lo, hi))
    }

    /// Columns of the result.
    pub(crate) fn column_count(&self) -> usize {
        self.outputs.len()
    }

    /// The answer of rows as the driver read them.
    pub(crate) fn answer(&self, schema: &Schema, rows: Vec<Vec<SqlValue>>) -> Answer {
        let received = |row: Vec<SqlValue>| {
            let values = row.into_iter().zip(&self.outputs);
            let received = |(value, output): (SqlValue, &Output)| match output.kind {
                Some(kind) => schema.received_as(value, kind),
                None => value,
            };
            values.map(received).collect()
        };
        Answer::new(self.columns.clone(), rows.into_iter().map(received).collect())
    }
}

/// The largest decimal of the domain that is not above `value`, and whether it is below: `price < 1.005` bounds prices in
/// cents, too.
fn rounded_down(domain: DomainType, value: SqlValue) -> (SqlValue, bool) {
    match (domain, &value) {
        (DomainType::Decimal { scale: kept }, SqlValue::Decimal { digits, scale }) if *scale > kept => {
            let (digits, is_between) = match 10i128.checked_pow((*scale - kept).into()) {
                Some(unit) => (digits.div_euclid(unit), digits.rem_euclid(unit) != 0),
                // Less than one unit, on either side of zero.
                None => (digits.signum().min(0), *digits != 0),
            };
            (SqlValue::Decimal { digits, scale: kept }, is_between)
        }
        _ => (value, false),
    }
}

/// A parameter in a comparison with a column, in the form of its values.
fn compared(dialect: Dialect, column: Option<(&Schema, usize)>, value: &SqlValue) -> Result<Piece> {
    let Some((schema, place)) = column else { return Ok(Piece::Value(value.clone())) };
    let value = schema.fitted(place, value.clone());
    dialect.can_say(&value)?;
    let column = &schema.described[place];
    if let (Dialect::Postgres, SqlValue::Text(text)) = (dialect, &value)
        && column.kind.may_mean_now(text)
    {
        return Err(Error::invalid_input(format!(
            "'{text}' is a moment of the database's clock, and a result that depends on it is not cached: give a day or moment"
        )));
    }
    let is_text = column.kind.is_cast() || matches!(value, SqlValue::Text(_));
    let padded = Some("bpchar".to_owned()).filter(|_| column.is_blank_padded(dialect));
    Ok(match column.cast.as_ref().or(padded.as_ref()) {
        Some(name) if is_text && value != SqlValue::Null => Piece::Cast(value, name.clone()),
        _ => Piece::Value(value),
    })
}

fn row_count(value: &SqlValue) -> Result<u32> {
    let count = if let SqlValue::Integer(count) = value { u32::try_from(*count).ok() } else { None };
    count.ok_or_else(|| {
        Error::invalid_input(format!(
            "{value:?} is no number of rows: give a whole number from 0 to {}",
            u32::MAX
        ))
    })
}

/// Recognised statements by their texts; the oldest are forgotten.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    by_text: BTreeMap<String, (u64, Arc<Recognised>)>,
    texts: BTreeMap<u64, String>,
    next: u64,
}

impl Kept {
    pub(crate) fn get(&self, text: &str) -> Option<Arc<Recognised>> {
        self.by_text.get(text).map(|(_, kept)| kept.clone())
    }

    pub(crate) fn keep(&mut self, text: &str, recognised: &Arc<Recognised>) {
        let number = self.next;
        self.next += 1;
        if let Some((before, _)) = self.by_text.insert(text.to_owned(), (number, recognised.clone())) {
            self.texts.remove(&before);
        }
        self.texts.insert(number, text.to_owned());
        while self.texts.len() > MAX_KEPT {
            let oldest = self.texts.pop_first().expect("there are more than none");
            self.by_text.remove(&oldest.1);
        }
    }
}

#[cfg(all(test, feature = "sqlite", feature = "flaws"))]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod joined_tests;
#[cfg(all(test, feature = "sqlite"))]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests;
