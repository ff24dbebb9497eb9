//! Seeks: only the first key of each range is wanted, and each file opened costs one block read.
//!
//! The stock path asks every filter whether its file may hold a key of the range, reads a block of each that may, and
//! takes the first key of all. The planned path reads in the order of the filters' candidates and stops when the key is
//! known. Both are counted over the same filters and the same ranges, and both must find the same key.

use std::ops::Bound;

use lacuna_base::internal::KeyColumn;
use lacuna_base::{KeyRange, Result, SeekCandidate};
use lacuna_families::OpenAbility;
use lacuna_guard::{Direction, SeekPlanner, Ties};
use lacuna_workload::Workload;

use super::part::{count_where, places_in};
use super::store::{StorePlan, TwoLevelStore};
use lacuna_bench::BenchKey;

/// Exact counts of a run of seeks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SeekOutcome {
    /// Seeks asked.
    pub seeks: u64,
    /// Seeks that found a key.
    pub found: u64,
    /// Block reads without filters: one for each file that overlaps the range.
    pub unfiltered_reads: u64,
    /// Block reads when every filter is asked for yes or no.
    pub stock_reads: u64,
    /// Block reads in the order of candidates.
    pub planned_reads: u64,
    /// Answers of either path that differ from the sorted keys. Anything but 0 is a bug.
    pub wrong_answers: u64,
}

impl SeekOutcome {
    /// Planned reads as a share of those of the stock path; 1 if neither reads.
    pub fn ratio(&self) -> f64 {
        if self.stock_reads == 0 { 1.0 } else { self.planned_reads as f64 / self.stock_reads as f64 }
    }
}

/// Builds a store over the workload's keys and seeks the first key, in `direction`, of each of its ranges.
///
/// ```
/// use lacuna_lab::two_level::{Layout, StorePlan, run_seeks};
/// use lacuna_guard::Direction;
/// use lacuna_workload::{Keys, QuerySource};
///
/// let keys = Keys::from_u64s((0..10_000).map(|key: u64| key << 40).collect());
/// let workload = QuerySource::parse("uniform:1k:2^44:any")?.workload(keys, 1)?;
/// let layout = Layout::SsTables { table_count: 8 };
/// let plan = StorePlan { spec: "surf", bits_per_key: 18.0, layout, seed: 1 };
/// let outcome = run_seeks(&workload, &plan, Direction::Forward)?;
/// assert_eq!((outcome.wrong_answers, outcome.found), (0, 1_000));
/// assert!(outcome.planned_reads < outcome.stock_reads / 4);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// # Errors
/// As `TwoLevelStore::build`.
pub fn run_seeks(workload: &Workload, plan: &StorePlan<'_>, direction: Direction) -> Result<SeekOutcome> {
    match u64::inserted(workload) {
        Some(keys) => Seeks::<u64>::build(keys, plan, direction)?.run(&u64::ranges(&workload.queries)),
        None => {
            let keys = <[u8]>::inserted(workload).expect("keys are integers or byte strings");
            Seeks::<[u8]>::build(keys, plan, direction)?.run(&<[u8]>::ranges(&workload.queries))
        }
    }
}

/// A store that can be seeked.
struct Seeks<'a, K: BenchKey + ?Sized> {
    store: TwoLevelStore<K>,
    /// The filters that name candidates, by part.
    seekable: Vec<Option<Box<dyn SeekCandidate<K>>>>,
    keys: &'a K::OwnedColumn,
    direction: Direction,
}

impl<'a, K: BenchKey + OpenAbility + ?Sized> Seeks<'a, K> {
    fn build(keys: &'a K::OwnedColumn, plan: &StorePlan<'_>, direction: Direction) -> Result<Self> {
        let store = TwoLevelStore::build(keys, plan)?;
        let open = |bytes| lacuna_families::open_seek::<K, _>(bytes).ok();
        let seekable = store.parts.iter().map(|part| part.filter_bytes.clone().and_then(open)).collect();
        Ok(Self { store, seekable, keys, direction })
    }

    fn run(&self, ranges: &[KeyRange<'_, K>]) -> Result<SeekOutcome> {
        let mut outcome = SeekOutcome { seeks: ranges.len() as u64, ..SeekOutcome::default() };
        for &range in ranges {
            let truth = self.first_in(self.keys, range);
            outcome.found += u64::from(truth.is_some());
            for answer in [self.stock(range, &mut outcome), self.planned(range, &mut outcome)] {
                outcome.wrong_answers += u64::from(answer != truth);
            }
        }
        Ok(outcome)
    }

    /// The first key of `range` among `keys`.
    fn first_in(&self, keys: &K::OwnedColumn, range: KeyRange<'_, K>) -> Option<K::Owned> {
        let mut places = places_in::<K>(K::column(keys), range);
        let place = match self.direction {
            Direction::Forward => places.next(),
            Direction::Backward => places.next_back(),
        };
        Some(K::to_owned(K::column(keys).key(place?)))
    }

    fn stock(&self, range: KeyRange<'_, K>, outcome: &mut SeekOutcome) -> Option<K::Owned> {
        let mut keys = Vec::new();
        for part in self.store.candidates(range) {
            outcome.unfiltered_reads += 1;
            if self.store.may_hold(part, range) {
                outcome.stock_reads += 1;
                keys.extend(self.first_in(&self.store.parts[part].keys, range));
            }
        }
        match self.direction {
            Direction::Forward => keys.into_iter().min(),
            Direction::Backward => keys.into_iter().max(),
        }
    }

    fn planned(&self, range: KeyRange<'_, K>, outcome: &mut SeekOutcome) -> Option<K::Owned> {
        let planner = match self.direction {
            Direction::Forward => SeekPlanner::<K>::forward(range),
            Direction::Backward => SeekPlanner::<K>::backward(range),
        };
        // No two parts hold the same key.
        let mut planner = planner.with_ties(Ties::Any);
        for part in self.store.candidates(range) {
            match (&self.seekable[part], &self.store.parts[part].filter) {
                (Some(filter), _) => planner.add_seekable(part, &**filter),
                (None, Some(filter)) => planner.add_filtered(part, &**filter),
                (None, None) => planner.add(part),
            }
        }
        let found = planner.seek(|part, at| {
            Ok::<_, std::convert::Infallible>(self.read_at(&self.store.parts[part].keys, at))
        });
        outcome.planned_reads += planner.opened() as u64;
        let Ok(found) = found;
        found.map(|(_, key)| key)
    }

    /// The first key at `at` or beyond it, whatever the range.
    fn read_at(&self, keys: &K::OwnedColumn, at: Bound<K::Ref<'_>>) -> Option<K::Owned> {
        let keys = K::column(keys);
        let before = |bound: K::Ref<'_>, with_equal: bool| {
            count_where::<K>(keys, |key| {
                let (key, bound) = (K::shorten(key), K::shorten(bound));
                key < bound || with_equal && key == bound
            })
        };
        let place = match (self.direction, at) {
            (Direction::Forward, Bound::Unbounded) => Some(0),
            (Direction::Forward, Bound::Included(bound)) => Some(before(bound, false)),
            (Direction::Forward, Bound::Excluded(bound)) => Some(before(bound, true)),
            (Direction::Backward, Bound::Unbounded) => keys.key_count().checked_sub(1),
            (Direction::Backward, Bound::Included(bound)) => before(bound, true).checked_sub(1),
            (Direction::Backward, Bound::Excluded(bound)) => before(bound, false).checked_sub(1),
        };
        place.filter(|&place| place < keys.key_count()).map(|place| K::to_owned(keys.key(place)))
    }
}
