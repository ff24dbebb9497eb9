//! A sealed filter of any origin: open it, ask it, look at it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lacuna_base::{
    AlignedBytes, ByteRange, Envelope, KeySpaceId, KeyType as CoreKeyType, TimeUnit, U64Range,
};
use lacuna_families::AnyFilter;

use crate::lent::lent;
use crate::status::{Status, fail, panicked};

/// An opened filter, with its own copy of the bytes.
pub struct Filter {
    filter: AnyFilter,
}

/// What the keys of a filter are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum KeySpace {
    /// Unsigned integers of 64 bits.
    U64 = 0,
    /// Byte strings in the order of `memcmp`.
    Bytes = 1,
}

/// What values the keys of a filter stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum KeyType {
    /// Not noted.
    Unknown = 0,
    /// Unsigned integers.
    U64 = 1,
    /// Signed integers, sign bit flipped.
    I64 = 2,
    /// Floating-point numbers: all bits flipped if negative, else the sign bit.
    F64 = 3,
    /// Days since 1970-01-01, as signed integers.
    Date = 4,
    /// Seconds since 1970-01-01T00:00:00Z, as signed integers.
    TimestampSeconds = 5,
    /// Milliseconds, likewise.
    TimestampMilliseconds = 6,
    /// Microseconds, likewise.
    TimestampMicroseconds = 7,
    /// Texts.
    Text = 8,
    /// Byte strings, written in hexadecimal.
    Hex = 9,
    /// Tuples of fields.
    Tuple = 10,
}

impl From<CoreKeyType> for KeyType {
    fn from(key_type: CoreKeyType) -> Self {
        match key_type {
            CoreKeyType::U64 => Self::U64,
            CoreKeyType::I64 => Self::I64,
            CoreKeyType::F64 => Self::F64,
            CoreKeyType::Date => Self::Date,
            CoreKeyType::Timestamp(TimeUnit::Seconds) => Self::TimestampSeconds,
            CoreKeyType::Timestamp(TimeUnit::Milliseconds) => Self::TimestampMilliseconds,
            CoreKeyType::Timestamp(TimeUnit::Microseconds) => Self::TimestampMicroseconds,
            CoreKeyType::Text => Self::Text,
            CoreKeyType::Hex => Self::Hex,
            CoreKeyType::Tuple => Self::Tuple,
            _ => Self::Unknown,
        }
    }
}

/// What the envelope of a filter says.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Info {
    /// Number of the family, see <https://github.com/lacuna-db/lacuna/blob/main/docs/format/envelope.md>.
    pub kind: u16,
    /// Version of the payload.
    pub payload_version: u16,
    /// What its keys are.
    pub key_space: KeySpace,
    /// What values they stand for.
    pub key_type: KeyType,
    /// Number of the codec that made the keys.
    pub codec: u16,
    /// Parameter of the codec.
    pub codec_parameter: u64,
    /// Number of distinct keys.
    pub key_count: u64,
    /// Smallest key; of byte strings the eight bytes after their common prefix.
    pub smallest: u64,
    /// Largest key; of byte strings the eight bytes after their common prefix.
    pub largest: u64,
    /// Bytes after the envelope.
    pub payload_bytes: u64,
}

/// Opens a copy of a sealed filter and checks all of it. On success `*filter` is to be closed with `lacuna_close`; on
/// failure it is null.
///
/// # Safety
/// `size` bytes are readable at `bytes`, and `filter` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_open(bytes: *const u8, size: usize, filter: *mut *mut Filter) -> Status {
    // SAFETY: as the caller promises.
    let (bytes, filter) = unsafe { (lent(bytes, size), &mut *filter) };
    *filter = std::ptr::null_mut();
    match catch_unwind(|| AnyFilter::open_verified(AlignedBytes::copy_of(bytes))) {
        Ok(Ok((_, opened))) => {
            *filter = Box::into_raw(Box::new(Filter { filter: opened }));
            Status::Ok
        }
        Ok(Err(error)) => fail(&error),
        Err(_) => panicked(),
    }
}

/// Whether a filter over integers may hold a key from `lo` to `hi`, both included; false proves that it holds none. A
/// filter over byte strings says true. An inverted range holds no key.
///
/// # Safety
/// `filter` came from `lacuna_open` and is not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_u64(filter: *const Filter, lo: u64, hi: u64) -> bool {
    // SAFETY: as the caller promises.
    let filter = unsafe { &*filter };
    let Some(range) = U64Range::new(lo, hi) else { return false };
    let AnyFilter::U64(filter) = &filter.filter else { return true };
    catch_unwind(AssertUnwindSafe(|| filter.may_contain_range(range))).unwrap_or(true)
}

/// Whether a filter over byte strings may hold a key from `lo` to `hi`, both included; false proves that it holds none.
/// A filter over integers says true. An inverted range holds no key.
///
/// # Safety
/// `filter` came from `lacuna_open` and is not closed; `lo_size` and `hi_size` bytes are readable at `lo` and `hi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_may_contain_bytes(
    filter: *const Filter,
    lo: *const u8,
    lo_size: usize,
    hi: *const u8,
    hi_size: usize,
) -> bool {
    // SAFETY: as the caller promises.
    let (filter, lo, hi) = unsafe { (&*filter, lent(lo, lo_size), lent(hi, hi_size)) };
    let Some(range) = ByteRange::new(lo, hi) else { return false };
    let AnyFilter::Bytes(filter) = &filter.filter else { return true };
    catch_unwind(AssertUnwindSafe(|| filter.may_contain_range(range))).unwrap_or(true)
}

/// Reads the envelope of a sealed filter, without opening it.
///
/// # Safety
/// `size` bytes are readable at `bytes`, and `info` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_inspect(bytes: *const u8, size: usize, info: *mut Info) -> Status {
    // SAFETY: as the caller promises.
    let bytes = unsafe { lent(bytes, size) };
    let (envelope, payload) = match Envelope::open(bytes) {
        Ok(opened) => opened,
        Err(error) => return fail(&error),
    };
    let described = Info {
        kind: envelope.kind.0,
        payload_version: envelope.payload_version,
        key_space: match envelope.key_space {
            KeySpaceId::U64 => KeySpace::U64,
            KeySpaceId::Bytes => KeySpace::Bytes,
        },
        key_type: envelope.key_type.into(),
        codec: envelope.codec.number,
        codec_parameter: envelope.codec.parameter,
        key_count: envelope.key_count,
        smallest: envelope.smallest,
        largest: envelope.largest,
        payload_bytes: payload.len() as u64,
    };
    // SAFETY: as the caller promises.
    unsafe { info.write(described) }
    Status::Ok
}

/// Closes a filter; null is allowed.
///
/// # Safety
/// `filter` came from `lacuna_open` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_close(filter: *mut Filter) {
    if !filter.is_null() {
        // SAFETY: as the caller promises.
        drop(unsafe { Box::from_raw(filter) });
    }
}
