//! x86-64 with AVX2 and both bit-manipulation sets: Intel since Haswell, AMD since Zen 3.

use core::arch::x86_64::{
    __cpuid, __m256i, _mm_movemask_epi8, _mm_packs_epi16, _mm256_and_si256, _mm256_castsi256_si128,
    _mm256_cmpeq_epi8, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_max_epu8, _mm256_movemask_epi8,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_slli_epi16, _mm256_srli_epi16, _mm256_xor_si256, _pdep_u64,
};

use super::{Isa, Kernel};

/// Proof that this machine has AVX2, BMI1, BMI2, POPCNT and LZCNT; only `Avx2::detect` makes one.
#[derive(Debug, Clone, Copy)]
pub struct Avx2 {
    _detected: (),
}

impl Avx2 {
    /// The set, if this machine has it.
    pub(crate) fn detect() -> Option<Self> {
        let present = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("lzcnt");
        if present { Some(Self { _detected: () }) } else { None }
    }

    /// The set, without a check.
    ///
    /// # Safety
    /// [`Avx2::detect`] must have found it on this machine before.
    #[inline(always)]
    pub(super) unsafe fn known() -> Self {
        Self { _detected: () }
    }

    /// Whether bit deposit is a real instruction here. AMD before Zen 3 (family 0x19) takes hundreds of cycles for
    /// it, and the portable select is faster.
    pub(super) fn deposit_is_fast() -> bool {
        #[allow(unused_unsafe, reason = "newer toolchains declare it safe")]
        // SAFETY: every x86-64 machine has the CPUID instruction.
        let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1)) };
        let amd = (vendor.ebx, vendor.edx, vendor.ecx) == (0x6874_7541, 0x6974_6E65, 0x444D_4163);
        let family = (version.eax >> 8 & 0xF) + (version.eax >> 20 & 0xFF);
        !amd || family >= 0x19
    }

    /// Runs `kernel` in a function compiled for this set.
    #[inline(always)]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: `self` exists, so `detect` has seen every feature that `run_compiled` enables.
        unsafe { run_compiled(self, kernel) }
    }
}

#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_compiled<K: Kernel>(isa: Avx2, kernel: K) -> K::Output {
    kernel.run(isa)
}

impl Isa for Avx2 {
    #[inline(always)]
    fn count_ones(self, word: u64) -> u32 {
        word.count_ones()
    }

    #[inline(always)]
    fn select_in_word(self, word: u64, rank: u32) -> u32 {
        debug_assert!(rank < 64);
        // SAFETY: `self` exists, so `detect` has seen BMI2.
        let deposited = unsafe { _pdep_u64(1 << (rank & 63), word) };
        deposited.trailing_zeros()
    }

    #[inline(always)]
    fn bytes_below(self, bytes: &[u8; 32], bound: u8) -> u32 {
        // SAFETY: `self` exists, so `detect` has seen AVX2; the load reads the 32 bytes of the array, at any alignment.
        let reaching = unsafe {
            let labels = _mm256_loadu_si256(bytes.as_ptr().cast());
            let bounds = _mm256_set1_epi8(bound.cast_signed());
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(labels, bounds), labels))
        };
        !reaching.cast_unsigned()
    }

    #[inline(always)]
    fn parities(self, rows: [&[u8; 32]; 3], masks: [u16; 3]) -> u16 {
        // SAFETY: `self` exists, so `detect` has seen AVX2; each load reads the 32 bytes of an array, at any alignment.
        let mask = unsafe {
            let picked = |row: usize| {
                let words = _mm256_loadu_si256(rows[row].as_ptr().cast());
                _mm256_and_si256(words, _mm256_set1_epi16(masks[row].cast_signed()))
            };
            let all = _mm256_xor_si256(_mm256_xor_si256(picked(0), picked(1)), picked(2));
            let eighths = _mm256_xor_si256(all, _mm256_srli_epi16::<8>(all));
            let quarters = _mm256_xor_si256(eighths, _mm256_srli_epi16::<4>(eighths));
            let pairs = _mm256_xor_si256(quarters, _mm256_srli_epi16::<2>(quarters));
            let parities: __m256i = _mm256_xor_si256(pairs, _mm256_srli_epi16::<1>(pairs));
            let signs = _mm256_slli_epi16::<15>(parities);
            let (low, high) = (_mm256_castsi256_si128(signs), _mm256_extracti128_si256::<1>(signs));
            _mm_movemask_epi8(_mm_packs_epi16(low, high))
        };
        #[expect(clippy::cast_possible_truncation, reason = "a bit for each of 16 bytes")]
        let parities = mask.cast_unsigned() as u16;
        parities
    }

    #[inline(always)]
    fn run_apart<K: Kernel>(self, kernel: K) -> K::Output {
        self.run(kernel)
    }
}
