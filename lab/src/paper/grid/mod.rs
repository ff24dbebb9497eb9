//! Filters at several budgets over one workload: sizes, rates, speeds.
//!
//! Rates are counts over queries that hold no key. Speeds are medians of interleaved rounds in which every filter of a
//! budget and a standard Bloom filter of the same budget, asked for the first key of each range, take turns; what
//! compares between machines is the ratio to that Bloom filter.

mod build;
mod times;

use lacuna_base::{BuildPlan, Result, U64Range};

pub use build::{build, count_maybes, plan, ranges};

use self::build::{Built, build_first};
use self::times::{build_times, query_times};
use super::session::{Session, TestBed};
use super::summary::Summary;
use lacuna_bench::BenchKey as _;

/// A filter under the name that the figures give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFilter {
    /// The name in legends.
    pub name: &'static str,
    /// Its specs by preference: the first one that fits the budget is measured.
    pub specs: Vec<String>,
}

impl NamedFilter {
    /// A filter with one spec.
    pub fn new(name: &'static str, spec: impl Into<String>) -> Self {
        Self { name, specs: vec![spec.into()] }
    }

    /// Whether this build knows the family and parameters of its first spec.
    pub(crate) fn is_known(&self) -> bool {
        self.specs.first().is_some_and(|spec| u64::spec(spec).is_ok())
    }
}

/// Filters, budgets, keys and queries to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Where keys come from.
    pub keys: String,
    /// Where queries come from, N for their number.
    pub queries: String,
    /// Where the sample comes from, if from elsewhere.
    pub sample: Option<String>,
    /// The filters.
    pub filters: Vec<NamedFilter>,
    /// Budgets in bits per key.
    pub bits: Vec<f64>,
    /// Interleaved rounds of queries, and of builds; none leaves the times out.
    pub rounds: GridRounds,
}

/// How often things are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GridRounds {
    /// Rounds of queries.
    pub queries: usize,
    /// Rounds of builds.
    pub builds: usize,
}

/// One filter at one budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Name of the filter.
    pub name: &'static str,
    /// The spec that was built.
    pub spec: String,
    /// Budget in bits per key.
    pub bits: f64,
    /// Payload bits per key.
    pub bits_taken: f64,
    /// Empty queries that were a "maybe".
    pub false_positives: u64,
    /// Empty queries.
    pub empty: u64,
    /// Times, if they were taken.
    pub speed: Option<Speed>,
}

/// Times of a filter: medians of the rounds, with the least and the greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// Nanoseconds a query, each in a call of its own, in an order fixed before.
    pub query_ns: Summary,
    /// The same in standard Bloom filters asked for a point.
    pub query_blooms: Summary,
    /// Nanoseconds a key from sorted slice to sealed bytes; 0 if builds were not timed.
    pub build_ns: Summary,
    /// The same in standard Bloom filters.
    pub build_blooms: Summary,
}

impl Cell {
    /// False positives among empty queries.
    pub(crate) fn rate(&self) -> f64 {
        self.false_positives as f64 / self.empty.max(1) as f64
    }
}

/// The result of a grid.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GridResult {
    /// One for each filter and budget that could be built.
    pub cells: Vec<Cell>,
    /// Filters that this build does not know: their names and specs.
    pub unknown: Vec<(&'static str, String)>,
}

impl GridResult {
    /// The cell of `name` at `bits`.
    pub fn cell(&self, name: &str, bits: f64) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.name == name && cell.bits == bits)
    }

    /// The cells of `name`, ascending in bits.
    pub(crate) fn of<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Cell> {
        self.cells.iter().filter(move |cell| cell.name == name)
    }

    /// A sentence for each filter that is not there yet.
    pub fn notes(&self) -> Vec<String> {
        let note = |(name, spec): &(&str, String)| format!("{name}: not yet (this build has no `{spec}`).");
        self.unknown.iter().map(note).collect()
    }
}

impl Grid {
    /// Builds, counts and times.
    ///
    /// # Errors
    /// `InvalidInput` for keys or queries that do not exist; what building reports other than that the budget is too
    /// small, which leaves a cell out.
    pub(crate) fn measure(&self, session: &mut Session<'_>) -> Result<GridResult> {
        let keys = session.keys(&self.keys)?;
        let mut test_bed = session.test_bed(&keys, &self.queries)?;
        if let Some(source) = &self.sample {
            test_bed.sample = session.test_bed(&keys, source)?.sample;
        }
        let (known, unknown): (Vec<_>, Vec<_>) =
            self.filters.iter().partition(|named_filter| named_filter.is_known());
        let mut result = GridResult { cells: Vec::new(), unknown: unknown.into_iter().map(named).collect() };
        for &bits in &self.bits {
            session.say(format!("{} over {} at {bits} bits", self.queries, self.keys));
            result.cells.extend(self.column(&known, &test_bed, bits, session.seed())?);
        }
        Ok(result)
    }

    /// All filters at one budget.
    fn column(&self, known: &[&NamedFilter], test_bed: &TestBed, bits: f64, seed: u64) -> Result<Vec<Cell>> {
        let plan = plan(test_bed, bits, seed)?;
        let built = known.iter().map(|named_filter| build_first(named_filter, test_bed, &plan));
        let built: Vec<Built<'_>> = built.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let ranges: Vec<U64Range> = ranges(&test_bed.queries).collect();
        let speeds = self.speeds(&built, test_bed, &plan, &ranges)?;
        let cell = |(built, speed): (Built<'_>, Option<Speed>)| Cell {
            name: built.named_filter.name,
            spec: built.spec,
            bits,
            bits_taken: built.payload_bytes as f64 * 8.0 / test_bed.keys.len() as f64,
            false_positives: count_maybes(&*built.filter, &ranges),
            empty: ranges.len() as u64,
            speed,
        };
        Ok(built.into_iter().zip(speeds).map(cell).collect())
    }

    fn speeds(
        &self,
        built: &[Built<'_>],
        test_bed: &TestBed,
        plan: &BuildPlan<u64>,
        ranges: &[U64Range],
    ) -> Result<Vec<Option<Speed>>> {
        if self.rounds.queries == 0 {
            return Ok(vec![None; built.len()]);
        }
        let queries = query_times(built, test_bed, plan, ranges, self.rounds.queries)?;
        let builds = build_times(built, test_bed, plan, self.rounds.builds)?;
        let speed = |((query_ns, query_blooms), (build_ns, build_blooms))| {
            Some(Speed { query_ns, query_blooms, build_ns, build_blooms })
        };
        Ok(queries.into_iter().zip(builds).map(speed).collect())
    }
}

fn named(named_filter: &NamedFilter) -> (&'static str, String) {
    (named_filter.name, named_filter.specs.first().cloned().unwrap_or_default())
}
