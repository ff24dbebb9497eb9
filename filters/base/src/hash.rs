//! Hashes whose output is fixed for ever, because it decides the bytes on disk.
//!
//! Both are XXH3-64 with a seed, the first specialised to the eight little-endian bytes of an integer: about four
//! multiplications' worth of latency, no table, the same output on every machine. Who knows the seed can choose what they give,
//! and so perhaps can who does not: the seed is 64 bits of a function that was made to be fast. Where that matters there is
//! [`KeyedHasher`].

mod keyed;

pub use keyed::KeyedHasher;

/// `PRIME_MX2` of XXH3, the multiplier of its rrmxmx finish.
const PRIME_MX2: u64 = 0x9FB2_1C65_1E98_DF25;
/// Bytes 8..16 and 16..24 of the default XXH3 secret, as little-endian integers.
const SECRET_8: u64 = 0x1CAD_21F7_2C81_017C;
const SECRET_16: u64 = 0xDB97_9083_E96D_D4DE;

/// XXH3-64 of `bytes` under `seed`.
///
/// ```
/// assert_eq!(lacuna_base::hash::hash_bytes(b"", 0), 0x2D06_8005_38D3_94C2);
/// ```
#[inline]
pub fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(bytes, seed)
}

/// XXH3-64 of the eight little-endian bytes of an integer, under a seed prepared once.
///
/// ```
/// use lacuna_base::hash::{hash_bytes, IntegerHasher};
///
/// let hasher = IntegerHasher::new(7);
/// assert_eq!(hasher.hash(42), hash_bytes(&42u64.to_le_bytes(), 7));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct IntegerHasher {
    bitflip: u64,
}

impl IntegerHasher {
    /// Prepares `seed`.
    #[inline]
    pub const fn new(seed: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
        let low = (seed as u32).swap_bytes() as u64;
        let seed = seed ^ (low << 32);
        Self { bitflip: (SECRET_8 ^ SECRET_16).wrapping_sub(seed) }
    }

    /// The hash of `value`.
    #[inline(always)]
    pub const fn hash(self, value: u64) -> u64 {
        const LENGTH: u64 = 8;
        let mut hash = value.rotate_left(32) ^ self.bitflip;
        hash ^= hash.rotate_left(49) ^ hash.rotate_left(24);
        hash = hash.wrapping_mul(PRIME_MX2);
        hash ^= (hash >> 35).wrapping_add(LENGTH);
        hash = hash.wrapping_mul(PRIME_MX2);
        hash ^ (hash >> 28)
    }
}

/// `hash * bound / 2^64`: maps a uniform hash onto `0..bound` with one multiplication.
#[inline(always)]
pub const fn reduce(hash: u64, bound: u64) -> u64 {
    ((hash as u128 * bound as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_fixed_for_ever() {
        // A change here would orphan every filter on disk.
        assert_eq!(hash_bytes(b"", 0), 0x2D06_8005_38D3_94C2);
        let vectors = [
            (0u64, 0u64, 0xC77B_3ABB_6F87_ACD9),
            (1, 0, 0x2FBC_5935_64DB_792E),
            (u64::MAX, 0, 0x5111_C7E4_7D78_4413),
            (0, 1, 0x9E51_AD6D_2F3E_695C),
            (0x0123_4567_89AB_CDEF, 0xDEAD_BEEF_0BAD_F00D, 0xFDEC_59AA_98DF_87B8),
        ];
        for (value, seed, expected) in vectors {
            assert_eq!(IntegerHasher::new(seed).hash(value), expected, "value {value:#x}, seed {seed:#x}");
        }
    }

    #[test]
    fn integers_hash_as_their_bytes() {
        let mut value = 0x9E37_79B9_7F4A_7C15u64;
        for round in 0..10_000u64 {
            let seed = value.rotate_left(17) ^ round;
            let expected = hash_bytes(&value.to_le_bytes(), seed);
            assert_eq!(IntegerHasher::new(seed).hash(value), expected, "value {value:#x}, seed {seed:#x}");
            value = value.wrapping_mul(PRIME_MX2) ^ (value >> 29);
        }
    }

    #[test]
    fn reduction_stays_below_its_bound() {
        assert_eq!(reduce(u64::MAX, 10), 9);
        assert_eq!(reduce(u64::MAX, u64::MAX), u64::MAX - 1);
        assert_eq!(reduce(0, 10), 0);
    }
}
