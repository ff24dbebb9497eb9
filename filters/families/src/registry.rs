//! The families by name: from the text of a spec to something that builds.

use lacuna_base::{BuildPlan, DynSpec, KeySpaceId, KindId, Prediction, Result, SortedKeys};

use crate::designer::{AutoSpec, DesignKey};
use crate::families::Families;
use crate::spec_text::SpecText;
use crate::table::{self, Family};

/// The spec that `text` names, such as `grafite`, `prefix_bloom:bits=44` or `auto`, over either key space.
///
/// ```
/// let spec = lacuna_families::spec::<[u8]>("bloom:k=7")?;
/// assert_eq!(spec.name(), "bloom:k=7");
/// assert!(lacuna_families::spec::<u64>("blom").is_err());
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// # Errors
/// `InvalidInput` if there is no such family or parameter; the message lists what there is.
pub fn spec<K: DesignKey + ?Sized>(text: &str) -> Result<Box<dyn DynSpec<K>>> {
    let mut text = SpecText::parse(text)?;
    if AutoSpec::is_named(&text) {
        let auto = AutoSpec::from_text(&mut text)?;
        text.finish()?;
        return Ok(Box::new(auto));
    }
    table::spec::<Families, K>(text)
}

/// The prediction for the filter that `text` names over `keys`, for the sample of `plan`, without building it; for
/// `auto`, its choice, and for assumed queries if no sampled one is empty.
///
/// ```
/// use lacuna_base::{Budget, BuildPlan, Sample, SortedKeys};
/// use std::sync::Arc;
///
/// let mut sample = Sample::<u64>::new();
/// sample.push(1_500, 1_600);
/// let plan = BuildPlan::new(Budget::bits_per_key(20.0)?).with_sample(Arc::new(sample));
/// let keys = [1_000, 2_000, 1 << 40, 1 << 41];
/// let prediction = lacuna_families::predict::<u64>("bloom", SortedKeys::integers(&keys)?, &plan)?;
/// assert_eq!(prediction.rate, 1.0, "101 keys are too many to ask one by one");
/// # Ok::<(), lacuna_base::Error>(())
/// ```
///
/// # Errors
/// As [`spec`], and as building.
pub fn predict<K: DesignKey + ?Sized>(
    text: &str,
    keys: SortedKeys<'_, K>,
    plan: &BuildPlan<K>,
) -> Result<Prediction> {
    let mut text = SpecText::parse(text)?;
    if AutoSpec::is_named(&text) {
        return AutoSpec::from_text(&mut text)?.design(keys, plan)?.prediction();
    }
    table::predict::<Families, K>(text, keys, plan)
}

/// The family with this number, as an envelope gives it.
///
/// # Errors
/// `Unsupported` if this version knows none.
pub fn family(id: KindId) -> Result<Family> {
    table::family::<Families>(id)
}

/// Whether `family` sees byte strings as integers, through a window or a place map.
pub fn sees_strings_as_integers(family: &Family) -> bool {
    family.sees_strings_as_integers
}

/// Expected nanoseconds of a question to a filter of `family` that is as predicted, by the table of constants.
pub fn probe_ns(family: &Family, key_space: KeySpaceId, prediction: &Prediction) -> f64 {
    family.costs.question_ns(key_space, prediction)
}
