//! Equations in the order in which a layer is filled.
//!
//! The blocks are scattered into parts of a few thousand rows, and the equations of a part sorted by counting: so nearly all
//! work is done in the first- and second-level caches.

use super::solve::{Equation, Equations};

/// Rows of a part.
const PART_ROWS: usize = 8_192;
/// Rows whose equations need no order among themselves.
const UNIT_ROWS: usize = 8;
/// Units of a bucket.
const UNITS: usize = 4;
/// Units of a part.
const PART_UNITS: usize = PART_ROWS / UNIT_ROWS;

/// The equations of one part, by bucket; in a bucket, those of its last unit first.
pub(crate) struct Part<'a> {
    first_bucket: usize,
    equations: &'a [Equation],
    /// Where each unit ends, in the order of the equations.
    ends: &'a [usize],
}

impl Part<'_> {
    /// Its buckets.
    pub(crate) fn buckets(&self) -> std::ops::Range<usize> {
        self.first_bucket..self.first_bucket + self.ends.len() / UNITS
    }

    /// The equations of a bucket that are inserted together: 0 for its second half, 1 and 2 for its second and first
    /// quarter.
    pub(crate) fn step(&self, bucket: usize, step: usize) -> &[Equation] {
        let first = (bucket - self.first_bucket) * UNITS;
        let end = |unit: usize| if unit == 0 { 0 } else { self.ends[unit - 1] };
        let (from, to) = [(0, 2), (2, 3), (3, 4)][step];
        &self.equations[end(first + from)..end(first + to)]
    }
}

/// Hands the parts of a layer to `take`, from the first to the last.
pub(crate) fn parts(equations: &Equations, entries: &[u64], mut take: impl FnMut(Part<'_>)) {
    let row_count = usize::try_from(equations.layer.rows).expect("rows fit memory");
    let (scattered, ends) = scatter(equations, entries, row_count.div_ceil(PART_ROWS));
    let (mut sorted, mut units) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (part, end) in ends.into_iter().enumerate() {
        let first_row = part * PART_ROWS;
        let rows = (row_count - first_row).min(PART_ROWS);
        sort(equations, &scattered[start..end], first_row, &mut sorted, &mut units);
        let ends = &units[..rows / UNIT_ROWS];
        take(Part { first_bucket: first_row / 32, equations: &sorted, ends });
        start = end;
    }
}

/// The entries by part, and where each part ends.
fn scatter(equations: &Equations, entries: &[u64], part_count: usize) -> (Vec<u64>, Vec<usize>) {
    let mut next = vec![0_usize; part_count];
    for &entry in entries {
        next[equations.row(entry) / PART_ROWS] += 1;
    }
    starts_of(&mut next);
    let mut scattered = vec![0; entries.len()];
    for &entry in entries {
        let place = &mut next[equations.row(entry) / PART_ROWS];
        scattered[*place] = entry;
        *place += 1;
    }
    (scattered, next)
}

/// From counts to the place of the first of each.
fn starts_of(counts: &mut [usize]) {
    let mut total = 0;
    for place in counts {
        total += std::mem::replace(place, total);
    }
}

/// The number of a unit in the order of the equations.
fn unit_of(row: usize) -> usize {
    (row / UNIT_ROWS) ^ (UNITS - 1)
}

/// Sorts the equations of one part; `units` gets the end of each unit.
fn sort(
    equations: &Equations,
    entries: &[u64],
    first_row: usize,
    sorted: &mut Vec<Equation>,
    units: &mut Vec<usize>,
) {
    units.clear();
    units.resize(PART_UNITS, 0);
    for &entry in entries {
        units[unit_of(equations.row(entry) - first_row)] += 1;
    }
    starts_of(units);
    sorted.clear();
    sorted.resize(entries.len(), Equation::default());
    for &entry in entries {
        let equation = equations.equation(entry);
        let place = &mut units[unit_of(equation.row - first_row)];
        sorted[*place] = equation;
        *place += 1;
    }
}
