//! Questions in floating-point numbers.

use super::many::{answer_many, ask_mapped};
use super::{asks_key, asks_range};
use crate::filter::Filter;
use crate::status::Status;

/// Whether a filter of floating-point numbers may hold a key from `lo` to `hi`, both included; false proves that it holds
/// none. -0 is 0, and every NaN is one key above infinity. Otherwise as `lacuna_may_contain_u64`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_f64(filter: *const Filter, lo: f64, hi: f64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { asks_range(filter, None, lo, hi) }
}

/// Whether a filter of floating-point numbers may hold `key`; otherwise as `lacuna_may_contain_f64`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_key_f64(filter: *const Filter, key: f64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { asks_key(filter, None, key) }
}

/// Answers `count` ranges at once; as `lacuna_may_contain_many_u64`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_many_f64(
    filter: *const Filter,
    lo: *const f64,
    hi: *const f64,
    count: usize,
    answers: *mut bool,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { answer_many(filter, None, (lo, hi), count, answers, ask_mapped) }
}
