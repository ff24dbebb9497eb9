//! Asks a filter everything whose answer is known.

use lacuna_base::{DynFilter, KeyRange, KeySpace};

use super::{Built, Inputs};
use crate::BenchKey;
use crate::harness::{BATCH, batched};

/// Exact counts of one filter over one workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Truth {
    pub(super) query_count: usize,
    pub(super) empty_count: usize,
    pub(super) false_positives: usize,
    pub(super) false_negatives: u64,
}

impl Truth {
    /// Share of "maybe" among the empty queries, if there are any.
    pub(super) fn rate(&self) -> Option<f64> {
        (self.empty_count > 0).then(|| self.false_positives as f64 / self.empty_count as f64)
    }
}

/// The questions, by their true answer.
pub(super) struct Questions<'a, K: BenchKey + ?Sized> {
    empty: Vec<KeyRange<'a, K>>,
    hits: Vec<KeyRange<'a, K>>,
}

impl<'a, K: BenchKey + ?Sized> Questions<'a, K> {
    pub(super) fn of(inputs: &Inputs<'a, K>) -> Self {
        let is_empty = |range: &KeyRange<'_, K>| K::is_empty(inputs.column, *range);
        let (empty, hits) = inputs.ranges.iter().copied().partition(is_empty);
        Self { empty, hits }
    }

    /// The truth about a filter.
    pub(super) fn ask(&self, built: &Built<K>, inputs: &Inputs<'_, K>) -> Truth {
        truth_about(&*built.filter, inputs, &self.empty, &self.hits)
    }
}

fn truth_about<K: BenchKey + ?Sized>(
    filter: &DynFilter<K>,
    inputs: &Inputs<'_, K>,
    empty: &[KeyRange<'_, K>],
    hits: &[KeyRange<'_, K>],
) -> Truth {
    let denied_hits = hits.len() - count_maybes(filter, hits);
    Truth {
        query_count: inputs.ranges.len(),
        empty_count: empty.len(),
        false_positives: count_maybes(filter, empty),
        false_negatives: denied_hits as u64
            + count_denied_keys(filter, inputs)
            + K::count_denied_around(filter, inputs.column),
    }
}

fn count_maybes<K: KeySpace + ?Sized>(filter: &DynFilter<K>, ranges: &[KeyRange<'_, K>]) -> usize {
    batched(ranges, 1, |ranges, answers| filter.may_contain_ranges(ranges, answers))
}

/// Inserted keys that the filter denies, alone or in a batch.
fn count_denied_keys<K: BenchKey + ?Sized>(filter: &DynFilter<K>, inputs: &Inputs<'_, K>) -> u64 {
    let keys = inputs.keys;
    let denied_alone = keys.iter().filter(|key| !filter.may_contain(*key)).count();
    let mut denied_in_batch = 0;
    for start in (0..keys.len()).step_by(BATCH) {
        let end = (start + BATCH).min(keys.len());
        let points: Vec<_> = (start..end).map(|index| K::point(keys.get(index))).collect();
        denied_in_batch += points.len() - count_maybes(filter, &points);
    }
    (denied_alone + denied_in_batch) as u64
}

#[cfg(test)]
mod tests {
    use lacuna_base::{RangeFilter, U64Range};
    use lacuna_workload::{Keys, Queries, Workload};

    use super::*;

    /// Denies every odd key and every range whose start is odd.
    #[derive(Debug)]
    struct DeniesOdd;

    impl RangeFilter<u64> for DeniesOdd {
        fn may_contain_range(&self, range: U64Range) -> bool {
            range.lo().is_multiple_of(2)
        }
        fn key_count(&self) -> u64 {
            0
        }
        fn size_in_bytes(&self) -> usize {
            0
        }
        fn memory_bytes(&self) -> usize {
            0
        }
    }

    #[test]
    fn every_kind_of_denial_is_counted() {
        let inserted = Keys::U64((0..3_000).map(|place: u64| place * 101).collect());
        let queries = Queries::U64(vec![(1, 200), (0, 5), (2, 9), (3, 9)]);
        let workload = Workload { inserted, held_out: Keys::U64(vec![]), queries };
        let inputs = Inputs::<u64>::try_new(&workload, None).expect("sorted integers");
        let (empty, hits) = (&inputs.ranges[2..], &inputs.ranges[..2]);
        let truth = truth_about(&DeniesOdd, &inputs, empty, hits);
        // 1,500 odd keys alone, as many in batches, as many ranges around them (16 before an odd key is odd), one hit.
        assert_eq!(truth.false_negatives, 3 * 1_500 + 1);
        assert_eq!((truth.query_count, truth.empty_count, truth.false_positives), (4, 2, 1));
    }
}
