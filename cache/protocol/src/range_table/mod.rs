//! The range table: which range owns which interval of a domain.
//!
//! A domain is cut into ranges, each of which has at most one owner. With a cut before 100, values below 100
//! belong to one range, the others to the next. A query or a write that crosses a cut concerns several ranges: it
//! goes to the range with the smallest number, which asks the others in ascending order, so that no two wait for
//! each other.
//!
//! A table has a version. A range is split or merged while it has no owner (its owner was stopped and has finished
//! its work), so that no owner ever sees its own interval change: it begins anew, with another interval and a
//! higher epoch. It serves once all routes to the ranges it was cut from have ended: a hit asks no owner, and
//! their fences may stand for as long (P11). Numbers of ranges are never reused.
//!
//! Report, section 3, where a dendrite asks the coordinator for "updated range partitioning information".

mod bytes;

use std::collections::BTreeMap;

use crate::error::{Error, Result};

use crate::cache_model::RangeId;
use crate::interval::{Cut, Interval};
use crate::query::{DomainId, Touched};
use crate::range_key::RangeKey;

/// Which intervals belong to which range.
///
/// ```
/// use lacuna_cache_protocol::{Cut, Interval, RangeId, RangeKey, RangeTable};
///
/// let table = RangeTable::new(1).split(0, Cut::Before(RangeKey::from(100))).expect("100 is inside");
/// let ages = |lo: u64, hi: u64| Interval::closed(lo.into(), hi.into()).expect("lo <= hi");
/// assert_eq!(table.parts(&[(0, ages(20, 30))]).len(), 1);
/// assert_eq!(table.parts(&[(0, ages(90, 110))])[&RangeId(1)], [(0, ages(100, 110))].map(|(domain, upper)| {
///     (domain, upper.intersection(&table.intervals(RangeId(1))[0].1).expect("they overlap"))
/// }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RangeTable {
    version: u64,
    next: u32,
    /// For each domain, a number that identifies its meaning.
    marks: Vec<u64>,
    /// For each domain, where its ranges start, ascending; the first at the least cut.
    domains: Vec<Vec<(Cut<RangeKey>, RangeId)>>,
}

impl RangeTable {
    /// Domains that a table has at most when it is read: damaged bytes must not ask for memory.
    pub const MAX_DOMAINS: usize = 1 << 10;

    /// One range that holds all of `domain_count` domains, of whose meaning the table says nothing: their marks are 0.
    pub fn new(domain_count: usize) -> Self {
        Self::of_domains(vec![0; domain_count])
    }

    /// One range that holds all of these domains, each given by a mark: a number that identifies its meaning, so that processes
    /// which number the domains otherwise can be refused.
    pub fn of_domains(marks: Vec<u64>) -> Self {
        let domains = vec![vec![(Cut::Least, RangeId(0))]; marks.len()];
        Self { version: 1, next: 1, marks, domains }
    }

    /// The mark of each domain.
    pub fn marks(&self) -> &[u64] {
        &self.marks
    }

    /// Version of the table; larger for every table derived from this one.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Number of domains of the collection.
    pub const fn domain_count(&self) -> usize {
        self.domains.len()
    }

    /// All ranges, each once.
    pub fn ranges(&self) -> Vec<RangeId> {
        let mut ranges: Vec<RangeId> = self.domains.iter().flatten().map(|(_, range)| *range).collect();
        ranges.sort_unstable();
        ranges.dedup();
        ranges
    }

    /// The intervals of a range, one or none in each domain.
    pub fn intervals(&self, range: RangeId) -> Vec<Touched> {
        let all = (0..self.domains.len()).flat_map(|domain| self.owned(domain));
        all.filter(|(owner, _)| *owner == range).map(|(_, piece)| piece).collect()
    }

    /// The intervals into which a domain is cut, ascending; none of a domain that there is not.
    pub fn pieces(&self, domain: DomainId) -> Vec<Interval<RangeKey>> {
        if domain >= self.domain_count() {
            return Vec::new();
        }
        self.owned(domain).map(|(_, (_, interval))| interval).collect()
    }

    /// The ranges of a domain and their intervals, ascending.
    fn owned(&self, domain: DomainId) -> impl Iterator<Item = (RangeId, Touched)> {
        let starts = &self.domains[domain];
        starts.iter().enumerate().filter_map(move |(place, (start, range))| {
            let end = starts.get(place + 1).map_or(Cut::Greatest, |(end, _)| end.clone());
            Some((*range, (domain, Interval::between(start.clone(), end)?)))
        })
    }

