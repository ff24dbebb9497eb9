//! Bytes of Bucketing: [`docs/format/bucketing.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/bucketing.md).

use lacuna_base::hash::reduce;
use lacuna_base::{Error, Result};

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the table of segments.
pub(crate) const HEADER_BYTES: usize = 12;
/// Bytes of an entry of the table: distance at which the segment starts, its first bucket.
pub(crate) const ENTRY_BYTES: usize = 16;

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
}

/// A stretch of keys between two gaps that are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Distance of its first key from the smallest key.
    pub(crate) start: u64,
    /// Bucket of its first key.
    pub(crate) first_bucket: u64,
}

/// The scale, and where the table of segments stands. The first segment starts at 0 and has no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Map {
    pub(crate) scale: Scale,
    entries: usize,
}

impl Map {
    /// The header and the table of the segments after the first.
    pub(crate) fn encode(scale: Scale, segments: &[Segment]) -> Vec<u8> {
        let count = u32::try_from(segments.len()).expect("fewer cuts than a budget has bytes");
        let mut bytes = Vec::with_capacity(HEADER_BYTES + segments.len() * ENTRY_BYTES);
        bytes.extend_from_slice(&scale.fraction.to_le_bytes());
        bytes.extend_from_slice(&count.to_le_bytes());
        for segment in segments {
            bytes.extend_from_slice(&segment.start.to_le_bytes());
            bytes.extend_from_slice(&segment.first_bucket.to_le_bytes());
        }
        bytes
    }

    /// Reads the header at the start of `body`; the table lies inside.
    pub(crate) fn decode(body: &[u8]) -> Result<Self> {
        let short = || Error::corrupt("a Bucketing body is shorter than its header and table");
        let header: &[u8; HEADER_BYTES] = body.first_chunk().ok_or_else(short)?;
        let [fraction @ .., a, b, c, d] = *header;
        let scale = Scale { fraction: u64::from_le_bytes(fraction) };
        let entries = usize::try_from(u32::from_le_bytes([a, b, c, d])).map_err(|_| short())?;
        let room = (body.len() - HEADER_BYTES) / ENTRY_BYTES;
        if entries <= room { Ok(Self { scale, entries }) } else { Err(short()) }
    }

    /// First byte of the Elias-Fano sequence.
    #[inline(always)]
    pub(crate) fn buckets_at(self) -> usize {
        HEADER_BYTES + self.entries * ENTRY_BYTES
    }

    /// The bucket of the key at `distance` from the smallest: monotone. A key in a gap that was left out shares
    /// the bucket of the key before it, or has one that holds no key.
    #[inline(always)]
    pub(crate) fn bucket(self, body: &[u8], distance: u64) -> u64 {
        if self.entries == 0 { self.scale.bucket(distance) } else { self.bucket_in_segment(body, distance) }
    }

    fn bucket_in_segment(self, body: &[u8], distance: u64) -> u64 {
        let (mut start, mut end) = (0, self.entries);
        while start < end {
            let middle = start.midpoint(end);
            if segment_at(body, middle).start <= distance { start = middle + 1 } else { end = middle }
        }
        let first = Segment { start: 0, first_bucket: 0 };
        let segment = if start == 0 { first } else { segment_at(body, start - 1) };
        let bucket = segment.first_bucket.saturating_add(self.scale.bucket(distance - segment.start));
        if start == self.entries {
            return bucket;
        }
        bucket.min(segment_at(body, start).first_bucket.saturating_sub(1))
    }
}

/// The entry at `index` of the table; zeros beyond the body.
#[inline(always)]
fn segment_at(body: &[u8], index: usize) -> Segment {
    let at = HEADER_BYTES + index * ENTRY_BYTES;
    let field = |at: usize| {
        let bytes = body.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        u64::from_le_bytes(bytes)
    };
    Segment { start: field(at), first_bucket: field(at + 8) }
}
