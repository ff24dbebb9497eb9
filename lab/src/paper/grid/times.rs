//! Times of a column of filters, interleaved with a standard Bloom filter.

use lacuna_base::{AlignedBytes, BuildPlan, Result, SortedKeys, U64Range};

use super::build::{Built, build};
use crate::paper::session::TestBed;
use crate::paper::summary::Summary;
use lacuna_bench::BenchKey as _;
use lacuna_bench::harness::{Rounds, TaskId, Timings, independent};

/// Queries that are asked in each timed round, at most.
const TIMED_QUERIES: usize = 1 << 15;
/// The yardstick of speed.
const YARDSTICK: &str = "bloom";

/// Nanoseconds a step, and the same in steps of the yardstick.
pub(super) type Times = (Summary, Summary);

/// Nanoseconds a query, and the same in standard Bloom filters asked for the first key of each range.
pub(super) fn query_times(
    built: &[Built<'_>],
    test_bed: &TestBed,
    plan: &BuildPlan<u64>,
    ranges: &[U64Range],
    round_count: usize,
) -> Result<Vec<Times>> {
    let bloom = build(YARDSTICK, test_bed, plan)?;
    let bloom = lacuna_families::open::<u64, AlignedBytes>(bloom.into_bytes())?;
    let pool = &ranges[..ranges.len().min(TIMED_QUERIES)];
    let mut rounds = Rounds::new();
    let yardstick =
        rounds.add(YARDSTICK, pool.len(), || independent(pool, 1, |range| bloom.may_contain(range.lo())));
    let tasks: Vec<TaskId> = built
        .iter()
        .map(|built| {
            let filter = &built.filter;
            rounds.add(&*built.spec, pool.len(), move || {
                independent(pool, 1, |range| filter.may_contain_range(range))
            })
        })
        .collect();
    let timings = rounds.run(round_count, &mut |_| {});
    Ok(tasks.into_iter().map(|task| times(&timings, task, yardstick)).collect())
}

/// Nanoseconds a key, and the same in standard Bloom filters; zeros without rounds.
pub(super) fn build_times(
    built: &[Built<'_>],
    test_bed: &TestBed,
    plan: &BuildPlan<u64>,
    round_count: usize,
) -> Result<Vec<Times>> {
    if round_count == 0 {
        return Ok(vec![(Summary::once(0.0), Summary::once(0.0)); built.len()]);
    }
    let mut rounds = Rounds::new();
    let mut add = |spec: &str| -> Result<TaskId> {
        let family = u64::spec(spec)?;
        Ok(rounds.add(spec, test_bed.keys.len(), move || {
            let keys =
                SortedKeys::integers(&test_bed.keys).expect("in order when the filter was first built");
            family.build(keys, plan).expect("it was built once before")
        }))
    };
    let yardstick = add(YARDSTICK)?;
    let tasks = built.iter().map(|built| add(&built.spec)).collect::<Result<Vec<_>>>()?;
    let timings = rounds.run(round_count, &mut |_| {});
    Ok(tasks.into_iter().map(|task| times(&timings, task, yardstick)).collect())
}

fn times(timings: &Timings, task: TaskId, yardstick: TaskId) -> Times {
    (Summary::of_ns(timings, task), Summary::of_ratios(timings, task, yardstick))
}
