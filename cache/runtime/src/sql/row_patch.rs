//! What a write adds to a cached result: the row that it changes, not the result.
//!
//! The owner appends these bytes to the value in the cache server without reading it, and `settling.rs` makes rows of
//! both when somebody asks. So the update of a row costs about as many bytes as the row has, however large the
//! results are that show it. The next update of the same columns of that row takes the place of the last.

use std::cell::LazyCell;
use std::sync::Arc;

use lacuna_base::wire::{Reader, Writer};
use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{About, Addition, Command, Patch, Query};

use crate::sql::application::TableRows;
use crate::sql::database::Dialect;
use crate::sql::schema::Schema;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::{
    Columns, Effect, SqlWrite, read_columns, read_values, write_columns, write_values,
};

/// A change of one row of a result.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RowPatch {
    /// The row is in the result, in place of one with the same key.
    Put(Vec<SqlValue>),
    /// The row with this key is not in the result.
    Remove(Vec<SqlValue>),
    /// The row with this key has other values. It is in the result if it was and they do not lead it out.
    Set { key: Vec<SqlValue>, columns: Columns },
}

impl RowPatch {
    pub(super) fn write(&self, writer: &mut Writer) {
        match self {
            Self::Put(row) => {
                writer.byte(1);
                write_values(writer, row);
            }
            Self::Remove(key) => {
                writer.byte(2);
                write_values(writer, key);
            }
            Self::Set { key, columns } => {
                writer.byte(3);
                write_values(writer, key);
                write_columns(writer, columns);
            }
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(match reader.byte()? {
            1 => Self::Put(read_values(reader)?),
            2 => Self::Remove(read_values(reader)?),
            3 => Self::Set { key: read_values(reader)?, columns: read_columns(reader)? },
            _ => return Err(reader.malformed("patch").into()),
        })
    }

    /// What a write does to results in which its row is afterwards.
    fn staying(effect: &Effect) -> Option<Self> {
        match effect {
            Effect::Insert(row) => Some(Self::Put(row.clone())),
            Effect::Set { key, columns, .. } => {
                Some(Self::Set { key: key.clone(), columns: columns.clone() })
            }
            Effect::Delete { .. } | Effect::Unknown => None,
        }
    }

    /// What it does to those in which its row no longer is.
    fn gone(effect: &Effect) -> Option<Self> {
        match effect {
            Effect::Delete { key, .. } | Effect::Set { key, .. } => Some(Self::Remove(key.clone())),
            Effect::Insert(_) | Effect::Unknown => None,
        }
    }

    /// The patch as it is added to a value. Of two that set the same columns of a row, or all of them, the later says all.
    fn addition(&self, schema: &Schema) -> Addition {
        let (key, kind, columns) = match self {
            Self::Put(row) => (schema.key_of(row), 1, &[][..]),
            Self::Remove(key) => (key.clone(), 2, &[][..]),
            Self::Set { key, columns } => (key.clone(), 3, &columns[..]),
        };
        let part = |writer: &mut Writer| {
            writer.byte(kind);
            columns.iter().for_each(|(place, _)| writer.number(*place as u64));
        };
        let about = About { row: written(64, |writer| write_values(writer, &key)), part: written(64, part) };
        let values = match self {
            Self::Put(row) => row.iter().map(SqlValue::bytes).sum(),
            Self::Remove(key) => key.iter().map(SqlValue::bytes).sum(),
            Self::Set { columns, .. } => {
                columns.iter().map(|(_, value)| value.bytes() + 2).sum::<usize>() + 64
            }
        };
        Addition { bytes: written(values + 16, |writer| self.write(writer)), about: Some(about) }
    }
}

/// The bytes that `write` writes, about as many as `room`.
fn written(room: usize, write: impl FnOnce(&mut Writer)) -> Arc<[u8]> {
    let mut writer = Writer::with_capacity(room);
    write(&mut writer);
    writer.into_bytes().into()
}

/// What a write means for a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Nothing,
    /// Its row is in the result, if it was there before or is new.
    Staying,
    Gone,
}

