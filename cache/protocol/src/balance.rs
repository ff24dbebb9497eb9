//! Which owner gets which range, and where ranges are cut, by measured load.
//!
//! The ranges of a dead owner are reassigned, the busiest first, each to the owner with the least load at that
//! point: with orphans of 50, 30 and 30 requests and two idle owners, one gets 50 and the other 60. A range that
//! has more than its share is cut where half of its requests lie on either side; two adjacent ranges with few
//! requests are joined.
//!
//! Guarantee: among idle owners the busiest gets at most 4/3 of what the best division would give it (the rule of
//! the longest job first). A cut leaves requests on both sides, so a range that is busy because of one value is
//! not cut again and again.
//! Cost: sorts of ranges and owners; a meter keeps 64 keys.
//!
//! Report, section 3 ("with the objective to balance its load across the remaining dendrites"). Rule: Graham,
//! "Bounds on multiprocessing timing anomalies", 1969.

use std::cmp::Reverse;

use lacuna_base::hash::hash_bytes;

use crate::cache_model::RangeId;
use crate::interval::Cut;
use crate::query::{DomainId, Touched};
use crate::range_key::RangeKey;
use crate::range_table::RangeTable;

/// Keys that a meter keeps. The median of 64 lies between the 3rd and 7th tenth of all with near certainty.
const KEPT: usize = 64;

/// Seed of the sampling that decides which requests are kept.
const LOT_SEED: u64 = 0x6C6F_6164_6C6F_7473;

/// Requests of a range since its last reading, and where they went.
///
/// ```
/// use lacuna_cache_protocol::{Interval, LoadMeter};
///
/// let mut meter = LoadMeter::new();
/// for age in 0..1_000u64 {
///     meter.count(&[(0, Interval::point(age.into()))]);
/// }
/// let load = meter.read();
/// assert_eq!(load.requests, 1_000);
/// assert!(load.middle.is_some_and(|(domain, cut)| domain == 0 && cut.value().is_some()));
/// ```
#[derive(Debug, Clone, Default)]
pub struct LoadMeter {
    requests: u64,
    /// About one request in this many is kept; a power of two.
    stride: u64,
    kept: Vec<(DomainId, RangeKey, u64)>,
}

/// What a meter showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RangeLoad {
    /// Requests.
    pub requests: u64,
    /// A cut with requests on both sides, about half on each, if there is one.
    pub middle: Option<(DomainId, Cut<RangeKey>)>,
}

impl LoadMeter {
    /// A meter without requests.
    pub const fn new() -> Self {
        Self { requests: 0, stride: 1, kept: Vec::new() }
    }

    /// Counts a request that touched these intervals.
    pub fn count(&mut self, touched: &[Touched]) {
        self.stride = self.stride.max(1);
        // By hash, so that a periodic pattern of requests is not sampled at its period.
        let lot = hash_bytes(&self.requests.to_le_bytes(), LOT_SEED);
        self.requests += 1;
        let first = touched.iter().find_map(|(domain, interval)| {
            let value = interval.lo().value().or(interval.hi().value())?;
            Some((*domain, value.clone(), lot))
        });
        self.kept.extend(first.filter(|_| lot.is_multiple_of(self.stride)));
        if self.kept.len() > KEPT {
            self.stride *= 2;
            let stride = self.stride;
            self.kept.retain(|(.., lot)| lot.is_multiple_of(stride));
        }
    }

    /// Returns the load and starts counting anew.
    pub fn read(&mut self) -> RangeLoad {
        let mut kept = std::mem::take(&mut self.kept);
        kept.sort_unstable();
        let middle = kept.get(kept.len() / 2).cloned().and_then(|(domain, key, _)| {
            let is_least =
                kept.iter().filter(|(other, ..)| *other == domain).all(|(_, other, _)| *other >= key);
            let above = kept.iter().find(|(other, next, _)| *other == domain && *next > key).cloned();
            // Requests equal to the smallest stay below the cut.
            let key = if is_least { above?.1 } else { key };
            Some((domain, Cut::Before(key)))
        });
        let requests = std::mem::take(&mut self.requests);
        self.stride = 1;
        RangeLoad { requests, middle }
    }
}

/// Assigns ranges without an owner to owners by load: pairs of a range and the index of its owner in `owners`.
///
/// `orphans` are ranges and their requests, `owners` the present requests of each owner. Returns nothing if there
/// is no owner.
pub fn spread(orphans: &[(RangeId, u64)], owners: &[u64]) -> Vec<(RangeId, usize)> {
    let mut orphans = orphans.to_vec();
    orphans.sort_unstable_by_key(|(range, requests)| (Reverse(*requests), *range));
    let mut loads = owners.to_vec();
    let mut given = Vec::new();
    for (range, requests) in orphans {
        let Some(owner) = (0..loads.len()).min_by_key(|owner| (loads[*owner], *owner)) else { break };
        loads[owner] += requests;
        given.push((range, owner));
    }
    given
}

