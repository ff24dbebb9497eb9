//! The 64 bytes before every payload: what the filter is, what its keys were, and two checksums.
//!
//! The byte table stands in [`docs/format/envelope.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/envelope.md). Everything is little-endian and read by value, so the bytes may
//! start anywhere.

use crate::codec::{CodecId, FixedBe};
use crate::error::{Error, Result};
use crate::key::KeySpaceId;
use crate::key_type::KeyType;

/// Bytes of the envelope.
pub const ENVELOPE_BYTES: usize = 64;
/// Version of the envelope that this code writes, and the newest that it reads.
pub const ENVELOPE_VERSION: u8 = 1;

/// First bytes of every sealed filter.
const MAGIC: [u8; 4] = *b"LCNA";

/// The number of a family in the envelope. Numbers from `0x8000` are free for families outside this project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindId(pub u16);

/// The fields of the envelope, without lengths and checksums.
///
/// ```
/// use lacuna_base::{CodecId, Envelope, KeySpaceId, KeyType, KindId, Sealed};
///
/// let envelope = Envelope {
///     kind: KindId(0x8001),
///     payload_version: 1,
///     key_space: KeySpaceId::U64,
///     codec: CodecId::IDENTITY,
///     key_type: KeyType::U64,
///     key_count: 2,
///     smallest: 3,
///     largest: 9,
/// };
/// let sealed = Sealed::assemble(&envelope, b"payload");
/// let (read, payload) = Envelope::open_verified(sealed.as_bytes()).expect("just sealed");
/// assert_eq!((read, payload), (envelope, &b"payload"[..]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope {
    /// Family of the payload.
    pub kind: KindId,
    /// Version of the payload's format.
    pub payload_version: u16,
    /// Key space of the keys.
    pub key_space: KeySpaceId,
    /// Codec that made the keys.
    pub codec: CodecId,
    /// Type of the values that the keys stand for.
    pub key_type: KeyType,
    /// Number of distinct keys.
    pub key_count: u64,
    /// Smallest key; for byte strings what the [`Window`](crate::Window) after the stored prefix reads there.
    pub smallest: u64,
    /// Largest key; for byte strings what the window reads there.
    pub largest: u64,
}

impl Envelope {
    /// Makes sure that the keys of the filter are what the caller's keys are: bytes as they are, or integers that
    /// big-endian bytes of one width stand for.
    ///
    /// # Errors
    /// `Unsupported` after a codec that loses some of a key, or adds to it: only the guard that holds this codec can ask,
    /// anybody else would be denied keys that are there.
    pub fn check_asked_directly(&self) -> Result<()> {
        let is_whole = self.codec == CodecId::IDENTITY
            || (self.key_space == KeySpaceId::U64 && self.codec.number == FixedBe::NUMBER);
        if is_whole {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "the filter's keys went through codec {}, which changes them: ask it where it was made",
            self.codec.number
        )))
    }

    /// The 64 bytes to stand before `payload`.
    pub(crate) fn encode(&self, payload: &[u8]) -> [u8; ENVELOPE_BYTES] {
        let mut bytes = [0; ENVELOPE_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[4] = ENVELOPE_VERSION;
        bytes[5] = self.key_space as u8;
        bytes[6..8].copy_from_slice(&self.kind.0.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.payload_version.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.codec.number.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.key_type.to_le_bytes());
        // Bytes 14..16 are the flags; none is defined yet.
        bytes[16..24].copy_from_slice(&self.codec.parameter.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.key_count.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.smallest.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.largest.to_le_bytes());
        bytes[48..56].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes[56..60].copy_from_slice(&crc32c::crc32c(payload).to_le_bytes());
        let header_crc = crc32c::crc32c(&bytes[..60]);
        bytes[60..64].copy_from_slice(&header_crc.to_le_bytes());
        bytes
    }

    /// Reads the envelope and splits off the payload, in O(1) and without allocating on success: for bytes that
    /// another layer has checksummed, such as an engine's block.
    ///
    /// # Errors
    /// `Unsupported` for a newer envelope, key space, key type or flag; `Corrupt` for anything else that does not hold together.
    pub fn open(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let Some(header) = bytes.first_chunk::<ENVELOPE_BYTES>() else { return Err(too_short(bytes)) };
        check_identity(header)?;
        let envelope = Self::decode(header)?;
        let payload = &bytes[ENVELOPE_BYTES..];
        let expected = u64_at(header, 48);
        if expected != payload.len() as u64 {
            return Err(Error::corrupt(format!(
                "the envelope promises {expected} payload bytes, but {} follow; the file was cut or appended to",
                payload.len()
            )));
        }
        Ok((envelope, payload))
    }

    /// As [`open`](Self::open), and checks the payload too, in time linear in its length: for files and bindings.
    ///
    /// # Errors
    /// As `open`; `Corrupt` also for every flipped bit of the payload.
    pub fn open_verified(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let (envelope, payload) = Self::open(bytes)?;
        let (stored, computed) = (u32_at(bytes, 56), crc32c::crc32c(payload));
        if stored == computed {
            Ok((envelope, payload))
        } else {
            Err(Error::corrupt(format!(
                "the payload's checksum is {computed:08x}, not {stored:08x} as stored; rebuild the filter"
            )))
        }
    }

    fn decode(header: &[u8; ENVELOPE_BYTES]) -> Result<Self> {
        let key_space = KeySpaceId::from_number(header[5]).ok_or_else(|| {
            Error::unsupported(format!("key space {} is not known to this version", header[5]))
        })?;
        let envelope = Self {
            kind: KindId(u16_at(header, 6)),
            payload_version: u16_at(header, 8),
            key_space,
            codec: CodecId { number: u16_at(header, 10), parameter: u64_at(header, 16) },
            key_type: KeyType::from_le_bytes([header[12], header[13]])?,
            key_count: u64_at(header, 24),
            smallest: u64_at(header, 32),
            largest: u64_at(header, 40),
        };
        if envelope.key_count > 0 && envelope.smallest > envelope.largest {
            return Err(Error::corrupt("the envelope's smallest key is above its largest"));
        }
        if envelope.key_type.key_space().is_some_and(|of_type| of_type != key_space) {
            return Err(Error::corrupt("the envelope's key type is not of its key space"));
        }
        Ok(envelope)
    }
}

