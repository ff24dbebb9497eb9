//! Sizes and seed of a run.

use lacuna_base::{Error, Result};
use lacuna_bench::harness::{BUILD_ROUNDS, QUERY_ROUNDS};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions};

/// The first and the last key of each range.
pub(crate) type Ends = Vec<(u64, u64)>;

/// What every group gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Small sizes and few rounds.
    pub(crate) quick: bool,
    /// Seed of keys, queries and hashes.
    pub(crate) seed: u64,
}

impl Setting {
    /// Keys of the speed bars: 10 million, so that filters are far larger than a core's own caches.
    pub(crate) fn speed_keys(self) -> usize {
        if self.quick { 200_000 } else { 10_000_000 }
    }

    /// Questions of each kind in a round.
    pub(crate) fn questions(self) -> usize {
        if self.quick { 1 << 15 } else { 1 << 20 }
    }

    /// Interleaved rounds of questions.
    pub(crate) fn query_rounds(self) -> usize {
        if self.quick { 3 } else { QUERY_ROUNDS }
    }

    /// Interleaved builds; two more than needed, for they are few.
    pub(crate) fn build_rounds(self) -> usize {
        if self.quick { 1 } else { BUILD_ROUNDS + 2 }
    }

    /// Keys of the rate bars.
    pub(crate) fn rate_keys(self) -> usize {
        if self.quick { 100_000 } else { 1_000_000 }
    }

    /// Keys of the store whose reads are counted.
    pub(crate) fn read_keys(self) -> usize {
        if self.quick { 50_000 } else { 1_000_000 }
    }

    /// False positives that a rate bar expects of a filter that just meets it.
    pub(crate) fn expected_false_positives(self) -> f64 {
        if self.quick { 10.0 } else { 150.0 }
    }

    /// The keys that `text` names.
    pub(crate) fn keys(self, text: &str) -> Result<Vec<u64>> {
        match KeySource::parse(text)?.load(&ReadOptions::default(), self.seed, &mut |_| {})? {
            Keys::U64(keys) => Ok(keys),
            Keys::Bytes(_) => Err(Error::invalid_input(format!("`{text}` does not name integers"))),
        }
    }

    /// The ranges that `text` names between `keys`, as their ends.
    pub(crate) fn ranges(self, text: &str, keys: &[u64]) -> Result<Ends> {
        Ok(self.kept_and_ranges(text, keys.to_vec())?.1)
    }

    /// As [`ranges`](Self::ranges), with the keys that stay: `heldout` takes some out.
    pub(crate) fn kept_and_ranges(self, text: &str, keys: Vec<u64>) -> Result<(Vec<u64>, Ends)> {
        let workload = QuerySource::parse(text)?.workload(Keys::U64(keys), self.seed)?;
        match (workload.inserted, workload.queries) {
            (Keys::U64(kept), Queries::U64(ranges)) => Ok((kept, ranges)),
            _ => unreachable!("integers give ranges of integers"),
        }
    }
}
