//! The attempts to build one filter: as asked, then with as much as the cap allows, then another family.

use std::sync::Arc;

use lacuna_core::{Budget, BuildPlan, CodecId, ErrorKind, Result, Sample, Sealed, SortedKeys};

use crate::guard_key::GuardKey;
use crate::spec::GuardSpec;

/// Room for the rounding of the smallest budget: one part in a million.
const ROUNDING: f64 = 1.000_001;

/// A built filter, and whether it is another than the one asked for.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) sealed: Sealed,
    pub(crate) coarsened: bool,
}

/// Builds the family of `spec`, or coarsens. Only a budget that is too small leads to the next attempt; the error of
/// the first attempt is the one reported.
pub(crate) fn attempt<K: GuardKey + ?Sized>(
    family: &str,
    spec: &GuardSpec,
    keys: SortedKeys<'_, K>,
    sample: Arc<Sample<K>>,
    codec: CodecId,
) -> Result<Attempt> {
    let plan = |budget| {
        BuildPlan::new(budget)
            .with_key_count_hint(keys.len() as u64)
            .with_sample(Arc::clone(&sample))
            .with_seed(spec.seed())
            .with_codec(codec)
    };
    let as_asked = K::spec(family)?.build(keys, &plan(spec.budget()));
    let problem = match as_asked {
        Ok(sealed) => return Ok(Attempt { sealed, coarsened: false }),
        Err(problem) => problem,
    };
    let ErrorKind::BudgetTooSmall { smallest_bits_per_key } = problem.kind() else { return Err(problem) };
    let grown = within_cap(spec, smallest_bits_per_key)
        .and_then(|budget| K::spec(family).ok()?.build(keys, &plan(budget)).ok());
    let coarsened = grown.or_else(|| K::spec(spec.fallback()?).ok()?.build(keys, &plan(spec.budget())).ok());
    coarsened.map(|sealed| Attempt { sealed, coarsened: true }).ok_or(problem)
}

/// The smallest budget that works, if the cap allows it.
fn within_cap(spec: &GuardSpec, smallest_bits_per_key: f64) -> Option<Budget> {
    let budget = Budget::bits_per_key(smallest_bits_per_key * ROUNDING).ok()?;
    if budget <= spec.cap() { Some(budget) } else { None }
}
