//! What a filter says about itself.

use std::ffi::{CStr, c_char};

use lacuna_base::{ENVELOPE_BYTES, Envelope, KeySpaceId, KindId, RangeFilter as _};
use lacuna_families::FAMILIES;

use crate::arguments::{known, lent, set, shared};
use crate::filter::{Answers, Filter};
use crate::key_type::{KeySpace, KeyType};
use crate::property::without_header;
use crate::status::{Status, attempt};

/// What the envelope of a filter says.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Info {
    /// Name of the family, such as "grafite"; "unknown" if this library does not know it. Never freed.
    pub family: *const c_char,
    /// Its number, see <https://github.com/lacuna-db/lacuna/blob/main/docs/format/envelope.md>.
    pub kind: u16,
    /// Version of the payload.
    pub payload_version: u16,
    /// What its keys are.
    pub key_space: KeySpace,
    /// What values they stand for.
    pub key_type: KeyType,
    /// Number of the codec that made the keys; 0 if they are as they were given.
    pub codec: u16,
    /// Parameter of the codec.
    pub codec_parameter: u64,
    /// Number of distinct keys.
    pub key_count: u64,
    /// Smallest key; of byte strings the eight bytes after their common prefix.
    pub smallest: u64,
    /// Largest key; of byte strings the eight bytes after their common prefix.
    pub largest: u64,
    /// Bytes after the envelope of 64.
    pub payload_bytes: u64,
}

const UNKNOWN: &CStr = c"unknown";

/// Bytes of the longest name, and the zero that ends it.
const NAME_BYTES: usize = 32;

/// The names of all families, each with zeros after it.
static NAMES: [[u8; NAME_BYTES]; FAMILIES.len()] = {
    let mut names = [[0; NAME_BYTES]; FAMILIES.len()];
    let mut family = 0;
    while family < FAMILIES.len() {
        let name = FAMILIES[family].kind.name().as_bytes();
        assert!(name.len() < NAME_BYTES, "a longer name needs more room");
        names[family].split_at_mut(name.len()).0.copy_from_slice(name);
        family += 1;
    }
    names
};

fn family_name(kind: KindId) -> &'static CStr {
    let Ok(family) = lacuna_families::family(kind) else { return UNKNOWN };
    let place = FAMILIES.iter().position(|known| known.kind == family.kind);
    place.and_then(|place| CStr::from_bytes_until_nul(&NAMES[place]).ok()).unwrap_or(UNKNOWN)
}

fn info(envelope: &Envelope, sealed_bytes: usize) -> Info {
    Info {
        family: family_name(envelope.kind).as_ptr(),
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
        payload_bytes: sealed_bytes.saturating_sub(ENVELOPE_BYTES) as u64,
    }
}

impl Filter {
    /// The family's name.
    pub(crate) fn family(&self) -> &'static str {
        family_name(self.envelope.kind).to_str().unwrap_or_default()
    }

    /// The share of "maybe" that the filter promises not to exceed, see [`lacuna_rate_bound`].
    pub(crate) fn rate_bound(&self, range_len: u64) -> f64 {
        match &self.answers {
            Answers::Integers(filter) => filter.rate_bound(range_len),
            Answers::Strings(filter) => filter.rate_bound(range_len),
        }
    }
}

/// Reads the envelope of a sealed filter or of the property of a RocksDB table, without opening it: constant time, and the
/// payload is not checked. From any thread.
///
/// # Safety
/// `size` bytes are readable at `bytes`, and `about` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_inspect(bytes: *const u8, size: usize, about: *mut Info) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        let sealed = without_header(unsafe { lent(bytes, size, "bytes") }?)?;
        let (envelope, _) = Envelope::open(sealed)?;
        // SAFETY: as the caller promises.
        unsafe { set(about, info(&envelope, sealed.len()), "about") }
    })
}

/// What `lacuna_inspect` says, of an open filter. From any thread.
///
/// # Safety
/// `filter` is open or null, and `about` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_describe(filter: *const Filter, about: *mut Info) -> Status {
    attempt(|| {
        // SAFETY: as the caller promises.
        let filter = unsafe { shared(filter, "filter") }?;
        // SAFETY: as the caller promises.
        unsafe { set(about, info(&filter.envelope, filter.as_bytes().len()), "about") }
    })
}

/// The largest share of independent ranges of `range_len` keys, without a key among them, that the filter answers "maybe",
/// whatever the keys and the queries; 1 where it promises nothing, and of null. From any thread.
///
/// # Safety
/// `filter` is open or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lacuna_rate_bound(filter: *const Filter, range_len: u64) -> f64 {
    // SAFETY: as the caller promises.
    let filter = unsafe { known(filter) };
    filter.map_or(1.0, |filter| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| filter.rate_bound(range_len))).unwrap_or(1.0)
    })
}
