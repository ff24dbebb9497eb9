//! A write: SQL statements, the rows they must change, and their effect on cached rows; and the bytes of all this,
//! which write-back keeps in logs.

use std::sync::Arc;

use lacuna_cache_protocol::Command;
use lacuna_cache_protocol::{Error, Result};

use crate::sql::sql_value::{SqlValue, reader};
use lacuna_base::wire::{Reader, Writer};

/// Version of the bytes.
const VERSION: u8 = 2;

/// One statement with its parameters.
///
/// ```
/// use lacuna_cache::sql::Statement;
///
/// let raise = Statement::new("UPDATE people SET pay = pay + ?1 WHERE id = ?2").with(500).with(7);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub(crate) sql: String,
    pub(crate) params: Vec<SqlValue>,
    /// The number of rows that it must change, or the whole write is refused.
    pub(crate) expected: Option<u64>,
    pub(crate) shape: Shape,
    /// Whether its author promises that the database never refuses it.
    pub(crate) is_accepted: bool,
}

/// Where a statement can take a further condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nowhere: the application wrote it.
    Own,
    /// It ends with the values of a `SELECT` without a table.
    Values,
    /// It ends with conditions, all of which must hold.
    Condition,
}

impl Statement {
    /// SQL of the database, with its placeholders.
    pub fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), params: Vec::new(), expected: None, shape: Shape::Own, is_accepted: false }
    }

    /// Adds the next parameter. NULL has no type of its own, and is a `bigint` for PostgreSQL: beside a column of another type write
    /// `CAST($1 AS date)`.
    #[must_use]
    pub fn with(mut self, value: impl Into<SqlValue>) -> Self {
        self.params.push(value.into());
        self
    }

    /// It must change this number of rows; otherwise the write is refused and changes nothing.
    #[must_use]
    pub const fn expecting(mut self, rows: u64) -> Self {
        self.expected = Some(rows);
        self
    }

    /// Promises that the database accepts it whatever its rows are, and that it neither frees nor takes a key: an
    /// addition to a counter that cannot overflow, for example. Under write-back only such statements of the
    /// application are acknowledged before the database has them; others are written through, as only the database
    /// knows whether it accepts them (P14). **If it refuses one nevertheless, the write and those that depend on
    /// it are set aside after they were acknowledged** ([`Notice::SetAside`](crate::sql::Notice)). No effect together
    /// with [`Statement::expecting`].
    #[must_use]
    pub const fn never_refused(mut self) -> Self {
        self.is_accepted = true;
        self
    }

    /// About the bytes that it takes.
    fn bytes(&self) -> usize {
        self.sql.len() + self.params.iter().map(SqlValue::bytes).sum::<usize>()
    }

    pub(crate) const fn is_never_refused(&self) -> bool {
        self.is_accepted && self.expected.is_none()
    }
}

/// Columns by their places, and their new values.
pub(crate) type Columns = Vec<(usize, SqlValue)>;

/// The effect of a write on cached rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// Only the database knows.
    Unknown,
    /// A row was added.
    Insert(Vec<SqlValue>),
    /// Columns of the row with this key, by their indexes, have new values. Before, its registered columns are
    /// `was`.
    Set { key: Vec<SqlValue>, was: Vec<SqlValue>, columns: Columns },
    /// The row with this key was removed. Before, its registered columns are `was`.
    Delete { key: Vec<SqlValue>, was: Vec<SqlValue> },
}

/// Statements of one transaction, and their effect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SqlWrite {
    /// The columns that the places of the effect mean: [`Schema::fingerprint`](super::schema::Schema).
    pub(crate) fingerprint: u64,
    pub(crate) statements: Vec<Statement>,
    pub(crate) effect: Effect,
}

impl SqlWrite {
    /// The write as a command, which keeps it beside its bytes.
    pub(crate) fn into_command(self) -> Command {
        self.command().meaning(Arc::new(self))
    }

    /// The same, of which only the bytes are known.
    pub(crate) fn command(&self) -> Command {
        // Most bytes are parameters, which the effect has once more.
        let text: usize = self.statements.iter().map(Statement::bytes).sum();
        let mut writer = Writer::with_capacity(2 * text + 64);
        writer.byte(VERSION);
        writer.word(self.fingerprint);
        writer.number(self.statements.len() as u64);
        for statement in &self.statements {
            writer.bytes(statement.sql.as_bytes());
            // 0: any number of rows.
            writer.number(statement.expected.map_or(0, |rows| rows + 1));
            writer.byte(statement.shape as u8);
            writer.byte(statement.is_accepted.into());
            write_values(&mut writer, &statement.params);
        }
        match &self.effect {
            Effect::Unknown => writer.byte(0),
            Effect::Insert(row) => {
                writer.byte(1);
                write_values(&mut writer, row);
            }
            Effect::Set { key, was, columns } => {
                writer.byte(2);
                write_values(&mut writer, key);
                write_values(&mut writer, was);
                write_columns(&mut writer, columns);
            }
            Effect::Delete { key, was } => {
                writer.byte(3);
                write_values(&mut writer, key);
                write_values(&mut writer, was);
            }
        }
        Command::new(writer.as_bytes())
    }

