//! A run: how much of what, and what is shared between figures.

use std::any::Any;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use lacuna_base::{Error, Result};
use lacuna_workload::{KeySource, Keys, Queries, QuerySource, ReadOptions, real_sets};

use super::grid::{Grid, GridResult};
use super::model::{Figure, Finding, Paper};

/// Queries that a filter may be designed by, at most.
const SAMPLED_QUERIES: usize = 20_000;

/// How much to measure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// Keys of generated sets, in place of the figure's own number.
    pub keys: Option<usize>,
    /// Queries of each kind, in place of a million.
    pub queries: Option<usize>,
    /// As many keys as the paper takes.
    pub full: bool,
    /// Seed of keys, queries and hashes.
    pub seed: u64,
    /// The only figure to make.
    pub only: Option<String>,
    /// Shares of scans in percent, in place of the figure's own.
    pub scans: Option<Vec<u64>>,
    /// How long a point is measured, where a figure measures for a time.
    pub time: Option<Duration>,
    /// Where a store that is measured with little memory has its data.
    pub data_folder: Option<PathBuf>,
    /// How often each point is measured, where a figure can do that more than once; once if `None`.
    pub runs: Option<NonZeroU32>,
    /// The file to which each point is appended when it is measured, where a figure measures for a time.
    pub points: Option<PathBuf>,
}

/// The work under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The heading of the figure.
    pub figure: String,
    /// The part of it.
    pub stage: String,
    /// Figures that are done.
    pub done: usize,
    /// Figures of this run.
    pub of: usize,
}

/// Distinct ascending keys, and queries about them.
#[derive(Debug, Clone)]
pub struct TestBed {
    /// Keys to build filters from.
    pub keys: Rc<Vec<u64>>,
    /// Queries, each empty unless the source says otherwise.
    pub queries: Rc<Vec<(u64, u64)>>,
    /// Other queries of the same kind, for filters that look at them first.
    pub sample: Rc<Vec<(u64, u64)>>,
}

/// A run under way, as the figures see it.
pub struct Session<'a> {
    setting: &'a Setting,
    progress: &'a mut dyn FnMut(&Step),
    step: Step,
    known: HashMap<String, Rc<dyn Any>>,
}

impl std::fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("setting", &self.setting)
            .field("step", &self.step)
            .finish_non_exhaustive()
    }
}

impl<'a> Session<'a> {
    /// A run that has done nothing yet; [`run`] makes whole papers.
    pub fn new(setting: &'a Setting, progress: &'a mut dyn FnMut(&Step)) -> Self {
        let step = Step { figure: String::new(), stage: String::new(), done: 0, of: 0 };
        Self { setting, progress, step, known: HashMap::new() }
    }

    /// Seed of keys, queries and hashes.
    pub(crate) fn seed(&self) -> u64 {
        self.setting.seed
    }

    /// Number of keys of a generated set: as asked, else a million, else what the paper takes.
    pub(crate) fn key_count(&self, paper: usize) -> usize {
        let own = if self.setting.full { paper } else { paper.min(1_000_000) };
        self.setting.keys.unwrap_or(own)
    }

    /// Number of queries: as asked, else a million.
    pub(crate) fn query_count(&self) -> usize {
        self.setting.queries.unwrap_or(1_000_000)
    }

    /// As [`key_count`](Self::key_count), where a figure has a number of its own for machines like this one.
    pub(crate) fn key_count_or(&self, own: usize, paper: usize) -> usize {
        self.setting.keys.unwrap_or(if self.setting.full { paper } else { own })
    }

    /// As [`query_count`](Self::query_count), where a figure has a number of its own.
    pub(crate) fn query_count_or(&self, own: usize) -> usize {
        self.setting.queries.unwrap_or(own)
    }

    /// How long a point is measured: as asked, else the figure's own time.
    #[cfg(feature = "cache")]
    pub(crate) fn time_or(&self, own: Duration) -> Duration {
        self.setting.time.unwrap_or(own)
    }

    /// Shares of scans in percent: as asked, else the figure's own.
    #[cfg(feature = "cache")]
    pub(crate) fn scans_or(&self, own: &[u64]) -> Vec<u64> {
        self.setting.scans.clone().unwrap_or_else(|| own.to_vec())
    }

    /// The file to which each point is appended, if there is one.
    #[cfg(feature = "cache")]
    pub(crate) fn points(&self) -> Option<PathBuf> {
        self.setting.points.clone()
    }

    /// How often each point is measured.
    #[cfg(feature = "cache")]
    pub(crate) fn runs(&self) -> u32 {
        self.setting.runs.map_or(1, NonZeroU32::get)
    }

    /// Where a store that is measured with little memory has its data; its own choice if `None`.
    #[cfg(feature = "cache")]
    pub(crate) fn data_folder(&self) -> Option<PathBuf> {
        self.setting.data_folder.clone()
    }

    /// Says what is being done.
    pub(crate) fn say(&mut self, stage: impl Into<String>) {
        self.step.stage = stage.into();
        (self.progress)(&self.step);
    }

