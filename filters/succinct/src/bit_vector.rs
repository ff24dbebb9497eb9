//! Plain bits, as they are collected before [`rank_select`](crate::rank_select) writes them.

use crate::bytes::low_mask;

/// A growing sequence of bits.
///
/// ```
/// use lacuna_succinct::BitVector;
///
/// let mut bits = BitVector::new();
/// bits.push(true);
/// bits.push_bits(0b0110, 4);
/// assert_eq!((bits.len(), bits.count_ones()), (5, 3));
/// assert!(bits.get(2) && !bits.get(1));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BitVector {
    words: Vec<u64>,
    len: usize,
}

impl BitVector {
    /// No bits yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no bit.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends one bit.
    pub fn push(&mut self, bit: bool) {
        self.push_bits(u64::from(bit), 1);
    }

    /// Appends the low `width` bits (0 to 64) of `value`, lowest first; the bits above are ignored.
    pub fn push_bits(&mut self, value: u64, width: u32) {
        let value = value & low_mask(width);
        let used = self.len % 64;
        if used == 0 {
            if width > 0 {
                self.words.push(value);
            }
        } else {
            let last = self.words.len() - 1;
            self.words[last] |= value << used;
            if used + width as usize > 64 {
                self.words.push(value >> (64 - used));
            }
        }
        self.len += width as usize;
    }

    /// Sets bit `index` to one.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn set(&mut self, index: usize) {
        assert!(index < self.len, "bit {index} of {}", self.len);
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Bit `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn get(&self, index: usize) -> bool {
        assert!(index < self.len, "bit {index} of {}", self.len);
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// Number of ones.
    pub fn count_ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The bits in words of 64, lowest first, zeros after the end.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}

impl FromIterator<bool> for BitVector {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut vector = Self::new();
        for bit in bits {
            vector.push(bit);
        }
        vector
    }
}
