//! The cost of a question to a filter, in nanoseconds: a table of constants.
//!
//! A question costs a call, some work for each probe, and the wait for the cache lines it needs, which grows with the
//! size of the filter. The numbers were fitted to questions that wait for one another. The filters took turns, so that
//! none found its lines in the nearest cache: by `cargo run --release -p lacuna-lab --example designer_costs -- 4000`
//! over 1,000 to 4,000,000 integers and the four real sets of byte strings, and by the filters of the designer's own
//! grid. With them the median filter of a family is predicted to within 10 to 40 %; runs an hour apart differ as much.
//! Other machines have other numbers, but only their proportion decides, and a choice by a clock would not be the same
//! twice.

use lacuna_base::{KeySpaceId, Prediction};

/// Needless reads cost this many nanoseconds unless the spec says otherwise: a block from a fast local disk.
pub(crate) const DEFAULT_PRICE_NS: u32 = 20_000;

/// Lengths of ranges, in keys, that count the same where nothing is known of those that will be asked.
pub(crate) const BOUND_LENGTHS: [f64; 3] = [1.0, 32.0, 1_024.0];

/// Nanoseconds of a question that the smallest and the largest key settle, and part of any other.
pub fn settled_ns(key_space: KeySpaceId) -> f64 {
    match key_space {
        KeySpaceId::U64 => 4.0,
        KeySpaceId::Bytes => 13.0,
    }
}

/// The cost of a question to a filter of one family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProbeCosts {
    /// The question itself, over integers.
    pub(crate) integers_ns: f64,
    /// The question itself, over byte strings.
    pub(crate) strings_ns: f64,
    /// Each of the family's probes.
    pub(crate) probe_ns: f64,
    /// Share of the time for a line from memory that each of its fetches waits for: some overlap.
    pub(crate) wait: f64,
}

impl ProbeCosts {
    fn call_ns(&self, key_space: KeySpaceId) -> f64 {
        match key_space {
            KeySpaceId::U64 => self.integers_ns,
            KeySpaceId::Bytes => self.strings_ns,
        }
    }

    /// Nanoseconds of `probes` probes that fetch `fetches` lines of `bytes` bytes, and of calling for them.
    pub(crate) fn look_ns(&self, key_space: KeySpaceId, (probes, fetches): (f64, f64), bytes: usize) -> f64 {
        self.call_ns(key_space) * fetches + self.probe_ns * probes + self.wait * read_ns(bytes) * fetches
    }

    /// Expected nanoseconds of a question to a filter that is as predicted.
    pub(crate) fn question_ns(&self, key_space: KeySpaceId, prediction: &Prediction) -> f64 {
        let Prediction { probes, fetches, payload_bytes, .. } = *prediction;
        // A question that reaches the body waits for a line at least.
        settled_ns(key_space)
            + self.call_ns(key_space) * fetches.min(1.0)
            + self.probe_ns * probes
            + self.wait * read_ns(payload_bytes) * fetches
    }
}

/// The cost of a query where a needless read has a price.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CostModel {
    pub(crate) key_space: KeySpaceId,
    /// Nanoseconds that a needless read costs.
    pub(crate) price_ns: f64,
}

impl CostModel {
    /// Expected cost of a query in nanoseconds: the question, and the needless reads.
    pub(crate) fn cost_ns(&self, costs: &ProbeCosts, prediction: &Prediction) -> f64 {
        costs.question_ns(self.key_space, prediction) + prediction.rate * self.price_ns
    }

    /// What a query costs at most, whatever is asked: one look, and the needless reads that the bound allows, on average
    /// over [`BOUND_LENGTHS`]. Neither the sample nor the places of keys that are stored roughly are part of it.
    pub(crate) fn bound_cost_ns(&self, costs: &ProbeCosts, prediction: &Prediction) -> f64 {
        let rates = BOUND_LENGTHS.iter().map(|&len| prediction.bound.rate(len));
        let rate = rates.sum::<f64>() / BOUND_LENGTHS.len() as f64;
        let look_ns = costs.look_ns(self.key_space, (1.0, 1.0), prediction.payload_bytes);
        settled_ns(self.key_space) + look_ns + rate * self.price_ns
    }
}

/// Nanoseconds that one read in an array of 2^14, 2^16, ... 2^30 bytes waits, when other filters were asked before.
const READ_NS: [f64; 9] = [1.0, 3.0, 50.0, 112.0, 370.0, 420.0, 460.0, 510.0, 560.0];
/// Size of the array of the first of them, as a power of two.
const FIRST_READ_LOG2: f64 = 14.0;

/// Nanoseconds that one dependent read in an array of `bytes` waits.
fn read_ns(bytes: usize) -> f64 {
    // The whole part of the logarithm and the straight line between two powers of two: no library decides the digits.
    let bytes = bytes.max(1) as u64;
    let whole = bytes.ilog2();
    let part = bytes as f64 / (1u64 << whole) as f64 - 1.0;
    let place = ((f64::from(whole) + part - FIRST_READ_LOG2) / 2.0).clamp(0.0, (READ_NS.len() - 1) as f64);
    #[expect(clippy::cast_possible_truncation, reason = "an index of the table")]
    let index = (place as usize).min(READ_NS.len() - 2);
    let share = place - index as f64;
    READ_NS[index] * (1.0 - share) + READ_NS[index + 1] * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_cost_more_in_larger_arrays() {
        let costs: Vec<f64> = (0..40).map(|log2| read_ns(1 << log2)).collect();
        assert!(costs.is_sorted(), "{costs:?}");
        assert_eq!((read_ns(0), read_ns(1 << 16), read_ns(usize::MAX)), (READ_NS[0], READ_NS[1], READ_NS[8]));
    }
}
