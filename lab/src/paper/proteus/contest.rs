//! Rates of all filters at all budgets over keys and empty queries of either key space.

use std::sync::Arc;

use lacuna_base::{
    AlignedBytes, Budget, BuildPlan, DynFilter, ErrorKind, KeyRange, Result, Sample, Sealed, SortedKeys,
};

use super::filters::all_filters;
use crate::paper::{Cell, GridResult, NamedFilter};
use lacuna_bench::BenchKey;
use lacuna_bench::harness::batched;

/// Builds all filters over `keys` for `sample` within each of `budgets`, and counts their "maybe" to the empty
/// `ranges`.
///
/// # Errors
/// What building reports other than that the budget is too small, which leaves a cell out.
pub(super) fn result_of<K: BenchKey + ?Sized>(
    keys: SortedKeys<'_, K>,
    ranges: &[KeyRange<'_, K>],
    sample: Sample<K>,
    budgets: &[f64],
    seed: u64,
) -> Result<GridResult> {
    let sample = Arc::new(sample);
    let mut result = GridResult::default();
    for &bits in budgets {
        let plan =
            BuildPlan::new(Budget::bits_per_key(bits)?).with_seed(seed).with_sample(Arc::clone(&sample));
        for named_filter in all_filters() {
            let Some((spec, sealed)) = first_that_fits(&named_filter, keys, &plan)? else { continue };
            let payload_bytes = sealed.payload().len();
            let filter = lacuna_families::open::<K, AlignedBytes>(sealed.into_bytes())?;
            result.cells.push(Cell {
                name: named_filter.name,
                spec,
                bits,
                bits_taken: payload_bytes as f64 * 8.0 / keys.len().max(1) as f64,
                false_positives: count_maybes(&*filter, ranges),
                empty: ranges.len() as u64,
                speed: None,
            });
        }
    }
    Ok(result)
}

fn count_maybes<K: BenchKey + ?Sized>(filter: &DynFilter<K>, ranges: &[KeyRange<'_, K>]) -> u64 {
    batched(ranges, 1, |ranges, answers| filter.may_contain_ranges(ranges, answers)) as u64
}

fn first_that_fits<K: BenchKey + ?Sized>(
    named_filter: &NamedFilter,
    keys: SortedKeys<'_, K>,
    plan: &BuildPlan<K>,
) -> Result<Option<(String, Sealed)>> {
    for spec in &named_filter.specs {
        match K::spec(spec)?.build(keys, plan) {
            Ok(sealed) => return Ok(Some((spec.clone(), sealed))),
            Err(error) if matches!(error.kind(), ErrorKind::BudgetTooSmall { .. }) => {}
            Err(error) => return Err(error.with_context(spec.clone())),
        }
    }
    Ok(None)
}
