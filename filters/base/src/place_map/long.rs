//! Places of 512 bits: what stands after 64 bits is kept, too.
//!
//! A long interval is a fraction with a width of 64 bits or fewer somewhere after its point. Once a width has fewer than 32
//! bits, it goes on 32 bits further: the same interval, in units of 2^-32 of those before. Intervals are divided exactly as those of
//! one word are, so that the order of strings is kept for the same reasons.

use super::interval::{Interval, gap_width, is_divisible};

/// Words of a place.
const WORDS: usize = 8;
/// Bits by which a width moves on, once it has no more than as many.
const STEP: u32 = 32;

/// A place of 512 bits, the first of them highest.
///
/// ```
/// use lacuna_base::LongPlace;
///
/// let (one, other) = (LongPlace::from_word(0b0101 << 60), LongPlace::from_word(0b0110 << 60));
/// assert!(one < other && one.after() < Some(other));
/// assert_eq!((one.shared_bits(&other), one.bits(1, 3)), (2, 0b101));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LongPlace([u64; WORDS]);

impl LongPlace {
    /// Its bits.
    #[expect(clippy::cast_possible_truncation, reason = "a few words")]
    pub const BITS: u32 = WORDS as u32 * u64::BITS;
    /// The largest place.
    pub const MAX: Self = Self([u64::MAX; WORDS]);

    /// The place whose first 64 bits are `word`, and whose others are zeros.
    #[inline]
    pub fn from_word(word: u64) -> Self {
        let mut words = [0; WORDS];
        words[0] = word;
        Self(words)
    }

    /// Leading bits that both have.
    #[inline]
    pub fn shared_bits(&self, other: &Self) -> u32 {
        let differing = self.0.iter().zip(&other.0).position(|(a, b)| a != b);
        differing.map_or(Self::BITS, |word| {
            let whole = u32::try_from(word).expect("few words") * u64::BITS;
            whole + (self.0[word] ^ other.0[word]).leading_zeros()
        })
    }

    /// The `width` bits, at most 64, after the first `start`; zeros after the end.
    #[inline]
    pub fn bits(&self, start: u32, width: u32) -> u64 {
        let (word, shift) = ((start / u64::BITS) as usize, start % u64::BITS);
        let at = |word: usize| self.0.get(word).copied().unwrap_or(0);
        let sixty_four = at(word) << shift | at(word + 1).unbounded_shr(u64::BITS - shift);
        sixty_four.unbounded_shr(u64::BITS - width)
    }

    /// Sets the `width` bits, at most 64, after the first `start`, which are zeros, to those of `value`.
    #[inline]
    pub fn set_bits(&mut self, start: u32, width: u32, value: u64) {
        let (word, shift) = ((start / u64::BITS) as usize, start % u64::BITS);
        let top = value.unbounded_shl(u64::BITS - width);
        for (word, part) in [(word, top >> shift), (word + 1, top.unbounded_shl(u64::BITS - shift))] {
            self.0.get_mut(word).into_iter().for_each(|bits| *bits |= part);
        }
    }

    /// Its first `bits` bits, and zeros.
    #[inline]
    #[must_use]
    pub fn truncated(mut self, bits: u32) -> Self {
        for (word, bits_before) in self.0.iter_mut().zip((0..).step_by(u64::BITS as usize)) {
            let kept = bits.saturating_sub(bits_before).min(u64::BITS);
            *word &= !u64::MAX.unbounded_shr(kept);
        }
        self
    }

    /// The next place; `None` after the largest.
    #[inline]
    pub fn after(self) -> Option<Self> {
        if self == Self::MAX { None } else { Some(self.plus(1, Self::BITS - u64::BITS)) }
    }

    /// The place before it; `None` before the smallest.
    #[inline]
    pub fn before(mut self) -> Option<Self> {
        if self == Self::default() {
            return None;
        }
        for word in self.0.iter_mut().rev() {
            let (less, borrows) = word.overflowing_sub(1);
            *word = less;
            if !borrows {
                break;
            }
        }
        Some(self)
    }

