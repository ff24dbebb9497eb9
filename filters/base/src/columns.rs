//! Many keys side by side: slices of integers, and byte strings in one arena.

use std::fmt;

use crate::error::{Error, Result};
use crate::key::KeySpace;

/// Keys side by side, addressed by position.
pub trait KeyColumn<K: KeySpace + ?Sized> {
    /// Number of keys.
    fn key_count(&self) -> usize;
    /// The key at `index`, which must be below [`key_count`](Self::key_count).
    fn key(&self, index: usize) -> K::Ref<'_>;
    /// Position of the first key not above its predecessor, if there is one.
    fn first_disorder(&self) -> Option<usize> {
        (1..self.key_count()).find(|&index| self.key(index - 1) >= self.key(index))
    }
}

impl KeyColumn<u64> for [u64] {
    fn key_count(&self) -> usize {
        self.len()
    }
    #[inline]
    fn key(&self, index: usize) -> u64 {
        self[index]
    }
    fn first_disorder(&self) -> Option<usize> {
        // Whole chunks without an early exit run as vector code; the exact place is sought only in a chunk with a
        // disorder.
        const CHUNK: usize = 1024;
        let disordered = |pair: &[u64]| pair[0] >= pair[1];
        let mut start = 0;
        while start + 1 < self.len() {
            let end = (start + CHUNK + 1).min(self.len());
            let chunk = &self[start..end];
            let count: usize = chunk.windows(2).map(|pair| usize::from(disordered(pair))).sum();
            if count > 0 {
                return chunk.windows(2).position(disordered).map(|place| start + place + 1);
            }
            start += CHUNK;
        }
        None
    }
}

/// Byte strings in one arena: one allocation for the bytes, one for the ends.
///
/// ```
/// use lacuna_base::ByteColumn;
///
/// let words: ByteColumn = ["ant", "bee", "cat"].iter().collect();
/// assert_eq!(words.len(), 3);
/// assert_eq!(words.get(1), b"bee");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ByteColumn {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl ByteColumn {
    /// No keys yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a key.
    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all keys together.
    pub fn total_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The key at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// The last key.
    pub fn last(&self) -> Option<&[u8]> {
        self.len().checked_sub(1).map(|index| self.get(index))
    }

    /// The keys in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> + ExactSizeIterator {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl fmt::Debug for ByteColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteColumn").field("keys", &self.len()).field("bytes", &self.bytes.len()).finish()
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for ByteColumn {
    fn from_iter<I: IntoIterator<Item = T>>(keys: I) -> Self {
        let mut column = Self::new();
        column.extend(keys);
        column
    }
}

impl<T: AsRef<[u8]>> Extend<T> for ByteColumn {
    fn extend<I: IntoIterator<Item = T>>(&mut self, keys: I) {
        for key in keys {
            self.push(key.as_ref());
        }
    }
}

impl KeyColumn<[u8]> for ByteColumn {
    fn key_count(&self) -> usize {
        self.len()
    }
    #[inline]
    fn key(&self, index: usize) -> &[u8] {
        self.get(index)
    }
}

/// Keys known to be strictly ascending: what every filter is built from.
///
/// ```
/// use lacuna_base::{ErrorKind, SortedKeys};
///
/// let keys = SortedKeys::integers(&[3, 5, 8]).expect("ascending");
/// assert_eq!((keys.len(), keys.first(), keys.last()), (3, Some(3), Some(8)));
/// let refused = SortedKeys::integers(&[3, 2]).expect_err("not ascending");
/// assert_eq!(refused.kind(), ErrorKind::InvalidInput);
/// ```
pub struct SortedKeys<'a, K: KeySpace + ?Sized> {
    column: &'a K::Column,
}

impl<'a, K: KeySpace + ?Sized> SortedKeys<'a, K> {
    /// Checks the order in one pass.
    ///
    /// # Errors
    /// `InvalidInput` if a key is not above the one before it; sort and remove repeats, or add the keys to a
    /// builder, which drops repeats itself.
    pub fn try_new(column: &'a K::Column) -> Result<Self> {
        match column.first_disorder() {
            None => Ok(Self { column }),
            Some(place) => Err(Error::invalid_input(format!(
                "key {place} ({:?}) is not above the key before it ({:?}); sort the keys and remove repeats first",
                column.key(place),
                column.key(place - 1)
            ))),
        }
    }

    /// Number of distinct keys.
    pub fn len(&self) -> usize {
        self.column.key_count()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[inline]
    pub fn get(&self, index: usize) -> K::Ref<'a> {
        self.column.key(index)
    }

    /// Smallest key.
    pub fn first(&self) -> Option<K::Ref<'a>> {
        if self.is_empty() { None } else { Some(self.get(0)) }
    }

    /// Largest key.
    pub fn last(&self) -> Option<K::Ref<'a>> {
        self.len().checked_sub(1).map(|index| self.get(index))
    }

    /// The keys in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = K::Ref<'a>> + ExactSizeIterator + use<'a, K> {
        let column = self.column;
        (0..column.key_count()).map(move |index| column.key(index))
    }

    /// The column the keys stand in.
    pub fn column(&self) -> &'a K::Column {
        self.column
    }
}

impl<'a> SortedKeys<'a, u64> {
    /// [`try_new`](Self::try_new) for integers.
    ///
    /// # Errors
    /// As there.
    pub fn integers(keys: &'a [u64]) -> Result<Self> {
        Self::try_new(keys)
    }
}

impl<'a> SortedKeys<'a, [u8]> {
    /// [`try_new`](Self::try_new) for byte strings.
    ///
    /// # Errors
    /// As there.
    pub fn byte_strings(keys: &'a ByteColumn) -> Result<Self> {
        Self::try_new(keys)
    }
}

impl<K: KeySpace + ?Sized> Clone for SortedKeys<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: KeySpace + ?Sized> Copy for SortedKeys<'_, K> {}

impl<K: KeySpace + ?Sized> fmt::Debug for SortedKeys<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedKeys").field("len", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disorder_is_found_wherever_it_stands() {
        for length in [2usize, 1023, 1024, 1025, 1026, 2049, 3000] {
            for place in [1, length / 2, length - 1] {
                let mut keys: Vec<u64> = (0..length as u64).collect();
                assert!(SortedKeys::<u64>::try_new(&keys).is_ok());
                keys[place] = keys[place - 1];
                assert_eq!(keys[..].first_disorder(), Some(place), "length {length}, place {place}");
            }
        }
    }
}
