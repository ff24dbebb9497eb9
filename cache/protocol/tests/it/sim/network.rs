//! Messages on their way: late, lost, or cut off by a restart.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use lacuna_cache_protocol::{
    CacheCall, CacheReply, CallId, Command, Epoch, LogCall, LogReply, PeerCall, PeerId, PeerReply, Query,
    RangeId, RangeTable, ReadOutcome, RequestId, StoreCall, StoreReply, Value, Write, WriteOutcome,
};
use lacuna_workload::Rng;

use super::coordinator::{Claim, Route};
use super::table::{Change, Row};
use super::transaction::Held;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Node {
    Client(usize),
    Dendrite(usize),
    Cache(usize),
    Log(usize),
    Store,
    Coordinator,
}

/// An owner and its call.
pub(crate) type From = (RangeId, Epoch, CallId);

#[derive(Debug, Clone)]
pub(crate) enum Message {
    AskRoute(RangeId, u64),
    Route(RangeId, u64, Option<Route>, Arc<RangeTable>),
    Redirect(u64, Arc<RangeTable>),
    Peer(RangeId, PeerId, CallId, PeerCall),
    PeerReply(From, PeerReply),
    StopRange(RangeId),
    Stopped(RangeId, Epoch),
    Verify(RangeId, Query, u64),
    Get(RangeId, Query, u64),
    Got(u64, Option<(Epoch, Option<Value>)>),
    /// Several entries, and the values of those that a flawed server has read already.
    GetTogether(RangeId, Vec<Query>, Vec<Option<Value>>, u64),
    GotTogether(u64, Vec<Query>, Option<(Epoch, Vec<Option<Value>>)>),
    Read(RangeId, Query, u64),
    ReadDone(u64, ReadOutcome),
    Write(RangeId, Write, u64),
    /// A client asks for a lease for a transaction.
    Hold(RangeId, Write, u64),
    HoldReady(u64, Held),
    HoldDone(RangeId, RequestId),
    Transaction(Vec<(RangeId, Epoch)>, Change, Command, u64),
    Committed(u64, StoreReply, Vec<Row>),
    WriteDone(u64, WriteOutcome),
    DirectQuery(Query, u64),
    DirectRows(u64, Value),
    Cache(From, CacheCall),
    CacheReply(From, CacheReply),
    Store(From, StoreCall),
    StoreReply(From, StoreReply),
    Log(From, LogCall),
    LogReply(From, LogReply),
    Claim(RangeId, Option<usize>),
    Claimed(RangeId, Claim),
    Renew(RangeId, Epoch),
    Renewed(RangeId, Epoch, bool, Arc<RangeTable>),
    /// A node's own clock.
    Alarm,
    /// A client goes on.
    Next,
}

#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) message: Message,
    /// Lives of both ends when it was sent: a connection does not outlive either.
    lives: (u32, u32),
}

#[derive(Debug, Default)]
pub(crate) struct Network {
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    on_the_way: BTreeMap<u64, Envelope>,
    lives: BTreeMap<Node, u32>,
    /// Links that carry nothing until then.
    cut: BTreeMap<(Node, Node), u64>,
    next: u64,
    pub(crate) lost: u64,
    pub(crate) late: u64,
    pub(crate) cut_off: u64,
    /// Percentages.
    pub(crate) loss: u64,
    pub(crate) delay: u64,
}

impl Network {
    pub(crate) fn send(&mut self, now: u64, rng: &mut Rng, from: Node, to: Node, message: Message) {
        let is_alarm = matches!(message, Message::Alarm);
        if !is_alarm && (rng.below(1_000) < self.loss || self.is_cut(now, from, to)) {
            self.lost += 1;
            return;
        }
        let mut delay = 1 + rng.below(15);
        if !is_alarm && rng.below(1_000) < self.delay {
            self.late += 1;
            delay += rng.below(1_500);
        }
        self.send_at(now + delay, from, to, message);
    }

    pub(crate) fn send_at(&mut self, time: u64, from: Node, to: Node, message: Message) {
        let lives = (self.life(from), self.life(to));
        self.on_the_way.insert(self.next, Envelope { from, to, message, lives });
        self.queue.push(Reverse((time, self.next)));
        self.next += 1;
    }

    /// Puts a message back for later, as its node is paused.
    pub(crate) fn hold(&mut self, time: u64, envelope: Envelope) {
        self.on_the_way.insert(self.next, envelope);
        self.queue.push(Reverse((time, self.next)));
        self.next += 1;
    }

    /// The next message that arrives, and when.
    pub(crate) fn next(&mut self) -> Option<(u64, Envelope)> {
        loop {
            let Reverse((time, number)) = self.queue.pop()?;
            let envelope = self.on_the_way.remove(&number).unwrap();
            if envelope.lives == (self.life(envelope.from), self.life(envelope.to)) {
                return Some((time, envelope));
            }
            self.cut_off += 1;
        }
    }

    fn life(&self, node: Node) -> u32 {
        self.lives.get(&node).copied().unwrap_or(0)
    }

    /// Ends all connections of a node.
    pub(crate) fn restart(&mut self, node: Node) {
        *self.lives.entry(node).or_default() += 1;
    }

    pub(crate) fn cut(&mut self, a: Node, b: Node, until: u64) {
        self.cut.insert((a, b), until);
        self.cut.insert((b, a), until);
    }

    fn is_cut(&self, now: u64, from: Node, to: Node) -> bool {
        self.cut.get(&(from, to)).is_some_and(|until| *until > now)
    }
}
