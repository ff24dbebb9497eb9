//! SlateDB's `FilterPolicy` and `FilterBuilder` over a guard.

use std::sync::Arc;

use lacuna_guard::{Counters, Guard, GuardBuilder, GuardCodec, GuardSpec, QueryLog, SharedBytes};
use slatedb::{Filter, FilterBuilder, FilterPolicy, RowEntry};
use tracing::warn;

use crate::probes::Probes;
use crate::sst_filter::SstFilter;

/// First part of every policy name. The number changes when an old reader would misunderstand new filters; what it
/// only cannot open, it reads past.
const NAME_PREFIX: &str = "lacuna.v1.";

/// Builds and opens the range filters of one database.
///
/// Its name is the format and the codec, for instance `lacuna.v1.fixed_be:8`: what decides whether a stored filter
/// means what the reader takes it to mean. Family, budget and seed are in the filter itself.
///
/// ```
/// use lacuna_slatedb::LacunaSlateDb;
/// use slatedb::FilterPolicy;
///
/// let policies = LacunaSlateDb::parse("bloom@10 codec=fixed_be:8")?.policies();
/// assert_eq!(policies[0].name(), "lacuna.v1.fixed_be:8");
/// assert!(policies[0].supports_range_queries());
/// # Ok::<(), lacuna_core::Error>(())
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
}

impl RangeFilterPolicy {
    pub(crate) fn new(spec: Arc<GuardSpec>, shared: Shared) -> Self {
        Self { name: format!("{NAME_PREFIX}{}", spec.codec()), spec, shared }
    }

    /// A policy that opens filters of `codec` and builds none.
    pub(crate) fn decode_only(codec: GuardCodec, shared: Shared) -> Self {
        let off = GuardSpec::parse("off").expect("`off` is a spec");
        Self::new(Arc::new(off.with_codec(codec)), shared)
    }

    fn open(&self, bytes: SharedBytes) -> Arc<dyn Filter> {
        let guard = Guard::open_shared(bytes, self.spec.codec(), &self.shared.counters);
        if let Some(problem) = guard.problem().filter(|_| !guard.as_bytes().is_empty()) {
            warn!(policy = self.name, %problem, "a range filter did not open; its SST is always read");
        }
        Arc::new(SstFilter::new(guard, Arc::clone(&self.shared.probes)))
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
        self.open(SharedBytes::copy_of(data))
    }

    fn estimate_size(&self, num_keys: usize) -> usize {
        self.spec.sealed_bytes(num_keys)
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
        let bytes = match self.guard.finish() {
            Some(sealed) => SharedBytes::from(sealed.into_bytes()),
            None => self.without_filter(),
        };
        self.policy.open(bytes)
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
