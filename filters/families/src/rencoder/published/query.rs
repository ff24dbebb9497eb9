//! Asking the published layout: algorithms 3 and 4 of the paper, without its stack and its global cache.
//!
//! The node of height h that starts at a key holds `2^h` keys. After an empty node the next one to ask is the largest that
//! starts where it ended and still lies in the same part of the range; after a node that may hold a key, its first half.

use std::ops::Range;

use lacuna_base::hash::{IntegerHasher, reduce};
use lacuna_base::testing::cross;
use lacuna_base::{Envelope, Result};
use lacuna_succinct::arch::{Isa, prefetch};
use lacuna_succinct::bytes::load_u64;

use super::codec::{HEADER_BYTES, Header, VERSION, window_bytes};
use crate::integer::{IntegerBody, asks_in_groups};
use crate::probes::note_probe;
use crate::rencoder::lines::shifted;

/// Words of the largest bitmap.
const MAX_WORDS: usize = 8;
/// Hash functions whose windows a batch fetches ahead.
const FUNCTIONS_AHEAD: u32 = 3;

/// A view of a filter in the published layout.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublishedRencoder {
    pub(super) header: Header,
    /// Bytes at which a window may start.
    starts: u64,
}

/// A range on its way through a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublishedProbe {
    lo: u64,
    hi: u64,
}

impl PublishedRencoder {
    /// The view of a body of `body_bytes` with this header.
    pub(super) fn new(header: Header, body_bytes: usize) -> Self {
        let room = body_bytes - HEADER_BYTES - window_bytes(header.tree_levels);
        Self { header, starts: room as u64 + 1 }
    }

    /// First byte of the window that hash function `function` gives the mini-tree under `prefix`.
    #[inline(always)]
    pub(super) fn window(&self, prefix: u64, function: u32) -> usize {
        let hasher = IntegerHasher::new(self.header.seed.wrapping_add(u64::from(function)));
        #[expect(clippy::cast_possible_truncation, reason = "windows lie within a slice in memory")]
        let start = reduce(hasher.hash(prefix), self.starts) as usize;
        HEADER_BYTES + start
    }

    /// The prefix above the mini-tree that holds the node of `height` over `key`.
    #[inline(always)]
    pub(super) fn prefix(&self, key: u64, height: u32) -> u64 {
        let levels = self.header.tree_levels;
        shifted(key, (height / levels + 1) * levels)
    }

    /// The number of that node in the breadth-first order of its mini-tree, whose root is 1.
    #[inline(always)]
    pub(super) fn node_number(&self, key: u64, height: u32) -> u64 {
        let depth = self.header.tree_levels - height % self.header.tree_levels;
        1 << depth | (key >> height) & ((1 << depth) - 1)
    }

    /// The bitmap of the mini-tree under `prefix`: the AND of its windows; empty if its root is not set.
    #[inline(always)]
    fn bitmap(&self, body: &[u8], prefix: u64) -> [u64; MAX_WORDS] {
        let words = window_bytes(self.header.tree_levels) / 8;
        let mut bitmap = [u64::MAX; MAX_WORDS];
        for function in 0..self.header.hash_count {
            let start = self.window(prefix, function);
            for (place, word) in bitmap.iter_mut().take(words).enumerate() {
                *word &= load_u64(body, start + 8 * place);
            }
        }
        if bitmap[0] & 1 == 1 { bitmap } else { [0; MAX_WORDS] }
    }

    /// Height of the largest stored node that starts at `from` and ends by `hi`.
    #[inline(always)]
    fn height_at(&self, from: u64, hi: u64) -> u32 {
        let fitting = 63 - (hi - from).saturating_add(1).leading_zeros();
        from.trailing_zeros().min(fitting).min(self.header.stored_levels - 1)
    }

