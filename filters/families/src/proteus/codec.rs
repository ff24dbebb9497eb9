//! Bytes of Proteus: [`docs/format/proteus.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/proteus.md).

use lacuna_base::{Envelope, Error, KeySpaceId, Result};
use lacuna_succinct::trie::uniform::UniformTrie;

use super::design::Design;
use crate::bloom::Bloom;
use crate::points::PointBody;

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the trie.
pub(crate) const HEADER_BYTES: usize = 24;
/// Bytes of the smallest Bloom filter: its header, and one of bits.
pub(crate) const MIN_BLOOM_BYTES: usize = 17;
/// Longest prefix, in bits.
pub(crate) const MAX_BITS: u32 = 8 * u16::MAX as u32;
/// Most prefixes that a query may be allowed to ask for: as good as no bound, since it takes a tenth of a second.
pub(crate) const MAX_PROBES: u32 = 1 << 24;

/// A view of a Proteus.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    pub(crate) trie: Option<UniformTrie>,
    /// The Bloom filter, with the bits of its prefixes.
    pub(crate) bloom: Option<(Bloom, u32)>,
    pub(crate) bloom_at: usize,
    /// Most prefixes a query asks of the Bloom filter.
    pub(crate) probes: u64,
}

/// The header of a body of this design, whose trie takes `trie_bytes`.
pub(crate) fn encode_header(design: Design, trie_bytes: usize) -> [u8; HEADER_BYTES] {
    debug_assert!(design.bloom_bits == 0 || design.trie_bits < design.bloom_bits, "{design:?}");
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&design.trie_bits.to_le_bytes());
    header[4..8].copy_from_slice(&design.bloom_bits.to_le_bytes());
    header[8..12].copy_from_slice(&design.probes.to_le_bytes());
    header[16..].copy_from_slice(&(trie_bytes as u64).to_le_bytes());
    header
}

impl Body {
    /// Reads the headers in O(1).
    pub(crate) fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let header: &[u8; HEADER_BYTES] =
            body.first_chunk().ok_or_else(|| Error::corrupt("a Proteus body is shorter than its header"))?;
        let field = |at: usize| u32::from_le_bytes(*header[at..].first_chunk().expect("inside the header"));
        let (trie_bits, bloom_bits, probes) = (field(0), field(4), field(8));
        let max_bits = if envelope.key_space == KeySpaceId::U64 { u64::BITS } else { MAX_BITS };
        if trie_bits.max(bloom_bits) > max_bits || trie_bits | bloom_bits == 0 {
            return Err(Error::corrupt(format!(
                "prefixes of {trie_bits} and {bloom_bits} bits do not exist"
            )));
        }
        if bloom_bits > 0 && trie_bits >= bloom_bits {
            return Err(Error::corrupt(
                "the prefixes of a Bloom filter are longer than those of the trie before it",
            ));
        }
        let trie_bytes = u64::from_le_bytes(*header[16..].first_chunk().expect("inside the header"));
        let bloom_at = usize::try_from(trie_bytes).ok().and_then(|bytes| bytes.checked_add(HEADER_BYTES));
        let bloom_at = bloom_at.filter(|&at| at <= body.len());
        let bloom_at = bloom_at.ok_or_else(|| Error::corrupt("the trie ends beyond the payload"))?;
        let trie = open_trie(&body[HEADER_BYTES..bloom_at], trie_bits)?;
        let bloom = match bloom_bits {
            0 => None,
            bits => Some((Bloom::open(&body[bloom_at..], envelope)?, bits)),
        };
        if probes > MAX_PROBES {
            return Err(Error::corrupt(format!("a query does not ask for {probes} prefixes")));
        }
        Ok(Self { trie, bloom, bloom_at, probes: u64::from(probes) })
    }
}

fn open_trie(bytes: &[u8], bits: u32) -> Result<Option<UniformTrie>> {
    if bits == 0 {
        return Ok(None);
    }
    let trie = UniformTrie::open(bytes).map_err(|error| Error::corrupt(error.to_string()))?;
    if trie.bits() == bits { Ok(Some(trie)) } else { Err(Error::corrupt("the trie has another depth")) }
}
