//! The false positive rate of the Bloom filter that is really built.
//!
//! `p = (1 - e^(-k n / m))^k` for n prefixes in m bits with k bits a prefix, k at most 32. The paper's equation 6 prints
//! the ideal `(1 - e^(-ln 2))^k`, which holds only where k is not rounded.

use crate::bloom::BloomSpec;

/// Expected share of absent prefixes for which a Bloom filter of `bits` bits over `prefixes` prefixes says "maybe".
pub(crate) fn bloom_rate(bits: u64, prefixes: u64) -> f64 {
    if bits == 0 {
        return 1.0;
    }
    let (bits, prefixes) = (bits as f64, prefixes as f64);
    let hashes = BloomSpec::new().hash_count(bits / prefixes);
    let ones = -libm::expm1(-f64::from(hashes) * prefixes / bits);
    (0..hashes).fold(1.0, |rate, _| rate * ones)
}

/// The chance that at least one of `count` absent prefixes is a false positive, each with the chance `rate`.
pub(crate) fn any_of(rate: f64, count: f64) -> f64 {
    -libm::expm1(count * libm::log1p(-rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_bits_a_key_give_the_known_rate() {
        assert!((bloom_rate(10_000_000, 1_000_000) - 0.00819).abs() < 1e-4);
        assert!(bloom_rate(8, 1_000_000) > 0.999_999);
        assert_eq!(bloom_rate(0, 5), 1.0);
    }

    #[test]
    fn chances_add_up() {
        assert!((any_of(0.01, 3.0) - (1.0 - 0.99f64 * 0.99 * 0.99)).abs() < 1e-12);
        assert_eq!((any_of(1.0, 1.0), any_of(0.0, 64.0)), (1.0, 0.0));
    }
}
