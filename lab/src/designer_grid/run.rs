//! Runs a cell: design, build all, count, add up.

use std::sync::Arc;

use lacuna_base::{
    Budget, BuildPlan, DynFilter, ErrorKind, KeyRange, KeySpaceId, Prediction, RangeFilter as _, RateBound,
    Result, Sample, SortedKeys,
};
use lacuna_families::testing::{design_of_before, probe_ns};
use lacuna_families::{AutoSpec, Candidate, FAMILIES};
use lacuna_workload::Workload;

use super::cell::Cell;
use super::outcome::{Cost, Outcome};
use lacuna_bench::BenchKey;
use lacuna_bench::harness::{Rounds, batched, dependent};

/// Each family that `auto` considers by default, with default parameters, and Rosetta; beside the candidates of the
/// design.
const RIVALS: [&str; 16] = [
    "bloom",
    "blocked_bloom",
    "prefix_bloom",
    "bucketing",
    "grafite",
    "ribbon",
    "rencoder",
    "rencoder:ss",
    "rencoder:se",
    "rencoder:po",
    "surf:cut",
    "surf:hash=4,cut",
    "surf:hash=2,real=2,cut",
    "proteus",
    "rosetta",
    "snarf",
];
/// Those that it considers over byte strings alone.
const STRING_RIVALS: [&str; 2] = ["multi_prefix_bloom", "place_trie"];

/// Most questions of a round: with few, their lines would stay in the caches from one round to the next, or a round would
/// be over before the processor has learned the filter's code.
pub(super) const MAX_TIMED: usize = 1 << 15;

/// How large a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Keys of generated sets.
    pub key_count: usize,
    /// Queries in the sample, and as many that are asked.
    pub query_count: usize,
    /// Seed of keys, queries and filters.
    pub seed: u64,
    /// Where the time of a question comes from.
    pub clock: Clock,
}

/// Where the time of a question comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// From the designer's constants: the same on every machine.
    Counted,
    /// From this many interleaved rounds.
    Measured(usize),
}

/// Runs one cell; `None` where the keys leave no room for such empty queries.
///
/// # Errors
/// Any error of reading keys, and of building except `BudgetTooSmall`.
pub fn run(cell: Cell, scale: Scale) -> Result<Option<Outcome>> {
    let workload = match cell.workload(scale.key_count, scale.query_count * 2, scale.seed) {
        Err(problem) if problem.kind() == ErrorKind::InvalidInput => return Ok(None),
        workload => workload?,
    };
    match u64::inserted(&workload) {
        Some(_) => run_over::<u64>(cell, scale, &workload).map(Some),
        None => run_over::<[u8]>(cell, scale, &workload).map(Some),
    }
}

fn run_over<K: BenchKey + ?Sized>(cell: Cell, scale: Scale, workload: &Workload) -> Result<Outcome> {
    let column = K::inserted(workload).expect("the caller looked at the keys");
    let keys = SortedKeys::try_new(K::column(column))?;
    let ranges = K::ranges(&workload.queries);
    let (sampled, asked) = halves::<K>(&ranges);
    let plan = BuildPlan::new(Budget::bits_per_key(cell.bits_per_key)?)
        .with_sample(Arc::new(sample::<K>(sampled.into_iter())))
        .with_seed(scale.seed);
    let auto = AutoSpec::new();
    let design = auto.design(keys, &plan)?;
    let mut texts: Vec<String> = design.candidates().iter().map(|candidate| candidate.spec.clone()).collect();
    let string_rivals = STRING_RIVALS.into_iter().filter(|_| K::ID == KeySpaceId::Bytes);
    for rival in RIVALS.into_iter().chain(string_rivals) {
        if !texts.iter().any(|text| text == rival) {
            texts.push(rival.to_owned());
        }
    }
    let mut field = Field { price_ns: f64::from(auto.price_ns()), asked, entries: Vec::new() };
    for text in texts {
        field.enter(&text, keys, &plan)?;
    }
    let before = design_of_before(auto, keys, &plan)?;
    let before = field.enter_first(before.candidates(), keys, &plan)?;
    let costs = field.costs(scale.clock);
    // The design is built from its first candidate that fits, which is the first that was entered.
    let (chosen, before) = (costs[0].clone(), costs[before].clone());
    let best = costs.into_iter().min_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns)).expect("auto always fits");
    Ok(Outcome { cell, chosen, predicted_ns: design.candidates()[0].cost_ns, best, before })
}

