//! Counts and lengths as people type them: `10_000`, `10k`, `1M`, `1e6`, `2^20`.

use std::fmt;

use lacuna_base::{Error, Result};

/// Reads a count: digits, with `_` between them if you like, a suffix `k`, `M` or `G` (powers of 1000), or the forms
/// `1e6` and `2^20`.
///
/// ```
/// use lacuna_workload::parse_count;
///
/// assert_eq!(parse_count("10_000")?, 10_000);
/// assert_eq!(parse_count("10k")?, 10_000);
/// assert_eq!(parse_count("2^20")?, 1_048_576);
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
///
/// # Errors
///
/// `InvalidInput` when the text has another form or the number exceeds 64 bits.
pub fn parse_count(text: &str) -> Result<u64> {
    count_value(text).ok_or_else(|| {
        Error::invalid_input(format!(
            "`{text}` is not a count below 2^64; give one such as 10000, 10_000, 10k, 1M, 1e6 or 2^20"
        ))
    })
}

fn count_value(text: &str) -> Option<u64> {
    if let Some((base, power)) = text.split_once('^') {
        return digits(base)?.checked_pow(u32::try_from(digits(power)?).ok()?);
    }
    if let Some((number, power)) = text.split_once(['e', 'E']) {
        return scaled(number, u32::try_from(digits(power)?).ok()?);
    }
    match text.char_indices().next_back()? {
        (end, 'k' | 'K') => scaled(&text[..end], 3),
        (end, 'M') => scaled(&text[..end], 6),
        (end, 'G') => scaled(&text[..end], 9),
        _ => digits(text),
    }
}

fn scaled(number: &str, power_of_ten: u32) -> Option<u64> {
    digits(number)?.checked_mul(10_u64.checked_pow(power_of_ten)?)
}

fn digits(text: &str) -> Option<u64> {
    let starts_with_digit = text.starts_with(|first: char| first.is_ascii_digit());
    starts_with_digit.then(|| text.replace('_', "").parse().ok())?
}

/// The lengths of the ranges of a workload, in key values covered: 1 is a point; `shortest <= longest`.
///
/// ```
/// use lacuna_workload::Lengths;
///
/// let lengths = Lengths::parse("1-2^20")?;
/// assert_eq!((lengths.shortest(), lengths.longest()), (1, 1 << 20));
/// assert_eq!(Lengths::parse("32")?, Lengths::parse("32-32")?);
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    shortest: u64,
    longest: u64,
}

impl Lengths {
    /// Every range is a single key.
    pub const POINT: Self = Self { shortest: 1, longest: 1 };

    /// Reads `LO-HI`, or one number for both.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when a number is not a count, is 0, or LO is above HI.
    pub fn parse(text: &str) -> Result<Self> {
        let (shortest, longest) = parse_pair(text)?;
        if shortest == 0 {
            return Err(Error::invalid_input(format!(
                "the range length `{text}` starts at 0; a range covers at least 1 key value"
            )));
        }
        Ok(Self { shortest, longest })
    }

    /// Fewest key values that a range covers; at least 1.
    pub fn shortest(self) -> u64 {
        self.shortest
    }

    /// Most key values that a range covers.
    pub fn longest(self) -> u64 {
        self.longest
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.shortest, self.longest)
    }
}

/// Reads `A-B` with `A <= B`, or one number for both.
pub(crate) fn parse_pair(text: &str) -> Result<(u64, u64)> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let (low, high) = (parse_count(low)?, parse_count(high)?);
    if low > high {
        return Err(Error::invalid_input(format!("`{text}` runs backwards; give the smaller number first")));
    }
    Ok((low, high))
}

/// `1234567` as `1,234,567`, for sentences.
pub(crate) fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_as_typed() {
        let cases = [
            ("0", 0),
            ("7", 7),
            ("10_000", 10_000),
            ("10k", 10_000),
            ("3K", 3_000),
            ("1M", 1_000_000),
            ("2G", 2_000_000_000),
            ("1e6", 1_000_000),
            ("1E6", 1_000_000),
            ("2^20", 1 << 20),
            ("2^63", 1 << 63),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, count) in cases {
            assert_eq!(parse_count(text).unwrap(), count, "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_count() {
        for text in [
            "", "k", "_", "_1", "-1", "+1", "1.5M", "1e", "e6", "2^", "2^64", "2^2^2", "10kk", "1e20", "ten",
            "1 0",
        ] {
            let message = parse_count(text).unwrap_err().to_string();
            assert!(message.contains(&format!("`{text}`")) && message.contains("10k"), "{message}");
        }
    }

    #[test]
    fn wrong_lengths_are_refused() {
        for (text, said) in [
            ("0", "at least 1"),
            ("0-5", "at least 1"),
            ("9-3", "backwards"),
            ("1-", "not a count"),
            ("-", "not a count"),
            ("1-2-3", "not a count"),
        ] {
            let message = Lengths::parse(text).unwrap_err().to_string();
            assert!(message.contains(said), "{text}: {message}");
        }
    }

    #[test]
    fn commas_stand_every_three_digits() {
        assert_eq!(with_commas(0), "0");
        assert_eq!(with_commas(999), "999");
        assert_eq!(with_commas(1_234_567), "1,234,567");
    }
}
