//! What a text means as a key, and two texts as a range.
//!
//! A filter knows `u64` and byte strings. Other types map into them without losing their order, as
//! [`TypedKey`] does: the number -1.5 lies below 0 and 2.0 as an integer too; a date counts days, a
//! timestamp seconds, milliseconds or microseconds. Maps are exact, except that moments which the unit does not tell
//! apart share a key: 12:00:00.7 is 12:00:00 in seconds. Bounds go the same way, so that a range holds whatever it held
//! as texts.
//!
//! As a bound of moments, a bare day is its first moment below and its last moment above.

use std::borrow::Cow;
use std::path::Path;

use jiff::civil;
use lacuna_base::{Date, Error, KeyType, Result, TimeUnit, TypedKey};

/// One key, borrowed where it can be. Keys of one type compare as their values do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key<'a> {
    /// An integer, or a value mapped to one.
    U64(u64),
    /// A byte string.
    Bytes(Cow<'a, [u8]>),
}

/// Microseconds of a day.
const DAY_MICROS: i64 = 86_400_000_000;

/// Reads one key. Texts and hexadecimal strings may be empty. NaN, which no range holds, is none.
///
/// ```
/// use lacuna_workload::{Key, KeyType, parse_key};
///
/// let (below, above) = (parse_key(KeyType::F64, b"-1.5")?, parse_key(KeyType::F64, b"2e3")?);
/// assert!(below < above);
/// assert_eq!(parse_key(KeyType::Text, b"plum")?, Key::Bytes(b"plum".into()));
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
///
/// # Errors
/// `InvalidInput` when `text` is not a value of this type.
pub fn parse_key(key_type: KeyType, text: &[u8]) -> Result<Key<'_>> {
    parse_as(key_type, text, false)
}

/// Reads both ends of a closed range; equal ends ask for one key, or for one day of moments.
///
/// ```
/// use lacuna_workload::{KeyType, TimeUnit, parse_key, parse_range};
///
/// let moments = KeyType::Timestamp(TimeUnit::Seconds);
/// let (low, high) = parse_range(moments, b"2024-01-30", b"2024-01-31")?;
/// let noon = parse_key(moments, b"2024-01-31T12:00:00+02:00")?;
/// assert!(low < noon && noon < high, "the last day counts as a whole");
/// # Ok::<(), lacuna_workload::Error>(())
/// ```
///
/// # Errors
/// `InvalidInput` when an end is not a value of this type, or the range runs backwards, which is a mistake of
/// the caller's rather than an empty range.
pub fn parse_range<'a>(key_type: KeyType, low: &'a [u8], high: &'a [u8]) -> Result<(Key<'a>, Key<'a>)> {
    let ends = (parse_as(key_type, low, false)?, parse_as(key_type, high, true)?);
    if ends.0 <= ends.1 {
        return Ok(ends);
    }
    let (low, high) = (String::from_utf8_lossy(low), String::from_utf8_lossy(high));
    Err(Error::invalid_input(format!("the range runs backwards; give {high} before {low}")))
}

/// The key of a number.
///
/// # Errors
/// `InvalidInput` for NaN.
pub(crate) fn number_key(value: f64) -> Result<Key<'static>> {
    if value.is_nan() {
        return Err(Error::invalid_input(
            "NaN is no key and no end of a range; leave it out, or give a number, -inf or inf",
        ));
    }
    Ok(Key::U64(value.to_key()))
}

/// Reads a key, or with `ends_day` the end of a bare day.
fn parse_as(key_type: KeyType, text: &[u8], ends_day: bool) -> Result<Key<'_>> {
    if key_type == KeyType::Text {
        return Ok(Key::Bytes(text.into()));
    }
    if text.is_empty() && key_type != KeyType::Hex {
        return Err(Error::invalid_input(format!("the key is empty; give {}", expected(key_type))));
    }
    let shown = String::from_utf8_lossy(text);
    let key = match key_type {
        KeyType::U64 => digits(&shown).and_then(|digits| digits.parse().ok()).map(Key::U64),
        KeyType::I64 => signed(&shown).map(|value| Key::U64(value.to_key())),
        KeyType::F64 => shown.parse().ok().map(number_key).transpose()?,
        KeyType::Date => days(&shown).map(|days| Key::U64(Date { days }.to_key())),
        KeyType::Timestamp(unit) => micros(&shown, ends_day).map(|micros| Key::U64(moment_key(micros, unit))),
        KeyType::Hex => hex_bytes(text).map(|bytes| Key::Bytes(bytes.into())),
        _ => {
            return Err(Error::invalid_input(format!(
                "a key of type {} has no text; give its bytes with --key-type hex",
                key_type.name()
            )));
        }
    };
    key.ok_or_else(|| Error::invalid_input(format!("`{shown}` is not {}", expected(key_type))))
}

