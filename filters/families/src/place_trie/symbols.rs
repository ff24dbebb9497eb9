//! The code for how many bits a leaf shares with the one before: the difference to that of the leaf before it, under a Huffman code.
//!
//! Differences up to [`REACH`] either way are symbols of their own; for all others stand a symbol and the number itself. The code is
//! canonical: its lengths say all. A table of eight bits gives most symbols at one look.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lacuna_succinct::bytes::{BitWriter, bits_at};

/// Largest difference with a symbol of its own.
const REACH: i32 = 31;
/// Symbols: the differences, and the one for all others.
const COUNT: usize = 2 * REACH as usize + 2;
/// The symbol for all others.
const OTHER: usize = COUNT - 1;
/// Most bits of a symbol.
const MAX_LENGTH: u32 = 15;
/// Bits of a number after [`OTHER`].
const NUMBER_BITS: u32 = 10;
/// Bits that the table is looked up by.
const TABLE_BITS: u32 = 8;

/// Bytes of the lengths: four bits for each symbol.
pub(super) const BYTES: usize = COUNT / 2;

/// The symbol of the step from `before` to `now`.
fn symbol(before: u32, now: u32) -> usize {
    let difference = i64::from(now) - i64::from(before) + i64::from(REACH);
    usize::try_from(difference).ok().filter(|&symbol| symbol < OTHER).unwrap_or(OTHER)
}

/// How often each symbol occurs.
#[derive(Debug, Clone)]
pub(super) struct Counts([u64; COUNT]);

impl Counts {
    pub(super) fn new() -> Self {
        Self([0; COUNT])
    }

    /// Counts the step from `before` to `now`.
    pub(super) fn note(&mut self, before: u32, now: u32) {
        self.0[symbol(before, now)] += 1;
    }

    /// Bits that the best code takes for all that was counted.
    pub(super) fn code_bits(&self) -> f64 {
        let lengths = self.lengths();
        let bits = self.0.iter().zip(lengths).map(|(&count, length)| count as f64 * f64::from(length));
        bits.sum::<f64>() + self.0[OTHER] as f64 * f64::from(NUMBER_BITS)
    }

    /// Bits of each symbol; 0 for those that do not occur.
    pub(super) fn lengths(&self) -> [u8; COUNT] {
        let mut counts = self.0;
        loop {
            let lengths = huffman(&counts);
            if lengths.iter().all(|&length| u32::from(length) <= MAX_LENGTH) {
                return lengths;
            }
            // Rarer symbols count for more, until the tree is flat enough.
            counts.iter_mut().filter(|count| **count > 0).for_each(|count| *count = *count / 2 + 1);
        }
    }
}

/// The lengths of a Huffman code; one symbol alone has one bit.
fn huffman(counts: &[u64; COUNT]) -> [u8; COUNT] {
    let mut lengths = [0; COUNT];
    // Of equal counts, the one made first: the same code on every machine.
    let mut groups: BinaryHeap<Reverse<(u64, usize, Vec<usize>)>> = BinaryHeap::new();
    for (symbol, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        groups.push(Reverse((count, symbol, vec![symbol])));
    }
    if let (1, Some(Reverse((_, symbol, _)))) = (groups.len(), groups.peek()) {
        lengths[*symbol] = 1;
    }
    let mut made = COUNT;
    while groups.len() > 1 {
        let (Some(Reverse(one)), Some(Reverse(other))) = (groups.pop(), groups.pop()) else { break };
        let both = [one.2, other.2].concat();
        both.iter().for_each(|&symbol| lengths[symbol] += 1);
        groups.push(Reverse((one.0.saturating_add(other.0), made, both)));
        made += 1;
    }
    lengths
}

/// The first codes of all lengths, for symbols in order of length and then of their number.
#[derive(Debug, Clone, Copy)]
struct Canon {
    /// For each length its first code, and the number of symbols before it.
    first: [(u32, u32); MAX_LENGTH as usize + 1],
    count: [u32; MAX_LENGTH as usize + 1],
    sorted: [u8; COUNT],
}

impl Canon {
    /// Of any lengths of up to 15; those that no code has give some symbol.
    fn of(lengths: &[u8; COUNT]) -> Self {
        let mut count = [0; MAX_LENGTH as usize + 1];
        lengths.iter().filter(|length| **length > 0).for_each(|&length| count[usize::from(length)] += 1);
        let mut first = [(0, 0); MAX_LENGTH as usize + 1];
        let (mut code, mut before) = (0u32, 0);
        for length in 1..=MAX_LENGTH as usize {
            code <<= 1;
            first[length] = (code, before);
            code = code.wrapping_add(count[length]);
            before += count[length];
        }
        let mut sorted = [0; COUNT];
        let mut symbols: [u8; COUNT] = std::array::from_fn(|symbol| u8::try_from(symbol).expect("few"));
        symbols.sort_by_key(|&symbol| (lengths[usize::from(symbol)], symbol));
        let used = symbols.iter().filter(|&&symbol| lengths[usize::from(symbol)] > 0);
        sorted.iter_mut().zip(used).for_each(|(place, symbol)| *place = *symbol);
        Self { first, count, sorted }
    }
}

/// Writes symbols.
#[derive(Debug)]
pub(super) struct Encoder {
    lengths: [u8; COUNT],
    /// The code of each symbol, its first bit lowest.
    codes: [u64; COUNT],
}

