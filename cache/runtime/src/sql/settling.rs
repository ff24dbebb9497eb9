//! The rows that a cached result and its patches stand for.
//!
//! Rows without a patch are copied as bytes, and passed over rather than decoded. Cost: one pass over the bytes of the
//! result, one hash for each row, and for each row whose place changes a binary search.

use std::borrow::Cow;
use std::collections::HashMap;

use lacuna_base::wire::{Reader, Writer};
use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{Query, Value};

use crate::sql::application::{Place, TableRows};
use crate::sql::asking::is_under;
use crate::sql::row_patch::RowPatch;
use crate::sql::rows::{Stored, enclose, read_row};
use crate::sql::sql_value::{SqlValue, reader};

type Row = Vec<SqlValue>;

/// Patches by the bytes of the key of their row, in their order.
type Changes = HashMap<Vec<u8>, Vec<RowPatch>>;

impl TableRows {
    /// The result without patches; `None` if only the database knows it.
    pub(super) fn settled(&self, query: &Query, value: &Value) -> Option<Value> {
        if query.question.is_some() {
            return is_under(&query.stamps, value).then(|| value.clone());
        }
        let stored = Stored::read(self.schema.columns.len(), value).ok()?;
        if stored.patches.is_at_end() {
            return Some(value.clone());
        }
        let changes = self.changes(stored.patches).ok()?;
        let rows = self.changed(query, stored, changes)?;
        Some(enclose(self.schema.columns.len(), rows.len(), &rows))
    }

    fn changes(&self, mut patches: Reader<'_>) -> Result<Changes> {
        let mut changes = Changes::new();
        while !patches.is_at_end() {
            let patch = RowPatch::read(&mut patches)?;
            let key = match &patch {
                RowPatch::Put(row) => bytes_of(&self.schema.key_of(row)),
                RowPatch::Remove(key) | RowPatch::Set { key, .. } => bytes_of(key),
            };
            changes.entry(key).or_default().push(patch);
        }
        Ok(changes)
    }

    fn changed<'a>(
        &self,
        query: &Query,
        mut stored: Stored<'a>,
        mut changes: Changes,
    ) -> Option<Vec<Cow<'a, [u8]>>> {
        let keys: Vec<usize> = self.schema.key_places().collect();
        let (mut rows, mut moved) = (Vec::with_capacity(stored.row_count), Vec::new());
        for _ in 0..stored.row_count {
            let (bytes, key) = self.next_row(&mut stored.rows, &keys).ok()?;
            let Some(patches) = changes.remove(&*key) else {
                rows.push(Cow::Borrowed(bytes));
                continue;
            };
            let before = self.decoded(bytes)?;
            let is_at = self.schema.domain_value(query.domain, &before).clone();
            match self.row_after(query, Some(before), patches)? {
                Some(row) if *self.schema.domain_value(query.domain, &row) == is_at => {
                    rows.push(Cow::Owned(bytes_of(&row)));
                }
                Some(row) => moved.push(row),
                None => {}
            }
        }
        for patches in changes.into_values() {
            moved.extend(self.row_after(query, None, patches)?);
        }
        moved.iter().try_for_each(|row| self.put(query, &mut rows, row))?;
        Some(rows)
    }

    /// The bytes of the next row, and those of its key.
    fn next_row<'a>(&self, rows: &mut Reader<'a>, keys: &[usize]) -> Result<(&'a [u8], Cow<'a, [u8]>)> {
        let begin = rows.rest();
        let mut key: Vec<&[u8]> = vec![&[]; keys.len()];
        for place in 0..self.schema.columns.len() {
            let value = rows.rest();
            SqlValue::skip(rows)?;
            if let Some(nth) = keys.iter().position(|key| *key == place) {
                key[nth] = &value[..value.len() - rows.rest().len()];
            }
        }
        let key = if let [key] = key[..] { Cow::Borrowed(key) } else { Cow::Owned(key.concat()) };
        Ok((&begin[..begin.len() - rows.rest().len()], key))
    }

    fn decoded(&self, bytes: &[u8]) -> Option<Row> {
        read_row(self.schema.columns.len(), &mut reader(bytes)).ok()
    }

    /// The row after its patches, if it is in the result then. `None` if only the database knows.
    fn row_after(&self, query: &Query, mut row: Option<Row>, patches: Vec<RowPatch>) -> Option<Option<Row>> {
        for patch in patches {
            row = match (patch, row) {
                (RowPatch::Put(row), _) => Some(row),
                (RowPatch::Remove(_), _) => None,
                (RowPatch::Set { columns, .. }, Some(mut row)) => {
                    for (place, value) in columns {
                        *row.get_mut(place)? = value;
                    }
                    self.is_selected(query, &row)?.then_some(row)
                }
                (RowPatch::Set { columns, .. }, None) => {
                    for (place, value) in &columns {
                        if self.is_domain(query, *place) && self.is_inside(query, value)? {
                            return None;
                        }
                    }
                    None
                }
            };
        }
        Some(row)
    }

    /// Puts a row into its place. `None` if only the database knows that.
    fn put<'a>(&self, query: &Query, rows: &mut Vec<Cow<'a, [u8]>>, row: &Row) -> Option<()> {
        let place = self.place(query, row)?;
        let (mut low, mut high) = (0, rows.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let there: Place = self.place(query, &self.decoded(&rows[middle])?)?;
            if there < place { low = middle + 1 } else { high = middle }
        }
        rows.insert(low, Cow::Owned(bytes_of(row)));
        Some(())
    }
}

fn bytes_of(values: &[SqlValue]) -> Vec<u8> {
    let mut writer = Writer::default();
    values.iter().for_each(|value| value.write(&mut writer));
    writer.into_bytes()
}

#[cfg(test)]
#[path = "settling_tests.rs"]
mod tests;
