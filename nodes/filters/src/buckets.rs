//! Rows of a partition in dyadic buckets, on several levels.
//!
//! A row's place is the first eight bytes of its byte-comparable clustering key. Level 0 has buckets of `2^finest` places,
//! each further level buckets `2^step` times as wide. With `finest = 4` and `step = 2`, place 100 is in bucket 6 of level 0
//! and bucket 1 of level 1 (64 to 127). A row marks its bucket on every level; a slice is cut into the fewest buckets of
//! any level, and all of them must be empty. A bucket costs what a partition key costs: its name is a [`KeyId`].

use lacuna_base::{Error, Result};

/// How rows are put into buckets.
///
/// ```
/// let hours = lacuna_node_filters::Buckets::new(12, 4, 3)?;
/// assert_eq!(hours.of_row(0x1234_5678).collect::<Vec<_>>(), [(0, 0x1_2345), (1, 0x1234), (2, 0x123)]);
/// assert_eq!(hours.cover(0x1_0000, 0x2_1FFF), Some(vec![(1, 1), (0, 0x20), (0, 0x21)]));
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    finest: u32,
    step: u32,
    levels: u32,
}

impl Buckets {
    /// Most buckets that one slice is cut into.
    pub const MAX_IN_COVER: usize = 64;

    /// `levels` levels, the finest with buckets of `2^finest` places, each further one `2^step` times as wide.
    ///
    /// # Errors
    /// `InvalidInput` if there is no level, or the coarsest is wider than 2^63 places.
    pub fn new(finest: u32, step: u32, levels: u32) -> Result<Self> {
        let coarsest = levels.checked_sub(1).and_then(|above| above.checked_mul(step)?.checked_add(finest));
        match coarsest {
            Some(0..=63) if step > 0 => Ok(Self { finest, step, levels }),
            _ => Err(Error::invalid_input(format!(
                "buckets of 2^{finest} places on {levels} levels of 2^{step} do not fit 64 bits"
            ))),
        }
    }

    /// Tells this way of putting rows into buckets from others; never 0.
    pub(crate) fn code(self) -> u64 {
        u64::from(1 + self.finest) | u64::from(self.step) << 8 | u64::from(self.levels) << 16
    }

    /// The place of a clustering prefix in its byte-comparable form: its first eight bytes, zeros where it ends.
    pub fn place(prefix: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        let shared = prefix.len().min(8);
        bytes[..shared].copy_from_slice(&prefix[..shared]);
        u64::from_be_bytes(bytes)
    }

    /// The last place of rows whose byte-comparable form begins with `prefix`: the upper end of a slice whose bound, inclusive,
    /// is only the beginning of a row's key. [`place`](Self::place) is its lower end.
    pub fn last_place(prefix: &[u8]) -> u64 {
        let mut bytes = [0xFF; 8];
        let shared = prefix.len().min(8);
        bytes[..shared].copy_from_slice(&prefix[..shared]);
        u64::from_be_bytes(bytes)
    }

    /// Level and number of every bucket that a row at `place` is in, the finest first.
    pub fn of_row(self, place: u64) -> impl Iterator<Item = (u32, u64)> {
        (0..self.levels).map(move |level| (level, place >> self.width_log2(level)))
    }

    /// The fewest buckets that hold all places of `lo..=hi`; `None` if they are more than
    /// [`MAX_IN_COVER`](Self::MAX_IN_COVER). Empty if `lo` is above `hi`.
    pub fn cover(self, lo: u64, hi: u64) -> Option<Vec<(u32, u64)>> {
        if lo > hi {
            return Some(Vec::new());
        }
        let (cover, is_whole) = self.widest(lo >> self.finest, hi >> self.finest);
        is_whole.then_some(cover)
    }

