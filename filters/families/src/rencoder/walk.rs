//! Long ranges: from the top of the stored levels down, left to right.
//!
//! The walk holds one mini-tree of each group, those above its position, and remembers which of their leaves may hold
//! a key. It takes the first such leaf, goes down into the mini-tree under it, and when a mini-tree has none left it
//! steps to the right of it and looks from the top again. Every mini-tree of the range is fetched at most once, those
//! under a dead leaf never. There is no recursion and no allocation; past the bound on fetches the answer is "maybe".

use lacuna_base::testing::cross;

use super::lines::shifted;
use super::query::Rencoder;
use super::tree::{BLOCK, MAX_BLOCKS, block_index, leaves_between};
use crate::probes::note_probe;

/// Most groups: 64 levels in mini-trees of four.
const MAX_GROUPS: usize = 16;

/// A fetched mini-tree.
#[derive(Debug, Clone, Copy)]
struct Fetched {
    prefix: u64,
    /// Its leaves that lie in the range and may hold a key.
    alive: [u64; MAX_BLOCKS],
}

/// The next result of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// This leaf of the lowest level may hold a key.
    Leaf(u64),
    /// No leaf is left.
    End,
    /// The bound on fetches is reached.
    Tired,
}

/// A walk over the leaves `first..=last` of the lowest stored level.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    filter: &'a Rencoder,
    body: &'a [u8],
    last: u64,
    fetches_left: u32,
    fetched: [Option<Fetched>; MAX_GROUPS],
}

impl Rencoder {
    /// Whether one of the leaves `first..=last` of the lowest stored level may hold a key.
    #[inline(never)]
    pub(crate) fn may_hold_any(&self, body: &[u8], first: u64, last: u64) -> bool {
        cross("rencoder: walked");
        Walk::new(self, body, last).next_from(first) != Next::End
    }
}

impl<'a> Walk<'a> {
    /// A walk that ends after `last`.
    pub(crate) fn new(filter: &'a Rencoder, body: &'a [u8], last: u64) -> Self {
        let fetches_left = filter.header.max_probes;
        Self { filter, body, last, fetches_left, fetched: [None; MAX_GROUPS] }
    }

    /// The first leaf at or after `from` that may hold a key; `from` must not go back between calls.
    pub(crate) fn next_from(&mut self, mut from: u64) -> Next {
        'top: while from <= self.last {
            for group in (0..self.filter.groups).rev() {
                let step = group * self.filter.header.tree_levels;
                let place = shifted(from, step);
                let Some(found) = self.first_alive(group, place) else {
                    cross("rencoder: tired");
                    return Next::Tired;
                };
                match found {
                    Found::Leaf(leaf) if leaf == place => {}
                    Found::Leaf(leaf) => from = leaf << step,
                    Found::Nothing => {
                        let Some(next) = self.behind_tree(group, from) else { return Next::End };
                        from = next;
                        continue 'top;
                    }
                }
            }
            return Next::Leaf(from);
        }
        Next::End
    }

    /// The first leaf of the lowest level after the mini-tree of `group` that holds `from`.
    fn behind_tree(&self, group: u32, from: u64) -> Option<u64> {
        let span = (group + 1) * self.filter.header.tree_levels;
        let last_inside = from | !u64::MAX.checked_shl(span).unwrap_or(0);
        last_inside.checked_add(1)
    }

    /// The first leaf of `group` at or after `place`, in its mini-tree, that may hold a key; `None` past the bound.
    fn first_alive(&mut self, group: u32, place: u64) -> Option<Found> {
        let prefix = place >> self.filter.header.tree_levels;
        let fetched = self.fetch(group, prefix)?;
        let leaf = place & self.filter.leaf_mask();
        let first_block = leaf / BLOCK;
        for block in first_block..MAX_BLOCKS as u64 {
            let from = if block == first_block { u64::MAX << (leaf % BLOCK) } else { u64::MAX };
            let alive = fetched.alive[block_index(block)] & from;
            if alive != 0 {
                let leaf = block * BLOCK + u64::from(alive.trailing_zeros());
                return Some(Found::Leaf(prefix << self.filter.header.tree_levels | leaf));
            }
        }
        Some(Found::Nothing)
    }

    /// The mini-tree of `group` under `prefix`, fetched if it is another than before; `None` past the bound.
    fn fetch(&mut self, group: u32, prefix: u64) -> Option<Fetched> {
        let slot = group as usize;
        if let Some(fetched) = self.fetched[slot].filter(|fetched| fetched.prefix == prefix) {
            return Some(fetched);
        }
        self.fetches_left = self.fetches_left.checked_sub(1)?;
        let fetched = Fetched { prefix, alive: self.alive(group, prefix) };
        self.fetched[slot] = Some(fetched);
        Some(fetched)
    }

    /// The leaves of a mini-tree that may hold a key and are not after the range.
    fn alive(&self, group: u32, prefix: u64) -> [u64; MAX_BLOCKS] {
        note_probe();
        let tree_levels = self.filter.header.tree_levels;
        let last_place = shifted(self.last, group * tree_levels);
        let all = self.filter.leaf_mask();
        let last = if last_place >> tree_levels == prefix { last_place & all } else { all };
        let hash = self.filter.hash(prefix, group);
        let mut alive = [0; MAX_BLOCKS];
        for block in 0..=last / BLOCK {
            let wanted = leaves_between(block, 0, last);
            let index = block_index(block);
            alive[index] = self.filter.shape(group).alive(self.body, hash, index, wanted);
        }
        alive
    }
}

/// The first result in a mini-tree from some leaf on.
#[derive(Debug, Clone, Copy)]
enum Found {
    /// This leaf of the group, counted over all mini-trees, may hold a key.
    Leaf(u64),
    /// Nothing.
    Nothing,
}