fn expected(key_type: KeyType) -> &'static str {
    match key_type {
        KeyType::U64 => "an integer from 0 to 18446744073709551615",
        KeyType::I64 => "an integer from -9223372036854775808 to 9223372036854775807",
        KeyType::F64 => "a number; give one such as -21.5 or 8.6e8",
        KeyType::Date => "a day; give one such as 2024-01-31, or --key-type timestamp for times of day",
        KeyType::Timestamp(_) => {
            "a moment; give one such as 2024-01-31, 2024-01-31T12:00:00.25Z or 2024-01-31T12:00:00+02:00"
        }
        _ => "hexadecimal; give an even number of the digits 0-9 and a-f",
    }
}

/// The type of a file whose type was not given: `u64` for `.u64` and `.u64.gz`, else text.
pub(crate) fn type_of_file(path: &Path) -> KeyType {
    if is_binary(path) { KeyType::U64 } else { KeyType::Text }
}

/// Whether the name says that the file holds little-endian integers.
pub(crate) fn is_binary(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".u64")
}

/// The key of a moment in microseconds: its place in whole units.
pub(crate) fn moment_key(micros: i64, unit: TimeUnit) -> u64 {
    micros.div_euclid(unit.micros()).to_key()
}

/// The microseconds of a key that counts them.
pub(crate) fn micros_of(key: u64) -> i64 {
    (key ^ (1 << 63)).cast_signed()
}

fn digits(text: &str) -> Option<&str> {
    text.bytes().all(|digit| digit.is_ascii_digit()).then_some(text)
}

fn signed(text: &str) -> Option<i64> {
    digits(text.strip_prefix('-').unwrap_or(text))?;
    text.parse().ok()
}

/// Days since 1970-01-01 of a day without a time.
fn days(text: &str) -> Option<i32> {
    days_since_1970(bare_day(text)?)
}

fn days_since_1970(day: civil::Date) -> Option<i32> {
    let hours = day.duration_since(civil::date(1970, 1, 1)).as_hours();
    i32::try_from(hours / 24).ok()
}

fn bare_day(text: &str) -> Option<civil::Date> {
    let (year, rest) = text.get(1..)?.split_once('-')?;
    let is_day = digits(year).is_some() && rest.len() == 5 && is_of(rest, b"-");
    is_day.then(|| text.parse().ok())?
}

/// Microseconds since 1970 of a moment in UTC or with an offset; of a bare day its start, or with `ends_day` its end.
fn micros(text: &str, ends_day: bool) -> Option<i64> {
    if !is_of(text, b"-:.+TZ ") {
        return None;
    }
    let Some((_, time)) = text.split_once(['T', ' ']) else {
        let start = midnight(text.parse().ok()?)?;
        return Some(if ends_day { start + DAY_MICROS - 1 } else { start });
    };
    let moment = if time.contains(['Z', '+', '-']) {
        text.parse().ok()?
    } else {
        // Without an offset the moment is in UTC.
        let moment: civil::DateTime = text.parse().ok()?;
        moment.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp()
    };
    whole_micros(moment, is_leap_second(time))
}

/// Microseconds since 1970 of the start of a day.
fn midnight(day: civil::Date) -> Option<i64> {
    Some(i64::from(days_since_1970(day)?) * DAY_MICROS)
}

