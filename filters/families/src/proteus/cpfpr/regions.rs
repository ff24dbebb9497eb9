//! How many prefixes a query touches, one length after the other.
//!
//! A range that touches n prefixes of one length touches twice as many of the next one, less one for each end that
//! leaves out half of its prefix: the first end where its next bit is one, the last end where it is zero. Over several
//! bits at once, the ends leave out as many prefixes as those bits are when read as numbers. So the counts of all
//! lengths cost a few additions each, and they never fall.

use crate::proteus::prefix_key::PrefixKey;

/// Most bits that are added at once.
const MAX_STEP: u32 = 32;

/// The prefixes from the first end to the last, or from an end to the border of its prefix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Regions<K> {
    first: Option<K>,
    last: Option<K>,
    /// Bits of the prefixes counted.
    bits: u32,
    count: u64,
}

impl<K: PrefixKey> Regions<K> {
    /// The range from `lo` to `hi`, which share the first `shared` bits: one prefix of that length.
    pub(crate) fn between(lo: K, hi: K, shared: u32) -> Self {
        Self { first: Some(lo), last: Some(hi), bits: shared, count: 1 }
    }

    /// From `lo` to the end of its first `bits` bits.
    pub(crate) fn from(lo: K, bits: u32) -> Self {
        Self { first: Some(lo), last: None, bits, count: 1 }
    }

    /// From the start of the first `bits` bits of `hi` to it.
    pub(crate) fn to(hi: K, bits: u32) -> Self {
        Self { first: None, last: Some(hi), bits, count: 1 }
    }

    /// The prefixes of `bits` bits, saturating; `bits` must not fall from call to call.
    #[inline(always)]
    pub(crate) fn of(&mut self, bits: u32) -> u64 {
        // Mostly one bit at a time.
        while self.bits + 1 < bits {
            self.add((bits - self.bits).min(MAX_STEP));
        }
        if self.bits < bits {
            self.add(1);
        }
        self.count
    }

    #[inline(always)]
    fn add(&mut self, step: u32) {
        let next = |word: u64| word >> (u64::BITS - step);
        let left_out = self.first.map_or(0, |key| next(key.word(self.bits)))
            + self.last.map_or(0, |key| next(!key.word(self.bits)));
        let is_small = self.count.leading_zeros() >= step;
        self.count = if is_small { (self.count << step) - left_out } else { u64::MAX };
        self.bits += step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_shifted_ends() {
        for (lo, hi) in [(4u64, 8), (5, 5), (0, u64::MAX), (7 << 40, (8 << 40) + 3), ((1 << 63) - 1, 1 << 63)]
        {
            let shared = lo.shared_bits(hi).min(64);
            let mut regions = Regions::between(lo, hi, shared);
            for bits in shared..=64 {
                let (first, last) = (lo.tail(bits), hi.tail(bits));
                assert_eq!(regions.of(bits), (last - first).saturating_add(1), "{lo}..={hi}, {bits} bits");
            }
        }
    }

    #[test]
    fn several_bits_count_as_one_by_one() {
        use crate::proteus::prefix_key::StringTail;
        let (lo, hi) = (b"range/\x03\xf0\x7f-of-a-long-key", b"range/\x04\x10\x80-of-a-long-key");
        let tails = (StringTail(lo), StringTail(hi));
        let shared = tails.0.shared_bits(tails.1);
        let mut one_by_one = Regions::between(tails.0, tails.1, shared);
        for bits in shared..200 {
            let counted = one_by_one.of(bits);
            assert_eq!(Regions::between(tails.0, tails.1, shared).of(bits), counted, "{bits} bits");
        }
    }

    #[test]
    fn sides_end_at_their_prefix() {
        let key = 0xABCD_u64 << 48;
        let (mut low, mut high) = (Regions::from(key, 8), Regions::to(key, 8));
        assert_eq!((low.of(16), high.of(16)), (0x100 - 0xCD, 0xCE));
        assert_eq!((low.of(20), high.of(20)), ((0x100 - 0xCD) << 4, 0xCD0 + 1));
    }
}
