//! The best instructions of this machine, chosen at run time.
//!
//! A query is written once as a [`Kernel`], generic over the instruction set [`Isa`]. [`dispatch`] runs it inside a
//! function that is compiled for the best set the machine has, once per query or batch, so that small operations such
//! as [`Isa::select_in_word`] become single instructions. All sets give the same answers; `LACUNA_ISA=scalar` in the
//! environment forces the portable one. This folder holds the only unsafe code of the crate.

#![allow(unsafe_code, reason = "instruction-set intrinsics stand in this folder and nowhere else")]

mod choose;
mod prefetch;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86_avx2;

pub use choose::{IsaKind, dispatch, dispatch_on};
pub use prefetch::prefetch;
pub use scalar::Scalar;
#[cfg(target_arch = "x86_64")]
pub use x86_avx2::Avx2;

/// An instruction set; a value of such a type proves that this machine has it.
pub trait Isa: Copy {
    /// Number of ones in `word`.
    fn count_ones(self, word: u64) -> u32;
    /// Position of the `rank`-th one of `word`, counted from 0 at the low end; 64 if there are fewer.
    /// `rank` must be below 64.
    fn select_in_word(self, word: u64, rank: u32) -> u32;
    /// Which of 32 bytes are below `bound`: bit i stands for byte i.
    fn bytes_below(self, bytes: &[u8; 32], bound: u8) -> u32;
    /// For each of 16 columns, the parity of the bits that `masks` picks from it: bit k stands for column k, whose 48 bits
    /// are the k-th 16-bit little-endian words of the three `rows`, each under its mask.
    fn parities(self, rows: [&[u8; 32]; 3], masks: [u16; 3]) -> u16;
    /// Runs `kernel` with this set in a function of its own: for rare paths, which would crowd the common one.
    fn run_apart<K: Kernel>(self, kernel: K) -> K::Output;
}

/// A computation that can run on any instruction set.
///
/// ```
/// use lacuna_succinct::arch::{Isa, Kernel, dispatch};
///
/// struct CountAll<'a>(&'a [u64]);
/// impl Kernel for CountAll<'_> {
///     type Output = u32;
///     #[inline(always)]
///     fn run<I: Isa>(self, isa: I) -> u32 {
///         self.0.iter().map(|&word| isa.count_ones(word)).sum()
///     }
/// }
/// assert_eq!(dispatch(CountAll(&[7, 1])), 4);
/// ```
pub trait Kernel {
    /// The result of the computation.
    type Output;
    /// Computes with `isa`. Implementers mark this `#[inline(always)]`: only then is it compiled for that set.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}