    /// The parts of `touched` in each range, in the order in which leases are taken.
    pub fn parts(&self, touched: &[Touched]) -> BTreeMap<RangeId, Vec<Touched>> {
        let mut parts: BTreeMap<RangeId, Vec<Touched>> = BTreeMap::new();
        for (domain, interval) in touched {
            for (range, (_, piece)) in self.owned(*domain) {
                if let Some(part) = piece.intersection(interval) {
                    parts.entry(range).or_default().push((*domain, part));
                }
            }
        }
        parts
    }

    /// The range to which a request that touches these goes: its only range, or the one that asks the others.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such domain, or nothing is touched.
    pub fn leader(&self, touched: &[Touched]) -> Result<RangeId> {
        if let Some((domain, _)) = touched.iter().find(|(domain, _)| *domain >= self.domain_count()) {
            return Err(Error::invalid_input(format!("the collection has no domain {domain}")));
        }
        let leader = self.parts(touched).into_keys().next();
        leader.ok_or_else(|| Error::invalid_input("the request touches no range"))
    }

    /// Everything that a write touches that names these: domains that it does not name, it touches whole (P9).
    pub fn whole(&self, named: &[Touched]) -> Vec<Touched> {
        let is_named = |domain: &DomainId| named.iter().any(|(other, _)| other == domain);
        let others = (0..self.domain_count()).filter(|domain| !is_named(domain));
        named.iter().cloned().chain(others.map(|domain| (domain, Interval::all()))).collect()
    }

    /// The table with the range around `cut` cut there: the upper part gets a new number. `None` if the cut exists
    /// already.
    pub fn split(&self, domain: DomainId, cut: Cut<RangeKey>) -> Option<Self> {
        let place = self.domains[domain].partition_point(|(start, _)| *start < cut);
        let is_there = self.domains[domain].get(place).is_some_and(|(start, _)| *start == cut);
        if is_there || cut == Cut::Greatest || cut == Cut::Least {
            return None;
        }
        let mut table = self.clone();
        table.domains[domain].insert(place, (cut, RangeId(self.next)));
        (table.version, table.next) = (self.version + 1, self.next + 1);
        Some(table)
    }

    /// The table without the cut where `upper` begins: the range below takes its interval. `None` if nothing is below.
    pub fn merge(&self, upper: RangeId) -> Option<Self> {
        let mut table = self.clone();
        for starts in &mut table.domains {
            let Some(place) = starts.iter().position(|(_, range)| *range == upper) else { continue };
            if place > 0 {
                starts.remove(place);
                table.version += 1;
                return Some(table);
            }
        }
        None
    }

    /// The range right below another in its domain.
    pub fn below(&self, upper: RangeId) -> Option<RangeId> {
        self.domains.iter().find_map(|starts| {
            let place = starts.iter().position(|(_, range)| *range == upper)?;
            starts.get(place.checked_sub(1)?).map(|(_, range)| *range)
        })
    }
}

#[cfg(test)]
mod tests {
    use lacuna_workload::Rng;

    use super::*;

    fn cut(value: u64) -> Cut<RangeKey> {
        Cut::Before(value.into())
    }

    #[test]
    fn every_value_has_one_range_through_splits_and_merges() {
        let mut rng = Rng::new(3);
        let mut table = RangeTable::new(2);
        for _ in 0..200 {
            let ranges = table.ranges();
            let next = if rng.below(3) > 0 {
                table.split(0, cut(rng.below(50)))
            } else {
                table.merge(ranges[rng.index(ranges.len())])
            };
            table = next.unwrap_or(table);
            for value in 0..50u64 {
                let parts = table.parts(&[(0, Interval::point(value.into()))]);
                assert_eq!(parts.len(), 1, "{value} in {table:?}");
            }
            let all = table.parts(&[(0, Interval::all())]);
            assert_eq!(all.values().flatten().count(), table.domains[0].len());
            assert_eq!(table.pieces(0).len(), table.domains[0].len());
        }
    }

    #[test]
    fn a_number_is_used_once() {
        let table = RangeTable::of_domains(vec![7]).split(0, cut(10)).unwrap();
        let again = table.merge(RangeId(1)).unwrap().split(0, cut(10)).unwrap();
        assert_eq!(again.ranges(), [RangeId(0), RangeId(2)]);
        assert!(again.version() > table.version());
        assert_eq!(again.marks(), [7], "a cut changes the meaning of no domain");
        assert_eq!((again.below(RangeId(2)), again.below(RangeId(0))), (Some(RangeId(0)), None));
        assert!(again.merge(RangeId(0)).is_none() && again.split(0, cut(10)).is_none());
    }
}
