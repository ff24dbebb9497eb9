//! A registered table, and since when it is what it is.

use std::collections::{BTreeMap, BTreeSet};

use super::columns::Kind;
use super::since::{ReadingMark, Since};
use crate::cache::span::ColumnId;
use crate::recognise::strict::Read;

/// A registered table.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) columns: BTreeMap<String, Kind>,
    /// The registered ones among its columns.
    pub(crate) registered: Vec<(String, ColumnId)>,
    /// Whether rows of other tables change with its own, so that a write to it may do anything.
    pub(crate) acts: bool,
    /// Schemas that have something else of its name, and the first reading with these.
    pub(super) neighbours: (BTreeSet<String>, u64),
    /// Number and type of each column, which decide the types of a statement's parameters and of its result; those that were
    /// dropped, too, under names of the server's.
    pub(super) definitions: BTreeMap<String, Definition>,
    /// Since when they are all what they are.
    shape: Since,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) text: String,
    /// The low halves of the transactions that have written it, its table's name and its schema's last.
    pub(super) written: Vec<u32>,
    pub(super) since: Since,
}

impl Table {
    /// It was registered in the last reading, too.
    pub(super) fn continues(&mut self, last: &Self, number: u64) {
        let now = Since::reading(number);
        self.neighbours.1 = if self.neighbours.0 == last.neighbours.0 { last.neighbours.1 } else { number };
        for (column, definition) in &mut self.definitions {
            let same = last.definitions.get(column).filter(|last| last.text == definition.text);
            definition.since = same.map_or(now, |last| last.since);
        }
        let texts = |table: &Self| -> Vec<(String, String)> {
            table.definitions.iter().map(|(column, of)| (column.clone(), of.text.clone())).collect()
        };
        self.shape = if texts(self) == texts(last) { last.shape } else { now };
    }

    /// It is registered from now on; what it was before is known by who has written it.
    pub(super) fn begins(&mut self, vanished: u64, mark: ReadingMark) {
        self.neighbours.1 = vanished;
        for definition in self.definitions.values_mut() {
            definition.since = Since::written(&definition.written, mark);
        }
        self.shape = Since::last(self.definitions.values().map(|definition| definition.since));
    }

    /// Whether a column is to a statement what it was when the server was given the text, as of this mark, if the session
    /// searches the same schemas still.
    pub(crate) fn has_column_of(&self, mark: Option<ReadingMark>, column: &str) -> bool {
        mark.zip(self.definitions.get(column)).is_some_and(|(mark, definition)| {
            definition.since.is_before(mark) && self.neighbours.1 <= mark.number
        })
    }

    /// The same of all that a read names or shows.
    pub(crate) fn has_columns_of(&self, mark: Option<ReadingMark>, read: &Read) -> bool {
        let is_shape = !read.shows_all || mark.is_some_and(|mark| self.shape.is_before(mark));
        is_shape && read.needs.iter().all(|(column, _)| self.has_column_of(mark, column))
    }
}
