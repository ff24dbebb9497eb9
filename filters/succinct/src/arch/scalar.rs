//! Portable code, the reference for every other instruction set.

use super::{Isa, Kernel};

/// One in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The top bit of every byte.
const TOPS: u64 = 0x8080_8080_8080_8080;

/// No special instructions: runs everywhere.
#[derive(Debug, Clone, Copy)]
pub struct Scalar;

impl Isa for Scalar {
    #[inline(always)]
    fn count_ones(self, word: u64) -> u32 {
        word.count_ones()
    }

    #[inline(always)]
    fn select_in_word(self, word: u64, rank: u32) -> u32 {
        let through = ones_through_byte(word);
        // A byte ends before the wanted one if it and the bytes below hold at most `rank` ones.
        let passed = (((u64::from(rank) * ONES) | TOPS) - through) & TOPS;
        let place = ((passed >> 7).wrapping_mul(ONES) >> 56) * 8;
        if place == 64 {
            return 64;
        }
        let before = (through << 8 >> place) & 0xFF;
        let mut rest = word >> place & 0xFF;
        for _ in before..u64::from(rank) {
            rest &= rest - 1;
        }
        rest.trailing_zeros() + (place & 63) as u32
    }

    #[inline(always)]
    fn bytes_below(self, bytes: &[u8; 32], bound: u8) -> u32 {
        bytes.iter().zip(0..).fold(0, |mask, (&byte, place)| mask | u32::from(byte < bound) << place)
    }

    #[inline(always)]
    fn parities(self, rows: [&[u8; 32]; 3], masks: [u16; 3]) -> u16 {
        let word = |row: usize, column: usize| {
            u16::from_le_bytes([rows[row][2 * column], rows[row][2 * column + 1]])
        };
        (0..16).fold(0, |parities, column| {
            let picked = (0..3).fold(0, |picked, row| picked ^ (word(row, column) & masks[row]));
            parities | ((picked.count_ones() & 1) as u16) << column
        })
    }

    #[inline(never)]
    fn run_apart<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

/// In each byte, the number of ones in it and in the bytes below it.
#[inline(always)]
fn ones_through_byte(word: u64) -> u64 {
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let in_byte = (nibbles + (nibbles >> 4)) & 0x0F0F_0F0F_0F0F_0F0F;
    in_byte.wrapping_mul(ONES)
}
