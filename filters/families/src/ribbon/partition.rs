//! Equations in the order in which a layer is filled.
//!
//! The blocks are scattered into parts of a few thousand rows, and the equations of a part sorted by counting: so nearly all
//! work is done in the first- and second-level caches. Several threads scatter a piece of the blocks each; a part's blocks are
//! those of the first piece, then those of the second, and so in the order in which one thread would have them.

use std::ops::Range;

use lacuna_succinct::threads::on_threads;

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
    pub(crate) fn buckets(&self) -> Range<usize> {
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

/// The entries of a layer by part.
pub(crate) struct Parts<'a> {
    equations: &'a Equations,
    row_count: usize,
    pieces: Vec<Scattered>,
}

/// A piece of the entries by part, and where each part ends.
struct Scattered {
    entries: Vec<u64>,
    ends: Vec<usize>,
}

/// Room for one part after the other.
#[derive(Default)]
pub(crate) struct Room {
    sorted: Vec<Equation>,
    units: Vec<usize>,
}

impl<'a> Parts<'a> {
    /// Scatters `entries`, each piece of them on a thread of its own.
    pub(crate) fn of(equations: &'a Equations, entries: &[Vec<u64>]) -> Self {
        let row_count = usize::try_from(equations.layer.rows).expect("rows fit memory");
        let part_count = row_count.div_ceil(PART_ROWS);
        let pieces = on_threads(entries.len(), |piece| scatter(equations, &entries[piece], part_count));
        Self { equations, row_count, pieces }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.row_count.div_ceil(PART_ROWS)
    }

    /// The rows of consecutive parts.
    pub(crate) fn rows_of(&self, parts: &Range<usize>) -> Range<usize> {
        let end = |part: usize| (part * PART_ROWS).min(self.row_count);
        end(parts.start)..end(parts.end)
    }

    /// The equations of one part.
    pub(crate) fn part<'r>(&self, part: usize, room: &'r mut Room) -> Part<'r> {
        let rows = self.rows_of(&(part..part + 1));
        let pieces = self.pieces.iter().map(|piece| {
            let start = if part == 0 { 0 } else { piece.ends[part - 1] };
            &piece.entries[start..piece.ends[part]]
        });
        let Room { sorted, units } = room;
        sort(self.equations, pieces, rows.start, sorted, units);
        Part { first_bucket: rows.start / 32, equations: sorted, ends: &units[..rows.len() / UNIT_ROWS] }
    }
}

fn scatter(equations: &Equations, entries: &[u64], part_count: usize) -> Scattered {
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
    Scattered { entries: scattered, ends: next }
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

/// Sorts the equations of one part, whose entries stand in `pieces`; `units` gets the end of each unit.
fn sort<'a>(
    equations: &Equations,
    pieces: impl Iterator<Item = &'a [u64]> + Clone,
    first_row: usize,
    sorted: &mut Vec<Equation>,
    units: &mut Vec<usize>,
) {
    units.clear();
    units.resize(PART_UNITS, 0);
    let mut count = 0;
    for entries in pieces.clone() {
        count += entries.len();
        for &entry in entries {
            units[unit_of(equations.row(entry) - first_row)] += 1;
        }
    }
    starts_of(units);
    sorted.clear();
    sorted.resize(count, Equation::default());
    for entries in pieces {
        for &entry in entries {
            let equation = equations.equation(entry);
            let place = &mut units[unit_of(equation.row - first_row)];
            sorted[*place] = equation;
            *place += 1;
        }
    }
}
