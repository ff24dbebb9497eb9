//! A filter of keys that come one by one.

use lacuna_base::{ByteColumn, Error, Result, TypedKey as _};

use crate::arguments::{exclusive, free, lent, set};
use crate::filter::{Filter, give};
use crate::key_type::Values;
use crate::plan::{Plan, Recipe, integer_recipe, string_recipe};
use crate::sealing::{filter_of_integers, filter_of_strings};
use crate::status::{Status, attempt};

/// Collects keys until it is finished or freed: 8 bytes an integer; the bytes of a string and 8 more.
pub struct Builder {
    keys: Collected,
}

enum Collected {
    Integers(Values, Recipe<u64>, Vec<u64>),
    Strings(Recipe<[u8]>, ByteColumn),
    /// A key was refused: a filter without it would deny it.
    Refused,
    Finished,
}

impl Builder {
    fn add_integer(&mut self, values: Values, key: u64) -> Result<()> {
        match &mut self.keys {
            Collected::Integers(of, _, keys) if *of == values => keys.push(key),
            _ => return Err(self.refuse(other_values(values))),
        }
        Ok(())
    }

    fn add_string(&mut self, key: Result<&[u8]>) -> Result<()> {
        match (&mut self.keys, key) {
            (Collected::Strings(_, keys), Ok(key)) => keys.push(key),
            (Collected::Strings(..), Err(why)) => return Err(self.refuse(why)),
            _ => return Err(self.refuse(other_values(Values::Strings))),
        }
        Ok(())
    }

    /// From now on there is no filter, as a key is not in it.
    fn refuse(&mut self, why: Error) -> Error {
        match self.keys {
            Collected::Finished => finished(),
            _ => {
                self.keys = Collected::Refused;
                why
            }
        }
    }

    fn finish(&mut self) -> Result<Filter> {
        match std::mem::replace(&mut self.keys, Collected::Finished) {
            Collected::Refused => Err(Error::invalid_input(
                "the builder refused a key, and a filter without it would deny it; make another",
            )),
            Collected::Integers(_, recipe, keys) => filter_of_integers(&recipe, keys.into()),
            Collected::Strings(recipe, keys) => filter_of_strings(&recipe, keys),
            Collected::Finished => Err(finished()),
        }
    }
}

fn finished() -> Error {
    Error::invalid_input("the builder is finished; make another")
}

fn other_values(values: Values) -> Error {
    Error::invalid_input(format!("the builder does not take {}", values.name()))
}

/// Makes the builder and hands it over; `*builder` is null on failure.
///
/// # Safety
/// If `builder` is not null, it may be written.
unsafe fn begin(builder: *mut *mut Builder, make: impl FnOnce() -> Result<Builder>) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        unsafe { set(builder, std::ptr::null_mut(), "builder") }?;
        let made = Box::into_raw(Box::new(make()?));
        // SAFETY: as the caller promises.
        unsafe { set(builder, made, "builder") }
    })
}

/// As [`begin`], for integers that stand for `values`.
///
/// # Safety
/// As for [`lacuna_builder_new_u64`].
unsafe fn begin_integers(plan: *const Plan, values: Values, builder: *mut *mut Builder) -> Status {
    // SAFETY: as the caller promises.
    unsafe {
        begin(builder, || {
            Ok(Builder { keys: Collected::Integers(values, integer_recipe(plan, values)?, Vec::new()) })
        })
    }
}

/// Begins a filter of unsigned integers. On success `*builder` is to be freed with `lacuna_builder_free`; on failure it
/// is null. Nothing of the plan is needed afterwards. From any thread.
///
/// # Safety
/// `plan` is readable and its pointers are as it says; `builder` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_builder_new_u64(plan: *const Plan, builder: *mut *mut Builder) -> Status {
    // SAFETY: as the caller promises.
    unsafe { begin_integers(plan, Values::Unsigned, builder) }
}

/// Begins a filter of signed integers, or of days or moments if the plan's key type says so; as
/// `lacuna_builder_new_u64`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_builder_new_i64(plan: *const Plan, builder: *mut *mut Builder) -> Status {
    // SAFETY: as the caller promises.
    unsafe { begin_integers(plan, Values::Signed, builder) }
}

/// Begins a filter of floating-point numbers; as `lacuna_builder_new_u64`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_builder_new_f64(plan: *const Plan, builder: *mut *mut Builder) -> Status {
    // SAFETY: as the caller promises.
    unsafe { begin_integers(plan, Values::Floats, builder) }
}

/// Begins a filter of byte strings; as `lacuna_builder_new_u64`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_builder_new_bytes(plan: *const Plan, builder: *mut *mut Builder) -> Status {
    // SAFETY: as the caller promises.
    unsafe {
        begin(builder, || Ok(Builder { keys: Collected::Strings(string_recipe(plan)?, ByteColumn::new()) }))
    }
}

/// Adds a key, in any order; repeats count once. Ascending keys are not sorted again. A builder that has refused a key does not
/// finish. One thread at a time.
///
/// # Safety
/// `builder` came from `lacuna_builder_new_u64` and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_builder_add_u64(builder: *mut Builder, key: u64) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe { exclusive(builder, "builder") }?.add_integer(Values::Unsigned, key))
}

/// As `lacuna_builder_add_u64`, to a builder of signed integers, days or moments.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_builder_add_i64(builder: *mut Builder, key: i64) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe { exclusive(builder, "builder") }?.add_integer(Values::Signed, key.to_key()))
}

/// As `lacuna_builder_add_u64`, to a builder of floating-point numbers.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_builder_add_f64(builder: *mut Builder, key: f64) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe { exclusive(builder, "builder") }?.add_integer(Values::Floats, key.to_key()))
}

/// As `lacuna_builder_add_u64`, to a builder of byte strings; the key is copied.
///
/// # Safety
/// As there, and `size` bytes are readable at `key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_builder_add_bytes(
    builder: *mut Builder,
    key: *const u8,
    size: usize,
) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe { exclusive(builder, "builder")?.add_string(lent(key, size, "key")) })
}

/// Builds the filter of the keys added; the builder then takes no more and is still to be freed. On success `*filter` is
/// to be closed with `lacuna_close`; on failure it is null, and the keys are gone. One thread at a time.
///
/// # Safety
/// `builder` came from a `lacuna_builder_new_...` and is not freed; `filter` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_builder_finish(builder: *mut Builder, filter: *mut *mut Filter) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe { give(filter, || exclusive(builder, "builder")?.finish()) })
}

/// Frees a builder, finished or not: one that is not finished is abandoned. Null is allowed.
///
/// # Safety
/// `builder` came from a `lacuna_builder_new_...` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_builder_free(builder: *mut Builder) {
    // SAFETY: as the caller promises.
    unsafe { free(builder) }
}
