//! How writers of PostgreSQL hold a fence without sharing a lock.
//!
//! A row that several transactions lock for sharing costs PostgreSQL a multixact for each of them, and a server that
//! runs out of multixacts stops. So each range has [`COUNT`] rows in `lacuna_slot` with the epoch of its fence. A write
//! locks one of them for itself, another write at the same time another one; raising the fence changes all of them,
//! and so waits for every write under way. A write that comes later finds the new epoch, whatever its snapshot is.
//!
//! Other databases need none of this: MariaDB shares locks in memory, SQLite has one writer.

use std::sync::{Mutex, PoisonError};

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{Epoch, RangeId};

use super::row::integer;
use crate::sql::database::{Database, Dialect, Failure, Table, Transaction};
use crate::sql::own_tables::ensure;
use crate::sql::statement::Statement;

/// Rows of a range: writes of one process at a time that do not wait for each other's locks.
const COUNT: u32 = 32;

/// Makes the table of slots, where the database needs one.
pub(super) async fn prepare(database: &dyn Database) -> Result<()> {
    if !database.dialect().has_slots() {
        return Ok(());
    }
    let sql = "CREATE TABLE IF NOT EXISTS lacuna_slot (range_id INTEGER NOT NULL, slot INTEGER NOT NULL, \
               epoch BIGINT NOT NULL, PRIMARY KEY (range_id, slot))";
    ensure(database, "lacuna_slot", sql).await
}

/// Gives all slots of a range the epoch that its fence has been raised to in this transaction, whose row lock keeps
/// other owners away.
pub(crate) async fn raise_slots(
    open: &mut dyn Transaction,
    dialect: Dialect,
    range: RangeId,
    epoch: Epoch,
) -> Result<(), Failure> {
    if !dialect.has_slots() {
        return Ok(());
    }
    let values = [i64::from(range.0).into(), integer(epoch.0), i64::from(COUNT - 1).into()];
    let sql = "INSERT INTO lacuna_slot (range_id, slot, epoch) SELECT {}, n, {} FROM generate_series(0, {}) n \
               ON CONFLICT (range_id, slot) DO UPDATE SET epoch = EXCLUDED.epoch";
    open.execute(&dialect.statement(sql, &values)).await.map(drop)
}

/// The query of the epoch under a lock on one of the free slots, without waiting; if all are held, as
/// they are while a fence is raised, on the last.
///
/// Transactions of other processes than the owner's do not know which slots its writes hold. These take the slots from
/// the first on.
pub(super) async fn free_slot(
    open: &mut dyn Transaction,
    dialect: Dialect,
    shown: &str,
    range: RangeId,
) -> Result<Table, Failure> {
    let epoch =
        format!("SELECT epoch{shown} FROM lacuna_slot WHERE range_id = {{}} AND slot >= {{}} FOR UPDATE");
    let among = |slots: u32| [i64::from(range.0).into(), i64::from(slots).into()];
    let sql = epoch.replace(" FOR UPDATE", " ORDER BY slot LIMIT 1 FOR UPDATE SKIP LOCKED");
    let free = open.query(&dialect.statement(&sql, &among(COUNT / 2))).await?;
    if !free.is_empty() {
        return Ok(free);
    }
    open.query(&dialect.statement(&epoch, &among(COUNT - 1))).await
}

/// The slots that writes of this process hold.
#[derive(Debug, Default)]
pub(crate) struct Slots(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// A bit for each slot that is held.
    held: u32,
    /// Where the next write waits if all are.
    next: u32,
}

/// A slot, free again when dropped.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    slots: &'a Slots,
    pub(super) number: u32,
    is_shared: bool,
}

impl Slots {
    /// A free slot, or else one whose lock has to be waited for.
    pub(super) fn take(&self) -> Slot<'_> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = state.held.trailing_ones();
        if free < COUNT {
            state.held |= 1 << free;
            return Slot { slots: self, number: free, is_shared: false };
        }
        state.next = (state.next + 1) % COUNT;
        Slot { slots: self, number: state.next, is_shared: true }
    }
}

#[cfg(test)]
impl Slots {
    /// Whether no write holds one.
    pub(super) fn are_free(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).held == 0
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if !self.is_shared {
            let mut state = self.slots.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.held &= !(1 << self.number);
        }
    }
}

impl Dialect {
    /// Whether writers hold the fence by slots.
    pub(crate) fn has_slots(self) -> bool {
        self == Self::Postgres
    }
}

impl Slot<'_> {
    /// The query of the epoch, under a lock of this write alone.
    pub(super) fn query(&self, dialect: Dialect, shown: &str, range: RangeId) -> Statement {
        let sql =
            format!("SELECT epoch{shown} FROM lacuna_slot WHERE range_id = {{}} AND slot = {{}} FOR UPDATE");
        dialect.statement(&sql, &[i64::from(range.0).into(), i64::from(self.number).into()])
    }
}

#[cfg(test)]
mod slot_tests {
    use super::*;

    #[test]
    fn writes_at_once_hold_different_slots() {
        let slots = Slots::default();
        let held: Vec<Slot<'_>> = (0..COUNT).map(|_| slots.take()).collect();
        let mut numbers: Vec<u32> = held.iter().map(|slot| slot.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), COUNT as usize);
        let late = slots.take();
        assert!(late.is_shared && late.number < COUNT, "one more waits");
        drop(late);
        let freed = held[5].number;
        drop(held);
        assert!((0..=freed).any(|_| slots.take().number <= freed), "slots are free again");
        assert_eq!(slots.take().number, 0);
    }
}
