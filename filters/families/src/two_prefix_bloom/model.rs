//! The model of two prefix Bloom filters (CPFPR, equation 4, derived anew).
//!
//! A query is denied if every short prefix it touches is either denied, or followed by long prefixes all of which are
//! denied. These are independent events, so their chances multiply: one factor for each end, and for each of the prefixes
//! between, which lie inside the query and so belong to no key, the same one:
//! `1 - p1 (1 - (1 - p2)^(2^(l2 - l1)))`. An end that a key shares passes the short filter for certain.
//!
//! Queries with one short prefix, by far the most, are counted in bins (`proteus::cpfpr`). Those with more concern only
//! the few lengths between one prefix and as many as are asked; of them, at most 2,048 are looked at one by one.

use crate::proteus::cpfpr::{EmptyQueries, KeyCounts, LOOKED_AT, bloom_rate};
use crate::proteus::prefix_key::{Aligned, PrefixKeys};

use super::body::{BLOOM_HEADER_BYTES, HEADER_BYTES, MIN_BYTES, split};
use super::several::Several;
use super::single::Single;

/// Percent of the bytes that the short prefixes may get.
pub(crate) const SHARES: [u32; 3] = [40, 50, 60];

/// A design of two prefix Bloom filters with the model's prediction for the sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoPrefixRate {
    /// Bits of the short prefixes; 0 without them.
    pub short_bits: u32,
    /// Bits of the long prefixes.
    pub long_bits: u32,
    /// Percent of the bytes for the short prefixes.
    pub share: u32,
    /// Share of the sample's empty queries that will be "maybe".
    pub rate: f64,
}

/// A design task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TwoTask {
    pub(crate) max_bytes: usize,
    pub(crate) short_bits: Option<u32>,
    pub(crate) long_bits: Option<u32>,
    pub(crate) share: Option<u32>,
    pub(crate) probes: u64,
}

/// The lengths and shares of a task, and the chances of both filters for each.
pub(super) struct Grid {
    /// Lengths of either prefix, ascending; index 0 is length 0, where a short prefix denies nothing.
    pub(super) lengths: Vec<u32>,
    pub(super) shares: Vec<u32>,
    /// For each share and length, the rate of a filter of prefixes of that length.
    pub(super) short_rates: Vec<Vec<f64>>,
    pub(super) long_rates: Vec<Vec<f64>>,
    /// The rate of a filter with all bytes.
    pub(super) lone_rates: Vec<f64>,
    pub(super) probes: u64,
}

impl Grid {
    fn new(keys: &Aligned<'_>, task: TwoTask) -> Self {
        let counts = KeyCounts::of(keys, keys.longest_bits(), LOOKED_AT);
        let lengths: Vec<u32> = (0..=keys.longest_bits()).collect();
        let shares = task.share.map_or(SHARES.to_vec(), |share| vec![share]);
        let rates = |bytes: usize| -> Vec<f64> {
            let bits = bytes.saturating_sub(BLOOM_HEADER_BYTES) as u64 * 8;
            lengths.iter().map(|&length| bloom_rate(bits, counts.distinct(length))).collect()
        };
        let short_rates = shares.iter().map(|&share| rates(split(task.max_bytes, share).0)).collect();
        let long_rates = shares.iter().map(|&share| rates(split(task.max_bytes, share).1)).collect();
        let lone_rates = rates(task.max_bytes - HEADER_BYTES);
        Self { lengths, shares, short_rates, long_rates, lone_rates, probes: task.probes }
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }
}

/// Every design of `task` for `keys`, those without short prefixes first.
pub(crate) fn designs(keys: &Aligned<'_>, queries: &EmptyQueries<u64>, task: TwoTask) -> Vec<TwoPrefixRate> {
    let grid = Grid::new(keys, task);
    let single = Single::of(&queries.inside, &grid);
    let several = Several::of(&queries.inside, &grid);
    let count = queries.count.max(1) as f64;
    let mut designs = Vec::new();
    let wanted = |given: Option<u32>, bits: u32| given.is_none_or(|given| given == bits);
    for long in (1..grid.len()).filter(|&bits| wanted(task.long_bits, grid.lengths[bits])) {
        // Where two filters do not fit, the long prefixes have everything.
        let shorts = if task.max_bytes < MIN_BYTES { 1 } else { long };
        for short in (0..shorts).filter(|&bits| wanted(task.short_bits, grid.lengths[bits])) {
            for share in 0..if short == 0 { 1 } else { grid.shares.len() } {
                let rates = match short {
                    0 => (1.0, grid.lone_rates[long]),
                    _ => (grid.short_rates[share][short], grid.long_rates[share][long]),
                };
                let expected = single.maybes(short, long, rates) + several.maybes(share, short, long);
                designs.push(TwoPrefixRate {
                    short_bits: grid.lengths[short],
                    long_bits: grid.lengths[long],
                    share: if short == 0 { 0 } else { grid.shares[share] },
                    rate: expected / count,
                });
            }
        }
    }
    designs
}
