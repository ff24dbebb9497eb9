//! The order of writes: writes that touch the same entry, and writes that wait for a slow store.
//!
//! Two writes of disjoint intervals may touch one entry: that of `[18, 22]` shows the rows 19 and 21. If both hid
//! it at the same time, neither would know its value after both, and the entry would be lost; under many writes most
//! entries would be. So the second write waits until the first has updated the entry. It waits before it has
//! hidden anything, so that no two wait for each other.
//!
//! Buffered writes that come faster than the store takes them would occupy ever more memory and make misses wait
//! ever longer. So once [`Config::max_buffered`](crate::Config::max_buffered) are in progress, further writes wait
//! in a queue and are admitted in the order in which they came.
//!
//! Report, section 4; it lets a write take its entries over or back off, and does not treat a store that is too
//! slow for long.

use std::collections::{BTreeMap, VecDeque};

use super::{Owner, TaskId};
use crate::config::Application;
use crate::message::{RequestId, Write, WriteOutcome};
use crate::query::Query;

/// Writes that wait for something other than their lease.
#[derive(Debug, Clone, Default)]
pub(super) struct Turns {
    /// Hidden entries, and the write that will show them again.
    hidden: BTreeMap<Query, TaskId>,
    /// Writes that have their lease and wait for an entry.
    behind: Vec<TaskId>,
    /// Writes that wait for the store to catch up, and since when.
    door: VecDeque<(u64, RequestId, Write)>,
}

impl Turns {
    /// Gives a write all of its entries, or queues it.
    pub(super) fn take(&mut self, task: TaskId, queries: &[Query]) -> bool {
        if queries.iter().any(|query| self.hidden.contains_key(query)) {
            self.behind.push(task);
            return false;
        }
        self.hidden.extend(queries.iter().map(|query| (query.clone(), task)));
        true
    }

    /// Whether no write waits for the store.
    pub(super) fn is_door_empty(&self) -> bool {
        self.door.is_empty()
    }
}

impl<A: Application> Owner<A> {
    /// A write is over: the writes that waited for its entries try again, the oldest first.
    pub(super) fn next_turn(&mut self, task: TaskId) {
        let held = self.turns.hidden.len();
        self.turns.hidden.retain(|_, holder| *holder != task);
        if self.turns.hidden.len() < held {
            for waiting in std::mem::take(&mut self.turns.behind) {
                self.write_granted(waiting);
            }
        }
        self.open_door();
    }

    /// Whether a write has to wait for the store. An unbuffered write waits for it anyway.
    fn is_door_shut(&self) -> bool {
        self.is_buffering() && self.buffered.len() + self.writes.len() >= self.config.max_buffered
    }

    /// Admits a write, or queues it after the writes that wait.
    pub(super) fn come_in(&mut self, request: RequestId, write: Write) {
        self.turns.door.push_back((self.now, request, write));
        self.open_door();
    }

    /// Admits as many writes as there is room for.
    pub(super) fn open_door(&mut self) {
        while !self.is_door_shut()
            && let Some((_, request, write)) = self.turns.door.pop_front()
        {
            self.begin_write(request, write);
        }
    }

    /// Refuses writes that have waited for `patience`; they were not executed.
    pub(super) fn send_away_from_door(&mut self, patience: u64) {
        while let Some((since, ..)) = self.turns.door.front()
            && self.now - since >= patience
            && let Some((_, request, _)) = self.turns.door.pop_front()
        {
            self.answer_write(request, WriteOutcome::Retry);
        }
    }
}
