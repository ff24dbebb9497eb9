//! Keys known to be absent, in bitmaps under their common prefixes.

use std::collections::HashMap;

use lacuna_base::U64Range;

/// Longest range that is remembered, as a power of two: a bitmap of 2^16 keys.
const MAX_KEYS_LOG2: u32 = 16;

/// A hash table of keys known to be absent, in bitmaps under their common prefixes.
///
/// ```
/// use lacuna_base::U64Range;
/// use lacuna_families::testing::Blacklist;
///
/// let mut blacklist = Blacklist::new();
/// blacklist.insert(U64Range::new(160, 165).expect("160 <= 165"));
/// assert!(blacklist.covers(U64Range::new(161, 164).expect("161 <= 164")));
/// assert!(!blacklist.covers(U64Range::new(164, 166).expect("164 <= 166")));
/// assert_eq!((blacklist.len(), blacklist.payload_bytes()), (2, 2 * (8 + 1)));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Blacklist {
    /// By the bits below the prefix, and the prefix.
    bitmaps: HashMap<(u32, u64), Box<[u64]>>,
    /// A one for each number of bits below a prefix in use.
    heights: u64,
}

impl Blacklist {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers that no key of `range` is there. A range whose largest dyadic part has more than 2^16 keys is left out.
    pub fn insert(&mut self, range: U64Range) {
        let Some(height) = dyadic(range).map(|(_, height)| height).max() else { return };
        if height > MAX_KEYS_LOG2 {
            return;
        }
        self.heights |= 1 << height;
        for (start, part) in dyadic(range) {
            let words = (1usize << height).div_ceil(64);
            let bitmap = self.bitmaps.entry((height, start >> height));
            let bitmap = bitmap.or_insert_with(|| vec![0; words].into_boxed_slice());
            (start..=start | ((1 << part) - 1)).for_each(|key| set(bitmap, key & ((1 << height) - 1)));
        }
    }

    /// Whether every key of `range` was remembered.
    pub fn covers(&self, range: U64Range) -> bool {
        let few = range.hi() - range.lo() < 1 << (MAX_KEYS_LOG2 + 1);
        few && (range.lo()..=range.hi()).all(|key| self.holds(key))
    }

    fn holds(&self, key: u64) -> bool {
        let mut heights = self.heights;
        while heights != 0 {
            let height = heights.trailing_zeros();
            heights &= heights - 1;
            let bitmap = self.bitmaps.get(&(height, key >> height));
            if bitmap.is_some_and(|bitmap| is_set(bitmap, key & ((1 << height) - 1))) {
                return true;
            }
        }
        false
    }

    /// Number of prefixes.
    pub fn len(&self) -> usize {
        self.bitmaps.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.bitmaps.is_empty()
    }

    /// Bytes of what the paper counts: an eight-byte prefix and the bitmap for each entry, without the table's own.
    pub fn payload_bytes(&self) -> usize {
        self.bitmaps.keys().map(|(height, _)| 8 + (1usize << height).div_ceil(8)).sum()
    }
}

/// The dyadic ranges that `range` consists of, as first key and height, ascending.
pub(super) fn dyadic(range: U64Range) -> impl Iterator<Item = (u64, u32)> {
    let mut from = Some(range.lo());
    std::iter::from_fn(move || {
        let start = from.filter(|&start| start <= range.hi())?;
        let fitting = (range.hi() - start).checked_add(1).map_or(63, u64::ilog2);
        let height = start.trailing_zeros().min(fitting).min(63);
        from = start.checked_add(1 << height);
        Some((start, height))
    })
}

fn place(key: u64) -> (usize, u64) {
    let word = usize::try_from(key / 64).expect("a bitmap has at most 2^16 keys");
    (word, 1 << (key % 64))
}

fn set(bitmap: &mut [u64], key: u64) {
    let (word, bit) = place(key);
    bitmap[word] |= bit;
}

fn is_set(bitmap: &[u64], key: u64) -> bool {
    let (word, bit) = place(key);
    bitmap.get(word).is_some_and(|word| word & bit != 0)
}
