//! Filters over one workload, each giving a [`Row`].
//!
//! For every contender: build it, ask it every question with a known answer, and time it beside the others.
//!
//! - *Sample*: families that design themselves are shown some of the queries, as a store shows its recent ones.
//! - *Build*: sorted slice to sealed bytes, the check of the order included; median of interleaved builds.
//! - *Rate*: "maybe" among the queries that hold no key.
//! - *False negatives*: "no" to an inserted key, to a short range around one, or to a query that holds one. They must
//!   be 0; any other number is a bug in the filter.
//! - *Time*: dependent singles, batches of 1,024, and the memory floor of the filter's own size, in the same rounds.

mod effort;
mod row;
mod speed;
mod truth;

use std::sync::Arc;

use lacuna_base::internal::thinned;
use lacuna_base::{
    AlignedBytes, Budget, BuildPlan, DynFilter, DynSpec, Error, KeyRange, KeySpace, Result, Sample,
    SortedKeys,
};
use lacuna_workload::Workload;

pub use effort::{Effort, Progress};
pub use row::Row;

use crate::BenchKey;

/// A filter to measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contender<'a> {
    /// The spec as text, such as `grafite`.
    pub spec: &'a str,
    /// Budget, in bits per distinct key.
    pub bits_per_key: f64,
}

/// Keys and queries that the filters are measured on.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Where the keys come from, for the row.
    pub keys: &'a str,
    /// Where the queries come from, for the row.
    pub queries: &'a str,
    /// The keys and queries themselves.
    pub workload: &'a Workload,
    /// Seed of the filters' hashes; the workload's own seed, so that a row names one.
    pub seed: u64,
}

/// Measures every contender side by side, in the order given. `progress` is called with what is being done.
///
/// # Errors
/// `InvalidInput` for a spec or budget that does not exist, no keys, or no queries; `BudgetTooSmall` if a family does
/// not fit.
pub fn measure(
    contenders: &[Contender<'_>],
    setting: &Setting<'_>,
    effort: Effort,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Row>> {
    if setting.workload.inserted.is_empty() || setting.workload.queries.is_empty() {
        return Err(Error::invalid_input("there is nothing to measure; give at least one key and one query"));
    }
    match u64::inserted(setting.workload) {
        Some(_) => measure_over::<u64>(contenders, setting, effort, progress),
        None => measure_over::<[u8]>(contenders, setting, effort, progress),
    }
}

/// Most queries of the sample, which is drawn evenly from those that are asked.
const MAX_SAMPLED: usize = 20_000;

/// Some of the queries as a sample; families leave out those that hold a key.
fn sample_of<K: BenchKey + ?Sized>(ranges: &[KeyRange<'_, K>]) -> Sample<K> {
    let mut sample = Sample::new();
    for index in thinned(ranges.len(), MAX_SAMPLED) {
        if let (lo, Some(hi)) = K::ends(ranges[index]) {
            sample.push(lo, hi);
        }
    }
    sample
}

/// Keys and queries of one key space.
struct Inputs<'a, K: BenchKey + ?Sized> {
    column: &'a K::OwnedColumn,
    keys: SortedKeys<'a, K>,
    ranges: Vec<KeyRange<'a, K>>,
}

impl<'a, K: BenchKey + ?Sized> Inputs<'a, K> {
    fn try_new(workload: &'a Workload) -> Result<Self> {
        let column = K::inserted(workload).expect("the caller looked at the keys");
        let ranges = K::ranges(workload);
        if ranges.is_empty() {
            return Err(Error::invalid_input("keys and queries are of different key spaces"));
        }
        Ok(Self { column, keys: SortedKeys::try_new(K::column(column))?, ranges })
    }
}

/// A filter that has been built once.
struct Built<K: KeySpace + ?Sized> {
    spec: Box<dyn DynSpec<K>>,
    plan: BuildPlan<K>,
    filter: Box<DynFilter<K>>,
}

impl<K: BenchKey + ?Sized> Built<K> {
    fn try_new(
        contender: &Contender<'_>,
        keys: SortedKeys<'_, K>,
        sample: &Arc<Sample<K>>,
        seed: u64,
    ) -> Result<Self> {
        let spec = K::spec(contender.spec)?;
        let plan = BuildPlan::new(Budget::bits_per_key(contender.bits_per_key)?)
            .with_sample(Arc::clone(sample))
            .with_seed(seed);
        let sealed = spec.build(keys, &plan).map_err(|error| error.with_context(contender.spec))?;
        let filter = lacuna_families::open::<K, AlignedBytes>(sealed.into_bytes())?;
        Ok(Self { spec, plan, filter })
    }
}

fn measure_over<K: BenchKey + ?Sized>(
    contenders: &[Contender<'_>],
    setting: &Setting<'_>,
    effort: Effort,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Row>> {
    let inputs = Inputs::<K>::try_new(setting.workload)?;
    let sample = Arc::new(sample_of::<K>(&inputs.ranges));
    let mut built = Vec::with_capacity(contenders.len());
    for contender in contenders {
        progress(Progress { stage: "building", done: built.len(), of: contenders.len() });
        built.push(Built::try_new(contender, inputs.keys, &sample, setting.seed)?);
    }
    let truths: Vec<truth::Truth> = truth::all(&built, &inputs, progress);
    let build_ns = speed::build_ns(&built, &inputs, effort, progress);
    let speeds = speed::query_speeds(&built, &inputs, effort, setting.seed, progress);
    let rows = contenders.iter().zip(&built).enumerate().map(|(index, (contender, built))| {
        let predicted = <K as BenchKey>::predict(contender.spec, inputs.keys, &built.plan)
            .ok()
            .filter(|_| truths[index].empty_count > 0);
        let row = Row::new(contender, setting, built, &truths[index], build_ns[index], speeds[index]);
        Row { predicted_fpr: predicted.map(|prediction| prediction.rate), ..row }
    });
    Ok(rows.collect())
}
