//! Bytes of Grafite: [`docs/format/grafite.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/grafite.md).

use lacuna_base::{Error, Result};

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the Elias-Fano sequence.
pub(crate) const HEADER_BYTES: usize = 16;
/// `block_log2` of a body that stores the keys themselves.
const EXACT: u8 = 0xFF;

/// How keys became values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// Each value is its key minus the smallest key.
    Exact,
    /// Blocks of `2^block_log2` keys were moved to places that `seed` decides.
    Hashed {
        /// Seed of the block hash.
        seed: u64,
        /// Size of a block, as a power of two.
        block_log2: u32,
    },
}

impl Reduction {
    /// The header.
    pub(crate) fn encode(self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        let (seed, block) = match self {
            Self::Exact => (0, EXACT),
            Self::Hashed { seed, block_log2 } => (seed, u8::try_from(block_log2).expect("at most 63")),
        };
        header[..8].copy_from_slice(&seed.to_le_bytes());
        header[8] = block;
        header
    }

    /// Reads the header at the start of `body`.
    pub(crate) fn decode(body: &[u8]) -> Result<Self> {
        let header: &[u8; HEADER_BYTES] =
            body.first_chunk().ok_or_else(|| Error::corrupt("a Grafite body is shorter than its header"))?;
        let seed = u64::from_le_bytes(*header.first_chunk().expect("16 bytes hold 8"));
        match header[8] {
            EXACT => Ok(Self::Exact),
            block @ 0..=63 => Ok(Self::Hashed { seed, block_log2: u32::from(block) }),
            block => Err(Error::corrupt(format!("Grafite blocks of 2^{block} keys do not exist"))),
        }
    }
}
