//! Bytes of Grafite: [`docs/format/grafite.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/grafite.md).

use lacuna_base::{Error, Result};

use crate::hashing::Hashing;

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the Elias-Fano sequence.
pub(crate) const HEADER_BYTES: usize = 16;
/// `block_log2` of a body that stores the keys themselves.
const EXACT: u8 = 0xFF;
/// Added to `block_log2` if blocks are hashed under a key, whose second half stands in the last bytes of the body.
const KEYED: u8 = 64;
/// Bytes of the second half.
const TAIL_BYTES: usize = 8;

/// How keys became values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// Each value is its key minus the smallest key.
    Exact,
    /// Blocks of `2^block_log2` keys were moved to places that their hash decides.
    Hashed {
        /// The block hash.
        hashing: Hashing,
        /// Size of a block, as a power of two.
        block_log2: u32,
    },
}

impl Reduction {
    /// The header.
    pub(crate) fn encode(self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        let (first, block) = match self {
            Self::Exact => (0, EXACT),
            Self::Hashed { hashing, block_log2 } => {
                let block = u8::try_from(block_log2).expect("at most 63");
                (hashing.words().0, if hashing.is_keyed() { block | KEYED } else { block })
            }
        };
        header[..8].copy_from_slice(&first.to_le_bytes());
        header[8] = block;
        header
    }

    /// What follows after the values.
    pub(crate) fn tail(self) -> Option<[u8; TAIL_BYTES]> {
        match self {
            Self::Exact => None,
            Self::Hashed { hashing, .. } => hashing.words().1.map(u64::to_le_bytes),
        }
    }

    /// Reads header and tail of `body`; gives the values between them, too.
    pub(crate) fn decode(body: &[u8]) -> Result<(Self, &[u8])> {
        let short = || Error::corrupt("a Grafite body is shorter than its header");
        let (header, values) = body.split_first_chunk::<HEADER_BYTES>().ok_or_else(short)?;
        let first = u64::from_le_bytes(*header.first_chunk().expect("16 bytes hold 8"));
        let hashed = |second, block| Self::Hashed {
            hashing: Hashing::of_words(first, second),
            block_log2: u32::from(block & !KEYED),
        };
        match header[8] {
            EXACT => Ok((Self::Exact, values)),
            block @ 0..KEYED => Ok((hashed(None, block), values)),
            block @ KEYED..128 => {
                let (values, tail) = values.split_last_chunk::<TAIL_BYTES>().ok_or_else(short)?;
                Ok((hashed(Some(u64::from_le_bytes(*tail)), block), values))
            }
            block => Err(Error::corrupt(format!("Grafite blocks of 2^{block} keys do not exist"))),
        }
    }
}
