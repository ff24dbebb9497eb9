//! The rate: what share of empty ranges is answered "maybe", and whether the stated bound allows it.
//!
//! Each range has its own bound, by its length; their sum E is the most false positives to expect. Of a count that is
//! Poisson with mean E, at least x > E come with probability at most `exp(x - E) (E / x)^x` (Chernoff). The bound is
//! said to be broken when that is below [`DOUBT`]: for E = 400 from 510 false positives on, for E = 4 from 19 on.

use lacuna_core::{DynFilter, KeyRange, SortedKeys};
use lacuna_workload::Queries;
use std::ops::Bound::Included;

use super::CheckedSpace;

/// Ranges asked in one call.
const BATCH: usize = 1024;
/// How improbable a count must be under the stated bound before the bound is called broken.
const DOUBT: f64 = 1e-6;

/// What the filter said about ranges whose truth is known.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rate {
    /// Ranges that hold no key.
    pub(crate) empty: u64,
    /// How many of them were answered "maybe".
    pub(crate) false_positives: u64,
    /// Most false positives to expect by the stated bounds.
    pub(crate) expected: f64,
    /// Ranges that hold a key.
    pub(crate) hits: u64,
    /// How many of them were denied.
    pub(crate) denied: u64,
}

impl Rate {
    /// Asks `queries` of the filter over `keys`.
    pub(crate) fn measure<K: CheckedSpace + ?Sized>(
        filter: &DynFilter<K>,
        keys: SortedKeys<'_, K>,
        queries: &Queries,
    ) -> Self {
        let mut rate = Self::default();
        let mut answers = [false; BATCH];
        for ends in K::queries(queries).chunks(BATCH) {
            let ranges: Vec<KeyRange<'_, K>> = ends
                .iter()
                .map(|&(low, high)| {
                    K::range(Included(low), Included(high)).expect("queries do not run backwards")
                })
                .collect();
            let answers = &mut answers[..ranges.len()];
            filter.may_contain_ranges(&ranges, answers);
            for (&(low, high), &mut answer) in ends.iter().zip(answers) {
                if K::is_empty(keys.column(), low, high) {
                    rate.count_empty(answer, filter.rate_bound(K::length(low, high)));
                } else {
                    rate.count_hit(answer);
                }
            }
        }
        rate
    }

    fn count_empty(&mut self, answer: bool, bound: f64) {
        self.empty += 1;
        self.false_positives += u64::from(answer);
        self.expected += bound;
    }

    fn count_hit(&mut self, answer: bool) {
        self.hits += 1;
        self.denied += u64::from(!answer);
    }

    /// Whether no key was denied and the count of false positives can be believed under the stated bound.
    pub(crate) fn holds(&self) -> bool {
        self.denied == 0 && is_credible(self.false_positives, self.expected)
    }

    /// Share of empty ranges that were answered "maybe"; 0 when there were none.
    pub(crate) fn measured(&self) -> f64 {
        self.false_positives as f64 / self.empty.max(1) as f64
    }

    /// Mean of the stated bounds of the empty ranges.
    pub(crate) fn stated(&self) -> f64 {
        self.expected / self.empty.max(1) as f64
    }
}

/// Whether `count` false positives are believable where `expected` are.
fn is_credible(count: u64, expected: f64) -> bool {
    let count = count as f64;
    if count <= expected {
        return true;
    }
    let log_probability = count - expected + count * (expected / count).ln();
    log_probability > DOUBT.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_starts_where_the_page_says() {
        for (count, expected) in [(509, 400.0), (18, 4.0), (0, 0.0), (4, 4.0)] {
            assert!(is_credible(count, expected), "{count} of {expected}");
        }
        for (count, expected) in [(510, 400.0), (19, 4.0), (1, 0.0)] {
            assert!(!is_credible(count, expected), "{count} of {expected}");
        }
    }

    #[test]
    fn a_denied_hit_does_not_hold() {
        let rate = Rate { hits: 1, denied: 1, ..Rate::default() };
        assert!(!rate.holds());
    }
}
