//! Which keys are leaves of their own.
//!
//! Two neighbours part at a branch, after the bits that they share. The branches of all pairs are the nodes of a binary trie, and the bits
//! between a branch and the one above it are an edge. Where an edge is too long for the branches below it, these are left out: all keys
//! there are one leaf, which is cut a few bits after the branch above.

/// A leaf: its first key, and the bits that this shares with those of the leaves before and after; 0 at either end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) key: usize,
    pub(super) before: u32,
    pub(super) after: u32,
}

impl Leaf {
    /// Its bits.
    pub(super) fn bits(self, cut: Cut) -> u32 {
        leaf_bits(self.before, self.after, cut.tail, cut.max_bits)
    }
}

/// The bits of a leaf that shares `before` and `after` bits with its neighbours.
#[inline(always)]
pub(super) fn leaf_bits(before: u32, after: u32, tail: u32, max_bits: u32) -> u32 {
    before.max(after).saturating_add(1).saturating_add(tail).min(max_bits)
}

/// No branch above.
const NONE: u32 = u32::MAX;

/// How a trie is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Bits that an edge may have for each branch below it.
    pub(super) edge: u32,
    /// Bits of a leaf after its branch. Edges of no more bits stay, so that all keys of a leaf share its bits.
    pub(super) tail: u32,
    /// Most bits of a leaf.
    pub(super) max_bits: u32,
}

/// For each pair of neighbours that share these bits, whether their branch stays. Keys that share the most bits are one.
pub(super) fn branches(shared: &[u16], cut: Cut) -> Vec<bool> {
    let Cut { edge, tail, max_bits } = cut;
    let nodes = nodes(shared);
    // For each branch whether it stays, as far as that is known.
    let mut stays: Vec<Option<bool>> = vec![None; shared.len()];
    let mut path = Vec::new();
    for start in 0..shared.len() {
        let mut branch = start;
        while stays[branch].is_none() && nodes[branch].above != NONE {
            path.push(branch);
            branch = nodes[branch].above as usize;
        }
        let mut above_stays = *stays[branch].get_or_insert(u32::from(shared[branch]) < max_bits);
        while let Some(below) = path.pop() {
            let Node { above, count } = nodes[below];
            let length = u32::from(shared[below]) - u32::from(shared[above as usize]) - 1;
            let is_short = length <= edge.saturating_mul(count).max(tail);
            above_stays &= is_short && u32::from(shared[below]) < max_bits;
            stays[below] = Some(above_stays);
        }
    }
    stays.into_iter().map(|stays| stays == Some(true)).collect()
}

/// A branch: the next one above it, and how many there are from it on downwards.
#[derive(Debug, Clone, Copy)]
struct Node {
    above: u32,
    count: u32,
}

/// For each branch the nearest on either side that share fewer bits: the one of them that shares more is above it, and all between
/// them are below it.
fn nodes(shared: &[u16]) -> Vec<Node> {
    let number = |branch: usize| u32::try_from(branch).expect("fewer than 2^32 keys");
    let mut nodes: Vec<Node> = Vec::with_capacity(shared.len());
    let mut open: Vec<usize> = Vec::new();
    // The nearest before that shares fewer bits is in `above` while a branch is open, and its number plus one in `count`.
    let close = |nodes: &mut Vec<Node>, branch: usize, end: usize, bits_at_end: Option<u16>| {
        let Node { above, count: first } = nodes[branch];
        let is_at_end = bits_at_end.is_some_and(|bits| above == NONE || shared[above as usize] < bits);
        nodes[branch] =
            Node { above: if is_at_end { number(end) } else { above }, count: number(end) - first };
    };
    for (branch, &bits) in shared.iter().enumerate() {
        while let Some(last) = open.pop_if(|last| shared[*last] > bits) {
            close(&mut nodes, last, branch, Some(bits));
        }
        let before = match open.last() {
            // Keys that are the same share as many bits with the next.
            Some(&last) if shared[last] == bits => nodes[last],
            Some(&last) => Node { above: number(last), count: number(last) + 1 },
            None => Node { above: NONE, count: 0 },
        };
        nodes.push(before);
        open.push(branch);
    }
    open.into_iter().for_each(|branch| close(&mut nodes, branch, shared.len(), None));
    nodes
}

