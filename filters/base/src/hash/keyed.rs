//! A hash of integers that is a mystery to those who do not know its key of 128 bits: SipHash-2-4.
//!
//! Two keyed words and their complements with constants are stirred by additions, rotations and exclusive ors: two rounds for
//! each word of the message, four at the end. The output is fixed for ever, as that of the other hashes. Some 10 ns for an
//! integer, four times as long as the hash under a seed.
//!
//! Aumasson, Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012. Ours: messages are an integer, or an integer and a
//! byte that says what the hash is for.

/// SipHash-2-4 of integers under a key.
///
/// ```
/// use lacuna_base::hash::KeyedHasher;
///
/// let hasher = KeyedHasher::new([1, 2]);
/// assert_eq!(hasher.hash(42), KeyedHasher::new([1, 2]).hash(42));
/// assert_ne!(hasher.hash(42), hasher.hash_for(0, 42));
/// ```
#[derive(Clone, Copy)]
pub struct KeyedHasher {
    key: [u64; 2],
}

/// The key stays out of logs.
impl std::fmt::Debug for KeyedHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyedHasher(..)")
    }
}

impl KeyedHasher {
    /// Hashes under `key`, its first eight bytes little-endian in the first word.
    #[inline]
    pub const fn new(key: [u64; 2]) -> Self {
        Self { key }
    }

    /// The hash of the eight little-endian bytes of `value`.
    #[inline(always)]
    pub const fn hash(self, value: u64) -> u64 {
        self.siphash(value, 8 << 56)
    }

    /// The hash of the eight little-endian bytes of `value` and a ninth, `purpose`: independent of [`hash`](Self::hash), and for
    /// each purpose of the others.
    #[inline(always)]
    pub const fn hash_for(self, purpose: u8, value: u64) -> u64 {
        self.siphash(value, 9 << 56 | purpose as u64)
    }

    /// SipHash-2-4 of one whole word and of the last one, which has the message's length in its highest byte.
    #[inline(always)]
    const fn siphash(self, word: u64, last: u64) -> u64 {
        let [low, high] = self.key;
        let start = State([
            low ^ 0x736F_6D65_7073_6575,
            high ^ 0x646F_7261_6E64_6F6D,
            low ^ 0x6C79_6765_6E65_7261,
            high ^ 0x7465_6462_7974_6573,
        ]);
        let State([a, b, c, d]) = start.take(word).take(last);
        let State([a, b, c, d]) = State([a, b, c ^ 0xFF, d]).round().round().round().round();
        a ^ b ^ c ^ d
    }
}

/// The four words of SipHash.
#[derive(Clone, Copy)]
struct State([u64; 4]);

impl State {
    /// Stirs a word of the message in.
    #[inline(always)]
    const fn take(self, word: u64) -> Self {
        let Self([a, b, c, d]) = self;
        let Self([a, b, c, d]) = Self([a, b, c, d ^ word]).round().round();
        Self([a ^ word, b, c, d])
    }

    #[inline(always)]
    const fn round(self) -> Self {
        let Self([a, b, c, d]) = self;
        let (a, c) = (a.wrapping_add(b), c.wrapping_add(d));
        let (b, d) = (b.rotate_left(13) ^ a, d.rotate_left(16) ^ c);
        let (a, c) = (a.rotate_left(32).wrapping_add(d), c.wrapping_add(b));
        let (b, d) = (b.rotate_left(17) ^ c, d.rotate_left(21) ^ a);
        Self([a, b, c.rotate_left(32), d])
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher as _;

    use super::*;

    /// The standard library has had the same function from its beginning.
    #[expect(deprecated, reason = "its successor promises no output")]
    fn reference(key: [u64; 2], message: &[u8]) -> u64 {
        let mut hasher = std::hash::SipHasher::new_with_keys(key[0], key[1]);
        hasher.write(message);
        hasher.finish()
    }

    #[test]
    fn the_output_is_that_of_siphash() {
        // The paper's key, and the first eight bytes of its message.
        let hasher = KeyedHasher::new([0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908]);
        assert_eq!(hasher.hash(0x0706_0504_0302_0100), 0x93F5_F579_9A93_2462);
        let mut value = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..10_000_u64 {
            let key = [value.rotate_left(17) ^ round, value.wrapping_mul(round | 1)];
            let hasher = KeyedHasher::new(key);
            let bytes = value.to_le_bytes();
            assert_eq!(hasher.hash(value), reference(key, &bytes), "value {value:#x}, key {key:x?}");
            let purpose = round.to_le_bytes()[0];
            let message = [&bytes[..], &[purpose]].concat();
            assert_eq!(
                hasher.hash_for(purpose, value),
                reference(key, &message),
                "value {value:#x}, key {key:x?}"
            );
            value = hasher.hash(value);
        }
    }
}
