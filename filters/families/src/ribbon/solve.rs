//! Filling a layer: elimination as the blocks come, thresholds where it fails, then the rows from the last to the first.
//!
//! Every block is an equation: the sum (exclusive or) of some of the 32 rows after its start is its value. Buckets are filled
//! from the first to the last, and in a bucket the blocks that start last come first: those at its begin meet rows which the
//! bucket before has taken. Where one does not fit, it and all that start with it or earlier in the bucket go to the next
//! layer.
//!
//! Several threads fill a [stretch](super::stretch) of a layer each.

use lacuna_succinct::arch::{Isa, Kernel, dispatch};

use super::hash::BlockHash;
use super::layer::Layer;
use super::partition::Parts;
use super::stretch::{Row, Stretch, fill_stretches};
use crate::hashing::BlockHasher;
use crate::threads::Threads;

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
    pub(crate) coefficients: u32,
    pub(crate) value: u32,
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

/// A layer whose equations are eliminated.
#[derive(Debug)]
pub(crate) struct Eliminated {
    layer: Layer,
    stretches: Vec<Stretch>,
}

/// Eliminates the equations of `entries`, of which no two are of one block.
pub(crate) fn eliminate(equations: &Equations, entries: &[Vec<u64>], threads: Threads) -> Eliminated {
    let pieces = threads.pieces(entries.iter().map(Vec::len).sum());
    let stretches = fill_stretches(&Parts::of(equations, entries), pieces);
    Eliminated { layer: equations.layer, stretches }
}

impl Eliminated {
    /// Its size.
    pub(crate) fn layer(&self) -> Layer {
        self.layer
    }

    /// Takes the blocks that did not fit, in pieces.
    pub(crate) fn take_bumped(&mut self) -> Vec<Vec<u64>> {
        self.stretches.iter_mut().map(|stretch| std::mem::take(&mut stretch.bumped)).collect()
    }

    /// Writes the thresholds.
    pub(crate) fn write_thresholds(&self, out: &mut [u8]) {
        // All stretches but the last are whole parts, and so whole bytes.
        let codes = self.stretches.iter().flat_map(|stretch| stretch.codes.chunks(4));
        for (byte, codes) in out.iter_mut().zip(codes) {
            *byte = codes.iter().rev().fold(0, |byte, code| byte << 2 | code);
        }
    }

    /// The bytes of the rows.
    pub(crate) fn rows(&self) -> Vec<u8> {
        let mut out = vec![0; usize::try_from(self.layer.row_bytes()).expect("rows fit memory")];
        self.write_rows(&mut out);
        out
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
        let Self { solved: Eliminated { layer, stretches }, out } = self;
        match layer.planes_of(0) {
            ..=16 => substitute::<16>(*layer, stretches, out),
            _ => substitute::<32>(*layer, stretches, out),
        }
    }
}

/// The same with room for `LANES` planes; each lane has the 32 rows after the current one, the nearest lowest.
#[inline(always)]
fn substitute<const LANES: usize>(layer: Layer, stretches: &[Stretch], out: &mut [u8]) {
    let mut lanes = [0_u32; LANES];
    let mut bits = [1_u32; LANES];
    bits.iter_mut().zip(0..).for_each(|(bit, plane)| *bit <<= plane);
    for stretch in stretches.iter().rev() {
        substitute_rows(layer, stretch.first_group(), &stretch.rows, &mut lanes, bits, out);
    }
}

/// The same for consecutive rows from a group on.
#[inline(always)]
fn substitute_rows<const LANES: usize>(
    layer: Layer,
    first_group: usize,
    rows: &[Row],
    lanes: &mut [u32; LANES],
    bits: [u32; LANES],
    out: &mut [u8],
) {
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
        let group = (first_group + group) as u64;
        let start = usize::try_from(layer.byte_of(group)).expect("rows fit memory");
        let words = out[start..].chunks_exact_mut(2).zip(*lanes);
        for (word, lane) in words.take(layer.planes_of(group) as usize) {
            #[expect(clippy::cast_possible_truncation, reason = "the nearest 16 rows are this group")]
            word.copy_from_slice(&(lane as u16).to_le_bytes());
        }
    }
}
