//! Known-empty intervals: an empty range is a result too.
//!
//! A store query that found no row in `[30, 40]` makes this interval a gap; the next query inside needs no store.
//! A write of `[35, 35]` leaves `[30, 35)` and `(35, 40]`. A query with further conditions may find nothing where
//! there are rows, so a gap answers only for queries of the same fingerprint; a write splits the gaps of all
//! fingerprints.
//!
//! Guarantee: every gap was learned under a shared lease and is split under the exclusive lease of the write that
//! touches it, before that write reaches the store. So no acknowledged write of this owner lies in a gap; whether
//! the owner was replaced, it must check before it answers. Cost: one tree query. The number of gaps is limited;
//! the oldest are forgotten first.

use std::collections::BTreeMap;

use crate::interval::Interval;
use crate::query::{DomainId, Query, Touched};
use crate::range_key::RangeKey;
use crate::tree::IntervalTree;

/// Intervals of several domains that hold no row.
///
/// ```
/// use lacuna_cache_protocol::{Gaps, Interval, Query};
///
/// let ages = |lo: u64, hi: u64| Interval::closed(lo.into(), hi.into()).expect("lo <= hi");
/// let mut gaps = Gaps::new(1, 100);
/// gaps.learn(0, ages(30, 40), 0);
/// gaps.split(&[(0, ages(35, 35))]);
/// let is_known_empty = |lo, hi| gaps.is_known_empty(&Query::all(0, ages(lo, hi)));
/// assert!(is_known_empty(36, 40) && !is_known_empty(34, 36));
/// ```
#[derive(Debug, Clone)]
pub struct Gaps {
    domains: Vec<IntervalTree<RangeKey, u64>>,
    /// In the order they were learned, by number.
    order: BTreeMap<u64, Gap>,
    next: u64,
    max: usize,
}

#[derive(Debug, Clone)]
struct Gap {
    domain: DomainId,
    interval: Interval<RangeKey>,
    fingerprint: u64,
}

impl Gaps {
    /// At most `max` gaps over `domain_count` domains.
    pub fn new(domain_count: usize, max: usize) -> Self {
        let domains = (0..domain_count).map(|_| IntervalTree::new()).collect();
        Self { domains, order: BTreeMap::new(), next: 0, max }
    }

    /// Notes that queries with this fingerprint find no row in `interval`. Joins the gaps it overlaps.
    pub fn learn(&mut self, domain: DomainId, interval: Interval<RangeKey>, fingerprint: u64) {
        let (mut lo, mut hi) = interval.clone().into_cuts();
        let mut alike = self.overlapping(domain, &interval);
        alike.retain(|number| self.order[number].fingerprint == fingerprint);
        for number in alike {
            let (gap_lo, gap_hi) = self.forget(number).interval.into_cuts();
            (lo, hi) = (lo.min(gap_lo), hi.max(gap_hi));
        }
        let interval = Interval::between(lo, hi).expect("it holds the interval");
        self.add(Gap { domain, interval, fingerprint });
        self.trim();
    }

    /// Removes the touched intervals from the gaps.
    pub fn split(&mut self, touched: &[Touched]) {
        for (domain, interval) in touched {
            for number in self.overlapping(*domain, interval) {
                let Gap { domain, interval: gap, fingerprint } = self.forget(number);
                let (lo, hi) = gap.into_cuts();
                let rest = [
                    Interval::between(lo, interval.lo().clone()),
                    Interval::between(interval.hi().clone(), hi),
                ];
                let rest = rest.into_iter().flatten();
                rest.for_each(|interval| self.add(Gap { domain, interval, fingerprint }));
            }
        }
        self.trim();
    }

    /// Forgets the oldest gaps, which is always right, until they are no more than they may be.
    fn trim(&mut self) {
        while self.order.len() > self.max {
            let oldest = *self.order.keys().next().expect("there are more than none");
            self.forget(oldest);
        }
    }

    /// Whether the query can find no row.
    pub fn is_known_empty(&self, query: &Query) -> bool {
        let mut covering = self.domains[query.domain].covering(&query.interval);
        covering.any(|entry| self.order[&entry.value].fingerprint == query.fingerprint)
    }

    /// Queries that find nothing and whose interval contains one of these, one for each gap.
    pub(crate) fn covering(&self, touched: &[Touched]) -> Vec<Query> {
        let gaps = touched.iter().flat_map(|(domain, interval)| self.domains[*domain].covering(interval));
        let query = |gap: &Gap| Query {
            fingerprint: gap.fingerprint,
            ..Query::all(gap.domain, gap.interval.clone())
        };
        gaps.map(|entry| query(&self.order[&entry.value])).collect()
    }

    fn overlapping(&self, domain: DomainId, interval: &Interval<RangeKey>) -> Vec<u64> {
        self.domains[domain].overlapping(interval).map(|entry| entry.value).collect()
    }

    fn add(&mut self, gap: Gap) {
        self.domains[gap.domain].insert(gap.interval.clone(), self.next);
        self.order.insert(self.next, gap);
        self.next += 1;
    }

    fn forget(&mut self, number: u64) -> Gap {
        let gap = self.order.remove(&number).expect("the number is that of a gap");
        self.domains[gap.domain].remove(&gap.interval, number);
        gap
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
            max in prop_oneof![1usize..20, Just(100)],
        ) {
            let (mut gaps, mut empty) = (Gaps::new(1, max), [false; 50]);
            for (learn, lo, len) in steps {
                let interval = Interval::closed(lo.into(), (lo + len).into()).expect("lo <= hi");
                let places = usize::try_from(lo).unwrap()..=usize::try_from(lo + len).unwrap();
                if learn {
                    gaps.learn(0, interval, 7);
                    empty[places].fill(true);
                } else {
                    gaps.split(&[(0, interval)]);
                    empty[places].fill(false);
                }
                prop_assert!(gaps.len() <= max);
                for value in 0..50u64 {
                    let query = Query { fingerprint: 7, ..Query::all(0, Interval::point(value.into())) };
                    let known = gaps.is_known_empty(&query);
                    let is_empty = empty[usize::try_from(value).unwrap()];
                    prop_assert!(is_empty || !known, "{value}");
                    prop_assert!(known || !is_empty || max < 60, "{value} forgotten without need");
                }
            }
        }
    }

    #[test]
    fn a_gap_answers_for_its_own_fingerprint_and_is_split_for_all() {
        let query = |fingerprint, lo: u64, hi: u64| Query {
            fingerprint,
            ..Query::all(0, Interval::closed(lo.into(), hi.into()).expect("lo <= hi"))
        };
        let mut gaps = Gaps::new(1, 100);
        gaps.learn(0, query(1, 10, 20).interval, 1);
        assert!(!gaps.is_known_empty(&query(2, 12, 13)), "another condition may find rows there");
        gaps.learn(0, query(2, 15, 30).interval, 2);
        assert!(gaps.is_known_empty(&query(1, 10, 20)) && !gaps.is_known_empty(&query(1, 10, 30)));
        gaps.split(&[(0, Interval::point(17.into()))]);
        assert!(!gaps.is_known_empty(&query(1, 17, 17)) && !gaps.is_known_empty(&query(2, 17, 17)));
        assert!(gaps.is_known_empty(&query(1, 18, 20)) && gaps.is_known_empty(&query(2, 18, 30)));
    }
}
