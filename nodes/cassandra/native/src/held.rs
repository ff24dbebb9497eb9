//! Acknowledgements that wait until lease holders know what they acknowledge.

use std::collections::VecDeque;

use lacuna_node_filters::{Barrier, Node};

/// Tickets of waiting acknowledgements, in the order of their barriers.
#[derive(Debug, Default)]
pub(crate) struct Held {
    waiting: VecDeque<(i64, Barrier)>,
    last: i64,
}

impl Held {
    /// A ticket for an acknowledgement that may not leave yet; 0 if it may leave at once.
    pub(crate) fn hold(&mut self, node: &Node, now: u64) -> i64 {
        let barrier = node.barrier();
        if node.may_acknowledge(now, barrier) {
            return 0;
        }
        self.last += 1;
        self.waiting.push_back((self.last, barrier));
        self.last
    }

    /// All tickets up to this one may leave.
    pub(crate) fn released(&mut self, node: &Node, now: u64) -> i64 {
        // Barriers only grow: an acknowledgement that may not leave holds all later ones.
        while self.waiting.front().is_some_and(|(_, barrier)| node.may_acknowledge(now, *barrier)) {
            self.waiting.pop_front();
        }
        self.waiting.front().map_or(self.last, |(ticket, _)| ticket - 1)
    }
}