/// Two halves that follow the same law: pairs of neighbours in turn, since workloads may alternate themselves.
fn halves<'a, K: BenchKey + ?Sized>(
    ranges: &[KeyRange<'a, K>],
) -> (Vec<KeyRange<'a, K>>, Vec<KeyRange<'a, K>>) {
    let mut halves = (Vec::new(), Vec::new());
    for (number, range) in ranges.iter().enumerate() {
        if number % 4 < 2 { halves.0.push(*range) } else { halves.1.push(*range) }
    }
    halves
}

fn sample<'a, K: BenchKey + ?Sized>(ranges: impl Iterator<Item = KeyRange<'a, K>>) -> Sample<K> {
    let mut sample = Sample::new();
    for range in ranges {
        if let (lo, Some(hi)) = K::ends(range) {
            sample.push(lo, hi);
        }
    }
    sample
}

/// A built filter.
struct Entry<K: BenchKey + ?Sized> {
    spec: String,
    question_ns: f64,
    filter: Box<DynFilter<K>>,
}

/// All filters of a cell.
struct Field<'a, K: BenchKey + ?Sized> {
    price_ns: f64,
    asked: Vec<KeyRange<'a, K>>,
    entries: Vec<Entry<K>>,
}

impl<K: BenchKey + ?Sized> Field<'_, K> {
    /// The first of `candidates` that fits, built unless it is there.
    fn enter_first(
        &mut self,
        candidates: &[Candidate],
        keys: SortedKeys<'_, K>,
        plan: &BuildPlan<K>,
    ) -> Result<usize> {
        for Candidate { spec, .. } in candidates {
            let is_there = self.entries.iter().any(|entry| entry.spec == *spec);
            if !is_there {
                self.enter(spec, keys, plan)?;
            }
            if let Some(place) = self.entries.iter().position(|entry| entry.spec == *spec) {
                return Ok(place);
            }
        }
        unreachable!("Grafite is a candidate of every design and fits, or the design would be an error")
    }

    /// Builds `text`, unless it does not fit.
    fn enter(&mut self, text: &str, keys: SortedKeys<'_, K>, plan: &BuildPlan<K>) -> Result<()> {
        let sealed = match K::spec(text)?.build(keys, plan) {
            Err(problem) if matches!(problem.kind(), ErrorKind::BudgetTooSmall { .. }) => return Ok(()),
            built => built?,
        };
        let name = text.split(':').next().unwrap_or_default();
        let family = FAMILIES.iter().find(|family| family.kind.name() == name).expect("the spec was read");
        let payload_bytes = sealed.payload().len();
        // A family whose prediction finds no room was built all the same: by its size, one probe.
        let predicted = <K as BenchKey>::predict(text, keys, plan).unwrap_or(Prediction {
            rate: 0.0,
            probes: 1.0,
            fetches: 1.0,
            payload_bytes,
            bound: RateBound::NONE,
        });
        let question_ns = probe_ns(family, K::ID, &Prediction { payload_bytes, ..predicted });
        let filter = lacuna_families::open::<K, _>(sealed.into_bytes())?;
        self.entries.push(Entry { spec: text.to_owned(), question_ns, filter });
        Ok(())
    }

    fn costs(&self, clock: Clock) -> Vec<Cost> {
        let times = match clock {
            Clock::Counted => self.entries.iter().map(|entry| entry.question_ns).collect(),
            Clock::Measured(rounds) => self.times(rounds),
        };
        let cost = |(entry, question_ns): (&Entry<K>, f64)| {
            let ask = |ranges: &[KeyRange<'_, K>], answers: &mut [bool]| {
                entry.filter.may_contain_ranges(ranges, answers);
            };
            let rate = batched(&self.asked, 1, ask) as f64 / self.asked.len() as f64;
            Cost { spec: entry.spec.clone(), rate, question_ns, cost_ns: question_ns + rate * self.price_ns }
        };
        self.entries.iter().zip(times).map(cost).collect()
    }

    /// Measured nanoseconds of a question to each filter.
    fn times(&self, round_count: usize) -> Vec<f64> {
        let pool = &self.asked[..self.asked.len().min(MAX_TIMED)];
        let mut rounds = Rounds::new();
        let tasks: Vec<_> = self
            .entries
            .iter()
            .map(|entry| {
                let ask = || dependent(pool, 1, |range| entry.filter.may_contain_range(range));
                rounds.add_serial(entry.spec.clone(), pool.len(), ask)
            })
            .collect();
        let timings = rounds.run(round_count, &mut |_| {});
        tasks.into_iter().map(|task| timings.median_ns(task)).collect()
    }
}
