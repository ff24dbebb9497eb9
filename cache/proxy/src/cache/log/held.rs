//! Transactions that have committed, and that reads may not show yet.

use std::time::Duration;

use tokio::time::Instant;

use super::snapshots::Snapshot;
use crate::cache::results::Hold;

/// Pause before the first look at transactions, most of which have ended by then.
const SETTLED: Duration = Duration::from_micros(200);
/// Pause between two looks.
pub(super) const SETTLING: Duration = Duration::from_millis(2);

#[derive(Debug, Default)]
pub(super) struct Held {
    transactions: Vec<Transaction>,
    /// Columns that were registered, each until the transactions below this number have ended.
    registrations: Vec<(u64, Hold)>,
    due: Option<Instant>,
}

#[derive(Debug)]
struct Transaction {
    number: u32,
    hold: Hold,
    defines: bool,
}

impl Held {
    /// Keeps what a transaction has touched; `defines` if it has changed definitions.
    pub(super) fn add(&mut self, number: u32, hold: Hold, defines: bool) {
        self.transactions.push(Transaction { number, hold, defines });
        self.due.get_or_insert_with(|| Instant::now() + SETTLED);
    }

    /// Keeps a column that was registered before the transaction of this number.
    pub(super) fn add_registration(&mut self, number: u64, hold: Hold) {
        self.registrations.push((number, hold));
        self.due.get_or_insert_with(|| Instant::now() + SETTLED);
    }

    /// Whether one of them has changed definitions.
    pub(super) fn defines(&self) -> bool {
        self.transactions.iter().any(|held| held.defines)
    }

    /// When it is looked whether they have ended.
    pub(super) const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Takes out the holds of transactions that have ended, and of columns that had to wait for some.
    pub(super) fn settled(&mut self, snapshot: &Snapshot) -> Vec<Hold> {
        let ended = self.transactions.extract_if(.., |held| snapshot.has_ended(held.number));
        let mut holds: Vec<Hold> = ended.map(|held| held.hold).collect();
        let registered = self.registrations.extract_if(.., |(number, _)| snapshot.is_past(*number));
        holds.extend(registered.map(|(_, hold)| hold));
        let is_empty = self.transactions.is_empty() && self.registrations.is_empty();
        self.due = (!is_empty).then(|| Instant::now() + SETTLING);
        holds
    }

    /// All holds.
    pub(super) fn all(self) -> impl Iterator<Item = Hold> {
        let transactions = self.transactions.into_iter().map(|held| held.hold);
        transactions.chain(self.registrations.into_iter().map(|(_, hold)| hold))
    }
}
