//! Asking REncoder.
//!
//! A range that lies in one mini-tree, or across the border of two, is settled from the bottom: most empty ranges die
//! in the mini-tree of the keys themselves, after one fetch a hash function. What survives there goes up the single
//! path above it. Longer ranges are [walked](super::walk) from the top.

use lacuna_base::hash::IntegerHasher;
use lacuna_base::{Envelope, Result};
use lacuna_succinct::arch::{Isa, prefetch};

use super::bound::rate_bound;
use super::codec::{Header, VERSION};
use super::lines::{Lines, shifted, tree_hash};
use super::spec::Variant;
use super::tree::TreeShape;
use crate::integer::{IntegerBody, asks_in_groups};

/// Hash functions whose lines a batch fetches ahead: more are rarely looked at.
const FUNCTIONS_AHEAD: u32 = 3;

/// A view of a REncoder filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rencoder {
    pub(crate) header: Header,
    pub(crate) lines: Lines,
    pub(crate) groups: u32,
    pub(crate) hasher: IntegerHasher,
}

/// A range on its way through a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RencoderProbe {
    lo: u64,
    hi: u64,
    first_hash: u64,
}

impl Rencoder {
    /// The view that a header and its lines describe.
    pub(crate) fn new(header: Header, lines: Lines) -> Self {
        let groups = header.levels.count.div_ceil(header.tree_levels);
        Self { header, lines, groups, hasher: IntegerHasher::new(header.seed) }
    }

    /// How mini-trees of `group` are stored; the topmost may have fewer levels.
    #[inline(always)]
    pub(crate) fn shape(&self, group: u32) -> TreeShape {
        let below = group * self.header.tree_levels;
        let levels = (self.header.levels.count - below).min(self.header.tree_levels);
        TreeShape { lines: self.lines, hash_count: self.header.hash_count, levels }
    }

    /// The hash of the mini-tree of `group` under `prefix`.
    #[inline(always)]
    pub(crate) fn hash(&self, prefix: u64, group: u32) -> u64 {
        tree_hash(self.hasher.hash(prefix), group)
    }

    /// Number of leaves of a mini-tree, less one.
    #[inline(always)]
    pub(crate) fn leaf_mask(&self) -> u64 {
        (1 << self.header.tree_levels) - 1
    }

    /// Whether the whole path above the bottom mini-tree under `prefix` is set.
    #[inline(always)]
    fn has_path_above(&self, body: &[u8], prefix: u64) -> bool {
        self.groups == 1 || self.climb(body, prefix)
    }

    #[inline(never)]
    fn climb(&self, body: &[u8], mut prefix: u64) -> bool {
        (1..self.groups).all(|group| {
            let leaf = prefix & self.leaf_mask();
            prefix >>= self.header.tree_levels;
            self.shape(group).any_alive(body, self.hash(prefix, group), leaf, leaf)
        })
    }

    /// Whether the bottom mini-tree under `prefix` may hold one of its leaves `first..=last`.
    #[inline(always)]
    fn any_in_tree(&self, body: &[u8], prefix: u64, hash: u64, (first, last): (u64, u64)) -> bool {
        self.shape(0).any_alive(body, hash, first, last) && self.has_path_above(body, prefix)
    }

    /// Whether the two neighbouring bottom mini-trees that `first..=last` lies in may hold a key of it.
    #[inline(never)]
    fn any_in_two_trees(&self, body: &[u8], first: u64, last: u64) -> bool {
        let (left, mask) = (first >> self.header.tree_levels, self.leaf_mask());
        self.any_in_tree(body, left, self.hash(left, 0), (first & mask, mask))
            || self.any_in_tree(body, left + 1, self.hash(left + 1, 0), (0, last & mask))
    }

    #[inline(always)]
    fn answer(&self, body: &[u8], RencoderProbe { lo, hi, first_hash }: RencoderProbe) -> bool {
        let Header { levels, tree_levels, max_probes, variant, .. } = self.header;
        let (first, last) = (lo >> levels.low, hi >> levels.low);
        let (left, right) = (first >> tree_levels, last >> tree_levels);
        let mask = self.leaf_mask();
        if variant == Variant::Point && lo == hi {
            let leaves = TreeShape { levels: 1, ..self.shape(0) };
            return leaves.any_alive(body, first_hash, first & mask, first & mask);
        }
        if left == right && self.groups <= max_probes {
            return self.any_in_tree(body, left, first_hash, (first & mask, last & mask));
        }
        if right - left == 1 && 2 * self.groups <= max_probes {
            return self.any_in_two_trees(body, first, last);
        }
        self.may_hold_any(body, first, last)
    }

    /// Whether any key of `lo..=hi` may be there.
    #[inline(always)]
    pub(crate) fn may_hold(&self, body: &[u8], lo: u64, hi: u64) -> bool {
        self.answer(body, RencoderProbe { lo, hi, first_hash: self.first_hash(lo) })
    }

    #[inline(always)]
    fn first_hash(&self, lo: u64) -> u64 {
        self.hash(shifted(lo, self.header.levels.low + self.header.tree_levels), 0)
    }
}

impl IntegerBody for Rencoder {
    const VERSION: u16 = VERSION;
    type Probe = RencoderProbe;

    fn open(body: &[u8], _envelope: &Envelope) -> Result<Self> {
        let (header, lines) = Header::read(body)?;
        Ok(Self::new(header, lines))
    }

    #[inline(always)]
    fn prefetch(&self, _body: &[u8], _lo: u64, _hi: u64) {}

    #[inline(always)]
    fn prepare<I: Isa>(&self, _isa: I, body: &[u8], lo: u64, hi: u64) -> RencoderProbe {
        let first_hash = self.first_hash(lo);
        for function in 0..self.header.hash_count.min(FUNCTIONS_AHEAD) {
            prefetch(body, self.lines.placement(first_hash, function).offset);
        }
        RencoderProbe { lo, hi, first_hash }
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, _isa: I, body: &[u8], probe: RencoderProbe) -> bool {
        self.answer(body, probe)
    }

    #[inline(always)]
    fn any_in<I: Isa>(&self, _isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        self.may_hold(body, lo, hi)
    }

    fn rate_bound(&self, range_len: u64) -> f64 {
        rate_bound(self, range_len)
    }

    asks_in_groups!();
}
