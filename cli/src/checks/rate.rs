//! The rate: what share of empty ranges is answered "maybe", and whether the stated bound allows it.
//!
//! Each range has its own bound, by its length; their sum E is the most false positives to expect. Of a count that is
//! Poisson with mean E, at least x > E come with probability at most `exp(x - E) (E / x)^x` (Chernoff). The bound is
//! said to be broken when that is below [`DOUBT`]: for E = 400 from 510 false positives on, for E = 4 from 19 on.
//!
//! Ranges that overlap are not independent: where gaps are few, one absent key that the filter takes for a present one
//! would be counted as often as it is asked for. So a bound counts as broken only if the count over all ranges and the
//! count over a largest set of ranges that share no key both contradict it.

use lacuna_base::{DynFilter, KeyRange, SortedKeys};
use lacuna_workload::Queries;
use std::ops::Bound::Included;

use super::CheckedSpace;

/// Ranges asked in one call.
const BATCH: usize = 1024;
/// How improbable a count must be under the stated bound before the bound is called broken.
const DOUBT: f64 = 1e-6;

/// Counts of the filter's answers about ranges whose true answer is known.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rate {
    /// Ranges that hold no key.
    pub(crate) empty: u64,
    /// How many of them were answered "maybe".
    pub(crate) false_positives: u64,
    /// Most false positives to expect by the stated bounds.
    pub(crate) expected: f64,
    /// False positives and their expectation among empty ranges that share no key.
    apart: (u64, f64),
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
        let mut empty = Vec::new();
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
                    let bound = filter.rate_bound(K::length(low, high));
                    rate.count_empty(answer, bound);
                    empty.push(Asked { low, high, answer, bound });
                } else {
                    rate.count_hit(answer);
                }
            }
        }
        rate.apart = apart(empty);
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

    /// Whether no key was denied and the count of false positives is probable under the stated bound.
    pub(crate) fn holds(&self) -> bool {
        let (apart, expected_apart) = self.apart;
        self.denied == 0
            && (is_credible(self.false_positives, self.expected) || is_credible(apart, expected_apart))
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

/// An empty range, what was answered, and the bound for ranges of its length.
struct Asked<R> {
    low: R,
    high: R,
    answer: bool,
    bound: f64,
}

/// False positives among ranges that share no key, and how many the bounds predict: whichever range ends first comes
/// next.
fn apart<R: Copy + Ord>(mut asked: Vec<Asked<R>>) -> (u64, f64) {
    asked.sort_by_key(|range| range.high);
    let mut last = None;
    let mut total = (0, 0.0);
    for range in asked {
        if last.is_none_or(|last| last < range.low) {
            total = (total.0 + u64::from(range.answer), total.1 + range.bound);
            last = Some(range.high);
        }
    }
    total
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
    fn a_key_asked_for_often_is_counted_once() {
        let ask = |low: u64, high: u64, answer| Asked { low, high, answer, bound: 0.25 };
        let asked =
            vec![ask(1, 5, true), ask(5, 9, true), ask(5, 5, true), ask(6, 6, false), ask(7, 8, true)];
        // One of the ranges that hold 5, then [6, 6], then [7, 8].
        assert_eq!(apart(asked), (2, 0.75));
        assert_eq!(apart(Vec::<Asked<u64>>::new()), (0, 0.0));
    }

    #[test]
    fn a_denied_hit_does_not_hold() {
        let rate = Rate { hits: 1, denied: 1, ..Rate::default() };
        assert!(!rate.holds());
    }
}
