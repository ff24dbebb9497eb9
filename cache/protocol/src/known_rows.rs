//! What an owner remembers of rows: enough to know that the condition of a write holds.
//!
//! Under write-back a conditional write is acknowledged before the store has it only if its condition is certain to
//! hold (P14). Results show the rows that they hold, but to read one for each write would cost as much as the write.
//! So the owner keeps a digest of each row that it has seen, at the row's value in the first domain. A write takes
//! away what is remembered of its intervals and, if it is done, leaves what it made.
//!
//! Guarantee: every fact was learned under a lease and is taken away under the exclusive lease of the write that
//! touches it. Cost: one search in a B-tree for each row; at most [`Config::max_known_rows`](crate::Config) facts of
//! about 60 bytes each, of which the next in the order of values makes room for a new one.

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::config::Fact;
use crate::interval::{Cut, Interval};
use crate::query::Touched;
use crate::range_key::RangeKey;

#[derive(Debug, Clone)]
pub(crate) struct KnownRows {
    facts: BTreeSet<Fact>,
    /// The last fact that made room.
    hand: Option<Fact>,
    max: usize,
}

impl KnownRows {
    pub(crate) const fn new(max: usize) -> Self {
        Self { facts: BTreeSet::new(), hand: None, max }
    }

    pub(crate) fn learn(&mut self, facts: impl IntoIterator<Item = Fact>) {
        for fact in facts {
            if self.max == 0 {
                return;
            }
            if self.facts.len() >= self.max && !self.facts.contains(&fact) {
                self.make_room();
            }
            self.facts.insert(fact);
        }
    }

    fn make_room(&mut self) {
        let from = self.hand.take().map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.facts.range((from, Bound::Unbounded)).next().or_else(|| self.facts.first()).cloned();
        if let Some(next) = next {
            self.facts.remove(&next);
            self.hand = Some(next);
        }
    }

    /// Takes away and returns what is known of the rows in these intervals.
    pub(crate) fn take(&mut self, touched: &[Touched]) -> Vec<Fact> {
        let mut taken = Vec::new();
        for (_, interval) in touched.iter().filter(|(domain, _)| *domain == 0) {
            let inside: Vec<Fact> = self.facts.range(bounds(interval)).cloned().collect();
            for fact in &inside {
                self.facts.remove(fact);
            }
            taken.extend(inside);
        }
        taken
    }
}

fn bounds(interval: &Interval<RangeKey>) -> (Bound<Fact>, Bound<Fact>) {
    let below = |value: &RangeKey| (value.clone(), 0);
    let above = |value: &RangeKey| (value.clone(), u128::MAX);
    let lo = match interval.lo() {
        Cut::Before(value) => Bound::Included(below(value)),
        Cut::After(value) => Bound::Excluded(above(value)),
        Cut::Least | Cut::Greatest => Bound::Unbounded,
    };
    let hi = match interval.hi() {
        Cut::Before(value) => Bound::Excluded(below(value)),
        Cut::After(value) => Bound::Included(above(value)),
        Cut::Least | Cut::Greatest => Bound::Unbounded,
    };
    (lo, hi)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(value: u64) -> Touched {
        (0, Interval::point(value.into()))
    }

    #[test]
    fn a_write_takes_away_what_was_known_of_its_intervals_and_nothing_else() {
        let mut known = KnownRows::new(100);
        known.learn([(5.into(), 1), (5.into(), 2), (6.into(), 3), (7.into(), u128::MAX)]);
        assert_eq!(known.take(&[point(5)]), [(5.into(), 1), (5.into(), 2)]);
        assert_eq!(known.take(&[point(5), (1, Interval::all())]), []);
        let above_6 = Interval::new(Bound::Excluded(RangeKey::from(6)), Bound::Unbounded).unwrap();
        assert_eq!(known.take(&[(0, above_6)]), [(7.into(), u128::MAX)]);
        assert_eq!(known.take(&[(0, Interval::all())]), [(6.into(), 3)]);
    }

    #[test]
    fn facts_beyond_the_limit_make_room_one_after_the_other() {
        let mut known = KnownRows::new(3);
        known.learn((0..6).map(|value| (value.into(), 0)));
        assert_eq!(known.facts.len(), 3);
        KnownRows::new(0).learn([(1.into(), 1)]);
        known.learn([(5.into(), 0)]);
        assert_eq!(known.facts.len(), 3, "it was known");
    }
}