/// A change of a range table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recut {
    /// A hot range is cut.
    Split(RangeId, DomainId, Cut<RangeKey>),
    /// Two cold adjacent ranges, the lower one first, become one.
    Merge(RangeId, RangeId),
}

/// The most useful change, if one is worth its cost: a range with more than `hot` requests is split, two adjacent
/// ranges with less than `cold` together are merged. `hot` must be a few times `cold`, or the same ranges are cut
/// and joined again and again.
pub fn recut(table: &RangeTable, loads: &[(RangeId, RangeLoad)], hot: u64, cold: u64) -> Option<Recut> {
    let hottest = loads
        .iter()
        .filter(|(_, load)| load.requests > hot)
        .filter_map(|(range, load)| Some((*range, load.requests, load.middle.clone()?)))
        .max_by_key(|(range, requests, _)| (*requests, Reverse(*range)));
    if let Some((range, _, (domain, cut))) = hottest {
        return Some(Recut::Split(range, domain, cut));
    }
    let requests =
        |range: RangeId| loads.iter().find(|(other, _)| *other == range).map(|(_, load)| load.requests);
    let pairs = loads.iter().filter_map(|(upper, load)| {
        let lower = table.below(*upper)?;
        Some((load.requests + requests(lower)?, lower, *upper))
    });
    let coldest = pairs.filter(|(together, ..)| *together < cold).min();
    coldest.map(|(_, lower, upper)| Recut::Merge(lower, upper))
}

#[cfg(test)]
mod tests {
    use lacuna_workload::Rng;

    use super::*;
    use crate::interval::Interval;

    #[test]
    fn orphans_go_where_there_is_least_to_do() {
        let orphans = [(RangeId(1), 30), (RangeId(2), 50), (RangeId(3), 30)];
        assert_eq!(spread(&orphans, &[0, 0]), [(RangeId(2), 0), (RangeId(1), 1), (RangeId(3), 1)]);
        assert_eq!(spread(&orphans, &[100, 0]).iter().filter(|(_, owner)| *owner == 1).count(), 3);
        assert!(spread(&orphans, &[]).is_empty());
    }

    #[test]
    fn loads_after_a_death_are_even() {
        let mut rng = Rng::new(5);
        for _ in 0..100 {
            let orphans: Vec<(RangeId, u64)> =
                (0..40).map(|range| (RangeId(range), rng.below(1_000))).collect();
            let mut loads = [0u64; 5];
            for (range, owner) in spread(&orphans, &[0; 5]) {
                loads[owner] += orphans[range.0 as usize].1;
            }
            let (sum, largest) =
                (orphans.iter().map(|(_, load)| load).sum::<u64>(), orphans.iter().map(|o| o.1).max());
            let max = (sum / 5 + 1).max(largest.unwrap()) * 4 / 3 + 1;
            assert!(loads.iter().all(|load| *load <= max), "{loads:?} of {sum}");
        }
    }

    fn counted(values: impl Iterator<Item = u64>) -> RangeLoad {
        let mut meter = LoadMeter::new();
        values.for_each(|value| meter.count(&[(0, Interval::point(value.into()))]));
        meter.read()
    }

    #[test]
    fn a_hot_range_is_cut_in_the_middle_of_its_requests() {
        let mut rng = Rng::new(7);
        // Nine tenths of the requests are below 100.
        let values: Vec<u64> = (0..10_000)
            .map(|_| if rng.below(10) < 9 { rng.below(100) } else { 100 + rng.below(9_900) })
            .collect();
        let load = counted(values.iter().copied());
        let (_, cut) = load.middle.clone().unwrap();
        let below = values.iter().filter(|value| Cut::Before(RangeKey::from(**value)) < cut).count();
        assert!((2_500..7_500).contains(&below), "{below} of 10,000 are below {cut:?}");
        let table = RangeTable::new(1);
        let change = recut(&table, &[(RangeId(0), load)], 5_000, 100);
        assert_eq!(change, Some(Recut::Split(RangeId(0), 0, cut)));
    }

    #[test]
    fn a_single_hot_value_is_not_cut() {
        assert_eq!(counted((0..1_000).map(|_| 7)).middle, None);
        let two = counted((0..1_000).map(|place| 7 + place % 2)).middle;
        assert_eq!(two, Some((0, Cut::Before(8.into()))));
    }

    #[test]
    fn cold_neighbours_are_joined_and_warm_ones_are_not() {
        let table = RangeTable::new(1).split(0, Cut::Before(10.into())).unwrap();
        let table = table.split(0, Cut::Before(20.into())).unwrap();
        let load = |requests| RangeLoad { requests, middle: None };
        let loads = [(RangeId(0), load(40)), (RangeId(1), load(30)), (RangeId(2), load(10))];
        assert_eq!(recut(&table, &loads, 500, 60), Some(Recut::Merge(RangeId(1), RangeId(2))));
        assert_eq!(recut(&table, &loads, 500, 40), None);
    }
}
