//! From keys to sealed bytes, as `lacuna build` makes them.

use std::num::NonZeroUsize;
use std::sync::Arc;

use lacuna_base::{
    Budget, BuildPlan, DynSpec, Error, KeySpaceId, KeyType, Result, Sample, Sealed, Secret, SortedKeys,
};
use lacuna_families::{AutoSpec, DesignKey};
use lacuna_guard::internal::GuardKey;

use crate::ends::{IntegerEnds, byte_strings};
use crate::keys::Keys;
use crate::values::Values;

/// Bits for each key where neither bits nor a rate are given.
const USUAL_BITS_PER_KEY: f64 = 14.0;
/// Keys in a range where a rate is given without a length.
const USUAL_RANGE_LEN: u64 = 64;

/// What to build.
#[derive(Debug)]
pub(crate) struct Order {
    budget: Budget,
    spec: Option<String>,
    has_rate: bool,
    seed: u64,
    secret: Option<Secret>,
    threads: NonZeroUsize,
}

/// Queries that found nothing: their lower and upper ends.
pub(crate) type SampleValues = (Values<'static>, Values<'static>);

/// A filter, and what `auto` chose it among.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) sealed: Sealed,
    pub(crate) design: Option<String>,
}

impl Order {
    /// An order for a family within bits or a rate.
    ///
    /// # Errors
    /// `InvalidInput` if both are given, one is out of bounds, there is no such family, or it and the secret do not go together.
    pub(crate) fn new(
        bits_per_key: Option<f64>,
        rate: Option<f64>,
        range_len: Option<u64>,
        spec: Option<&str>,
        seed: u64,
        secret: Option<Secret>,
        threads: NonZeroUsize,
    ) -> Result<Self> {
        let budget = match (bits_per_key, rate, range_len) {
            (Some(_), Some(_), _) => Err(Error::invalid_input("give bits_per_key or rate, not both")),
            (_, None, Some(_)) => Err(Error::invalid_input("range_len goes with rate; give rate=0.01, too")),
            (None, Some(rate), range_len) => Budget::for_rate(rate, range_len.unwrap_or(USUAL_RANGE_LEN)),
            (bits_per_key, None, None) => Budget::bits_per_key(bits_per_key.unwrap_or(USUAL_BITS_PER_KEY)),
        }?;
        let (spec, has_rate) = (spec.map(str::to_owned), rate.is_some());
        let order = Self { budget, spec, has_rate, seed, secret, threads };
        // The text names the same families in both key spaces; a wrong name is reported before the keys are read.
        let spec = order.spec_over(KeySpaceId::U64);
        let secret_use = lacuna_families::spec::<u64>(spec)?.secret_use();
        secret_use.check::<u64>(spec, secret.is_some(), "as secret=")?;
        secret_use.check_used(spec, secret.is_some())?;
        Ok(order)
    }

    /// The family: where none is named, the one that keeps a rate if one is given, which is one of integers.
    fn spec_over(&self, key_space: KeySpaceId) -> &str {
        let usual = if self.has_rate && key_space == KeySpaceId::U64 { "grafite" } else { "auto" };
        self.spec.as_deref().unwrap_or(usual)
    }

    /// Builds the filter of sorted `keys`, designed for `sample` where the family designs.
    ///
    /// # Errors
    /// As the family; `InvalidInput` also if the sample does not go with the keys.
    pub(crate) fn build(&self, keys: &Keys, sample: Option<SampleValues>) -> Result<Built> {
        match keys {
            Keys::Integers(keys, key_type) => {
                // Keys that are none have no queries of their sort.
                let sample = sample.filter(|_| !keys.is_empty());
                let sample = sample.map(|sample| integer_sample(sample, *key_type)).transpose()?;
                self.seal::<u64>(keys, *key_type, sample)
            }
            Keys::Bytes(keys, key_type) => {
                self.seal::<[u8]>(keys, *key_type, sample.map(byte_sample).transpose()?)
            }
        }
    }

    fn seal<K: DesignKey + GuardKey + ?Sized>(
        &self,
        keys: &K::Column,
        key_type: KeyType,
        sample: Option<Sample<K>>,
    ) -> Result<Built> {
        let keys = SortedKeys::<K>::try_new(keys)?;
        let plan = BuildPlan::new(self.budget)
            .with_sample(Arc::new(sample.unwrap_or_default()))
            .with_seed(self.seed)
            .with_key_type(key_type)
            .with_secret(self.secret)
            .with_threads(self.threads);
        let spec = self.spec_over(K::ID);
        match spec.parse::<AutoSpec>() {
            Ok(auto) => {
                let design = auto.design(keys, &plan)?;
                Ok(Built { sealed: design.build()?, design: Some(design.to_string()) })
            }
            Err(_) => {
                let spec: Box<dyn DynSpec<K>> = K::spec(spec)?;
                Ok(Built { sealed: spec.build(keys, &plan)?, design: None })
            }
        }
    }
}

fn integer_sample((los, his): SampleValues, key_type: KeyType) -> Result<Sample<u64>> {
    let ends = IntegerEnds::of(los, his, key_type).map_err(|error| error.with_context("sample"))?;
    let mut sample = Sample::new();
    ends.ranges().for_each(|(lo, hi)| sample.push(lo, hi));
    Ok(sample)
}

fn byte_sample((los, his): SampleValues) -> Result<Sample<[u8]>> {
    let strings = |ends| byte_strings(ends).map_err(|error| error.with_context("sample"));
    let (los, his) = (strings(&los)?, strings(&his)?);
    let mut sample = Sample::new();
    los.into_iter().zip(his).for_each(|(lo, hi)| sample.push(lo, hi));
    Ok(sample)
}
