//! How often an empty query would be answered "maybe": section 4 of the paper, without building.
//!
//! A leaf of the range is a false positive if all stored nodes on its path are set by chance, up to the first that also
//! holds a key: that is theorem 4's distance, and for queries far from all keys all stored levels. The paths of one
//! dyadic node share their upper part; lemma 1's recursion `a(n+1) = 2 q a(n) - q^2 a(n)^2` with `q` the chance of one
//! node says how much rarer a surviving path is than the number of leaves suggests. A query's rate is the sum over its
//! dyadic cover.
//!
//! One thing the paper leaves out: the levels of a mini-tree lie in one line, and lines are not equally full. So the
//! chance of c levels is not the c-th power of the mean share of ones but the mean of the c-th powers over the lines.

use super::codec::{Levels, Ones};
use super::levels::{NodeCounts, Room, bit_length};
use crate::estimate::{NORMAL, power};
use crate::statistics::EmptyQuery;

/// Dyadic nodes beyond which a query is taken to be a "maybe".
pub(crate) const MAX_NODES: u64 = 256;

/// The parameters that decide the rate of a design.
#[derive(Debug, Clone)]
pub(crate) struct RateModel {
    levels: Levels,
    /// Chance that this many levels above a leaf, the leaf's own included, are all set.
    pub(crate) path: Vec<f64>,
    /// For each height, the leaves below a node, as many fewer as a surviving one is rarer than their expected number.
    leaves: Vec<f64>,
}

/// Mean over all lines of the `levels`-th power of their share of ones.
fn mean_power(ones: Ones, levels: u32) -> f64 {
    let lines = NORMAL.iter().map(|(place, weight)| {
        let share = (ones.mean + place * ones.deviation).clamp(0.0, 1.0);
        weight * power(share, levels)
    });
    lines.sum()
}

impl RateModel {
    /// The model of a filter with these ones.
    pub(crate) fn new(levels: Levels, hash_count: u32, tree_levels: u32, ones: Ones) -> Self {
        let in_tree: Vec<f64> =
            (0..=tree_levels).map(|count| power(mean_power(ones, count), hash_count)).collect();
        let whole = in_tree[tree_levels as usize];
        let path = (0..=levels.count)
            .map(|count| power(whole, count / tree_levels) * in_tree[(count % tree_levels) as usize])
            .collect();
        let node = power(ones.mean, hash_count);
        Self { levels, path, leaves: thinned_leaves(node, levels.count) }
    }

    /// Chance of a "maybe".
    pub(crate) fn rate(&self, query: EmptyQuery) -> f64 {
        let Levels { low, count } = self.levels;
        let mut from = query.lo >> low;
        // Leaves of the query that are still to come, but for one.
        let mut more = (query.hi >> low) - from;
        if more >> (count - 1) >= MAX_NODES {
            return 1.0;
        }
        let (below, above) = (Side::of(query.below, low), Side::of(query.above, low));
        let mut leaves = 0.0;
        loop {
            // The largest dyadic node of a stored level that starts here and ends within the query.
            let fitting = more.saturating_add(1);
            let height = (from | 1 << (count - 1)).trailing_zeros().min(fitting.ilog2());
            // Nodes of the highest level that follow it are as far from all keys.
            let nodes = if height == count - 1 { fitting >> height } else { 1 };
            let last = from + ((nodes - 1) << height);
            // The shorter of two paths has the smaller difference.
            let nearest = bit_length(below.differs(from).min(above.differs(last)));
            if nearest <= height as usize {
                return 1.0;
            }
            leaves += nodes as f64 * self.path[nearest.min(count as usize)] * self.leaves[height as usize];
            let behind = nodes << height;
            if more < behind {
                return 1.0 - libm::exp(-leaves);
            }
            from += behind;
            more -= behind;
        }
    }

    /// Chance of a "maybe" for a query of this many nodes of the highest stored level, far from all keys.
    pub(crate) fn far_rate(&self, nodes: f64) -> f64 {
        let highest = self.levels.count as usize;
        1.0 - libm::exp(-nodes * self.path[highest] * self.leaves[highest - 1])
    }

    /// Mean rate over `queries`.
    pub(crate) fn mean_rate(&self, queries: &[EmptyQuery]) -> f64 {
        let sum: f64 = queries.iter().map(|&query| self.rate(query)).sum();
        sum / queries.len().max(1) as f64
    }
}

/// The key on one side of a query, if there is one.
#[derive(Clone, Copy)]
struct Side {
    leaf: u64,
    /// All ones if there is none.
    far: u64,
}

impl Side {
    fn of(key: Option<u64>, low: u32) -> Self {
        key.map_or(Self { leaf: 0, far: u64::MAX }, |key| Self { leaf: key >> low, far: 0 })
    }

    /// The bits in which it differs from `leaf`: all of them, if there is no key.
    fn differs(self, leaf: u64) -> u64 {
        (self.leaf ^ leaf) | self.far
    }
}

/// For each height below `count`: the leaves under a node, times the chance that a path below it survives over the expected
/// number of survivors.
fn thinned_leaves(node: f64, count: u32) -> Vec<f64> {
    let (mut survival, mut expected, mut leaves) = (1.0, 1.0, 1.0);
    let mut all = vec![1.0];
    for _ in 1..count {
        survival = 2.0 * node * survival - node * node * survival * survival;
        expected *= 2.0 * node;
        leaves *= 2.0;
        all.push(leaves * if expected > 0.0 { survival / expected } else { 1.0 });
    }
    all
}

/// The ones that a filter over keys with these nodes would have.
pub(crate) fn expected_ones(counts: &NodeCounts, levels: Levels, hash_count: u32, room: Room) -> Ones {
    let (line_bits, lines) = (room.lines.line_bits(), room.lines.count() as f64);
    let (mut load, mut variance) = (0.0, 0.0);
    for group in levels.groups(room.tree_levels) {
        let trees = f64::from(hash_count) * counts.nodes(group.low + room.tree_levels) as f64 / lines;
        let bits = f64::from(hash_count) * counts.tree_bits(group, room) / lines;
        load += bits;
        // The number of mini-trees in a line is a Poisson variable.
        variance += bits * bits / trees;
    }
    let zeros = libm::exp(-load / line_bits);
    Ones { mean: 1.0 - zeros, deviation: variance.sqrt() / line_bits * zeros }
}
