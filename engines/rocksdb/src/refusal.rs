//! Column families that range filters cannot serve, refused by an error of RocksDB's type.
//!
//! Ranges are cut and sorted in the order of bytes. Under another comparator a range holds other rows than those that the
//! answer is about, so a "no" could be false.

#![allow(unsafe_code, reason = "asks RocksDB for the comparator, and makes an error of its type")]

use std::ffi::{CStr, c_char};

use lacuna_rocksdb_property::is_ordered_bytewise;
use rust_librocksdb_sys as ffi;
use rust_rocksdb::{
    AsColumnFamilyRef, AsRawPtr, DBAccess, DBPinnableSlice, Error, ReadOptions, SnapshotWithThreadMode,
};

unsafe extern "C" {
    fn lacuna_family_comparator_name(family: *const ffi::rocksdb_column_family_handle_t) -> *const c_char;
    fn lacuna_failed_iterator(text: *const c_char, size: usize) -> *mut ffi::rocksdb_iterator_t;
}

/// Refuses a column family whose comparator has this name.
///
/// # Errors
/// `InvalidArgument` if there is a name.
pub(crate) fn check(foreign_comparator: Option<&str>) -> Result<(), Error> {
    foreign_comparator.map_or(Ok(()), |name| Err(refusal(name)))
}

fn refusal(comparator: &str) -> Error {
    let failed = Failed(format!(
        "range filters need RocksDB's bytewise comparator, and this column family has `{comparator}`: read it without \
         filters, by RocksDB's own get and iterators"
    ));
    // Only RocksDB makes its errors: an iterator that has failed gives one.
    let snapshot = SnapshotWithThreadMode::new(&failed);
    snapshot.raw_iterator_opt(ReadOptions::default()).status().expect_err("the iterator has failed")
}

/// The name of the comparator of a column family, unless it orders keys by their bytes.
pub(crate) fn foreign_comparator(family: &impl AsColumnFamilyRef) -> Option<String> {
    // SAFETY: the column family is open as long as its handle is borrowed.
    unsafe { foreign_comparator_of(family.inner()) }
}

/// As [`foreign_comparator`], of the default column family.
pub(crate) fn foreign_default_comparator(db: &impl AsRawPtr<ffi::rocksdb_t>) -> Option<String> {
    // SAFETY: the database is open as long as it is borrowed. The handle is ours, and is not used after it is destroyed.
    unsafe {
        let family = ffi::rocksdb_get_default_column_family_handle(db.as_raw_ptr());
        let name = foreign_comparator_of(family);
        ffi::rocksdb_column_family_handle_destroy(family);
        name
    }
}

/// # Safety
/// The handle is that of an open column family.
unsafe fn foreign_comparator_of(family: *const ffi::rocksdb_column_family_handle_t) -> Option<String> {
    // SAFETY: as the caller promises. The name lives as long as the comparator, which the column family keeps.
    let name = unsafe { CStr::from_ptr(lacuna_family_comparator_name(family)) };
    (!is_ordered_bytewise(name.to_bytes())).then(|| name.to_string_lossy().into_owned())
}

/// A database of which every iterator has failed with this text.
struct Failed(String);

impl DBAccess for Failed {
    unsafe fn create_snapshot(&self) -> *const ffi::rocksdb_snapshot_t {
        std::ptr::null()
    }

    unsafe fn release_snapshot(&self, _: *const ffi::rocksdb_snapshot_t) {}

    unsafe fn create_iterator(&self, _: &ReadOptions) -> *mut ffi::rocksdb_iterator_t {
        // SAFETY: the text is copied before the call returns.
        unsafe { lacuna_failed_iterator(self.0.as_ptr().cast(), self.0.len()) }
    }

    unsafe fn create_iterator_cf(
        &self,
        _: *mut ffi::rocksdb_column_family_handle_t,
        options: &ReadOptions,
    ) -> *mut ffi::rocksdb_iterator_t {
        // SAFETY: as this function's own caller promises.
        unsafe { self.create_iterator(options) }
    }

    fn get_opt<K: AsRef<[u8]>>(&self, _: K, _: &ReadOptions) -> Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }

    fn get_cf_opt<K: AsRef<[u8]>>(
        &self,
        _: &impl AsColumnFamilyRef,
        _: K,
        _: &ReadOptions,
    ) -> Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }

    fn get_pinned_opt<K: AsRef<[u8]>>(
        &'_ self,
        _: K,
        _: &ReadOptions,
    ) -> Result<Option<DBPinnableSlice<'_>>, Error> {
        Ok(None)
    }

    fn get_pinned_cf_opt<K: AsRef<[u8]>>(
        &'_ self,
        _: &impl AsColumnFamilyRef,
        _: K,
        _: &ReadOptions,
    ) -> Result<Option<DBPinnableSlice<'_>>, Error> {
        Ok(None)
    }

    fn multi_get_opt<K, I>(&self, _: I, _: &ReadOptions) -> Vec<Result<Option<Vec<u8>>, Error>>
    where
        K: AsRef<[u8]>,
        I: IntoIterator<Item = K>,
    {
        Vec::new()
    }

    fn multi_get_cf_opt<'b, K, I, W>(&self, _: I, _: &ReadOptions) -> Vec<Result<Option<Vec<u8>>, Error>>
    where
        K: AsRef<[u8]>,
        I: IntoIterator<Item = (&'b W, K)>,
        W: AsColumnFamilyRef + 'b,
    {
        Vec::new()
    }
}
