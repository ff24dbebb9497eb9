//! A sorted key set in one of the two key spaces.

use std::cmp::Ordering;

use lacuna_base::{ByteColumn, KeyType, TimeUnit};

use crate::Key;
use crate::columns::{sorted_distinct, to_be_bytes};
use crate::key_text::{micros_of, moment_key};

/// Keys in ascending order, each once.
///
/// ```
/// use lacuna_workload::Keys;
///
/// let keys = Keys::from_u64s(vec![9, 2, 9]);
/// assert_eq!(keys, Keys::U64(vec![2, 9]));
/// assert_eq!(keys.to_be_bytes().get(0), 2_u64.to_be_bytes());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// Unsigned 64-bit integers.
    U64(Vec<u64>),
    /// Byte strings.
    Bytes(ByteColumn),
}

/// Keys, and the type of the values that they stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedKeys {
    /// The keys.
    pub keys: Keys,
    /// What they stand for.
    pub key_type: KeyType,
}

impl TypedKeys {
    /// Moments in microseconds become moments in the coarsest unit that loses nothing; other keys stay as they are.
    ///
    /// A range of an hour is 3,600 seconds or 3,600,000,000 microseconds, and filters answer short ranges better.
    pub(crate) fn in_coarsest_unit(self) -> Self {
        match self {
            Self { keys: Keys::U64(keys), key_type: KeyType::Timestamp(TimeUnit::Microseconds) } => {
                let is_whole = |unit: &TimeUnit| keys.iter().all(|&key| micros_of(key) % unit.micros() == 0);
                let unit = TimeUnit::ALL.into_iter().find(is_whole).unwrap_or(TimeUnit::Microseconds);
                let keys = keys.into_iter().map(|key| moment_key(micros_of(key), unit)).collect();
                Self { keys: Keys::U64(keys), key_type: KeyType::Timestamp(unit) }
            }
            other => other,
        }
    }

    /// Moments in the unit `unit`, rounded down; other keys stay as they are.
    #[must_use]
    pub fn in_unit(self, unit: TimeUnit) -> Self {
        match self {
            Self { keys: Keys::U64(mut keys), key_type: KeyType::Timestamp(found) } => {
                let converted = |key| moment_key(micros_of(key).saturating_mul(found.micros()), unit);
                keys.iter_mut().for_each(|key| *key = converted(*key));
                keys.dedup();
                Self { keys: Keys::U64(keys), key_type: KeyType::Timestamp(unit) }
            }
            other => other,
        }
    }
}

impl Keys {
    /// The distinct integers of `keys`, sorted.
    pub fn from_u64s(mut keys: Vec<u64>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        Self::U64(keys)
    }

    /// The distinct strings of `keys`, sorted by bytes.
    pub fn from_byte_strings<S: AsRef<[u8]>>(keys: impl IntoIterator<Item = S>) -> Self {
        Self::Bytes(sorted_distinct(keys.into_iter().collect()))
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(keys) => keys.len(),
            Self::Bytes(keys) => keys.len(),
        }
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys as byte strings: integers in 8 big-endian bytes, strings as they are.
    #[must_use]
    pub fn to_be_bytes(&self) -> ByteColumn {
        match self {
            Self::U64(keys) => to_be_bytes(keys),
            Self::Bytes(keys) => keys.clone(),
        }
    }

    /// How `key` compares with the last key; `Greater` when there is none.
    pub(crate) fn compare_with_last(&self, key: &Key<'_>) -> Ordering {
        match (self, key) {
            (Self::U64(keys), Key::U64(key)) => keys.last().map_or(Ordering::Greater, |last| key.cmp(last)),
            (Self::Bytes(keys), Key::Bytes(key)) => {
                keys.last().map_or(Ordering::Greater, |last| key.as_ref().cmp(last))
            }
            _ => unreachable!("one key type gives one key space"),
        }
    }

    /// Appends `key`, whatever the order.
    pub(crate) fn push(&mut self, key: &Key<'_>) {
        match (self, key) {
            (Self::U64(keys), Key::U64(key)) => keys.push(*key),
            (Self::Bytes(keys), Key::Bytes(key)) => keys.push(key),
            _ => unreachable!("one key type gives one key space"),
        }
    }

    /// Restores the order after pushes in any order.
    pub(crate) fn into_sorted_distinct(self) -> Self {
        match self {
            Self::U64(keys) => Self::from_u64s(keys),
            Self::Bytes(keys) => Self::Bytes(sorted_distinct(keys)),
        }
    }
}
