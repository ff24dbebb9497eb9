//! How many prefixes a query touches, one length after the other.
//!
//! A range that touches n prefixes of one length touches twice as many of the next one, less one for each end that
//! leaves out half of its prefix: the first end where its next bit is one, the last end where it is zero. So the counts
//! of all lengths cost two bits each, and they never fall.

use crate::proteus::prefix_key::PrefixKey;

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
    pub(crate) fn of(&mut self, bits: u32) -> u64 {
        while self.bits < bits {
            let less_first = u64::from(self.first.is_some_and(|key| key.bit(self.bits)));
            let less_last = u64::from(self.last.is_some_and(|key| !key.bit(self.bits)));
            self.count = self.count.saturating_mul(2) - less_first - less_last;
            self.bits += 1;
        }
        self.count
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
    fn sides_end_at_their_prefix() {
        let key = 0xABCD_u64 << 48;
        let (mut low, mut high) = (Regions::from(key, 8), Regions::to(key, 8));
        assert_eq!((low.of(16), high.of(16)), (0x100 - 0xCD, 0xCE));
        assert_eq!((low.of(20), high.of(20)), ((0x100 - 0xCD) << 4, 0xCD0 + 1));
    }
}
