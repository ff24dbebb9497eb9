//! A sealed filter of any origin, open.

use std::ffi::{CString, c_uint};
use std::slice;
use std::sync::OnceLock;

use lacuna_base::{AlignedBytes, DynFilter, Envelope, Error, FixedBe, KeySpaceId, Result};
use lacuna_families::{OpenFilter as _, Surf};
use lacuna_guard::GuardCodec;

use crate::arguments::{Bytes, free, known, lent, set};
use crate::key_type::Values;
use crate::property::without_header;
use crate::status::{Status, attempt};

/// An open filter. Functions that take it as `const` may be called from several threads at once, take no lock, and allocate
/// nothing unless they say so.
pub struct Filter {
    pub(crate) answers: Answers,
    pub(crate) able: Able,
    pub(crate) codec: Option<GuardCodec>,
    asked_with: Option<Values>,
    pub(crate) key_type: lacuna_base::KeyType,
    pub(crate) envelope: Envelope,
    pub(crate) design: Option<String>,
    pub(crate) explanation: OnceLock<CString>,
    bytes: Kept,
    // Dropped last: the fields above look into it.
    _owned: Option<AlignedBytes>,
}

/// The answerer over whichever keys the envelope names.
pub(crate) enum Answers {
    Integers(Box<DynFilter<u64>>),
    Strings(Box<DynFilter<[u8]>>),
}

/// The same filter, where it can count, name next keys and compare prefixes.
pub(crate) enum Able {
    Integers(Surf<u64, Kept>),
    Strings(Surf<[u8], Kept>),
    Neither,
}

/// Sealed bytes that stay where they are as long as the filter over them is open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    first: *const u8,
    size: usize,
}

// SAFETY: the bytes are only read.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

impl AsRef<[u8]> for Kept {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        // SAFETY: made from a slice in `Filter::over`, whose caller keeps it alive and unchanged.
        unsafe { slice::from_raw_parts(self.first, self.size) }
    }
}

impl Filter {
    /// A filter over bytes of its own.
    pub(crate) fn owning(bytes: AlignedBytes) -> Result<Self> {
        // SAFETY: the heap buffer stays in place when `bytes` moves, and the filter keeps it.
        let filter = unsafe { Self::over(&bytes) }?;
        Ok(Self { _owned: Some(bytes), ..filter })
    }

    /// A filter over bytes that are kept elsewhere.
    ///
    /// # Safety
    /// The bytes stay where they are and as they are until the filter is dropped.
    unsafe fn over(bytes: &[u8]) -> Result<Self> {
        let (envelope, _) = Envelope::open(bytes)?;
        let kept = Kept { first: bytes.as_ptr(), size: bytes.len() };
        let codec = match envelope.codec {
            lacuna_base::CodecId::IDENTITY => None,
            id => Some(GuardCodec::from_id(id, envelope.key_space)?),
        };
        let answers = match envelope.key_space {
            KeySpaceId::U64 => Answers::Integers(u64::open_kind(envelope, kept)?),
            KeySpaceId::Bytes => Answers::Strings(<[u8]>::open_kind(envelope, kept)?),
        };
        Ok(Self {
            able: if codec.is_none() { Able::over(envelope.key_space, kept) } else { Able::Neither },
            asked_with: asked_with(&envelope),
            key_type: envelope.key_type,
            answers,
            codec,
            envelope,
            design: None,
            explanation: OnceLock::new(),
            bytes: kept,
            _owned: None,
        })
    }

    /// Sets what the filter was chosen from.
    pub(crate) fn with_design(mut self, design: Option<String>) -> Self {
        self.design = design;
        self
    }

    /// The sealed bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The answerer for values of this type; `None` if the filter's keys stand for others.
    #[inline]
    pub(crate) fn for_integers(&self, values: Values) -> Option<&DynFilter<u64>> {
        match &self.answers {
            Answers::Integers(filter) if self.asked_with == Some(values) => Some(&**filter),
            _ => None,
        }
    }
}

