//! Speed of every family in standard Bloom filters.
//!
//! All filters of one budget are asked in the same rounds. Ranges are empty, 32 key values long and start uniformly;
//! Bloom filters are asked for the first value of each range. Ranges that hold a key are timed for information.

use lacuna_base::{DynFilter, Result, U64Range};
use lacuna_bench::harness::{MemoryFloor, Rounds, TaskId, Timings};

use super::contest::{Asked, PlannedFilter, add_floor, add_points, add_questions, points, ranges};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::{AtLeast, AtMost, None};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const BUDGETS: [f64; 2] = [14.0, 18.0];
const BLOOM: usize = 0;
const BLOCKED: usize = 1;
const GRAFITE: usize = 2;
const BUCKETING: usize = 3;
const RIBBON: usize = 4;
const SPECS: [&str; 5] = ["bloom", "blocked_bloom", "grafite", "bucketing", "ribbon"];
/// Range filters with the longest that a single question may take, in those of a standard Bloom filter, as in the group `ranges`.
const RANGE_FILTERS: [(usize, f64); 3] = [(GRAFITE, 1.2), (BUCKETING, 1.2), (RIBBON, 1.1)];

/// Measures all budgets.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    progress.say("speed: drawing keys and queries");
    let keys = setting.keys(&format!("uniform:{}", setting.speed_keys()))?;
    let pools = Pools::draw(setting, &keys)?;
    let mut bars = Vec::new();
    for bits in BUDGETS {
        let mut planned = Vec::new();
        for spec in SPECS {
            planned.push(PlannedFilter::try_new(spec, bits, setting.seed)?);
        }
        bars.extend(query_bars(setting, progress, bits, &keys, &planned, &pools)?);
        bars.extend(build_bars(setting, progress, bits, &keys, &planned));
    }
    Ok(bars)
}

/// What is asked.
struct Pools {
    points: Vec<U64Range>,
    ranges: Vec<U64Range>,
    hit_points: Vec<U64Range>,
    hit_ranges: Vec<U64Range>,
}

impl Pools {
    fn draw(setting: &Setting, keys: &[u64]) -> Result<Self> {
        let count = setting.questions();
        let empty = setting.ranges(&format!("uniform:{count}:32"), keys)?;
        let hits = setting.ranges(&format!("correlated:{count}:32:16:hit"), keys)?;
        let present = setting.ranges(&format!("points:{count}:hit"), keys)?;
        Ok(Self {
            points: points(&empty),
            ranges: ranges(&empty),
            hit_points: points(&present),
            hit_ranges: ranges(&hits),
        })
    }

    /// Adds everything that the filter of `SPECS[index]` is asked: ranges for range filters, points for the others.
    fn add<'a>(
        &'a self,
        rounds: &mut Rounds<'a>,
        index: usize,
        filter: &'a DynFilter<u64>,
        floor: &'a MemoryFloor,
    ) -> Tasks {
        Tasks {
            empty: add_asked(rounds, index, filter, [&self.points, &self.ranges]),
            hits: add_asked(rounds, index, filter, [&self.hit_points, &self.hit_ranges]),
            floor: add_floor(rounds, floor, filter.size_in_bytes()),
        }
    }
}

/// Asks `SPECS[index]` for points or for ranges, whichever it is for.
fn add_asked<'a>(
    rounds: &mut Rounds<'a>,
    index: usize,
    filter: &'a DynFilter<u64>,
    [points, ranges]: [&'a [U64Range]; 2],
) -> Asked {
    match index {
        BLOOM | BLOCKED => add_points(rounds, SPECS[index], filter, points),
        _ => add_questions(rounds, SPECS[index], filter, ranges),
    }
}

/// The tasks of one filter.
struct Tasks {
    empty: Asked,
    hits: Asked,
    floor: TaskId,
}

fn query_bars(
    setting: &Setting,
    progress: &Progress,
    bits: f64,
    keys: &[u64],
    planned: &[PlannedFilter],
    pools: &Pools,
) -> Result<Vec<Bar>> {
    progress.say(format!("speed: building filters of {bits} bits"));
    let mut filters: Vec<Box<DynFilter<u64>>> = Vec::new();
    for planned in planned {
        filters.push(planned.open(keys)?);
    }
    let largest = filters.iter().map(|filter| filter.size_in_bytes()).max().unwrap_or(0);
    let floor = MemoryFloor::new(largest, setting.questions(), setting.seed);
    let mut rounds = Rounds::new();
    let tasks: Vec<Tasks> =
        (0..filters.len()).map(|index| pools.add(&mut rounds, index, &*filters[index], &floor)).collect();
    let of = setting.query_rounds();
    let timings = rounds
        .run(of, &mut |round| progress.say(format!("speed: queries at {bits} bits, round {round} of {of}")));
    let mut bars = range_bars(bits, &timings, &tasks);
    bars.extend(blocked_bars(bits, &timings, &tasks));
    bars.extend(predicted_bars(bits, &timings, &tasks));
    bars.extend(information(bits, &timings, &tasks));
    Ok(bars)
}

