//! Slots: the partitions of a table in 256 parts, each of which a node may have *open* for a stream of new keys.
//!
//! A new key has to be known to every lease holder before its write is acknowledged. Many new keys in a row need not pay this one by
//! one: the node opens the slots that they come to. From the delta on that says so, holders take every partition of such a slot for
//! live, and what is new there needs no announcement. Another delta closes the slot, and has all that came meanwhile. For example
//! delta 8 opens slot 9 with its fourth new key of an interval. Once delta 8 is known, keys five to five thousand wait for nothing. When
//! an interval has passed with hardly a new key, delta 31 brings what was not announced, and closes the slot.
//!
//! Guarantee: "no" stays true. What no holder knows is only in slots that each of them knows to be open, and a slot is closed in the
//! delta that brings the last of it, or by a filter that is fetched anew.
//!
//! Cost: reads of an open slot go to the replicas; 32 bytes in a delta that opens or closes slots, and in a piece of a snapshot.

use crate::key_id::KeyId;

/// A set of slots of a table.
///
/// ```
/// use lacuna_node_filters::{KeyId, Slots};
///
/// let slot = Slots::of(KeyId::from_halves(1, 9 << 56));
/// let open = Slots::from_iter([slot, 200]);
/// assert_eq!((slot, open.count()), (9, 2));
/// assert!(open.contains(9) && open.contains(200) && !open.contains(10));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Slots([u64; 4]);

impl Slots {
    /// Slots of a table.
    pub const COUNT: usize = 256;

    /// The slot of a partition, and of everything in it: the highest byte of the second half of its name. The first half decides where
    /// a key stands in a filter.
    pub const fn of(partition: KeyId) -> u8 {
        partition.check().to_be_bytes()[0]
    }

    /// Whether a slot is one of them.
    pub fn contains(self, slot: u8) -> bool {
        (self.0[usize::from(slot >> 6)] >> (slot & 63)) & 1 == 1
    }

    /// How many they are.
    pub fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// As bits, for messages.
    pub(crate) const fn words(self) -> [u64; 4] {
        self.0
    }

    pub(crate) const fn from_words(words: [u64; 4]) -> Self {
        Self(words)
    }
}

impl FromIterator<u8> for Slots {
    fn from_iter<I: IntoIterator<Item = u8>>(slots: I) -> Self {
        let mut words = [0u64; 4];
        for slot in slots {
            words[usize::from(slot >> 6)] |= 1u64 << (slot & 63);
        }
        Self(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_has_a_bit_of_its_own() {
        for slot in 0..=u8::MAX {
            let alone = Slots::from_iter([slot]);
            assert_eq!((alone.count(), Slots::from_words(alone.words())), (1, alone));
            assert!((0..=u8::MAX).all(|other| alone.contains(other) == (other == slot)), "{slot}");
        }
        assert_eq!(u64::from(Slots::from_iter(0..=u8::MAX).count()), Slots::COUNT as u64);
        assert_eq!(Slots::default().count(), 0);
    }

    #[test]
    fn what_is_in_a_partition_has_names_of_other_slots() {
        let partition = KeyId::from_halves(1, 9 << 56);
        assert_eq!(Slots::of(partition), 9, "so the slot is that of the partition alone");
        assert!((0..64).any(|row| Slots::of(partition.bucket(0, row)) != 9));
    }
}
