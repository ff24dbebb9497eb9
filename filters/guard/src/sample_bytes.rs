//! A sample of queries as bytes, so that a process which never sees a query can build for them.
//!
//! A compactor that runs on its own machine writes filters but answers no scan. The readers write their sample next to
//! the database, the compactor seeds its queue from it. The byte table stands in
//! [`docs/format/sample.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/sample.md): a header of
//! 40 bytes with two checksums, then the queries. Reading checks everything: these bytes have no other checksum.

use lacuna_base::{CodecId, Error, Result, Sample};

use crate::codec::GuardCodec;

/// Version that this code writes, and the newest it reads.
pub(crate) const SAMPLE_VERSION: u8 = 1;

/// First bytes of every sample.
const MAGIC: [u8; 4] = *b"LCNS";
/// Bytes of the header.
const HEADER_BYTES: usize = 40;

/// The sample as bytes; `codec` is the one its queries went through.
pub(crate) fn sample_to_bytes<K: SampleKey + ?Sized>(sample: &Sample<K>, codec: &GuardCodec) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_BYTES];
    for (lo, hi) in sample.iter() {
        K::write_query(&mut bytes, lo, hi);
    }
    let (header, body) = bytes.split_at_mut(HEADER_BYTES);
    let CodecId { number, parameter } = codec.id();
    header[0..4].copy_from_slice(&MAGIC);
    header[4] = SAMPLE_VERSION;
    header[5] = K::ID as u8;
    header[6..8].copy_from_slice(&number.to_le_bytes());
    header[8..16].copy_from_slice(&parameter.to_le_bytes());
    header[16..24].copy_from_slice(&(sample.len() as u64).to_le_bytes());
    header[24..32].copy_from_slice(&(body.len() as u64).to_le_bytes());
    header[32..36].copy_from_slice(&crc32c::crc32c(body).to_le_bytes());
    let checksum = crc32c::crc32c(&header[..36]);
    header[36..40].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Reads a sample whose queries went through `codec`.
///
/// # Errors
/// `Unsupported` for a newer version, another key space or another codec; `Corrupt` for every flipped bit, cut and
/// inverted query.
pub(crate) fn sample_from_bytes<K: SampleKey + ?Sized>(
    bytes: &[u8],
    codec: &GuardCodec,
) -> Result<Sample<K>> {
    let (header, body) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or_else(cut)?;
    check_header(header)?;
    if header[5] != K::ID as u8 || codec_in(header) != codec.id() {
        return Err(Error::unsupported(format!(
            "the sample was taken through another codec than {codec}; take a new one"
        )));
    }
    if u64_at(header, 24) != body.len() as u64 || u32_at(header, 32) != crc32c::crc32c(body) {
        return Err(Error::corrupt(
            "the sample's queries do not match their length or checksum; take a new one",
        ));
    }
    let mut sample = Sample::new();
    let mut rest = body;
    for _ in 0..u64_at(header, 16) {
        let (lo, hi) = K::read_query(&mut rest).ok_or_else(cut)?;
        sample.push(lo, hi);
    }
    if rest.is_empty() && sample.len() as u64 == u64_at(header, 16) {
        Ok(sample)
    } else {
        Err(Error::corrupt("the sample holds an inverted query, or bytes follow the last one"))
    }
}

fn check_header(header: &[u8; HEADER_BYTES]) -> Result<()> {
    if header[..4] != MAGIC {
        return Err(Error::corrupt("this is not a sample of queries: the first four bytes are not `LCNS`"));
    }
    if header[4] > SAMPLE_VERSION {
        return Err(Error::unsupported(format!(
            "the sample has version {}, this code reads up to {SAMPLE_VERSION}; update it",
            header[4]
        )));
    }
    if header[4] == 0 || u32_at(header, 36) != crc32c::crc32c(&header[..36]) {
        return Err(Error::corrupt("the header of the sample does not match its checksum"));
    }
    Ok(())
}

fn codec_in(header: &[u8; HEADER_BYTES]) -> CodecId {
    CodecId { number: u16::from_le_bytes([header[6], header[7]]), parameter: u64_at(header, 8) }
}

