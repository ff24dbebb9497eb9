//! State that the collectors and questions of one column family share.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use lacuna_base::{Error, Result};
use lacuna_guard::GuardSpec;
use lacuna_rocksdb_property::TableGuard;

use crate::arguments::{free, known, lent, set};
use crate::secret::{Secret, secret_at};
use crate::status::attempt;

/// What to build, the remembered queries, and the counts of one column family.
pub struct Guard {
    pub(crate) guard: TableGuard,
}

/// The counts so far.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Counts {
    /// Filters built.
    pub built: u64,
    /// Filters that needed fewer bits or another family than asked for.
    pub coarsened: u64,
    /// Tables written without a filter.
    pub not_built: u64,
    /// Questions answered "no": tables not read.
    pub skipped: u64,
    /// Questions answered "maybe".
    pub passed: u64,
    /// Tables read because they have no filter property.
    pub missing: u64,
    /// Tables read because their property is newer, or of another codec.
    pub unsupported: u64,
    /// Tables read because their property does not hold together.
    pub corrupt: u64,
    /// Tables read because another comparator orders their keys.
    pub comparator: u64,
    /// Scans that returned no row.
    pub empty_scans: u64,
    /// Questions answered "maybe" that are known to have been in vain; part of `passed`, and a lower bound.
    pub false_positives: u64,
    /// Filters among `built` that say "maybe" to more than half of the queries that they should deny.
    pub hardly_answering: u64,
    /// Tables among `not_built` whose keys the codec does not take, or that met another error; no filter fits the others.
    pub build_failures: u64,
    /// Panics at a question to a filter, or when a scan was noted; the tables were read.
    pub panics: u64,
}

const NAME: &CStr = c"lacuna.filter";

thread_local! {
    static LAST_PROBLEM: RefCell<CString> = RefCell::default();
}

/// Name of the property, which never changes.
#[unsafe(no_mangle)]
pub extern "C" fn lacuna_property_name() -> *const c_char {
    NAME.as_ptr()
}

/// A guard for the spec of this text, such as `grafite@14 codec=fixed_be:8`; null if it is wrong, and
/// `lacuna_last_error` says why. `max_bytes` caps the property of one table; 0 means 256 MiB. `secret` is for specs that hash under
/// one, such as `ribbon:secret@14 codec=fixed_be:8`, and else null: it is no part of the text, which RocksDB notes in its
/// OPTIONS files. From any thread.
///
/// # Safety
/// `size` bytes are readable at `spec`; `secret` is readable or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_table_guard_new(
    spec: *const c_char,
    size: usize,
    max_bytes: usize,
    secret: *const Secret,
) -> *mut Guard {
    give(|| {
        // SAFETY: as the caller promises.
        let (spec, secret) = unsafe { (spec_of(spec, size)?, secret_at(secret)) };
        let spec = spec.with_secret(secret);
        spec.check()?;
        let guard = TableGuard::new(spec);
        Ok(if max_bytes == 0 { guard } else { guard.with_max_bytes(max_bytes) })
    })
}

/// The spec of this text.
///
/// # Safety
/// If `spec` is not null, `size` bytes are readable there.
unsafe fn spec_of(spec: *const c_char, size: usize) -> Result<GuardSpec> {
    // SAFETY: as the caller promises.
    let spec = unsafe { lent(spec.cast::<u8>(), size, "spec") }?;
    str::from_utf8(spec).map_err(|_| Error::invalid_input("a spec is text in UTF-8"))?.parse()
}

/// Hands a guard over; null if there is none.
fn give(make: impl FnOnce() -> Result<TableGuard>) -> *mut Guard {
    let mut guard = ptr::null_mut();
    attempt(|| {
        guard = Box::into_raw(Box::new(Guard { guard: make()? }));
        Ok(())
    });
    guard
}

/// Another handle of the same guard, to be freed too; null for null. From any thread.
///
/// # Safety
/// `guard` came from `lacuna_table_guard_new` and is not freed, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_table_guard_clone(guard: *const Guard) -> *mut Guard {
    // SAFETY: as the caller promises.
    let Some(Guard { guard }) = (unsafe { known(guard) }) else { return ptr::null_mut() };
    Box::into_raw(Box::new(Guard { guard: guard.clone() }))
}

/// The counts so far. Nothing happens if either pointer is null. From any thread.
///
/// # Safety
/// `guard` came from `lacuna_table_guard_new` and is not freed; `counts` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_table_guard_counts(guard: *const Guard, counts: *mut Counts) {
    // SAFETY: as the caller promises.
    let Some(Guard { guard }) = (unsafe { known(guard) }) else { return };
    let stats = catch_unwind(AssertUnwindSafe(|| guard.stats())).unwrap_or_default();
    let (filters, scanned) = (&stats.filters, &stats.scanned);
    let counted = Counts {
        built: filters.built,
        coarsened: filters.coarsened,
        not_built: filters.not_stored + filters.build_failures,
        skipped: filters.skipped(),
        passed: filters.passed(),
        missing: scanned.missing,
        unsupported: scanned.unsupported,
        corrupt: scanned.corrupt,
        comparator: scanned.comparator,
        empty_scans: filters.empty_scans,
        false_positives: filters.total().false_positives,
        hardly_answering: filters.hardly_answering,
        build_failures: filters.build_failures,
        panics: filters.panics,
    };
    // SAFETY: as the caller promises. Where nothing can be written, nothing is said.
    drop(unsafe { set(counts, counted, "counts") });
}

/// What was wrong with the last table without a filter, the last filter that hardly answers, or at the last panic; empty if
/// there was none, or for null. Valid until this thread calls this function again. From any thread.
///
/// # Safety
/// `guard` came from `lacuna_table_guard_new` and is not freed, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_table_guard_last_problem(guard: *const Guard) -> *const c_char {
    // SAFETY: as the caller promises.
    let Some(Guard { guard }) = (unsafe { known(guard) }) else { return c"".as_ptr() };
    let stats = catch_unwind(AssertUnwindSafe(|| guard.stats())).unwrap_or_default();
    let problem = stats.filters.last_problem.unwrap_or_default().replace('\0', " ");
    let problem = CString::new(problem).unwrap_or_default();
    let kept = LAST_PROBLEM.try_with(|last| {
        *last.borrow_mut() = problem;
        last.borrow().as_ptr()
    });
    kept.unwrap_or(c"".as_ptr())
}

/// Frees a handle; null is allowed.
///
/// # Safety
/// `guard` came from `lacuna_table_guard_new` or `_clone` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_table_guard_free(guard: *mut Guard) {
    // SAFETY: as the caller promises.
    unsafe { free(guard) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_property() {
        assert_eq!(NAME.to_str().unwrap(), lacuna_rocksdb_property::PROPERTY_NAME);
    }
}