fn range_bars(bits: f64, timings: &Timings, tasks: &[Tasks]) -> Vec<Bar> {
    let yardstick = tasks[BLOOM].empty.dependent;
    let bars = |(index, max): (usize, f64)| {
        let (name, asked) = (SPECS[index], tasks[index].empty);
        [
            Bar::times_longer(
                format!("{name} single, {bits} bits"),
                timings,
                [asked.dependent, yardstick],
                AtMost(max),
            ),
            Bar::times_faster(
                format!("{name} batched, {bits} bits"),
                timings,
                [asked.batched, asked.dependent],
                AtLeast(2.5),
            ),
            Bar::times_faster(
                format!("{name} batched, {bits} bits"),
                timings,
                [asked.batched, asked.independent],
                AtLeast(1.2),
            ),
        ]
    };
    RANGE_FILTERS.into_iter().flat_map(bars).collect()
}

/// The blocked filter in memory floors where each question waits for the last, and in standard Blooms where questions
/// overlap. Waiting, a standard filter takes 1.6 floors itself, so there the second ratio is shown and not held to a bar.
fn blocked_bars(bits: f64, timings: &Timings, tasks: &[Tasks]) -> [Bar; 4] {
    let Tasks { empty, floor, .. } = &tasks[BLOCKED];
    let bloom = tasks[BLOOM].empty;
    let name = |way: &str| format!("blocked_bloom {way}, {bits} bits");
    [
        Bar::times_longer(name("single"), timings, [empty.dependent, *floor], AtMost(1.3)),
        Bar::times_faster(name("single"), timings, [empty.dependent, bloom.dependent], None),
        Bar::times_faster(name("independent"), timings, [empty.independent, bloom.independent], AtLeast(1.5)),
        Bar::times_faster(name("batched"), timings, [empty.batched, bloom.batched], AtLeast(1.5)),
    ]
}

/// The single bars again, with the processor free to guess answers: without a limit, for it depends on how an answer
/// is computed and on who asks.
fn predicted_bars(bits: f64, timings: &Timings, tasks: &[Tasks]) -> Vec<Bar> {
    let yardstick = tasks[BLOOM].empty.predicted;
    let bar = |index: usize| {
        let name = format!("{} predicted, {bits} bits", SPECS[index]);
        Bar::times_longer(name, timings, [tasks[index].empty.predicted, yardstick], None)
    };
    [GRAFITE, BUCKETING, RIBBON, BLOCKED].map(bar).to_vec()
}

/// Everything else that was timed, beside the memory floor of the filter's size.
fn information(bits: f64, timings: &Timings, tasks: &[Tasks]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (name, tasks) in SPECS.iter().zip(tasks) {
        for (kind, asked) in [("empty", tasks.empty), ("hits", tasks.hits)] {
            let ways =
                [("single", asked.dependent), ("independent", asked.independent), ("batched", asked.batched)];
            for (way, task) in ways {
                let name = format!("{name} {way}, {kind}, {bits} bits");
                bars.push(Bar::times_longer(name, timings, [task, tasks.floor], None));
            }
        }
    }
    bars
}

fn build_bars(
    setting: &Setting,
    progress: &Progress,
    bits: f64,
    keys: &[u64],
    planned: &[PlannedFilter],
) -> Vec<Bar> {
    let mut rounds = Rounds::new();
    let tasks: Vec<TaskId> = planned.iter().map(|planned| planned.add_build(&mut rounds, keys)).collect();
    let of = setting.build_rounds();
    let timings = rounds
        .run(of, &mut |round| progress.say(format!("speed: builds at {bits} bits, round {round} of {of}")));
    let bar = |index: usize, limit| {
        let name = format!("{} build per key, {bits} bits", SPECS[index]);
        Bar::times_longer(name, &timings, [tasks[index], tasks[BLOOM]], limit)
    };
    vec![bar(GRAFITE, AtMost(0.6)), bar(BUCKETING, AtMost(0.2)), bar(RIBBON, None), bar(BLOCKED, None)]
}
