//! From collected keys to a sealed filter that is open.

use std::borrow::Cow;

use lacuna_base::internal::KeyColumn as _;
use lacuna_base::{ByteColumn, Result, Sealed, SortedKeys};
use lacuna_families::{AutoSpec, DesignKey};
use lacuna_guard::internal::GuardKey;

use crate::filter::Filter;
use crate::plan::Recipe;

/// The filter of `keys`, in any order.
pub(crate) fn filter_of_integers(recipe: &Recipe<u64>, mut keys: Cow<'_, [u64]>) -> Result<Filter> {
    if keys.first_disorder().is_some() {
        <u64 as GuardKey>::sort(keys.to_mut());
    }
    seal(recipe, SortedKeys::integers(&keys)?)
}

/// The filter of `keys`, in any order.
pub(crate) fn filter_of_strings(recipe: &Recipe<[u8]>, mut keys: ByteColumn) -> Result<Filter> {
    if keys.first_disorder().is_some() {
        <[u8] as GuardKey>::sort(&mut keys);
    }
    seal(recipe, SortedKeys::byte_strings(&keys)?)
}

fn seal<K: DesignKey + ?Sized>(recipe: &Recipe<K>, keys: SortedKeys<'_, K>) -> Result<Filter> {
    let Recipe { spec, plan } = recipe;
    let (sealed, design): (Sealed, _) = match spec.parse::<AutoSpec>() {
        Ok(auto) => {
            let design = auto.design(keys, plan)?;
            (design.build()?, Some(design.to_string()))
        }
        Err(_) => (lacuna_families::spec::<K>(spec)?.build(keys, plan)?, None),
    };
    Filter::owning(sealed.into_bytes()).map(|filter| filter.with_design(design))
}
