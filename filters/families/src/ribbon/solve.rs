//! Filling a layer: elimination as the blocks come, thresholds where it fails, then the rows from the last to the first.
//!
//! Every block is an equation: the sum (exclusive or) of some of the 32 rows after its start is its value. Buckets are filled
//! from the first to the last, and in a bucket the blocks that start last come first: those at its begin meet rows which the
//! bucket before has taken. Where one does not fit, it and all that start with it or earlier in the bucket go to the next
//! layer.

use lacuna_base::testing::cross;
use lacuna_succinct::arch::{Isa, Kernel, dispatch};

use super::hash::BlockHash;
use super::layer::Layer;
use super::partition::{Part, parts};
use crate::hashing::BlockHasher;

/// How blocks become equations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Equations {
    pub(crate) hasher: BlockHasher,
    pub(crate) block_log2: u32,
    pub(crate) window: u32,
    /// Number of the layer.
    pub(crate) index: usize,
    pub(crate) layer: Layer,
}

/// One equation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Equation {
    pub(crate) row: usize,
    coefficients: u32,
    value: u32,
    /// The block's number, then the position of its key.
    pub(crate) entry: u64,
}

impl Equations {
    fn hash(&self, entry: u64) -> BlockHash {
        BlockHash::new(self.hasher, entry >> self.block_log2)
    }

    /// The first row of the window of `entry`.
    #[inline(always)]
    pub(crate) fn row(&self, entry: u64) -> usize {
        let hash = self.hash(entry).in_layer(self.index);
        #[expect(clippy::cast_possible_truncation, reason = "rows lie in memory")]
        let row = self.layer.start(hash).row as usize;
        row
    }

    /// The equation of `entry`.
    #[inline(always)]
    pub(crate) fn equation(&self, entry: u64) -> Equation {
        let first = self.hash(entry);
        let hash = first.in_layer(self.index);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a position has at most 31 bits; rows lie in memory"
        )]
        let (position, row) =
            ((entry & ((1 << self.block_log2) - 1)) as u32, self.layer.start(hash).row as usize);
        Equation { row, coefficients: hash.coefficients(self.window), value: first.mask() ^ position, entry }
    }
}

/// A row after elimination: no coefficients if no equation has its first one here.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    coefficients: u32,
    value: u32,
}

/// A layer whose equations are eliminated.
#[derive(Debug)]
pub(crate) struct Eliminated {
    layer: Layer,
    rows: Vec<Row>,
    codes: Vec<u8>,
    /// Blocks that did not fit.
    pub(crate) bumped: Vec<u64>,
}

/// Eliminates the equations of `entries`, of which no two are of one block.
pub(crate) fn eliminate(equations: &Equations, entries: &[u64]) -> Eliminated {
    let row_count = usize::try_from(equations.layer.rows).expect("rows fit memory");
    let mut layer = Eliminated {
        layer: equations.layer,
        rows: vec![Row::default(); row_count],
        codes: vec![0; row_count / 32],
        bumped: Vec::new(),
    };
    let mut taken = Vec::new();
    parts(equations, entries, |part| {
        for bucket in part.buckets() {
            layer.fill(&part, bucket, &mut taken);
        }
    });
    layer
}

impl Eliminated {
    /// Its size.
    pub(crate) fn layer(&self) -> Layer {
        self.layer
    }

    /// Fills one bucket: the second half of it, then the second quarter, then the first.
    fn fill(&mut self, part: &Part<'_>, bucket: usize, taken: &mut Vec<usize>) {
        for (step, code) in [3, 2, 1].into_iter().enumerate() {
            taken.clear();
            if !self.insert_all(part.step(bucket, step), taken) {
                cross("ribbon: bumped");
                taken.iter().for_each(|&row| self.rows[row] = Row::default());
                self.codes[bucket] = code;
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

    /// Eliminates one equation: the row it took.
    #[inline(always)]
    fn insert(&mut self, equation: &Equation) -> Option<usize> {
        let Equation { mut row, mut coefficients, mut value, .. } = *equation;
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

    /// Writes the thresholds.
    pub(crate) fn write_thresholds(&self, out: &mut [u8]) {
        for (byte, codes) in out.iter_mut().zip(self.codes.chunks(4)) {
            *byte = codes.iter().rev().fold(0, |byte, code| byte << 2 | code);
        }
    }

    /// Solves for the rows and writes them.
    pub(crate) fn write_rows(&self, out: &mut [u8]) {
        dispatch(Substitute { solved: self, out });
    }
}

/// From the last row to the first, each row is its value and the sum of the later rows that its equation names.
struct Substitute<'a> {
    solved: &'a Eliminated,
    out: &'a mut [u8],
}

impl Kernel for Substitute<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        let Self { solved: Eliminated { layer, rows, .. }, out } = self;
        match layer.planes_of(0) {
            ..=16 => substitute::<16>(*layer, rows, out),
            _ => substitute::<32>(*layer, rows, out),
        }
    }
}

/// The same with room for `LANES` planes; each lane has the 32 rows after the current one, the nearest lowest.
#[inline(always)]
fn substitute<const LANES: usize>(layer: Layer, rows: &[Row], out: &mut [u8]) {
    let mut lanes = [0_u32; LANES];
    let mut bits = [1_u32; LANES];
    bits.iter_mut().zip(0..).for_each(|(bit, plane)| *bit <<= plane);
    for (group, rows) in rows.as_chunks::<16>().0.iter().enumerate().rev() {
        for row in rows.iter().rev() {
            for (lane, bit) in lanes.iter_mut().zip(bits) {
                let mut sum = (row.coefficients >> 1) & *lane;
                sum ^= sum >> 16;
                sum ^= sum >> 8;
                sum ^= sum >> 4;
                sum ^= sum >> 2;
                sum ^= sum >> 1;
                let own = u32::from(row.value & bit != 0);
                *lane = (*lane << 1) | ((sum ^ own) & 1);
            }
        }
        let group = group as u64;
        let start = usize::try_from(layer.byte_of(group)).expect("rows fit memory");
        let words = out[start..].chunks_exact_mut(2).zip(lanes);
        for (word, lane) in words.take(layer.planes_of(group) as usize) {
            #[expect(clippy::cast_possible_truncation, reason = "the nearest 16 rows are this group")]
            word.copy_from_slice(&(lane as u16).to_le_bytes());
        }
    }
}
