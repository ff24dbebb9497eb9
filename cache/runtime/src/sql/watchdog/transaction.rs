//! A transaction, read from the log step by step.

use std::collections::BTreeSet;

use crate::sql::database::Mark;

/// The summary of a transaction, however large it is.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Told {
    /// By their names in the log.
    tables: BTreeSet<String>,
    /// Signs of the tables that caches sent it to.
    marks: BTreeSet<String>,
    /// Whether it may change further, unknown tables.
    changes_more: bool,
}

impl Told {
    /// A cache sent it.
    pub(super) fn mark(&mut self, signs: &str) {
        if !self.marks.contains(signs) {
            self.marks.insert(signs.to_owned());
        }
    }

    /// It changes a table.
    pub(super) fn change(&mut self, table: &str) {
        if !self.tables.contains(table) {
            self.tables.insert(table.to_owned());
        }
    }

    /// It changes tables without names in the log.
    pub(super) const fn change_more(&mut self) {
        self.changes_more = true;
    }

    /// Ends it: returns its summary, if it changes anything, and starts the next.
    pub(super) fn end(&mut self) -> Option<Self> {
        let told = std::mem::take(self);
        (told.changes_more || !told.tables.is_empty()).then_some(told)
    }

    /// Whether it changes a table with one of these names in the log, and no cache of the table sent it.
    pub(super) fn is_strangers(&self, mark: &Mark, is_named: impl Fn(&str) -> bool) -> bool {
        let is_touching = self.changes_more || self.tables.iter().any(|table| is_named(table));
        is_touching && !self.marks.contains(mark.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_counts_for_its_own_table() {
        let (people, orders) = (Mark::of("public.people"), Mark::of("public.orders"));
        let mut telling = Told::default();
        telling.change("public.orders");
        telling.change("public.people");
        telling.mark(orders.as_str());
        let told = telling.end();
        assert_eq!(telling, Told::default());
        let is_strangers = |mark: &Mark, name: &str| {
            told.as_ref().is_some_and(|told| told.is_strangers(mark, |table| table == name))
        };
        assert!(is_strangers(&people, "public.people"), "a trigger of the orders");
        assert!(!is_strangers(&orders, "public.orders"));
        assert!(!is_strangers(&people, "public.others"));
    }

    #[test]
    fn what_has_no_name_is_any_table_without_a_mark() {
        let (people, orders) = (Mark::of("people"), Mark::of("orders"));
        let mut telling = Told::default();
        assert_eq!(telling.end(), None, "nothing is changed");
        telling.mark(orders.as_str());
        telling.change_more();
        let told = telling.end();
        let is_strangers = |mark: &Mark| told.as_ref().is_some_and(|told| told.is_strangers(mark, |_| false));
        assert!(is_strangers(&people) && !is_strangers(&orders));
    }
}
