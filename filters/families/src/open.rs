//! From bytes to a filter.

use lacuna_base::{DynFilter, Envelope, Error, KeySpaceId, Result};

use crate::kind::{FilterBytes, OpenFilter};

/// Opens a filter over its bytes in O(1): for bytes that somebody else has checksummed, such as an engine's block.
/// Whatever the payload holds, queries stay in bounds and terminate. The box is the only allocation.
///
/// # Errors
/// `Unsupported` if the filter is newer than this code or over other keys than `K`; `Corrupt` for anything else that
/// does not hold together. Either way: read the data.
pub fn open<K: OpenFilter + ?Sized, B: FilterBytes>(bytes: B) -> Result<Box<DynFilter<K>>> {
    let (envelope, _) = Envelope::open(bytes.as_ref())?;
    K::open_kind(envelope, bytes)
}

/// As [`open`], and checks the payload's checksum first, in time linear in its length: for files and bindings.
///
/// # Errors
/// As `open`; `Corrupt` also for every flipped bit.
pub fn open_verified<K: OpenFilter + ?Sized, B: FilterBytes>(bytes: B) -> Result<Box<DynFilter<K>>> {
    let (envelope, _) = Envelope::open_verified(bytes.as_ref())?;
    K::open_kind(envelope, bytes)
}

/// A filter over whichever keys its envelope names.
#[derive(Debug)]
pub enum AnyFilter {
    /// Over integers.
    U64(Box<DynFilter<u64>>),
    /// Over byte strings.
    Bytes(Box<DynFilter<[u8]>>),
}

impl AnyFilter {
    /// As [`open_verified`], for keys known only from the bytes.
    ///
    /// # Errors
    /// As `open_verified`.
    pub fn open_verified<B: FilterBytes>(bytes: B) -> Result<(Envelope, Self)> {
        let (envelope, _) = Envelope::open_verified(bytes.as_ref())?;
        let filter = match envelope.key_space {
            KeySpaceId::U64 => Self::U64(u64::open_kind(envelope, bytes)?),
            KeySpaceId::Bytes => Self::Bytes(<[u8]>::open_kind(envelope, bytes)?),
        };
        Ok((envelope, filter))
    }
}

/// Refuses a payload newer than `newest`.
pub(crate) fn check_version(envelope: &Envelope, newest: u16) -> Result<()> {
    match envelope.payload_version {
        0 => Err(Error::corrupt("payload version 0 was never written")),
        version if version <= newest => Ok(()),
        version => Err(Error::unsupported(format!(
            "the filter's payload has version {version}, this code reads up to {newest}; update it"
        ))),
    }
}
