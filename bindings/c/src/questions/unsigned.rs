//! Questions in unsigned integers.

use super::many::answer_many;
use super::{asks_key, asks_range};
use crate::filter::Filter;
use crate::status::Status;

/// Whether a filter of unsigned integers may hold a key from `lo` to `hi`, both included; false proves that it holds none.
/// An inverted range holds no key. A filter of other keys, or null, says true. Big-endian integers of a fixed width in a
/// RocksDB table are unsigned integers here. From any thread.
///
/// # Safety
/// `filter` is open or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_u64(filter: *const Filter, lo: u64, hi: u64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { asks_range(filter, None, lo, hi) }
}

/// Whether a filter of unsigned integers may hold `key`; otherwise as `lacuna_may_contain_u64`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_key_u64(filter: *const Filter, key: u64) -> bool {
    // SAFETY: as the caller promises.
    unsafe { asks_key(filter, None, key) }
}

/// Answers `count` ranges at once, in a quarter to a third of the time: `answers[i]` is what `lacuna_may_contain_u64`
/// says of `lo[i]` to `hi[i]`. Where it fails, all answers are true. From any thread, with answers of its own.
///
/// # Safety
/// As there; `count` values are readable at `lo` and `hi`, and as many answers may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_many_u64(
    filter: *const Filter,
    lo: *const u64,
    hi: *const u64,
    count: usize,
    answers: *mut bool,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe {
        answer_many(filter, None, (lo, hi), count, answers, |filter, lo, hi, answers| {
            filter.may_contain_pairs(lo, hi, answers);
        })
    }
}
