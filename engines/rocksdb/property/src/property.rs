//! The bytes of the property: sixteen of its own, then the sealed filter.

use std::ops::Range;

use lacuna_base::{Envelope, Error, Result};
use lacuna_guard::GuardCodec;

use crate::partitions::directory;
use crate::verified;

/// Name of the property. It never changes; what the bytes mean is in their version, so that an older reader that meets
/// a newer filter can say so.
pub const PROPERTY_NAME: &str = "lacuna.filter";

/// Bytes before the sealed filter. The heap blocks that RocksDB keeps properties in start on 16 bytes.
const HEADER_BYTES: usize = 16;
/// The checksums of payload and envelope in a sealed filter.
const CHECKSUMS: Range<usize> = 56..64;
/// Version that this code writes, and the newest it reads.
const VERSION: u8 = 1;
/// Level byte of a table whose level was not known.
const NO_LEVEL: u8 = 0xFF;

/// A property taken apart. The codec of the keys is in the envelope of the sealed filter.
///
/// ```
/// use lacuna_rocksdb_property::Property;
///
/// let bytes = Property { level: Some(3), sealed: b"sealed" }.to_bytes();
/// assert_eq!(bytes.len(), 16 + 6);
/// let read = Property::parse(&bytes)?;
/// assert_eq!((read.level, read.sealed), (Some(3), &b"sealed"[..]));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Property<'a> {
    /// Level that the table was written for, under which questions are counted. A table that is only moved keeps it.
    pub level: Option<usize>,
    /// Envelope and payload of the filter.
    pub sealed: &'a [u8],
}

impl<'a> Property<'a> {
    /// The property as RocksDB stores it. Levels from 255 on are written as unknown.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.sealed.len());
        bytes.extend_from_slice(&[0; HEADER_BYTES]);
        bytes[0] = VERSION;
        bytes[1] = level_byte(self.level);
        bytes.extend_from_slice(self.sealed);
        bytes
    }

    /// Takes a stored property apart, in O(1).
    ///
    /// # Errors
    /// `Unsupported` for a newer version, a filter in partitions, or a header byte that this version leaves zero; `Corrupt`
    /// if it is cut short.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let (header, sealed) = bytes
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or_else(|| Error::corrupt("a filter property of fewer than 16 bytes"))?;
        let [version, level, reserved @ ..] = header;
        match *version {
            0 => return Err(Error::corrupt("filter property version 0 was never written")),
            VERSION if reserved.iter().all(|&byte| byte == 0) => {}
            directory::VERSION => {
                return Err(Error::unsupported(
                    "the filter is in partitions; name their folder by `with_partitions`",
                ));
            }
            _ => return Err(Error::unsupported("the filter property is newer than this code; update it")),
        }
        Ok(Self { level: level_of(*level), sealed })
    }

    /// The envelope of the filter, for those whose keys go through `codec`. O(1).
    ///
    /// # Errors
    /// `Unsupported` if its keys went through another codec or are newer than this code, `Corrupt` if it does not hold
    /// together.
    pub(crate) fn envelope(&self, codec: &GuardCodec) -> Result<Envelope> {
        let (envelope, _) = Envelope::open(self.sealed)?;
        if envelope.key_space != codec.key_space() || envelope.codec != codec.id() {
            return Err(Error::unsupported(
                "the filter's keys went through another codec; reading the table",
            ));
        }
        Ok(envelope)
    }

    /// Makes sure that the payload is what was written, in time linear in its length for the first question to a table.
    ///
    /// # Errors
    /// As [`Envelope::open_verified`].
    pub(crate) fn verify(&self) -> Result<()> {
        Envelope::open(self.sealed)?;
        let stored =
            self.sealed.get(CHECKSUMS).and_then(<[u8]>::first_chunk).expect("the envelope was opened");
        let is_intact = || Envelope::open_verified(self.sealed).is_ok();
        if verified::is_intact(self.sealed, u64::from_le_bytes(*stored), is_intact) {
            return Ok(());
        }
        Err(Error::corrupt("the payload of a filter property is not what was written; reading the table"))
    }

    /// Bytes that a property of `property_bytes` leaves to the sealed filter.
    pub(crate) fn room_for_sealed(property_bytes: usize) -> usize {
        property_bytes.saturating_sub(HEADER_BYTES)
    }
}

/// A level as the byte that stands for it.
pub(crate) fn level_byte(level: Option<usize>) -> u8 {
    level.and_then(|level| u8::try_from(level).ok()).unwrap_or(NO_LEVEL)
}

/// The level that a byte stands for.
pub(crate) fn level_of(byte: u8) -> Option<usize> {
    Some(usize::from(byte)).filter(|_| byte != NO_LEVEL)
}

#[cfg(test)]
mod tests {
    use lacuna_base::ErrorKind;

    use super::*;

    #[test]
    fn what_was_written_is_read() {
        for level in [None, Some(0), Some(6), Some(254)] {
            let property = Property { level, sealed: b"x" };
            assert_eq!(Property::parse(&property.to_bytes()).unwrap(), property);
        }
        assert_eq!(
            Property::parse(&Property { level: Some(999), sealed: b"" }.to_bytes()).unwrap().level,
            None
        );
    }

    #[test]
    fn newer_properties_are_unsupported_and_cut_ones_corrupt() {
        let kind = |bytes: &[u8]| Property::parse(bytes).unwrap_err().kind();
        let mut bytes = Property { level: None, sealed: b"sealed" }.to_bytes();
        assert_eq!(kind(&bytes[..15]), ErrorKind::Corrupt);
        bytes[15] = 1;
        assert_eq!(kind(&bytes), ErrorKind::Unsupported);
        bytes[0] = 2;
        assert_eq!(kind(&bytes), ErrorKind::Unsupported);
        bytes[0] = 0;
        assert_eq!(kind(&bytes), ErrorKind::Corrupt);
    }
}
