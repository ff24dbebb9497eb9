//! Values of the type `numeric`, and the integers that stand for them.
//!
//! A value's place is the double that is next to it, as an integer of the same order: `1.5`, `1.50` and `15e-1` have one
//! place, and a larger value never has a smaller one. Values that differ in the seventeenth digit may share one, and so do
//! all beyond 1.8e308. `-Infinity` is before and `Infinity` after all numbers, and `NaN`, which PostgreSQL takes for equal
//! to itself and larger than everything, comes last.
//!
//! What a column of the type `numeric(p, s)` keeps is rounded when it is written: half of a unit goes away from zero.
//! What it is compared with is not.

/// Longest text that is read.
const MAX_TEXT: usize = 1_000;
/// Most digits of an exponent.
const MAX_EXPONENT: usize = 5;
/// A digit of the binary form has four of the text's.
const DIGITS: usize = 4;

/// The number of the type.
pub(crate) const NUMERIC: u32 = 1_700;

/// A value of the type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Numeric {
    MinusInfinity,
    Number(Decimal),
    Infinity,
    NotANumber,
}

/// `digits` as one integer, times ten to the power of `exponent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    is_negative: bool,
    /// From `0` to `9`, the first of them perhaps `0`.
    digits: String,
    exponent: i32,
}

impl Numeric {
    /// The value that PostgreSQL reads in this text, if it is one of those that every version reads alike.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_word = |words: &[&str], text: &str| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        if is_word(&["nan"], text) {
            return Some(Self::NotANumber);
        }
        if is_word(&["infinity", "inf"], unsigned) {
            return Some(if text.starts_with('-') { Self::MinusInfinity } else { Self::Infinity });
        }
        Decimal::read(unsigned, text.starts_with('-')).map(Self::Number)
    }

    /// The same for the bytes of a parameter in binary.
    pub(crate) fn read_binary(bytes: &[u8]) -> Option<Self> {
        let word = |place: usize| Some(u16::from_be_bytes(bytes.get(place..place + 2)?.try_into().ok()?));
        let (count, weight, sign, scale) =
            (usize::from(word(0)?), word(2)?.cast_signed(), word(4)?, usize::from(word(6)?));
        if bytes.len() != 8 + 2 * count || 2 * count > MAX_TEXT {
            return None;
        }
        match (sign, count) {
            (0xC000, 0) => return Some(Self::NotANumber),
            (0xD000, 0) => return Some(Self::Infinity),
            (0xF000, 0) => return Some(Self::MinusInfinity),
            (0 | 0x4000, _) => {}
            _ => return None,
        }
        let groups: Option<Vec<u16>> =
            bytes[8..].chunks_exact(2).map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?))).collect();
        let groups = groups?.into_iter().map(|group| (group < 10_000).then(|| format!("{group:04}")));
        let digits = groups.collect::<Option<String>>()?;
        let before_point = i32::from(weight) + 1;
        let exponent = (before_point - i32::try_from(count).ok()?) * i32::try_from(DIGITS).ok()?;
        let number = Decimal { is_negative: sign != 0, digits: format!("0{digits}"), exponent };
        // The server cuts off what is after the last digit that the scale shows.
        number.has_at_most(scale).then_some(Self::Number(number))
    }

    /// What a column keeps of it: `scale` digits after the point; if that is negative, zeros before it.
    pub(crate) fn rounded(self, scale: i32) -> Self {
        match self {
            Self::Number(number) => Self::Number(number.rounded(scale)),
            other => other,
        }
    }

    /// The integer that stands for it.
    pub(crate) fn place(&self) -> i64 {
        match self {
            Self::MinusInfinity => place(f64::NEG_INFINITY),
            Self::Number(number) => place(number.nearest()),
            Self::Infinity => place(f64::INFINITY),
            Self::NotANumber => place(f64::INFINITY) + 1,
        }
    }
}

impl From<i64> for Numeric {
    fn from(number: i64) -> Self {
        Self::Number(Decimal {
            is_negative: number < 0,
            digits: number.unsigned_abs().to_string(),
            exponent: 0,
        })
    }
}

impl Decimal {
    /// `12`, `1.5`, `.5`, `5.` or `15e-1`.
    fn read(text: &str, is_negative: bool) -> Option<Self> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, power(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = [whole, fraction].concat();
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let exponent = exponent - i32::try_from(fraction.len()).ok()?;
        is_number.then_some(Self { is_negative, digits, exponent })
    }

    /// How many of the last digits stand for less than `10^-scale`.
    fn beyond(&self, scale: i32) -> usize {
        let count = -i64::from(scale) - i64::from(self.exponent);
        usize::try_from(count).unwrap_or(0)
    }

    /// Whether all digits are zero further than `scale` places after the point.
    fn has_at_most(&self, scale: usize) -> bool {
        let Ok(scale) = i32::try_from(scale) else { return false };
        let beyond = self.beyond(scale);
        self.digits.bytes().rev().take(beyond).all(|digit| digit == b'0')
    }

    fn rounded(self, scale: i32) -> Self {
        let beyond = self.beyond(scale);
        if beyond == 0 {
            return self;
        }
        let kept = self.digits.len().checked_sub(beyond);
        let is_up = kept.is_some_and(|kept| self.digits.as_bytes()[kept] >= b'5');
        let digits = &self.digits[..kept.unwrap_or(0)];
        let digits = if is_up { next(digits) } else { format!("0{digits}") };
        Self { digits, exponent: -scale, ..self }
    }

    /// The double next to it: equal numbers have the same, and it grows with the number.
    fn nearest(&self) -> f64 {
        let sign = if self.is_negative { "-" } else { "" };
        let text = format!("{sign}{}e{}", self.digits, self.exponent);
        let nearest: f64 = text.parse().expect("digits and an exponent are a number");
        // There is no negative zero among them.
        if nearest == 0.0 { 0.0 } else { nearest }
    }
}

