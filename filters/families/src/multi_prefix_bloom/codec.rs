//! Bytes of several prefix Bloom filters:
//! [`docs/format/multi_prefix_bloom.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/multi_prefix_bloom.md).

use lacuna_base::{Envelope, Error, KeySpaceId, Result};

use super::design::Level;
use crate::bloom::Bloom;
use crate::points::PointBody as _;

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Most lengths of prefixes.
pub(crate) const MAX_LENGTHS: usize = 8;
/// Bytes before the filters: their number, the bound on probes, and for each filter its length and size.
pub(crate) const HEADER_BYTES: usize = 8;
pub(crate) const FILTER_HEADER_BYTES: usize = 12;
/// Bytes of the smallest Bloom filter: its header, and one of bits.
pub(crate) const MIN_BLOOM_BYTES: usize = 17;
/// Longest prefix, in bits.
pub(crate) const MAX_BITS: u32 = 8 * u16::MAX as u32;
/// Most prefixes of a length that a query may be allowed to ask for.
pub(crate) const MAX_PROBES: u32 = 1 << 24;

/// The Bloom filter over the prefixes of one length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PrefixFilter {
    pub(crate) bits: u32,
    pub(crate) bloom: Bloom,
    /// Where it starts in the body.
    pub(crate) start: usize,
}

/// A view of several prefix Bloom filters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    filters: [Option<PrefixFilter>; MAX_LENGTHS],
    /// Most prefixes of a length that a query asks for.
    pub(crate) probes: u64,
}

/// Bytes of a body of `count` filters beside these.
pub(crate) fn header_bytes(count: usize) -> usize {
    HEADER_BYTES + count * FILTER_HEADER_BYTES
}

/// The header of a body whose filters, for these levels, take these bytes.
pub(crate) fn encode_header(levels: &[Level], bytes: &[usize], probes: u32) -> Vec<u8> {
    debug_assert!((1..=MAX_LENGTHS).contains(&levels.len()), "{levels:?}");
    let mut header = Vec::with_capacity(header_bytes(levels.len()));
    let count = u32::try_from(levels.len()).expect("at most MAX_LENGTHS");
    header.extend_from_slice(&count.to_le_bytes());
    header.extend_from_slice(&probes.to_le_bytes());
    for (level, &bytes) in levels.iter().zip(bytes) {
        header.extend_from_slice(&level.bits.to_le_bytes());
        header.extend_from_slice(&(bytes as u64).to_le_bytes());
    }
    header
}

impl Body {
    /// Reads the headers in O(1).
    pub(crate) fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let cut = || Error::corrupt("several prefix Bloom filters are shorter than their header");
        let (header, rest) = body.split_first_chunk::<HEADER_BYTES>().ok_or_else(cut)?;
        let [count, probes] = [0, 4].map(|at| number(header, at));
        let count = usize::try_from(count).ok().filter(|count| (1..=MAX_LENGTHS).contains(count));
        let count = count.ok_or_else(|| Error::corrupt("there are 1 to 8 lengths of prefixes"))?;
        if probes > MAX_PROBES {
            return Err(Error::corrupt(format!("a query does not ask for {probes} prefixes")));
        }
        let (entries, _) = rest.as_chunks::<FILTER_HEADER_BYTES>();
        let entries = entries.get(..count).ok_or_else(cut)?;
        let mut filters = [None; MAX_LENGTHS];
        let mut start = header_bytes(count);
        for (filter, entry) in filters.iter_mut().zip(entries) {
            let end = end_of(entry, start).filter(|&end| end <= body.len());
            let end = end.ok_or_else(|| Error::corrupt("a prefix Bloom filter ends beyond the payload"))?;
            let bits = length(number(entry, 0), envelope.key_space)?;
            *filter = Some(PrefixFilter { bits, bloom: Bloom::open(&body[start..end], envelope)?, start });
            start = end;
        }
        if start < body.len() {
            return Err(Error::corrupt("bytes follow the last prefix Bloom filter"));
        }
        Ok(Self { filters, probes: u64::from(probes) })
    }

    /// The filters in the order in which they are asked.
    #[inline(always)]
    pub(crate) fn filters(&self) -> impl Iterator<Item = &PrefixFilter> {
        self.filters.iter().flatten()
    }
}

/// The number at `at`, inside of `bytes`.
fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("inside the header"))
}

/// Where the filter of `entry` ends that starts at `start`.
fn end_of(entry: &[u8; FILTER_HEADER_BYTES], start: usize) -> Option<usize> {
    let bytes = u64::from_le_bytes(*entry[4..].first_chunk().expect("inside the header"));
    start.checked_add(usize::try_from(bytes).ok()?)
}

fn length(bits: u32, key_space: KeySpaceId) -> Result<u32> {
    let max_bits = if key_space == KeySpaceId::U64 { u64::BITS } else { MAX_BITS };
    match (1..=max_bits).contains(&bits) {
        true => Ok(bits),
        false => Err(Error::corrupt(format!("prefixes of {bits} bits do not exist"))),
    }
}
