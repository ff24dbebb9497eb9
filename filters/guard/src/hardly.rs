//! Whether a new filter answers the queries that it was built for.
//!
//! A filter of the wrong family, of too few bits, or with a codec that hides what tells keys apart costs its memory and
//! answers "maybe": nothing fails, and nothing shows it. So each new filter is asked the sampled queries that it should
//! deny, or where none of them is sampled points and short ranges between its keys, and is counted if it denies less than
//! half of them.
//!
//! Cost: one copy of the filter, and at most 1,024 questions.

use std::ops::Bound::Included;

use lacuna_base::{BuildPlan, KeyStatistics, Sealed, SortedKeys};
use lacuna_families::internal::HARDLY;

use crate::guard_key::GuardKey;
use crate::shared_bytes::SharedBytes;

/// Most questions to a new filter.
const MAX: usize = 1_024;
/// Fewest that say something.
const MIN: usize = 32;

/// What is to be said of a filter that denies less than half of the queries it should deny; `None` of any other.
pub(crate) fn hardly_answers<K: GuardKey + ?Sized>(
    sealed: &Sealed,
    keys: SortedKeys<'_, K>,
    plan: BuildPlan<K>,
) -> Option<String> {
    let (plan, about) = K::judged_by(keys, plan);
    let known = KeyStatistics::new(keys, &plan);
    let step = known.queries().len().div_ceil(MAX).max(1);
    let empty = known.queries().iter().step_by(step);
    let ranges: Vec<_> = empty.filter_map(|query| K::range(Included(query.lo), Included(query.hi))).collect();
    if ranges.len() < MIN {
        return None;
    }
    let filter = K::open(SharedBytes::copy_of(sealed.as_bytes())).ok()?;
    let maybes = ranges.iter().filter(|range| filter.may_contain_range(**range)).count();
    (maybes as f64 > HARDLY * ranges.len() as f64).then(|| {
        format!(
            "the filter of a file hardly answers {about}: `maybe` to {} % of {} without a key; another family, more \
             bits or another codec may help (`lacuna bench filters` compares)",
            maybes * 100 / ranges.len(),
            ranges.len()
        )
    })
}
