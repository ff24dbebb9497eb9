//! Keys that a filter names, written as they are typed.

use std::fmt::Write as _;

use jiff::SignedDuration;
use jiff::civil::{Time, date};
use lacuna_workload::KeyType;

/// The sign bit, which order-preserving maps flip.
const SIGN: u64 = 1 << 63;

/// An integer as its type writes it. Some integers lie between two values of the type; they are shown as the value
/// below.
pub(super) fn integer_text(key: u64, key_type: KeyType) -> String {
    match key_type {
        KeyType::F64 => {
            let bits = if key & SIGN == 0 { !key } else { key ^ SIGN };
            f64::from_bits(bits).to_string()
        }
        KeyType::Date => date_text((key ^ SIGN).cast_signed()),
        _ => key.to_string(),
    }
}

/// The moment `seconds` after 1970; beyond the calendar, the number of seconds.
fn date_text(seconds: i64) -> String {
    let start = date(1970, 1, 1).to_datetime(Time::midnight());
    match start.checked_add(SignedDuration::from_secs(seconds)) {
        Ok(moment) => format!("{moment}Z"),
        Err(_) => seconds.to_string(),
    }
}

/// A byte string as its type writes it; in a text, whatever would not stay on its line is escaped.
pub(super) fn bytes_text(key: &[u8], key_type: KeyType) -> String {
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
    use lacuna_workload::Key;

    use super::*;

    #[test]
    fn integers_read_back() {
        let cases = [
            (KeyType::U64, &["0", "18446744073709551615"][..]),
            (KeyType::F64, &["-21.5", "0", "0.1", "860000000", "inf", "-inf"]),
            (KeyType::Date, &["1969-12-31T23:59:59Z", "2024-01-31T12:00:00Z", "0001-01-01T00:00:00Z"]),
        ];
        for (key_type, texts) in cases {
            for text in texts {
                let Key::U64(key) = key_type.parse_key(text.as_bytes()).unwrap() else { panic!("{text}") };
                assert_eq!(integer_text(key, key_type), *text);
            }
        }
        assert_eq!(integer_text(u64::MAX, KeyType::Date), i64::MAX.to_string());
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
