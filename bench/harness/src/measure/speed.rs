//! Times of builds and queries, all contenders interleaved.

use lacuna_base::{DynFilter, KeyRange, SortedKeys};

use super::{Built, Effort, Inputs, Progress, Watch};
use crate::BenchKey;
use crate::harness::{MemoryFloor, Rounds, TaskId, Timings, batched, dependent};

/// Median times of one filter, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Speed {
    pub(super) per_query: f64,
    pub(super) per_query_batched: f64,
    pub(super) memory_floor: f64,
    /// Rounds that these are medians of: fewer than asked for if the measurement was to end.
    pub(super) rounds: usize,
}

/// Median build time of each filter, in nanoseconds per key.
pub(super) fn build_ns<K: BenchKey + ?Sized>(
    built: &[Built<K>],
    inputs: &Inputs<'_, K>,
    effort: Effort,
    watch: &mut dyn Watch,
) -> Vec<f64> {
    let mut rounds = Rounds::new();
    let tasks: Vec<TaskId> = built.iter().map(|built| add_build(&mut rounds, built, inputs)).collect();
    let timings = timed(rounds, "timing builds", effort.build_rounds, watch);
    tasks.into_iter().map(|task| timings.median_ns(task)).collect()
}

/// Median query times of each filter.
pub(super) fn query_speeds<K: BenchKey + ?Sized>(
    built: &[Built<K>],
    inputs: &Inputs<'_, K>,
    effort: Effort,
    seed: u64,
    watch: &mut dyn Watch,
) -> Vec<Speed> {
    let pool = inputs.uncounted();
    let pool = &pool[..pool.len().min(effort.questions.max(1))];
    let passes = effort.passes(pool.len());
    let steps = pool.len() * passes;
    let largest = built.iter().map(|built| built.filter.size_in_bytes()).max().unwrap_or(0);
    let floor = MemoryFloor::new(largest, steps, seed);
    let mut rounds = Rounds::new();
    let questions = Questions { pool, passes, floor: &floor };
    let tasks: Vec<[TaskId; 3]> =
        built.iter().map(|built| questions.add(&mut rounds, &*built.filter)).collect();
    let timings = timed(rounds, "timing queries", effort.query_rounds, watch);
    let speed = |[floor, single, batched]: [TaskId; 3]| Speed {
        per_query: timings.median_ns(single),
        per_query_batched: timings.median_ns(batched),
        memory_floor: timings.median_ns(floor),
        rounds: timings.rounds_ns(floor).len(),
    };
    tasks.into_iter().map(speed).collect()
}

/// Runs the rounds, at least one, until they are done or the measurement is to end.
fn timed(rounds: Rounds<'_>, stage: &'static str, count: usize, watch: &mut dyn Watch) -> Timings {
    let of = count.max(1);
    watch.progress(Progress { stage, done: 0, of });
    rounds.run_while(count, &mut |done| {
        watch.progress(Progress { stage, done, of });
        !watch.is_stopped()
    })
}

/// From the check of the order to sealed bytes.
fn add_build<'a, K: BenchKey + ?Sized>(
    rounds: &mut Rounds<'a>,
    built: &'a Built<K>,
    inputs: &'a Inputs<'_, K>,
) -> TaskId {
    rounds.add(built.spec.name(), inputs.keys.len(), move || {
        let keys = SortedKeys::try_new(K::column(inputs.column)).expect("in order when it was first checked");
        built.spec.build(keys, &built.plan).expect("it was built once before")
    })
}

/// The questions to every filter.
#[derive(Clone, Copy)]
struct Questions<'a, 'k, K: BenchKey + ?Sized> {
    pool: &'a [KeyRange<'k, K>],
    passes: usize,
    floor: &'a MemoryFloor,
}

impl<'a, 'k: 'a, K: BenchKey + ?Sized> Questions<'a, 'k, K> {
    /// Memory floor, dependent singles, batches.
    fn add(&self, rounds: &mut Rounds<'a>, filter: &'a DynFilter<K>) -> [TaskId; 3] {
        let (pool, passes, floor) = (self.pool, self.passes, self.floor);
        let (steps, bytes) = (pool.len() * passes, filter.size_in_bytes());
        let many =
            |ranges: &[KeyRange<'k, K>], answers: &mut [bool]| filter.may_contain_ranges(ranges, answers);
        [
            rounds.add("memory floor", steps, move || floor.read(bytes)),
            rounds.add_serial("single", steps, move || {
                dependent(pool, passes, |range| filter.may_contain_range(range))
            }),
            rounds.add("batched", steps, move || batched(pool, passes, many)),
        ]
    }
}
