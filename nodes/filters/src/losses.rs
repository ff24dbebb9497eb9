//! Whether a filter has lost a mark since it was last looked at.
//!
//! A read relies on a mark from its decision until its answer has arrived. That the mark is there at both times is not enough: it may
//! have ended in between and been proven again. For example, row 1 is written and row 9 deleted, a replica reads from row 5 on and finds
//! nothing, then row 1 is deleted too: at no time was the partition empty. So a filter counts the marks that it has lost.
//!
//! Guarantee: numbers that are equal twice mean that no mark of these names was lost in between. They may differ without reason.
//! Cost: a kibibyte for a filter that has lost a mark.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::key_id::KeyId;

/// Counters of a filter; names share them.
const COUNTERS: usize = 256;

/// The next filter of this process has this number.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The marks that one filter has lost.
#[derive(Debug)]
pub(crate) struct Losses {
    /// No two filters have the same: another one in its place has lost nothing, but may know other things.
    filter: u64,
    all: u64,
    /// None before the first loss.
    by_name: Vec<u32>,
}

impl Losses {
    pub(crate) fn new() -> Self {
        Self { filter: NEXT.fetch_add(1, Ordering::Relaxed), all: 0, by_name: Vec::new() }
    }

    /// A mark whose name begins with this half is lost.
    pub(crate) fn note(&mut self, hash: u64) {
        if self.by_name.is_empty() {
            self.by_name = vec![0; COUNTERS];
        }
        let counter = &mut self.by_name[slot(hash)];
        match counter.checked_add(1) {
            Some(next) => *counter = next,
            None => self.note_all(),
        }
    }

    /// All marks are lost.
    pub(crate) fn note_all(&mut self) {
        self.all += 1;
        self.by_name.clear();
    }

    /// Numbers that are others after the loss of any mark with one of these names.
    pub(crate) fn of(&self, names: [KeyId; 2]) -> [u64; 4] {
        let [first, second] =
            names.map(|id| self.by_name.get(slot(id.hash())).map_or(0, |count| u64::from(*count)));
        [self.filter, self.all, first, second]
    }
}

/// The filters' own tables use the other bits.
fn slot(hash: u64) -> usize {
    usize::from(hash.to_le_bytes()[7])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_changes_the_numbers_of_its_name_for_ever() {
        let names = [b"ada", b"bob"].map(|name| KeyId::of_partition(name));
        let mut losses = Losses::new();
        let mut seen = vec![losses.of(names)];
        for round in 0..40 {
            match round % 10 {
                9 => losses.note_all(),
                odd if odd % 2 == 1 => losses.note(names[1].hash()),
                _ => losses.note(names[0].hash()),
            }
            assert!(!seen.contains(&losses.of(names)), "round {round}");
            seen.push(losses.of(names));
        }
        let other = KeyId::of_partition(b"eve");
        losses.note(other.hash());
        assert_eq!(losses.of(names), *seen.last().expect("some"), "another name's loss");
        assert_ne!(Losses::new().of(names), Losses::new().of(names), "two filters");
    }

    #[test]
    fn a_counter_that_is_full_begins_all_anew() {
        let name = KeyId::of_partition(b"ada");
        let mut losses = Losses::new();
        losses.note(name.hash());
        losses.by_name[slot(name.hash())] = u32::MAX;
        let before = losses.of([name; 2]);
        losses.note(name.hash());
        assert_eq!(losses.of([name; 2])[1..], [1, 0, 0]);
        assert_ne!(losses.of([name; 2]), before);
    }
}
