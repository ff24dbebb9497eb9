//! Keys as the trie sees them: a path of bytes, and what follows a part of it.

use lacuna_base::hash::{IntegerHasher, hash_bytes};
use lacuna_base::{ByteColumn, SortedKeys};
use lacuna_succinct::bytes::low_mask;
use lacuna_succinct::trie::shared_len;

/// A key, or an end of a range.
pub(crate) trait PathKey: Copy {
    /// The bytes the trie is walked by.
    fn path(&self) -> &[u8];
    /// The `bits` bits after the first `depth` bytes, zeros where the key has ended.
    fn bits_behind(&self, depth: usize, bits: u32) -> u64;
    /// The hash of the whole key.
    fn hash(&self, seed: u64) -> u64;
}

/// An integer as its eight big-endian bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerKey {
    value: u64,
    bytes: [u8; 8],
}

impl IntegerKey {
    #[inline(always)]
    pub(crate) fn new(value: u64) -> Self {
        Self { value, bytes: value.to_be_bytes() }
    }
}

impl PathKey for IntegerKey {
    #[inline(always)]
    fn path(&self) -> &[u8] {
        &self.bytes
    }
    #[inline(always)]
    fn bits_behind(&self, depth: usize, bits: u32) -> u64 {
        let behind = if depth < 8 { self.value << (depth * 8) } else { 0 };
        behind.checked_shr(64 - bits).unwrap_or(0)
    }
    #[inline(always)]
    fn hash(&self, seed: u64) -> u64 {
        IntegerHasher::new(seed).hash(self.value)
    }
}

/// A byte string after the file's common prefix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StringKey<'a>(pub(crate) &'a [u8]);

impl PathKey for StringKey<'_> {
    #[inline(always)]
    fn path(&self) -> &[u8] {
        self.0
    }
    #[inline(always)]
    fn bits_behind(&self, depth: usize, bits: u32) -> u64 {
        let rest = self.0.get(depth..).unwrap_or_default();
        let behind = match rest.first_chunk() {
            Some(chunk) => u64::from_be_bytes(*chunk),
            None => rest
                .iter()
                .zip((0..8).rev())
                .fold(0, |word, (&byte, place)| word | u64::from(byte) << (place * 8)),
        };
        behind.checked_shr(64 - bits).unwrap_or(0)
    }
    #[inline(always)]
    fn hash(&self, seed: u64) -> u64 {
        hash_bytes(self.0, seed)
    }
}

/// Ascending keys, seen as paths.
pub(crate) trait PathList {
    /// One of them.
    type Key<'a>: PathKey
    where
        Self: 'a;
    /// How many there are.
    fn len(&self) -> usize;
    /// The key at `index`.
    fn key(&self, index: usize) -> Self::Key<'_>;
    /// Leading bytes that the keys at `index` and `index + 1` share; `None` at the end.
    fn shared_with_next(&self, index: usize) -> Option<usize>;
}

impl PathList for [u64] {
    type Key<'a> = IntegerKey;
    fn len(&self) -> usize {
        self.len()
    }
    #[inline(always)]
    fn key(&self, index: usize) -> IntegerKey {
        IntegerKey::new(self[index])
    }
    #[inline(always)]
    fn shared_with_next(&self, index: usize) -> Option<usize> {
        let (key, next) = (self[index], *self.get(index + 1)?);
        Some((key ^ next).leading_zeros() as usize / 8)
    }
}

/// Byte strings without the first `prefix_len` bytes, which all of them share.
pub(crate) struct Tails<'a> {
    pub(crate) keys: SortedKeys<'a, [u8]>,
    pub(crate) prefix_len: usize,
}

impl PathList for Tails<'_> {
    type Key<'a>
        = StringKey<'a>
    where
        Self: 'a;
    fn len(&self) -> usize {
        self.keys.len()
    }
    #[inline(always)]
    fn key(&self, index: usize) -> StringKey<'_> {
        let column: &ByteColumn = self.keys.column();
        StringKey(&column.get(index)[self.prefix_len..])
    }
    #[inline(always)]
    fn shared_with_next(&self, index: usize) -> Option<usize> {
        let has_next = index + 1 < self.len();
        has_next.then(|| shared_len(self.key(index).0, self.key(index + 1).0))
    }
}

/// The low `bits` bits of a hash.
#[inline(always)]
pub(crate) fn low_bits(hash: u64, bits: u32) -> u64 {
    hash & low_mask(bits)
}

/// The lower end of a range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lower<'a, K> {
    pub(crate) key: &'a K,
    pub(crate) is_excluded: bool,
}

/// The upper end of a range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Upper<'a, K> {
    pub(crate) key: &'a K,
    pub(crate) is_excluded: bool,
}