    /// What `make` gives, made once for all figures that ask for it by `name`.
    ///
    /// # Errors
    /// As `make`.
    pub(crate) fn once<T: 'static>(
        &mut self,
        name: String,
        make: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Rc<T>> {
        if let Some(known) = self.known.get(&name).cloned().and_then(|known| known.downcast().ok()) {
            return Ok(known);
        }
        let made = Rc::new(make(self)?);
        self.known.insert(name, Rc::<T>::clone(&made));
        Ok(made)
    }

    /// Integer keys: a generator such as `uniform:1000000`, a real set such as `osm_node_ids`, or the path of a file.
    /// Made once.
    ///
    /// # Errors
    /// As [`KeySource::load`]; `InvalidInput` if the keys are byte strings.
    pub fn keys(&mut self, source: &str) -> Result<Rc<Vec<u64>>> {
        self.once(format!("keys {source}"), |session| {
            session.say(format!("keys {source}"));
            integers(match real_sets().iter().find(|set| set.name() == source) {
                Some(set) => set.load()?,
                None => {
                    let source = KeySource::parse(source)?;
                    source.load(&ReadOptions::default(), session.setting.seed, &mut |_| {})?
                }
            })
        })
    }

    /// Queries about `keys` by a source such as `uniform:N:2-32`, N being replaced by the number of queries of the run.
    ///
    /// # Errors
    /// As [`QuerySource::workload`].
    pub fn test_bed(&mut self, keys: &Rc<Vec<u64>>, queries: &str) -> Result<TestBed> {
        self.test_bed_of(keys, queries, self.query_count())
    }

    /// [`test_bed`](Self::test_bed) with `count` queries.
    ///
    /// # Errors
    /// As [`QuerySource::workload`].
    pub(crate) fn test_bed_of(
        &mut self,
        keys: &Rc<Vec<u64>>,
        queries: &str,
        count: usize,
    ) -> Result<TestBed> {
        self.say(format!("queries {queries}"));
        let sampled = SAMPLED_QUERIES.min(count.div_ceil(2));
        let source = QuerySource::parse(&queries.replacen('N', &(count + sampled).to_string(), 1))?;
        let workload = source.workload(Keys::U64(keys.to_vec()), self.setting.seed)?;
        let Queries::U64(mut drawn) = workload.queries else {
            return Err(Error::invalid_input("queries about integers are integers"));
        };
        // All come from one law in random order, so the last ones are a fair sample.
        let sample = drawn.split_off(count.min(drawn.len()));
        let inserted = integers(workload.inserted)?;
        let keys = if inserted.len() == keys.len() { Rc::clone(keys) } else { Rc::new(inserted) };
        Ok(TestBed { keys, queries: Rc::new(drawn), sample: Rc::new(sample) })
    }

    /// Measures `grid`, or gives what an earlier figure measured.
    ///
    /// # Errors
    /// As `Grid::measure`.
    pub fn grid(&mut self, grid: &Grid) -> Result<Rc<GridResult>> {
        self.once(format!("{grid:?}"), |session| grid.measure(session))
    }
}

/// Makes the figures of `paper` that `setting` asks for, in order. `progress` is called with what is being done.
///
/// # Errors
/// `InvalidInput` if there is no such figure (the message lists what there is), and whatever measuring reports.
pub fn run(
    paper: &'static Paper,
    setting: &Setting,
    progress: &mut dyn FnMut(&Step),
) -> Result<Vec<(&'static Figure, Finding)>> {
    let wanted = figures(paper, setting.only.as_deref())?;
    let mut session = Session::new(setting, progress);
    let mut findings = Vec::new();
    for figure in &wanted {
        let heading = figure.id.heading();
        session.step = Step { figure: heading, stage: String::new(), done: findings.len(), of: wanted.len() };
        session.say("starting");
        let finding = (figure.run)(&mut session).map_err(|error| error.with_context(figure.id.heading()))?;
        findings.push((*figure, finding));
    }
    Ok(findings)
}

/// The figures that `only` names; all without a name.
///
/// # Errors
/// `InvalidInput` if there is none; the message lists what there is.
pub fn figures(paper: &'static Paper, only: Option<&str>) -> Result<Vec<&'static Figure>> {
    let wanted = |figure: &&Figure| only.is_none_or(|text| figure.id.is_named(text));
    let found: Vec<&Figure> = paper.figures.iter().filter(wanted).collect();
    if found.is_empty() {
        let known: Vec<String> = paper.figures.iter().map(|figure| figure.id.argument()).collect();
        return Err(Error::invalid_input(format!(
            "there is no figure `{}` of {}; choose one of {}",
            only.unwrap_or_default(),
            paper.name,
            known.join(", ")
        )));
    }
    Ok(found)
}

fn integers(keys: Keys) -> Result<Vec<u64>> {
    match keys {
        Keys::U64(keys) => Ok(keys),
        Keys::Bytes(_) => Err(Error::invalid_input("these figures are made over integer keys")),
    }
}
