//! Questions in signed integers, days and moments.

use super::many::{answer_many, ask_mapped};
use super::{asks_key, asks_range};
use crate::filter::Filter;
use crate::key_type::KeyTypeNumber;
use crate::status::Status;

/// Whether a filter of signed integers, days or moments may hold a key from `lo` to `hi`, both included, in the unit that
/// `key_type` says; false proves that it holds none. A filter of another type says true: give `LACUNA_KEY_TYPE_I64`,
/// `_DATE` or a `_TIMESTAMP_...`, as `lacuna_describe` has it. Otherwise as `lacuna_may_contain_u64`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_i64(
    filter: *const Filter,
    key_type: KeyTypeNumber,
    lo: i64,
    hi: i64,
) -> bool {
    let Ok(key_type) = key_type.checked() else { return true };
    // SAFETY: as the caller promises.
    unsafe { asks_range(filter, Some(key_type), lo, hi) }
}

/// Whether a filter of signed integers, days or moments may hold `key`; otherwise as `lacuna_may_contain_i64`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_key_i64(
    filter: *const Filter,
    key_type: KeyTypeNumber,
    key: i64,
) -> bool {
    let Ok(key_type) = key_type.checked() else { return true };
    // SAFETY: as the caller promises.
    unsafe { asks_key(filter, Some(key_type), key) }
}

/// Answers `count` ranges at once; as `lacuna_may_contain_many_u64`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_many_i64(
    filter: *const Filter,
    key_type: KeyTypeNumber,
    lo: *const i64,
    hi: *const i64,
    count: usize,
    answers: *mut bool,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { answer_many(filter, Some(key_type), (lo, hi), count, answers, ask_mapped) }
}
