//! What fits the budget: suffix bits after the whole trie, or as many levels of it as fit.

use lacuna_base::{Budget, Error, Result};
use lacuna_succinct::trie::{Branch, Divide, Shape};

use super::codec::HEADER_BYTES;
use super::key::{PathKey, PathList};
use super::spec::SurfSpec;
use super::suffix::Suffixes;
use crate::family::FilterFamily as _;
use crate::largest::largest_within;

/// The design that will be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Design {
    pub(crate) suffixes: Suffixes,
    /// Levels kept of a trie that is cut; `None`: all.
    pub(crate) levels: Option<usize>,
    /// Bytes of the body; 0 for one that is left out.
    pub(crate) body_bytes: usize,
}

/// Calls `place` with the branch of each key in order: its shortest path that is unique.
#[inline(always)]
pub(crate) fn for_each_branch(
    keys: &(impl PathList + ?Sized),
    mut place: impl FnMut(usize, Branch, Option<usize>),
) {
    let mut shared_before = None;
    for index in 0..keys.len() {
        let shared_after = keys.shared_with_next(index);
        let len = keys.key(index).path().len();
        place(index, Branch::unique(len, shared_before, shared_after), shared_after);
        shared_before = shared_after;
    }
}

/// The best body of at most `max_bytes`, when `beside_bytes` more stand beside it in the payload.
pub(crate) fn design(
    spec: SurfSpec,
    keys: &(impl PathList + ?Sized),
    seed: u64,
    max_bytes: usize,
    beside_bytes: usize,
) -> Result<Design> {
    let mut shape = Shape::new();
    for_each_branch(keys, |_, branch, _| shape.add(branch));
    design_for(spec, &shape, seed, max_bytes, beside_bytes)
}

/// The best body for keys of this shape.
pub(crate) fn design_for(
    spec: SurfSpec,
    shape: &Shape,
    seed: u64,
    max_bytes: usize,
    beside_bytes: usize,
) -> Result<Design> {
    let size = |bits| HEADER_BYTES + shape.byte_len(Divide::LeastSize, bits);
    let suffixes = |real_bits| {
        let hash_bits = spec.hash_bits();
        Suffixes { hash_bits, real_bits, seed: if hash_bits == 0 { 0 } else { seed } }
    };
    let min = size(spec.hash_bits() + spec.real_bits().unwrap_or(0));
    if min <= max_bytes {
        let max = u64::from(SurfSpec::MAX_BITS - spec.hash_bits());
        let fitting = |real: u64| size(spec.hash_bits() + narrow(real)) <= max_bytes;
        let real_bits = spec.real_bits().unwrap_or_else(|| narrow(largest_within(max, fitting).unwrap_or(0)));
        let body_bytes = size(spec.hash_bits() + real_bits);
        return Ok(Design { suffixes: suffixes(real_bits), levels: None, body_bytes });
    }
    let bits_per_key = Budget::smallest_for(min + beside_bytes, key_count(shape));
    // No budget holds the trie of a few keys that share thousands of bytes.
    if spec.is_cut() || bits_per_key > Budget::MAX_BITS_PER_KEY {
        return Ok(cut(shape, max_bytes));
    }
    Err(Error::budget_too_small(SurfSpec::KIND.name(), bits_per_key))
}

fn key_count(shape: &Shape) -> usize {
    usize::try_from(shape.leaves()).expect("keys lie in memory")
}

fn narrow(bits: u64) -> u32 {
    u32::try_from(bits).expect("at most 64")
}

/// As many levels as fit; without any, no body at all.
fn cut(shape: &Shape, max_bytes: usize) -> Design {
    let size = |levels: u64| {
        HEADER_BYTES + shape.cut_byte_len(Divide::LeastSize, usize::try_from(levels).unwrap_or(usize::MAX))
    };
    let levels = largest_within(shape.depth() as u64, |levels| levels == 0 || size(levels) <= max_bytes);
    let levels = levels.unwrap_or(0);
    let body_bytes = if levels == 0 { 0 } else { size(levels) };
    Design { suffixes: Suffixes::default(), levels: usize::try_from(levels).ok(), body_bytes }
}
