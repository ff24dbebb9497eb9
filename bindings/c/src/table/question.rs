//! One range, asked of one table after the other.

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use lacuna_rocksdb_property::{Direction, Question, TableFacts};

use crate::arguments::{free, known, lent};
use crate::questions::{BoundNumber, bounds_of};
use crate::table::guard::Guard;

/// A range that one iterator scans. The iterator must carry the same bounds for its whole life.
pub struct TableQuestion {
    question: Question,
}

/// A question about the keys between two bounds, which are copied; `reverse` if the iterator goes down from the upper
/// end. Null if an argument is: read every table then. From any thread.
///
/// # Safety
/// `guard` came from `lacuna_table_guard_new` and is not freed; `lo_size` and `hi_size` bytes are readable at `lo` and
/// `hi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_question_new(
    guard: *const Guard,
    lo_bound: BoundNumber,
    lo: *const c_char,
    lo_size: usize,
    hi_bound: BoundNumber,
    hi: *const c_char,
    hi_size: usize,
    reverse: bool,
) -> *mut TableQuestion {
    // SAFETY: as the caller promises.
    let (guard, bounds) =
        unsafe { (known(guard), bounds_of((lo_bound, lo.cast(), lo_size), (hi_bound, hi.cast(), hi_size))) };
    let (Some(Guard { guard }), Ok(bounds)) = (guard, bounds) else { return ptr::null_mut() };
    let direction = if reverse { Direction::Reverse } else { Direction::Forward };
    let question = catch_unwind(AssertUnwindSafe(|| Question::new(guard, bounds, direction)));
    question.map_or(ptr::null_mut(), |question| Box::into_raw(Box::new(TableQuestion { question })))
}

/// Whether a table has to be read; false proves that it holds no entry of the range. `property` is the table's property
/// called `lacuna_property_name()`, null if it has none, and is asked in place; `comparator` is the name of the
/// comparator of its keys. A null question says true. From any thread.
///
/// # Safety
/// `question` came from `lacuna_question_new` and is not freed, or is null; the sizes are readable at the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_question_may_contain(
    question: *const TableQuestion,
    comparator: *const c_char,
    comparator_size: usize,
    property: *const c_char,
    property_size: usize,
) -> bool {
    // SAFETY: as the caller promises.
    let (question, comparator, bytes) = unsafe {
        (
            known(question),
            lent(comparator.cast::<u8>(), comparator_size, "comparator"),
            lent(property.cast::<u8>(), property_size, "property"),
        )
    };
    let (Some(TableQuestion { question }), Ok(comparator)) = (question, comparator) else { return true };
    let property = bytes.ok().filter(|_| !property.is_null());
    question.may_contain(TableFacts { comparator, property, identity: None })
}

/// Notes that the iterator over the whole range returned no row; later filters are designed for such ranges. From any
/// thread.
///
/// # Safety
/// `question` came from `lacuna_question_new` and is not freed, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_question_note_empty(question: *const TableQuestion) {
    // SAFETY: as the caller promises.
    let Some(TableQuestion { question }) = (unsafe { known(question) }) else { return };
    drop(catch_unwind(AssertUnwindSafe(|| question.note_empty())));
}

/// Frees a question; null is allowed.
///
/// # Safety
/// `question` came from `lacuna_question_new` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_question_free(question: *mut TableQuestion) {
    // SAFETY: as the caller promises.
    unsafe { free(question) }
}
