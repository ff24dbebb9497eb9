//! One scene: draw, build, count, and time.

use std::collections::BTreeSet;
use std::sync::Arc;

use lacuna_base::{Budget, BuildPlan, Error, KeyRange, Result, Sample, SortedKeys};
use lacuna_bench::harness::{QUERY_ROUNDS, Rounds, dependent};
use lacuna_bench::statistics::median;
use lacuna_workload::{Keys, Workload};

use super::columns::{COLUMNS, SceneKey};
use super::contenders::{Built, Candidate, Contender};
use super::scenes::Scene;

/// Budgets in bits per key.
pub const BITS: [f64; 3] = [10.0, 14.0, 18.0];
/// Ranges of each column in the sample.
const SAMPLED: usize = 2_000;
/// Keys that are asked for, to be sure.
const CHECKED: usize = 20_000;
/// Ranges of a timed round, at most: filters take turns, so that caches hold little of one from one round to the next.
pub(super) const TIMED: usize = 1 << 15;
/// Runs whose spread is shown.
const RUNS: usize = 3;

/// How large a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Ranges of each column that are asked.
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
    /// How it sees byte strings, if not whole.
    pub view: Option<&'static str>,
    /// "Maybe" among empty ranges of each column, where it answers and there are such ranges.
    pub rates: [Option<f64>; COLUMNS],
    /// Time of a question of the second column, or of the first.
    pub times: Option<Times>,
}

/// All rows of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneResult {
    /// The scene.
    pub scene: Scene,
    /// What the columns ask.
    pub columns: [&'static str; COLUMNS],
    /// Keys in the filters.
    pub key_count: usize,
    /// Ranges of each column that are asked, each once; fewer than were drawn where keys that were taken out are few.
    pub asked: [usize; COLUMNS],
    /// By budget, then in the order of the contenders.
    pub rows: Vec<Row>,
    /// Whether it was run to its end.
    pub is_whole: bool,
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
    let keys = scene.load(scale.seed)?;
    match keys {
        Keys::U64(_) => run_over::<u64>(scene, &keys, contenders, scale, say, is_stopped),
        Keys::Bytes(_) => run_over::<[u8]>(scene, &keys, contenders, scale, say, is_stopped),
    }
}

fn run_over<K: SceneKey + ?Sized>(
    scene: &Scene,
    keys: &Keys,
    contenders: &[Contender],
    scale: Scale,
    say: &mut dyn FnMut(&str),
    is_stopped: &dyn Fn() -> bool,
) -> Result<SceneResult> {
    let drawn = Drawn::<K>::of(scene, keys, scale)?;
    let asked = drawn.asked();
    let (mut rows, mut is_whole) = (Vec::new(), true);
    for budget in BITS {
        let plan = BuildPlan::new(Budget::bits_per_key(budget)?)
            .with_sample(Arc::clone(&drawn.sample))
            .with_seed(scale.seed);
        let mut built = Vec::new();
        for &contender in contenders {
            if is_stopped() {
                is_whole = false;
                break;
            }
            say(&format!("{budget} bits, {}", contender.name()));
            let (row, filter) = drawn.row(contender, budget, &plan, &asked)?;
            built.extend(filter.map(|filter| (rows.len(), filter)));
            rows.push(row);
        }
        if scale.with_times && is_stopped() {
            is_whole = false;
        } else if scale.with_times {
            say(&format!("{budget} bits, times"));
            drawn.time(&built, &plan, &asked, &mut rows)?;
        }
    }
    let key_count = drawn.keys()?.len();
    let asked = asked.map(|ranges| ranges.map_or(0, |ranges| ranges.len()));
    Ok(SceneResult { scene: scene.clone(), columns: K::NAMES, key_count, asked, rows, is_whole })
}

/// Empty ranges of each column that are asked, where there is room for such ranges.
type Asked<'a, K> = [Option<Vec<KeyRange<'a, K>>>; COLUMNS];

/// Keys and ranges.
struct Drawn<K: SceneKey + ?Sized> {
    keys: K::OwnedColumn,
    sample: Arc<Sample<K>>,
    /// The ranges of each column, those of the sample first; without their keys.
    columns: [Option<Workload>; COLUMNS],
}

impl<K: SceneKey + ?Sized> Drawn<K> {
    fn of(scene: &Scene, all: &Keys, scale: Scale) -> Result<Self> {
        let (mut keys, mut sample) = (None, Sample::new());
        let count = SAMPLED + scale.query_count;
        let mut columns: [Option<Workload>; COLUMNS] = [const { None }; COLUMNS];
        for (column, place) in columns.iter_mut().enumerate() {
            let Some(mut workload) = K::draw(all, scene.starts, column, count, scale.seed)? else { continue };
            let none = Keys::U64(Vec::new());
            workload.held_out = none.clone();
            keys = K::of(std::mem::replace(&mut workload.inserted, none));
            for &range in &K::ranges(&workload.queries)[..SAMPLED] {
                if let (lo, Some(hi)) = K::ends(range) {
                    sample.push(lo, hi);
                }
            }
            *place = Some(workload);
        }
        let keys = keys.or_else(|| K::of(all.clone()));
        let keys = keys.ok_or_else(|| Error::invalid_input(format!("{scene}: keys of another kind")))?;
        Ok(Self { keys, sample: Arc::new(sample), columns })
    }

