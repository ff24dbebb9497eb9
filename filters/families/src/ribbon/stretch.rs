//! Stretches of a layer that are filled at once, and what makes them the same as those of one thread.
//!
//! A bucket is filled between the rows that the buckets before it have taken. All equations that start before a bucket end before
//! its last row, so what reaches into it is at most 31 rows, and nothing else of what was before matters. A thread fills a
//! stretch as if nothing reached into its first bucket. Then, from the first stretch to the last, the true rows are carried over
//! each border, and the buckets after it are filled twice, with them and without, until what reaches into a bucket is the same
//! either way: from there on the thread has done what it should have. Rows are free in every second bucket or so, and each takes
//! one of the rows by which the two differ, so that a few dozen buckets are filled twice, rarely some hundred. In a layer of many more
//! blocks than rows it may be all of a stretch, and the bytes are still right.
//!
//! What reaches into a bucket is compared as a set of solutions: its rows with each first coefficient in no other row. Two such
//! sets of rows are equal if they allow the same, whatever the order of their equations was. And the rows of a layer have one
//! solution that is zero where no equation begins, so equal sets of equations give equal bytes.

use std::ops::Range;

use lacuna_base::testing::cross;
use lacuna_succinct::threads::on_threads;

use super::partition::{Part, Parts, Room};
use super::solve::Equation;
use crate::threads::piece_of;

/// Rows of a bucket, and of a window.
const BUCKET_ROWS: usize = 32;
/// Groups of rows in a bucket.
const BUCKET_GROUPS: usize = 2;

/// A row after elimination: no coefficients if no equation has its first one here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) coefficients: u32,
    pub(crate) value: u32,
}

/// Consecutive buckets of a layer.
#[derive(Debug)]
pub(crate) struct Stretch {
    first_bucket: usize,
    /// Its rows, and while it is filled those that reach into the next bucket.
    pub(crate) rows: Vec<Row>,
    /// Where each bucket was cut.
    pub(crate) codes: Vec<u8>,
    /// Blocks that did not fit.
    pub(crate) bumped: Vec<u64>,
}

/// Fills all buckets, as `pieces` stretches if there are as many parts.
pub(crate) fn fill_stretches(parts: &Parts<'_>, pieces: usize) -> Vec<Stretch> {
    let pieces = pieces.min(parts.count());
    let parts_of = |piece: usize| piece_of(parts.count(), pieces, piece);
    let mut stretches = on_threads(pieces, |piece| Stretch::filled(parts, parts_of(piece)));
    for next in 1..pieces {
        let (before, after) = stretches.split_at_mut(next);
        let reaching = before[next - 1].cut_overhang();
        after[0].correct(parts, parts_of(next), reaching);
    }
    stretches
}

impl Stretch {
    /// Buckets without a row that is taken, in `rows`, and `overhang` rows after them.
    fn empty(rows: &Range<usize>, overhang: usize) -> Self {
        Self {
            first_bucket: rows.start / BUCKET_ROWS,
            rows: vec![Row::default(); rows.len() + overhang],
            codes: vec![0; rows.len() / BUCKET_ROWS],
            bumped: Vec::new(),
        }
    }

    /// The buckets of consecutive parts, filled as if no row reached into the first.
    fn filled(parts: &Parts<'_>, range: Range<usize>) -> Self {
        // Nothing reaches beyond the last bucket of all.
        let overhang = if range.end == parts.count() { 0 } else { BUCKET_ROWS };
        let mut stretch = Self::empty(&parts.rows_of(&range), overhang);
        let (mut room, mut taken) = (Room::default(), Vec::new());
        for part in range {
            let part = parts.part(part, &mut room);
            for bucket in part.buckets() {
                stretch.fill(&part, bucket, &mut taken);
            }
        }
        stretch
    }

    /// The group of its first row.
    pub(crate) fn first_group(&self) -> usize {
        self.first_bucket * BUCKET_GROUPS
    }

    /// Takes off the rows that reach into the next stretch.
    fn cut_overhang(&mut self) -> [Row; BUCKET_ROWS] {
        let mut overhang = [Row::default(); BUCKET_ROWS];
        let rows = self.codes.len() * BUCKET_ROWS;
        overhang.copy_from_slice(&self.rows[rows..]);
        self.rows.truncate(rows);
        overhang
    }

