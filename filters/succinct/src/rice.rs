//! Rice codes: ascending numbers by their differences, each in little more than its own bits.
//!
//! A list of numbers that are about 2^k apart takes about k + 1.5 bits a number, whatever their size: the low k bits of a
//! difference as they are, the rest as that many zeros before a one. With k = 2 the numbers 3, 9, 10, 20 have differences
//! 3, 6, 1, 10, low bits 3, 2, 1, 2 and rests 0, 1, 0, 2: `1 01 1 001`. All low bits stand before all rests, so that a
//! reader takes the ones of a whole word after each other and never waits for where the next number starts.
//!
//! A list is read from its start: a question costs one step for each number up to the answer, at most `count`, and at
//! most one word for each 64 numbers and each `2^(k + 6)` of the value asked for. Equal numbers are differences of 0.
//! Damaged bytes read as other ascending numbers, or as none. The bytes are in [`docs/format/rice.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/rice.md).
//!
//! Golomb, "Run-length encodings", 1966; Rice, "Some practical universal noiseless coding techniques", 1979.

use crate::bytes::{BitWriter, ONE_LOAD_BITS, bits_at, byte_of, load_u64, low_mask};

/// Most low bits of a difference.
pub const MAX_LOW_BITS: u32 = 63;

/// The parameters of a list besides its bytes: how many numbers, and how many low bits of each difference.
///
/// ```
/// use lacuna_succinct::bytes::BitWriter;
/// use lacuna_succinct::rice::RiceList;
///
/// let list = RiceList::new(4, 2);
/// let mut bytes = Vec::new();
/// let mut writer = BitWriter::new(&mut bytes);
/// list.encode([3, 9, 10, 20].into_iter(), &mut writer);
/// assert_eq!(writer.finish(), 15);
/// assert!(list.any_in(&bytes, 0, 4, 9));
/// assert!(!list.any_in(&bytes, 0, 11, 19));
/// assert_eq!(list.iter(&bytes, 0).collect::<Vec<u64>>(), [3, 9, 10, 20]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RiceList {
    count: u64,
    low_bits: u32,
}

impl RiceList {
    /// A list of `count` numbers whose differences keep `low_bits` (at most [`MAX_LOW_BITS`]) as they are.
    ///
    /// # Panics
    /// If `low_bits` is above [`MAX_LOW_BITS`].
    #[inline(always)]
    pub fn new(count: u64, low_bits: u32) -> Self {
        assert!(low_bits <= MAX_LOW_BITS, "a rest of at least one bit");
        Self { count, low_bits }
    }

    /// Number of low bits that suits ascending numbers up to `last`, spread evenly.
    pub fn low_bits_for(count: u64, last: u64) -> u32 {
        let apart = last / count.max(1);
        apart.checked_ilog2().unwrap_or(0).min(MAX_LOW_BITS)
    }

    /// Bits of the list of these ascending `numbers`, as many as the list has.
    pub fn len_bits(self, numbers: impl Iterator<Item = u64>) -> u64 {
        let rests: u64 = differences(numbers).map(|difference| difference >> self.low_bits).sum();
        rests + self.count * u64::from(self.low_bits + 1)
    }

    /// Appends the ascending `numbers`, as many as the list has.
    pub fn encode(self, numbers: impl Iterator<Item = u64> + Clone, writer: &mut BitWriter<'_>) {
        for difference in differences(numbers.clone()) {
            writer.push(difference & low_mask(self.low_bits), self.low_bits);
        }
        for difference in differences(numbers) {
            let mut zeros = difference >> self.low_bits;
            while zeros >= 63 {
                writer.push(0, 63);
                zeros -= 63;
            }
            writer.push(1 << zeros, rest_width(zeros));
        }
    }

    /// Whether a number of the list that starts at bit `start` lies in `lo..=hi`.
    #[inline(always)]
    pub fn any_in(self, bytes: &[u8], start: u64, lo: u64, hi: u64) -> bool {
        let rests = self.rests(start);
        let highest_rest = hi >> self.low_bits;
        let (mut index, mut lows, mut read) = (0, 0u64, 0);
        // Every number from here on has at least `read - index` in its rests.
        while read - index <= highest_rest {
            let mut word = bits_at(bytes, rests.saturating_add(read), 64);
            while word != 0 && index < self.count {
                let rest = read + u64::from(word.trailing_zeros()) - index;
                lows = lows.wrapping_add(self.low(bytes, start, index));
                let number = (rest << self.low_bits).wrapping_add(lows);
                if number >= lo {
                    return number <= hi;
                }
                index += 1;
                word &= word - 1;
            }
            if index >= self.count {
                return false;
            }
            read += 64;
        }
        false
    }

    /// The numbers of the list that starts at bit `start`; ends early where the bytes do.
    pub fn iter(self, bytes: &[u8], start: u64) -> impl Iterator<Item = u64> {
        let rests = self.rests(start);
        let end = (bytes.len() as u64).saturating_mul(8);
        let (mut read, mut lows) = (0u64, 0u64);
        (0..self.count).map_while(move |index| {
            while rests.saturating_add(read) < end && bits_at(bytes, rests + read, 1) == 0 {
                read += 1;
            }
            if rests.saturating_add(read) >= end {
                return None;
            }
            lows = lows.wrapping_add(self.low(bytes, start, index));
            let number = ((read - index) << self.low_bits).wrapping_add(lows);
            read += 1;
            Some(number)
        })
    }

    /// The bit at which the rests start.
    #[inline(always)]
    fn rests(self, start: u64) -> u64 {
        start.saturating_add(self.count.saturating_mul(u64::from(self.low_bits)))
    }

    /// The low bits of the difference before number `index`.
    #[inline(always)]
    fn low(self, bytes: &[u8], start: u64, index: u64) -> u64 {
        let place = start.saturating_add(index.saturating_mul(u64::from(self.low_bits)));
        if self.low_bits <= ONE_LOAD_BITS {
            return load_u64(bytes, byte_of(place)) >> (place & 7) & low_mask(self.low_bits);
        }
        bits_at(bytes, place, self.low_bits)
    }
}

/// Bits of `zeros` zeros, at most 63, and a one.
fn rest_width(zeros: u64) -> u32 {
    u32::try_from(zeros).expect("at most 63") + 1
}

/// What to add to each number to get the next, the first one from 0.
fn differences(numbers: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    let mut before = 0;
    numbers.map(move |number| {
        debug_assert!(before <= number, "{number} came after {before}");
        number - std::mem::replace(&mut before, number)
    })
}
