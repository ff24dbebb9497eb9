//! The next key that may be there.

use std::cell::RefCell;
use std::ffi::c_uint;

use lacuna_base::{Candidate as CoreCandidate, Error, Result, SeekCandidate};

use crate::arguments::{filled, lent, set, shared};
use crate::filter::{Able, Filter};
use crate::key_type::KeyTypeNumber;
use crate::status::{Status, attempt};
use crate::value::KeyValue;

/// Which way a seek goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Direction {
    /// To the smallest key at or above the start.
    Up = 0,
    /// To the largest key at or below it.
    Down = 1,
}

/// A `Direction` from C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct DirectionNumber(pub c_uint);

impl DirectionNumber {
    fn checked(self) -> Result<Direction> {
        match self.0 {
            0 => Ok(Direction::Up),
            1 => Ok(Direction::Down),
            number => {
                Err(Error::invalid_input(format!("{number} is no direction; give a LACUNA_DIRECTION_...")))
            }
        }
    }
}

/// What a seek has found. A candidate is seldom a key itself: no key lies between the start and it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Candidate {
    /// Whether there is a candidate; without one, no key lies in this direction.
    pub found: bool,
    /// Whether a key surely lies at or beyond the candidate.
    pub is_certain: bool,
    /// Whether the candidate itself is known to be no key. Only of byte strings, downwards.
    pub is_excluded: bool,
}

impl From<Option<CoreCandidate>> for Candidate {
    fn from(candidate: Option<CoreCandidate>) -> Self {
        candidate.map_or(Self::default(), |CoreCandidate { is_certain, is_excluded }| Self {
            found: true,
            is_certain,
            is_excluded,
        })
    }
}

thread_local! {
    /// Where a candidate of byte strings is put together: it allocates only while it grows.
    static CANDIDATE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Filter {
    fn seek_integers<T: KeyValue>(
        &self,
        key_type: Option<KeyTypeNumber>,
        direction: DirectionNumber,
        from: T,
    ) -> Result<(Option<CoreCandidate>, T)> {
        let key_type = key_type.map(KeyTypeNumber::checked).transpose()?;
        self.for_values::<T>(key_type).ok_or_else(|| self.other_values::<T>(key_type))?;
        let Able::Integers(surf) = &self.able else { return Err(self.not_able("name next keys")) };
        let mut candidate = 0;
        let found = match direction.checked()? {
            Direction::Up => surf.first_candidate(from.to_key(), &mut candidate),
            Direction::Down => surf.last_candidate(from.to_key(), &mut candidate),
        };
        Ok((found, T::from_key(candidate)))
    }

    fn seek_strings(
        &self,
        direction: DirectionNumber,
        from: &[u8],
        candidate: &mut Vec<u8>,
    ) -> Result<Option<CoreCandidate>> {
        let Able::Strings(surf) = &self.able else { return Err(self.not_able("name next byte strings")) };
        Ok(match direction.checked()? {
            Direction::Up => surf.first_candidate(from, candidate),
            Direction::Down => surf.last_candidate(from, candidate),
        })
    }
}

/// Hands over the candidate.
///
/// # Safety
/// `filter` is open or null; `key` and `candidate` may be written or are null.
unsafe fn seek<T: KeyValue>(
    filter: *const Filter,
    (key, candidate): (*mut T, *mut Candidate),
    seek: impl FnOnce(&Filter) -> Result<(Option<CoreCandidate>, T)>,
) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        let (found, value) = seek(unsafe { shared(filter, "filter") }?)?;
        // SAFETY: as the caller promises.
        unsafe {
            set(key, value, "key")?;
            set(candidate, found.into(), "candidate")
        }
    })
}

/// Names the next key that a filter of unsigned integers may hold, at `from` or beyond it in this direction: an engine opens
/// files in the order of their candidates, and stops when a key that it has read is before every candidate left.
/// `LACUNA_STATUS_UNSUPPORTED` unless the family is "surf". From any thread.
///
/// # Safety
/// `filter` is open or null; `key` and `candidate` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_seek_u64(
    filter: *const Filter,
    direction: DirectionNumber,
    from: u64,
    key: *mut u64,
    candidate: *mut Candidate,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { seek(filter, (key, candidate), |filter| filter.seek_integers(None, direction, from)) }
}

/// As `lacuna_seek_u64`, for a filter of signed integers, days or moments.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_seek_i64(
    filter: *const Filter,
    key_type: KeyTypeNumber,
    direction: DirectionNumber,
    from: i64,
    key: *mut i64,
    candidate: *mut Candidate,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { seek(filter, (key, candidate), |filter| filter.seek_integers(Some(key_type), direction, from)) }
}

/// As `lacuna_seek_u64`, for a filter of floating-point numbers.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_seek_f64(
    filter: *const Filter,
    direction: DirectionNumber,
    from: f64,
    key: *mut f64,
    candidate: *mut Candidate,
) -> Status {
    // SAFETY: as the caller promises.
    unsafe { seek(filter, (key, candidate), |filter| filter.seek_integers(None, direction, from)) }
}

/// As `lacuna_seek_u64`, for a filter of byte strings. The candidate is written to `key`, which has room for `capacity`
/// bytes, and its length to `*key_size`; where there is too little room, only the length is, and the status is
/// `LACUNA_STATUS_INVALID_INPUT`. Allocates if the candidate is longer than all before it in this thread.
///
/// # Safety
/// As there; `from_size` bytes are readable at `from`, `capacity` may be written at `key`, and `key_size` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_seek_bytes(
    filter: *const Filter,
    direction: DirectionNumber,
    from: *const u8,
    from_size: usize,
    key: *mut u8,
    capacity: usize,
    key_size: *mut usize,
    candidate: *mut Candidate,
) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        let (filter, from) = unsafe { (shared(filter, "filter")?, lent(from, from_size, "from")?) };
        let seek = |place: &mut Vec<u8>| {
            place.clear();
            let found = filter.seek_strings(direction, from, place)?;
            let size = if found.is_some() { place.len() } else { 0 };
            // SAFETY: as the caller promises.
            unsafe { set(key_size, size, "key_size") }?;
            if size > capacity {
                let message = format!("the candidate has {size} bytes, but there is room for {capacity}");
                return Err(Error::invalid_input(message));
            }
            // SAFETY: as the caller promises; the size is at most the capacity.
            unsafe { filled(key, size, 0, "key") }?.copy_from_slice(&place[..size]);
            // SAFETY: as the caller promises.
            unsafe { set(candidate, found.into(), "candidate") }
        };
        // A thread that ends may have lost the place before it calls for the last time.
        CANDIDATE.try_with(|place| seek(&mut place.borrow_mut())).unwrap_or_else(|_| seek(&mut Vec::new()))
    })
}
