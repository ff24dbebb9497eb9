//! How many bits each level gets.
//!
//! Three ways, all for the ranges of a sample:
//!
//! - *single*: everything to the last level, so that a range is asked key by key;
//! - *published*: as the public research code does, the sum over all levels of (how often a range has a node there) x (chance that the node
//!   survives doubting) becomes least, which makes the second inverse to the first. Where ranges have as many nodes of
//!   one level as of the next, an upper filter must halve what its two parts let through: 1.44 bits for each prefix,
//!   and everything else for the last level;
//! - *chosen*: of single, published and every run of levels whose filters say "maybe" to a half, a quarter or an eighth
//!   of their absent prefixes (the paper's balance, in which doubting neither grows nor dies out), the one with the
//!   least predicted rate, bound on probes included. Among nearly equal ones the fewest probes win.

use super::codec::{LEVELS, MAX_HASHES};
use super::model::{Cover, Model, filter_rate};
use super::spec::Policy;
use crate::rencoder::NodeCounts;

/// 1 / ln 2: bits for each prefix and each bit it sets, where half of all bits are ones.
const INVERSE_LN_2: f64 = std::f64::consts::LOG2_E;
/// Nodes of the last level in a cover, where the sample has none.
const MIN_ASKED: f64 = 1.0 / 64.0;
/// The published weight is found to one part in this many: a thousandth of a bit a prefix.
const NEAR_ENOUGH: f64 = 1_024.0;
/// Most first and last levels tried.
const MAX_STEPS: usize = 16;
/// A choice this many times as wrong as the best is good enough if it is cheaper.
const NEARLY: f64 = 1.1;
/// Bits that a prefix of an upper level sets, in the choices.
const UPPER_HASHES: [u32; 3] = [1, 2, 3];

/// Words and hash functions of each level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allocation {
    pub(crate) words: [u64; LEVELS],
    pub(crate) hash_counts: [u32; LEVELS],
}

/// The input of an allocation.
pub(crate) struct Allocator<'a> {
    pub(crate) counts: &'a NodeCounts,
    pub(crate) covers: &'a [Cover],
    /// Words of all filters together, their entries included.
    pub(crate) words: u64,
    pub(crate) max_probes: u32,
}

