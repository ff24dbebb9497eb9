//! Filters from arrays of keys.

use lacuna_base::TypedKey;

use crate::arguments::{Bytes, lent};
use crate::filter::{Filter, give};
use crate::key_type::Values;
use crate::plan::{Plan, integer_recipe, string_recipe};
use crate::sealing::{filter_of_integers, filter_of_strings};
use crate::status::{Status, attempt};

/// Builds a filter of `count` keys, in any order and with repeats. Ascending keys without repeats are not copied, others
/// are copied and sorted: 8 bytes a key. On success `*filter` is to be closed with `lacuna_close`; on failure it is null.
///
/// Same keys, spec, budget, sample, seed and secret give the same bytes on every machine and in every language. From any thread.
///
/// # Safety
/// `count` values are readable at `keys`, `plan` is readable and its pointers are as it says, and `filter` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_build_u64(
    keys: *const u64,
    count: usize,
    plan: *const Plan,
    filter: *mut *mut Filter,
) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe {
        give(filter, || {
            filter_of_integers(&integer_recipe(plan, Values::Unsigned)?, lent(keys, count, "keys")?.into())
        })
    })
}

/// As `lacuna_build_u64`, of signed integers, or of days or moments if the plan's key type says so. Copies them.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_build_i64(
    keys: *const i64,
    count: usize,
    plan: *const Plan,
    filter: *mut *mut Filter,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { build_mapped(keys, count, plan, Values::Signed, filter) }
}

/// As `lacuna_build_u64`, of floating-point numbers: -0 and 0 are one key, and all NaNs are one, above infinity. Copies
/// them.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_build_f64(
    keys: *const f64,
    count: usize,
    plan: *const Plan,
    filter: *mut *mut Filter,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { build_mapped(keys, count, plan, Values::Floats, filter) }
}

/// As `lacuna_build_u64`, of byte strings in the order of `memcmp`, a prefix first. Copies them: their bytes and 8 more for
/// each, twice that if they are not ascending.
///
/// # Safety
/// As there, and the bytes of each key are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_build_bytes(
    keys: *const Bytes,
    count: usize,
    plan: *const Plan,
    filter: *mut *mut Filter,
) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe {
        give(filter, || {
            let recipe = string_recipe(plan)?;
            let keys = lent(keys, count, "keys")?.iter().map(|key| key.lent("a key"));
            filter_of_strings(&recipe, keys.collect::<Result<_, _>>()?)
        })
    })
}

/// Builds a filter of the integers that stand for `keys`, in their order.
///
/// # Safety
/// As for [`lacuna_build_u64`].
unsafe fn build_mapped<T: TypedKey + Copy>(
    keys: *const T,
    count: usize,
    plan: *const Plan,
    values: Values,
    filter: *mut *mut Filter,
) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe {
        give(filter, || {
            let recipe = integer_recipe(plan, values)?;
            let keys = lent(keys, count, "keys")?.iter().copied().map(TypedKey::to_key);
            filter_of_integers(&recipe, keys.collect::<Vec<u64>>().into())
        })
    })
}