impl Encoder {
    pub(super) fn new(counts: &Counts) -> Self {
        let lengths = counts.lengths();
        let canon = Canon::of(&lengths);
        let mut codes = [0; COUNT];
        let mut next = canon.first.map(|(code, _)| code);
        for symbol in (0..COUNT).filter(|&symbol| lengths[symbol] > 0) {
            let length = u32::from(lengths[symbol]);
            codes[symbol] = u64::from(next[length as usize].reverse_bits() >> (u32::BITS - length));
            next[length as usize] += 1;
        }
        Self { lengths, codes }
    }

    /// Four bits for each length.
    pub(super) fn bytes(&self) -> [u8; BYTES] {
        std::array::from_fn(|byte| self.lengths[2 * byte] | self.lengths[2 * byte + 1] << 4)
    }

    /// Bits of the step from `before` to `now`.
    pub(super) fn bits(&self, before: u32, now: u32) -> u32 {
        let symbol = symbol(before, now);
        u32::from(self.lengths[symbol]) + if symbol == OTHER { NUMBER_BITS } else { 0 }
    }

    /// Appends the step from `before` to `now`.
    pub(super) fn push(&self, writer: &mut BitWriter<'_>, before: u32, now: u32) {
        let symbol = symbol(before, now);
        writer.push(self.codes[symbol], u32::from(self.lengths[symbol]));
        if symbol == OTHER {
            writer.push(u64::from(now), NUMBER_BITS);
        }
    }
}

/// Reads symbols.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decoder {
    canon: Canon,
    /// Symbol and length by the next eight bits; a length of 0 for longer codes.
    table: [(u8, u8); 1 << TABLE_BITS],
}

impl Decoder {
    /// The decoder for the lengths in `bytes`, whatever they are.
    pub(super) fn new(bytes: &[u8; BYTES]) -> Self {
        let lengths: [u8; COUNT] = std::array::from_fn(|symbol| bytes[symbol / 2] >> (symbol % 2 * 4) & 15);
        let canon = Canon::of(&lengths);
        let mut decoder = Self { canon, table: [(0, 0); 1 << TABLE_BITS] };
        for next in 0..1u32 << TABLE_BITS {
            let (symbol, length) = decoder.walk(next);
            if length <= TABLE_BITS {
                decoder.table[next as usize] = (symbol, u8::try_from(length).expect("at most eight"));
            }
        }
        decoder
    }

    /// Bit by bit: the symbol that `next` begins with, and its length; more than any if there is none.
    fn walk(&self, next: u32) -> (u8, u32) {
        let mut code = 0;
        for length in 1..=MAX_LENGTH {
            code = code << 1 | (next >> (length - 1) & 1);
            let (first, before) = self.canon.first[length as usize];
            let place = code.wrapping_sub(first);
            if place < self.canon.count[length as usize] {
                let symbol = self.canon.sorted.get((before + place) as usize).copied().unwrap_or_default();
                return (symbol, length);
            }
        }
        (0, MAX_LENGTH)
    }

    /// The number after the step from `before` that stands at bit `at` of `bytes`, and the bit after it.
    #[inline(always)]
    pub(super) fn step(&self, bytes: &[u8], at: u64, before: u32) -> (u32, u64) {
        #[expect(clippy::cast_possible_truncation, reason = "15 bits")]
        let next = bits_at(bytes, at, MAX_LENGTH) as u32;
        let (symbol, length) = match self.table[(next & ((1 << TABLE_BITS) - 1)) as usize] {
            (_, 0) => self.walk(next),
            (symbol, length) => (symbol, u32::from(length)),
        };
        let at = at.saturating_add(u64::from(length));
        if usize::from(symbol) == OTHER {
            #[expect(clippy::cast_possible_truncation, reason = "ten bits")]
            let number = bits_at(bytes, at, NUMBER_BITS) as u32;
            return (number, at.saturating_add(u64::from(NUMBER_BITS)));
        }
        // Below zero where no builder wrote.
        (before.saturating_add_signed(i32::from(symbol) - REACH), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(steps: &[(u32, u32)]) {
        let mut counts = Counts::new();
        steps.iter().for_each(|&(before, now)| counts.note(before, now));
        let encoder = Encoder::new(&counts);
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        steps.iter().for_each(|&(before, now)| encoder.push(&mut writer, before, now));
        let bits = writer.finish();
        let stated: u32 = steps.iter().map(|&(before, now)| encoder.bits(before, now)).sum();
        assert_eq!(bits, u64::from(stated));
        assert!((counts.code_bits() - bits as f64).abs() < 1e-6);
        let decoder = Decoder::new(&encoder.bytes());
        let mut at = 0;
        for &(before, now) in steps {
            let (found, after) = decoder.step(&bytes, at, before);
            assert_eq!(found, now, "after {before}");
            at = after;
        }
        assert_eq!(at, bits);
    }

    #[test]
    fn steps_are_read_as_they_are_written() {
        round_trip(&[(5, 5)]);
        round_trip(&[(5, 6), (6, 5), (5, 400), (400, 3), (3, 3), (3, 34), (34, 3), (511, 480), (0, 31)]);
        // Frequencies like Fibonacci's make the deepest code; it is made flatter.
        let mut steps = Vec::new();
        let (mut one, mut other) = (1u32, 1u32);
        for difference in 0..24 {
            steps.extend(std::iter::repeat_n((100, 90 + difference), one as usize));
            (one, other) = (other, one + other);
        }
        round_trip(&steps);
    }

    #[test]
    fn any_lengths_decode_to_something() {
        for fill in 0..=u8::MAX {
            let decoder = Decoder::new(&[fill; BYTES]);
            for next in 0..1u32 << 15 {
                let (_, after) = decoder.step(&next.to_le_bytes(), 0, 511);
                assert!((1..=25).contains(&after), "{fill}");
            }
        }
    }
}