fn cut() -> Error {
    Error::corrupt("the sample ends before its last query; it was cut")
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("the header has 40 bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("the header has 40 bytes"))
}

/// A key space whose queries have a byte form.
pub(crate) trait SampleKey: lacuna_base::KeySpace {
    /// Appends one query.
    #[doc(hidden)]
    fn write_query(bytes: &mut Vec<u8>, lo: Self::Ref<'_>, hi: Self::Ref<'_>);
    /// Takes one query off the front.
    #[doc(hidden)]
    fn read_query<'a>(rest: &mut &'a [u8]) -> Option<(Self::Ref<'a>, Self::Ref<'a>)>;
    /// Bytes of an end.
    #[doc(hidden)]
    fn end_bytes(end: Self::Ref<'_>) -> usize;
}

impl SampleKey for u64 {
    fn write_query(bytes: &mut Vec<u8>, lo: u64, hi: u64) {
        bytes.extend_from_slice(&lo.to_le_bytes());
        bytes.extend_from_slice(&hi.to_le_bytes());
    }
    fn read_query(rest: &mut &[u8]) -> Option<(u64, u64)> {
        Some((u64::from_le_bytes(take(rest)?), u64::from_le_bytes(take(rest)?)))
    }
    fn end_bytes(_: u64) -> usize {
        size_of::<u64>()
    }
}

impl SampleKey for [u8] {
    fn write_query(bytes: &mut Vec<u8>, lo: &[u8], hi: &[u8]) {
        for end in [lo, hi] {
            let length = u32::try_from(end.len()).expect("engines keep keys far below 4 GiB");
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(end);
        }
    }
    fn read_query<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        Some((take_string(rest)?, take_string(rest)?))
    }
    fn end_bytes(end: &[u8]) -> usize {
        end.len()
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk::<N>()?;
    *rest = left;
    Some(*taken)
}

fn take_string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(u32::from_le_bytes(take(rest)?)).ok()?;
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use lacuna_base::ErrorKind;

    use super::*;

    fn strings() -> Sample<[u8]> {
        let mut sample = Sample::new();
        sample.push(&b""[..], &b"a"[..]);
        sample.push(&b"abc"[..], &b"abd\0"[..]);
        sample
    }

    #[test]
    fn samples_are_read_back() {
        let codec = GuardCodec::bytes();
        let read = sample_from_bytes::<[u8]>(&sample_to_bytes(&strings(), &codec), &codec).unwrap();
        assert!(read.iter().eq(strings().iter()));
        let none = sample_to_bytes(&Sample::<[u8]>::new(), &codec);
        assert!(sample_from_bytes::<[u8]>(&none, &codec).unwrap().is_empty());
    }

    #[test]
    fn two_integers_take_sixteen_bytes() {
        let codec = GuardCodec::parse("fixed_be:8").unwrap();
        let mut sample = Sample::<u64>::new();
        sample.push(3, 9);
        let bytes = sample_to_bytes(&sample, &codec);
        assert_eq!(bytes.len(), 40 + 16);
        let read = sample_from_bytes::<u64>(&bytes, &codec).unwrap();
        assert_eq!(read.iter().collect::<Vec<_>>(), [(3, 9)]);
    }

    #[test]
    fn any_flipped_bit_and_any_cut_is_reported() {
        let codec = GuardCodec::bytes();
        let sound = sample_to_bytes(&strings(), &codec);
        for bit in 0..8 * sound.len() {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(sample_from_bytes::<[u8]>(&bytes, &codec).is_err(), "bit {bit}");
        }
        for length in 0..sound.len() {
            assert!(sample_from_bytes::<[u8]>(&sound[..length], &codec).is_err(), "length {length}");
        }
    }

    #[test]
    fn other_codecs_and_versions_are_unsupported() {
        let codec = GuardCodec::parse("fixed_be:8").unwrap();
        let mut bytes = sample_to_bytes(&strings(), &GuardCodec::bytes());
        assert_eq!(sample_from_bytes::<u64>(&bytes, &codec).unwrap_err().kind(), ErrorKind::Unsupported);
        bytes[4] = SAMPLE_VERSION + 1;
        let newer = sample_from_bytes::<[u8]>(&bytes, &GuardCodec::bytes()).unwrap_err();
        assert_eq!(newer.kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn the_bytes_are_fixed() {
        let codec = GuardCodec::parse("fixed_be:8").unwrap();
        let mut sample = Sample::<u64>::new();
        sample.push(1, 2);
        let bytes = sample_to_bytes(&sample, &codec);
        let shown: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(shown, GOLDEN);
    }

    /// Version 1 over one query `[1, 2]` through `fixed_be:8`. A change here makes every stored sample unreadable.
    const GOLDEN: &str = concat!(
        "4c434e5301010100080000000000000001000000000000001000000000000000",
        "5a6d0422c31aeb38",
        "01000000000000000200000000000000",
    );
}
