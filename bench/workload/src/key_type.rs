//! What a line of a key file means, and how it becomes a key that sorts the same way.
//!
//! A filter knows `u64` and byte strings. Other types map into them without losing their order: a binary64 number
//! has its bits flipped (all of them when negative, else the sign), so -1.5 < 0 < 2.0 holds for the integers too; a
//! date is its number of seconds since 1970, shifted so that 1970 lies at 2^63. There is one zero (-0.0 is 0.0) and
//! one NaN, above infinity. Maps are exact: two different values of a type never share a key.

use std::borrow::Cow;
use std::path::Path;
use std::str::FromStr;

use jiff::civil::{DateTime, date};
use lacuna_base::{Error, Result, TypedKey};

/// How the keys of a file are written.
///
/// ```
/// use lacuna_workload::{Key, KeyType};
///
/// let key_type: KeyType = "f64".parse()?;
/// let (below, above) = (key_type.parse_key(b"-1.5")?, key_type.parse_key(b"2e3")?);
/// assert!(below < above);
/// assert_eq!(KeyType::Text.parse_key(b"plum")?, Key::Bytes(b"plum".into()));
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyType {
    /// Decimal integers from 0 to 2^64 - 1.
    U64,
    /// Byte strings, as they stand.
    Text,
    /// Decimal floating-point numbers, `inf` and `nan` included.
    F64,
    /// Dates, `2024-01-31` or `2024-01-31T12:00:00` with or without `Z`, all UTC; the key counts seconds.
    Date,
    /// Byte strings in hexadecimal, with or without `0x`.
    Hex,
}

/// One key, borrowed where it can be. Keys of one type compare as their values do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key<'a> {
    /// An integer, or a number or date mapped to one.
    U64(u64),
    /// A byte string.
    Bytes(Cow<'a, [u8]>),
}

impl KeyType {
    /// Every type.
    pub const ALL: [Self; 5] = [Self::U64, Self::Text, Self::F64, Self::Date, Self::Hex];

    /// The name on the command line, such as `u64`.
    pub fn name(self) -> &'static str {
        match self {
            Self::U64 => "u64",
            Self::Text => "text",
            Self::F64 => "f64",
            Self::Date => "date",
            Self::Hex => "hex",
        }
    }

    /// Whether keys of this type are byte strings rather than integers.
    pub fn is_bytes(self) -> bool {
        matches!(self, Self::Text | Self::Hex)
    }

    /// The type of a file whose type was not given: `u64` for `.u64` and `.u64.gz`, else text.
    pub(crate) fn of_file(path: &Path) -> Self {
        if is_binary(path) { Self::U64 } else { Self::Text }
    }

    /// Reads one key.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when `text` is empty or is not a value of this type.
    pub fn parse_key(self, text: &[u8]) -> Result<Key<'_>> {
        if text.is_empty() {
            return Err(Error::invalid_input("the key is empty; give one key a line"));
        }
        if self == Self::Text {
            return Ok(Key::Bytes(text.into()));
        }
        let shown = String::from_utf8_lossy(text);
        let key = match self {
            Self::U64 => u64_key(&shown).map(Key::U64),
            Self::F64 => shown.parse().ok().map(|value: f64| Key::U64(value.to_key())),
            Self::Date => date_seconds(&shown).map(|seconds| Key::U64(seconds.to_key())),
            Self::Text | Self::Hex => hex_bytes(text).map(|bytes| Key::Bytes(bytes.into())),
        };
        key.ok_or_else(|| Error::invalid_input(format!("`{shown}` is not {}", self.expected())))
    }

    fn expected(self) -> &'static str {
        match self {
            Self::U64 => "an integer from 0 to 18446744073709551615",
            Self::Text => "a text",
            Self::F64 => "a number; give one such as -21.5 or 8.6e8",
            Self::Date => "a date; give one such as 2024-01-31 or 2024-01-31T12:00:00Z, in whole seconds",
            Self::Hex => "hexadecimal; give an even number of the digits 0-9 and a-f",
        }
    }
}

impl FromStr for KeyType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|key_type| key_type.name() == text).ok_or_else(|| {
            Error::invalid_input(format!("`{text}` is not a key type; give one of u64, text, f64, date, hex"))
        })
    }
}

/// Whether the name says that the file holds little-endian integers.
pub(crate) fn is_binary(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".u64")
}

fn u64_key(text: &str) -> Option<u64> {
    text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok())?
}

fn date_seconds(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    if text.bytes().any(|byte| !byte.is_ascii_digit() && !b"-:T".contains(&byte)) {
        return None;
    }
    let moment: DateTime = text.parse().ok()?;
    Some(moment.duration_since(date(1970, 1, 1).to_datetime(jiff::civil::Time::midnight())).as_secs())
}

fn hex_bytes(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(hex_digit(*high)? << 4 | hex_digit(*low)?)).collect()
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_map_to_their_keys() {
        let day = |days: i64| Key::U64((days * 86_400).to_key());
        let cases = [
            (KeyType::U64, "0", Key::U64(0)),
            (KeyType::U64, "18446744073709551615", Key::U64(u64::MAX)),
            (KeyType::Text, "a b", Key::Bytes(b"a b".into())),
            (KeyType::F64, "-0.0", Key::U64(1 << 63)),
            (KeyType::F64, "1", Key::U64(1.0_f64.to_bits() | 1 << 63)),
            (KeyType::Date, "1970-01-01", day(0)),
            (KeyType::Date, "1969-12-31", day(-1)),
            (KeyType::Date, "2024-01-31", day(19_753)),
            (KeyType::Date, "2024-01-31T12:00:00", Key::U64((19_753_i64 * 86_400 + 43_200).to_key())),
            (KeyType::Date, "2024-01-31T12:00:00Z", Key::U64((19_753_i64 * 86_400 + 43_200).to_key())),
            (KeyType::Hex, "00fF", Key::Bytes(vec![0, 255].into())),
            (KeyType::Hex, "0x01", Key::Bytes(vec![1].into())),
        ];
        for (key_type, text, key) in cases {
            assert_eq!(key_type.parse_key(text.as_bytes()).unwrap(), key, "{text} as {}", key_type.name());
        }
    }

    #[test]
    fn texts_of_another_type_are_refused() {
        let cases = [
            (KeyType::U64, &["", "-1", "+1", "1.0", "0x10", "18446744073709551616", " 1"][..]),
            (KeyType::Text, &[""]),
            (KeyType::F64, &["", "one", "1,5", "0x1p3"]),
            (
                KeyType::Date,
                &[
                    "",
                    "2024-13-01",
                    "2024-02-30",
                    "31.01.2024",
                    "2024-01-31T12:00:00.5",
                    "yesterday",
                    "2024-01-31T12:00:00+02:00",
                ],
            ),
            (KeyType::Hex, &["", "a", "0x1", "zz", "ab cd"]),
        ];
        for (key_type, text) in
            cases.into_iter().flat_map(|(kind, texts)| texts.iter().map(move |text| (kind, text)))
        {
            assert!(key_type.parse_key(text.as_bytes()).is_err(), "{text:?} as {}", key_type.name());
        }
        assert!(KeyType::U64.parse_key(b"\xff").is_err());
    }

    #[test]
    fn names_read_back() {
        for key_type in KeyType::ALL {
            assert_eq!(key_type.name().parse::<KeyType>().unwrap(), key_type);
        }
        let message = "u65".parse::<KeyType>().unwrap_err().to_string();
        assert_eq!(message, "`u65` is not a key type; give one of u64, text, f64, date, hex");
    }
}
