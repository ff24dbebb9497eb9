//! The periodic work of a dendrite: it reports its load, and follows the directory's advice.
//!
//! Ranges without an owner are claimed immediately. A range that another dendrite should have is left only when the
//! advice has been the same a few times in a row, and then no other for a while, so that ranges do not oscillate:
//! loads are means of the last seconds, and a take-over costs more than a small imbalance.
//!
//! With three ranges here and a dendrite that has just returned, one range is left to it after about three
//! seconds, drained and released as in an orderly stop. Requests for it wait a few milliseconds and go to the next
//! owner.

use std::collections::BTreeMap;
use std::sync::Weak;
use std::time::Duration;

use lacuna_cache_protocol::{Advice, RangeId, RangeLoad};
use tracing::info;

use super::dendrite_state::DendriteState;

/// How often advice is followed.
const LOOK: Duration = Duration::from_millis(250);
/// How often the load is reported and a newer table requested, in looks.
const REPORT_LOOKS: u32 = 2;
/// How often in a row the same range must be advised before it is left.
const PATIENCE: u32 = 6;
/// Reports to wait after a range was left before the next one: others have to notice first.
const REST: u32 = 6;

/// Runs until the dendrite is dropped or closed.
pub(super) async fn run(state: Weak<DendriteState>) {
    let mut rebalance = RebalanceState::default();
    for look in 0u32.. {
        tokio::time::sleep(LOOK).await;
        let Some(state) = state.upgrade().filter(|state| !state.is_closed()) else { return };
        let is_report = look % REPORT_LOOKS == 0;
        if is_report {
            rebalance.report(&state).await;
        }
        let advice = state.membership.directory.advice();
        advice.claim.iter().for_each(|range| state.claim(*range));
        advice.stop.iter().for_each(|range| state.leave(*range));
        let left = if is_report { rebalance.is_to_leave(&advice) } else { None };
        if let Some(range) = left {
            info!(range = range.0, "a range is left to a dendrite that has less load");
            state.leave(range);
        }
    }
}

#[derive(Debug, Default)]
struct RebalanceState {
    loads: BTreeMap<RangeId, RangeLoad>,
    /// The range that is advised to leave, and how often in a row.
    leaving: Option<(RangeId, u32)>,
    rest: u32,
}

impl RebalanceState {
    async fn report(&mut self, state: &DendriteState) {
        let directory = state.membership.directory.clone();
        let loads: Vec<(RangeId, RangeLoad)> =
            state.loads().await.into_iter().map(|(range, load)| (range, self.mean(range, load))).collect();
        self.loads = loads.iter().cloned().collect();
        // A report that fails is replaced by the next one.
        drop(directory.report(&loads).await);
        if let Ok(table) = directory.table().await {
            state.take_table(&table);
        }
    }

    /// Mean of the last reports; the newest counts for a quarter.
    fn mean(&self, range: RangeId, load: RangeLoad) -> RangeLoad {
        let Some(before) = self.loads.get(&range) else { return load };
        let requests = (3 * before.requests + load.requests) / 4;
        RangeLoad { requests, middle: load.middle.or_else(|| before.middle.clone()) }
    }

    fn is_to_leave(&mut self, advice: &Advice) -> Option<RangeId> {
        self.rest = self.rest.saturating_sub(1);
        let times = match (self.leaving, advice.leave) {
            (Some((before, times)), Some(range)) if before == range => times + 1,
            _ => 1,
        };
        self.leaving = advice.leave.map(|range| (range, times));
        let due = advice.leave.filter(|_| times >= PATIENCE && self.rest == 0);
        if due.is_some() {
            (self.leaving, self.rest) = (None, REST);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(range: Option<u32>) -> Advice {
        Advice { leave: range.map(RangeId), ..Advice::default() }
    }

    #[test]
    fn a_range_is_left_after_the_same_advice_many_times() {
        let mut rebalance = RebalanceState::default();
        let mut left = |range| rebalance.is_to_leave(&says(range));
        for _ in 1..PATIENCE {
            assert_eq!(left(Some(1)), None);
        }
        assert_eq!(left(Some(2)), None, "another range: from the start");
        for _ in 2..PATIENCE {
            assert_eq!(left(Some(2)), None);
        }
        assert_eq!(left(Some(2)), Some(RangeId(2)));
        let again = (1..).find(|_| left(Some(3)).is_some()).unwrap();
        assert_eq!(again, PATIENCE.max(REST));
        assert!((0..20).all(|_| left(None).is_none()));
    }

    #[test]
    fn a_load_is_a_mean_that_comes_down_to_nothing() {
        let mut rebalance = RebalanceState::default();
        let load = |requests| RangeLoad { requests, middle: None };
        rebalance.loads.insert(RangeId(1), load(100));
        assert_eq!(rebalance.mean(RangeId(1), load(0)).requests, 75);
        assert_eq!(rebalance.mean(RangeId(2), load(8)).requests, 8);
        for _ in 0..60 {
            let next = rebalance.mean(RangeId(1), load(0));
            rebalance.loads.insert(RangeId(1), next);
        }
        assert_eq!(rebalance.loads[&RangeId(1)].requests, 0);
    }
}
