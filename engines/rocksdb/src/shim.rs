//! The two ways across the border to C++: functions of ours that the collector calls, and its constructor.
//!
//! No panic crosses: collectors catch their own, and the functions here catch the rest.

#![allow(unsafe_code, reason = "the border to C++")]

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;

use lacuna_rocksdb_property::{Collector, TableGuard};
use rust_librocksdb_sys as ffi;
use rust_rocksdb::{AsRawPtr, Options};

/// Stores the property; see `lacuna_collector.h`.
type Emit = unsafe extern "C" fn(sink: *mut c_void, bytes: *const c_char, size: usize);

/// As `lacuna_collector_vtable` in `lacuna_collector.h`.
#[repr(C)]
struct Vtable {
    create_state: unsafe extern "C" fn(*const c_char, usize) -> *mut c_void,
    drop_state: unsafe extern "C" fn(*mut c_void),
    create_collector: unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void,
    add: unsafe extern "C" fn(*mut c_void, u32, *const c_char, usize),
    finish: unsafe extern "C" fn(*mut c_void, Emit, *mut c_void),
    drop_collector: unsafe extern "C" fn(*mut c_void),
}

static VTABLE: Vtable = Vtable { create_state, drop_state, create_collector, add, finish, drop_collector };

unsafe extern "C" {
    fn lacuna_rocksdb_factory_new(
        vtable: *const Vtable,
        state: *mut c_void,
        spec: *const c_char,
        spec_size: usize,
    ) -> *mut ffi::rocksdb_table_properties_collector_factory_t;
    fn lacuna_rocksdb_remove_factories(options: *mut ffi::rocksdb_options_t);
    fn lacuna_rocksdb_register(vtable: *const Vtable);
}

/// Adds the collector of `guard` to the options of one column family, in place of one that they have.
pub(crate) fn add_collector(options: &mut Options, guard: &TableGuard) {
    let spec = guard.spec().to_string();
    let state = Box::into_raw(Box::new(guard.clone())).cast();
    // SAFETY: the vtable is static, the state is a `TableGuard` as its functions take it, and it is handed over; the
    // spec is read before the call returns. The options copy the shared pointer, so ours is given back.
    unsafe {
        let factory = lacuna_rocksdb_factory_new(&raw const VTABLE, state, spec.as_ptr().cast(), spec.len());
        if !factory.is_null() {
            lacuna_rocksdb_remove_factories(options.as_raw_ptr());
            ffi::rocksdb_options_add_table_properties_collector_factory(options.as_raw_ptr(), factory);
            ffi::rocksdb_table_properties_collector_factory_destroy(factory);
        }
    }
}

/// Makes the factory known by name to RocksDB's object registry.
pub(crate) fn register() {
    // SAFETY: the vtable is static.
    unsafe { lacuna_rocksdb_register(&raw const VTABLE) }
}

/// The bytes that C++ lends for one call.
///
/// # Safety
/// `size` bytes are readable at `bytes` for `'a`, or `size` is 0.
pub(crate) unsafe fn lent<'a>(bytes: *const c_char, size: usize) -> &'a [u8] {
    if size == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { slice::from_raw_parts(bytes.cast(), size) }
}

unsafe extern "C" fn create_state(spec: *const c_char, size: usize) -> *mut c_void {
    // SAFETY: C++ passes the data and size of a string.
    let spec = unsafe { lent(spec, size) };
    // A text has no secret: a spec that needs one makes no state, and tables get no collector.
    let guard = catch_unwind(|| {
        let guard = TableGuard::parse(str::from_utf8(spec).ok()?).ok()?;
        guard.spec().check().is_ok().then_some(guard)
    });
    guard.ok().flatten().map_or(ptr::null_mut(), |guard| Box::into_raw(Box::new(guard)).cast())
}

unsafe extern "C" fn drop_state(state: *mut c_void) {
    // SAFETY: C++ drops a state once, and it came from `Box::into_raw`.
    let guard = unsafe { Box::from_raw(state.cast::<TableGuard>()) };
    drop(catch_unwind(AssertUnwindSafe(|| drop(guard))));
}

unsafe extern "C" fn create_collector(state: *mut c_void, level: c_int) -> *mut c_void {
    // SAFETY: the state lives as long as the factory, which is calling.
    let guard = unsafe { &*state.cast::<TableGuard>() };
    if guard.spec().is_off() {
        return ptr::null_mut();
    }
    let collector = catch_unwind(AssertUnwindSafe(|| Collector::new(guard, usize::try_from(level).ok())));
    collector.map_or(ptr::null_mut(), |collector| Box::into_raw(Box::new(collector)).cast())
}

unsafe extern "C" fn add(collector: *mut c_void, entry_type: u32, key: *const c_char, size: usize) {
    // SAFETY: RocksDB calls a collector from one thread at a time and lends it the key for this call.
    let (collector, key) = unsafe { (&mut *collector.cast::<Collector>(), lent(key, size)) };
    collector.add(entry_type, key);
}

unsafe extern "C" fn finish(collector: *mut c_void, emit: Emit, sink: *mut c_void) {
    // SAFETY: RocksDB calls a collector from one thread at a time.
    let collector = unsafe { &mut *collector.cast::<Collector>() };
    if let Ok(Some(property)) = catch_unwind(AssertUnwindSafe(|| collector.finish())) {
        // SAFETY: `emit` and `sink` are those of the call that is running; the bytes are copied.
        unsafe { emit(sink, property.as_ptr().cast(), property.len()) }
    }
}

unsafe extern "C" fn drop_collector(collector: *mut c_void) {
    // SAFETY: C++ drops a collector once, and it came from `Box::into_raw`.
    let collector = unsafe { Box::from_raw(collector.cast::<Collector>()) };
    drop(catch_unwind(AssertUnwindSafe(|| drop(collector))));
}
