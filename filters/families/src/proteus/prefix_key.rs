//! Keys seen as strings of bits: integers, and byte strings with zeros after their end.
//!
//! A prefix of more than 64 bits is a *head* of whole bytes and a *tail* of 57 to 64 bits, so that the next prefix is the
//! next tail: neighbouring prefixes cost one short hash each, however long they are.

use lacuna_base::SortedKeys;
use lacuna_base::hash::{IntegerHasher, hash_bytes};
use lacuna_succinct::trie::uniform::{IntegerPath, Path, StringPath};

/// Most bits of a tail.
const TAIL_BITS: u32 = 64;

/// Bits of a prefix of `bits` bits that stand in its head.
#[inline(always)]
pub(crate) fn head_bits(bits: u32) -> u32 {
    bits.saturating_sub(TAIL_BITS).next_multiple_of(8)
}

/// A key as bits, the first of them highest.
pub(crate) trait PrefixKey: Copy + Ord {
    /// Bits that a choice among lengths goes by: characters of a string are whole bytes.
    const STEP: u32;
    /// A prefix as labels of a trie.
    type Path: Path;

    /// The 64 bits after the first `place`; zeros after the end.
    fn word(self, place: u32) -> u64;
    /// Bit `place`, counted from the first; zero after the end.
    #[inline(always)]
    fn bit(self, place: u32) -> bool {
        self.word(place) >> 63 == 1
    }
    /// Leading bits shared with `other`; `u32::MAX` if they differ in zeros after the end alone, or not at all.
    fn shared_bits(self, other: Self) -> u32;
    /// The first `bits` bits as labels.
    fn path(self, bits: u32) -> Self::Path;
    /// The tail of the first `bits` bits.
    fn tail(self, bits: u32) -> u64;
    /// The hasher of the tails after the head of the first `bits` bits.
    fn hasher(self, bits: u32, seed: u64) -> IntegerHasher;
    /// Whether every key below this one also has smaller first `bits` bits.
    fn is_sharp(self, bits: u32) -> bool;
}

impl PrefixKey for u64 {
    const STEP: u32 = 1;
    type Path = IntegerPath;

    #[inline(always)]
    fn word(self, place: u32) -> u64 {
        self.unbounded_shl(place)
    }

    #[inline(always)]
    fn shared_bits(self, other: Self) -> u32 {
        match self ^ other {
            0 => u32::MAX,
            differing => differing.leading_zeros(),
        }
    }

    #[inline(always)]
    fn path(self, bits: u32) -> IntegerPath {
        IntegerPath::new(self.tail(bits), bits)
    }

    #[inline(always)]
    fn tail(self, bits: u32) -> u64 {
        self.unbounded_shr(u64::BITS - bits.min(u64::BITS))
    }

    #[inline(always)]
    fn hasher(self, _bits: u32, seed: u64) -> IntegerHasher {
        IntegerHasher::new(seed)
    }

    fn is_sharp(self, bits: u32) -> bool {
        self.unbounded_shl(bits) == 0
    }
}

/// A byte string, or what stands of it after a common prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StringTail<'a>(pub(crate) &'a [u8]);

impl StringTail<'_> {
    #[inline(always)]
    fn byte(self, place: usize) -> u8 {
        self.0.get(place).copied().unwrap_or(0)
    }

    /// The eight bytes from `start` on, zeros after the end.
    #[inline(always)]
    fn eight(self, start: usize) -> u64 {
        let rest = self.0.get(start..).unwrap_or_default();
        let eight = rest.first_chunk::<8>().copied().unwrap_or_else(|| {
            let mut padded = [0; 8];
            padded[..rest.len()].copy_from_slice(rest);
            padded
        });
        u64::from_be_bytes(eight)
    }
}

impl<'a> PrefixKey for StringTail<'a> {
    const STEP: u32 = 8;
    type Path = StringPath<'a>;

    #[inline(always)]
    fn word(self, place: u32) -> u64 {
        let (start, odd) = ((place / 8) as usize, place % 8);
        let behind = u64::from(self.byte(start + 8)) >> (8 - odd);
        self.eight(start) << odd | behind
    }