    fn keys(&self) -> Result<SortedKeys<'_, K>> {
        SortedKeys::try_new(K::column(&self.keys))
    }

    /// Each range once, and none of the sample: ranges are drawn with repetition, and a filter may be made for those that it knows.
    fn asked(&self) -> Asked<'_, K> {
        std::array::from_fn(|column| {
            let mut sampled = K::ranges(&self.columns[column].as_ref()?.queries);
            let mut drawn = sampled.split_off(SAMPLED);
            let mut seen: BTreeSet<_> = sampled.into_iter().map(K::ends).collect();
            drawn.retain(|range| seen.insert(K::ends(*range)));
            Some(drawn).filter(|drawn| !drawn.is_empty())
        })
    }

    fn row(
        &self,
        contender: Contender,
        budget: f64,
        plan: &BuildPlan<K>,
        asked: &Asked<'_, K>,
    ) -> Result<(Row, Option<Built<K>>)> {
        let nothing = Row { contender, budget, bits: None, view: None, rates: [None; COLUMNS], times: None };
        let Some(Candidate { filter, bits, view }) = contender.build(self.keys()?, plan)? else {
            return Ok((nothing, None));
        };
        self.check(contender, &filter)?;
        let rates = std::array::from_fn(|column| {
            let ranges = asked[column].as_ref().filter(|_| filter.answers(column))?;
            Some(filter.count(ranges) as f64 / ranges.len() as f64)
        });
        Ok((Row { bits: Some(bits), view, rates, ..nothing }, Some(filter)))
    }

    /// A filter that denies a key has no rates worth counting.
    fn check(&self, contender: Contender, filter: &Built<K>) -> Result<()> {
        let keys = self.keys()?;
        let step = keys.len().div_ceil(CHECKED).max(1);
        let denies = |key: &K::Ref<'_>| !filter.may_contain_range(K::point(K::shorten(*key)));
        match keys.iter().step_by(step).find(denies) {
            Some(key) => {
                Err(Error::corrupt(format!("{} denies key {key:?}, which is there", contender.name())))
            }
            None => Ok(()),
        }
    }

    /// Times what was built beside a standard Bloom filter of the same budget.
    fn time(
        &self,
        built: &[(usize, Built<K>)],
        plan: &BuildPlan<K>,
        asked: &Asked<'_, K>,
        rows: &mut [Row],
    ) -> Result<()> {
        let Some(ranges) = asked[1].as_ref().or(asked[0].as_ref()) else { return Ok(()) };
        let pool = &ranges[..ranges.len().min(TIMED)];
        let points: Vec<_> = pool.iter().map(|range| K::point(K::ends(*range).0)).collect();
        let Some(bloom) = Contender::Ours("bloom").build(self.keys()?, plan)? else { return Ok(()) };
        let mut ratios = vec![Vec::new(); built.len()];
        for _ in 0..RUNS {
            let mut rounds = Rounds::new();
            let ask = |filter: &Built<K>, pool: &[KeyRange<'_, K>]| {
                dependent(pool, 1, |range| filter.may_contain_range(range))
            };
            let yardstick = rounds.add_serial("bloom", pool.len(), || ask(&bloom.filter, &points));
            let tasks: Vec<_> = built
                .iter()
                .map(|(_, filter)| {
                    let pool = if filter.answers(1) { pool } else { &points[..] };
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::scenes::Starts;
    use super::*;

    #[test]
    fn a_stop_after_the_last_filter_leaves_a_scene_whole() {
        let scene = Scene { keys: "uniform:2k".to_owned(), starts: Starts::Anywhere };
        let scale = Scale { query_count: 500, seed: 1, with_times: false };
        let is_whole = |is_stopped: &dyn Fn() -> bool| {
            let bloom = [Contender::Ours("bloom")];
            run_scene(&scene, &bloom, scale, &mut |_| {}, is_stopped).expect("it fits").is_whole
        };
        let asked = Cell::new(0_usize);
        let stops_after = |count: usize| {
            asked.set(asked.get() + 1);
            asked.get() > count
        };
        assert!(is_whole(&|| stops_after(BITS.len())));
        asked.set(0);
        assert!(!is_whole(&|| stops_after(BITS.len() - 1)));
    }
}