    /// Fills the buckets of `range`, its parts, again where the rows that reach into the first make them others.
    fn correct(&mut self, parts: &Parts<'_>, range: Range<usize>, mut reaching: [Row; BUCKET_ROWS]) {
        let (mut room, mut taken) = (Room::default(), Vec::new());
        let mut assumed = [Row::default(); BUCKET_ROWS];
        // What the stretch should have bumped in the buckets that are filled again, and what it did.
        let (mut bumped, mut wrongly_bumped) = (Vec::new(), 0);
        for part in range {
            if reduced(&reaching) == reduced(&assumed) {
                break;
            }
            let rows = parts.rows_of(&(part..part + 1));
            let part = parts.part(part, &mut room);
            let [mut with, mut without] = [reaching, assumed].map(|rows_before| {
                let mut stretch = Self::empty(&rows, BUCKET_ROWS);
                stretch.rows[..BUCKET_ROWS].copy_from_slice(&rows_before);
                stretch
            });
            let mut filled = 0;
            for bucket in part.buckets() {
                with.fill(&part, bucket, &mut taken);
                without.fill(&part, bucket, &mut taken);
                filled += 1;
                let next = filled * BUCKET_ROWS..(filled + 1) * BUCKET_ROWS;
                reaching.copy_from_slice(&with.rows[next.clone()]);
                assumed.copy_from_slice(&without.rows[next]);
                if reduced(&reaching) == reduced(&assumed) {
                    cross("ribbon: stretch joined");
                    break;
                }
            }
            self.take_over(&with, filled);
            bumped.append(&mut with.bumped);
            wrongly_bumped += without.bumped.len();
        }
        if reduced(&reaching) != reduced(&assumed) {
            cross("ribbon: whole stretch filled again");
            // Something reaches beyond it, so it is not the last.
            self.rows[self.codes.len() * BUCKET_ROWS..].copy_from_slice(&reaching);
        }
        drop(self.bumped.splice(..wrongly_bumped, bumped));
    }

    /// Takes the first `buckets` buckets of `other`.
    fn take_over(&mut self, other: &Self, buckets: usize) {
        let start = other.first_bucket - self.first_bucket;
        let rows = buckets * BUCKET_ROWS;
        self.rows[start * BUCKET_ROWS..][..rows].copy_from_slice(&other.rows[..rows]);
        self.codes[start..][..buckets].copy_from_slice(&other.codes[..buckets]);
    }

    /// Fills one bucket: the second half of it, then the second quarter, then the first.
    fn fill(&mut self, part: &Part<'_>, bucket: usize, taken: &mut Vec<usize>) {
        for (step, code) in [3, 2, 1].into_iter().enumerate() {
            taken.clear();
            if !self.insert_all(part.step(bucket, step), taken) {
                cross("ribbon: bumped");
                taken.iter().for_each(|&row| self.rows[row] = Row::default());
                self.codes[bucket - self.first_bucket] = code;
                for rest in step..3 {
                    self.bumped.extend(part.step(bucket, rest).iter().map(|equation| equation.entry));
                }
                return;
            }
        }
    }

    /// Whether all `equations` fit; notes the rows that they took.
    fn insert_all(&mut self, equations: &[Equation], taken: &mut Vec<usize>) -> bool {
        equations.iter().all(|equation| self.insert(equation).map(|row| taken.push(row)).is_some())
    }

    /// Eliminates one equation: the row it took, counted from the first.
    #[inline(always)]
    fn insert(&mut self, equation: &Equation) -> Option<usize> {
        let Equation { row, mut coefficients, mut value, .. } = *equation;
        let mut row = row - self.first_bucket * BUCKET_ROWS;
        loop {
            let here = &mut self.rows[row];
            if here.coefficients == 0 {
                *here = Row { coefficients, value };
                return Some(row);
            }
            coefficients ^= here.coefficients;
            value ^= here.value;
            if coefficients == 0 {
                return None;
            }
            let next = coefficients.trailing_zeros();
            coefficients >>= next;
            row += next as usize;
        }
    }
}

