//! What a filter is to be, besides its keys.

use std::ffi::c_char;
use std::num::NonZeroUsize;
use std::sync::Arc;

use lacuna_base::{
    Budget, BuildPlan, DynSpec, Error, KeySpace, KeyType, Result, Sample as CoreSample, Secret as CoreSecret,
};
use lacuna_families::DesignKey;

use crate::arguments::{shared, text};
use crate::key_type::{KeyTypeNumber, Values};
use crate::sample::Sample;
use crate::secret::{Secret, secret_at};

/// What a filter is to be, besides its keys. Start from `{0}`: what is zero has its usual value, and a budget must be
/// given, in bits or as a rate. It is read by the call it is given to and not needed afterwards.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Plan {
    /// The family with its parameters, such as "grafite", "surf:real=4" or "auto:price=20000". Null: "grafite" over
    /// integers, whose rate is bounded for any keys and queries; over byte strings "auto".
    pub spec: *const c_char,
    /// Bits for each distinct key, above 0 and at most 128; or 0 if `rate` is given.
    pub bits_per_key: f64,
    /// Instead of bits: as many as "grafite" needs to answer "maybe" to at most this share of the ranges without a key,
    /// if they hold at most `max_range_len` keys.
    pub rate: f64,
    /// See `rate`; 0 means 1.
    pub max_range_len: u64,
    /// Seed of the hashes. It spreads what a filter gets wrong; against those who choose their queries to meet it there is `secret`.
    pub seed: u64,
    /// What the keys stand for, to be noted in the filter. Unknown: the type in the function's name.
    pub key_type: KeyTypeNumber,
    /// Queries to design for; null if none are known.
    pub sample: *const Sample,
    /// For the specs that hash under a secret, "ribbon:secret", "grafite:secret" and, if it is given one, "auto:robust", of integers;
    /// null for others.
    pub secret: *const Secret,
    /// The most threads that a build takes: the caller's, and others that end with the build. "ribbon", "grafite" and "bucketing" over
    /// 65,536 keys and more take several, other families one. The bytes do not depend on it. 0 means 1.
    pub threads: u32,
}

impl Plan {
    fn budget(&self) -> Result<Budget> {
        match (self.bits_per_key, self.rate) {
            (0.0, 0.0) => Err(Error::invalid_input("the plan has no budget; give bits_per_key or rate")),
            (bits_per_key, 0.0) => Budget::bits_per_key(bits_per_key),
            (0.0, rate) => Budget::for_rate(rate, self.max_range_len),
            _ => Err(Error::invalid_input("the plan has bits_per_key and rate; give one of them")),
        }
    }

    fn threads(&self) -> NonZeroUsize {
        let threads = usize::try_from(self.threads).unwrap_or(usize::MAX);
        NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN)
    }

    /// The queries; none if the plan names no sample.
    ///
    /// # Safety
    /// As for [`integer_recipe`].
    unsafe fn queries(&self) -> Result<Option<&Sample>> {
        if self.sample.is_null() {
            return Ok(None);
        }
        // SAFETY: as the caller promises.
        unsafe { shared(self.sample, "the plan's sample") }.map(Some)
    }
}

/// A plan that has been read: nothing of it is the caller's.
pub(crate) struct Recipe<K: KeySpace + ?Sized> {
    /// The spec's text.
    pub(crate) spec: String,
    /// The rest.
    pub(crate) plan: BuildPlan<K>,
}

/// The recipe for a filter of integers that stand for `values`.
///
/// # Safety
/// If `plan` is not null, it is readable, its spec is null or ends with a zero byte, and its sample is null or alive.
pub(crate) unsafe fn integer_recipe(plan: *const Plan, values: Values) -> Result<Recipe<u64>> {
    // SAFETY: as the caller promises.
    let (plan, spec, key_type) = unsafe { common(plan, values, "grafite") }?;
    // SAFETY: as the caller promises.
    let secret = secret_for::<u64>(&spec, unsafe { secret_at(plan.secret) })?;
    // SAFETY: as the caller promises.
    let sample =
        unsafe { plan.queries() }?.map_or_else(|| Ok(Arc::default()), |sample| sample.integers(values));
    Ok(Recipe { spec, plan: with(plan, sample?, secret, key_type)? })
}

/// The recipe for a filter of byte strings.
///
/// # Safety
/// As for [`integer_recipe`].
pub(crate) unsafe fn string_recipe(plan: *const Plan) -> Result<Recipe<[u8]>> {
    // SAFETY: as the caller promises.
    let (plan, spec, key_type) = unsafe { common(plan, Values::Strings, "auto") }?;
    // SAFETY: as the caller promises.
    let secret = secret_for::<[u8]>(&spec, unsafe { secret_at(plan.secret) })?;
    // SAFETY: as the caller promises.
    let sample = unsafe { plan.queries() }?.map_or_else(|| Ok(Arc::default()), Sample::strings);
    Ok(Recipe { spec, plan: with(plan, sample?, secret, key_type)? })
}

/// What does not depend on the key space.
///
/// # Safety
/// As for [`integer_recipe`].
unsafe fn common<'a>(plan: *const Plan, values: Values, usual: &str) -> Result<(&'a Plan, String, KeyType)> {
    // SAFETY: as the caller promises.
    let plan = unsafe { shared(plan, "plan") }?;
    // SAFETY: as the caller promises.
    let spec = unsafe { text(plan.spec, "the plan's spec") }?.unwrap_or(usual);
    Ok((plan, spec.to_owned(), values.noted_type(plan.key_type.checked()?)?))
}

/// The secret, if it goes together with `spec`: known before there are keys.
fn secret_for<K: DesignKey + ?Sized>(spec: &str, secret: Option<CoreSecret>) -> Result<Option<CoreSecret>> {
    let secret_use = DynSpec::<K>::secret_use(&*lacuna_families::spec::<K>(spec)?);
    secret_use.check::<K>(spec, secret.is_some(), "with the plan")?;
    secret_use.check_used(spec, secret.is_some())?;
    Ok(secret)
}

fn with<K: KeySpace + ?Sized>(
    plan: &Plan,
    sample: Arc<CoreSample<K>>,
    secret: Option<CoreSecret>,
    key_type: KeyType,
) -> Result<BuildPlan<K>> {
    let planned = BuildPlan::new(plan.budget()?).with_seed(plan.seed).with_key_type(key_type);
    Ok(planned.with_sample(sample).with_secret(secret).with_threads(plan.threads()))
}
