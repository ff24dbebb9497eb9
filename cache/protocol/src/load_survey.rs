//! Which process has which range, how many requests each range gets, and what should change.
//!
//! Every process sees the same numbers and computes the same result: which process claims each range without an
//! owner, and which range should move from the busiest process to the least busy one. With ranges of 50, 30 and 20
//! requests at the first of two processes, the range of 50 should move: that leaves the busiest with about 50
//! instead of 100.
//!
//! Guarantee: ranges do not oscillate. One moves only between processes whose loads differ by a quarter, and only
//! if the busier of the two then has less load than the busier had before, so that the same numbers never move it
//! back. A process that is advised to leave a range should wait until it gets the same advice a few times in a
//! row. This advice decides where requests go, never which process may answer: fences decide that.
//!
//! Cost: sorts of ranges and processes.
//!
//! Report, section 3. Moving ranges back to a process that has returned is our addition.

use std::collections::BTreeMap;

use crate::balance::{RangeLoad, Recut, recut, spread};
use crate::cache_model::RangeId;
use crate::range_table::RangeTable;

/// Requests that an idle range counts as: the number of ranges matters too, and noise moves nothing.
const IDLE: u64 = 8;
/// Fewest requests of a report that make a range hot.
const MIN_HOT: u64 = 500;
/// Two ranges are joined if both together have less than a hot range's requests divided by this.
const COLDER: u64 = 16;
/// Mean number of ranges of a process: below the first none are joined, above the second none are split.
const RANGES_EACH: (usize, usize) = (4, 16);

/// What a process should do with its ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advice {
    /// Ranges without an owner that this process should claim.
    pub claim: Vec<RangeId>,
    /// Ranges that are about to be cut: their owners here must stop.
    pub stop: Vec<RangeId>,
    /// A range that should move to another process, if this advice is repeated.
    pub leave: Option<RangeId>,
}

/// Ranges, their owners by index among the live processes, and their requests.
///
/// ```
/// use lacuna_cache_protocol::{LoadSurvey, RangeId};
///
/// let mut survey = LoadSurvey::new(2);
/// for (range, requests) in [(0, 50), (1, 30), (2, 20)] {
///     survey.add(RangeId(range), requests, Some(0));
/// }
/// assert_eq!(survey.relief(), Some((RangeId(0), 0)));
/// survey.add(RangeId(3), 10, None);
/// assert_eq!(survey.heirs()[&RangeId(3)], 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct LoadSurvey {
    members: usize,
    ranges: Vec<(RangeId, u64, Option<usize>)>,
}

impl LoadSurvey {
    /// A survey of `members` processes without ranges.
    pub const fn new(members: usize) -> Self {
        Self { members, ranges: Vec::new() }
    }

    /// Adds a range, its requests, and the index of its owner. An index beyond the processes stands for a process
    /// that is gone but still holds its lease.
    pub fn add(&mut self, range: RangeId, requests: u64, owner: Option<usize>) {
        self.ranges.push((range, requests + IDLE, owner));
    }

    /// The load of each process.
    fn loads(&self) -> Vec<u64> {
        let mut loads = vec![0; self.members];
        for (_, weight, owner) in &self.ranges {
            owner.iter().for_each(|owner| loads.get_mut(*owner).into_iter().for_each(|load| *load += weight));
        }
        loads
    }

    /// Which process should claim each range that has no owner.
    pub fn heirs(&self) -> BTreeMap<RangeId, usize> {
        let orphans = self.ranges.iter().filter(|(.., owner)| owner.is_none());
        let orphans: Vec<(RangeId, u64)> = orphans.map(|(range, weight, _)| (*range, *weight)).collect();
        spread(&orphans, &self.loads()).into_iter().collect()
    }

    /// A range that the busiest process should leave to the least busy one, and the index of the busiest.
    pub fn relief(&self) -> Option<(RangeId, usize)> {
        let loads = self.loads();
        let busiest = (0..self.members).max_by_key(|member| (loads[*member], std::cmp::Reverse(*member)))?;
        let (max, min) = (loads[busiest], *loads.iter().min()?);
        let owned = self.ranges.iter().filter(|(.., owner)| *owner == Some(busiest));
        let then = |weight: u64| (max - weight).max(min + weight);
        let (range, weight, _) = owned.min_by_key(|(range, weight, _)| (then(*weight), *range))?;
        let is_worth_it = (max - min) * 4 >= max && then(*weight) + IDLE / 2 <= max;
        is_worth_it.then_some((*range, busiest))
    }