/// Bytes without a whole envelope: no filter, or the beginning of one.
fn too_short(bytes: &[u8]) -> Error {
    let len = bytes.len();
    if len > 0 && bytes.starts_with(&MAGIC[..len.min(MAGIC.len())]) {
        return Error::corrupt(format!(
            "the filter was cut: {len} bytes are too few, since its envelope alone has {ENVELOPE_BYTES}"
        ));
    }
    match len {
        0 => Error::corrupt("there are no bytes, so this is not a Lacuna filter"),
        _ => foreign(),
    }
}

fn foreign() -> Error {
    Error::corrupt("this is not a Lacuna filter: the first four bytes are not `LCNA`")
}

fn check_identity(header: &[u8; ENVELOPE_BYTES]) -> Result<()> {
    if header[..4] != MAGIC {
        return Err(foreign());
    }
    if header[4] > ENVELOPE_VERSION {
        return Err(Error::unsupported(format!(
            "the filter has envelope version {}, this code reads up to {ENVELOPE_VERSION}; update it",
            header[4]
        )));
    }
    let (stored, computed) = (u32_at(header, 60), crc32c::crc32c(&header[..60]));
    if stored != computed {
        return Err(Error::corrupt(format!(
            "the envelope's checksum is {computed:08x}, not {stored:08x} as stored"
        )));
    }
    let flags = u16_at(header, 14);
    if header[4] == 0 || flags != 0 {
        return Err(Error::unsupported(format!("envelope flags {flags:#x} are not known to this version")));
    }
    Ok(())
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("the header has 64 bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("the header has 64 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::key_type::TimeUnit;
    use crate::sealed::Sealed;

    fn sealed(key_space: KeySpaceId, key_type: KeyType) -> Vec<u8> {
        let (kind, codec) = (KindId(5), CodecId::IDENTITY);
        let envelope = Envelope {
            kind,
            payload_version: 1,
            key_space,
            codec,
            key_type,
            key_count: 1,
            smallest: 3,
            largest: 3,
        };
        Sealed::assemble(&envelope, &[]).as_bytes().to_vec()
    }

    /// A sealed filter with these bytes of its header, checksum fitted.
    fn changed(at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut header = sealed(KeySpaceId::U64, KeyType::U64);
        header[at..at + bytes.len()].copy_from_slice(bytes);
        let crc = crc32c::crc32c(&header[..60]).to_le_bytes();
        header[60..64].copy_from_slice(&crc);
        header
    }

    #[test]
    fn key_types_stand_at_their_bytes() {
        let moments = KeyType::Timestamp(TimeUnit::Milliseconds);
        for (key_space, key_type, bytes) in [
            (KeySpaceId::U64, KeyType::Unknown, [0, 0, 0, 0]),
            (KeySpaceId::Bytes, KeyType::Unknown, [0, 0, 0, 0]),
            (KeySpaceId::U64, KeyType::F64, [3, 0, 0, 0]),
            (KeySpaceId::U64, moments, [5, 1, 0, 0]),
            (KeySpaceId::Bytes, KeyType::Tuple, [8, 0, 0, 0]),
        ] {
            let sealed = sealed(key_space, key_type);
            assert_eq!(sealed[12..16], bytes);
            assert_eq!(Envelope::open_verified(&sealed).unwrap().0.key_type, key_type);
        }
    }

    #[test]
    fn what_a_newer_version_wrote_is_unsupported() {
        for (at, bytes) in [(12, &[9, 0][..]), (12, &[5, 3]), (14, &[1, 0]), (14, &[0, 128])] {
            let kind = Envelope::open(&changed(at, bytes)).unwrap_err().kind();
            assert_eq!(kind, ErrorKind::Unsupported, "{bytes:?} at {at}");
        }
    }

    #[test]
    fn bytes_that_are_no_filter_are_called_so() {
        for (bytes, said) in [
            (&b""[..], "no bytes, so this is not a Lacuna filter"),
            (b"n", "not a Lacuna filter"),
            (b"no filter", "not a Lacuna filter"),
            (&[7; 100], "not a Lacuna filter"),
            (b"LC", "the filter was cut: 2 bytes"),
            (b"LCNA and then nothing", "the filter was cut: 21 bytes"),
        ] {
            let error = Envelope::open(bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(error.to_string().contains(said), "{bytes:?}: {error}");
        }
    }

    #[test]
    fn a_type_of_the_other_key_space_is_damage() {
        let kind = Envelope::open(&changed(12, &[6, 0])).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::Corrupt);
    }
}
