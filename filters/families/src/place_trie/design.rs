//! Which map, and which edges: by what the sampled queries share with the keys next to them.
//!
//! A query is a "maybe" if its first place shares all bits of a leaf with the key before it, or its last place with the key after it. How
//! many bits these leaves have follows from a few keys on either side. How large a trie is follows from runs of
//! neighbours from all over the set. So a design needs the places of some keys only.

use std::ops::Range;

use lacuna_base::{KeyStatistics, SortedKeys};

use super::codec::{BLOCK_BYTES, COUNT_BITS, HEADER_BYTES, MAX_EDGE, SHARED_BITS};
use super::leaves::{Cut, Leaf, branches, leaf_bits, leaves};
use super::space::PlaceSpace;
use super::symbols::Counts;

/// Bits of an edge for each branch below it that are tried: all of them first.
pub(super) const EDGES: [u32; 6] = [MAX_EDGE, 48, 24, 16, 12, 8];
/// Those of tries that are built only where nothing else fits: edges above more keys are cut off than a design looks at.
pub(super) const SHORT_EDGES: [u32; 2] = [4, 0];
/// Keys on either side of a query that are looked at.
const AROUND: usize = 24;
/// Longest tail that is predicted: a longer one is built where there is room for it, and the rate hardly falls any more.
const LONGEST_TAIL: u32 = 63;
/// Most queries that a design is made for.
const MAX_QUERIES: usize = 2_000;

/// A query between two keys.
struct Query {
    /// Bits that its first place shares with the key before it, and its last one with the key after it.
    with_before: u32,
    with_after: u32,
    /// Bits that the keys around it share, and the place in there of those two keys.
    shared: Vec<u16>,
    gap: usize,
}

/// What is known of keys and queries under one view.
pub(super) struct Facts {
    max_bits: u32,
    key_count: usize,
    /// Bits that the keys of each run share with their neighbours.
    runs: Vec<Vec<u16>>,
    queries: Vec<Query>,
    /// Share of all queries that these stand for.
    share: f64,
}

/// A trie as it is expected to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub(super) edge: u32,
    /// Share of "maybe" among the queries.
    pub(super) rate: f64,
    pub(super) size: Size,
}

/// The size of a trie as it is expected to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) body_bytes: usize,
    /// Leaves of a block, and blocks.
    pub(super) block_leaves: f64,
    pub(super) blocks: f64,
}

impl Facts {
    /// The facts about the keys and queries of `known` under `view`.
    pub(super) fn of<K: PlaceSpace + ?Sized>(known: &KeyStatistics<'_, K>, view: &K::View<'_>) -> Self {
        let (keys, max_bits) = (known.keys(), K::max_bits(view));
        let runs = known.runs().map(|run| shared_in::<K>(keys, view, run, max_bits));
        let mut runs: Vec<Vec<u16>> = runs.collect();
        if runs.is_empty() {
            // A single key has no neighbour.
            runs.push(Vec::new());
        }
        let queries = known.queries();
        let inside: Vec<_> =
            queries.iter().filter(|query| 0 < query.place && query.place < keys.len()).collect();
        let chosen = lacuna_base::internal::thinned(inside.len(), MAX_QUERIES).map(|index| inside[index]);
        let facts = chosen.filter_map(|query| {
            let (lo, hi) = K::cover(view, query.lo, query.hi)?;
            let around = query.place.saturating_sub(AROUND)..(query.place + AROUND).min(keys.len());
            Some(Query {
                with_before: K::place(view, keys.get(query.place - 1)).shared_bits(&lo),
                with_after: K::place(view, keys.get(query.place)).shared_bits(&hi),
                gap: query.place - 1 - around.start,
                shared: shared_in::<K>(keys, view, around, max_bits),
            })
        });
        let facts: Vec<Query> = facts.collect();
        let share = inside.len() as f64 / queries.len().max(1) as f64 / facts.len().max(1) as f64;
        Self { max_bits, key_count: keys.len(), runs, queries: facts, share }
    }

