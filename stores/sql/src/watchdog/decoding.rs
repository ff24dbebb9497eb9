//! The log of PostgreSQL, decoded by `test_decoding`, which comes with the server.
//!
//! ```text
//! BEGIN 745
//! message: transactional: 1 prefix: lacuna, sz: 0 content:
//! table public.people: UPDATE: id[bigint]:7 age[integer]:21
//! COMMIT 745
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use lacuna_core::{Error, ErrorKind, Result};

use super::transaction::Telling;
use super::{Journal, Strangers};
use crate::database::{Database, Dialect, Failure, Later, open_alone};
use crate::sql_value::SqlValue;
use crate::statement::Statement;

/// So much of a line has every name of a table in it, and few of the values behind.
const LINE: usize = 600;
/// Lines at once, and what their transactions have beyond.
const LINES: usize = 10_000;

/// A slot that lives as long as its connection.
#[derive(Debug)]
pub(super) struct Decoding {
    /// One connection.
    database: Arc<dyn Database>,
    slot: String,
    telling: Telling,
}

fn error(failure: Failure) -> Error {
    failure.error
}

impl Decoding {
    pub(super) async fn open(url: &str) -> Result<Self> {
        let database = open_alone(url).await?;
        let found = database.query(&Statement::new("SELECT current_setting('wal_level')")).await;
        let level = found.map_err(error)?;
        if level.first().and_then(|row| row.first()) != Some(&SqlValue::Text("logical".to_owned())) {
            let message = format!(
                "a watchdog needs a PostgreSQL server with wal_level = logical, and a user with REPLICATION; it is {level:?}"
            );
            return Err(Error::invalid_input(message));
        }
        Ok(Self { database, slot: String::new(), telling: Telling::default() })
    }

    async fn make_slot(&mut self) -> Result<()> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| Error::unavailable(error.to_string()))?;
        let slot = format!("lacuna_{:016x}", u64::from_le_bytes(bytes));
        if !self.slot.is_empty() {
            // The connection may be the same, as only a query took too long.
            let drop_it = "SELECT pg_drop_replication_slot(slot_name)::text FROM pg_replication_slots WHERE slot_name = $1";
            drop(self.database.query(&Statement::new(drop_it).with(self.slot.as_str())).await);
        }
        let make =
            "SELECT slot_name::text FROM pg_create_logical_replication_slot($1, 'test_decoding', true)";
        self.database.query(&Statement::new(make).with(slot.as_str())).await.map_err(error)?;
        (self.slot, self.telling) = (slot, Telling::default());
        Ok(())
    }

    async fn read(&mut self) -> Result<Strangers> {
        let sql = format!(
            "SELECT left(data, {LINE}) FROM pg_logical_slot_get_changes($1, NULL, {LINES}, 'include-timestamp', 'off')"
        );
        let statement = Statement::new(sql).with(self.slot.as_str());
        let mut strangers = Strangers::none();
        loop {
            let lines = self.database.query(&statement).await.map_err(error)?;
            for line in lines.iter().filter_map(|row| row.first()) {
                if let SqlValue::Text(line) = line {
                    hear(&mut self.telling, line, &mut strangers);
                }
            }
            if lines.len() < LINES {
                return Ok(strangers);
            }
        }
    }
}

impl Journal for Decoding {
    fn begin(&mut self) -> Later<'_, Result<()>> {
        Box::pin(self.make_slot())
    }

    fn strangers(&mut self) -> Later<'_, Result<Strangers>> {
        Box::pin(self.read())
    }
}

fn hear(telling: &mut Telling, line: &str, strangers: &mut Strangers) {
    if line.starts_with("COMMIT") {
        telling.end(strangers);
    } else if line.starts_with("message: transactional: 1 prefix: lacuna,") {
        telling.mark();
    } else if let Some(rest) = line.strip_prefix("table ") {
        let tables = tables_of(rest);
        if tables.is_empty() {
            *strangers = Strangers::ChangedAny;
        }
        tables.into_iter().for_each(|table| telling.change(table));
    }
}

/// The names before the first colon that is in none of them; none if that is not there.
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

/// The table, and all that inherit from it: partitions, too.
pub(super) async fn names(database: &dyn Database, table: &str) -> Result<BTreeSet<String>> {
    let sql = "WITH RECURSIVE family (id) AS (SELECT to_regclass($1)::oid \
               UNION SELECT inhrelid FROM pg_inherits JOIN family ON inhparent = family.id) \
               SELECT quote_ident(nspname) || '.' || quote_ident(relname), relpersistence = 'u' FROM family \
               JOIN pg_class ON pg_class.oid = family.id JOIN pg_namespace ON pg_namespace.oid = relnamespace";
    let quoted = Dialect::Postgres.quoted(table);
    let found = database.query(&Statement::new(sql).with(quoted.as_str())).await.map_err(error)?;
    let mut names = BTreeSet::new();
    for row in &found {
        match &row[..] {
            [SqlValue::Text(name), SqlValue::Integer(0)] => names.insert(name.clone()),
            _ => {
                let message =
                    format!("{table} is an unlogged table: no log tells a watchdog who writes to it");
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        };
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Strangers {
        let (mut telling, mut strangers) = (Telling::default(), Strangers::none());
        lines.iter().for_each(|line| hear(&mut telling, line, &mut strangers));
        strangers
    }

    fn changed(names: &[&str]) -> Strangers {
        Strangers::Changed(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn a_transaction_without_a_mark_is_a_strangers() {
        let (begin, mark) = ("BEGIN 7", "message: transactional: 1 prefix: lacuna, sz: 0 content:");
        let row = "table public.people: UPDATE: id[bigint]:7 age[integer]:21";
        assert_eq!(told(&[begin, row, "COMMIT 7"]), changed(&["public.people"]));
        assert_eq!(told(&[begin, mark, row, "COMMIT 7"]), changed(&[]));
        assert_eq!(told(&[begin, row, mark, "COMMIT 7"]), changed(&[]));
        assert_eq!(
            told(&[begin, mark, row, "COMMIT 7", "BEGIN 8", row, "COMMIT 8"]),
            changed(&["public.people"])
        );
        assert_eq!(told(&[begin, row]), changed(&[]), "it may have a mark yet");
        let others = "message: transactional: 1 prefix: lacunae, sz: 0 content:";
        assert_eq!(told(&[begin, others, row, "COMMIT 7"]), changed(&["public.people"]));
    }

    #[test]
    fn names_with_all_kinds_of_letters_are_found() {
        assert_eq!(tables_of("public.people: INSERT: name[text]:'a: b'"), ["public.people"]);
        let several = "public.people, \"My: s\".\"a, \"\"b\"\": c\": TRUNCATE: (no-flags)";
        assert_eq!(tables_of(several), ["public.people", "\"My: s\".\"a, \"\"b\"\": c\""]);
        assert!(tables_of("public.\"cut").is_empty());
        assert_eq!(told(&["BEGIN 7", "table public.\"cut"]), Strangers::ChangedAny);
    }
}