/// Rounded down before 1970 as after it, so that the order stays. A leap second, which the parser reads as the second before
/// with its own fraction, is the last microsecond of that one.
fn whole_micros(moment: jiff::Timestamp, is_leap_second: bool) -> Option<i64> {
    let nanos = moment.as_nanosecond();
    let micros = if is_leap_second {
        nanos.div_euclid(1_000_000_000) * 1_000_000 + 999_999
    } else {
        nanos.div_euclid(1_000)
    };
    i64::try_from(micros).ok()
}

/// Whether the seconds of a time of day are 60.
fn is_leap_second(time: &str) -> bool {
    let (clock, _) = time.split_once(['.', 'Z', '+', '-']).unwrap_or((time, ""));
    let mut digits = clock.bytes().filter(u8::is_ascii_digit).skip(4);
    (digits.next(), digits.next()) == (Some(b'6'), Some(b'0'))
}

/// Whether the text is made of digits and these signs.
fn is_of(text: &str, signs: &[u8]) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || signs.contains(&byte))
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

    const SECONDS: KeyType = KeyType::Timestamp(TimeUnit::Seconds);
    const MICROS: KeyType = KeyType::Timestamp(TimeUnit::Microseconds);

    #[test]
    fn values_map_to_their_keys() {
        let day = |days: i32| Key::U64(Date { days }.to_key());
        let second = |seconds: i64| Key::U64(seconds.to_key());
        let noon = 19_753_i64 * 86_400 + 43_200;
        let cases = [
            (KeyType::U64, "0", Key::U64(0)),
            (KeyType::U64, "18446744073709551615", Key::U64(u64::MAX)),
            (KeyType::I64, "-9223372036854775808", Key::U64(0)),
            (KeyType::I64, "-1", Key::U64((1 << 63) - 1)),
            (KeyType::Text, "a b", Key::Bytes(b"a b".into())),
            (KeyType::Text, "", Key::Bytes(b"".into())),
            (KeyType::F64, "-0.0", Key::U64(1 << 63)),
            (KeyType::F64, "1", Key::U64(1.0_f64.to_bits() | 1 << 63)),
            (KeyType::Date, "1970-01-01", day(0)),
            (KeyType::Date, "1969-12-31", day(-1)),
            (KeyType::Date, "2024-01-31", day(19_753)),
            (KeyType::Date, "0001-01-01", day(-719_162)),
            (SECONDS, "1970-01-01", second(0)),
            (SECONDS, "1969-12-31T23:59:59.5Z", second(-1)),
            (SECONDS, "2024-01-31T12:00:00", second(noon)),
            (SECONDS, "2024-01-31 12:00:00Z", second(noon)),
            (SECONDS, "2024-01-31T14:00:00+02:00", second(noon)),
            (MICROS, "2024-01-31T12:00:00.25Z", second(noon * 1_000_000 + 250_000)),
            (KeyType::Hex, "00fF", Key::Bytes(vec![0, 255].into())),
            (KeyType::Hex, "0x01", Key::Bytes(vec![1].into())),
            (KeyType::Hex, "0x", Key::Bytes(vec![].into())),
            (KeyType::Hex, "", Key::Bytes(vec![].into())),
        ];
        for (key_type, text, key) in cases {
            assert_eq!(parse_key(key_type, text.as_bytes()).unwrap(), key, "{text} as {key_type}");
        }
    }

    #[test]
    fn texts_of_another_type_are_refused() {
        let cases = [
            (KeyType::U64, &["", "-1", "+1", "1.0", "0x10", "18446744073709551616", " 1"][..]),
            (KeyType::I64, &["", "-", "+1", "1.0", "--1", "9223372036854775808"]),
            (KeyType::F64, &["", "one", "1,5", "0x1p3", "nan", "NaN", "-nan", "+NAN"]),
            (
                KeyType::Date,
                &["", "2024-13-01", "2024-02-30", "31.01.2024", "2024-01-31T12:00:00", "20240131"],
            ),
            (SECONDS, &["", "yesterday", "12:00:00", "2024-01-31T25:00:00", "1700000000", "2024-01"]),
            (KeyType::Hex, &["a", "0x1", "zz", "ab cd"]),
            (KeyType::Tuple, &["a"]),
        ];
        for (key_type, text) in
            cases.into_iter().flat_map(|(kind, texts)| texts.iter().map(move |text| (kind, text)))
        {
            assert!(parse_key(key_type, text.as_bytes()).is_err(), "{text:?} as {key_type}");
        }
        assert!(parse_key(KeyType::U64, b"\xff").is_err());
    }

    #[test]
    fn a_bare_day_is_whole_as_a_bound() {
        for unit in TimeUnit::ALL {
            let moments = KeyType::Timestamp(unit);
            for day in ["2024-01-31", "20240131", "+002024-01-31"] {
                let (low, high) = parse_range(moments, day.as_bytes(), day.as_bytes()).unwrap();
                for (text, inside) in [
                    ("2024-01-30T23:59:59.999999", false),
                    ("2024-01-31T00:00:00", true),
                    ("2024-01-31T23:59:59.9999999", true),
                    ("2024-02-01T00:00:00", false),
                ] {
                    let key = parse_key(moments, text.as_bytes()).unwrap();
                    assert_eq!(low <= key && key <= high, inside, "{text} on {day} in {unit:?}");
                }
            }
        }
    }

    #[test]
    fn a_range_keeps_what_rounding_moves() {
        let key = parse_key(SECONDS, b"1969-12-31T12:00:00.7").unwrap();
        let (low, high) = parse_range(SECONDS, b"1969-12-31T12:00:00.6", b"1969-12-31T12:00:00.8").unwrap();
        assert!(low <= key && key <= high);
    }

    #[test]
    fn a_leap_second_keeps_its_place() {
        let moments = [
            "2016-12-31T23:59:59.5Z",
            "2016-12-31T23:59:59.999Z",
            "2016-12-31T23:59:60Z",
            "2016-12-31T23:59:60.25Z",
            "2016-12-31 23:59:60.9",
            "2016-12-31T19:29:60.95-04:30",
            "2017-01-01T00:00:00Z",
        ];
        assert!(
            parse_key(MICROS, b"1969-12-31T23:59:60.5").unwrap() < parse_key(MICROS, b"1970-01-01").unwrap()
        );
        for unit in TimeUnit::ALL {
            let kind = KeyType::Timestamp(unit);
            let keys = moments.map(|moment| parse_key(kind, moment.as_bytes()).unwrap());
            assert!(keys.is_sorted(), "{keys:?} in {unit:?}");
            let (low, high) = parse_range(kind, moments[0].as_bytes(), b"2016-12-31T23:59:60.1Z").unwrap();
            assert!(keys[2..=3].iter().all(|key| low <= *key && *key <= high), "{keys:?} in {unit:?}");
        }
        let basic = parse_key(MICROS, b"20161231T235960.5Z").unwrap();
        assert_eq!(basic, parse_key(MICROS, b"2016-12-31T23:59:59.999999Z").unwrap());
    }

    #[test]
    fn an_offset_is_never_left_out() {
        let beyond = ["9999-12-30T21:00:00-05:00", "9999-12-31T00:00:00Z", "-009999-01-01T00:00:00+14:00"];
        for text in beyond.into_iter().chain(["9999-12-30 21:00:00-05", "20240131T120000+99"]) {
            assert!(parse_key(MICROS, text.as_bytes()).is_err(), "{text}");
        }
        for text in [
            "9999-12-30T21:00:00",
            "20240131",
            "20240131T120000",
            "2024-01-31T12:00:00+0200",
            "2024-01-31 12:00",
        ] {
            assert!(parse_key(MICROS, text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn ranges_that_mean_nothing_are_refused() {
        for (key_type, low, high, said) in [
            (KeyType::U64, "9", "3", "give 3 before 9"),
            (KeyType::I64, "1", "-1", "runs backwards"),
            (KeyType::F64, "nan", "5", "NaN is no key and no end"),
            (KeyType::F64, "5", "NaN", "NaN is no key and no end"),
            (KeyType::F64, "-nan", "-nan", "NaN is no key and no end"),
        ] {
            let error = parse_range(key_type, low.as_bytes(), high.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(said), "{low} {high}: {error}");
        }
    }
}
