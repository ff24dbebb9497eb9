//! Six nodes that hold partitions by number, and the work that a query takes.

use std::cell::RefCell;

use lacuna_base::hash::IntegerHasher;
use lacuna_base::{AlignedBytes, Budget, BuildPlan, DynFilter, Result, SortedKeys, U64Range};
use lacuna_node_filters::{Asked, Config, Consistency, Decision, Deletion, Mode, NodeId, Plan, Question};

use crate::node_costs::{Circle, TABLE, partition};
use lacuna_bench::BenchKey as _;

/// Nodes of the paper's cluster.
pub(super) const NODES: u8 = 6;
/// False positive rate of node filters.
const RATE: f64 = 0.01;
/// Bits per key of a Bloom filter of that rate.
const BLOOM_BITS: f64 = 9.6;

/// The state of a partition. Partitions of the three states alternate by number, so that no filter distinguishes them
/// by their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Present,
    Deleted,
    Absent,
}

/// How the coordinator, node 0, answers a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Default,
    NodeBloom,
    NodeCuckoo,
}

/// The work of queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Effort {
    /// Messages to another node that ask for rows.
    pub(super) requests: u64,
    /// Partitions looked for in files, rows or tombstones.
    pub(super) reads: u64,
}

/// The nodes, each with every sixth partition of each state.
pub(super) struct ModelCluster {
    circle: RefCell<Circle>,
    blooms: Vec<Box<DynFilter<u64>>>,
    /// Partitions of each state.
    pub(super) count: u64,
    hasher: IntegerHasher,
}

impl ModelCluster {
    /// `count` present partitions and as many deleted ones, both rounded up to a multiple of the nodes.
    pub(super) fn try_new(count: usize, seed: u64) -> Result<Self> {
        let nodes = u64::from(NODES);
        let count = (count as u64).next_multiple_of(nodes);
        let mut circle = Circle::new(NODES, Config::new(Mode::Safe), 2 * count / nodes, RATE);
        let deletion = Deletion { time: 1, newest_in_files: None, newest_in_memory: None };
        for index in 0..count {
            let [present, deleted] = [State::Present, State::Deleted].map(|state| number(state, index));
            let node = &mut circle.nodes[owner(present)];
            node.load(TABLE, partition(present), None);
            node.load(TABLE, partition(deleted), None);
            node.bury(TABLE, partition(deleted), deletion);
        }
        circle.set_ready();
        (0..3).for_each(|_| circle.pass_interval());
        let blooms = (0..nodes).map(|node| {
            let indices = (node..count).step_by(NODES.into());
            bloom(
                indices
                    .flat_map(|index| [number(State::Present, index), number(State::Deleted, index)])
                    .collect(),
                seed,
            )
        });
        let blooms = blooms.collect::<Result<_>>()?;
        Ok(Self { circle: RefCell::new(circle), blooms, count, hasher: IntegerHasher::new(seed) })
    }

    /// Some partition in this state, at the coordinator or at another node.
    pub(super) fn draw(&self, state: State, is_remote: bool, query: u64) -> u64 {
        let nodes = u64::from(NODES);
        let drawn = self.hasher.hash(query);
        let owner = if is_remote { 1 + drawn % (nodes - 1) } else { 0 };
        number(state, (drawn >> 8) % (self.count / nodes) * nodes + owner)
    }

    /// Adds what a query of one partition takes.
    pub(super) fn ask(&self, way: Way, number: u64, effort: &mut Effort) {
        let node = owner(number);
        let in_bloom = self.blooms[node].may_contain_range(U64Range::point(number));
        let is_skipped = match way {
            Way::Default => false,
            Way::NodeBloom => node != 0 && !in_bloom,
            Way::NodeCuckoo => self.is_empty(number),
        };
        if !is_skipped {
            effort.requests += u64::from(node != 0);
            effort.reads += u64::from(in_bloom);
        }
    }

    fn is_empty(&self, number: u64) -> bool {
        let replicas = [NodeId(owner(number) as u128)];
        let key = Asked { partition: partition(number), slice: None, replicas: &replicas };
        let question = Question {
            table: TABLE,
            plan: Plan::Partitions,
            consistency: Consistency::One,
            is_first_page: true,
            is_available: true,
            keys: &[key],
        };
        let circle = self.circle.borrow();
        circle.nodes[0].decide(circle.now, &question) == Decision::Empty
    }
}

/// The partition in this state with this index.
pub(super) fn number(state: State, index: u64) -> u64 {
    3 * index + state as u64
}

fn owner(number: u64) -> usize {
    usize::try_from(number / 3 % u64::from(NODES)).expect("less than the nodes")
}

fn bloom(numbers: Vec<u64>, seed: u64) -> Result<Box<DynFilter<u64>>> {
    let plan = BuildPlan::new(Budget::bits_per_key(BLOOM_BITS)?).with_seed(seed);
    let sealed = u64::spec("bloom")?.build(SortedKeys::integers(&numbers)?, &plan)?;
    lacuna_families::open::<u64, AlignedBytes>(sealed.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_filter_that_forgets_skips_the_deleted() {
        let cluster = ModelCluster::try_new(6_000, 7).expect("it is built");
        let effort = |way, state, is_remote| {
            let mut effort = Effort::default();
            (0..1_000).for_each(|query| cluster.ask(way, cluster.draw(state, is_remote, query), &mut effort));
            effort
        };
        for state in [State::Present, State::Deleted] {
            assert_eq!(effort(Way::Default, state, true), Effort { requests: 1_000, reads: 1_000 });
            assert_eq!(effort(Way::NodeBloom, state, true), Effort { requests: 1_000, reads: 1_000 });
        }
        assert_eq!(effort(Way::NodeCuckoo, State::Present, true), Effort { requests: 1_000, reads: 1_000 });
        assert_eq!(effort(Way::NodeCuckoo, State::Deleted, true), Effort::default());
        assert_eq!(effort(Way::NodeCuckoo, State::Deleted, false), Effort::default());
        for way in [Way::NodeBloom, Way::NodeCuckoo] {
            let wrong = effort(way, State::Absent, true).requests;
            assert!((1..50).contains(&wrong), "{way:?}: {wrong}, seed 7");
        }
        assert_eq!(effort(Way::Default, State::Absent, true).requests, 1_000);
    }
}
