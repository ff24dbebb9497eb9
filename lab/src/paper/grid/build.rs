//! From a spec to a filter over the keys of a test bed.

use std::sync::Arc;

use lacuna_base::{
    AlignedBytes, Budget, BuildPlan, DynFilter, ErrorKind, Result, Sample, Sealed, SortedKeys, U64Range,
};

use super::NamedFilter;
use crate::paper::session::TestBed;
use lacuna_bench::BenchKey as _;
use lacuna_bench::harness::batched;

/// A filter that was built.
pub(super) struct Built<'a> {
    pub(super) named_filter: &'a NamedFilter,
    pub(super) spec: String,
    pub(super) payload_bytes: usize,
    pub(super) filter: Box<DynFilter<u64>>,
}

/// The plan of a filter over `test_bed`.
///
/// # Errors
/// `InvalidInput` if there can be no such budget.
pub fn plan(test_bed: &TestBed, bits: f64, seed: u64) -> Result<BuildPlan<u64>> {
    let mut sample = Sample::new();
    test_bed.sample.iter().for_each(|&(low, high)| sample.push(low, high));
    Ok(BuildPlan::new(Budget::bits_per_key(bits)?).with_seed(seed).with_sample(Arc::new(sample)))
}

/// Pairs as ranges.
pub fn ranges(queries: &[(u64, u64)]) -> impl Iterator<Item = U64Range> {
    queries.iter().filter_map(|&(low, high)| U64Range::new(low, high))
}

/// How many of `ranges` the filter says "maybe" to.
pub fn count_maybes(filter: &DynFilter<u64>, ranges: &[U64Range]) -> u64 {
    batched(ranges, 1, |ranges, answers| filter.may_contain_ranges(ranges, answers)) as u64
}

/// Builds `spec` over the keys of `test_bed`.
///
/// # Errors
/// As the family's builder.
pub fn build(spec: &str, test_bed: &TestBed, plan: &BuildPlan<u64>) -> Result<Sealed> {
    let keys = SortedKeys::integers(&test_bed.keys)?;
    u64::spec(spec)?.build(keys, plan).map_err(|error| error.with_context(spec.to_owned()))
}

/// The first spec of `named_filter` that fits the budget; `None` if none does.
pub(super) fn build_first<'a>(
    named_filter: &'a NamedFilter,
    test_bed: &TestBed,
    plan: &BuildPlan<u64>,
) -> Result<Option<Built<'a>>> {
    for spec in &named_filter.specs {
        match build(spec, test_bed, plan) {
            Ok(sealed) => return opened(named_filter, spec, sealed).map(Some),
            Err(error) if matches!(error.kind(), ErrorKind::BudgetTooSmall { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn opened<'a>(named_filter: &'a NamedFilter, spec: &str, sealed: Sealed) -> Result<Built<'a>> {
    let payload_bytes = sealed.payload().len();
    let filter = lacuna_families::open::<u64, AlignedBytes>(sealed.into_bytes())?;
    Ok(Built { named_filter, spec: spec.to_owned(), payload_bytes, filter })
}
