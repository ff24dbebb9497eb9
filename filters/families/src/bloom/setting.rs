//! Sets the bits of keys in a standard Bloom filter.
//!
//! In a filter that is larger than a processor's caches each bit of a key is a line of memory, and a page that the processor
//! has to look up. So bits wait, sorted by the part of the filter that they lie in. Once enough wait for a part, it is read into a
//! cache and all of them are set: radix partitioning (Manegold, Boncz and Kersten, "Optimizing main-memory join on modern
//! hardware", TKDE 2002). The order in which bits are set makes no difference to the bytes.

use super::query::Places;

/// Size of a filter up to which bits are set as they come.
const SMALL_BYTES: usize = 2 << 20;
/// The least `log2` of a part's bits: 256 KiB lie in the second cache of today's processors.
const MIN_PART_LOG2: u32 = 21;
/// Parts that are filled side by side; more of them are not kept by the first cache.
const MAX_PARTS: u64 = 256;
/// Bits that wait for a part: one for each four bytes of the smallest one, so that they take as much memory as the filter.
const WAITING: usize = 1 << 16;

/// Sets `hash_count` bits of `bits` for each hash, in the time of two to three passes over all places of all keys. Takes as much memory as
/// `bits`, at most 64 MiB, while it runs.
pub(super) fn set_bits(bits: &mut [u8], hashes: impl Iterator<Item = u64>, hash_count: u32) {
    let bit_count = bits.len() as u64 * 8;
    if bits.len() <= SMALL_BYTES {
        for_each_place(hashes, hash_count, bit_count, |place| set(bits, place));
    } else {
        let mut parts = Parts::new(bits);
        for_each_place(hashes, hash_count, bit_count, |place| parts.push(place));
        parts.finish();
    }
}

#[inline(always)]
fn for_each_place(
    hashes: impl Iterator<Item = u64>,
    hash_count: u32,
    bit_count: u64,
    mut visit: impl FnMut(u64),
) {
    for hash in hashes {
        let mut places = Places::new(hash, bit_count);
        (0..hash_count).for_each(|_| visit(places.next()));
    }
}

#[inline(always)]
fn set(bits: &mut [u8], place: u64) {
    bits[(place >> 3) as usize] |= 1 << (place & 7);
}

/// `log2` of the bits of a part of a filter whose last bit is `last`. A place within a part is a `u32`.
fn part_log2(last: u64) -> u32 {
    (MIN_PART_LOG2..32).find(|log2| last >> log2 < MAX_PARTS).unwrap_or(32)
}

/// Bits that wait, by the part of the filter that they lie in.
#[derive(Debug)]
struct Parts<'a> {
    bits: &'a mut [u8],
    /// `log2` of the bits of a part.
    part_log2: u32,
    /// [`WAITING`] places within its part for each part.
    waiting: Vec<u32>,
    /// How many of them wait, by part.
    lens: Vec<usize>,
}

impl<'a> Parts<'a> {
    fn new(bits: &'a mut [u8]) -> Self {
        let last = bits.len() as u64 * 8 - 1;
        let part_log2 = part_log2(last);
        #[expect(clippy::cast_possible_truncation, reason = "at most as many as bytes in memory")]
        let count = (last >> part_log2) as usize + 1;
        Self { bits, part_log2, waiting: vec![0; count * WAITING], lens: vec![0; count] }
    }

    #[inline(always)]
    fn push(&mut self, place: u64) {
        #[expect(clippy::cast_possible_truncation, reason = "below the number of parts")]
        let part = (place >> self.part_log2) as usize;
        #[expect(clippy::cast_possible_truncation, reason = "a part has at most 2^32 bits")]
        let within = (place & ((1 << self.part_log2) - 1)) as u32;
        let len = &mut self.lens[part];
        self.waiting[part * WAITING + *len] = within;
        *len += 1;
        if *len == WAITING {
            self.set_waiting(part);
        }
    }

    /// Sets the bits that wait for a part.
    #[inline(never)]
    fn set_waiting(&mut self, part: usize) {
        let part_bytes = 1 << (self.part_log2 - 3);
        let start = part * part_bytes;
        let end = self.bits.len().min(start + part_bytes);
        let bits = &mut self.bits[start..end];
        let len = std::mem::take(&mut self.lens[part]);
        for &place in &self.waiting[part * WAITING..][..len] {
            set(bits, place.into());
        }
    }

    fn finish(mut self) {
        (0..self.lens.len()).for_each(|part| self.set_waiting(part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes around the first that is not small, and around whole parts, with more bits than wait for a part at once.
    #[test]
    fn bits_that_wait_are_the_bits_that_are_set_as_they_come() {
        for len in [SMALL_BYTES, SMALL_BYTES + 1, SMALL_BYTES + (1 << 18), SMALL_BYTES + (1 << 18) + 77] {
            let hashes = || (1..=200_000u64).map(|key| key.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let (mut all, mut expected) = (vec![0; len], vec![0; len]);
            set_bits(&mut all, hashes(), 7);
            for_each_place(hashes(), 7, len as u64 * 8, |place| set(&mut expected, place));
            assert!(all == expected, "{len} bytes");
        }
    }

    #[test]
    fn the_last_bit_of_a_part_and_of_the_filter_can_be_set() {
        let len = SMALL_BYTES + 3;
        let mut bits = vec![0; len];
        let mut parts = Parts::new(&mut bits);
        let ends = [0, (1 << MIN_PART_LOG2) - 1, 1 << MIN_PART_LOG2, len as u64 * 8 - 1];
        ends.iter().for_each(|&place| parts.push(place));
        parts.finish();
        let set: Vec<u64> =
            (0..len as u64 * 8).filter(|place| bits[(place >> 3) as usize] >> (place & 7) & 1 != 0).collect();
        assert_eq!(set, ends);
    }

    #[test]
    fn parts_grow_with_the_filter() {
        let of_bytes = |bytes: u64| part_log2(bytes * 8 - 1);
        assert_eq!([64 << 20, (64 << 20) + 1, 1 << 40].map(of_bytes), [21, 22, 32]);
    }
}
