//! Asking Rosetta: the nodes of a range from left to right, and below those that may hold a key their parts.
//!
//! No stack is needed. After an empty node, the next to ask is the largest aligned node that starts there and fits,
//! because the parts of a node end where the node ends. After a node that may hold a key, it is the first part. Levels
//! without a filter are stepped over.

use lacuna_base::hash::IntegerHasher;
use lacuna_base::testing::cross;
use lacuna_base::{Envelope, Result};
use lacuna_succinct::arch::{Isa, prefetch};

use super::codec::{Header, VERSION, WORD_BYTES};
use super::model::rate_bound;
use crate::bloom::Places;
use crate::integer::{IntegerBody, asks_in_groups};
use crate::probes::note_probe;

/// Bits of the first node whose lines a batch fetches ahead.
const BITS_AHEAD: u16 = 2;

/// A view of a Rosetta filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rosetta {
    pub(crate) header: Header,
    bits_offset: usize,
}

/// A range on its way through a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RosettaProbe {
    lo: u64,
    hi: u64,
}

/// The hash of the node of level `height` that starts at `key`.
#[inline(always)]
pub(crate) fn node_hash(seed: u64, key: u64, height: u32) -> u64 {
    IntegerHasher::new(seed.wrapping_add(u64::from(height))).hash(key >> height)
}

/// The highest of the `levels` at or below `height`; level 0 is always among them.
#[inline(always)]
fn at_or_below(levels: u64, height: u32) -> u32 {
    let below = levels & (u64::MAX >> (63 - (height & 63)));
    63 - (below | 1).leading_zeros()
}

impl Rosetta {
    /// The level of the largest node that starts at `from`, ends by `hi` and has a filter.
    #[inline(always)]
    fn level_at(&self, from: u64, hi: u64) -> u32 {
        let fitting = 63 - (hi - from).saturating_add(1).leading_zeros();
        at_or_below(self.header.filtered, from.trailing_zeros().min(fitting))
    }

    /// The first byte of the bits of `height`, and the places of the node there that starts at `key`.
    #[inline(always)]
    fn places(&self, key: u64, height: u32) -> (usize, Places) {
        let level = &self.header.levels[(height & 63) as usize];
        let hash = node_hash(self.header.seed, key, height);
        (self.bits_offset + level.start as usize * WORD_BYTES, Places::new(hash, level.bits()))
    }

    /// Whether the node of level `height` that starts at `key` may hold a key.
    #[inline(always)]
    fn may_hold(&self, body: &[u8], key: u64, height: u32) -> bool {
        note_probe();
        let (start, mut places) = self.places(key, height);
        let hash_count = self.header.levels[(height & 63) as usize].hash_count;
        (0..hash_count).all(|_| {
            let place = places.next();
            // A byte beyond the body cannot be proven empty.
            let byte = body.get(start + (place >> 3) as usize).copied().unwrap_or(0xFF);
            (byte >> (place & 7)) & 1 == 1
        })
    }

    /// Whether a key of `lo..=hi` may be there, and the number of probes that took.
    #[inline(always)]
    pub(crate) fn walk(&self, body: &[u8], lo: u64, hi: u64) -> (bool, u32) {
        let mut from = lo;
        let mut height = self.level_at(from, hi);
        for probe in 1..=self.header.max_probes {
            if self.may_hold(body, from, height) {
                if height == 0 {
                    return (true, probe);
                }
                height = at_or_below(self.header.filtered, height - 1);
            } else {
                match from.checked_add(1 << height) {
                    Some(next) if next <= hi => from = next,
                    _ => return (false, probe),
                }
                height = self.level_at(from, hi);
            }
        }
        cross("rosetta: tired");
        (true, self.header.max_probes)
    }
}

impl IntegerBody for Rosetta {
    const VERSION: u16 = VERSION;
    const WANTS_DISPATCH: bool = false;
    type Probe = RosettaProbe;

    fn open(body: &[u8], _envelope: &Envelope) -> Result<Self> {
        let header = Header::read(body)?;
        Ok(Self { bits_offset: header.bits_offset(), header })
    }

    #[inline(always)]
    fn prefetch(&self, _body: &[u8], _lo: u64, _hi: u64) {}

    #[inline(always)]
    fn prepare<I: Isa>(&self, _isa: I, body: &[u8], lo: u64, hi: u64) -> RosettaProbe {
        let height = self.level_at(lo, hi);
        let (start, mut places) = self.places(lo, height);
        for _ in 0..self.header.levels[(height & 63) as usize].hash_count.min(BITS_AHEAD) {
            prefetch(body, start + (places.next() >> 3) as usize);
        }
        RosettaProbe { lo, hi }
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, _isa: I, body: &[u8], RosettaProbe { lo, hi }: RosettaProbe) -> bool {
        self.walk(body, lo, hi).0
    }

    #[inline(always)]
    fn any_in<I: Isa>(&self, _isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        self.walk(body, lo, hi).0
    }

    fn rate_bound(&self, range_len: u64) -> f64 {
        rate_bound(&self.header, range_len)
    }

    asks_in_groups!();
}
