//! A watched table and all whose rows are its own: partitions, and whatever inherits from it.
//!
//! Who takes a part away from it, or puts another table in its place, changes its rows without a row in the log. So the tables are
//! compared with what they were at the look before. With `people` of two parts and then of one, the alarm is raised; and a change of
//! the part that is gone is still one of `people`, as it may have come before it went.

use std::collections::BTreeSet;

use super::Families;
use super::transaction::Told;
use crate::sql::database::Mark;

/// A table whose rows are those of a watched one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    /// As the log has it.
    pub(super) name: String,
    /// Other words after each definition.
    pub(super) definition: String,
    /// Whether the log tells who changes it.
    pub(super) is_logged: bool,
    /// Whether it is the watched table, and no part of it.
    pub(super) is_itself: bool,
}

/// What there is to know of a watched table.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    mark: Mark,
    members: BTreeSet<Member>,
    /// Names at the look before.
    former: BTreeSet<String>,
}

impl Family {
    /// `None` if the table is not among them.
    pub(super) fn of(members: BTreeSet<Member>) -> Option<Self> {
        let itself = members.iter().find(|member| member.is_itself)?;
        Some(Self { mark: Mark::of(&itself.name), members, former: BTreeSet::new() })
    }

    /// By which its caches are known. It stays the same however the table is called later.
    pub(crate) fn mark(&self) -> Mark {
        self.mark.clone()
    }

    /// Takes it as it is now. Whether it is another than before.
    pub(super) fn renew(&mut self, members: BTreeSet<Member>) -> bool {
        let is_other = self.members != members;
        let former = std::mem::replace(&mut self.members, members);
        self.former = former.into_iter().map(|member| member.name).collect();
        is_other
    }

    /// Whether nobody can tell who changes it: it is gone, or a part of it is in no log.
    pub(super) fn is_unseen(&self) -> bool {
        self.members.is_empty() || self.members.iter().any(|member| !member.is_logged)
    }

    fn has(&self, table: &str) -> bool {
        self.former.contains(table) || self.members.iter().any(|member| member.name == table)
    }
}

/// Those of the tables that the transaction is a stranger's to.
pub(super) fn touched(watched: &Families, told: &Told) -> BTreeSet<String> {
    let is_touched = |family: &Family| told.is_strangers(&family.mark, |table| family.has(table));
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

    fn changing(table: &str) -> Told {
        let mut telling = Told::default();
        telling.change(table);
        telling.end().unwrap()
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