impl Allocator<'_> {
    /// The allocation by `policy`.
    pub(crate) fn allocate(&self, policy: Policy) -> Allocation {
        match policy {
            Policy::Chosen => self.best(),
            Policy::Single => self.single(),
            Policy::Published => self.published(),
        }
    }

    /// The model of filters by `allocation`.
    pub(crate) fn model(&self, allocation: &Allocation) -> Model {
        let mut rates = [None; LEVELS];
        for (height, rate) in rates.iter_mut().enumerate() {
            let bits = allocation.words[height] as f64 * 64.0;
            *rate =
                (bits > 0.0).then(|| filter_rate(self.nodes(height), bits, allocation.hash_counts[height]));
        }
        Model::new(&rates, self.max_probes)
    }

    fn nodes(&self, height: usize) -> f64 {
        self.counts.nodes(u32::try_from(height).expect("below 64")) as f64
    }

    fn top(&self) -> usize {
        self.covers.iter().map(Cover::top).max().unwrap_or(0)
    }

    fn single(&self) -> Allocation {
        self.completed(Allocation { words: [0; LEVELS], hash_counts: [0; LEVELS] })
            .expect("one word at least")
    }

    /// Gives the last level what the others left, and each entry but the first its word; `None` if another level would
    /// have more.
    fn completed(&self, mut allocation: Allocation) -> Option<Allocation> {
        let upper: u64 =
            allocation.words[1..].iter().filter(|&&words| words > 0).map(|words| words + 1).sum();
        let max = allocation.words[1..].iter().max().copied().unwrap_or(0);
        allocation.words[0] = self.words.checked_sub(upper).filter(|&words| words >= max.max(1))?;
        allocation.hash_counts[0] = best_hash_count(allocation.words[0] as f64 * 64.0 / self.nodes(0));
        Some(allocation)
    }

    /// Filters of `hash_count` bits a prefix, half ones, on levels `from..=to`, and the rest to the last.
    fn upper_run(&self, from: usize, to: usize, hash_count: u32) -> Option<Allocation> {
        let mut allocation = Allocation { words: [0; LEVELS], hash_counts: [0; LEVELS] };
        for height in from..=to {
            let bits = self.nodes(height) * f64::from(hash_count) * INVERSE_LN_2;
            allocation.words[height] = whole_words(bits).max(1);
            allocation.hash_counts[height] = hash_count;
        }
        self.completed(allocation)
    }

    /// Every level's survival inverse to how often it begins a question.
    fn published(&self) -> Allocation {
        let asked = self.asked();
        let budget = self.words as f64 * 64.0;
        let bits = |weight: f64| self.balanced(&asked, weight);
        // The larger the weight, the more may survive, and the fewer bits are needed.
        let (mut heavy, mut light) = (0.0, asked[0]);
        while light - heavy > light / NEAR_ENOUGH {
            let middle = (heavy + light) / 2.0;
            if bits(middle).iter().sum::<f64>() > budget { heavy = middle } else { light = middle }
        }
        let mut allocation = Allocation { words: [0; LEVELS], hash_counts: [0; LEVELS] };
        for (height, bits) in bits(light).into_iter().enumerate().skip(1) {
            allocation.words[height] = whole_words(bits);
            allocation.hash_counts[height] = best_hash_count(bits / self.nodes(height));
        }
        self.completed(allocation).unwrap_or_else(|| self.single())
    }

    /// Nodes of each level in the mean cover; a few of the last, which always has a filter.
    fn asked(&self) -> Vec<f64> {
        let mean = |height: usize| {
            let sum: f64 = self.covers.iter().map(|cover| cover.count(height)).sum();
            sum / self.covers.len().max(1) as f64
        };
        let mut asked: Vec<f64> = (0..=self.top()).map(mean).collect();
        asked[0] = asked[0].max(MIN_ASKED);
        asked
    }

    /// Bits of each level so that a node of it survives `weight / asked` times, as far as its parts do not already.
    fn balanced(&self, asked: &[f64], weight: f64) -> Vec<f64> {
        let mut parts = 1.0;
        let mut all = Vec::with_capacity(asked.len());
        for (height, &asked) in asked.iter().enumerate() {
            let wanted = if asked > 0.0 { weight / asked } else { 1.0 };
            let rate = (wanted / parts).clamp(f64::MIN_POSITIVE, 1.0);
            all.push(-libm::log(rate) * INVERSE_LN_2 * INVERSE_LN_2 * self.nodes(height));
            let survival = rate * parts;
            parts = 1.0 - (1.0 - survival) * (1.0 - survival);
        }
        all
    }

    fn best(&self) -> Allocation {
        let top = self.top();
        let step = top.div_ceil(MAX_STEPS).max(1);
        let mut choices = vec![self.single(), self.published()];
        for from in (1..=top).step_by(step) {
            for to in (from..=top).step_by(step) {
                let runs = UPPER_HASHES.iter().map(|&hash_count| self.upper_run(from, to, hash_count));
                choices.extend(runs.flatten());
            }
        }
        let judged: Vec<(f64, f64)> = choices.iter().map(|choice| self.judge(choice)).collect();
        let min = judged.iter().map(|(rate, _)| *rate).fold(f64::INFINITY, f64::min);
        let near = choices.iter().zip(&judged).filter(|(_, (rate, _))| *rate <= min * NEARLY);
        *near.min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1)).expect("the least is among them").0
    }

    /// Rates and probes of all covers, added up.
    fn judge(&self, allocation: &Allocation) -> (f64, f64) {
        let model = self.model(allocation);
        let expected = self.covers.iter().map(|cover| model.expected(cover));
        expected.fold((0.0, 0.0), |(rate, probes), next| (rate + next.rate, probes + next.probes))
    }
}

/// Whole words in this many bits.
fn whole_words(bits: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "not negative, and at most 128 bits a key")]
    let words = (bits / 64.0) as u64;
    words
}

/// The number of bits a prefix sets that suits this many bits for each prefix.
fn best_hash_count(bits_per_prefix: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "clamped to 1..=32")]
    let best = (bits_per_prefix / INVERSE_LN_2).round().clamp(1.0, f64::from(MAX_HASHES)) as u32;
    best
}