    /// The widest buckets all of whose places are in `lo..=hi`, from the lowest on, at most
    /// [`MAX_IN_COVER`](Self::MAX_IN_COVER).
    ///
    /// ```
    /// use lacuna_node_filters::Buckets;
    ///
    /// // Buckets of 16 places, and of 256.
    /// let buckets = Buckets::new(4, 4, 2)?;
    /// assert_eq!(buckets.inside(10, 50), [(0, 1), (0, 2)]);
    /// assert_eq!(buckets.inside(240, 511), [(0, 15), (1, 1)]);
    /// # Ok::<(), lacuna_base::Error>(())
    /// ```
    pub fn inside(self, lo: u64, hi: u64) -> Vec<(u32, u64)> {
        // In 128 bits, since the end of the last bucket has no number among places.
        let first = u128::from(lo).div_ceil(1 << self.finest);
        let end = (u128::from(hi) + 1) >> self.finest;
        let number = |wide: u128| u64::try_from(wide).expect("buckets are no more than places");
        if first < end { self.widest(number(first), number(end - 1)).0 } else { Vec::new() }
    }

    /// Buckets of any level for those of the finest from `next` to `last`, the fewest, from the lowest on; `false` if they are
    /// too many, and only the first are here.
    fn widest(self, mut next: u64, last: u64) -> (Vec<(u32, u64)>, bool) {
        let mut cover = Vec::new();
        while next <= last {
            if cover.len() == Self::MAX_IN_COVER {
                return (cover, false);
            }
            // The widest bucket that starts at `next` and ends by `last`; wide ones count in buckets of level 0.
            let fits = |level: &u32| {
                let places = 1u64 << (self.step * level);
                next.is_multiple_of(places) && last - next >= places - 1
            };
            let level = (0..self.levels).rev().find(fits).unwrap_or(0);
            cover.push((level, next >> (self.step * level)));
            match next.checked_add(1 << (self.step * level)) {
                Some(further) => next = further,
                None => break,
            }
        }
        (cover, true)
    }

    /// Level and number of the buckets around bucket `number` of `level`, itself first.
    pub(crate) fn around(self, level: u32, number: u64) -> impl Iterator<Item = (u32, u64)> {
        (level..self.levels).map(move |above| (above, number >> (self.step * (above - level))))
    }

    /// The number of the finest bucket that holds `place`.
    pub(crate) fn finest_of(self, place: u64) -> u64 {
        place >> self.finest
    }

    /// The first place of a finest bucket.
    pub(crate) fn first_in(self, bucket: u64) -> u64 {
        bucket << self.finest
    }

    /// The last place of a finest bucket.
    pub(crate) fn last_in(self, bucket: u64) -> u64 {
        self.first_in(bucket) | ((1 << self.finest) - 1)
    }

    fn width_log2(self, level: u32) -> u32 {
        self.finest + self.step * level
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a failed test panics; numbers are small"
)]
mod tests {
    use lacuna_workload::Rng;

    use super::*;

    #[test]
    fn every_row_of_a_slice_is_in_its_cover() {
        let mut rng = Rng::new(1);
        for round in 0..20_000 {
            let (step, levels) = (rng.between(1, 4) as u32, rng.between(1, 5) as u32);
            let finest = rng.below(64 - u64::from(step * (levels - 1))) as u32;
            let buckets = Buckets::new(finest, step, levels).unwrap();
            let lo = rng.next_u64() >> rng.below(64);
            let hi = lo.saturating_add(rng.next_u64() >> rng.below(64));
            let Some(cover) = buckets.cover(lo, hi) else { continue };
            let row = rng.between(lo, hi);
            assert!(
                buckets.of_row(row).any(|bucket| cover.contains(&bucket)),
                "round {round}: {row} of {lo}..={hi}"
            );
            for end in [lo, hi] {
                assert!(
                    buckets.of_row(end).any(|bucket| cover.contains(&bucket)),
                    "round {round}: {lo}..={hi}"
                );
            }
        }
    }

    #[test]
    fn a_slice_of_too_many_buckets_is_unknown() {
        let buckets = Buckets::new(0, 4, 2).unwrap();
        assert_eq!(buckets.cover(0, 16 * 64 - 1).map(|cover| cover.len()), Some(64));
        assert_eq!(buckets.cover(0, 16 * 65 - 1), None);
        assert_eq!(buckets.cover(5, 4), Some(vec![]));
        assert!(
            Buckets::new(60, 4, 2).is_err()
                && Buckets::new(3, 0, 1).is_err()
                && Buckets::new(3, 1, 0).is_err()
        );
    }
}
