//! Parts of a filter: one alone, or a near and a far half.
//!
//! The key of a part is the number of the cell of `2^cell_log2` keys that a key lies in. In cells of one key the bound holds for any
//! range. In larger cells a range of any length up to a cell is one key or two, so that its rate does not grow with its length; but
//! one that shares a cell with a key is "maybe". Two halves are the conjunction: the near one, in cells of one key, is made for
//! ranges of up to a far cell, the far one for the others. Both must say "maybe".

use std::borrow::Cow;

use super::spec::RibbonSpec;

/// Length of the ranges that a far half is made for where no sampled one is longer than a cell, in cells.
const FAR_CELLS: f64 = 2.0;

/// A part of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// Size of a cell, as a power of two.
    pub(crate) cell_log2: u32,
    asked: Asked,
}

/// The ranges that a part is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// All.
    All,
    /// Those of up to `2^n` keys.
    UpTo(u32),
    /// Longer ones.
    Longer(u32),
}

impl Part {
    /// The only part of a filter.
    pub(crate) fn whole(spec: RibbonSpec) -> Self {
        Self { cell_log2: spec.cell_log2(), asked: Asked::All }
    }

    /// The half that takes keys as they are.
    pub(crate) fn near(spec: RibbonSpec) -> Self {
        Self { cell_log2: 0, asked: Asked::UpTo(spec.cell_log2()) }
    }

    /// The half that takes cells.
    pub(crate) fn far(spec: RibbonSpec) -> Self {
        Self { cell_log2: spec.cell_log2(), asked: Asked::Longer(spec.cell_log2()) }
    }

    /// Lengths, in cells, of those of `ranges` that it is made for.
    pub(crate) fn lengths(self, ranges: impl Iterator<Item = (u64, u64)>) -> Vec<f64> {
        let is_for = |&(lo, hi): &(u64, u64)| match self.asked {
            Asked::All => true,
            Asked::UpTo(log2) => (hi - lo) >> log2 == 0,
            Asked::Longer(log2) => (hi - lo) >> log2 > 0,
        };
        let cells = |(lo, hi): (u64, u64)| ((hi >> self.cell_log2) - (lo >> self.cell_log2)) as f64 + 1.0;
        let lengths: Vec<f64> = ranges.filter(is_for).map(cells).collect();
        match self.asked {
            Asked::Longer(_) if lengths.is_empty() => vec![FAR_CELLS],
            _ => lengths,
        }
    }

    /// The cells of ascending `keys`.
    pub(crate) fn cells(self, keys: &[u64]) -> Cow<'_, [u64]> {
        if self.cell_log2 == 0 {
            return Cow::Borrowed(keys);
        }
        let mut cells: Vec<u64> = keys.iter().map(|key| key >> self.cell_log2).collect();
        cells.dedup();
        Cow::Owned(cells)
    }
}

/// Bytes of the near half, of `room` for both, if it gets `percent`.
pub(crate) fn near_bytes(room: usize, percent: u32) -> usize {
    let percent = percent as usize;
    room / 100 * percent + room % 100 * percent / 100
}