/// `5`, `+5` or `-5` after an `e`.
fn power(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_plain =
        (1..=MAX_EXPONENT).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { text.parse().ok() } else { None }
}

/// The integer of these digits and one: `09` becomes `10`, and nothing becomes `1`.
fn next(digits: &str) -> String {
    let nines = digits.bytes().rev().take_while(|digit| *digit == b'9').count();
    let (before, _) = digits.split_at(digits.len() - nines);
    let zeros = "0".repeat(nines);
    match before.as_bytes().split_last() {
        None => format!("1{zeros}"),
        Some((last, first)) => {
            let first = String::from_utf8_lossy(first);
            format!("{first}{}{zeros}", char::from(last + 1))
        }
    }
}

/// The order of these integers is that of the numbers; those around the infinities are free.
fn place(number: f64) -> i64 {
    let bits = number.to_bits().cast_signed();
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// The number of a place, as text.
pub(crate) fn shown(place: i64) -> String {
    let bits = if place < 0 { place ^ i64::MAX } else { place };
    let number = f64::from_bits(bits.cast_unsigned());
    let is_long = number != 0.0 && !(1e-9..1e18).contains(&number.abs());
    if number.is_finite() && is_long { format!("{number:e}") } else { number.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(text: &str) -> i64 {
        Numeric::read(text).unwrap().place()
    }

    #[test]
    fn equal_values_have_one_place_and_larger_ones_no_smaller() {
        let ascending: [&[&str]; 14] = [
            &["-Infinity", "-inf"],
            &["-1e300", "-0.1E+301"],
            &["-100", "-1e2", "-1000e-1"],
            &["-99.99"],
            &["-1e-300"],
            &["0", "-0", "0.00", "0e5", "-0.0", ".0", "0."],
            &["1e-300"],
            &["0.1", ".1", "1e-1"],
            &["1", "1.0", "1.000000000000000000000000000000", "001", "+1", "1."],
            &["1.000000000000001"],
            &["10"],
            &["99999999999999999999999999999999999999"],
            &["infinity", "INF", "+Infinity"],
            &["NaN", "nan"],
        ];
        let places: Vec<i64> = ascending.iter().map(|equal| place_of(equal[0])).collect();
        assert!(places.is_sorted_by(|one, next| one < next), "{places:?}");
        for (equal, place) in ascending.iter().zip(places) {
            assert!(equal.iter().all(|text| place_of(text) == place), "{equal:?}");
            assert!(place > i64::MIN && place < i64::MAX);
        }
        let hundred = "9".repeat(100);
        assert!(place_of(&hundred) <= place_of(&format!("{hundred}.5")));
        assert_eq!(place_of("1e400"), place_of("Infinity"), "beyond the doubles there is one place");
    }

    #[test]
    fn what_is_written_is_rounded_away_from_zero() {
        for (text, scale, expected) in [
            ("1.005", 2, "1.01"),
            ("-1.005", 2, "-1.01"),
            ("1.00499999999999999999999999999999", 2, "1.00"),
            ("9.995", 2, "10.00"),
            ("0.5", 0, "1"),
            ("0.49", 0, "0"),
            ("0.05", 0, "0"),
            ("-0.5", 0, "-1"),
            ("49", -2, "0"),
            ("50", -2, "100"),
            ("1250e-1", -1, "130"),
            ("9e-9", 2, "0"),
            ("7e5", 2, "700000"),
            ("NaN", 2, "NaN"),
        ] {
            let rounded = Numeric::read(text).unwrap().rounded(scale);
            assert_eq!(rounded.place(), place_of(expected), "{text} to {scale}");
        }
    }

    #[test]
    fn binary_values_are_those_of_their_texts() {
        let bytes = |words: &[u16]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
        for (words, text) in [
            (&[0, 0, 0, 2][..], "0"),
            (&[2, 0, 0, 2, 12, 3_400], "12.34"),
            (&[1, 0xffff, 0x4000, 4, 5], "-0.0005"),
            (&[1, 2, 0, 0, 7], "700000000"),
            (&[0, 0, 0xC000, 0], "NaN"),
            (&[0, 0, 0xF000, 0], "-Infinity"),
        ] {
            assert_eq!(Numeric::read_binary(&bytes(words)).unwrap().place(), place_of(text), "{text}");
        }
        for words in [
            &[2, 0, 0, 1, 12, 3_400][..],
            &[1, 0, 0, 0, 10_000],
            &[1, 0, 0x8000, 0, 1],
            &[2, 0, 0, 0, 1],
            &[0, 0, 0],
        ] {
            assert_eq!(Numeric::read_binary(&bytes(words)), None, "{words:?}");
        }
        assert_eq!(Numeric::read_binary(&5_i64.to_be_bytes()[..7]), None);
    }

    #[test]
    fn other_texts_are_unknown() {
        for text in [
            "", ".", "-", "e5", "1e", "1e+", "1e123456", "--1", "1 ", " 1", "1_000", "0x1F", "1.2.3", "-NaN",
            "½", "1e1.5", "infinit", "١",
        ] {
            assert_eq!(Numeric::read(text), None, "{text}");
        }
        assert_eq!(Numeric::read(&"1".repeat(1_001)), None);
    }

    #[test]
    fn places_are_shown_as_numbers() {
        for (text, expected) in [
            ("19.90", "19.9"),
            ("-7", "-7"),
            ("0", "0"),
            ("1e300", "1e300"),
            ("Infinity", "inf"),
            ("-Infinity", "-inf"),
            ("NaN", "NaN"),
        ] {
            assert_eq!(shown(place_of(text)), expected);
        }
    }
}