impl Able {
    fn over(key_space: KeySpaceId, bytes: Kept) -> Self {
        match key_space {
            KeySpaceId::U64 => Surf::<u64, _>::open(bytes).map_or(Self::Neither, Self::Integers),
            KeySpaceId::Bytes => Surf::<[u8], _>::open(bytes).map_or(Self::Neither, Self::Strings),
        }
    }
}

/// The values that a filter is asked with.
///
/// Integers without a type are asked as they are, and so are big-endian integers of a fixed width, whose keys are these
/// integers. Other codecs lose some of a key: only the bytes of a key say what it became.
fn asked_with(envelope: &Envelope) -> Option<Values> {
    match (envelope.key_space, envelope.codec.number) {
        (KeySpaceId::Bytes, _) => Some(Values::Strings),
        (KeySpaceId::U64, 0 | FixedBe::NUMBER) => match envelope.key_type {
            lacuna_base::KeyType::Unknown => Some(Values::Unsigned),
            noted => Values::of(noted),
        },
        (KeySpaceId::U64, _) => None,
    }
}

/// How much of a filter is checked when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Verify {
    /// Every byte, in time linear in their number: for files of one's own.
    All = 0,
    /// The first 64 bytes and the lengths, in constant time: for bytes that another layer has checksummed. Damaged bytes
    /// can then give wrong answers, but no question leaves them.
    Envelope = 1,
}

/// A `Verify` from C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct VerifyNumber(pub c_uint);

impl VerifyNumber {
    fn check(self, sealed: &[u8]) -> Result<()> {
        match self.0 {
            0 => Envelope::open_verified(sealed).map(drop),
            1 => Envelope::open(sealed).map(drop),
            number => {
                Err(Error::invalid_input(format!("{number} is no way to verify; give a LACUNA_VERIFY_...")))
            }
        }
    }
}

/// Makes a filter and hands it over; `*place` is null on failure.
///
/// # Safety
/// If `place` is not null, it may be written.
pub(crate) unsafe fn give(place: *mut *mut Filter, make: impl FnOnce() -> Result<Filter>) -> Result<()> {
    // SAFETY: as the caller promises.
    unsafe { set(place, std::ptr::null_mut(), "filter") }?;
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: as the caller promises.
    unsafe { set(place, made, "filter") }
}

/// Opens a copy of a sealed filter and checks all of it: what `lacuna build` or any binding wrote, or the property of a
/// RocksDB table. On success `*filter` is to be closed with `lacuna_close`; on failure it is null. From any thread.
///
/// # Safety
/// `size` bytes are readable at `bytes`, and `filter` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_open(bytes: *const u8, size: usize, filter: *mut *mut Filter) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe {
        give(filter, || {
            let sealed = without_header(lent(bytes, size, "bytes")?)?;
            Envelope::open_verified(sealed)?;
            Filter::owning(AlignedBytes::copy_of(sealed))
        })
    })
}

/// Opens a filter where its bytes are, such as in a memory map: nothing is copied, any alignment will do, and the bytes must
/// stay as they are until `lacuna_close`. Otherwise as `lacuna_open`.
///
/// # Safety
/// As there; and the bytes stay readable and unchanged until the filter is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_open_borrowed(
    bytes: *const u8,
    size: usize,
    verify: VerifyNumber,
    filter: *mut *mut Filter,
) -> Status {
    // SAFETY: as the caller promises.
    attempt(|| unsafe {
        give(filter, || {
            let sealed = without_header(lent(bytes, size, "bytes")?)?;
            verify.check(sealed)?;
            Filter::over(sealed)
        })
    })
}

/// The sealed bytes of a filter, to be written to a file or sent: they are the filter's own and valid until it is closed.
/// Of a null filter no bytes. From any thread.
///
/// # Safety
/// `filter` is open or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_bytes(filter: *const Filter) -> Bytes {
    // SAFETY: as the caller promises.
    let bytes = unsafe { known(filter) }.map_or(&[][..], Filter::as_bytes);
    Bytes { data: bytes.as_ptr(), size: bytes.len() }
}

/// Closes a filter; null is allowed. No other thread may be using it.
///
/// # Safety
/// `filter` came from this library and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_close(filter: *mut Filter) {
    // SAFETY: as the caller promises.
    unsafe { free(filter) }
}
