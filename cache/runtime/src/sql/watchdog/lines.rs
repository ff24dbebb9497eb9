//! Parses the lines of `test_decoding`.
//!
//! ```text
//! BEGIN 745
//! message: transactional: 1 prefix: lacuna, sz: 26 content:7075626c69632e70656f706c65
//! table public.people: UPDATE: id[bigint]:7 age[integer]:21
//! COMMIT 745
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::transaction::LoggedTransaction;
use crate::sql::database::MARK;

/// Ended transactions, and the numbers of those with the same content.
pub(super) type Ended = BTreeMap<LoggedTransaction, BTreeSet<String>>;

/// Reads lines, and keeps the names of changed tables for each transaction.
#[derive(Debug, Default)]
pub(super) struct Lines {
    open: LoggedTransaction,
    ended: Ended,
}

impl Lines {
    /// Reads a line of the transaction with this number. Only the part with names and marks is needed.
    pub(super) fn hear(&mut self, xid: &str, line: &str) {
        if line.starts_with("COMMIT") {
            if let Some(logged) = self.open.end() {
                self.ended.entry(logged).or_default().insert(xid.to_owned());
            }
        } else if let Some(rest) = line.strip_prefix("table ") {
            let tables = tables_of(rest);
            if tables.is_empty() {
                self.open.change_more();
            }
            tables.into_iter().for_each(|table| self.open.change(table));
        } else if let Some(signs) = mark_of(line) {
            self.open.mark(signs);
        }
    }

    /// The transactions that have ended since the last call.
    pub(super) fn take(&mut self) -> Ended {
        std::mem::take(&mut self.ended)
    }
}

/// The signs of the message that a cache has left.
fn mark_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("message: transactional: 1 prefix: ")?.strip_prefix(MARK)?;
    rest.strip_prefix(", sz: ")?.split_once(" content:").map(|(_, signs)| signs)
}

/// The names before the first colon outside of names; none if there is no such colon.
///
/// `public.people, public."a: b": TRUNCATE: (no-flags)` has `public.people` and `public."a: b"`.
fn tables_of(line: &str) -> Vec<&str> {
    let (mut tables, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (place, letter) in line.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' | ':' if !is_quoted => {
                tables.push(line[start..place].trim_start());
                start = place + 1;
                if letter == ':' {
                    return tables;
                }
            }
            _ => {}
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::database::Mark;

    const ROW: &str = "table public.people: UPDATE: id[bigint]:7 age[integer]:21";

    fn message(prefix: &str, table: &str) -> String {
        let mark = Mark::of(table);
        let signs = mark.as_str();
        format!("message: transactional: 1 prefix: {prefix}, sz: {} content:{signs}", signs.len())
    }

    fn logged(lines: &[&str]) -> Ended {
        let mut open = Lines::default();
        lines.iter().for_each(|line| open.hear("7", line));
        open.take()
    }

    fn is_foreign(lines: &[&str]) -> bool {
        let is_people = |table: &str| table == "public.people";
        logged(lines).keys().any(|logged| logged.is_foreign(&Mark::of("public.people"), is_people))
    }

    #[test]
    fn a_transaction_without_the_mark_of_the_table_is_a_strangers() {
        let (begin, end, mark) = ("BEGIN 7", "COMMIT 7", message(MARK, "public.people"));
        assert!(is_foreign(&[begin, ROW, end]));
        assert!(!is_foreign(&[begin, &mark, ROW, end]) && !is_foreign(&[begin, ROW, &mark, end]));
        assert!(is_foreign(&[begin, &mark, ROW, end, begin, ROW, end]), "it counts once");
        assert!(!is_foreign(&[begin, ROW]), "it may have a mark yet");
        assert!(is_foreign(&[begin, &message(MARK, "public.orders"), ROW, end]), "by a trigger");
        assert!(is_foreign(&[begin, &message("lacunae", "public.people"), ROW, end]), "somebody else's");
        let message = "message: transactional: 1 prefix: lacuna, sz: 0 content:";
        assert!(is_foreign(&[begin, message, ROW, end]), "no table is named");
        assert!(logged(&[begin, &mark, end]).is_empty(), "nothing is changed");
    }

    #[test]
    fn the_same_of_many_transactions_is_kept_once() {
        let mut lines = Lines::default();
        for xid in ["7", "8", "9"] {
            lines.hear(xid, "BEGIN");
            (0..1_000).for_each(|_| lines.hear(xid, ROW));
            lines.hear(xid, "COMMIT");
        }
        let ended = lines.take();
        let xids = BTreeSet::from(["7", "8", "9"].map(str::to_owned));
        assert_eq!(ended.into_values().collect::<Vec<_>>(), [xids]);
        assert!(lines.take().is_empty());
    }

    #[test]
    fn names_with_all_kinds_of_letters_are_found() {
        assert_eq!(tables_of("public.people: INSERT: name[text]:'a: b'"), ["public.people"]);
        let several = "public.people, \"My: s\".\"a, \"\"b\"\": c\": TRUNCATE: (no-flags)";
        assert_eq!(tables_of(several), ["public.people", "\"My: s\".\"a, \"\"b\"\": c\""]);
        assert!(tables_of("public.\"cut").is_empty());
        assert!(is_foreign(&["BEGIN 7", "table public.\"cut", "COMMIT 7"]), "it may be any");
    }
}
