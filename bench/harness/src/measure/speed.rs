//! Times of builds and queries, all contenders interleaved.

use lacuna_base::internal::thinned;
use lacuna_base::{DynFilter, KeyRange, SortedKeys};
use lacuna_workload::Rng;

use super::{Built, Effort, Inputs, Progress, Watch};
use crate::BenchKey;
use crate::harness::{MemoryFloor, Rounds, TaskId, Timings, batched, dependent};

/// Stream of the order of timed queries, apart from those of keys, queries and places.
const ORDER_STREAM: u64 = 65;

/// A time in nanoseconds: the median of the rounds, and the least and the greatest of their middle half.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Time {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Time {
    fn of(timings: &Timings, task: TaskId) -> Self {
        let (low, high) = timings.middle_half(task);
        Self { median: timings.median_ns(task), low, high }
    }
}

/// Times of one filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Speed {
    pub(super) per_query: Time,
    pub(super) per_query_batched: Time,
    /// Median nanoseconds.
    pub(super) memory_floor: f64,
    /// Rounds that these come from: fewer than asked for if the measurement was to end.
    pub(super) rounds: usize,
}

/// Build time of each filter per key.
pub(super) fn build_times<K: BenchKey + ?Sized>(
    built: &[Built<K>],
    inputs: &Inputs<'_, K>,
    effort: Effort,
    watch: &mut dyn Watch,
) -> Vec<Time> {
    let mut rounds = Rounds::new();
    let tasks: Vec<TaskId> = built.iter().map(|built| add_build(&mut rounds, built, inputs)).collect();
    let timings = timed(rounds, "timing builds", effort.build_rounds, watch);
    tasks.into_iter().map(|task| Time::of(&timings, task)).collect()
}

/// Query times of each filter.
pub(super) fn query_speeds<K: BenchKey + ?Sized>(
    built: &[Built<K>],
    inputs: &Inputs<'_, K>,
    effort: Effort,
    seed: u64,
    watch: &mut dyn Watch,
) -> Vec<Speed> {
    let pool = pool_of(inputs.uncounted(), effort.questions.max(1), seed);
    let passes = effort.passes(pool.len());
    let steps = pool.len() * passes;
    let largest = built.iter().map(|built| built.filter.size_in_bytes()).max().unwrap_or(0);
    let floor = MemoryFloor::new(largest, steps, seed);
    let mut rounds = Rounds::new();
    let questions = Questions { pool: &pool, passes, floor: &floor };
    let tasks: Vec<[TaskId; 3]> =
        built.iter().map(|built| questions.add(&mut rounds, &*built.filter)).collect();
    let timings = timed(rounds, "timing queries", effort.query_rounds, watch);
    let speed = |[floor, single, batched]: [TaskId; 3]| Speed {
        per_query: Time::of(&timings, single),
        per_query_batched: Time::of(&timings, batched),
        memory_floor: timings.median_ns(floor),
        rounds: timings.rounds_ns(floor).len(),
    };
    tasks.into_iter().map(speed).collect()
}

/// At most `count` of the queries, from all parts of the list and shuffled: those of a sorted file would walk through a filter in its own
/// order, and caches would help.
fn pool_of<R: Copy>(queries: &[R], count: usize, seed: u64) -> Vec<R> {
    let mut pool: Vec<R> = thinned(queries.len(), count).map(|index| queries[index]).collect();
    let mut rng = Rng::with_stream(seed, ORDER_STREAM);
    for place in (1..pool.len()).rev() {
        pool.swap(place, rng.index(place + 1));
    }
    pool
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timed_queries_come_from_the_whole_list_in_no_order() {
        let queries: Vec<u32> = (0..10_000).collect();
        let pool = pool_of(&queries, 1_000, 1);
        assert!(pool.len() == 1_000 && pool == pool_of(&queries, 1_000, 1), "the same from the seed");
        assert!(pool.windows(2).filter(|pair| pair[0] < pair[1]).count() < 600, "{pool:?}");
        let mut sorted = pool;
        sorted.sort_unstable();
        sorted.dedup();
        assert!(sorted.len() == 1_000 && sorted[0] < 10 && sorted[999] >= 9_990, "{sorted:?}");
        assert_eq!(pool_of(&queries[..1], 1_000, 1), [0]);
    }
}
