//! Which lengths there are, and how many bits a prefix of each sets.
//!
//! Lengths are taken one by one: of all that are offered the one with which the rate falls furthest, until a further one gains
//! little. For given lengths, bits are given out one by one, too: each goes to the length where it lowers the rate most for the
//! space that it takes. A Bloom filter whose prefixes set k bits is half full with k / ln 2 bits for each prefix, and errs once in 2^k.

use std::f64::consts::LN_2;

use super::builder::{filter_bytes, smallest_bytes};
use super::codec::{MAX_LENGTHS, MIN_BLOOM_BYTES, header_bytes};
use super::facts::{Facts, Touched};
use crate::bloom::BloomSpec;
use crate::estimate::power;

/// A further length has to lower the rate to this share of what it is.
const WORTHWHILE: f64 = 0.98;

/// A length of prefixes, and the bits that each of them sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) bits: u32,
    pub(super) hash_count: u32,
}

impl Level {
    /// Bits that `prefixes` of them set.
    pub(super) fn set_bits(self, prefixes: f64) -> f64 {
        f64::from(self.hash_count) * prefixes
    }
}

/// A design in the making: some of the lengths offered, each with the bits that its prefixes set.
#[derive(Debug, Clone)]
struct Draft {
    /// Places among the lengths offered, and bits.
    levels: Vec<(usize, u32)>,
    rate: f64,
}

/// Chances of a "maybe", by the bits that a prefix sets and what is touched.
struct Chances(Vec<f64>);

/// Prefixes for which chances stand in a table.
const TABLED: u32 = 64;

impl Chances {
    fn new() -> Self {
        let hash_counts = 0..=BloomSpec::MAX_HASHES;
        let row =
            |hash_count| (0..=TABLED).map(move |count| Touched::Absent(count).passes(power(0.5, hash_count)));
        Self(hash_counts.flat_map(row).collect())
    }

    fn of(&self, touched: Touched, hash_count: u32) -> f64 {
        match touched {
            Touched::Absent(count) if count <= TABLED => self.0[(hash_count * (TABLED + 1) + count) as usize],
            other => other.passes(power(0.5, hash_count)),
        }
    }
}

/// The search for a design.
pub(super) struct Search<'f> {
    facts: &'f Facts,
    /// What the entries stand for.
    shares: &'f [f64],
    chances: Chances,
    max_bytes: usize,
}

impl<'f> Search<'f> {
    /// The search for a body of at most `max_bytes`, for queries of which the entries are these shares.
    pub(super) fn new(facts: &'f Facts, shares: &'f [f64], max_bytes: usize) -> Self {
        Self { facts, shares, chances: Chances::new(), max_bytes }
    }

    /// The best of the lengths offered, in the order in which they are to be asked.
    pub(super) fn best(&self) -> Vec<Level> {
        let mut best: Option<Draft> = None;
        while best.as_ref().is_none_or(|best| best.levels.len() < MAX_LENGTHS) {
            let places = best.as_ref().map_or(Vec::new(), |best| places(&best.levels));
            let free = (0..self.facts.offered.len()).filter(|place| !places.contains(place));
            let drafts = free.filter_map(|place| self.filled(&[&places[..], &[place]].concat()));
            let found = drafts.min_by(|a, b| a.rate.total_cmp(&b.rate));
            let max_rate = best.as_ref().map_or(f64::INFINITY, |best| best.rate * WORTHWHILE);
            match found.filter(|found| found.rate < max_rate) {
                Some(found) => best = Some(found),
                None => break,
            }
        }
        best.map_or_else(|| vec![self.cramped()], |best| self.in_order(&best))
    }

    /// All lengths offered, in the order in which they are to be asked; where they do not fit, with one bit each.
    pub(super) fn all(&self) -> Vec<Level> {
        let places: Vec<usize> = (0..self.facts.offered.len()).collect();
        let draft = self
            .filled(&places)
            .unwrap_or_else(|| Draft { levels: places.iter().map(|&place| (place, 1)).collect(), rate: 1.0 });
        self.in_order(&draft)
    }

    /// The least bad of filters that are more than half full: the budget is too small for any design.
    fn cramped(&self) -> Level {
        let room = self.max_bytes.saturating_sub(smallest_bytes(1)) + 1;
        let rate = |place: &usize| {
            let offered = &self.facts.offered[*place];
            let rate = filter_rate(1, offered.prefixes, room);
            self.facts
                .shares
                .iter()
                .zip(&offered.touched)
                .map(|(share, touched)| share * touched.passes(rate))
                .sum::<f64>()
        };
        // Of equal ones the longest, which sees most of a key.
        let places = (0..self.facts.offered.len()).rev();
        let best = places.min_by(|a, b| rate(a).total_cmp(&rate(b))).expect("the longest key's is offered");
        Level { bits: self.facts.offered[best].bits, hash_count: 1 }
    }

