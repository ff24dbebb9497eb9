//! Parses the events of MariaDB's binary log.
//!
//! ```text
//! Gtid           BEGIN GTID 0-1-5
//! Annotate_rows  /* lacuna 746573742e70656f706c65 */ UPDATE people SET age = 21 WHERE id = 7 ...
//! Table_map      table_id: 18 (test.people)
//! Update_rows_v1 table_id: 18 flags: STMT_END_F
//! Xid            COMMIT /* xid=9 */
//! ```
//!
//! A table has a `Table_map` as soon as a statement may change it, by a trigger for example; changed rows refer to
//! it by its number.

use std::collections::{BTreeMap, BTreeSet};

use lacuna_cache_protocol::{Error, Result};

use super::transaction::LoggedTransaction;
use crate::sql::database::MARK;

/// Statements that create tables of a cache do not create other tables.
const OWN_TABLES: &str = "CREATE TABLE IF NOT EXISTS lacuna_";

/// A position in the log.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) position: u64,
}

/// Reads events from a position on, and keeps the names of changed tables for each transaction.
#[derive(Debug, Default)]
pub(super) struct Events {
    place: Place,
    open: LoggedTransaction,
    /// Tables of the transaction by their numbers.
    tables: BTreeMap<String, String>,
    ended: BTreeSet<LoggedTransaction>,
}

impl Events {
    /// Starts after the end of a transaction.
    pub(super) fn behind(place: Place) -> Self {
        Self { place, ..Self::default() }
    }

    /// The position of the next event.
    pub(super) const fn place(&self) -> &Place {
        &self.place
    }

    /// The transactions that have ended since the last call.
    pub(super) fn take(&mut self) -> BTreeSet<LoggedTransaction> {
        std::mem::take(&mut self.ended)
    }

    /// Reads an event that ends at a position.
    pub(super) fn hear(&mut self, kind: &str, words: &str, end: u64) -> Result<()> {
        self.place.position = end;
        match kind {
            "Gtid" => self.begin(),
            "Annotate_rows" => self.mark(words),
            "Table_map" => self.name(words),
            "Xid" => self.end(),
            "Query" | "Query_compressed" => self.hear_statement(without_database(words)),
            "Rotate" => match next_file(words) {
                Some(file) => self.place = Place { file, position: 4 },
                None => {
                    return Err(Error::unavailable(format!("the log does not name its next file: {words}")));
                }
            },
            // The server has stopped; later writes are in another file.
            "Stop" => return Err(Error::unavailable("the log has ended")),
            "Format_desc" | "Gtid_list" | "Binlog_checkpoint" | "Start_encryption" | "Intvar" | "RAND"
            | "User var" => {}
            rows if rows.contains("_rows") => self.change(words),
            // Unknown events of a newer server.
            _ => self.end_unnamed(),
        }
        Ok(())
    }

    fn hear_statement(&mut self, words: &str) {
        match words {
            "BEGIN" => {}
            // Changes that cannot be undone are in the log before a `ROLLBACK`.
            "COMMIT" | "ROLLBACK" => self.end(),
            words if is_of_savepoints(words) || words.starts_with(OWN_TABLES) => {}
            // A statement that is logged as text, such as `TRUNCATE`.
            words => {
                self.mark(words);
                self.end_unnamed();
            }
        }
    }

    fn begin(&mut self) {
        self.open = LoggedTransaction::default();
        self.tables.clear();
    }

    fn mark(&mut self, words: &str) {
        mark_of(words).into_iter().for_each(|signs| self.open.mark(signs));
    }

    fn name(&mut self, words: &str) {
        match (number_of(words), table_of(words)) {
            (Some(number), Some(table)) => drop(self.tables.insert(number.to_owned(), table)),
            _ => self.open.change_more(),
        }
    }

    fn change(&mut self, words: &str) {
        match number_of(words).and_then(|number| self.tables.get(number)) {
            Some(table) => self.open.change(table),
            None => self.open.change_more(),
        }
    }

    fn end(&mut self) {
        self.ended.extend(self.open.end());
    }

    fn end_unnamed(&mut self) {
        self.open.change_more();
        self.end();
    }
}

/// The signs of the mark at the start of a statement.
fn mark_of(words: &str) -> Option<&str> {
    let rest = words.strip_prefix("/* ")?.strip_prefix(MARK)?.strip_prefix(' ')?;
    rest.split_once(" */").map(|(signs, _)| signs)
}

/// The statement without its database: ``use `test`; TRUNCATE people`` is `TRUNCATE people`.
fn without_database(words: &str) -> &str {
    let rest = words.strip_prefix("use ").and_then(|rest| rest.split_once("; "));
    rest.map_or(words, |(_, statement)| statement)
}

/// Whether a statement sets a savepoint, or rolls back to one: it does not end the transaction.
fn is_of_savepoints(words: &str) -> bool {
    let mut words = words.split_ascii_whitespace();
    let first = words.next().unwrap_or("");
    first.eq_ignore_ascii_case("SAVEPOINT")
        || (first.eq_ignore_ascii_case("ROLLBACK") && words.any(|word| word.eq_ignore_ascii_case("TO")))
}

/// `table_id: 18 (test.people)` and `table_id: 18 flags: STMT_END_F` have `18`.
fn number_of(words: &str) -> Option<&str> {
    words.strip_prefix("table_id: ")?.split_ascii_whitespace().next()
}

/// `table_id: 18 (test.people)` has `test.people`. In lower case, as a server may be set to have no other.
fn table_of(words: &str) -> Option<String> {
    let (_, name) = words.split_once('(')?;
    Some(name.strip_suffix(')')?.to_lowercase())
}