    /// The most useful change of the table: a range with more than one and a half times the fair share of a
    /// process is split, and adjacent ranges that are idle in comparison are joined, as long as the number of
    /// ranges stays within its limits.
    pub fn recut(&self, table: &RangeTable, loads: &[(RangeId, RangeLoad)]) -> Option<Recut> {
        let (members, ranges) = (self.members.max(1), loads.len());
        let all: u64 = loads.iter().map(|(_, load)| load.requests).sum();
        let hot = (all / members as u64 * 3 / 2).max(MIN_HOT);
        let may_split = members > 1 && ranges < members * RANGES_EACH.1;
        let cold = if ranges > members * RANGES_EACH.0 { hot / COLDER } else { 0 };
        recut(table, loads, if may_split { hot } else { u64::MAX }, cold)
    }
}

#[cfg(test)]
mod tests {
    use lacuna_workload::Rng;

    use super::*;
    use crate::interval::Cut;

    /// Moves ranges as long as the advice says so; returns the loads and the number of moves.
    fn settle(requests: &[u64], members: usize, owner_of: impl Fn(usize) -> usize) -> (Vec<u64>, usize) {
        let mut owners: Vec<usize> = (0..requests.len()).map(owner_of).collect();
        for moves in 0..1_000 {
            let mut survey = LoadSurvey::new(members);
            for (place, requests) in requests.iter().enumerate() {
                survey.add(RangeId(u32::try_from(place).unwrap()), *requests, Some(owners[place]));
            }
            let Some((range, from)) = survey.relief() else { return (survey.loads(), moves) };
            assert_eq!(owners[range.0 as usize], from);
            survey.ranges.iter_mut().filter(|(other, ..)| *other == range).for_each(|range| range.2 = None);
            owners[range.0 as usize] = survey.heirs()[&range];
            assert_ne!(owners[range.0 as usize], from, "it does not come back");
        }
        panic!("ranges wander: {requests:?}");
    }

    #[test]
    fn ranges_leave_a_busy_process_and_then_stay() {
        let mut rng = Rng::new(11);
        for round in 0..200 {
            let members = 2 + rng.index(4);
            let requests: Vec<u64> = (0..8 * members).map(|_| rng.below(1_000)).collect();
            let (loads, moves) = settle(&requests, members, |_| 0);
            assert!(moves <= 3 * requests.len(), "round {round}: {moves} moves");
            let (sum, max) = (loads.iter().sum::<u64>(), *loads.iter().max().unwrap());
            assert!(max * members as u64 <= sum * 2, "round {round}: {loads:?}");
            assert_eq!(settle(&requests, members, |_| 0).0, loads, "everybody computes the same");
        }
    }

    #[test]
    fn idle_ranges_are_spread_by_number() {
        assert_eq!(settle(&[0; 3], 3, |_| 0), (vec![IDLE; 3], 2));
        assert_eq!(settle(&[0, 1, 3, 0], 2, |place| place % 2).1, 0, "noise moves nothing");
        assert_eq!(settle(&[1_000], 3, |_| 1).1, 0, "one hot range has nowhere to go");
        let (loads, moves) = settle(&[0; 40], 2, |_| 0);
        assert!(loads.iter().all(|load| *load >= 17 * IDLE) && moves <= 20, "many small ones: {loads:?}");
        assert_eq!(LoadSurvey::new(0).relief(), None);
    }

    #[test]
    fn a_range_beyond_its_share_is_split_and_idle_ones_are_joined_if_there_are_many() {
        let mut table = RangeTable::new(1);
        for cut in 1..20u64 {
            table = table.split(0, Cut::Before(cut.into())).unwrap();
        }
        let load = |requests| RangeLoad { requests, middle: Some((0, Cut::Before(0.into()))) };
        let even: Vec<_> = table.ranges().into_iter().map(|range| (range, load(1_000))).collect();
        assert_eq!(LoadSurvey::new(2).recut(&table, &even), None);
        let mut skewed = even.clone();
        skewed[7].1 = load(90_000);
        assert!(matches!(LoadSurvey::new(2).recut(&table, &skewed), Some(Recut::Split(RangeId(7), ..))));
        let alone = LoadSurvey::new(1).recut(&table, &skewed);
        assert!(!matches!(alone, Some(Recut::Split(..))), "a process alone gains nothing: {alone:?}");
        let idle: Vec<_> = table.ranges().into_iter().map(|range| (range, load(0))).collect();
        assert!(matches!(LoadSurvey::new(2).recut(&table, &idle), Some(Recut::Merge(..))));
        assert_eq!(LoadSurvey::new(8).recut(&table, &idle), None);
    }
}