    /// Plus `value`, whose highest bit stands after the first `offset` bits; wraps.
    #[inline(always)]
    fn plus(mut self, value: u64, offset: u32) -> Self {
        let (word, shift) = ((offset / u64::BITS) as usize, offset % u64::BITS);
        let parts = [(word, value >> shift), (word + 1, value.unbounded_shl(u64::BITS - shift))];
        for (word, part) in parts {
            let Some(bits) = self.0.get_mut(word) else { continue };
            let (sum, mut carries) = bits.overflowing_add(part);
            *bits = sum;
            for earlier in self.0[..word].iter_mut().rev() {
                if !carries {
                    break;
                }
                (*earlier, carries) = earlier.overflowing_add(1);
            }
        }
        self
    }
}

/// The places from `lo`, up to a width.
#[derive(Debug, Clone, Copy)]
pub(super) struct LongInterval {
    lo: LongPlace,
    width: u64,
    /// Bits before the highest one of the width.
    offset: u32,
}

impl LongInterval {
    /// The same interval with a width of more than 32 bits, if that has room.
    #[inline(always)]
    fn scaled(mut self) -> Self {
        while self.width >> STEP == 0 && self.width > 0 && self.offset + STEP + u64::BITS <= LongPlace::BITS {
            self.width <<= STEP;
            self.offset += STEP;
        }
        self
    }
}

impl Interval for LongInterval {
    type At = LongPlace;
    const ALL: Self = Self { lo: LongPlace([0; WORDS]), width: u64::MAX, offset: 0 };

    #[inline(always)]
    fn lo(self) -> LongPlace {
        self.lo
    }

    #[inline(always)]
    fn is_divisible(self) -> bool {
        is_divisible(self.width)
    }

    #[inline(always)]
    fn units(self, start: u32, end: u32, log2: u32) -> Self {
        let unit = self.width >> log2;
        let lo = self.lo.plus(unit.wrapping_mul(u64::from(start)), self.offset);
        Self { lo, width: unit.wrapping_mul(u64::from(end.saturating_sub(start))), ..self }.scaled()
    }

    #[inline(always)]
    fn inner(self) -> Self {
        Self { width: self.width - gap_width(self.width), ..self }.scaled()
    }

    #[inline(always)]
    fn gap(self) -> LongPlace {
        self.lo.plus(self.width - gap_width(self.width), self.offset)
    }

    #[inline(always)]
    fn between_gaps(self) -> Self {
        let gap = gap_width(self.width);
        let lo = self.lo.plus(gap, self.offset);
        Self { lo, width: self.width.saturating_sub(2 * gap), ..self }.scaled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_as_they_are_set() {
        for (start, width) in [(0, 64), (3, 61), (60, 9), (64, 1), (500, 12), (448, 64), (127, 33)] {
            let value = 0xDEAD_BEEF_1234_5678_u64 >> (64 - width);
            let mut place = LongPlace::default();
            place.set_bits(start, width, value);
            assert_eq!(place.bits(start, width), value, "{width} from {start}");
            assert_eq!(place.truncated(start), LongPlace::default(), "{width} from {start}");
            assert_eq!(place.truncated(start + width), place, "{width} from {start}");
        }
        assert_eq!(LongPlace::MAX.bits(500, 64), 0xFFF << 52);
    }

    #[test]
    fn sums_carry_into_earlier_words() {
        let nearly = LongPlace::MAX.truncated(448);
        assert_eq!(nearly.plus(1 << 63, 447), LongPlace::default(), "beyond the largest");
        let mut half = LongPlace::from_word(3);
        half.set_bits(64, 64, 1 << 63);
        assert_eq!(half.plus(1 << 63, 64), LongPlace::from_word(4));
        assert_eq!(half.plus(0b11 << 62, 63), LongPlace::from_word(5), "one and a half");
        assert_eq!(half.plus(3, 0), LongPlace([6, 1 << 63, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn places_step_by_one() {
        let place = LongPlace::from_word(7 << 40);
        assert_eq!(place.before().and_then(LongPlace::after), Some(place));
        assert!(
            place.before().expect("not the first") < place && place.after().expect("not the last") > place
        );
        assert_eq!((LongPlace::default().before(), LongPlace::MAX.after()), (None, None));
    }
}