/// The leaves of keys of which neighbours share `shared` bits, where the branches that `stay` do.
pub(super) fn leaves<'a>(shared: &'a [u16], stay: &'a [bool]) -> impl Iterator<Item = Leaf> + 'a {
    let mut branches = stay.iter().enumerate().filter(|(_, stays)| **stays).map(|(branch, _)| branch);
    let mut last = Some((0, 0));
    std::iter::from_fn(move || {
        let (key, before) = last?;
        let next = branches.next();
        last = next.map(|branch| (branch + 1, u32::from(shared[branch])));
        Some(Leaf { key, before, after: last.map_or(0, |(_, bits)| bits) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four bits: 0001, 0100, 0101, 1110.
    #[test]
    fn leaves_are_cut_after_their_branches() {
        let shared = [1, 3, 0];
        let cut = Cut { edge: 4, tail: 0, max_bits: 4 };
        let stay = branches(&shared, cut);
        let found: Vec<Leaf> = leaves(&shared, &stay).collect();
        let bits: Vec<u32> = found.iter().map(|leaf| leaf.bits(cut)).collect();
        assert_eq!((bits, found.len()), (vec![2, 4, 4, 1], 4));
    }

    #[test]
    fn what_is_below_a_long_edge_is_one_leaf() {
        // Keys 2 to 4 share 40 bits and more, and the branch above is at 7.
        let shared = [5, 2, 40, 44, 7, 3];
        let stay = branches(&shared, Cut { edge: 15, tail: 31, max_bits: 64 });
        assert_eq!(stay, [true, true, false, false, true, true]);
        let keys: Vec<usize> = leaves(&shared, &stay).map(|leaf| leaf.key).collect();
        assert_eq!(keys, [0, 1, 2, 5, 6]);
        assert_eq!(
            branches(&shared, Cut { edge: 15, tail: 32, max_bits: 64 }),
            [true; 6],
            "no longer than a tail"
        );
        // The edge of 32 bits has two branches below.
        assert_eq!(branches(&shared, Cut { edge: 16, tail: 0, max_bits: 64 }), [true; 6]);
        assert!(
            branches(&[9, 64, 64, 12], Cut { edge: 64, tail: 9, max_bits: 64 }) == [true, false, false, true],
            "the same keys"
        );
    }

    /// Against the definition, by the bits themselves.
    #[test]
    fn branches_above_are_the_deepest_that_hold_both() {
        let hasher = lacuna_base::hash::IntegerHasher::new(9);
        for round in 0..200u64 {
            let mut keys: Vec<u64> = (0..40).map(|n| hasher.hash(round * 100 + n) >> (n % 5 * 11)).collect();
            keys.sort_unstable();
            keys.dedup();
            let lcp = |a: u64, b: u64| u16::try_from((a ^ b).leading_zeros()).expect("at most 64");
            let shared: Vec<u16> = keys.windows(2).map(|pair| lcp(pair[0], pair[1])).collect();
            let [edge, tail] = [round % 5, round % 7].map(|bits| u32::try_from(bits).expect("small"));
            for (branch, stays) in branches(&shared, Cut { edge, tail, max_bits: 64 }).into_iter().enumerate()
            {
                let holds = |above: usize, below: usize| {
                    let (lo, hi) = (above.min(below), above.max(below));
                    shared[lo..=hi].iter().min() == Some(&shared[above])
                };
                // All branches on the way from the root to this one.
                let mut way: Vec<usize> = (0..shared.len()).filter(|&other| holds(other, branch)).collect();
                way.sort_unstable_by_key(|&other| shared[other]);
                let expected = way.windows(2).all(|pair| {
                    let count = (0..shared.len()).filter(|&other| holds(pair[1], other)).count();
                    let length = u32::from(shared[pair[1]] - shared[pair[0]]) - 1;
                    length <= tail.max(edge * u32::try_from(count).expect("few"))
                });
                assert_eq!(stays, expected, "branch {branch} of {shared:?}, edge {edge}");
            }
        }
    }
}