    /// Whether any key of `lo..=hi` may be there.
    #[inline(always)]
    pub(super) fn may_hold(&self, body: &[u8], lo: u64, hi: u64) -> bool {
        let mut cache =
            BitmapCache { filter: self, body, fetched: None, fetches_left: self.header.max_probes };
        let (mut from, mut known) = (lo, u64::BITS);
        loop {
            let height = self.height_at(from, hi);
            // Section 3.3: the stored prefixes above a part of the range are asked first, each once.
            let dead = match cache.first_dead(from, height..known.min(self.header.stored_levels)) {
                Some(dead) => dead,
                None if cache.holds_leaf(from, height) => return true,
                None => height,
            };
            match last_of(from, dead).checked_add(1) {
                // Nodes from this height on are over both parts, and hold a key as far as is known.
                Some(next) if next <= hi => (from, known) = (next, u64::BITS - (from ^ next).leading_zeros()),
                _ => return false,
            }
        }
    }
}

/// The last key of the node of `height` over `key`.
#[inline(always)]
fn last_of(key: u64, height: u32) -> u64 {
    key | ((1 << height) - 1)
}

/// The last fetched bitmap, as algorithm 4 keeps it.
struct BitmapCache<'a> {
    filter: &'a PublishedRencoder,
    body: &'a [u8],
    fetched: Option<(u64, [u64; MAX_WORDS])>,
    fetches_left: u32,
}

impl BitmapCache<'_> {
    /// Whether the node of `height` over `key` may hold a key: always, once the bound on fetches is reached.
    #[inline(always)]
    fn may_hold(&mut self, key: u64, height: u32) -> bool {
        let prefix = self.filter.prefix(key, height);
        let bitmap = match self.fetched {
            Some((known, bitmap)) if known == prefix => bitmap,
            _ => {
                let Some(left) = self.fetches_left.checked_sub(1) else {
                    cross("rencoder published: tired");
                    return true;
                };
                self.fetches_left = left;
                note_probe();
                let bitmap = self.filter.bitmap(self.body, prefix);
                self.fetched = Some((prefix, bitmap));
                bitmap
            }
        };
        let bit = self.filter.node_number(key, height) - 1;
        bitmap[(bit / 64) as usize & (MAX_WORDS - 1)] >> (bit % 64) & 1 == 1
    }

    /// The highest of `heights` at which the node over `key` holds none.
    #[inline(always)]
    fn first_dead(&mut self, key: u64, mut heights: Range<u32>) -> Option<u32> {
        heights.rfind(|&height| !self.may_hold(key, height))
    }

    /// Whether a leaf under the node of `height` at `from`, which may hold a key, may be one.
    #[inline(always)]
    fn holds_leaf(&mut self, from: u64, height: u32) -> bool {
        let last = last_of(from, height);
        let (mut node, mut below) = (from, height);
        while below > 0 {
            below -= 1;
            while !self.may_hold(node, below) {
                match last_of(node, below).checked_add(1) {
                    // The second half of a node that may hold a key.
                    Some(next) if next <= last => (node, below) = (next, next.trailing_zeros()),
                    _ => return false,
                }
            }
        }
        true
    }
}

impl IntegerBody for PublishedRencoder {
    const VERSION: u16 = VERSION;
    type Probe = PublishedProbe;

    fn open(body: &[u8], _envelope: &Envelope) -> Result<Self> {
        Ok(Self::new(Header::read(body)?, body.len()))
    }

    #[inline(always)]
    fn prefetch(&self, _body: &[u8], _lo: u64, _hi: u64) {}

    #[inline(always)]
    fn prepare<I: Isa>(&self, _isa: I, body: &[u8], lo: u64, hi: u64) -> PublishedProbe {
        for function in 0..self.header.hash_count.min(FUNCTIONS_AHEAD) {
            let start = self.window(self.prefix(lo, self.header.stored_levels - 1), function);
            prefetch(body, start);
            prefetch(body, start + window_bytes(self.header.tree_levels) - 1);
        }
        PublishedProbe { lo, hi }
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, _isa: I, body: &[u8], PublishedProbe { lo, hi }: PublishedProbe) -> bool {
        self.may_hold(body, lo, hi)
    }

    #[inline(always)]
    fn any_in<I: Isa>(&self, _isa: I, body: &[u8], lo: u64, hi: u64) -> bool {
        self.may_hold(body, lo, hi)
    }

    asks_in_groups!();
}
