//! Nodes that exchange their filters within one process.

use std::time::Duration;

use lacuna_node_filters::{Config, Node, NodeId};

use super::TABLE;
use lacuna_bench::harness::WorkClock;

/// Steps of an interval in which nodes look at their clocks.
const STEPS: u64 = 10;

/// The bytes that a node sent and received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes that left it.
    pub sent: usize,
    /// Bytes that reached it.
    pub received: usize,
}

/// Some nodes, each a peer of all others, with one table. Messages arrive at once and none is lost.
#[derive(Debug)]
pub struct Circle {
    /// The nodes; the first is `NodeId(0)`.
    pub nodes: Vec<Node>,
    /// Milliseconds on the clock of all nodes.
    pub now: u64,
    interval: u64,
    traffic: Vec<Traffic>,
    work: Duration,
}

impl Circle {
    /// `count` nodes, whose filters are made for `capacity` keys each at a false positive rate of `rate`.
    pub(crate) fn new(count: u8, config: Config, capacity: u64, rate: f64) -> Self {
        let ids = (0..count).map(|id| NodeId(u128::from(id)));
        let mut nodes: Vec<Node> = ids.clone().map(|id| Node::new(id, config, 1, 0)).collect();
        for node in &mut nodes {
            node.set_ring(1, ids.clone());
            node.create_table(TABLE, capacity, rate, None);
        }
        let traffic = vec![Traffic::default(); nodes.len()];
        // Past the longest lease of a life before this one.
        Self { nodes, now: 10_000, interval: config.interval, traffic, work: Duration::ZERO }
    }

    /// Sends every node's filter to every other node.
    pub(crate) fn set_ready(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.set_ready(TABLE));
    }

    /// Lets an interval pass, in which each node asks every other once.
    pub(crate) fn pass_interval(&mut self) {
        for _ in 0..STEPS {
            self.now += self.interval / STEPS;
            let clock = WorkClock::start();
            self.nodes.iter_mut().for_each(|node| node.tick(self.now));
            self.settle();
            self.work += clock.elapsed();
        }
    }

    /// Carries messages until no node has any.
    pub(crate) fn settle(&mut self) {
        while (0..self.nodes.len()).map(|from| self.carry(from)).sum::<usize>() > 0 {}
    }

    fn carry(&mut self, from: usize) -> usize {
        let outbox = self.nodes[from].take_outbox();
        for (to, bytes) in &outbox {
            let to = usize::try_from(to.0).expect("ids count from 0");
            self.traffic[from].sent += bytes.len();
            self.traffic[to].received += bytes.len();
            let sender = self.nodes[from].id();
            self.nodes[to].receive(self.now, sender, bytes);
        }
        outbox.len()
    }

    /// The bytes that each node sent and received since the last call, and the time that all of them worked for it.
    pub(crate) fn take_traffic(&mut self) -> (Vec<Traffic>, Duration) {
        let traffic = self.traffic.iter_mut().map(std::mem::take).collect();
        (traffic, std::mem::take(&mut self.work))
    }
}
