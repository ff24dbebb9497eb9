//! The fields of a REncoder's header; see
//! [`docs/format/rencoder.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rencoder.md).

/// First byte of the array of a `rencoder:published`; see `docs/format/rencoder_published.md`.
pub(super) const PUBLISHED_ARRAY_AT: usize = 16;

/// The parts of a header that figures show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Header {
    /// Number of stored levels.
    pub(super) level_count: u8,
    /// Hash functions.
    pub(super) hash_count: u8,
    /// Mean share of ones in a line.
    pub(super) ones: f64,
    /// First byte of the lines.
    pub(super) lines_at: usize,
}

impl Header {
    /// Reads the payload of a `rencoder:published`, whose header has no share of ones: they are counted.
    pub(super) fn of_published(payload: &[u8]) -> Self {
        let array = &payload[PUBLISHED_ARRAY_AT..];
        let ones: u64 = array.iter().map(|byte| u64::from(byte.count_ones())).sum();
        Self {
            level_count: payload[14],
            hash_count: payload[12],
            ones: ones as f64 / (array.len() as f64 * 8.0),
            lines_at: PUBLISHED_ARRAY_AT,
        }
    }

    /// Reads the payload of a sealed `rencoder` over at least three keys.
    pub(super) fn of(payload: &[u8]) -> Self {
        let steps = u16::from_le_bytes([payload[20], payload[21]]);
        Self {
            level_count: payload[15],
            hash_count: payload[12],
            ones: f64::from(steps) / 65_535.0,
            lines_at: if payload.len() >= 192 { 64 } else { 24 },
        }
    }
}