    /// The lengths at `places` with as many bits as fit; `None` if they do not fit with one each.
    fn filled(&self, places: &[usize]) -> Option<Draft> {
        let room = self.max_bytes.checked_sub(smallest_bytes(places.len()))?;
        let mut room_bits = room as f64 * 8.0;
        let cost = |place: usize| self.facts.offered[place].prefixes / LN_2;
        let mut levels: Vec<(usize, u32)> = places.iter().map(|&place| (place, 1)).collect();
        room_bits -= places.iter().map(|&place| cost(place)).sum::<f64>();
        if room_bits < 0.0 {
            return None;
        }
        let mut passed = self.passed(&levels);
        loop {
            let gain =
                |&(place, hash_count): &(usize, u32)| self.gain(&passed, place, hash_count) / cost(place);
            let fitting = levels.iter().enumerate().filter(|(_, (place, hash_count))| {
                *hash_count < BloomSpec::MAX_HASHES && cost(*place) <= room_bits
            });
            let gains = fitting.map(|(number, level)| (number, gain(level)));
            // Of equal ones the one with the fewest bits: without a query they all get as many.
            let best = gains.max_by(|(a, gain), (b, other)| {
                gain.total_cmp(other).then(levels[*b].1.cmp(&levels[*a].1)).then(b.cmp(a))
            });
            let Some((number, _)) = best else { break };
            let (place, hash_count) = levels[number];
            for (passed, touched) in passed.iter_mut().zip(&self.facts.offered[place].touched) {
                *passed *= self.factor(*touched, hash_count);
            }
            levels[number].1 += 1;
            room_bits -= cost(place);
        }
        Some(Draft { levels, rate: passed.iter().sum() })
    }

    /// The share of each entry's queries that all levels let pass.
    fn passed(&self, levels: &[(usize, u32)]) -> Vec<f64> {
        let chance = |entry: usize| {
            let of = |&(place, hash_count): &(usize, u32)| {
                self.chances.of(self.facts.offered[place].touched[entry], hash_count)
            };
            levels.iter().map(of).product::<f64>()
        };
        self.shares.iter().enumerate().map(|(entry, share)| share * chance(entry)).collect()
    }

    /// By how much the rate falls if each prefix of the length at `place` sets a bit more than `hash_count`.
    fn gain(&self, passed: &[f64], place: usize, hash_count: u32) -> f64 {
        let touched = &self.facts.offered[place].touched;
        passed
            .iter()
            .zip(touched)
            .map(|(passed, touched)| passed * (1.0 - self.factor(*touched, hash_count)))
            .sum()
    }

    /// What a bit more than `hash_count` leaves of the chance of a "maybe".
    fn factor(&self, touched: Touched, hash_count: u32) -> f64 {
        self.chances.of(touched, hash_count + 1) / self.chances.of(touched, hash_count)
    }

    /// The levels in the order in which they deny most of the queries that those before let pass.
    fn in_order(&self, draft: &Draft) -> Vec<Level> {
        let (mut left, mut ordered) = (draft.levels.clone(), Vec::new());
        let mut passed = self.shares.to_vec();
        let chances = |&(place, hash_count): &(usize, u32)| {
            self.facts.offered[place].touched.iter().map(move |touched| self.chances.of(*touched, hash_count))
        };
        while !left.is_empty() {
            let kept = |level: &(usize, u32)| -> f64 {
                passed.iter().zip(chances(level)).map(|(passed, chance)| passed * chance).sum()
            };
            let kept: Vec<f64> = left.iter().map(kept).collect();
            // Of equal ones the longest.
            let best = (0..left.len()).rev().min_by(|&a, &b| kept[a].total_cmp(&kept[b])).expect("not empty");
            let level = left.remove(best);
            passed.iter_mut().zip(chances(&level)).for_each(|(passed, chance)| *passed *= chance);
            ordered.push(Level { bits: self.facts.offered[level.0].bits, hash_count: level.1 });
        }
        ordered
    }
}

fn places(levels: &[(usize, u32)]) -> Vec<usize> {
    levels.iter().map(|(place, _)| *place).collect()
}

/// The chance that a filter of `bytes` bytes for bits errs about an absent prefix, if it holds `prefixes`.
fn filter_rate(hash_count: u32, prefixes: f64, bytes: usize) -> f64 {
    let set_bits = f64::from(hash_count) * prefixes;
    power(-libm::expm1(-set_bits / (bytes as f64 * 8.0)), hash_count)
}

/// The rates of the filters of `levels` in a body of `max_bytes`, each for its number of prefixes.
pub(super) fn rates(levels: &[Level], prefixes: &[f64], max_bytes: usize) -> Vec<f64> {
    let set_bits: Vec<f64> =
        levels.iter().zip(prefixes).map(|(level, &prefixes)| level.set_bits(prefixes)).collect();
    let bytes = filter_bytes(&set_bits, max_bytes - header_bytes(levels.len()));
    let rate = |((level, &prefixes), bytes): ((&Level, &f64), usize)| {
        filter_rate(level.hash_count, prefixes, bytes - MIN_BLOOM_BYTES + 1)
    };
    levels.iter().zip(prefixes).zip(bytes).map(rate).collect()
}
