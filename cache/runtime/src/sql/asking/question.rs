//! What is asked of the rows of an interval, as it travels with a query to the owner and to the database.
//!
//! A list of pieces of SQL, of values, and of the one place where the condition of the interval belongs. That condition is
//! written from the interval of the query by the process that asks the database, so a question cannot look at rows
//! beyond the interval that its entry answers for.

use std::sync::Arc;

use lacuna_base::wire::Writer;
use lacuna_cache_protocol::{Error, Query, Result};

use crate::sql::database::Dialect;
use crate::sql::schema::Schema;
use crate::sql::select::Sql;
use crate::sql::sql_value::{SqlValue, reader};
use crate::sql::statement::{Shape, Statement};

/// Version of the bytes.
const VERSION: u8 = 1;
/// Most bytes of a question, which is part of the name of its result.
pub(crate) const MAX_BYTES: usize = 8_192;

/// A part of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// SQL without values of the application.
    Sql(String),
    Value(SqlValue),
    /// A value that is cast to a type.
    Cast(SqlValue, String),
    /// The condition that the bounded column lies in the interval.
    Interval,
    /// A new stamp, from no database (`stamps.rs`).
    Stamp,
}

/// A statement over the rows of an interval.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(super) column_count: usize,
    pub(super) pieces: Vec<Piece>,
}

impl Question {
    pub(super) fn to_bytes(&self) -> Arc<[u8]> {
        let mut writer = Writer::default();
        writer.byte(VERSION);
        writer.number(self.column_count as u64);
        for piece in &self.pieces {
            match piece {
                Piece::Sql(text) => {
                    writer.byte(1);
                    writer.bytes(text.as_bytes());
                }
                Piece::Value(value) => {
                    writer.byte(2);
                    value.write(&mut writer);
                }
                Piece::Cast(value, name) => {
                    writer.byte(3);
                    value.write(&mut writer);
                    writer.bytes(name.as_bytes());
                }
                Piece::Interval => writer.byte(4),
                Piece::Stamp => writer.byte(5),
            }
        }
        writer.into_bytes().into()
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let mut reader = reader(bytes);
        if reader.byte()? != VERSION {
            return Err(Error::unsupported("a question of the SQL store has an unknown version"));
        }
        let (column_count, mut pieces) = (reader.length()?, Vec::new());
        while !reader.is_at_end() {
            pieces.push(match reader.byte()? {
                1 => Piece::Sql(reader.text()?),
                2 => Piece::Value(SqlValue::read(&mut reader)?),
                3 => Piece::Cast(SqlValue::read(&mut reader)?, reader.text()?),
                4 => Piece::Interval,
                5 => Piece::Stamp,
                _ => return Err(reader.malformed("piece of a question").into()),
            });
        }
        Ok(Self { column_count, pieces })
    }

    /// What asks for a stamp of the table.
    pub(super) fn stamp() -> Self {
        Self { column_count: 1, pieces: vec![Piece::Stamp] }
    }

    pub(crate) fn is_stamp(&self) -> bool {
        self.pieces == [Piece::Stamp]
    }

    /// Whether the result depends on rows. It does not where the bounds of a statement exclude each other.
    pub(crate) fn asks_rows(&self) -> bool {
        self.pieces.contains(&Piece::Interval)
    }

    /// Columns of the result.
    pub(crate) const fn column_count(&self) -> usize {
        self.column_count
    }

    /// The statement for the rows of the interval of `query`.
    pub(crate) fn statement(&self, dialect: Dialect, schema: &Schema, query: &Query) -> Result<Statement> {
        let mut sql = Sql::qualified(dialect, schema);
        for piece in &self.pieces {
            match piece {
                Piece::Sql(text) => {
                    sql.text(text);
                }
                Piece::Value(value) => {
                    sql.value(value);
                }
                Piece::Cast(value, name) => {
                    sql.text("CAST(").value(value).text(" AS ").text(name).text(")");
                }
                Piece::Interval => {
                    sql.text("(");
                    sql.within(schema, query.domain, &query.interval)?;
                    sql.text(")");
                }
                Piece::Stamp => return Err(Error::invalid_input("a stamp is asked of no database")),
            }
        }
        Ok(sql.into_statement(Shape::Own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_come_back_from_their_bytes_and_cut_ones_are_another() {
        let pieces = vec![
            Piece::Sql("SELECT COUNT(*) FROM t WHERE ".to_owned()),
            Piece::Interval,
            Piece::Value(7.into()),
            Piece::Cast("a".into(), "inet".to_owned()),
        ];
        let question = Question { column_count: 1, pieces };
        let bytes = question.to_bytes();
        assert_eq!(Question::read(&bytes).unwrap(), question);
        for len in 0..bytes.len() {
            assert!(Question::read(&bytes[..len]).ok().as_ref() != Some(&question), "cut to {len}");
        }
        let small = Question { column_count: 1, pieces: vec![Piece::Sql("a".to_owned()), Piece::Interval] };
        assert_eq!(&*small.to_bytes(), [1, 1, 1, 1, b'a', 4], "the bytes of its page");
        assert_eq!(&*Question::stamp().to_bytes(), [1, 1, 5], "the same");
    }
}
