//! The one place that chooses an instruction set.

use std::sync::atomic::{AtomicU8, Ordering};

#[cfg(target_arch = "x86_64")]
use super::Avx2;
use super::{Kernel, Scalar};

/// Names of the instruction sets there is code for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IsaKind {
    /// Portable code.
    Scalar,
    /// x86-64 with AVX2, BMI1, BMI2, POPCNT and LZCNT.
    Avx2,
}

impl IsaKind {
    /// Every set, available here or not, so that a test can compare them all.
    pub const ALL: [Self; 2] = [Self::Scalar, Self::Avx2];
}

const UNKNOWN: u8 = 0;
const SCALAR: u8 = 1;
const AVX2: u8 = 2;

/// The choice for this process, made at the first query.
static CHOSEN: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Runs `kernel` with the best instruction set of this machine.
#[inline(always)]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if CHOSEN.load(Ordering::Relaxed) == AVX2 {
        // SAFETY: `choose` stores this value only after `Avx2::detect` has found the set.
        return unsafe { Avx2::known() }.run(kernel);
    }
    dispatch_otherwise(kernel)
}

/// Everything but the common case, kept apart so that the common case stays short.
#[cold]
#[inline(never)]
fn dispatch_otherwise<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if CHOSEN.load(Ordering::Relaxed) == UNKNOWN && choose() == AVX2 {
        // SAFETY: `choose` returns this value only after `Avx2::detect` has found the set.
        return unsafe { Avx2::known() }.run(kernel);
    }
    kernel.run(Scalar)
}

/// Runs `kernel` with the set named `kind`; `None` if this machine does not have it.
pub fn dispatch_on<K: Kernel>(kind: IsaKind, kernel: K) -> Option<K::Output> {
    match kind {
        IsaKind::Scalar => Some(kernel.run(Scalar)),
        #[cfg(target_arch = "x86_64")]
        IsaKind::Avx2 => Avx2::detect().map(|isa| isa.run(kernel)),
        #[cfg(not(target_arch = "x86_64"))]
        IsaKind::Avx2 => None,
    }
}

#[cold]
fn choose() -> u8 {
    let forced = std::env::var_os("LACUNA_ISA").is_some_and(|name| name == "scalar");
    let chosen = if !forced && avx2_is_best() { AVX2 } else { SCALAR };
    CHOSEN.store(chosen, Ordering::Relaxed);
    chosen
}

#[cfg(target_arch = "x86_64")]
fn avx2_is_best() -> bool {
    Avx2::detect().is_some() && Avx2::deposit_is_fast()
}

#[cfg(not(target_arch = "x86_64"))]
fn avx2_is_best() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Isa;

    /// Every select and the count of one word.
    struct Everything(u64);

    impl Kernel for Everything {
        type Output = (u32, Vec<u32>);
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Self::Output {
            (isa.count_ones(self.0), (0..64).map(|rank| isa.select_in_word(self.0, rank)).collect())
        }
    }

    fn by_definition(word: u64) -> (u32, Vec<u32>) {
        let mut places: Vec<u32> = (0..64).filter(|&place| word >> place & 1 == 1).collect();
        let count = u32::try_from(places.len()).expect("at most 64");
        places.resize(64, 64);
        (count, places)
    }

    /// Which of 32 bytes are below a bound.
    struct Below([u8; 32], u8);

    impl Kernel for Below {
        type Output = u32;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> u32 {
            isa.bytes_below(&self.0, self.1)
        }
    }

    #[test]
    fn bytes_are_compared_without_sign() {
        let mut bytes = [0_u8; 32];
        for round in 0..64_u8 {
            for (byte, place) in bytes.iter_mut().zip(0_u8..) {
                *byte = place.wrapping_mul(round | 1).wrapping_add(round.wrapping_mul(37));
            }
            for bound in 0..=u8::MAX {
                let below = |place: usize| u32::from(bytes[place] < bound) << place;
                let expected: u32 = (0..32).map(below).sum();
                for kind in IsaKind::ALL {
                    if let Some(found) = dispatch_on(kind, Below(bytes, bound)) {
                        assert_eq!(found, expected, "{kind:?} on {bytes:?} and {bound}");
                    }
                }
            }
        }
    }

    /// Parities of the picked bits of 16 columns.
    struct Parities([[u8; 32]; 3], [u16; 3]);

    impl Kernel for Parities {
        type Output = u16;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> u16 {
            isa.parities([&self.0[0], &self.0[1], &self.0[2]], self.1)
        }
    }

    #[test]
    fn parities_are_those_of_single_bits() {
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(0xD129_42F9_3B2E_21A5).wrapping_add(0x1234_5678_9ABC_DEF1);
            (state ^ state >> 29).to_le_bytes()
        };
        for _ in 0..2_000 {
            let rows: [[u8; 32]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| next()[3]));
            let masks: [u16; 3] = std::array::from_fn(|_| u16::from_le_bytes([next()[2], next()[5]]));
            let bit = |column: usize, row: usize, place: usize| {
                let byte = rows[row][2 * column + place / 8];
                byte >> (place % 8) & 1 == 1 && masks[row] >> place & 1 == 1
            };
            let parity = |column: usize| {
                let picked = (0..48).filter(|&place| bit(column, place / 16, place % 16)).count();
                u16::from(picked % 2 == 1) << column
            };
            let expected: u16 = (0..16).map(parity).sum();
            for kind in IsaKind::ALL {
                if let Some(found) = dispatch_on(kind, Parities(rows, masks)) {
                    assert_eq!(found, expected, "{kind:?} on {rows:?} under {masks:?}");
                }
            }
        }
    }

    #[test]
    fn all_instruction_sets_agree() {
        let mut words: Vec<u64> =
            vec![0, 1, 1 << 63, u64::MAX, u64::MAX >> 1, 0x8000_0001, 0xFF << 56, 0x80 << 8];
        words.extend((0..64).map(|shift| 1 << shift));
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..2_000 {
            state = state.wrapping_mul(0xD129_42F9_3B2E_21A5).wrapping_add(0x1234_5678_9ABC_DEF1);
            let word = state ^ state >> 29;
            words.push(if round % 3 == 0 { word & word << 7 & word << 13 } else { word });
        }
        for word in words {
            for kind in IsaKind::ALL {
                if let Some(found) = dispatch_on(kind, Everything(word)) {
                    assert_eq!(found, by_definition(word), "{kind:?} on {word:#x}");
                }
            }
            assert_eq!(dispatch(Everything(word)), by_definition(word));
        }
    }
}
