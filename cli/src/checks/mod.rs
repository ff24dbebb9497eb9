//! The promises of a filter, checked against the keys it was built from.
//!
//! [`Presence`] asks for every key, alone and within ranges that hold it: one "no" is a false negative. [`Rate`] asks
//! ranges whose truth is known and compares the share of "maybe" with the bound that the filter states. A
//! [`Finding`] is what a person reads of either.

mod finding;
mod presence;
mod rate;
mod space;

use lacuna_base::{Error, Result, SortedKeys};
use lacuna_families::AnyFilter;
use lacuna_workload::{Keys, Queries};

pub(crate) use finding::Finding;
pub(crate) use presence::Presence;
pub(crate) use rate::Rate;
pub(crate) use space::CheckedSpace;

/// [`Presence::check`] in whichever key space the filter is.
///
/// # Errors
/// `InvalidInput` if the keys are of the other key space or not ascending.
pub(crate) fn check_presence(filter: &AnyFilter, keys: &Keys, seed: u64) -> Result<Presence> {
    match (filter, keys) {
        (AnyFilter::U64(filter), Keys::U64(keys)) => {
            Ok(Presence::check(&**filter, SortedKeys::try_new(keys.as_slice())?, seed))
        }
        (AnyFilter::Bytes(filter), Keys::Bytes(keys)) => {
            Ok(Presence::check(&**filter, SortedKeys::try_new(keys)?, seed))
        }
        _ => Err(other_key_space()),
    }
}

/// [`Rate::measure`] in whichever key space the filter is.
///
/// # Errors
/// `InvalidInput` if the keys are of the other key space or not ascending.
pub(crate) fn measure_rate(filter: &AnyFilter, keys: &Keys, queries: &Queries) -> Result<Rate> {
    match (filter, keys) {
        (AnyFilter::U64(filter), Keys::U64(keys)) => {
            Ok(Rate::measure(&**filter, SortedKeys::try_new(keys.as_slice())?, queries))
        }
        (AnyFilter::Bytes(filter), Keys::Bytes(keys)) => {
            Ok(Rate::measure(&**filter, SortedKeys::try_new(keys)?, queries))
        }
        _ => Err(other_key_space()),
    }
}

fn other_key_space() -> Error {
    Error::invalid_input("the filter and the keys are of different key spaces")
}
