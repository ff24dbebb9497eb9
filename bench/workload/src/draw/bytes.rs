//! Ranges between byte strings: a position is the 8 bytes after the longest common prefix of all keys.
//!
//! With the keys `user10` and `user25` the prefix is `user`, and `user10` stands at
//! `0x3130_0000_0000_0000`; the range of the two positions after it is `user10` + 0,0,0,0,0,1 to `user10` + 0,0,0,0,0,2. Positions order keys, but keys
//! that differ only later share one, and a key shorter than its 8 bytes is below the string made from its
//! position. So every range is looked up with the strings themselves, never with positions.

use lacuna_base::ByteColumn;

use super::Space;
use crate::columns::ends;
use crate::{ByteQueries, Rng, is_empty_bytes};

/// Ascending byte strings, those inserted and those taken out.
pub(super) struct ByteSpace<'a> {
    inserted: &'a ByteColumn,
    held_out: &'a ByteColumn,
    prefix: &'a [u8],
    span: (u64, u64),
}

/// Both ends of a range under construction.
#[derive(Default)]
pub(super) struct ByteCandidate {
    low: Vec<u8>,
    high: Vec<u8>,
}

impl<'a> ByteSpace<'a> {
    pub(super) fn new(inserted: &'a ByteColumn, held_out: &'a ByteColumn) -> Self {
        let (smallest, largest) = ends([inserted, held_out]).unwrap_or_default();
        let shared = smallest.iter().zip(largest).take_while(|(left, right)| left == right).count();
        let prefix = &smallest[..shared];
        let span = (position_behind(prefix, smallest), position_behind(prefix, largest));
        let span = if span.0 < span.1 { span } else { (0, u64::MAX) };
        Self { inserted, held_out, prefix, span }
    }

    fn key(&self, key: usize) -> &'a [u8] {
        match key.checked_sub(self.inserted.len()) {
            None => self.inserted.get(key),
            Some(key) => self.held_out.get(key),
        }
    }

    fn spell(&self, position: u64, spelt: &mut Vec<u8>) {
        spelt.clear();
        spelt.extend_from_slice(self.prefix);
        spelt.extend_from_slice(&position.to_be_bytes());
    }

    /// A byte that occurs in the keys, or now and then any byte, so that absent keys look like present ones.
    fn likely_byte(&self, rng: &mut Rng) -> u8 {
        let donor = self.key(rng.index(self.inserted.len() + self.held_out.len()));
        if donor.is_empty() || rng.below(8) == 0 {
            rng.next_u64().to_le_bytes()[0]
        } else {
            donor[rng.index(donor.len())]
        }
    }
}

impl Space for ByteSpace<'_> {
    type Candidate = ByteCandidate;
    type Found = ByteQueries;

    fn position(&self, key: usize) -> u64 {
        position_behind(self.prefix, self.key(key))
    }

    fn span(&self) -> (u64, u64) {
        self.span
    }

    fn between(&self, low: u64, high: u64, candidate: &mut ByteCandidate) {
        self.spell(low, &mut candidate.low);
        self.spell(high, &mut candidate.high);
    }

    fn exactly(&self, key: usize, candidate: &mut ByteCandidate) {
        candidate.low.clear();
        candidate.low.extend_from_slice(self.key(key));
        candidate.high.clone_from(&candidate.low);
    }

    fn to_next_byte(&self, key: usize, candidate: &mut ByteCandidate) -> bool {
        self.exactly(key, candidate);
        add_one(&mut candidate.high)
    }

    fn stray(&self, key: Option<usize>, rng: &mut Rng, candidate: &mut ByteCandidate) -> bool {
        match key {
            Some(key) => {
                self.exactly(key, candidate);
                let changed = self.likely_byte(rng);
                match candidate.low.len() - self.prefix.len() {
                    0 => candidate.low.push(changed),
                    behind => candidate.low[self.prefix.len() + rng.index(behind)] = changed,
                }
            }
            None => self.spell(rng.next_u64(), &mut candidate.low),
        }
        candidate.high.clone_from(&candidate.low);
        true
    }

    fn is_empty(&self, candidate: &ByteCandidate) -> bool {
        is_empty_bytes(self.inserted, &candidate.low, &candidate.high)
    }

    fn keep(&self, candidate: &ByteCandidate, found: &mut ByteQueries) {
        found.push(&candidate.low, &candidate.high);
    }
}

/// The 8 bytes after `prefix`, which `key` starts with, padded with zeros.
fn position_behind(prefix: &[u8], key: &[u8]) -> u64 {
    let behind = &key[prefix.len()..];
    let count = behind.len().min(8);
    let mut padded = [0; 8];
    padded[..count].copy_from_slice(&behind[..count]);
    u64::from_be_bytes(padded)
}

/// Adds one to the last byte; 0xFF becomes 0 and carries. `false` when every byte is 0xFF.
fn add_one(key: &mut [u8]) -> bool {
    let Some(place) = key.iter().rposition(|&byte| byte < 0xff) else { return false };
    key[place] += 1;
    key[place + 1..].fill(0);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_byte_carries() {
        for (key, next) in [
            (&b"a"[..], Some(&b"b"[..])),
            (b"a\xff", Some(b"b\0")),
            (b"a\xff\xff", Some(b"b\0\0")),
            (b"\xff", None),
            (b"", None),
        ] {
            let mut added = key.to_vec();
            assert_eq!(add_one(&mut added).then_some(added.as_slice()), next, "{key:?}");
        }
    }

    #[test]
    fn positions_follow_the_common_prefix() {
        let keys: ByteColumn = ["user10", "user25"].iter().collect();
        let none = ByteColumn::new();
        let space = ByteSpace::new(&keys, &none);
        assert_eq!(space.position(0), 0x3130_0000_0000_0000);
        assert_eq!(space.span(), (0x3130_0000_0000_0000, 0x3235_0000_0000_0000));
        let mut candidate = ByteCandidate::default();
        space.between(1, 2, &mut candidate);
        assert_eq!(candidate.low, b"user\0\0\0\0\0\0\0\x01");
        assert_eq!(candidate.high, b"user\0\0\0\0\0\0\0\x02");
    }
}
