//! Filters over one workload, each giving a [`Row`].
//!
//! For every contender: build it, ask it every question with a known answer, and time it beside the others.
//!
//! - *Sample*: families that design themselves are shown queries of the same kind, as a store shows its recent ones. Where
//!   none were drawn apart ([`Setting::apart`]), these are the queries that are counted, and a note says which filters would be
//!   others without them.
//! - *Fit*: a contender that its budget is too small for is reported with the budget that would do.
//! - *Build*: sorted slice to sealed bytes, the check of the order included; median of interleaved builds.
//! - *Rate*: "maybe" among the queries that hold no key.
//! - *False negatives*: "no" to an inserted key, to a short range around one, or to a query that holds one. They must
//!   be 0; any other number is a bug in the filter.
//! - *Time*: dependent singles, batches of 1,024, and the memory floor of the filter's own size, in the same rounds.
//!   As many different queries are asked as there are, shuffled; where those are few, caches hold what they touch, and a note
//!   says so.

mod effort;
mod notes;
mod row;
mod speed;
mod truth;

use std::sync::Arc;

use lacuna_base::internal::thinned;
use lacuna_base::{
    AlignedBytes, Budget, BuildPlan, DynFilter, DynSpec, Envelope, Error, ErrorKind, KeyRange, KeySpace,
    KindId, Result, Sample, Secret, SortedKeys,
};
use lacuna_workload::{Queries, Workload};

pub use effort::{Effort, Progress, Watch};
pub use notes::Crowd;
pub use row::{Outcome, Row, Unfit};

use effort::Listener;
use truth::Truth;

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
    /// Queries of the same kind that are not counted: designed filters are shown them, and they are timed. Without them the
    /// queries of the workload serve for that, too.
    pub apart: Option<&'a Queries>,
    /// Seed of the filters' hashes; the workload's own seed, so that a row names one.
    pub seed: u64,
    /// For specs that hash under one; others leave it aside. No row and no report has it.
    pub secret: Option<Secret>,
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
    let outcomes = measure_fitting(contenders, setting, effort, &mut Listener(progress))?;
    let row = |outcome| match outcome {
        Outcome::Row(row) => Ok(*row),
        Outcome::Unfit(unfit) => Err(Error::budget_too_small(&unfit.spec, unfit.smallest_bits_per_key)),
    };
    outcomes.into_iter().map(row).collect()
}

/// As [`measure()`], but a contender that does not fit its budget is an outcome as good as another, and `watch` may end
/// the measurement early: contenders that were not reached are then left out.
///
/// # Errors
/// `InvalidInput` for a spec or budget that does not exist, no keys, or no queries.
pub fn measure_fitting(
    contenders: &[Contender<'_>],
    setting: &Setting<'_>,
    effort: Effort,
    watch: &mut dyn Watch,
) -> Result<Vec<Outcome>> {
    if setting.workload.inserted.is_empty() || setting.workload.queries.is_empty() {
        return Err(Error::invalid_input("there is nothing to measure; give at least one key and one query"));
    }
    match u64::inserted(setting.workload) {
        Some(_) => measure_over::<u64>(contenders, setting, effort, watch),
        None => measure_over::<[u8]>(contenders, setting, effort, watch),
    }
}

/// Most queries of the sample, which is drawn evenly from all that may be shown.
pub const MAX_SAMPLED: usize = 20_000;

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
    /// Others of the same kind, if there are any.
    apart: Vec<KeyRange<'a, K>>,
}

impl<'a, K: BenchKey + ?Sized> Inputs<'a, K> {
    fn try_new(workload: &'a Workload, apart: Option<&'a Queries>) -> Result<Self> {
        let column = K::inserted(workload).expect("the caller looked at the keys");
        let ranges = K::ranges(&workload.queries);
        let apart = apart.map(K::ranges).unwrap_or_default();
        if ranges.is_empty() {
            return Err(Error::invalid_input("keys and queries are of different key spaces"));
        }
        Ok(Self { column, keys: SortedKeys::try_new(K::column(column))?, ranges, apart })
    }

    /// Queries that may be shown to designers and timed.
    fn uncounted(&self) -> &[KeyRange<'a, K>] {
        if self.apart.is_empty() { &self.ranges } else { &self.apart }
    }
}

/// A filter that has been built once.
struct Built<K: KeySpace + ?Sized> {
    spec: Box<dyn DynSpec<K>>,
    plan: BuildPlan<K>,
    filter: Box<DynFilter<K>>,
    kind: KindId,
    /// Whether byte strings are seen through a window, not a place map.
    has_window: bool,
    /// Whether it is another filter without the queries that it is counted with.
    is_made_for_counted: bool,
}

