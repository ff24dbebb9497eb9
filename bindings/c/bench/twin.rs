//! The questions of `speed.c` in Rust, over the same bytes, as functions that the same program calls.

#![allow(unsafe_code, reason = "the border to C")]

use std::slice;

use lacuna::{Filter, U64Range};

/// A filter over bytes that outlive it.
///
/// # Safety
/// `size` bytes are readable at `bytes` until the program ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twin_open(bytes: *const u8, size: usize) -> *mut Filter<u64> {
    // SAFETY: as the caller promises.
    let bytes: &'static [u8] = unsafe { slice::from_raw_parts(bytes, size) };
    Box::into_raw(Box::new(lacuna::open(bytes).expect("C has opened them")))
}

/// Asks one range after the other, each moved by the answer before it; gives the number of "maybe".
///
/// # Safety
/// `filter` came from `twin_open`; `count` values are readable at `lo` and `hi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twin_singles(
    filter: *const Filter<u64>,
    lo: *const u64,
    hi: *const u64,
    count: usize,
) -> u64 {
    // SAFETY: as the caller promises.
    let (filter, lo, hi) =
        unsafe { (&*filter, slice::from_raw_parts(lo, count), slice::from_raw_parts(hi, count)) };
    let (mut moved, mut maybes) = (0, 0);
    for (lo, hi) in lo.iter().zip(hi) {
        moved = u64::from(filter.may_contain_range(lo + moved..=hi + moved));
        maybes += moved;
    }
    maybes
}

/// The ranges as Rust has them, for `twin_batches`.
///
/// # Safety
/// `count` values are readable at `lo` and `hi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twin_ranges(lo: *const u64, hi: *const u64, count: usize) -> *const U64Range {
    // SAFETY: as the caller promises.
    let (lo, hi) = unsafe { (slice::from_raw_parts(lo, count), slice::from_raw_parts(hi, count)) };
    let ranges: Vec<U64Range> =
        lo.iter().zip(hi).map(|(&lo, &hi)| U64Range::new(lo, hi).expect("in order")).collect();
    ranges.leak().as_ptr()
}

/// Asks all ranges, `at_once` a call.
///
/// # Safety
/// `filter` came from `twin_open` and `ranges` from `twin_ranges` with this count; as many answers may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twin_batches(
    filter: *const Filter<u64>,
    ranges: *const U64Range,
    count: usize,
    at_once: usize,
    answers: *mut bool,
) {
    // SAFETY: as the caller promises; the caller has written every answer before.
    let (filter, ranges, answers) = unsafe {
        (&*filter, slice::from_raw_parts(ranges, count), slice::from_raw_parts_mut(answers, count))
    };
    let filter = filter.as_range_filter();
    for (ranges, answers) in ranges.chunks(at_once).zip(answers.chunks_mut(at_once)) {
        filter.may_contain_ranges(ranges, answers);
    }
}

/// Asks all ranges, `at_once` a call, whose ends stand in two columns.
///
/// # Safety
/// `filter` came from `twin_open`; `count` values are readable at `lo` and `hi`, and as many answers may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twin_columns(
    filter: *const Filter<u64>,
    lo: *const u64,
    hi: *const u64,
    count: usize,
    at_once: usize,
    answers: *mut bool,
) {
    // SAFETY: as the caller promises; the caller has written every answer before.
    let (filter, lo, hi, answers) = unsafe {
        (
            &*filter,
            slice::from_raw_parts(lo, count),
            slice::from_raw_parts(hi, count),
            slice::from_raw_parts_mut(answers, count),
        )
    };
    for ((lo, hi), answers) in lo.chunks(at_once).zip(hi.chunks(at_once)).zip(answers.chunks_mut(at_once)) {
        filter.may_contain_pairs(lo, hi, answers);
    }
}
