//! SlateDB's `FilterPolicy` and `FilterBuilder` over a guard.

use std::sync::Arc;

use lacuna_guard::{Counters, FileTag, Guard, GuardBuilder, GuardSpec, LearnedGaps, QueryLog, SharedBytes};
use slatedb::{Filter, FilterBuilder, FilterPolicy, RowEntry};
use tracing::warn;

use crate::file_tag;
use crate::probes::Probes;
use crate::sst_filter::SstFilter;

/// First part of every policy name. The number changes when an old reader would misunderstand new filters; it need not
/// change for filters that an old reader cannot open, because the reader then reads the SST.
const NAME_PREFIX: &str = "lacuna.v1.";

/// Builds and opens the range filters of one database.
///
/// Its name is the format and the codec, for instance `lacuna.v1.fixed_be:8`: what decides whether a stored filter
/// means what the reader takes it to mean. Family, budget and seed are in the filter itself.
///
/// ```
/// use lacuna_slatedb::RangeFilters;
/// use slatedb::FilterPolicy;
///
/// let policies = RangeFilters::parse("bloom@10 codec=fixed_be:8")?.policies();
/// assert_eq!(policies[0].name(), "lacuna.v1.fixed_be:8");
/// assert!(policies[0].supports_range_queries());
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RangeFilterPolicy {
    name: String,
    spec: Arc<GuardSpec>,
    shared: Shared,
}

/// What all filters, builders and scans of one database share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) log: Arc<QueryLog>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) probes: Arc<Probes>,
    /// `None` unless gaps are learned.
    pub(crate) gaps: Option<Arc<LearnedGaps>>,
}

impl RangeFilterPolicy {
    pub(crate) fn new(spec: Arc<GuardSpec>, shared: Shared) -> Self {
        Self { name: format!("{NAME_PREFIX}{}", spec.codec()), spec, shared }
    }

    /// A policy that opens filters of the codec of `spec`, which builds none.
    /// Its files keep their tags but learn no gaps, which are kept in the keys of one codec.
    pub(crate) fn decode_only(spec: GuardSpec, shared: Shared) -> Self {
        Self::new(Arc::new(spec), Shared { gaps: None, ..shared })
    }

    fn open(&self, bytes: SharedBytes, tag: Option<FileTag>) -> Arc<dyn Filter> {
        let guard = Guard::open_shared(bytes, self.spec.codec(), &self.shared.counters);
        if let Some(problem) = guard.problem().filter(|_| !guard.as_bytes().is_empty()) {
            warn!(policy = self.name, %problem, "a range filter did not open; its SST is always read");
        }
        match (tag, &self.shared.gaps) {
            (Some(tag), Some(gaps)) => {
                Arc::new(SstFilter::with_gaps(guard, &self.shared, gaps.open_file(tag)))
            }
            _ => Arc::new(SstFilter::new(guard, &self.shared, tag)),
        }
    }
}

impl FilterPolicy for RangeFilterPolicy {
    fn name(&self) -> &str {
        &self.name
    }

    fn builder(&self) -> Box<dyn FilterBuilder> {
        let Shared { log, counters, .. } = self.shared.clone();
        Box::new(SstBuilder {
            guard: GuardBuilder::new(Arc::clone(&self.spec), log, counters),
            policy: self.clone(),
        })
    }

    fn decode(&self, data: &[u8]) -> Arc<dyn Filter> {
        let (sealed, tag) = file_tag::split(data);
        self.open(SharedBytes::copy_of(sealed), tag)
    }

    fn estimate_size(&self, num_keys: usize) -> usize {
        let trailer = if self.shared.gaps.is_some() { file_tag::TRAILER_BYTES } else { 0 };
        self.spec.sealed_bytes(num_keys) + trailer
    }

    fn supports_range_queries(&self) -> bool {
        true
    }

    /// `false`, so that SlateDB asks about a prefix scan as a range, whose bounds are tighter. A prefix that comes all
    /// the same, because another policy asked for it, is answered.
    fn supports_prefix_queries(&self) -> bool {
        false
    }
}

/// Takes the rows of one SST.
struct SstBuilder {
    policy: RangeFilterPolicy,
    guard: GuardBuilder,
}

impl FilterBuilder for SstBuilder {
    /// Takes the key of every entry. A tombstone left out would bring the value below it back to life; a merge operand
    /// left out would be lost.
    fn add_entry(&mut self, entry: &RowEntry) {
        self.guard.add(&entry.key);
    }

    fn build(&mut self) -> Arc<dyn Filter> {
        match self.guard.finish() {
            Some(sealed) => {
                // One tag for each file: a second one for the same file would only cost its gaps.
                let tag = self.policy.shared.gaps.as_ref().and_then(|_| file_tag::draw());
                self.policy.open(SharedBytes::from(sealed.into_bytes()), tag)
            }
            None => self.policy.open(self.without_filter(), None),
        }
    }
}

impl SstBuilder {
    fn without_filter(&self) -> SharedBytes {
        if !self.policy.spec.is_off() {
            let problem = self.policy.shared.counters.snapshot().last_problem.unwrap_or_default();
            warn!(policy = self.policy.name, problem, "an SST was written without a range filter");
        }
        SharedBytes::copy_of(&[])
    }
}
