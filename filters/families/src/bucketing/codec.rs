//! Bytes of Bucketing: [`docs/format/bucketing.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/bucketing.md).

use lacuna_base::hash::reduce;
use lacuna_base::{Error, Result};

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the Elias-Fano sequence.
pub(crate) const HEADER_BYTES: usize = 8;

/// From a key's distance to the smallest key to its bucket: a monotone map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    /// Buckets a key, times 2^64; 0 stands for one bucket a key.
    fraction: u64,
}

impl Scale {
    /// One bucket a key.
    pub(crate) const EXACT: Self = Self { fraction: 0 };

    /// The largest scale that sends distances up to `span` to buckets up to `last_bucket`, which is below `span`.
    pub(crate) fn new(span: u64, last_bucket: u64) -> Self {
        // (last_bucket + 1) * 2^64 / (span + 1) is below 2^64, because last_bucket < span.
        let fraction = ((u128::from(last_bucket) + 1) << 64) / (u128::from(span) + 1);
        Self { fraction: u64::try_from(fraction).expect("fewer buckets than keys").max(1) }
    }

    /// The bucket of the key at `distance` from the smallest.
    #[inline(always)]
    pub(crate) fn bucket(self, distance: u64) -> u64 {
        if self.fraction == 0 { distance } else { reduce(distance, self.fraction) }
    }

    /// The header.
    pub(crate) fn encode(self) -> [u8; HEADER_BYTES] {
        self.fraction.to_le_bytes()
    }

    /// Reads the header at the start of `body`.
    pub(crate) fn decode(body: &[u8]) -> Result<Self> {
        let header = body
            .first_chunk()
            .ok_or_else(|| Error::corrupt("a Bucketing body is shorter than its header"))?;
        Ok(Self { fraction: u64::from_le_bytes(*header) })
    }
}
