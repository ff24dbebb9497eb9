//! Asking Grafite: a range becomes a few intervals of the circle.

use lacuna_base::hash::reduce;
use lacuna_base::testing::cross;
use lacuna_base::{Envelope, Error, Result};
use lacuna_succinct::arch::Isa;
use lacuna_succinct::elias_fano::{Layout, Probe};

use super::codec::{HEADER_BYTES, Reduction, VERSION};
use crate::hashing::{BlockHasher, Hashing};
use crate::integer::{IntegerBody, asks_in_groups};
use crate::probes::note_probe;

/// A view of a Grafite filter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grafite {
    circle: Circle,
    values: Layout,
    /// Smallest key, for exact bodies.
    smallest: u64,
    exact: bool,
}

/// Where blocks of keys are moved to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circle {
    hasher: BlockHasher,
    /// Largest value; the reduced universe is one more.
    last: u64,
    block_log2: u32,
}

impl Circle {
    /// Blocks of `2^block_log2 <= last + 1` keys on a circle of `last + 1` values.
    pub(crate) fn new(hashing: Hashing, block_log2: u32, last: u64) -> Self {
        Self { hasher: hashing.hasher(), last, block_log2 }
    }

    /// The block of `key`.
    #[inline(always)]
    fn block(&self, key: u64) -> u64 {
        key >> self.block_log2
    }

    /// Where `block` was moved to.
    #[inline(always)]
    fn place(&self, block: u64) -> u64 {
        reduce(self.hasher.hash(block), self.last.wrapping_add(1))
    }

    /// `place + offset` on the circle; both are at most `last`.
    #[inline(always)]
    fn turn(&self, place: u64, offset: u64) -> u64 {
        let left = self.last - place;
        if offset <= left { place + offset } else { offset - left - 1 }
    }

    #[inline(always)]
    fn offset(&self, key: u64) -> u64 {
        key & ((1 << self.block_log2) - 1)
    }

    /// The value of `key`.
    #[inline(always)]
    pub(crate) fn value(&self, key: u64) -> u64 {
        self.turn(self.place(self.block(key)), self.offset(key))
    }
}

/// The state that stage two of a batch hands to stage three.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GrafiteProbe {
    /// One interval.
    One(Probe),
    /// Several blocks, or around the end of the circle.
    Parts(u64, u64),
}

impl Grafite {
    /// Whether a value lies between the places of `lo` and `hi`, which are in one block.
    #[inline(always)]
    fn any_in_block<I: Isa>(&self, isa: I, values: &[u8], lo: u64, hi: u64) -> bool {
        let place = self.circle.place(self.circle.block(lo));
        let first = self.circle.turn(place, self.circle.offset(lo));
        let last = self.circle.turn(place, self.circle.offset(hi));
        note_probe();
        if first <= last {
            return self.values.any_in(isa, values, first, last);
        }
        cross("grafite: wrapped");
        note_probe();
        self.values.any_in(isa, values, first, self.circle.last) || self.values.any_in(isa, values, 0, last)
    }

    /// Whether a value lies between the places of `lo` and `hi`, which may be in different blocks.
    #[inline(never)]
    fn any_in_blocks<I: Isa>(&self, isa: I, values: &[u8], lo: u64, hi: u64) -> bool {
        let (first, last) = (self.circle.block(lo), self.circle.block(hi));
        if first == last {
            return self.any_in_block(isa, values, lo, hi);
        }
        if last - first > 1 {
            // A whole block takes at least half of the circle: asking would only say "maybe".
            cross("grafite: whole block");
            return true;
        }
        cross("grafite: two blocks");
        let boundary = last << self.circle.block_log2;
        self.any_in_block(isa, values, lo, boundary - 1) || self.any_in_block(isa, values, boundary, hi)
    }
}

impl IntegerBody for Grafite {
    const VERSION: u16 = VERSION;
    type Probe = GrafiteProbe;

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let (reduction, values) = Reduction::decode(body)?;
        let values = Layout::open(values)
            .map_err(|error| Error::corrupt("the Grafite values do not open").with_source(error))?;
        let (hashing, block_log2, exact) = match reduction {
            Reduction::Exact => (Hashing::Seeded(0), 0, true),
            Reduction::Hashed { hashing, block_log2 } => (hashing, block_log2, false),
        };
        if !exact && (values.last() == u64::MAX || values.last() < (1 << block_log2) - 1) {
            return Err(Error::corrupt("Grafite blocks do not fit their circle"));
        }
        let circle = Circle::new(hashing, block_log2, values.last());
        Ok(Self { circle, values, smallest: envelope.smallest, exact })
    }

    #[inline(always)]
    fn prefetch(&self, body: &[u8], lo: u64, _hi: u64) {
        let value = if self.exact { lo - self.smallest } else { self.circle.value(lo) };
        self.values.prefetch_directory(&body[HEADER_BYTES..], value);
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, isa: I, body: &[u8], lo: u64, hi: u64) -> GrafiteProbe {
        let values = &body[HEADER_BYTES..];
        if self.exact {
            // The filter around clips queries to the keys' span.
            let (lo, hi) = (lo.saturating_sub(self.smallest), hi.saturating_sub(self.smallest));
            return GrafiteProbe::One(self.values.prepare(isa, values, lo, hi));
        }
        let block = self.circle.block(lo);
        let place = self.circle.place(block);
        let first = self.circle.turn(place, self.circle.offset(lo));
        // Exact where both keys are in one block; otherwise the comparison below may hold by chance, so blocks decide.
        let last = self.circle.turn(place, self.circle.offset(hi));
        if block == self.circle.block(hi) && first <= last {
            GrafiteProbe::One(self.values.prepare(isa, values, first, last))
        } else {
            GrafiteProbe::Parts(lo, hi)
        }
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, body: &[u8], probe: GrafiteProbe) -> bool {
        let values = &body[HEADER_BYTES..];
        match probe {
            GrafiteProbe::One(probe) => {
                note_probe();
                self.values.finish(isa, values, &probe)
            }
            GrafiteProbe::Parts(lo, hi) => self.any_in_blocks(isa, values, lo, hi),
        }
    }

    fn rate_bound(&self, range_len: u64) -> f64 {
        if self.exact {
            return 0.0;
        }
        if range_len > 1 << self.circle.block_log2 {
            return 1.0;
        }
        (range_len as f64 * self.values.len() as f64 / (self.values.last() as f64 + 1.0)).min(1.0)
    }

    asks_in_groups!();
}
