//! Looks that found a key instead of a gap.
//!
//! A range in which a file holds a deleted key is empty for every scan and yet not a gap, so the same scan hints at it
//! again and again. So the last such looks are remembered by a hash; a collision only means that one gap is not
//! learned.

use std::ops::Bound;

use lacuna_base::hash::hash_bytes;

use crate::learned_gaps::hints::Hint;

/// Looks that are remembered.
const PLACES: u64 = 1_024;

/// The last looks that found a key, in 8 KiB.
#[derive(Debug)]
pub(super) struct Refuted {
    places: Vec<u64>,
}

impl Refuted {
    /// Nothing yet. Takes its memory now.
    pub(super) fn new() -> Self {
        Self { places: (0..PLACES).map(|_| 0).collect() }
    }

    /// Notes that a file holds a key of the hint's range. The number is the adapter's own, one for each file.
    pub(super) fn note(&mut self, file: u64, hint: &Hint) {
        let (place, hash) = place(file, hint);
        self.places[place] = hash;
    }

    /// Whether the file was looked into for this hint and holds a key there.
    pub(super) fn holds(&self, file: u64, hint: &Hint) -> bool {
        let (place, hash) = place(file, hint);
        self.places[place] == hash
    }
}

fn place(file: u64, hint: &Hint) -> (usize, u64) {
    let (lo, hi) = hint.bounds();
    let hash = hash_bound(hi, hash_bound(lo, file)).max(1);
    (usize::try_from(hash % PLACES).expect("below 1,024"), hash)
}

fn hash_bound(bound: Bound<&[u8]>, seed: u64) -> u64 {
    match bound {
        Bound::Included(bytes) => hash_bytes(bytes, seed),
        Bound::Excluded(bytes) => hash_bytes(bytes, !seed),
        Bound::Unbounded => seed.rotate_left(17),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Included, Unbounded};

    use super::*;

    #[test]
    fn only_the_same_look_is_remembered() {
        let hint = |lo, hi| Hint { lo, hi, files: vec![1], tags: vec![] };
        let key = |byte: u8| vec![byte; 3];
        let mut refuted = Refuted::new();
        let noted = hint(Included(key(1)), Excluded(key(2)));
        assert!(!refuted.holds(1, &noted));
        refuted.note(1, &noted);
        assert!(refuted.holds(1, &noted) && !refuted.holds(2, &noted));
        for other in [
            hint(Included(key(1)), Included(key(2))),
            hint(Excluded(key(1)), Excluded(key(2))),
            hint(Included(key(1)), Unbounded),
            hint(Unbounded, Excluded(key(2))),
        ] {
            assert!(!refuted.holds(1, &other), "{other:?}");
        }
    }
}
