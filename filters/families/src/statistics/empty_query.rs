//! An empty query and the keys next to it: they decide the answer of any filter that keeps the order of keys.

use crate::rencoder::bit_length;

/// An empty query and the keys next to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EmptyQuery {
    pub(crate) lo: u64,
    pub(crate) hi: u64,
    pub(crate) below: Option<u64>,
    pub(crate) above: Option<u64>,
}

impl EmptyQuery {
    /// The query `lo..=hi`, if no key of the ascending `keys` lies in it.
    pub(crate) fn among(keys: &[u64], lo: u64, hi: u64) -> Option<Self> {
        let place = keys.partition_point(|&key| key < lo);
        let above = keys.get(place).copied();
        if above.is_some_and(|key| key <= hi) {
            return None;
        }
        let below = place.checked_sub(1).map(|place| keys[place]);
        Some(Self { lo, hi, below, above })
    }

    /// The same in cells of `2^cell_log2` keys.
    pub(crate) fn in_cells(self, cell_log2: u32) -> Self {
        let cell = |key: u64| key >> cell_log2;
        Self {
            lo: cell(self.lo),
            hi: cell(self.hi),
            below: self.below.map(cell),
            above: self.above.map(cell),
        }
    }

    /// Whether the keys next to it lie outside of it, as they always do but in cells.
    pub(crate) fn is_apart(self) -> bool {
        self.below != Some(self.lo) && self.above != Some(self.hi)
    }

    /// The keys next to it.
    pub(crate) fn neighbours(self) -> impl Iterator<Item = u64> {
        self.below.into_iter().chain(self.above)
    }

    /// Number of keys asked for.
    pub(crate) fn range_len(self) -> f64 {
        (self.hi - self.lo) as f64 + 1.0
    }

    /// Whether one of the keys next to it shares a `group(key)` with one of its ends; `group` must be monotone.
    pub(crate) fn is_crowded(self, group: impl Fn(u64) -> u64) -> bool {
        let below = self.below.is_some_and(|key| group(key) == group(self.lo));
        below || self.above.is_some_and(|key| group(key) == group(self.hi))
    }

    /// The highest level on which neither end of the query shares its node with a key.
    pub(crate) fn telling_level(self) -> u32 {
        let lengths = self.neighbours().map(|key| bit_length(key ^ self.lo).min(bit_length(key ^ self.hi)));
        let shortest = lengths.min().unwrap_or(64);
        u32::try_from(shortest).expect("at most 64").saturating_sub(1)
    }
}
