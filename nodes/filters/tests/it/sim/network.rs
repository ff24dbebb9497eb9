//! Messages on their way: late, lost, repeated, overtaken.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use lacuna_node_filters::Side;
use lacuna_workload::Rng;

use super::heads::Head;

/// An operation of a client on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Write,
    Delete,
}

#[derive(Debug, Clone)]
pub(crate) enum Letter {
    /// A node's own clock.
    Alarm,
    /// Between node filters.
    Frame(Vec<u8>),
    /// To a node itself: the next piece of what frames have left to do.
    Work,
    /// From a client to a coordinator: number of the operation.
    Begin {
        operation: u64,
    },
    /// From a coordinator to a replica.
    Apply {
        operation: u64,
        key: u64,
        change: Change,
        time: u64,
        ring: u64,
    },
    Acknowledge {
        operation: u64,
    },
    /// A forwarded read: what a replica learns by it.
    Look {
        first: u64,
        last: u64,
    },
    /// Rows that a read has not found: a replica tries to prove that it has none there.
    Prove {
        first: u64,
        last: u64,
    },
    /// Rows from an end of a partition on: a replica tries to prove that those up to its first live one are dead.
    ProveEnd {
        first: u64,
        side: Side,
    },
    /// From a client to a coordinator: a read that began at a time, of the partition of a first key, from one end on.
    ReadHead {
        first: u64,
        side: Side,
        began: u64,
    },
    /// The part of it that a replica is asked for.
    LookBeyond {
        head: Head,
        from: usize,
    },
    /// The replica's answer.
    Head {
        head: Head,
    },
    /// A replica's proof is read, and counts from now on.
    Conclude,
    /// From a client to a coordinator: a read that began at a time, of one key or of rows.
    Read {
        first: u64,
        last: u64,
        began: u64,
    },
}

#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) letter: Letter,
}

#[derive(Debug, Default)]
pub(crate) struct Network {
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    posts: BTreeMap<u64, Post>,
    next: u64,
    /// Of a thousand letters, how many are lost, repeated, late.
    pub(crate) trouble: u64,
}

impl Network {
    pub(crate) fn send(&mut self, now: u64, rng: &mut Rng, from: usize, to: usize, letter: Letter) {
        let copies = match rng.below(1_000) {
            dice if dice < self.trouble => 0,
            dice if dice < 2 * self.trouble => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let is_late = rng.below(1_000) < self.trouble;
            let delay = 1 + rng.below(12) + if is_late { rng.below(1_500) } else { 0 };
            self.send_at(now + delay, from, to, letter.clone());
        }
    }

    pub(crate) fn send_at(&mut self, time: u64, from: usize, to: usize, letter: Letter) {
        self.posts.insert(self.next, Post { from, to, letter });
        self.queue.push(Reverse((time, self.next)));
        self.next += 1;
    }

    /// The next letter, and when it arrives.
    pub(crate) fn next(&mut self) -> (u64, Post) {
        let Reverse((time, number)) = self.queue.pop().unwrap();
        (time, self.posts.remove(&number).unwrap())
    }
}
