//! One scene: draw, build, count, and time.

use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, Error, Result, Sample, U64Range};
use lacuna_bench::harness::{QUERY_ROUNDS, Rounds, dependent};
use lacuna_bench::statistics::median;

use super::contenders::{Built, Contender};
use super::scenes::Scene;

/// Budgets in bits per key.
pub const BITS: [f64; 3] = [10.0, 14.0, 18.0];
/// Lengths of ranges, in keys.
pub const LENGTHS: [u64; 3] = [1, 32, 1_024];
/// Ranges of each length in the sample.
const SAMPLED: usize = 2_000;
/// Keys that are asked for, to be sure.
const CHECKED: usize = 20_000;
/// Ranges of a timed round.
const TIMED: usize = 8_192;
/// Runs whose spread is shown.
const RUNS: usize = 3;

/// How large a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Ranges of each length that are asked.
    pub query_count: usize,
    /// Seed of keys, ranges and filters.
    pub seed: u64,
    /// Whether questions are timed.
    pub with_times: bool,
}

/// Times of a question as multiples of a Bloom filter's: the median of the runs, the least, the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times(pub [f64; 3]);

/// One filter at one budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Which filter.
    pub contender: Contender,
    /// Budget in bits per key.
    pub budget: f64,
    /// Payload bits per key; none if the budget does not hold it.
    pub bits: Option<f64>,
    /// "Maybe" among empty ranges of each of [`LENGTHS`], where it answers and there are such ranges.
    pub rates: [Option<f64>; LENGTHS.len()],
    /// Time of a question about a range of 32 keys, or of one.
    pub times: Option<Times>,
}

/// All rows of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneResult {
    /// The scene.
    pub scene: Scene,
    /// Keys in the filters.
    pub key_count: usize,
    /// By budget, then in the order of the contenders.
    pub rows: Vec<Row>,
}

/// Runs `scene` until `is_stopped`; `say` is called before each filter. What was done before a stop is kept.
///
/// # Errors
/// Any error of building except `BudgetTooSmall`; `Corrupt` if a filter denies a key.
pub fn run_scene(
    scene: &Scene,
    contenders: &[Contender],
    scale: Scale,
    say: &mut dyn FnMut(&str),
    is_stopped: &dyn Fn() -> bool,
) -> Result<SceneResult> {
    say("drawing keys and ranges");
    let drawn = Drawn::of(scene, scale)?;
    let mut rows = Vec::new();
    for budget in BITS {
        let plan = BuildPlan::new(Budget::bits_per_key(budget)?)
            .with_sample(Arc::clone(&drawn.sample))
            .with_seed(scale.seed);
        let mut built = Vec::new();
        for &contender in contenders {
            if is_stopped() {
                break;
            }
            say(&format!("{budget} bits, {}", contender.name()));
            let (row, filter) = drawn.row(contender, budget, &plan)?;
            built.extend(filter.map(|filter| (rows.len(), filter)));
            rows.push(row);
        }
        if scale.with_times && !is_stopped() {
            say(&format!("{budget} bits, times"));
            drawn.time(&built, &plan, &mut rows)?;
        }
    }
    Ok(SceneResult { scene: scene.clone(), key_count: drawn.keys.len(), rows })
}

/// Keys and ranges.
struct Drawn {
    keys: Vec<u64>,
    sample: Arc<Sample<u64>>,
    /// For each length, where there is room for such ranges.
    asked: [Option<Vec<U64Range>>; LENGTHS.len()],
}

impl Drawn {
    fn of(scene: &Scene, scale: Scale) -> Result<Self> {
        let all = scene.load(scale.seed)?;
        let mut drawn =
            Self { keys: all.clone(), sample: Arc::default(), asked: [const { None }; LENGTHS.len()] };
        let mut sample = Sample::new();
        for (asked, length) in drawn.asked.iter_mut().zip(LENGTHS) {
            let Some((keys, ranges)) = scene.draw(&all, length, SAMPLED + scale.query_count, scale.seed)
            else {
                continue;
            };
            drawn.keys = keys;
            ranges[..SAMPLED].iter().for_each(|&(lo, hi)| sample.push(lo, hi));
            *asked = Some(ranges[SAMPLED..].iter().filter_map(|&(lo, hi)| U64Range::new(lo, hi)).collect());
        }
        drawn.sample = Arc::new(sample);
        Ok(drawn)
    }

    fn row(&self, contender: Contender, budget: f64, plan: &BuildPlan<u64>) -> Result<(Row, Option<Built>)> {
        let nothing = Row { contender, budget, bits: None, rates: [None; LENGTHS.len()], times: None };
        let Some((filter, bits)) = contender.build(&self.keys, plan)? else { return Ok((nothing, None)) };
        self.check(contender, &filter)?;
        let mut rates = [None; LENGTHS.len()];
        for ((rate, ranges), length) in rates.iter_mut().zip(&self.asked).zip(LENGTHS) {
            let ranges = ranges.as_ref().filter(|_| filter.answers(length));
            *rate = ranges.map(|ranges| filter.count(ranges) as f64 / ranges.len() as f64);
        }
        Ok((Row { bits: Some(bits), rates, ..nothing }, Some(filter)))
    }

    /// A filter that denies a key has no rates worth counting.
    fn check(&self, contender: Contender, filter: &Built) -> Result<()> {
        let step = self.keys.len().div_ceil(CHECKED).max(1);
        match self.keys.iter().step_by(step).find(|&&key| !filter.may_contain_range(U64Range::point(key))) {
            Some(key) => {
                Err(Error::corrupt(format!("{} denies key {key}, which is there", contender.name())))
            }
            None => Ok(()),
        }
    }

    /// Times what was built beside a standard Bloom filter of the same budget.
    fn time(&self, built: &[(usize, Built)], plan: &BuildPlan<u64>, rows: &mut [Row]) -> Result<()> {
        let Some(ranges) = self.asked[1].as_ref().or(self.asked[0].as_ref()) else { return Ok(()) };
        let pool = &ranges[..ranges.len().min(TIMED)];
        let points: Vec<U64Range> = pool.iter().map(|range| U64Range::point(range.lo())).collect();
        let Some((bloom, _)) = Contender::Ours("bloom").build(&self.keys, plan)? else { return Ok(()) };
        let mut ratios = vec![Vec::new(); built.len()];
        for _ in 0..RUNS {
            let mut rounds = Rounds::new();
            let ask = |filter: &Built, pool: &[U64Range]| {
                dependent(pool, 1, |range| filter.may_contain_range(range))
            };
            let yardstick = rounds.add_serial("bloom", pool.len(), || ask(&bloom, &points));
            let tasks: Vec<_> = built
                .iter()
                .map(|(_, filter)| {
                    let pool = if filter.answers(LENGTHS[1]) { pool } else { &points[..] };
                    rounds.add_serial("", pool.len(), move || ask(filter, pool))
                })
                .collect();
            let timings = rounds.run(QUERY_ROUNDS, &mut |_| {});
            for (ratios, task) in ratios.iter_mut().zip(tasks) {
                ratios.push(timings.ratio(task, yardstick));
            }
        }
        for ((row, _), ratios) in built.iter().zip(ratios) {
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            let most = ratios.iter().copied().fold(0.0, f64::max);
            rows[*row].times = Some(Times([median(&ratios), least, most]));
        }
        Ok(())
    }
}
