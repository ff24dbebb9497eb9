//! How many keys a range holds.

use lacuna_base::{
    ByteRange, CountBounds as CoreBounds, CountEstimate as _, Error, Result, TypedKey, U64Range,
};

use crate::arguments::{lent, set, shared};
use crate::filter::{Able, Filter};
use crate::key_type::KeyTypeNumber;
use crate::status::{Status, attempt};

/// How many keys a range holds, from below and from above; both always hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct CountBounds {
    /// The range holds at least this many keys.
    pub min: u64,
    /// The range holds at most this many keys.
    pub max: u64,
}

/// No key.
const NONE: CoreBounds = CoreBounds { min: 0, max: 0 };

impl Filter {
    fn count_integers<T: TypedKey>(
        &self,
        key_type: Option<KeyTypeNumber>,
        lo: T,
        hi: T,
    ) -> Result<CoreBounds> {
        let key_type = key_type.map(KeyTypeNumber::checked).transpose()?;
        self.for_values::<T>(key_type).ok_or_else(|| self.other_values::<T>(key_type))?;
        let Able::Integers(surf) = &self.able else { return Err(self.not_able("count keys")) };
        Ok(U64Range::new(lo.to_key(), hi.to_key()).map_or(NONE, |range| surf.count_range(range)))
    }

    fn count_strings(&self, lo: &[u8], hi: &[u8]) -> Result<CoreBounds> {
        let Able::Strings(surf) = &self.able else { return Err(self.not_able("count byte strings")) };
        Ok(ByteRange::new(lo, hi).map_or(NONE, |range| surf.count_range(range)))
    }

    /// Why the filter cannot do more than say yes and no.
    pub(crate) fn not_able(&self, ability: &str) -> Error {
        if self.codec.is_some() {
            return Error::unsupported(format!("a filter whose keys went through a codec cannot {ability}"));
        }
        let family = self.family();
        Error::unsupported(format!("this {family} filter cannot {ability}; build it as: surf"))
    }
}

/// Hands over the bounds.
///
/// # Safety
/// `filter` is open or null, and `bounds` may be written or is null.
unsafe fn count(
    filter: *const Filter,
    bounds: *mut CountBounds,
    count: impl FnOnce(&Filter) -> Result<CoreBounds>,
) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        let CoreBounds { min, max } = count(unsafe { shared(filter, "filter") }?)?;
        // SAFETY: as the caller promises.
        unsafe { set(bounds, CountBounds { min, max }, "bounds") }
    })
}

/// How many keys from `lo` to `hi`, both included, a filter of unsigned integers holds: at most 2 between the bounds unless
/// the filter had to be cut to its budget. `LACUNA_STATUS_UNSUPPORTED` unless its family is "surf". From any thread.
///
/// # Safety
/// `filter` is open or null; `bounds` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_count_u64(
    filter: *const Filter,
    lo: u64,
    hi: u64,
    bounds: *mut CountBounds,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { count(filter, bounds, |filter| filter.count_integers(None, lo, hi)) }
}

/// As `lacuna_count_u64`, for a filter of signed integers, days or moments.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_count_i64(
    filter: *const Filter,
    key_type: KeyTypeNumber,
    lo: i64,
    hi: i64,
    bounds: *mut CountBounds,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { count(filter, bounds, |filter| filter.count_integers(Some(key_type), lo, hi)) }
}

/// As `lacuna_count_u64`, for a filter of floating-point numbers.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_count_f64(
    filter: *const Filter,
    lo: f64,
    hi: f64,
    bounds: *mut CountBounds,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { count(filter, bounds, |filter| filter.count_integers(None, lo, hi)) }
}

/// As `lacuna_count_u64`, for a filter of byte strings.
///
/// # Safety
/// As there; `lo_size` and `hi_size` bytes are readable at `lo` and `hi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_count_bytes(
    filter: *const Filter,
    lo: *const u8,
    lo_size: usize,
    hi: *const u8,
    hi_size: usize,
    bounds: *mut CountBounds,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe {
        count(filter, bounds, |filter| {
            filter.count_strings(lent(lo, lo_size, "lo")?, lent(hi, hi_size, "hi")?)
        })
    }
}
