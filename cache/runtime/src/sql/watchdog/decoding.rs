//! The log of PostgreSQL, decoded by `test_decoding`, which is part of the server, for a slot that ends with its
//! connection.
//!
//! A look reads lines (`lines.rs`), then the catalogue (`catalogue.rs`), then which transactions are not visible
//! yet (`pending.rs`). The order matters: a part that was written to is in the catalogue, and the commit of a
//! transaction whose lock is gone was read before.

use std::collections::BTreeSet;
use std::sync::Arc;

use lacuna_cache_protocol::{Error, Result};

use super::family::touched;
use super::lines::Lines;
use super::pending::Pending;
use super::{Families, Journal, catalogue, few_rows};
use crate::sql::database::{Database, Later, open_alone};

/// Bytes of a line that are read: enough for every table name in it, with few of the values after it. A mark of
/// the longest names of a schema and a table takes 572.
const LINE: usize = 600;
/// Lines in one read, and the further lines of their transactions.
const LINES: usize = 10_000;
/// Looks between two alarms of a table with a part that is not logged: about a second.
const UNSEEN: u64 = 10;
/// Numbers of transactions that are not visible yet.
const LOCKS: &str = "SELECT transactionid::text FROM pg_locks WHERE locktype = 'transactionid'";

/// A slot that lives as long as its connection.
#[derive(Debug)]
pub(super) struct Decoding {
    /// One connection.
    database: Arc<dyn Database>,
    slot: String,
    lines: Lines,
    pending: Pending,
    looks: u64,
}

impl Decoding {
    pub(super) async fn open(url: &str) -> Result<Self> {
        let database = open_alone(url).await?;
        let level = few_rows(&*database, "SELECT current_setting('wal_level')").await?.concat();
        let level: String = level.into_iter().flatten().collect();
        if level != "logical" {
            let message = format!(
                "a watchdog needs a PostgreSQL server with wal_level = logical, and a user with REPLICATION; it is {level}"
            );
            return Err(Error::invalid_input(message));
        }
        let slot = new_slot()?;
        let make = format!(
            "SELECT slot_name::text FROM pg_create_logical_replication_slot('{slot}', 'test_decoding', true)"
        );
        few_rows(&*database, &make).await?;
        let (lines, pending) = (Lines::default(), Pending::default());
        Ok(Self { database, slot, lines, pending, looks: 0 })
    }

    async fn decode(&mut self) -> Result<bool> {
        let sql = format!(
            "SELECT xid::text, left(data, {LINE}) \
             FROM pg_logical_slot_get_changes('{}', NULL, {LINES}, 'include-timestamp', 'off')",
            self.slot
        );
        let (mut count, lines) = (0, &mut self.lines);
        let mut hear = |row: &[Option<String>]| -> Result<()> {
            let [Some(xid), Some(line)] = row else {
                return Err(Error::unavailable(format!("a line of the log has an unknown form: {row:?}")));
            };
            lines.hear(xid, line);
            count += 1;
            Ok(())
        };
        self.database.each_row(&sql, &mut hear).await?;
        Ok(count >= LINES)
    }

    async fn look(&mut self, watched: &mut Families) -> Result<BTreeSet<String>> {
        let mut found = self.defined(watched).await?;
        for (logged, xids) in self.lines.take() {
            let tables = touched(watched, &logged);
            if !tables.is_empty() {
                xids.into_iter().for_each(|xid| self.pending.add(xid, tables.clone()));
            }
        }
        if !self.pending.is_empty() {
            let locked = few_rows(&*self.database, LOCKS).await?.concat();
            found.extend(self.pending.shown(&locked.into_iter().flatten().collect()));
        }
        Ok(found)
    }

    /// Tables with a new definition, or whose foreign writes cannot be detected.
    async fn defined(&mut self, watched: &mut Families) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        if watched.is_empty() {
            return Ok(found);
        }
        let tables: Vec<String> = watched.keys().cloned().collect();
        let mut members = catalogue::members(&*self.database, &tables).await?;
        self.looks += 1;
        let is_their_turn = self.looks.is_multiple_of(UNSEEN);
        for (table, family) in watched {
            let is_other = family.renew(members.remove(table).unwrap_or_default());
            if is_other || (is_their_turn && family.is_unseen()) {
                found.insert(table.clone());
            }
        }
        Ok(found)
    }
}

impl Journal for Decoding {
    fn read(&mut self) -> Later<'_, Result<bool>> {
        Box::pin(self.decode())
    }

    fn touched<'a>(&'a mut self, watched: &'a mut Families) -> Later<'a, Result<BTreeSet<String>>> {
        Box::pin(self.look(watched))
    }
}

/// A name that no other slot has.
fn new_slot() -> Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| Error::unavailable(error.to_string()))?;
    Ok(format!("lacuna_{:016x}", u64::from_le_bytes(bytes)))
}
