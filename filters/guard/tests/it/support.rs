//! Keys, specs and builders for the other pages.

use std::sync::Arc;

use lacuna_base::Sealed;
use lacuna_guard::{Counters, CountersSnapshot, Guard, GuardBuilder, GuardSpec, QueryLog};
use lacuna_workload::Rng;

/// The codecs tested, each with keys it takes.
pub(crate) const CODECS: [&str; 3] = ["bytes", "fixed_be:8", "composite:4,4"];

/// A spec for every family through `codec`.
pub(crate) fn specs(codec: &str) -> Vec<GuardSpec> {
    let texts =
        lacuna_families::FAMILIES.iter().map(|family| format!("{}@16 codec={codec} seed=5", family.example));
    texts.map(|text| GuardSpec::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"))).collect()
}

/// Eight-byte keys in order, clustered so that neighbours differ in few bytes.
pub(crate) fn keys(seed: u64, count: usize) -> Vec<[u8; 8]> {
    let mut rng = Rng::new(seed);
    let mut keys: Vec<u64> = (0..count).map(|_| (rng.below(50) << 40) + rng.below(1 << 24)).collect();
    keys.sort_unstable();
    keys.into_iter().map(u64::to_be_bytes).collect()
}

/// A builder's parts, kept to look at the counts.
pub(crate) struct Workshop {
    pub(crate) spec: Arc<GuardSpec>,
    pub(crate) log: Arc<QueryLog>,
    pub(crate) counters: Arc<Counters>,
}

impl Workshop {
    pub(crate) fn new(spec: GuardSpec) -> Self {
        let log = Arc::new(QueryLog::new(spec.codec()));
        Self { spec: Arc::new(spec), log, counters: Arc::new(Counters::new()) }
    }

    pub(crate) fn parse(text: &str) -> Self {
        Self::new(GuardSpec::parse(text).unwrap())
    }

    pub(crate) fn builder(&self) -> GuardBuilder {
        GuardBuilder::new(Arc::clone(&self.spec), Arc::clone(&self.log), Arc::clone(&self.counters))
    }

    pub(crate) fn build<T: AsRef<[u8]>>(&self, keys: &[T]) -> Option<Sealed> {
        let mut builder = self.builder();
        keys.iter().for_each(|key| builder.add(key.as_ref()));
        builder.finish()
    }

    pub(crate) fn open(&self, bytes: &[u8]) -> Guard {
        Guard::open_or_scan(bytes, self.spec.codec(), &self.counters)
    }

    pub(crate) fn counts(&self) -> CountersSnapshot {
        self.counters.snapshot()
    }
}
