//! A group of points to a standard Bloom filter, bit by bit of all of them.
//!
//! The first bits of all keys are on their way before one of them is looked at; a key that has its first bit set fetches its second,
//! and so on. So a key fetches no line after its first empty bit, and the lines of a group's keys are fetched together.

use super::query::{Bloom, Places, is_set, prefetch_bit};
use crate::integer::GROUP;
use crate::probes::note_probe;

/// A key whose bits were all set so far.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// The next bit to look at, which is being fetched.
    bit: u64,
    later: Places,
    answer: usize,
}

/// Asks for at most [`GROUP`] keys, each by the place of its answer and its hash.
pub(super) fn ask_points(
    filter: &Bloom,
    bits: &[u8],
    hashes: impl ExactSizeIterator<Item = (usize, u64)>,
    answers: &mut [bool],
) {
    let mut open = [Open { bit: 0, later: filter.places(0), answer: 0 }; GROUP];
    let mut len = hashes.len();
    for (slot, (answer, hash)) in open[..len].iter_mut().zip(hashes) {
        note_probe();
        let mut later = filter.places(hash);
        *slot = Open { bit: later.next(), later, answer };
        prefetch_bit(bits, slot.bit);
        answers[answer] = true;
    }
    for later_bits in (0..filter.hash_count()).rev() {
        let mut kept = 0;
        for at in 0..len {
            let Open { bit, mut later, answer } = open[at];
            let set = is_set(bits, bit);
            answers[answer] = set;
            open[kept] = Open { bit: later.next(), later, answer };
            kept += usize::from(set);
            if set && later_bits > 0 {
                prefetch_bit(bits, open[kept - 1].bit);
            }
        }
        len = kept;
    }
}
