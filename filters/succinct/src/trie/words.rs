//! The bitmap of a block: four words, counted and searched without branches.

use crate::arch::Isa;

/// Words of a bitmap.
pub(super) const WORDS: usize = 4;

/// The four words of a bitmap.
pub(super) type Words = [u8; WORDS * 8];

#[inline(always)]
pub(super) fn words_at(bytes: &[u8], at: usize) -> Option<&Words> {
    bytes.get(at..).and_then(<[u8]>::first_chunk)
}

/// As [`words_at`] close to the end of `bytes`, with zeros after it.
#[cold]
pub(super) fn last_words_at(bytes: &[u8], at: usize) -> Words {
    let mut words = [0; WORDS * 8];
    let tail = bytes.get(at..).unwrap_or_default();
    words[..tail.len()].copy_from_slice(tail);
    words
}

#[inline(always)]
pub(super) fn word(words: &Words, index: usize) -> u64 {
    u64::from_le_bytes(words.as_chunks().0[index])
}

/// Ones through each word. Written out, because a closure given to an iterator may be compiled apart from this
/// function, without the instructions that `isa` stands for.
#[inline(always)]
pub(super) fn counts_through<I: Isa>(isa: I, words: &Words) -> [u32; WORDS] {
    let first = isa.count_ones(word(words, 0));
    let second = first + isa.count_ones(word(words, 1));
    let (third, fourth) = (isa.count_ones(word(words, 2)), isa.count_ones(word(words, 3)));
    [first, second, second + third, second + (third + fourth)]
}

/// The word with the `rank`-th one, counted from 0, and the ones before it.
///
/// Chosen by values, not by branches: which word it is cannot be predicted.
#[inline(always)]
pub(super) fn word_of(through: [u32; WORDS], rank: u32) -> (usize, u32) {
    let [first, second, third, _] = through;
    let mut chosen = if first <= rank { (1, first) } else { (0, 0) };
    chosen = if second <= rank { (2, second) } else { chosen };
    if third <= rank { (3, third) } else { chosen }
}
