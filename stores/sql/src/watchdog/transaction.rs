//! A transaction, as the log tells it bit by bit.

use std::collections::BTreeSet;

use super::Strangers;

/// What is known so far of the transaction that the log is telling of.
#[derive(Debug, Default)]
pub(super) struct Telling {
    tables: BTreeSet<String>,
    is_marked: bool,
}

impl Telling {
    /// It is one of a cache.
    pub(super) const fn mark(&mut self) {
        self.is_marked = true;
    }

    /// It changes a table: `schema.name`.
    pub(super) fn change(&mut self, table: &str) {
        self.tables.insert(table.to_owned());
    }

    /// It is over, and another begins.
    pub(super) fn end(&mut self, strangers: &mut Strangers) {
        let told = std::mem::take(self);
        if !told.is_marked {
            strangers.changed(told.tables);
        }
    }

    /// The same, for one whose changes have no names.
    pub(super) fn end_unnamed(&mut self, strangers: &mut Strangers) {
        let told = std::mem::take(self);
        if !told.is_marked {
            *strangers = Strangers::ChangedAny;
        }
    }
}
