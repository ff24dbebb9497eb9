//! How often, and after how many probes, a range without keys would be "maybe".
//!
//! The answers for different nodes are independent, so a node of level h survives with the chance
//! `a(h) = p(h) (1 - (1 - a(h-1))^2)`, where p is the rate of the level's filter, 1 without one. A range is its largest
//! aligned nodes, at most two of a level; neither its start nor the keys next to it matter. The probes below a node are a
//! branching process, whose mean and second moment follow the same recursion; against a bound on probes their sum is taken to be
//! about normal.

use super::codec::{Header, LEVELS};
use crate::estimate::power;

/// Slope of the logistic curve that is nearest to the normal distribution.
const LOGISTIC_SLOPE: f64 = 1.702;

/// The rate of a Bloom filter of `bits` over `nodes` prefixes that set `hash_count` bits each.
pub(crate) fn filter_rate(nodes: f64, bits: f64, hash_count: u32) -> f64 {
    power(1.0 - libm::exp(-nodes * f64::from(hash_count) / bits), hash_count)
}

/// The largest aligned nodes that make up a range: how many of each level, up to the highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cover {
    counts: [u8; LEVELS],
    top: usize,
}

impl Cover {
    /// The cover of `lo..=hi`.
    pub(crate) fn of(lo: u64, hi: u64) -> Self {
        let mut cover = Self { counts: [0; LEVELS], top: 0 };
        let mut from = Some(lo);
        while let Some(start) = from.filter(|&start| start <= hi) {
            let fitting = (hi - start).saturating_add(1).ilog2();
            let height = start.trailing_zeros().min(fitting);
            cover.counts[height as usize] += 1;
            cover.top = cover.top.max(height as usize);
            from = start.checked_add(1 << height);
        }
        cover
    }

    /// The highest level of it.
    pub(crate) fn top(&self) -> usize {
        self.top
    }

    /// The number of nodes of each level up to the highest.
    fn counts(&self) -> impl Iterator<Item = (usize, u8)> {
        self.counts[..=self.top].iter().copied().enumerate()
    }

    /// Number of its nodes of level `height`: 0, 1 or 2.
    pub(crate) fn count(&self, height: usize) -> f64 {
        f64::from(self.counts[height])
    }
}

/// The prediction for an empty range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Expected {
    /// Chance of a "maybe".
    pub(crate) rate: f64,
    /// Mean number of probes.
    pub(crate) probes: f64,
}

/// The chances of every level.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    /// Chance that a node without keys survives.
    survival: [f64; LEVELS],
    /// Mean number of probes at and below a node, and the mean of its square.
    probes: [(f64, f64); LEVELS],
    max_probes: f64,
}

impl Model {
    /// The model of filters with these rates, `None` for levels without one.
    pub(crate) fn new(rates: &[Option<f64>; LEVELS], max_probes: u32) -> Self {
        let (mut survival, mut probes) = ([1.0; LEVELS], [(0.0, 0.0); LEVELS]);
        let (mut below, mut parts) = (None, (0.0, 0.0));
        for (height, rate) in rates.iter().enumerate() {
            let (cost, rate) = rate.map_or((0.0, 1.0), |rate| (1.0, rate));
            survival[height] = rate * below.map_or(1.0, |a: f64| 1.0 - (1.0 - a) * (1.0 - a));
            let mean = cost + rate * parts.0;
            let square = cost + rate * (2.0 * cost * parts.0 + parts.1);
            probes[height] = (mean, square);
            below = Some(survival[height]);
            parts = (2.0 * mean, 2.0 * square + 2.0 * mean * mean);
        }
        Self { survival, probes, max_probes: f64::from(max_probes) }
    }

    /// The prediction for an empty range with this cover.
    pub(crate) fn expected(&self, cover: &Cover) -> Expected {
        let (mut dead, mut mean, mut variance) = (1.0, 0.0, 0.0);
        for (height, count) in cover.counts() {
            let (probes, square) = self.probes[height];
            for _ in 0..count {
                dead *= 1.0 - self.survival[height];
                mean += probes;
                variance += square - probes * probes;
            }
        }
        let tired = self.tired(mean, variance);
        Expected { rate: 1.0 - dead * (1.0 - tired), probes: mean.min(self.max_probes) }
    }

    /// Chance that more probes are needed than there may be.
    fn tired(&self, mean: f64, variance: f64) -> f64 {
        let room = self.max_probes + 0.5 - mean;
        if variance <= 1e-9 {
            return if room > 0.0 { 0.0 } else { 1.0 };
        }
        let tail = libm::exp(-LOGISTIC_SLOPE * room.abs() / variance.sqrt());
        let tail = tail / (1.0 + tail);
        if room > 0.0 { tail } else { 1.0 - tail }
    }
}

/// Most false positives among independent empty queries of `range_len` keys.
///
/// A node survives no more often than its two parts together, so a range is worst when it has two nodes of each level
/// from the keys upwards. If even all nodes of all filters together are within the bound on probes, nothing else is "maybe".
pub(crate) fn rate_bound(header: &Header, range_len: u64) -> f64 {
    let mut rates = [None; LEVELS];
    for (height, level) in header.filters() {
        rates[height] = Some(power(level.share_of_ones(), u32::from(level.hash_count)));
    }
    let all_nodes: u64 = header.filters().map(|(height, _)| range_len >> height).fold(0, u64::saturating_add);
    if all_nodes > u64::from(header.max_probes) {
        return 1.0;
    }
    let survival = Model::new(&rates, header.max_probes).survival;
    let (mut left, mut expected) = (range_len as f64, 0.0);
    for (height, chance) in survival.iter().enumerate() {
        let keys = (1u64 << height) as f64;
        let nodes = (left / keys).min(2.0);
        expected += nodes * chance;
        left -= nodes * keys;
    }
    expected.min(1.0)
}
