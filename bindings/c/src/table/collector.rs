//! Takes the entries of one table and builds its property.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use lacuna_rocksdb_property::Collector;

use crate::arguments::{free, known, known_mut, lent};
use crate::table::guard::Guard;

/// Collects the keys of one table.
pub struct TableCollector {
    collector: Collector,
}

/// What an entry of a table is; RocksDB's own numbers. Any other number is taken as `LACUNA_ENTRY_TYPE_OTHER`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum EntryType {
    /// A value.
    Put = 0,
    /// A deletion.
    Delete = 1,
    /// A deletion of a key that was put once.
    SingleDelete = 2,
    /// An operand of a merge.
    Merge = 3,
    /// A deletion of a range; left out, since RocksDB applies it even from a table that it skips.
    RangeDeletion = 4,
    /// A value in a blob file.
    BlobIndex = 5,
    /// A deletion with a timestamp.
    DeleteWithTimestamp = 6,
    /// A value of columns.
    WideColumnEntity = 7,
    /// A value with a time.
    TimedPut = 8,
    /// Anything else.
    Other = 9,
}

/// An `EntryType` from C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct EntryTypeNumber(pub c_uint);

impl From<EntryType> for EntryTypeNumber {
    fn from(entry_type: EntryType) -> Self {
        Self(entry_type as c_uint)
    }
}

/// Takes the property: `size` bytes that are lent for the call.
pub type Emit = Option<unsafe extern "C" fn(sink: *mut c_void, bytes: *const c_char, size: usize)>;

/// A collector for a table written for `level`, -1 if that is not known; null if nothing is to be built, or `guard` is null.
/// From any thread.
///
/// # Safety
/// `guard` came from `lacuna_table_guard_new` and is not freed, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_collector_new(guard: *const Guard, level: c_int) -> *mut TableCollector {
    // SAFETY: as the caller promises.
    let Some(Guard { guard }) = (unsafe { known(guard) }) else { return ptr::null_mut() };
    if guard.spec().is_off() {
        return ptr::null_mut();
    }
    let level = usize::try_from(level).ok();
    let collector = catch_unwind(AssertUnwindSafe(|| Collector::new(guard, level)));
    collector.map_or(ptr::null_mut(), |collector| Box::into_raw(Box::new(TableCollector { collector })))
}

/// Takes one entry, in the order of the table. Give every entry of every type; range deletions are left out here. A null
/// collector takes nothing. One thread at a time.
///
/// # Safety
/// `collector` came from `lacuna_collector_new` and is not freed, or is null; `size` bytes are readable at `user_key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_collector_add(
    collector: *mut TableCollector,
    entry_type: EntryTypeNumber,
    user_key: *const c_char,
    size: usize,
) {
    // SAFETY: as the caller promises.
    let (collector, key) = unsafe { (known_mut(collector), lent(user_key.cast::<u8>(), size, "user_key")) };
    let Some(TableCollector { collector }) = collector else { return };
    match key {
        Ok(key) => collector.add(entry_type.0, key),
        Err(problem) => collector.fail(problem),
    }
}

/// Builds the filter and hands its property to `emit`, once; not at all if there is none, which is counted.
///
/// # Safety
/// As for `lacuna_collector_add`; `emit` may be called with `sink`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_collector_finish(
    collector: *mut TableCollector,
    emit: Emit,
    sink: *mut c_void,
) {
    // SAFETY: as the caller promises.
    let (Some(collector), Some(emit)) = (unsafe { known_mut(collector) }, emit) else { return };
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
    // SAFETY: as the caller promises.
    unsafe { free(collector) }
}
