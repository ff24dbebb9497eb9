//! Keys that a filter names, written as they are typed.

use std::fmt::Write as _;

use jiff::civil::date;
use jiff::{Timestamp, ToSpan as _};
use lacuna_workload::{KeyType, TimeUnit};

/// The sign bit, which order-preserving maps flip.
const SIGN: u64 = 1 << 63;

/// An integer as its type writes it. Some integers lie between two values of the type; they are shown as the value
/// below.
pub(crate) fn integer_text(key: u64, key_type: KeyType) -> String {
    match key_type {
        KeyType::F64 => {
            let bits = if key & SIGN == 0 { !key } else { key ^ SIGN };
            f64::from_bits(bits).to_string()
        }
        KeyType::I64 => signed(key).to_string(),
        KeyType::Date => date_text(signed(key)),
        KeyType::Timestamp(unit) => moment_text(signed(key), unit),
        _ => key.to_string(),
    }
}

/// The signed integer that a key stands for.
fn signed(key: u64) -> i64 {
    (key ^ SIGN).cast_signed()
}

/// The day `days` after 1970-01-01; beyond the calendar, the number of days.
fn date_text(days: i64) -> String {
    let span = 0.days().try_days(days);
    let day = span.and_then(|span| date(1970, 1, 1).checked_add(span));
    day.map_or(days.to_string(), |day| day.to_string())
}

/// The moment `count` units after 1970; beyond the calendar, the number of units.
fn moment_text(count: i64, unit: TimeUnit) -> String {
    let moment = match unit {
        TimeUnit::Seconds => Timestamp::from_second(count),
        TimeUnit::Milliseconds => Timestamp::from_millisecond(count),
        TimeUnit::Microseconds => Timestamp::from_microsecond(count),
    };
    moment.map_or(count.to_string(), |moment| moment.to_string())
}

/// A byte string as its type writes it; in a text, whatever would not stay on its line is escaped.
pub(crate) fn bytes_text(key: &[u8], key_type: KeyType) -> String {
    let mut text = String::with_capacity(key.len() * 2);
    if key_type == KeyType::Hex {
        escape(key, "", &mut text);
        return text;
    }
    for chunk in key.utf8_chunks() {
        for sign in chunk.valid().chars() {
            if sign.is_control() {
                escape(sign.encode_utf8(&mut [0; 4]).as_bytes(), "\\x", &mut text);
            } else {
                text.push(sign);
            }
        }
        escape(chunk.invalid(), "\\x", &mut text);
    }
    text
}

fn escape(bytes: &[u8], mark: &str, text: &mut String) {
    for byte in bytes {
        write!(text, "{mark}{byte:02x}").expect("a string takes everything");
    }
}

#[cfg(test)]
mod tests {
    use lacuna_workload::{Key, parse_key};

    use super::*;

    #[test]
    fn integers_read_back() {
        let cases = [
            (KeyType::U64, &["0", "18446744073709551615"][..]),
            (KeyType::F64, &["-21.5", "0", "0.1", "860000000", "inf", "-inf"]),
            (KeyType::I64, &["-9223372036854775808", "-1", "0", "9223372036854775807"]),
            (KeyType::Date, &["1969-12-31", "2024-01-31", "0001-01-01"]),
            (
                KeyType::Timestamp(TimeUnit::Seconds),
                &["1969-12-31T23:59:59Z", "2024-01-31T12:00:00Z", "0001-01-01T00:00:00Z"],
            ),
            (KeyType::Timestamp(TimeUnit::Milliseconds), &["2024-01-31T12:00:00.25Z"]),
            (KeyType::Timestamp(TimeUnit::Microseconds), &["2024-01-31T12:00:00.000001Z"]),
        ];
        for (key_type, texts) in cases {
            for text in texts {
                let Key::U64(key) = parse_key(key_type, text.as_bytes()).unwrap() else { panic!("{text}") };
                assert_eq!(integer_text(key, key_type), *text);
            }
        }
        for key_type in [KeyType::Date, KeyType::Timestamp(TimeUnit::Seconds)] {
            assert_eq!(integer_text(u64::MAX, key_type), i64::MAX.to_string());
        }
    }

    #[test]
    fn strings_stay_on_their_line() {
        for (key, text) in [
            (&b"plum"[..], "plum"),
            (b"a\tb\n", "a\\x09b\\x0a"),
            (b"pl\xFF", "pl\\xff"),
            ("ü".as_bytes(), "ü"),
            (b"", ""),
        ] {
            assert_eq!(bytes_text(key, KeyType::Text), text);
        }
        assert_eq!(bytes_text(b"\0\xFFa", KeyType::Hex), "00ff61");
    }
}