    /// What is expected of a trie without edges of more than `edge` bits for each branch below, with the given tails or the longest
    /// that fit into `max_bytes`; `None` if it does not fit without.
    pub(super) fn expected(&self, edge: u32, tail: Option<u32>, max_bytes: usize) -> Option<Expected> {
        let size = |tail: u32| self.size(Cut { edge, tail, max_bits: self.max_bits });
        let fits = |size: &Size| size.body_bytes <= max_bytes;
        let (tail, size) = match tail {
            Some(tail) => Some((tail, size(tail))).filter(|(_, size)| fits(size))?,
            None => {
                let mut best = Some((0, size(0))).filter(|(_, size)| fits(size))?;
                let mut too_long = LONGEST_TAIL + 1;
                while too_long - best.0 > 1 {
                    let middle = best.0.midpoint(too_long);
                    let longer = size(middle);
                    if fits(&longer) { best = (middle, longer) } else { too_long = middle }
                }
                best
            }
        };
        let cut = Cut { edge, tail, max_bits: self.max_bits };
        let maybes = self.queries.iter().filter(|query| query.is_maybe(cut)).count();
        Some(Expected { edge, rate: maybes as f64 * self.share, size })
    }

    /// The size of a trie that is cut so.
    fn size(&self, cut: Cut) -> Size {
        let (mut counts, mut seen, mut leaf_count, mut own_bits, mut all_bits) =
            (Counts::new(), 0, 0.0, 0.0, 0.0);
        for shared in &self.runs {
            let stay = branches(shared, cut);
            let all: Vec<Leaf> = leaves(shared, &stay).collect();
            // Of one run among several, the first and the last leaf have neighbours that are not in it.
            let skipped = usize::from(self.runs.len() > 1 && all.len() > 2);
            let known = &all[skipped..all.len() - skipped];
            let end = all.get(all.len() - skipped).map_or(shared.len() + 1, |leaf| leaf.key);
            seen += end - known[0].key;
            for leaf in known {
                let bits = leaf.bits(cut);
                counts.note(leaf.before, leaf.after);
                leaf_count += 1.0;
                own_bits += f64::from(bits.saturating_sub(leaf.before + 1));
                all_bits += f64::from(bits);
            }
        }
        let weight = self.key_count as f64 / seen as f64;
        let bits = (counts.code_bits() + own_bits) * weight;
        // Of a block: the whole first leaf, and half of one that does not fit.
        let beside = f64::from(COUNT_BITS + SHARED_BITS)
            + all_bits / leaf_count
            + 0.5 * (counts.code_bits() + own_bits) / leaf_count;
        let leaf_count = leaf_count * weight;
        let block_bits = BLOCK_BYTES as f64 * 8.0;
        let blocks = (bits / (block_bits - beside).max(1.0)).max(1.0);
        #[expect(clippy::cast_possible_truncation, reason = "a size in memory; casts saturate")]
        let body_bytes = HEADER_BYTES + ((bits + blocks * beside) / 8.0).ceil() as usize;
        Size { body_bytes, block_leaves: leaf_count / blocks, blocks }
    }

    /// The trie with the lowest rate.
    pub(super) fn best(&self, tail: Option<u32>, max_bytes: usize) -> Option<Expected> {
        let expected = EDGES.into_iter().filter_map(|edge| self.expected(edge, tail, max_bytes));
        expected.min_by(|a, b| a.rate.total_cmp(&b.rate))
    }
}

impl Query {
    fn is_maybe(&self, cut: Cut) -> bool {
        let stay = branches(&self.shared, cut);
        let nearest = |range: Range<usize>, is_last: bool| {
            let mut stays = range.filter(|&branch| stay[branch]);
            let found = if is_last { stays.next_back() } else { stays.next() };
            found.map_or(0, |branch| u32::from(self.shared[branch]))
        };
        let (gap, len) = (self.gap, self.shared.len());
        let before = leaf_bits(nearest(0..gap, true), nearest(gap..len, false), cut.tail, cut.max_bits);
        let after =
            leaf_bits(nearest(0..gap + 1, true), nearest(gap + 1..len, false), cut.tail, cut.max_bits);
        self.with_before >= before || self.with_after >= after
    }
}

/// Bits that the places of neighbours in `range` share.
fn shared_in<K: PlaceSpace + ?Sized>(
    keys: SortedKeys<'_, K>,
    view: &K::View<'_>,
    range: Range<usize>,
    max_bits: u32,
) -> Vec<u16> {
    let mut places = range.map(|index| K::place(view, keys.get(index)));
    let Some(mut before) = places.next() else { return Vec::new() };
    let shared = |place: lacuna_base::LongPlace| {
        let bits = std::mem::replace(&mut before, place).shared_bits(&place).min(max_bits);
        u16::try_from(bits).expect("at most 512")
    };
    places.map(shared).collect()
}