    /// The columns that a write means, from its first bytes alone: this is asked of every write.
    pub(crate) fn fingerprint_of(command: &Command) -> Option<u64> {
        let mut reader = reader(command.as_bytes());
        reader.byte().ok().filter(|version| *version == VERSION)?;
        reader.word().ok()
    }

    /// The write of a command, whose bytes are read once at most.
    pub(crate) fn of(command: &Command) -> Result<Arc<Self>> {
        command.read_with(Self::read)
    }

    fn read(bytes: &[u8]) -> Result<Self> {
        let mut reader = reader(bytes);
        if reader.byte()? != VERSION {
            return Err(Error::unsupported("a write of the SQL store has an unknown version"));
        }
        let fingerprint = reader.word()?;
        let statements = (0..reader.length()?).map(|_| read_statement(&mut reader)).collect::<Result<_>>()?;
        let effect = match reader.byte()? {
            0 => Effect::Unknown,
            1 => Effect::Insert(read_values(&mut reader)?),
            2 => {
                let (key, was) = (read_values(&mut reader)?, read_values(&mut reader)?);
                Effect::Set { key, was, columns: read_columns(&mut reader)? }
            }
            3 => Effect::Delete { key: read_values(&mut reader)?, was: read_values(&mut reader)? },
            _ => return Err(Error::unsupported("a write of the SQL store has an unknown effect")),
        };
        Ok(Self { fingerprint, statements, effect })
    }
}

fn read_statement(reader: &mut Reader<'_>) -> Result<Statement> {
    let sql = reader.text()?;
    let expected = reader.number()?.checked_sub(1);
    let shape = match reader.byte()? {
        0 => Shape::Own,
        1 => Shape::Values,
        2 => Shape::Condition,
        _ => return Err(Error::unsupported("a statement of the SQL store has an unknown shape")),
    };
    let is_accepted = reader.byte()? != 0;
    Ok(Statement { sql, params: read_values(reader)?, expected, shape, is_accepted })
}

pub(super) fn write_values(writer: &mut Writer, values: &[SqlValue]) {
    writer.number(values.len() as u64);
    values.iter().for_each(|value| value.write(writer));
}

pub(super) fn write_columns(writer: &mut Writer, columns: &Columns) {
    writer.number(columns.len() as u64);
    for (place, value) in columns {
        writer.number(*place as u64);
        value.write(writer);
    }
}

pub(super) fn read_columns(reader: &mut Reader<'_>) -> Result<Columns> {
    (0..reader.length()?).map(|_| Ok((reader.length()?, SqlValue::read(reader)?))).collect()
}

pub(super) fn read_values(reader: &mut Reader<'_>) -> Result<Vec<SqlValue>> {
    (0..reader.length()?).map(|_| SqlValue::read(reader)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_write_are_those_of_its_page() {
        let statement = Statement::new("DELETE 1").with(7).expecting(1);
        let effect = Effect::Delete { key: vec![7.into()], was: vec![3.into()] };
        let write = SqlWrite { fingerprint: 5, statements: vec![statement], effect };
        let bytes =
            b"\x02\x05\0\0\0\0\0\0\0\x01\x08DELETE 1\x02\x00\x00\x01\x01\x0E\x03\x01\x01\x0E\x01\x01\x06";
        assert_eq!(write.command().as_bytes(), bytes);
    }

    #[test]
    fn the_columns_of_a_write_are_in_its_first_nine_bytes() {
        let of = |bytes: &[u8]| SqlWrite::fingerprint_of(&Command::new(bytes));
        assert_eq!(of(b"\x02\x05\x01\0\0\0\0\0\0"), Some(0x105));
        assert_eq!(of(b"\x02\x05\x01\0\0\0\0\0"), None, "cut");
        assert_eq!(of(b"\x03\x05\x01\0\0\0\0\0\0"), None, "another version");
    }

    #[test]
    fn writes_come_back_from_their_commands_and_cut_ones_are_refused() {
        let statement = Statement::new("DELETE FROM t WHERE id = ?1").with(7).expecting(1);
        let effects = [
            Effect::Unknown,
            Effect::Insert(vec![1.into(), SqlValue::Null]),
            Effect::Set {
                key: vec!["k".into(), 3.into()],
                was: vec![9.into()],
                columns: vec![(2, 5.into())],
            },
            Effect::Delete { key: vec![7.into()], was: vec![SqlValue::Null] },
        ];
        for effect in effects {
            let write = SqlWrite {
                fingerprint: u64::MAX,
                statements: vec![statement.clone(), Statement::new("SELECT 1").never_refused()],
                effect,
            };
            let command = write.command();
            assert_eq!(*SqlWrite::of(&command).unwrap(), write);
            assert_eq!(*SqlWrite::of(&write.clone().into_command()).unwrap(), write);
            assert_eq!(SqlWrite::fingerprint_of(&command), Some(write.fingerprint));
            for len in 0..command.as_bytes().len() {
                let cut = Command::new(&command.as_bytes()[..len]);
                assert!(SqlWrite::of(&cut).is_err(), "{write:?} cut to {len}");
            }
        }
    }
}
