//! Takes partition files away with the tables that they belong to.
//!
//! RocksDB says of each table that it writes, takes in or deletes where it is; only of the first two it says the
//! properties. So the files of tables that were there before are noted by [`note_tables`].

#![allow(unsafe_code, reason = "the border to C++")]

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use lacuna_rocksdb_property::{PROPERTY_NAME, PartitionStore};
use rust_librocksdb_sys as ffi;
use rust_rocksdb::{AsRawPtr, Error, Options};

use crate::live_tables::{FileKey, LiveTables};
use crate::raw_table::{NotOpened, RawTable};
use crate::shim::lent;

/// As `lacuna_listener_vtable` in `table_listener.cc`.
#[repr(C)]
struct Vtable {
    created: unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize),
    failed: unsafe extern "C" fn(*mut c_void, *const c_char, usize),
    deleted: unsafe extern "C" fn(*mut c_void, *const c_char, usize),
    drop_state: unsafe extern "C" fn(*mut c_void),
}

static VTABLE: Vtable = Vtable { created, failed, deleted, drop_state };

unsafe extern "C" {
    fn lacuna_add_table_listener(
        options: *mut ffi::rocksdb_options_t,
        vtable: *const Vtable,
        state: *mut c_void,
    ) -> bool;
}

/// Adds a listener for `store` to the options of a database. Where that is not possible, files stay until the store is
/// opened again.
pub(crate) fn add_table_listener(options: &mut Options, store: &PartitionStore) {
    let state = Box::into_raw(Box::new(store.clone())).cast();
    // SAFETY: the options are alive, the vtable is static, and the state is a `PartitionStore` as its functions take it,
    // and is handed over.
    unsafe { lacuna_add_table_listener(options.as_raw_ptr(), &raw const VTABLE, state) };
}

/// Notes the tables of a database that was opened with `options`; whether all of them could be looked into.
pub(crate) fn note_tables<D: LiveTables>(
    store: &PartitionStore,
    options: &Options,
    db: &D,
) -> Result<bool, Error> {
    let (mut are_all_noted, mut gone) = (true, Vec::new());
    for file in db.live_tables()? {
        let key = FileKey::of(&file);
        match RawTable::open(options, key.path(), &mut 0) {
            Ok(table) => {
                let property = table.property(PROPERTY_NAME);
                property
                    .into_iter()
                    .for_each(|property| store.table_created(Path::new(key.path()), property));
            }
            Err(NotOpened::OtherOrder) => {}
            Err(NotOpened::Gone) => gone.push(key),
            // It may have a filter: a table of another format, in an environment that the options do not name, or unreadable now.
            Err(NotOpened::Foreign | NotOpened::Failed) => are_all_noted = false,
        }
    }
    // Compacted meanwhile, unless the options look in another place than the database does.
    let live = if gone.is_empty() { Vec::new() } else { db.live_tables()? };
    Ok(are_all_noted && !gone.iter().any(|key| key.is_among(&live)))
}

/// What C++ calls, with no panic let through.
///
/// # Safety
/// `state` is that of a listener that is alive.
unsafe fn note(state: *mut c_void, note: impl FnOnce(&PartitionStore)) {
    // SAFETY: as the caller promises.
    let store = unsafe { &*state.cast::<PartitionStore>() };
    drop(catch_unwind(AssertUnwindSafe(|| note(store))));
}

/// The path that C++ lends for one call; one that is not text is not followed.
fn as_path(path: &[u8]) -> Option<&Path> {
    str::from_utf8(path).ok().map(Path::new)
}

unsafe extern "C" fn created(
    state: *mut c_void,
    path: *const c_char,
    path_size: usize,
    property: *const c_char,
    size: usize,
) {
    // SAFETY: C++ passes its state, and the data and size of two strings.
    unsafe {
        let (path, property) = (lent(path, path_size), lent(property, size));
        note(state, |store| as_path(path).into_iter().for_each(|path| store.table_created(path, property)));
    }
}

unsafe extern "C" fn failed(state: *mut c_void, property: *const c_char, size: usize) {
    // SAFETY: C++ passes its state, and the data and size of a string.
    unsafe { note(state, |store| store.table_failed(lent(property, size))) }
}

unsafe extern "C" fn deleted(state: *mut c_void, path: *const c_char, path_size: usize) {
    // SAFETY: C++ passes its state, and the data and size of a string.
    unsafe {
        let path = lent(path, path_size);
        note(state, |store| as_path(path).into_iter().for_each(|path| store.table_deleted(path)));
    }
}

unsafe extern "C" fn drop_state(state: *mut c_void) {
    // SAFETY: C++ drops a state once, and it came from `Box::into_raw`.
    let store = unsafe { Box::from_raw(state.cast::<PartitionStore>()) };
    drop(catch_unwind(AssertUnwindSafe(|| drop(store))));
}
