//! Closed ranges to ask for, in one of the two key spaces.

use lacuna_base::ByteColumn;

use crate::ZipfPool;

/// Closed ranges `lo..=hi` with `lo <= hi`, in the order in which they are asked.
///
/// ```
/// use lacuna_workload::Queries;
///
/// let pool = Queries::U64(vec![(1, 5), (7, 7)]);
/// let asked = pool.repeated_by_zipf(100, 1);
/// assert_eq!(asked.len(), 100);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Queries {
    /// Ranges of integers.
    U64(Vec<(u64, u64)>),
    /// Ranges of byte strings.
    Bytes(ByteQueries),
}

impl Queries {
    /// Number of ranges.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(ranges) => ranges.len(),
            Self::Bytes(ranges) => ranges.len(),
        }
    }

    /// Whether there is no range.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ranges at `indices`, in that order; an index may repeat.
    ///
    /// # Panics
    ///
    /// When an index is not below [`len`](Self::len).
    #[must_use]
    pub(crate) fn pick(&self, indices: impl IntoIterator<Item = usize>) -> Self {
        let indices = indices.into_iter();
        match self {
            Self::U64(ranges) => Self::U64(indices.map(|index| ranges[index]).collect()),
            Self::Bytes(ranges) => Self::Bytes(indices.map(|index| ranges.get(index)).collect()),
        }
    }

    /// `count` ranges drawn from these by the Zipf law of [`ZipfPool`]; none when there are none.
    #[must_use]
    pub fn repeated_by_zipf(&self, count: usize, seed: u64) -> Self {
        let count = if self.is_empty() { 0 } else { count };
        self.pick(ZipfPool::new(self.len(), seed).take(count))
    }
}

/// Closed ranges of byte strings: two columns of equal length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByteQueries {
    lows: ByteColumn,
    highs: ByteColumn,
}

impl ByteQueries {
    /// No range yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the range `low..=high`.
    ///
    /// # Panics
    ///
    /// When `low` is above `high`.
    pub fn push(&mut self, low: &[u8], high: &[u8]) {
        assert!(low <= high, "a closed range does not run backwards");
        self.lows.push(low);
        self.highs.push(high);
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.lows.len()
    }

    /// Whether there is no range.
    pub fn is_empty(&self) -> bool {
        self.lows.is_empty()
    }

    /// Both ends of the range at `index`.
    ///
    /// # Panics
    ///
    /// When `index` is not below the number of queries.
    pub fn get(&self, index: usize) -> (&[u8], &[u8]) {
        (self.lows.get(index), self.highs.get(index))
    }

    /// All ranges in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> + Clone {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl<'a> FromIterator<(&'a [u8], &'a [u8])> for ByteQueries {
    fn from_iter<I: IntoIterator<Item = (&'a [u8], &'a [u8])>>(ranges: I) -> Self {
        let mut queries = Self::new();
        ranges.into_iter().for_each(|(low, high)| queries.push(low, high));
        queries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeating_no_range_gives_none() {
        assert!(Queries::U64(vec![]).repeated_by_zipf(10, 1).is_empty());
    }

    #[test]
    #[should_panic(expected = "does not run backwards")]
    fn inverted_byte_range_is_a_bug() {
        ByteQueries::new().push(b"b", b"a");
    }
}
