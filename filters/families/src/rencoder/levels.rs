//! Which levels to store: the paper's section 3.3, by counting instead of trying.
//!
//! Level l of the tree of all prefixes has a node for each distinct `key >> l`. Two neighbouring keys that first differ
//! in bit b share all nodes above level b, so one pass that counts the first differing bits gives the number of nodes
//! of every level. The share of ones follows: with B bits set among m at random it is `1 - e^(-B/m)`. So the levels
//! that algorithm 5 of the paper finds by inserting, counting ones and inserting again are known beforehand.

use super::codec::Levels;
use super::lines::Lines;

/// Algorithm 5 stops this close to half ones.
pub(crate) const THRESHOLD: f64 = 0.05;

/// Number of nodes on every level.
#[derive(Debug, Clone)]
pub(crate) struct NodeCounts {
    /// Pairs of neighbouring keys by the number of bits from the first that differs to the last.
    differing: [u64; 65],
    nodes: [u64; 65],
}

impl NodeCounts {
    /// Counts in one pass over ascending distinct `keys`.
    pub(crate) fn of(keys: &[u64]) -> Self {
        let mut differing = [0; 65];
        for pair in keys.windows(2) {
            differing[bit_length(pair[0] ^ pair[1])] += 1;
        }
        Self::from_differing(differing)
    }

    /// Counts pairs of neighbours, each of which stands for `weight` of all pairs.
    pub(crate) fn of_pairs(pairs: impl Iterator<Item = (u64, u64)>, weight: f64) -> Self {
        let mut differing = [0u64; 65];
        pairs.for_each(|(key, next)| differing[bit_length(key ^ next)] += 1);
        #[expect(clippy::cast_possible_truncation, reason = "at most the number of keys")]
        let weighted = differing.map(|count| (count as f64 * weight).round() as u64);
        Self::from_differing(weighted)
    }

    fn from_differing(differing: [u64; 65]) -> Self {
        let mut nodes = [1; 65];
        for level in (0..64).rev() {
            nodes[level] = nodes[level + 1] + differing[level + 1];
        }
        Self { differing, nodes }
    }

    /// Distinct `key >> level`.
    pub(crate) fn nodes(&self, level: u32) -> u64 {
        self.nodes[level.min(64) as usize]
    }

    /// The highest level whose nodes distinguish all keys.
    pub(crate) fn telling_level(&self) -> u32 {
        let shortest = (1..=64u32).find(|&length| self.differing[length as usize] > 0);
        shortest.unwrap_or(64) - 1
    }

    /// Bits that one hash function sets for the mini-trees with these levels. Levels of a mini-tree share a line, so
    /// one with many nodes sets fewer bits than it has nodes.
    pub(crate) fn tree_bits(&self, levels: Levels, room: Room) -> f64 {
        let trees = self.nodes(levels.low + room.tree_levels) as f64;
        let line_bits = room.lines.line_bits();
        let zeros = (levels.low..levels.low + levels.count).fold(1.0, |zeros, level| {
            zeros * (1.0 - (self.nodes(level) as f64 / trees / line_bits).min(1.0))
        });
        trees * line_bits * (1.0 - zeros)
    }

    /// Expected share of ones with `levels` under `hash_count` functions.
    pub(crate) fn share_of_ones(&self, levels: Levels, hash_count: u32, room: Room) -> f64 {
        let bits: f64 = levels.groups(room.tree_levels).map(|group| self.tree_bits(group, room)).sum();
        share_of_ones(bits * f64::from(hash_count), room.lines.bits())
    }
}

/// The space to fill: lines, with mini-trees of this many levels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) lines: Lines,
    pub(crate) tree_levels: u32,
}

impl Levels {
    /// The levels of each group of mini-trees, from the lowest.
    pub(crate) fn groups(self, tree_levels: u32) -> impl Iterator<Item = Self> {
        let end = self.low + self.count;
        let lows = (self.low..end).step_by(tree_levels as usize);
        lows.map(move |low| Self { low, count: tree_levels.min(end - low) })
    }
}

/// Number of bits from the first one to the last; 0 for 0.
pub(crate) fn bit_length(word: u64) -> usize {
    (u64::BITS - word.leading_zeros()) as usize
}

/// The order in which levels are stored while there is room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LevelOrder {
    /// From this level upwards.
    Up(u32),
    /// From this level downwards; when the lowest is stored, upwards from above it.
    DownThenUp(u32),
}

impl LevelOrder {
    /// The level stored `step`-th, from 0; `None` when all are stored.
    pub(crate) fn level(self, step: u32) -> Option<u32> {
        match self {
            Self::Up(first) => Some(first + step),
            Self::DownThenUp(first) if step <= first => Some(first - step),
            Self::DownThenUp(_) => Some(step),
        }
        .filter(|&level| level < u64::BITS)
    }

    /// The first `count` levels.
    pub(crate) fn first(self, count: u32) -> Levels {
        let low = match self {
            Self::Up(first) => first,
            Self::DownThenUp(first) => (first + 1).saturating_sub(count),
        };
        Levels { low, count }
    }

    /// The first `count` levels, or all if there are fewer.
    pub(crate) fn at_most(self, count: u32) -> Levels {
        let there_are = |&count: &u32| self.level(count - 1).is_some();
        self.first((1..=count).rev().find(there_are).unwrap_or(1))
    }

    /// Stores level after level until the share of ones reaches half, less [`THRESHOLD`].
    pub(crate) fn until_half(self, counts: &NodeCounts, hash_count: u32, room: Room) -> Levels {
        self.until(counts, hash_count, room, 0.5 - THRESHOLD)
    }

    /// Stores level after level, at least one, until the share of ones reaches `share`.
    pub(crate) fn until(self, counts: &NodeCounts, hash_count: u32, room: Room, share: f64) -> Levels {
        let mut nodes = 0.0;
        let mut count = 0;
        while let Some(level) = self.level(count) {
            nodes += f64::from(hash_count) * counts.nodes(level) as f64;
            count += 1;
            // The first comparison is cheap and never too early.
            let nearly = share_of_ones(nodes, room.lines.bits()) >= share;
            if nearly && counts.share_of_ones(self.first(count), hash_count, room) >= share {
                break;
            }
        }
        self.first(count)
    }
}

/// Expected share of ones after setting `set_bits` random ones of `bits`.
fn share_of_ones(set_bits: f64, bits: f64) -> f64 {
    1.0 - libm::exp(-set_bits / bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_levels_than_there_are() {
        assert_eq!(LevelOrder::Up(60).at_most(8), Levels { low: 60, count: 4 });
        assert_eq!(LevelOrder::Up(3).at_most(8), Levels { low: 3, count: 8 });
        assert_eq!(LevelOrder::DownThenUp(5).at_most(4), Levels { low: 2, count: 4 });
        assert_eq!(LevelOrder::DownThenUp(5).at_most(64), Levels { low: 0, count: 64 });
    }

    /// The spec's number reaches the header.
    #[test]
    fn a_given_number_of_levels_is_stored() {
        use lacuna_base::{Budget, BuildPlan, FilterSpec, SortedKeys};

        let keys: Vec<u64> = (0..1_000).map(|place| place << 40).collect();
        let plan = BuildPlan::<u64>::new(Budget::bits_per_key(14.0).expect("in range"));
        for levels in [1, 5, 20] {
            let spec = crate::RencoderSpec::new().with_stored_levels(levels).with_hash_count(2);
            let sealed = spec.build(SortedKeys::integers(&keys).expect("ascending"), &plan).expect("fits");
            assert_eq!(u32::from(sealed.payload()[15]), levels);
        }
    }
}
