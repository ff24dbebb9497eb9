//! Takes the entries of one table and builds its property.

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use lacuna_rocksdb_property::Collector;

use crate::lent::lent;
use crate::table::guard::Guard;

/// Collects the keys of one table.
pub struct TableCollector {
    collector: Collector,
}

/// Takes the property: `size` bytes that are lent for the call.
pub type Emit = unsafe extern "C" fn(sink: *mut c_void, bytes: *const c_char, size: usize);

/// A collector for a table written for `level`, -1 if that is not known; null if nothing is to be built.
///
/// # Safety
/// `guard` came from `lacuna_table_guard_new` and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_collector_new(guard: *const Guard, level: c_int) -> *mut TableCollector {
    // SAFETY: as the caller promises.
    let guard = unsafe { &(*guard).guard };
    if guard.spec().is_off() {
        return ptr::null_mut();
    }
    let level = usize::try_from(level).ok();
    let collector = catch_unwind(AssertUnwindSafe(|| Collector::new(guard, level)));
    collector.map_or(ptr::null_mut(), |collector| Box::into_raw(Box::new(TableCollector { collector })))
}

/// Takes one entry, in the order of the table. Give every entry of every type; range deletions (type 4) are left out
/// here.
///
/// # Safety
/// `collector` came from `lacuna_collector_new`, is not freed and not in use by another thread; `size` bytes are
/// readable at `user_key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_collector_add(
    collector: *mut TableCollector,
    entry_type: u32,
    user_key: *const c_char,
    size: usize,
) {
    // SAFETY: as the caller promises.
    let (collector, key) = unsafe { (&mut *collector, lent(user_key, size)) };
    collector.collector.add(entry_type, key);
}

/// Builds the filter and hands its property to `emit`, once; not at all if there is none, which is counted.
///
/// # Safety
/// As for `lacuna_collector_add`; `emit` may be called with `sink`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_collector_finish(
    collector: *mut TableCollector,
    emit: Emit,
    sink: *mut c_void,
) {
    // SAFETY: as the caller promises.
    let collector = unsafe { &mut *collector };
    if let Ok(Some(property)) = catch_unwind(AssertUnwindSafe(|| collector.collector.finish())) {
        // SAFETY: as the caller promises.
        unsafe { emit(sink, property.as_ptr().cast(), property.len()) }
    }
}

/// Frees a collector; null is allowed.
///
/// # Safety
/// `collector` came from `lacuna_collector_new` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_collector_free(collector: *mut TableCollector) {
    if !collector.is_null() {
        // SAFETY: as the caller promises.
        drop(unsafe { Box::from_raw(collector) });
    }
}
