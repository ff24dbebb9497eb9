//! Known-empty intervals: an empty range is a result too.
//!
//! A store query that found no row in `[30, 40]` makes it a gap; the next query inside needs no store. A
//! write of `[35, 35]` leaves `[30, 35)` and `(35, 40]`.
//!
//! Guarantee: every gap was learned under a shared lease and is split under the exclusive lease of whatever touches it,
//! before that reaches the store. So nothing that its owner acknowledged lies in a gap; whether the owner was replaced is
//! for it to find out before it answers. Cost: one
//! tree query; at most so many gaps are kept, the oldest are forgotten first.

use crate::interval::Interval;
use crate::query::{DomainId, Touched};
use crate::range_key::RangeKey;
use crate::tree::IntervalTree;

/// Intervals of several domains that hold no row.
///
/// ```
/// use lacuna_range_cache::{Gaps, Interval};
///
/// let ages = |lo: u64, hi: u64| Interval::closed(lo.into(), hi.into()).expect("lo <= hi");
/// let mut gaps = Gaps::new(1, 100);
/// gaps.learn(0, ages(30, 40));
/// gaps.split(&[(0, ages(35, 35))]);
/// assert!(gaps.is_known_empty(0, &ages(36, 40)) && !gaps.is_known_empty(0, &ages(34, 36)));
/// ```
#[derive(Debug, Clone)]
pub struct Gaps {
    domains: Vec<IntervalTree<RangeKey, u64>>,
    /// In the order they were learned: number, domain, interval. Numbers of gaps that are gone may remain for a while.
    order: std::collections::BTreeMap<u64, (DomainId, Interval<RangeKey>)>,
    next: u64,
    most: usize,
}

impl Gaps {
    /// At most `most` gaps over `domain_count` domains.
    pub fn new(domain_count: usize, most: usize) -> Self {
        let domains = (0..domain_count).map(|_| IntervalTree::new()).collect();
        Self { domains, order: std::collections::BTreeMap::new(), next: 0, most }
    }

    /// Notes that no row lies in `interval`. Joins the gaps it overlaps.
    pub fn learn(&mut self, domain: DomainId, interval: Interval<RangeKey>) {
        let (mut lo, mut hi) = interval.clone().into_cuts();
        for number in self.overlapping(domain, &interval) {
            let (gap_lo, gap_hi) = self.forget(number).into_cuts();
            (lo, hi) = (lo.min(gap_lo), hi.max(gap_hi));
        }
        self.add(domain, Interval::between(lo, hi).expect("it holds the interval"));
        while self.order.len() > self.most {
            let oldest = *self.order.keys().next().expect("there are more than none");
            self.forget(oldest);
        }
    }

    /// Takes what a write touches out of the gaps.
    pub fn split(&mut self, touched: &[Touched]) {
        for (domain, interval) in touched {
            for number in self.overlapping(*domain, interval) {
                let (lo, hi) = self.forget(number).into_cuts();
                let rest = [
                    Interval::between(lo, interval.lo().clone()),
                    Interval::between(interval.hi().clone(), hi),
                ];
                rest.into_iter().flatten().for_each(|rest| self.add(*domain, rest));
            }
        }
    }

    /// Whether no row can lie in `interval`.
    pub fn is_known_empty(&self, domain: DomainId, interval: &Interval<RangeKey>) -> bool {
        self.domains[domain].covering(interval).next().is_some()
    }

    fn overlapping(&self, domain: DomainId, interval: &Interval<RangeKey>) -> Vec<u64> {
        self.domains[domain].overlapping(interval).map(|entry| entry.value).collect()
    }

    fn add(&mut self, domain: DomainId, interval: Interval<RangeKey>) {
        self.domains[domain].insert(interval.clone(), self.next);
        self.order.insert(self.next, (domain, interval));
        self.next += 1;
    }

    fn forget(&mut self, number: u64) -> Interval<RangeKey> {
        let (domain, interval) = self.order.remove(&number).expect("the number is that of a gap");
        self.domains[domain].remove(&interval, number);
        interval
    }

    /// Number of gaps.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether nothing is known to be empty.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gaps_never_hold_what_was_written(
            steps in prop::collection::vec((any::<bool>(), 0u64..40, 0u64..8), 0..60),
            most in prop_oneof![1usize..20, Just(100)],
        ) {
            let (mut gaps, mut empty) = (Gaps::new(1, most), [false; 50]);
            for (learn, lo, len) in steps {
                let interval = Interval::closed(lo.into(), (lo + len).into()).expect("lo <= hi");
                let places = usize::try_from(lo).unwrap()..=usize::try_from(lo + len).unwrap();
                if learn {
                    gaps.learn(0, interval);
                    empty[places].fill(true);
                } else {
                    gaps.split(&[(0, interval)]);
                    empty[places].fill(false);
                }
                for value in 0..50u64 {
                    let known = gaps.is_known_empty(0, &Interval::point(value.into()));
                    let is_empty = empty[usize::try_from(value).unwrap()];
                    prop_assert!(is_empty || !known, "{value}");
                    prop_assert!(known || !is_empty || most < 60, "{value} forgotten without need");
                }
            }
        }
    }
}