impl<K: BenchKey + ?Sized> Built<K> {
    fn try_new(
        contender: &Contender<'_>,
        inputs: &Inputs<'_, K>,
        sample: &Arc<Sample<K>>,
        setting: &Setting<'_>,
    ) -> Result<Self> {
        let spec = K::spec(contender.spec)?;
        let plan = BuildPlan::new(Budget::bits_per_key(contender.bits_per_key)?)
            .with_sample(Arc::clone(sample))
            .with_seed(setting.seed)
            .with_secret(setting.secret);
        let sealed = spec.build(inputs.keys, &plan)?;
        let (envelope, _) = Envelope::open(sealed.as_bytes())?;
        // The width of the window; 0 stands for a place map.
        let has_window = sealed.payload().last() != Some(&0);
        let is_same_without_sample = || {
            let unsampled = plan.clone().with_sample(Arc::new(Sample::new()));
            let built = spec.build(inputs.keys, &unsampled);
            built.is_ok_and(|built| built.as_bytes() == sealed.as_bytes())
        };
        let is_made_for_counted = inputs.apart.is_empty() && !is_same_without_sample();
        let filter = lacuna_families::open::<K, AlignedBytes>(sealed.into_bytes())?;
        Ok(Self { spec, plan, filter, kind: envelope.kind, has_window, is_made_for_counted })
    }
}

/// The smallest budget that would have worked, if that is what the error is about.
fn smallest_budget(error: &Error) -> Option<f64> {
    match error.kind() {
        ErrorKind::BudgetTooSmall { smallest_bits_per_key } => Some(smallest_bits_per_key),
        _ => None,
    }
}

/// Filters that fit, with what they answered, and what became of each contender: a place among them, or nothing.
struct Field<'a, K: BenchKey + ?Sized> {
    built: Vec<Built<K>>,
    truths: Vec<Truth>,
    tried: Vec<(&'a Contender<'a>, std::result::Result<usize, Unfit>)>,
}

impl<'a, K: BenchKey + ?Sized> Field<'a, K> {
    /// Builds and asks one contender after the other.
    fn of(
        contenders: &'a [Contender<'a>],
        inputs: &Inputs<'_, K>,
        setting: &Setting<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Self> {
        let questions = truth::Questions::of(inputs);
        let sample = Arc::new(sample_of::<K>(inputs.uncounted()));
        let mut field = Self { built: Vec::new(), truths: Vec::new(), tried: Vec::new() };
        for (done, contender) in contenders.iter().enumerate() {
            if watch.is_stopped() {
                break;
            }
            watch.progress(Progress { stage: "building", done, of: contenders.len() });
            let tried = match Built::try_new(contender, inputs, &sample, setting) {
                Ok(built) => Ok(field.ask(built, &questions, inputs)),
                Err(error) => Err(Unfit::new(
                    contender,
                    setting,
                    smallest_budget(&error).ok_or_else(|| error.with_context(contender.spec))?,
                )),
            };
            field.tried.push((contender, tried));
            field.tell(watch);
        }
        Ok(field)
    }

    /// Asks a filter everything; gives its place.
    fn ask(&mut self, built: Built<K>, questions: &truth::Questions<'_, K>, inputs: &Inputs<'_, K>) -> usize {
        self.truths.push(questions.ask(&built, inputs));
        self.built.push(built);
        self.built.len() - 1
    }

    /// Tells what the last contender has come to.
    fn tell(&self, watch: &mut dyn Watch) {
        let Some((contender, tried)) = self.tried.last() else { return };
        let finding = match tried {
            Ok(place) => {
                let truth = self.truths[*place];
                format!("rate {}", crate::report::shown_rate(truth.rate()))
            }
            Err(unfit) => unfit.note.clone(),
        };
        watch.found(contender.spec, contender.bits_per_key, &finding);
    }
}

fn measure_over<K: BenchKey + ?Sized>(
    contenders: &[Contender<'_>],
    setting: &Setting<'_>,
    effort: Effort,
    watch: &mut dyn Watch,
) -> Result<Vec<Outcome>> {
    let inputs = Inputs::<K>::try_new(setting.workload, setting.apart)?;
    let field = Field::of(contenders, &inputs, setting, watch)?;
    let Field { built, truths, tried } = &field;
    if built.is_empty() {
        return Ok(field
            .tried
            .into_iter()
            .filter_map(|(_, tried)| tried.err().map(Outcome::Unfit))
            .collect());
    }
    let builds = speed::build_times(built, &inputs, effort, watch);
    let speeds = speed::query_speeds(built, &inputs, effort, setting.seed, watch);
    let outcome = |(contender, tried): &(&Contender<'_>, std::result::Result<usize, Unfit>)| match tried {
        Err(unfit) => Outcome::Unfit(unfit.clone()),
        Ok(place) => {
            let (built, truth) = (&built[*place], &truths[*place]);
            let predicted = <K as BenchKey>::predict(contender.spec, inputs.keys, &built.plan)
                .ok()
                .filter(|_| truth.empty_count > 0);
            let row = Row::new(contender, setting, built, truth, builds[*place], speeds[*place]);
            Outcome::Row(Box::new(Row {
                predicted_fpr: predicted.map(|prediction| prediction.rate),
                note: notes::about(contender, built, &inputs, effort, speeds[*place].rounds),
                ..row
            }))
        }
    };
    Ok(tried.iter().map(outcome).collect())
}