/// The rows that reach into a bucket with coefficients counted from its first row, and each first one in no other row.
fn reduced(rows: &[Row; BUCKET_ROWS]) -> [Row; BUCKET_ROWS] {
    let mut reduced = [Row::default(); BUCKET_ROWS];
    for at in (0..BUCKET_ROWS).rev() {
        let mut row = Row { coefficients: rows[at].coefficients << at, ..rows[at] };
        for (later, other) in reduced.iter().enumerate().skip(at + 1) {
            // Where no row begins there is zero, which changes nothing.
            if row.coefficients >> later & 1 == 1 {
                row.coefficients ^= other.coefficients;
                row.value ^= other.value;
            }
        }
        reduced[at] = row;
    }
    reduced
}

#[cfg(test)]
mod tests {
    use lacuna_base::testing::{crossed, forget_crossings};

    use super::*;
    use crate::hashing::Hashing;
    use crate::ribbon::layer::Layer;
    use crate::ribbon::solve::{Equations, eliminate};
    use crate::threads::Threads;

    const SEED: u64 = 5;
    const ROWS: u64 = 5 * 8_192 + 96;

    /// Thresholds, rows and the blocks that did not fit, if the layer is filled by `threads` threads.
    fn filled(equations: &Equations, entries: &[u64], threads: usize) -> (Vec<u8>, Vec<u8>, Vec<u64>) {
        let entries: Vec<Vec<u64>> =
            (0..threads).map(|piece| entries[piece_of(entries.len(), threads, piece)].to_vec()).collect();
        let mut layer = eliminate(equations, &entries, Threads::forced(threads));
        let mut thresholds = vec![0; usize::try_from(layer.layer().threshold_bytes()).expect("few rows")];
        layer.write_thresholds(&mut thresholds);
        (thresholds, layer.rows(), layer.take_bumped().concat())
    }

    /// From layers that are nearly empty to those of three times as many blocks as rows; in some between, whole stretches are filled
    /// again. With windows of one row, which never reach into another bucket, and with tall rows that end at a part or inside of one.
    #[test]
    fn stretches_are_those_of_one_thread() {
        forget_crossings();
        for percent in [10, 60, 90, 98, 100, 102, 104, 110, 120, 130, 140, 300] {
            for (window, tall_rows) in [(32, 0), (32, 16_384), (32, 20_480), (20, 0), (2, 0), (1, 0)] {
                let layer = Layer { rows: ROWS, tall_rows, planes: 7 };
                let hasher = Hashing::Seeded(SEED + percent).hasher();
                let equations = Equations { hasher, block_log2: 3, window, index: 0, layer };
                let entries: Vec<u64> =
                    (0..ROWS * percent / 100).map(|block| (block << 3) | (block % 7)).collect();
                let one = filled(&equations, &entries, 1);
                for threads in [2, 3, 5, 8] {
                    let same = filled(&equations, &entries, threads) == one;
                    assert!(
                        same,
                        "{threads} threads, load {percent} %, window {window}, {tall_rows} tall rows"
                    );
                }
            }
        }
        if let Some(names) = crossed() {
            for name in ["ribbon: stretch joined", "ribbon: whole stretch filled again"] {
                assert!(names.contains(&name), "no border was `{name}`, seed {SEED}: {names:?}");
            }
        }
    }

    /// Two echelons of the same equations, and one whose values are others.
    #[test]
    fn rows_are_compared_as_what_they_allow() {
        let row = |coefficients, value| Row { coefficients, value };
        let mut one = [Row::default(); BUCKET_ROWS];
        (one[0], one[2], one[30]) = (row(0b1101, 5), row(0b11, 6), row(1, 9));
        let mut other = one;
        // The first with the second, which begins two rows later, taken away.
        other[0] = row(0b1101 ^ 0b1100, 5 ^ 6);
        assert_ne!(one, other);
        assert_eq!(reduced(&one), reduced(&other));
        other[2].value ^= 1;
        assert_ne!(reduced(&one), reduced(&other));
        other = one;
        other[30] = Row::default();
        assert_ne!(reduced(&one), reduced(&other));
    }
}
