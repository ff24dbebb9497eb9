//! Asking: the last leaf that begins at or before a range, and the one after it.
//!
//! A range holds a leaf's places if its first place lies in the last leaf that begins at or before it, or if the next leaf begins at or
//! before its last place. Leaves are followed without being put together: it is enough to know how many bits the first place of the
//! range shares with the leaf. A leaf that shares more bits with the one before it than that one with the place differs
//! from the place in the same bit; one that shares fewer is the first that begins after it; only where both share as many are bits read.

use std::cmp::Ordering;

use lacuna_base::{Envelope, LongPlace, Result};
use lacuna_succinct::arch::Isa;
use lacuna_succinct::bytes::bits_at;

use super::codec::{BLOCK_BYTES, Body, COUNT_BITS, HEADER_BYTES, SHARED_BITS, VERSION};
use super::leaves::leaf_bits;
use crate::integer::{IntegerBody, asks_in_groups};
use crate::probes::note_probe;

/// The first leaf of a block, and what follows.
struct Head {
    /// Leaves in the block.
    count: u32,
    /// Bits that the second leaf shares with it.
    after: u32,
    /// Its bits: their number, and where they begin.
    bits: u32,
    at: u64,
}

impl Body {
    /// Whether a leaf has a place from `lo` to `hi`, which is no smaller.
    pub(super) fn holds(&self, bytes: &[u8], lo: &LongPlace, hi: &LongPlace) -> bool {
        let blocks = bytes.get(HEADER_BYTES..).unwrap_or_default();
        // The blocks whose first leaf begins at `lo` or before.
        let (mut from, mut to) = (0, self.block_count);
        while from < to {
            let middle = from.midpoint(to);
            if self.begins_by(blocks, middle, lo) { from = middle + 1 } else { to = middle }
        }
        let in_block = from.checked_sub(1).and_then(|block| self.scan(blocks, block, lo, hi));
        in_block.unwrap_or_else(|| from < self.block_count && self.begins_by(blocks, from, hi))
    }

    /// Whether the first leaf of `block` begins at `place` or before.
    #[inline(always)]
    fn begins_by(&self, blocks: &[u8], block: usize, place: &LongPlace) -> bool {
        note_probe();
        let head = self.head(blocks, block);
        compare(blocks, head.at, 0, head.bits, place).0 != Ordering::Greater
    }

    #[inline(always)]
    fn head(&self, blocks: &[u8], block: usize) -> Head {
        let at = (block * BLOCK_BYTES) as u64 * 8;
        #[expect(clippy::cast_possible_truncation, reason = "22 bits")]
        let fields = bits_at(blocks, at, COUNT_BITS + SHARED_BITS) as u32;
        let (count, before) = (fields & ((1 << COUNT_BITS) - 1), fields >> COUNT_BITS);
        let (after, at) = self.decoder.step(blocks, at + u64::from(COUNT_BITS + SHARED_BITS), before);
        Head { count, after, bits: leaf_bits(before, after, self.tail, self.max_bits), at }
    }

    /// Follows the leaves of `block`, whose first one begins at `lo` or before; `None` if the leaf after `lo` is that of the next block.
    #[inline(always)]
    fn scan(&self, blocks: &[u8], block: usize, lo: &LongPlace, hi: &LongPlace) -> Option<bool> {
        note_probe();
        let head = self.head(blocks, block);
        let (order, mut shared_with_lo) = compare(blocks, head.at, 0, head.bits, lo);
        if order == Ordering::Equal {
            return Some(true);
        }
        let mut at = head.at + u64::from(head.bits);
        let mut shared = head.after;
        for _ in 1..head.count {
            let (after, bits_at) = self.decoder.step(blocks, at, shared);
            let bits = leaf_bits(shared, after, self.tail, self.max_bits);
            // Its first bit after those that it shares is a one, as the leaf before has a zero there.
            let width = bits.saturating_sub(shared + 1);
            let order = match shared.cmp(&shared_with_lo) {
                Ordering::Greater => Ordering::Less,
                Ordering::Less => Ordering::Greater,
                Ordering::Equal => {
                    let (order, shared_bits) = compare(blocks, bits_at, shared + 1, width, lo);
                    shared_with_lo = shared_bits;
                    order
                }
            };
            match order {
                Ordering::Less => {}
                Ordering::Equal => return Some(true),
                Ordering::Greater => return Some(begins_by_after(blocks, bits_at, (shared, width), lo, hi)),
            }
            at = bits_at + u64::from(width);
            shared = after;
        }
        None
    }
}

/// How the `width` bits at bit `at` of `bytes` stand to those of `place` after its first `start`, and the bits of `place` before the
/// first in which they differ.
#[inline(always)]
fn compare(bytes: &[u8], mut at: u64, mut start: u32, mut width: u32, place: &LongPlace) -> (Ordering, u32) {
    while width > 0 {
        let step = width.min(u64::BITS);
        let (stored, asked) = (bits_at(bytes, at, step), place.bits(start, step));
        if stored != asked {
            let same = (stored ^ asked).leading_zeros() - (u64::BITS - step);
            return (stored.cmp(&asked), start + same);
        }
        at += u64::from(step);
        start += step;
        width -= step;
    }
    (Ordering::Equal, start)
}

/// Whether the leaf begins at `hi` or before that shares `shared` bits with `lo` and has a one and these `width` bits then, while `lo`,
/// which is no larger than `hi`, has a zero or lies before these bits.
#[inline(always)]
fn begins_by_after(
    blocks: &[u8],
    at: u64,
    (shared, width): (u32, u32),
    lo: &LongPlace,
    hi: &LongPlace,
) -> bool {
    // Where `hi` parts from `lo` first, it is larger than all that shares more with `lo`.
    if lo.shared_bits(hi) < shared {
        return true;
    }
    hi.bits(shared, 1) == 1 && compare(blocks, at, shared + 1, width, hi).0 != Ordering::Greater
}

impl IntegerBody for Body {
    const VERSION: u16 = VERSION;
    const WANTS_DISPATCH: bool = false;
    type Probe = (u64, u64);

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        Self::open(body, envelope)
    }

    #[inline(always)]
    fn prefetch(&self, _bytes: &[u8], _lo: u64, _hi: u64) {}

    #[inline(always)]
    fn prepare<I: Isa>(&self, _isa: I, _bytes: &[u8], lo: u64, hi: u64) -> (u64, u64) {
        (lo, hi)
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, _isa: I, bytes: &[u8], (lo, hi): (u64, u64)) -> bool {
        self.holds(bytes, &LongPlace::from_word(lo), &LongPlace::from_word(hi))
    }

    asks_in_groups!();
}
