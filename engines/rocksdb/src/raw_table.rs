//! The entries of one table file as they are stored, read beside the database.
//!
//! A database iterator shows only those entries of a table that no deletion, newer version or snapshot hides. A proof
//! that a table does not hold a key must look at all of its entries; this module reads them from the file, with the
//! file system of the database's options and without its caches. Every entry counts as its key, whatever
//! its type; range deletions are not among them.

#![allow(unsafe_code, reason = "the border to C++")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::ptr::NonNull;

use lacuna_rocksdb_property::TableIdentity;
use rust_librocksdb_sys as ffi;
use rust_rocksdb::{AsRawPtr, Options};

use crate::shim::lent;

unsafe extern "C" {
    fn lacuna_raw_table_open(
        options: *const ffi::rocksdb_options_t,
        path: *const c_char,
        path_size: usize,
        outcome: *mut c_int,
        reads: *mut u64,
    ) -> *mut c_void;
    fn lacuna_comparator_name(options: *const ffi::rocksdb_options_t) -> *const c_char;
    fn lacuna_raw_table_close(table: *mut c_void);
    fn lacuna_raw_table_session(table: *const c_void, size: *mut usize) -> *const c_char;
    fn lacuna_raw_table_number(table: *const c_void) -> u64;
    fn lacuna_raw_table_property(
        table: *const c_void,
        name: *const c_char,
        name_size: usize,
        size: *mut usize,
    ) -> *const c_char;
    fn lacuna_raw_table_memory(table: *const c_void) -> u64;
    fn lacuna_raw_table_seek(table: *mut c_void, key: *const c_char, size: usize);
    fn lacuna_raw_table_prev(table: *mut c_void);
    fn lacuna_raw_table_key(table: *const c_void, size: *mut usize) -> *const c_char;
    fn lacuna_raw_table_is_good(table: *const c_void) -> bool;
    fn lacuna_raw_table_reads(table: *const c_void) -> u64;
}

/// Why a table file could not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotOpened {
    /// There is no such file.
    Gone,
    /// It is not a block-based table, or damaged: it will never be opened.
    Foreign,
    /// It could not be read now.
    Failed,
    /// It is not ordered bytewise: it will never be opened, and has no filter.
    OtherOrder,
}

impl NotOpened {
    /// As `Outcome` in `raw_table.cc`.
    fn of(outcome: c_int) -> Self {
        match outcome {
            1 => Self::Gone,
            2 => Self::Foreign,
            4 => Self::OtherOrder,
            _ => Self::Failed,
        }
    }
}

/// The name of the comparator that is set in the options; `None` if it cannot be known.
pub(crate) fn comparator_name(options: &Options) -> Option<String> {
    // SAFETY: the options are alive, and the name is a string of C that the comparator in them keeps.
    unsafe {
        let name = lacuna_comparator_name(options.as_raw_ptr());
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    }
}

/// An open table file, and a place among its entries.
pub(crate) struct RawTable {
    table: NonNull<c_void>,
}

// SAFETY: the reader that it points to belongs to no thread, and all that moves its place takes `&mut`.
unsafe impl Send for RawTable {}

impl RawTable {
    /// The table at `path`. Blocks that were read for nothing are added to `reads`.
    pub(crate) fn open(options: &Options, path: &str, reads: &mut u64) -> Result<Self, NotOpened> {
        let mut outcome = 0;
        // SAFETY: the options are alive, and all that is passed is used before the call returns only.
        let table = unsafe {
            let (options, path_size) = (options.as_raw_ptr(), path.len());
            lacuna_raw_table_open(options, path.as_ptr().cast(), path_size, &raw mut outcome, reads)
        };
        NonNull::new(table).map(|table| Self { table }).ok_or_else(|| NotOpened::of(outcome))
    }

    fn as_ptr(&self) -> *mut c_void {
        self.table.as_ptr()
    }

    /// The identity of the table.
    pub(crate) fn identity(&self) -> TableIdentity<'_> {
        let mut size = 0;
        // SAFETY: the table is open, and its properties stay where they are as long as it is.
        unsafe {
            let session = lacuna_raw_table_session(self.as_ptr(), &raw mut size);
            TableIdentity { session: lent(session, size), number: lacuna_raw_table_number(self.as_ptr()) }
        }
    }

    /// The property with this name.
    pub(crate) fn property(&self, name: &str) -> Option<&[u8]> {
        let mut size = 0;
        // SAFETY: the table is open, and its properties stay where they are as long as it is.
        unsafe {
            let bytes =
                lacuna_raw_table_property(self.as_ptr(), name.as_ptr().cast(), name.len(), &raw mut size);
            (!bytes.is_null()).then(|| lent(bytes, size))
        }
    }

    /// Bytes that it holds while it is open.
    pub(crate) fn memory_bytes(&self) -> usize {
        // SAFETY: the table is open.
        usize::try_from(unsafe { lacuna_raw_table_memory(self.as_ptr()) }).unwrap_or(usize::MAX)
    }

    /// Blocks read so far.
    pub(crate) fn reads(&self) -> u64 {
        // SAFETY: the table is open.
        unsafe { lacuna_raw_table_reads(self.as_ptr()) }
    }

    /// Goes to the first entry at `key` or above.
    pub(crate) fn seek(&mut self, key: &[u8]) {
        // SAFETY: the table is open, and the key is copied.
        unsafe { lacuna_raw_table_seek(self.as_ptr(), key.as_ptr().cast(), key.len()) }
    }

    /// Goes to the entry before this one; from after the last, to the last.
    pub(crate) fn prev(&mut self) {
        // SAFETY: the table is open.
        unsafe { lacuna_raw_table_prev(self.as_ptr()) }
    }

    /// The user key of the entry here; `None` if there is none, or if [`is_good`](Self::is_good) is over.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        let mut size = 0;
        // SAFETY: the table is open, and the key stays where it is until the place moves, which takes `&mut`.
        unsafe {
            let key = lacuna_raw_table_key(self.as_ptr(), &raw mut size);
            (!key.is_null()).then(|| lent(key, size))
        }
    }

    /// Whether everything could be read since the last seek.
    pub(crate) fn is_good(&self) -> bool {
        // SAFETY: the table is open.
        unsafe { lacuna_raw_table_is_good(self.as_ptr()) }
    }
}

impl Drop for RawTable {
    fn drop(&mut self) {
        // SAFETY: the table is open, and it is not used again.
        unsafe { lacuna_raw_table_close(self.as_ptr()) }
    }
}

impl fmt::Debug for RawTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawTable").field("identity", &self.identity()).finish_non_exhaustive()
    }
}
