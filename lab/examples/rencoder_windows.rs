//! Where a mini-tree of eight levels may lie in the bit array: three placements, with and without the root's bit.
//!
//! Each is filled with the mini-trees of uniform keys under one hash function, and asked for absent leaves: the rate is
//! held against the eighth power of the share of ones, which independent bits would give. Then one window after the
//! other is read, its place known only after the one before.
//!
//! `cargo run --release -p lacuna-lab --example rencoder_windows [keys]`

use std::hint::black_box;
use std::time::Instant;

use lacuna_base::hash::{IntegerHasher, reduce};
use lacuna_workload::Rng;

/// Bits for each key; eight levels under one hash function fill half of them.
const BITS_PER_KEY: u64 = 12;
const LINE_BITS: u64 = 512;
const LEVELS: u32 = 8;
const QUERIES: u64 = 4_000_000;

/// How a window finds its bits.
#[derive(Clone, Copy)]
enum Placement {
    /// The paper's: 64 bytes from any byte on.
    ByteOffset,
    /// One line, all of it turned by some number of bits.
    TurnedLine,
    /// One line, each level in a word and turn of its own.
    TurnedLevels,
}

struct Array {
    words: Vec<u64>,
    placement: Placement,
    hasher: IntegerHasher,
}

impl Array {
    fn new(placement: Placement, bits: u64) -> Self {
        let words = vec![0; (bits / 64) as usize + 8];
        Self { words, placement, hasher: IntegerHasher::new(7) }
    }

    fn bits(&self) -> u64 {
        (self.words.len() as u64 - 8) * 64
    }

    /// First bit of the window under `prefix`.
    fn window(&self, hash: u64) -> u64 {
        match self.placement {
            Placement::ByteOffset => reduce(hash, self.bits() / 8) * 8,
            Placement::TurnedLine | Placement::TurnedLevels => {
                reduce(hash, self.bits() / LINE_BITS) * LINE_BITS
            }
        }
    }

    /// The bit of the node of `leaf` on `level`.
    fn bit(&self, hash: u64, leaf: u64, level: u32) -> u64 {
        let start = self.window(hash);
        let turns = hash.wrapping_mul(0xA076_1D64_78BD_642F);
        let heap = (256 | leaf) >> level;
        match self.placement {
            Placement::ByteOffset => start + heap,
            Placement::TurnedLine => start + (heap + turns % LINE_BITS) % LINE_BITS,
            Placement::TurnedLevels => {
                let turn = turns.rotate_right(level * 9);
                let first = leaf >> level << level;
                start + (((first / 64) ^ turn) & 7) * 64 + (first + (turn >> 3)) % 64
            }
        }
    }

    fn set(&mut self, bit: u64) {
        self.words[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    fn is_set(&self, bit: u64) -> bool {
        self.words[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    fn insert(&mut self, key: u64, levels: u32) {
        let hash = self.hasher.hash(key >> LEVELS);
        for level in 0..levels {
            self.set(self.bit(hash, key % 256, level));
        }
    }

    fn holds(&self, key: u64) -> bool {
        let hash = self.hasher.hash(key >> LEVELS);
        (0..LEVELS).all(|level| self.is_set(self.bit(hash, key % 256, level)))
    }

    fn share_of_ones(&self) -> f64 {
        let ones: u64 = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        ones as f64 / self.bits() as f64
    }

    /// Nanoseconds to read one window after the other.
    fn fetch_ns(&self) -> f64 {
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let steps = 2_000_000u32;
        let begin = Instant::now();
        let mut seen = 0;
        for step in 0..steps {
            let start = (self.window(self.hasher.hash(seen ^ u64::from(step))) / 8) as usize;
            seen = bytes[start..start + 64]
                .as_chunks::<8>()
                .0
                .iter()
                .fold(0, |sum, word| sum ^ u64::from_le_bytes(*word));
        }
        black_box(seen);
        begin.elapsed().as_nanos() as f64 / f64::from(steps)
    }
}

fn main() {
    let key_count = std::env::args().nth(1).map_or(10_000_000, |text| text.parse().expect("a number"));
    println!(
        "{:15} {:4} {:>6} {:>10} {:>10} {:>6} {:>8}",
        "placement", "root", "ones", "rate", "ones^8", "ratio", "fetch ns"
    );
    for (name, placement) in [
        ("byte offset", Placement::ByteOffset),
        ("turned line", Placement::TurnedLine),
        ("turned levels", Placement::TurnedLevels),
    ] {
        for (root, levels) in [("no", LEVELS), ("yes", LEVELS + 1)] {
            // With a word for each level the root would take one more turned word, as wasteful as the others.
            let mut array = Array::new(placement, key_count * BITS_PER_KEY);
            let mut rng = Rng::new(1);
            (0..key_count).for_each(|_| array.insert(rng.next_u64(), levels));
            let positives = (0..QUERIES).filter(|_| array.holds(rng.next_u64())).count();
            let rate = positives as f64 / QUERIES as f64;
            let independent = array.share_of_ones().powi(LEVELS.cast_signed());
            println!(
                "{name:15} {root:4} {:6.3} {rate:10.2e} {independent:10.2e} {:6.2} {:8.1}",
                array.share_of_ones(),
                rate / independent,
                array.fetch_ns()
            );
        }
    }
}
