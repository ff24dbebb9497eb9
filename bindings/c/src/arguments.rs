//! What a caller in C lends for one call, checked as far as it can be: null, alignment, length, text.
//!
//! That pointers lead to what they promise cannot be checked; each function says what it relies on.

use std::ffi::{CStr, c_char};
use std::slice;

use lacuna_base::{Error, Result};

/// Bytes that something else owns.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Bytes {
    /// The first byte; may be null if there is none.
    pub data: *const u8,
    /// Number of bytes.
    pub size: usize,
}

impl Bytes {
    /// The bytes.
    ///
    /// # Safety
    /// As for [`lent`].
    pub(crate) unsafe fn lent<'a>(self, name: &str) -> Result<&'a [u8]> {
        // SAFETY: as the caller promises.
        unsafe { lent(self.data, self.size, name) }
    }
}

/// `count` values.
///
/// # Safety
/// If `first` is neither null nor unaligned, `count` values are readable there for `'a`.
pub(crate) unsafe fn lent<'a, T>(first: *const T, count: usize, name: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    check(first, count, name)?;
    // SAFETY: as the caller promises; the pointer is aligned and the length was checked.
    Ok(unsafe { slice::from_raw_parts(first, count) })
}

/// `count` places to be written, all set to `value`.
///
/// # Safety
/// If `first` is neither null nor unaligned, `count` values may be written there and nothing else uses them for `'a`.
pub(crate) unsafe fn filled<'a, T: Copy>(
    first: *mut T,
    count: usize,
    value: T,
    name: &str,
) -> Result<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    check(first, count, name)?;
    for place in 0..count {
        // SAFETY: as the caller promises.
        unsafe { first.add(place).write(value) }
    }
    // SAFETY: as above, and every value was written.
    Ok(unsafe { slice::from_raw_parts_mut(first, count) })
}

/// Refuses answers that lie over any of `count` values that are asked: writing the first would change the next question.
pub(crate) fn apart<T>(answers: &[bool], asked: *const T, count: usize, name: &str) -> Result<()> {
    let (start, end) = (asked.addr(), asked.addr().saturating_add(count.saturating_mul(size_of::<T>())));
    let answers = answers.as_ptr_range();
    if count > 0 && start < answers.end.addr() && answers.start.addr() < end {
        return Err(Error::invalid_input(format!("answers lies over {name}; give it memory of its own")));
    }
    Ok(())
}

fn check<T>(first: *const T, count: usize, name: &str) -> Result<()> {
    if first.is_null() {
        return Err(Error::invalid_input(format!("{name} is null, but {count} values are to be there")));
    }
    if !first.is_aligned() {
        return Err(no_object(first, name));
    }
    match count.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Error::invalid_input(format!("{name}: {count} values are more than memory holds"))),
    }
}

/// What a pointer to an object of this library leads to; `None` if it is null or unaligned, where no object can be.
///
/// # Safety
/// If `object` is neither null nor unaligned, it is alive and nothing changes it for `'a`.
#[inline]
pub(crate) unsafe fn known<'a, T>(object: *const T) -> Option<&'a T> {
    // SAFETY: as the caller promises; null is no reference.
    if object.is_aligned() { unsafe { object.as_ref() } } else { None }
}

/// As [`known`], to be changed.
///
/// # Safety
/// If `object` is neither null nor unaligned, it is alive and nothing else uses it for `'a`.
pub(crate) unsafe fn known_mut<'a, T>(object: *mut T) -> Option<&'a mut T> {
    // SAFETY: as the caller promises; null is no reference.
    if object.is_aligned() { unsafe { object.as_mut() } } else { None }
}

/// As [`known`], where its absence is an error.
///
/// # Safety
/// As for [`known`].
pub(crate) unsafe fn shared<'a, T>(object: *const T, name: &str) -> Result<&'a T> {
    // SAFETY: as the caller promises.
    unsafe { known(object) }.ok_or_else(|| no_object(object, name))
}

/// As [`known_mut`], where its absence is an error.
///
/// # Safety
/// As for [`known_mut`].
pub(crate) unsafe fn exclusive<'a, T>(object: *mut T, name: &str) -> Result<&'a mut T> {
    // SAFETY: as the caller promises.
    unsafe { known_mut(object) }.ok_or_else(|| no_object(object, name))
}

/// Frees an object that this library has given away; nothing happens if it is null or unaligned.
///
/// # Safety
/// If `object` is neither null nor unaligned, it came from `Box::into_raw` and is not used again.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() && object.is_aligned() {
        // SAFETY: as the caller promises.
        drop(unsafe { Box::from_raw(object) });
    }
}

/// Writes a result, without reading what was there.
///
/// # Safety
/// If `place` is neither null nor unaligned, it may be written.
pub(crate) unsafe fn set<T>(place: *mut T, value: T, name: &str) -> Result<()> {
    if place.is_null() || !place.is_aligned() {
        return Err(no_object(place, name));
    }
    // SAFETY: as the caller promises; the place is aligned.
    unsafe { place.write(value) }
    Ok(())
}

/// A text that ends with a zero byte; `None` for null.
///
/// # Safety
/// If `text` is not null, it ends with a zero byte and does not change for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| Error::invalid_input(format!("{name} is not UTF-8")))
}

fn no_object<T>(pointer: *const T, name: &str) -> Error {
    match pointer.is_null() {
        true => Error::invalid_input(format!("{name} is null")),
        false => Error::invalid_input(format!("{name} is not aligned to {} bytes", align_of::<T>())),
    }
}
