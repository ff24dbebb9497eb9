//! A watched table and all tables whose rows belong to it: partitions, and tables that inherit from it.
//!
//! Detaching a part, or putting another table in its place, changes the rows of the table without a row in the
//! log. So the tables are compared with those of the previous look. If `people` had two parts and then has one,
//! the alarm is raised; and a change of the detached part still counts as one of `people`, as it may have happened
//! before.

use std::collections::BTreeSet;

use super::Families;
use super::transaction::LoggedTransaction;
use crate::sql::database::Mark;

/// A table whose rows belong to a watched one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    /// Its name in the log.
    pub(super) name: String,
    /// A text that changes with each definition.
    pub(super) definition: String,
    /// Whether the log shows who changes it.
    pub(super) is_logged: bool,
    /// Whether it is the watched table itself, not a part of it.
    pub(super) is_itself: bool,
}

/// Everything that is known of a watched table.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    mark: Mark,
    members: BTreeSet<Member>,
    /// Names at the previous look.
    former: BTreeSet<String>,
}

impl Family {
    /// `None` if the table is not among them.
    pub(super) fn of(members: BTreeSet<Member>) -> Option<Self> {
        let itself = members.iter().find(|member| member.is_itself)?;
        Some(Self { mark: Mark::of(&itself.name), members, former: BTreeSet::new() })
    }

    /// The mark by which its caches are recognized. It stays the same even if the table is renamed.
    pub(crate) fn mark(&self) -> Mark {
        self.mark.clone()
    }

    /// Stores the present tables; returns whether they differ from those before.
    pub(super) fn renew(&mut self, members: BTreeSet<Member>) -> bool {
        let is_other = self.members != members;
        let former = std::mem::replace(&mut self.members, members);
        self.former = former.into_iter().map(|member| member.name).collect();
        is_other
    }

    /// Whether foreign writes cannot be detected: the table is gone, or a part of it is not logged.
    pub(super) fn is_unseen(&self) -> bool {
        self.members.is_empty() || self.members.iter().any(|member| !member.is_logged)
    }

    fn has(&self, table: &str) -> bool {
        self.former.contains(table) || self.members.iter().any(|member| member.name == table)
    }
}

/// The tables for which the transaction is foreign.
pub(super) fn touched(watched: &Families, logged: &LoggedTransaction) -> BTreeSet<String> {
    let is_touched = |family: &Family| logged.is_foreign(&family.mark, |table| family.has(table));
    watched.iter().filter(|(_, family)| is_touched(family)).map(|(table, _)| table.clone()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use super::*;

    fn member(name: &str, definition: &str) -> Member {
        let is_itself = name == "public.people";
        Member { name: name.to_owned(), definition: definition.to_owned(), is_logged: true, is_itself }
    }

    fn people() -> BTreeSet<Member> {
        BTreeSet::from([member("public.people", "7 700"), member("public.low", "8 800 750")])
    }

    fn changing(table: &str) -> LoggedTransaction {
        let mut open = LoggedTransaction::default();
        open.change(table);
        open.end().unwrap()
    }

    #[test]
    fn another_definition_is_another_family() {
        let mut family = Family::of(people()).unwrap();
        assert!(!family.renew(people()), "nothing has changed");
        let rewritten = BTreeSet::from([member("public.people", "7 701"), member("public.low", "8 800 750")]);
        assert!(family.renew(rewritten.clone()) && !family.renew(rewritten));
        assert!(family.renew(people()), "a table in place of another");
        let detached = BTreeSet::from([member("public.people", "7 700")]);
        assert!(family.renew(detached) && !family.is_unseen());
        assert!(family.renew(BTreeSet::new()) && family.is_unseen(), "it is gone");
        assert_eq!(family.mark(), Mark::of("public.people"));
    }

    #[test]
    fn a_part_that_no_log_has_is_unseen() {
        let unlogged = Member { is_logged: false, ..member("public.low", "8 801 750") };
        let mut family = Family::of(people()).unwrap();
        assert!(!family.is_unseen());
        assert!(family.renew(BTreeSet::from([member("public.people", "7 700"), unlogged])));
        assert!(family.is_unseen());
        assert!(Family::of(BTreeSet::from([member("public.low", "8")])).is_none(), "a part alone");
    }

    #[test]
    fn changes_of_parts_are_found_until_the_look_after_they_went() {
        let mut watched = Families::from([("people".to_owned(), Family::of(people()).unwrap())]);
        let is_found =
            |watched: &Families, table: &str| touched(watched, &changing(table)).contains("people");
        assert!(is_found(&watched, "public.low") && !is_found(&watched, "public.others"));
        let alone = BTreeSet::from([member("public.people", "7 700")]);
        watched.get_mut("people").unwrap().renew(alone.clone());
        assert!(is_found(&watched, "public.low") && is_found(&watched, "public.people"));
        watched.get_mut("people").unwrap().renew(alone);
        assert!(!is_found(&watched, "public.low") && is_found(&watched, "public.people"));
    }
}
