//! One range, asked of one table after the other.

use std::ffi::c_char;
use std::ops;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use lacuna_rocksdb_property::{Direction, Question, TableFacts};

use crate::lent::lent;
use crate::table::guard::Guard;

/// A range that one iterator scans. The iterator must carry the same bounds for its whole life.
pub struct TableQuestion {
    question: Question,
}

/// What a bound of a range means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Bound {
    /// There is none; the key is not looked at.
    Unbounded = 0,
    /// The key is inside.
    Included = 1,
    /// The key is outside.
    Excluded = 2,
}

impl Bound {
    fn around(self, key: &[u8]) -> ops::Bound<&[u8]> {
        match self {
            Self::Unbounded => ops::Bound::Unbounded,
            Self::Included => ops::Bound::Included(key),
            Self::Excluded => ops::Bound::Excluded(key),
        }
    }
}

/// A question about the keys between two bounds, which are copied; `reverse` if the iterator goes down from the upper
/// end. Null only if there is no memory.
///
/// # Safety
/// `guard` came from `lacuna_table_guard_new` and is not freed; `lo_size` and `hi_size` bytes are readable at `lo` and
/// `hi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_question_new(
    guard: *const Guard,
    lo_bound: Bound,
    lo: *const c_char,
    lo_size: usize,
    hi_bound: Bound,
    hi: *const c_char,
    hi_size: usize,
    reverse: bool,
) -> *mut TableQuestion {
    // SAFETY: as the caller promises.
    let (guard, lo, hi) = unsafe { (&(*guard).guard, lent(lo, lo_size), lent(hi, hi_size)) };
    let bounds = (lo_bound.around(lo), hi_bound.around(hi));
    let direction = if reverse { Direction::Reverse } else { Direction::Forward };
    let question = catch_unwind(AssertUnwindSafe(|| Question::new(guard, bounds, direction)));
    question.map_or(ptr::null_mut(), |question| Box::into_raw(Box::new(TableQuestion { question })))
}

/// Whether a table has to be read; false proves that it holds no entry of the range. `property` is the table's property
/// called `lacuna_property_name()`, null if it has none, and is asked in place; `comparator` is the name of the
/// comparator of its keys.
///
/// # Safety
/// `question` came from `lacuna_question_new` and is not freed; the sizes are readable at the pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_question_may_contain(
    question: *const TableQuestion,
    comparator: *const c_char,
    comparator_size: usize,
    property: *const c_char,
    property_size: usize,
) -> bool {
    // SAFETY: as the caller promises.
    let (question, comparator, bytes) =
        unsafe { (&(*question).question, lent(comparator, comparator_size), lent(property, property_size)) };
    let property = if property.is_null() { None } else { Some(bytes) };
    question.may_contain(TableFacts { comparator, property, identity: None })
}

/// Notes that the iterator over the whole range returned no row; later filters are designed for such ranges.
///
/// # Safety
/// `question` came from `lacuna_question_new` and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_question_note_empty(question: *const TableQuestion) {
    // SAFETY: as the caller promises.
    let question = unsafe { &(*question).question };
    drop(catch_unwind(AssertUnwindSafe(|| question.note_empty())));
}

/// Frees a question; null is allowed.
///
/// # Safety
/// `question` came from `lacuna_question_new` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_question_free(question: *mut TableQuestion) {
    if !question.is_null() {
        // SAFETY: as the caller promises.
        drop(unsafe { Box::from_raw(question) });
    }
}