impl TableRows {
    pub(super) fn patches(&self, command: &Command, queries: &[Query]) -> Vec<Patch> {
        let write = SqlWrite::of(command).ok().filter(|write| write.fingerprint == self.fingerprint);
        let effect = write.as_ref().map_or(&Effect::Unknown, |write| &write.effect);
        // The same bytes for all results.
        let added = |patch: Option<RowPatch>| {
            patch.map_or(Patch::Nothing, |patch| Patch::Append(patch.addition(&self.schema)))
        };
        let staying = LazyCell::new(|| added(RowPatch::staying(effect)));
        let gone = LazyCell::new(|| added(RowPatch::gone(effect)));
        let patch = |query: &Query| {
            let is_ours = query.is_all_rows() && query.fingerprint == self.fingerprint;
            match self.meaning(effect, query).filter(|_| is_ours) {
                Some(Meaning::Nothing) => Patch::Nothing,
                Some(Meaning::Staying) => staying.clone(),
                Some(Meaning::Gone) => gone.clone(),
                None => Patch::Unknown,
            }
        };
        queries.iter().map(patch).collect()
    }

    /// `None` if only the database knows. A result finds the row of a patch by the bytes of its key, so a key that the
    /// database may hold in another form (text for a number, or 1.0 for 1.00) finds no row, although a write does.
    fn meaning(&self, effect: &Effect, query: &Query) -> Option<Meaning> {
        let is_found = match effect {
            Effect::Unknown => return None,
            Effect::Insert(row) => self.is_key_as_read(&self.schema.key_of(row)),
            Effect::Delete { key, .. } | Effect::Set { key, .. } => self.is_key_as_read(key),
        };
        if !is_found {
            return None;
        }
        Some(match effect {
            Effect::Unknown => return None,
            Effect::Insert(row) if !self.is_selected(query, row)? => Meaning::Nothing,
            Effect::Insert(row) => {
                self.key_place(&self.schema.key_of(row))?;
                Meaning::Staying
            }
            Effect::Delete { was, .. } if self.was_inside(query, was) == Some(false) => Meaning::Nothing,
            Effect::Delete { .. } => Meaning::Gone,
            Effect::Set { key, was, columns } => {
                let after = columns.iter().find(|(place, _)| self.is_domain(query, *place));
                let is_inside = after.map(|(_, value)| self.is_inside(query, value));
                match (self.was_inside(query, was), is_inside) {
                    (Some(false), None | Some(Some(false))) => Meaning::Nothing,
                    (Some(true), Some(Some(false))) => Meaning::Gone,
                    (Some(true), Some(Some(true))) => {
                        self.key_place(key)?;
                        Meaning::Staying
                    }
                    (_, None) => Meaning::Staying,
                    // The row comes from outside the range, and only the database knows its other columns.
                    _ => return None,
                }
            }
        })
    }

    /// Whether all values of the key are, bit for bit, what a result shows of a row that has them.
    fn is_key_as_read(&self, key: &[SqlValue]) -> bool {
        let dialect = self.schema.dialect.unwrap_or(Dialect::Sqlite);
        let mut places = self.schema.key_places().zip(key);
        key.len() == self.schema.keys.len()
            && places.all(|(place, value)| {
                let column = &self.schema.described[place];
                !column.is_changed && column.kind.is_as_read(value, dialect)
            })
    }

    /// Whether a row with these registered values was in the result; `None` if only the database knows.
    fn was_inside(&self, query: &Query, was: &[SqlValue]) -> Option<bool> {
        let is_known = was.len() == self.schema.domains.len() && self.schema.has_order_of(query.domain);
        self.is_inside(query, was.get(query.domain).filter(|_| is_known)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::sql_value::reader;

    #[test]
    fn patches_come_back_from_their_bytes_and_cut_ones_are_refused() {
        let patches = [
            RowPatch::Put(vec![1.into(), "Anna".into()]),
            RowPatch::Remove(vec![7.into()]),
            RowPatch::Set { key: vec![7.into()], columns: vec![(1, SqlValue::Null)] },
        ];
        for patch in patches {
            let written = written(0, |writer| patch.write(writer));
            let mut bytes = reader(&written);
            assert_eq!(RowPatch::read(&mut bytes).unwrap(), patch);
            assert!(bytes.is_at_end());
            for len in 0..written.len() {
                assert!(RowPatch::read(&mut reader(&written[..len])).is_err(), "{patch:?} cut to {len}");
            }
        }
        assert!(RowPatch::read(&mut reader(&[4, 0])).is_err(), "an unknown kind");
    }

    #[test]
    fn the_bytes_of_a_patch_are_those_of_its_page() {
        let patch = RowPatch::Set { key: vec![7.into()], columns: vec![(2, 3.into())] };
        assert_eq!(*written(0, |writer| patch.write(writer)), [3, 1, 1, 0x0E, 1, 2, 1, 6]);
    }
}
