//! Ends of intervals as people read them: `7`, `2026-11-26`, `'Oslo'…`.

use super::catalogue::{Catalogue, Kind, Texts};
use super::span::{ColumnId, Span};
use super::values::FIRST_OF_POINT;
use crate::recognise::strict::shown_numeric;

/// What stands for an end that is open.
const OPEN: &str = "…";

impl Catalogue {
    /// A registered column by its whole name, and an interval of it.
    pub(crate) fn shown(&self, column: ColumnId, span: Span) -> (String, (String, String)) {
        match self.registered(column) {
            Some((name, kind)) => (name, shown(kind, span)),
            None => ("a column".to_owned(), shown(Kind::Integer, span)),
        }
    }
}

/// The first and the last value of an interval.
pub(super) fn shown(kind: Kind, Span { low, high }: Span) -> (String, String) {
    let end = |value: i64| match value {
        i64::MIN | i64::MAX => OPEN.to_owned(),
        value => one(kind, value),
    };
    (end(low), end(high))
}

fn one(kind: Kind, value: i64) -> String {
    match kind {
        Kind::Moment(moment) => moment.shown(value),
        Kind::Text(Texts { is_bytewise: true, .. }) => text(&first_bytes(value)),
        Kind::Text(_) => text(&first_bytes(value)[..FIRST_OF_POINT]),
        Kind::Uuid => uuid(first_bytes(value)),
        Kind::Numeric(_) => shown_numeric(value),
        _ => value.to_string(),
    }
}

/// What [`super::values`] has made an integer of.
const fn first_bytes(value: i64) -> [u8; 8] {
    (value.cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

/// The beginning of a text; a longer one goes on after it.
fn text(bytes: &[u8]) -> String {
    let len = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let goes_on = if len == bytes.len() { OPEN } else { "" };
    format!("'{}'{goes_on}", String::from_utf8_lossy(&bytes[..len]).escape_debug())
}

fn uuid(bytes: [u8; 8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}{OPEN}", &digits[..8], &digits[8..12], &digits[12..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recognise::strict::Moment;

    fn ends(kind: Kind, low: i64, high: i64) -> (String, String) {
        shown(kind, Span { low, high })
    }

    fn texts(low: &str, high: &str) -> (String, String) {
        (low.to_owned(), high.to_owned())
    }

    #[test]
    fn ends_are_read_as_their_type() {
        assert_eq!(ends(Kind::Integer, -7, i64::MAX), texts("-7", "…"));
        assert_eq!(ends(Kind::Moment(Moment::Date), i64::MIN, 59), texts("…", "2000-02-29"));
        let of = |bytes: [u8; 8]| (u64::from_be_bytes(bytes) ^ (1 << 63)).cast_signed();
        let kind = |is_bytewise| Kind::Text(Texts { is_bytewise, max_chars: None });
        assert_eq!(
            ends(kind(true), of(*b"Oslo\0\0\0\0"), of(*b"Reykjav\xc3")),
            texts("'Oslo'", "'Reykjav\u{fffd}'…")
        );
        assert_eq!(ends(kind(true), of(*b"a'b\n\0\0\0\0"), i64::MAX).0, "'a\\'b\\n'");
        assert_eq!(ends(kind(false), of(*b"Oslhash!"), of(*b"a\0\0hash!")), texts("'Osl'…", "'a'"));
        assert_eq!(
            ends(Kind::Uuid, of([0x01, 0x91, 0xe3, 0xa0, 0x7c, 0x1b, 0x70, 0]), i64::MAX),
            texts("0191e3a0-7c1b-7000…", "…")
        );
    }
}