    #[inline]
    fn shared_bits(self, other: Self) -> u32 {
        let mut place = lacuna_succinct::trie::shared_len(self.0, other.0);
        let end = self.0.len().max(other.0.len());
        while place < end && self.byte(place) == other.byte(place) {
            place += 1;
        }
        if place == end {
            return u32::MAX;
        }
        let in_byte = (self.byte(place) ^ other.byte(place)).leading_zeros();
        u32::try_from(place * 8).unwrap_or(u32::MAX - 8) + in_byte
    }

    #[inline(always)]
    fn path(self, bits: u32) -> StringPath<'a> {
        StringPath::new(self.0, bits)
    }

    #[inline(always)]
    fn tail(self, bits: u32) -> u64 {
        let head = head_bits(bits);
        self.eight((head / 8) as usize) >> (TAIL_BITS - (bits - head))
    }

    #[inline(always)]
    fn hasher(self, bits: u32, seed: u64) -> IntegerHasher {
        match (head_bits(bits) / 8) as usize {
            0 => IntegerHasher::new(seed),
            bytes => {
                let head = &self.0[..self.0.len().min(bytes)];
                // Strings that differ in zeros after their end have the same prefixes.
                let end = head.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                IntegerHasher::new(hash_bytes(&head[..end], seed))
            }
        }
    }

    fn is_sharp(self, bits: u32) -> bool {
        let (whole, odd) = ((bits / 8) as usize, bits % 8);
        let behind = self.0.get(whole..).unwrap_or_default();
        let kept = behind.first().is_none_or(|&byte| byte << odd == 0);
        let end_is_whole = self.0.last().is_none_or(|&byte| byte != 0);
        kept && end_is_whole && behind.len() <= usize::from(odd > 0)
    }
}

/// Ascending keys as strings of bits.
pub(crate) trait PrefixKeys: Sync {
    /// One of them.
    type Key: PrefixKey + Send + Sync;

    /// Number of keys.
    fn len(&self) -> usize;
    /// The key at `index`.
    fn key(&self, index: usize) -> Self::Key;
    /// Bits of the longest key.
    fn longest_bits(&self) -> u32;
}

impl PrefixKeys for [u64] {
    type Key = u64;

    fn len(&self) -> usize {
        self.len()
    }
    #[inline(always)]
    fn key(&self, index: usize) -> u64 {
        self[index]
    }
    fn longest_bits(&self) -> u32 {
        u64::BITS
    }
}

/// Integers of fewer than 64 bits, seen from their own first bit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aligned<'a> {
    keys: &'a [u64],
    bits: u32,
}

impl<'a> Aligned<'a> {
    /// Keys of `bits` bits, 1 to 64.
    pub(crate) fn new(keys: &'a [u64], bits: u32) -> Self {
        Self { keys, bits }
    }

    /// Queries over such keys.
    pub(crate) fn queries(self, ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let shift = u64::BITS - self.bits;
        // What stands after the last bit belongs to the range.
        ranges.iter().map(|&(lo, hi)| (lo << shift, hi << shift)).collect()
    }
}

impl PrefixKeys for Aligned<'_> {
    type Key = u64;

    fn len(&self) -> usize {
        self.keys.len()
    }
    #[inline(always)]
    fn key(&self, index: usize) -> u64 {
        self.keys[index] << (u64::BITS - self.bits)
    }
    fn longest_bits(&self) -> u32 {
        self.bits
    }
}

/// Byte strings after their common prefix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StringTails<'a> {
    pub(crate) keys: SortedKeys<'a, [u8]>,
    pub(crate) prefix_len: usize,
}

/// Most bytes of a key that a prefix can reach.
const MAX_BYTES: usize = u16::MAX as usize;

impl<'a> PrefixKeys for StringTails<'a> {
    type Key = StringTail<'a>;

    fn len(&self) -> usize {
        self.keys.len()
    }
    #[inline(always)]
    fn key(&self, index: usize) -> StringTail<'a> {
        StringTail(self.keys.get(index).get(self.prefix_len..).unwrap_or_default())
    }
    fn longest_bits(&self) -> u32 {
        let longest = self.keys.iter().map(<[u8]>::len).max().unwrap_or(0);
        let bytes = longest.saturating_sub(self.prefix_len).clamp(1, MAX_BYTES);
        u32::try_from(bytes * 8).expect("at most 2^19")
    }
}
