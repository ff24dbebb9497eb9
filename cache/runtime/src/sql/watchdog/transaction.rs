//! A transaction, read from the log step by step.

use std::collections::BTreeSet;

use crate::sql::database::Mark;

/// The summary of a transaction, however large it is.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LoggedTransaction {
    /// By their names in the log.
    tables: BTreeSet<String>,
    /// Signs of the tables that caches sent it to.
    marks: BTreeSet<String>,
    /// Whether it may change further, unknown tables.
    changes_more: bool,
}

impl LoggedTransaction {
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
        let logged = std::mem::take(self);
        (logged.changes_more || !logged.tables.is_empty()).then_some(logged)
    }

    /// Whether it changes a table with one of these names in the log, and no cache of the table sent it.
    pub(super) fn is_foreign(&self, mark: &Mark, is_named: impl Fn(&str) -> bool) -> bool {
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
        let mut open = LoggedTransaction::default();
        open.change("public.orders");
        open.change("public.people");
        open.mark(orders.as_str());
        let logged = open.end();
        assert_eq!(open, LoggedTransaction::default());
        let is_foreign = |mark: &Mark, name: &str| {
            logged.as_ref().is_some_and(|logged| logged.is_foreign(mark, |table| table == name))
        };
        assert!(is_foreign(&people, "public.people"), "a trigger of the orders");
        assert!(!is_foreign(&orders, "public.orders"));
        assert!(!is_foreign(&people, "public.others"));
    }

    #[test]
    fn what_has_no_name_is_any_table_without_a_mark() {
        let (people, orders) = (Mark::of("people"), Mark::of("orders"));
        let mut open = LoggedTransaction::default();
        assert_eq!(open.end(), None, "nothing is changed");
        open.mark(orders.as_str());
        open.change_more();
        let logged = open.end();
        let is_foreign =
            |mark: &Mark| logged.as_ref().is_some_and(|logged| logged.is_foreign(mark, |_| false));
        assert!(is_foreign(&people) && !is_foreign(&orders));
    }
}
