//! The rows of frequencies below the trie, as they are counted.

use super::ROW_LOG2;

/// Fewest units of a symbol, of the 65,536.
const MIN_UNITS: u64 = 4;

/// Counts of each symbol after each byte.
pub(super) struct Counts {
    /// Place of each byte among the symbols, the end of a string being 0.
    symbols: [usize; 256],
    symbol_count: usize,
    counts: Vec<u64>,
}

impl Counts {
    /// Nothing counted over the bytes of `alphabet`.
    pub(super) fn new(alphabet: &[u8]) -> Self {
        let mut symbols = [0; 256];
        alphabet.iter().enumerate().for_each(|(place, &byte)| symbols[usize::from(byte)] = place + 1);
        let symbol_count = alphabet.len() + 1;
        Self { symbols, symbol_count, counts: vec![0; 256 * symbol_count] }
    }

    /// Counts the byte that follows `before`; `None` for the end of a string.
    pub(super) fn note(&mut self, before: u8, byte: Option<u8>) {
        let symbol = byte.map_or(0, |byte| self.symbols[usize::from(byte)]);
        self.counts[usize::from(before) * self.symbol_count + symbol] += 1;
    }

    fn after(&self, before: u8) -> &[u64] {
        &self.counts[usize::from(before) * self.symbol_count..][..self.symbol_count]
    }

    /// The `most` bytes after which most was counted, ascending.
    pub(super) fn frequent(&self, most: usize) -> Vec<u8> {
        let mut befores: Vec<(u64, u8)> =
            (0..=u8::MAX).map(|before| (self.after(before).iter().sum(), before)).collect();
        befores.retain(|(count, _)| *count > 0);
        befores.sort_by_key(|&(count, before)| (std::cmp::Reverse(count), before));
        befores.truncate(most);
        let mut befores: Vec<u8> = befores.into_iter().map(|(_, before)| before).collect();
        befores.sort_unstable();
        befores
    }

    /// The row after `before`.
    pub(super) fn row(&self, before: u8) -> Vec<u8> {
        encode(self.after(before))
    }

    /// The row after all bytes that are not in `contexts`.
    pub(super) fn rest(&self, contexts: &[u8]) -> Vec<u8> {
        let mut sums = vec![0; self.symbol_count];
        for before in (0..=u8::MAX).filter(|before| !contexts.contains(before)) {
            sums.iter_mut().zip(self.after(before)).for_each(|(sum, count)| *sum += count);
        }
        encode(&sums)
    }
}

/// The first unit of all symbols but the first.
fn encode(counts: &[u64]) -> Vec<u8> {
    let spare = (1 << ROW_LOG2) - MIN_UNITS * counts.len() as u64;
    let total = counts.iter().sum::<u64>().max(1);
    let mut before = 0;
    let starts = counts.iter().enumerate().map(|(symbol, count)| {
        let start = MIN_UNITS * symbol as u64 + spare * before / total;
        before += count;
        u16::try_from(start).expect("the last symbol has a unit")
    });
    starts.skip(1).flat_map(u16::to_le_bytes).collect()
}