/// `log.000002;pos=4` has `log.000002`.
fn next_file(words: &str) -> Option<String> {
    words.split_once(";pos=").map(|(file, _)| file.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test panics")]
mod tests {
    use super::*;
    use crate::sql::database::Mark;

    const BEGIN: (&str, &str) = ("Gtid", "BEGIN GTID 0-1-5");
    const END: (&str, &str) = ("Xid", "COMMIT /* xid=9 */");
    const PEOPLE: (&str, &str) = ("Table_map", "table_id: 18 (test.People)");
    const ROWS: (&str, &str) = ("Update_rows_v1", "table_id: 18 flags: STMT_END_F");
    const THEIRS: (&str, &str) = ("Annotate_rows", "UPDATE people SET age = 22");

    fn by_cache(table: &str) -> String {
        format!("/* lacuna {} */ UPDATE people SET age = 21", Mark::of(table).as_str())
    }

    /// Whether one of the transactions is foreign to a table.
    fn touches(table: &str, events: &[(&str, &str)]) -> bool {
        let mut log = Events::default();
        events.iter().for_each(|(kind, words)| log.hear(kind, words, 7).unwrap());
        log.take().iter().any(|logged| logged.is_foreign(&Mark::of(table), |name| name == table))
    }

    #[test]
    fn a_transaction_without_the_mark_of_the_table_is_a_strangers() {
        let (people, orders) = (by_cache("test.people"), by_cache("test.orders"));
        let (ours, others) = (("Annotate_rows", people.as_str()), ("Annotate_rows", orders.as_str()));
        let is_found = |events: &[(&str, &str)]| touches("test.people", events);
        assert!(is_found(&[BEGIN, THEIRS, PEOPLE, ROWS, END]));
        assert!(!is_found(&[BEGIN, ours, PEOPLE, ROWS, END]));
        assert!(!is_found(&[BEGIN, THEIRS, PEOPLE, ROWS, ours, PEOPLE, ROWS, END]));
        assert!(is_found(&[BEGIN, ours, PEOPLE, ROWS, END, BEGIN, THEIRS, PEOPLE, ROWS, END]));
        assert!(!is_found(&[BEGIN, PEOPLE, ROWS]), "it may have a mark yet");
        assert!(is_found(&[BEGIN, others, PEOPLE, ROWS, END]), "by a trigger");
        let inside = format!("UPDATE people SET note = '{people}'");
        assert!(
            is_found(&[BEGIN, ("Annotate_rows", inside.as_str()), PEOPLE, ROWS, END]),
            "a mark in a text"
        );
    }

    #[test]
    fn tables_count_by_the_rows_that_are_changed() {
        let orders = ("Table_map", "table_id: 19 (test.orders)");
        let is_found = |events: &[(&str, &str)]| touches("test.people", events);
        let of_orders = ("Write_rows_compressed_v1", "table_id: 19 flags: STMT_END_F");
        assert!(!is_found(&[BEGIN, THEIRS, orders, PEOPLE, of_orders, END]), "a trigger that did nothing");
        assert!(is_found(&[BEGIN, THEIRS, orders, PEOPLE, of_orders, ROWS, END]));
        assert!(is_found(&[BEGIN, THEIRS, orders, ROWS, END]), "a number without a table");
    }

    #[test]
    fn what_is_told_by_its_words_may_change_any_table() {
        let truncation = ("Query", "use `test`; TRUNCATE others");
        let is_found = |events: &[(&str, &str)]| touches("test.people", events);
        assert!(is_found(&[("Gtid", "GTID 0-1-6"), truncation]));
        assert!(is_found(&[("Unheard_of", "")]) && is_found(&[("Query", "XA PREPARE 'a'")]));
        let (ours, orders) = (by_cache("test.people"), by_cache("test.orders"));
        assert!(!is_found(&[("Query", ours.as_str())]) && is_found(&[("Query", orders.as_str())]));
        let own = "use `test`; CREATE TABLE IF NOT EXISTS lacuna_fence (range_id INTEGER)";
        assert!(!is_found(&[("Gtid", "GTID 0-1-7"), ("Query", own)]));
    }

    #[test]
    fn savepoints_end_no_transaction() {
        let people = by_cache("test.people");
        let (ours, savepoint) = (("Annotate_rows", people.as_str()), ("Query", "SAVEPOINT `a`"));
        let is_found = |events: &[(&str, &str)]| touches("test.people", events);
        for back in ["ROLLBACK TO a", "rollback work to savepoint `a`"] {
            let back = ("Query", back);
            assert!(!is_found(&[BEGIN, THEIRS, savepoint, back, END]), "it changes nothing");
            assert!(!is_found(&[BEGIN, PEOPLE, ROWS, savepoint, back, ours, PEOPLE, ROWS, END]));
            assert!(is_found(&[BEGIN, THEIRS, PEOPLE, ROWS, savepoint, back, END]));
        }
        assert!(is_found(&[BEGIN, THEIRS, PEOPLE, ROWS, ("Query", "ROLLBACK")]), "it cannot be undone");
    }

    #[test]
    fn the_log_goes_on_in_the_next_file() {
        let mut log = Events::behind(Place { file: "log.000001".to_owned(), position: 300 });
        log.hear("Xid", "COMMIT", 400).unwrap();
        assert_eq!(*log.place(), Place { file: "log.000001".to_owned(), position: 400 });
        log.hear("Rotate", "log.000002;pos=4", 440).unwrap();
        assert_eq!(*log.place(), Place { file: "log.000002".to_owned(), position: 4 });
        assert!(log.hear("Stop", "", 30).is_err());
    }
}
