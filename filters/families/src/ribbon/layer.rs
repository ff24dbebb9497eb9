//! One layer of rows: which rows a block takes, and where they stand in the bytes.
//!
//! Rows lie in groups of 16, each as one 16-bit word a plane. The first `tall_rows` rows have a plane more than the others. No
//! window begins among tall rows and ends among others. 32 rows are a bucket, with a threshold in two bits: blocks whose
//! window starts at a lower place of the bucket are not in this layer.

use super::hash::BlockHash;

/// Rows of a window, and of a bucket.
pub(crate) const WINDOW: u64 = 32;
/// Rows of a group.
pub(crate) const GROUP_ROWS: u64 = 16;

/// The size of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Layer {
    /// All rows: whole buckets.
    pub(crate) rows: u64,
    /// Rows with one plane more: whole buckets.
    pub(crate) tall_rows: u64,
    /// Planes of the other rows.
    pub(crate) planes: u32,
}

/// The place of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Start {
    /// First row.
    pub(crate) row: u64,
}

impl Start {
    /// The bucket that it starts in.
    #[inline(always)]
    pub(crate) fn bucket(self) -> u64 {
        self.row / WINDOW
    }

    /// The place in the bucket.
    #[inline(always)]
    pub(crate) fn offset(self) -> u32 {
        (self.row % WINDOW) as u32
    }

    /// The group that it starts in.
    #[inline(always)]
    pub(crate) fn group(self) -> u64 {
        self.row / GROUP_ROWS
    }
}

/// Windows in `rows` rows.
#[inline(always)]
fn windows(rows: u64) -> u64 {
    rows.saturating_sub(WINDOW - 1)
}

/// The place of a bucket below which blocks are not in the layer, from its two bits.
#[inline(always)]
pub(crate) fn threshold(code: u8) -> u32 {
    (4 << (code & 3)) & !7
}

impl Layer {
    /// Where the window of a block starts.
    #[inline(always)]
    pub(crate) fn start(&self, hash: BlockHash) -> Start {
        let tall = windows(self.tall_rows);
        let window = hash.below(tall + windows(self.rows - self.tall_rows));
        // The last rows among the tall ones start no window.
        let skipped = if tall > 0 && window >= tall { WINDOW - 1 } else { 0 };
        Start { row: window + skipped }
    }

    /// Share of the windows that have one plane more.
    pub(crate) fn tall_share(&self) -> f64 {
        let (tall, short) = (windows(self.tall_rows), windows(self.rows - self.tall_rows));
        tall as f64 / (tall + short) as f64
    }

    #[inline(always)]
    fn tall_groups(&self) -> u64 {
        self.tall_rows / GROUP_ROWS
    }

    /// Planes of a group.
    #[inline(always)]
    pub(crate) fn planes_of(&self, group: u64) -> u32 {
        self.planes + u32::from(group < self.tall_groups())
    }

    /// First byte of a group, counted from the layer's first.
    #[inline(always)]
    pub(crate) fn byte_of(&self, group: u64) -> u64 {
        2 * (u64::from(self.planes) * group + group.min(self.tall_groups()))
    }

    /// Groups of rows.
    pub(crate) fn groups(&self) -> u64 {
        self.rows / GROUP_ROWS
    }

    /// Bytes of its rows.
    pub(crate) fn row_bytes(&self) -> u64 {
        self.byte_of(self.groups())
    }

    /// Bytes of its thresholds.
    pub(crate) fn threshold_bytes(&self) -> u64 {
        (self.rows / WINDOW).div_ceil(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashing::Hashing;

    /// Every window lies among rows of one height, and every row but the last of each height starts one.
    #[test]
    fn no_window_crosses_from_tall_rows_to_others() {
        let hasher = Hashing::Seeded(5).hasher();
        for (rows, tall_rows) in [(32, 0), (32, 32), (64, 32), (96, 32), (256, 96), (256, 256), (256, 0)] {
            let layer = Layer { rows, tall_rows, planes: 4 };
            let starts = (0..20_000).map(|block| layer.start(BlockHash::new(hasher, block)).row);
            let place = |row: u64| usize::try_from(row).expect("few rows");
            let mut started = vec![false; place(rows)];
            for row in starts {
                started[place(row)] = true;
                let last = row + WINDOW - 1;
                assert!(last < rows && (row < tall_rows) == (last < tall_rows), "row {row} of {layer:?}");
            }
            let expected = windows(tall_rows) + windows(rows - tall_rows);
            assert_eq!(started.iter().filter(|is_started| **is_started).count() as u64, expected);
        }
    }

    #[test]
    fn thresholds_are_steps_of_a_bucket() {
        assert_eq!([0, 1, 2, 3].map(threshold), [0, 8, 16, 32]);
    }

    #[test]
    fn groups_follow_one_another() {
        let layer = Layer { rows: 128, tall_rows: 32, planes: 5 };
        for group in 0..layer.groups() {
            let end = layer.byte_of(group) + 2 * u64::from(layer.planes_of(group));
            assert_eq!(end, layer.byte_of(group + 1));
        }
    }
}
