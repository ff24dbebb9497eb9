//! The values of a `Bind`, as far as ranges need them.
//!
//! A value is an integer: of an integer column its own, of a date or a timestamp what the server keeps for it. Of a text and a
//! UUID it is the first eight bytes, and of a `numeric` the double next to it: larger values have no smaller ones, so that a
//! range of texts or numbers lies within a range of them. A text in the order of a language has no such integer; equal ones have
//! the same *point*, of three bytes and a hash.

use std::hash::{DefaultHasher, Hasher as _};

use super::catalogue::{Kind, Texts};
use super::span::{Span, Spans};
use crate::recognise::strict::{Cast, End, Moment, NUMERIC, Numeric, Operand, Range, plain_integer};
use crate::wire::bind::{self, BINARY};

/// The numbers of `int8`, `int2` and `int4`; 0 where nothing was declared.
const INTEGERS: [u32; 4] = [0, 20, 21, 23];
/// The numbers of `text` and `varchar`, and of `uuid`.
const TEXTS: [u32; 3] = [0, 25, 1_043];
const UUIDS: [u32; 2] = [0, 2_950];
/// Bytes of a text at the beginning of its point.
pub(super) const FIRST_OF_POINT: usize = 3;

/// Formats and values of a `Bind`, its bytes after the two names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) declared: &'b [u32],
    /// How often each parameter occurs in the statement.
    pub(crate) counts: &'b [usize],
}

impl<'b> Values<'b> {
    /// The values that a column can have; `None` if they are not known, such as those of `a = NULL`.
    pub(crate) fn spans(self, range: &Range, kind: Kind) -> Option<Spans> {
        match range {
            // What is between two texts to a language is not what is between their points.
            Range::Between(low, high) if !kind.is_ordered() && low != high => None,
            Range::Between(low, high) => {
                let low = match low {
                    Some(end) => self.end(end, kind)?,
                    None => i64::MIN,
                };
                let high = match high {
                    Some(end) => self.end(end, kind)?,
                    None => i64::MAX,
                };
                Some(Span { low, high }.into())
            }
            Range::Among(operands) => points(operands.iter().map(|operand| self.value(operand, kind))),
            Range::Stored(operands) => points(operands.iter().map(|operand| self.stored(operand, kind))),
            Range::All(ranges) => {
                let each = ranges.iter().map(|range| self.spans(range, kind));
                each.collect::<Option<Vec<Spans>>>()?.into_iter().reduce(|all, next| all.intersection(&next))
            }
        }
    }

    /// The last value on one side. Other texts begin with the same bytes as one that is excluded, and other numbers have
    /// the same double next to them.
    fn end(self, end: &End, kind: Kind) -> Option<i64> {
        let value = self.value(&end.operand, kind)?;
        if kind.is_counted() { value.checked_add(end.plus) } else { Some(value) }
    }

    /// Whether what a column of this kind is compared with is the same in every session and at every time.
    pub(crate) fn is_certain(self, operand: &Operand, kind: Kind) -> bool {
        match (kind, operand) {
            (Kind::Moment(_), operand) => self.value(operand, kind).is_some(),
            (Kind::Integer, Operand::Text(_)) => false,
            _ => true,
        }
    }

    fn value(self, operand: &Operand, kind: Kind) -> Option<i64> {
        match (operand, kind) {
            (Operand::Integer(number), Kind::Integer) => Some(*number),
            (Operand::Text(text), Kind::Moment(moment)) => moment.read(text),
            (Operand::Text(text), Kind::Uuid) => uuid(text.as_bytes()),
            (Operand::Param(place) | Operand::Cast(place, Cast::Integer), Kind::Integer) => {
                self.integer(*place)
            }
            (operand, Kind::Numeric(_)) => self.numeric(operand).as_ref().map(Numeric::place),
            (operand, Kind::Text(texts)) => self.text(operand).map(|text| text_value(text, texts)),
            (Operand::Param(place), Kind::Uuid) => match self.param(*place, &UUIDS)? {
                (BINARY, bytes) => (bytes.len() == 16).then(|| first_bytes(bytes)),
                (_, text) => uuid(text),
            },
            (Operand::Param(place), Kind::Moment(moment)) => self.moment(*place, moment),
            _ => None,
        }
    }

    /// What a column of this kind keeps of it.
    fn stored(self, operand: &Operand, kind: Kind) -> Option<i64> {
        match kind {
            Kind::Numeric(Some(scale)) => Some(self.numeric(operand)?.rounded(scale).place()),
            Kind::Text(Texts { max_chars: Some(max), .. })
                if self.text(operand).is_none_or(is_longer_than(max)) =>
            {
                None
            }
            kind => self.value(operand, kind),
        }
    }

    /// The bytes of a text.
    fn text<'t>(self, operand: &'t Operand) -> Option<&'t [u8]>
    where
        'b: 't,
    {
        match operand {
            Operand::Text(text) => Some(text.as_bytes()),
            Operand::Param(place) => self.param(*place, &TEXTS).map(|(_, text)| text),
            _ => None,
        }
    }

    fn numeric(self, operand: &Operand) -> Option<Numeric> {
        let is_integer =
            |place: &usize| self.declared.get(*place).is_some_and(|of| INTEGERS[1..].contains(of));
        match operand {
            Operand::Integer(number) => Some(Numeric::from(*number)),
            Operand::Decimal(text) | Operand::Text(text) => Numeric::read(text),
            Operand::Cast(place, Cast::Integer) => self.integer(*place).map(Numeric::from),
            Operand::Param(place) | Operand::Cast(place, Cast::Numeric) if is_integer(place) => {
                self.integer(*place).map(Numeric::from)
            }
            Operand::Param(place) | Operand::Cast(place, Cast::Numeric) => {
                match self.param(*place, &[0, NUMERIC])? {
                    (BINARY, bytes) => Numeric::read_binary(bytes),
                    (0, text) => Numeric::read(std::str::from_utf8(text).ok()?),
                    _ => None,
                }
            }
            Operand::Bool => None,
        }
    }

    /// An integer parameter.
    fn integer(self, place: usize) -> Option<i64> {
        match self.param(place, &INTEGERS)? {
            (BINARY, bytes) => bind::integer(bytes),
            (0, text) => plain_integer(std::str::from_utf8(text).ok()?),
            _ => None,
        }
    }

    /// A parameter of the column's own type; of another one the server would compare by other rules.
    fn moment(self, place: usize, moment: Moment) -> Option<i64> {
        match self.param(place, &[0, moment.number()])? {
            (BINARY, bytes) => moment.read_binary(bytes),
            (0, text) => moment.read(std::str::from_utf8(text).ok()?),
            _ => None,
        }
    }

    /// Format and bytes of a parameter of one of these types. One without a declared type has that of the column that it
    /// is compared with, if it occurs nowhere else.
    fn param(self, place: usize, types: &[u32]) -> Option<(i16, &'b [u8])> {
        let declared = self.declared.get(place).copied().unwrap_or(0);
        if !types.contains(&declared) || (declared == 0 && self.counts.get(place) != Some(&1)) {
            return None;
        }
        let (format, value) = bind::values(self.bytes)?.nth(place)??;
        Some((format, value?))
    }
}

/// The integer that stands for a value of a column of this kind, from the text that the server prints of it with dates in ISO form;
/// `None` if it is printed in another form.
pub(crate) fn printed(text: &str, kind: Kind) -> Option<i64> {
    match kind {
        Kind::Integer => plain_integer(text),
        Kind::Moment(moment) => moment.read(text),
        Kind::Numeric(_) => Numeric::read(text).as_ref().map(Numeric::place),
        Kind::Text(texts) => Some(text_value(text.as_bytes(), texts)),
        Kind::Uuid => uuid(text.as_bytes()),
        Kind::Bool | Kind::LooseText | Kind::Shown | Kind::Other => None,
    }
}

/// These values, if all are known.
fn points(values: impl Iterator<Item = Option<i64>>) -> Option<Spans> {
    let points = values.map(|value| value.map(|value| Span { low: value, high: value }));
    Spans::union(points.collect::<Option<_>>()?)
}

fn text_value(text: &[u8], Texts { is_bytewise, .. }: Texts) -> i64 {
    if is_bytewise { first_bytes(text) } else { point(text) }
}

/// The first bytes of a text and forty bits of its hash, which differ where texts have the same beginning.
fn point(text: &[u8]) -> i64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text);
    let mut bytes = hasher.finish().to_be_bytes();
    bytes[..FIRST_OF_POINT].fill(0);
    let len = text.len().min(FIRST_OF_POINT);
    bytes[..len].copy_from_slice(&text[..len]);
    first_bytes(&bytes)
}

/// Whether a text in UTF-8 has more characters.
fn is_longer_than(max_chars: usize) -> impl Fn(&[u8]) -> bool {
    let begins = |byte: &&u8| **byte & 0xC0 != 0x80;
    move |text| text.iter().filter(begins).count() > max_chars
}

/// The first eight bytes in an order of integers; a shorter text is followed by zeros, which no text has.
fn first_bytes(bytes: &[u8]) -> i64 {
    let mut first = [0; 8];
    let len = bytes.len().min(8);
    first[..len].copy_from_slice(&bytes[..len]);
    (u64::from_be_bytes(first) ^ (1 << 63)).cast_signed()
}

/// The first eight bytes of a UUID in its usual form, as in `0191e3a0-7c1b-7000-8000-000000000007`.
fn uuid(text: &[u8]) -> Option<i64> {
    let is_usual = |(place, byte): (usize, &u8)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let is_uuid = text.len() == 36 && text.iter().enumerate().all(is_usual);
    let digits = text.iter().filter(|byte| **byte != b'-').take(16);
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(u64::from);
    let number = digits.map(digit).try_fold(0, |number: u64, digit| Some((number << 4) | digit?));
    number.filter(|_| is_uuid).map(|number| first_bytes(&number.to_be_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recognise::strict::shown_numeric;

    const fn end(place: usize, plus: i64) -> Option<End> {
        Some(End { operand: Operand::Param(place), plus })
    }

    fn bind(format: u8, values: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![0, 1, 0, format, 0, u8::try_from(values.len()).unwrap()];
        for value in values {
            bytes.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
            bytes.extend(*value);
        }
        bytes
    }

    fn span(bytes: &[u8], declared: &[u32], counts: &[usize], range: &Range) -> Option<(i64, i64)> {
        let found = Values { bytes, declared, counts }.spans(range, Kind::Integer)?;
        Some((found.hull().low, found.hull().high))
    }

    #[test]
    fn integers_are_read_by_their_formats() {
        let range = Range::Between(end(0, 1), end(1, -1));
        assert_eq!(span(&bind(0, &[b"5", b"-7"]), &[], &[1, 1], &range), Some((6, -8)));
        let binary = bind(1, &[&5_i16.to_be_bytes(), &9_i64.to_be_bytes()]);
        assert_eq!(span(&binary, &[21, 20], &[1, 1], &range), Some((6, 8)));
    }

    #[test]
    fn what_may_mean_another_number_is_unknown() {
        let range = Range::Between(end(0, 0), end(0, 0));
        for text in ["5.0", " 5", "+5", "0x5", "5e0", "", "9999999999999999999", "five"] {
            assert_eq!(span(&bind(0, &[text.as_bytes()]), &[], &[1], &range), None, "{text}");
        }
        let five = bind(0, &[b"5"]);
        assert_eq!(span(&five, &[], &[1], &range), Some((5, 5)));
        assert_eq!(span(&five, &[], &[2], &range), None, "another place may decide its type");
        assert_eq!(span(&five, &[23], &[2], &range), Some((5, 5)));
        assert_eq!(span(&five, &[701], &[1], &range), None, "a float is equal to several bigints");
        assert_eq!(span(&bind(0, &[]), &[23], &[1], &range), None);
        assert_eq!(span(&[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff], &[23], &[1], &range), None, "NULL");
        assert_eq!(
            span(&bind(0, &[b"9223372036854775807"]), &[20], &[1], &Range::Between(end(0, 1), None)),
            None
        );
    }

    fn numeric(
        bytes: &[u8],
        declared: &[u32],
        range: &Range,
        scale: Option<i32>,
    ) -> Option<(String, String)> {
        let found = Values { bytes, declared, counts: &[1, 1] }.spans(range, Kind::Numeric(scale))?;
        Some((shown_numeric(found.hull().low), shown_numeric(found.hull().high)))
    }

    #[test]
    fn numbers_are_read_by_their_types() {
        let param = |operand: Operand| Range::Between(Some(End { operand, plus: 1 }), None);
        let low = |bytes: &[u8], declared: &[u32], operand: Operand| {
            numeric(bytes, declared, &param(operand), Some(0)).map(|(low, _)| low)
        };
        let said = |text: &str| Some(text.to_owned());
        // An integer of eight bytes could be read as the numeric 0.
        let eight = bind(1, &[&5_i64.to_be_bytes()]);
        assert_eq!(low(&eight, &[20], Operand::Param(0)), said("5"));
        assert_eq!(low(&eight, &[], Operand::Cast(0, Cast::Integer)), said("5"));
        assert_eq!(low(&eight, &[20], Operand::Cast(0, Cast::Numeric)), said("5"));
        assert_eq!(low(&eight, &[1_700], Operand::Param(0)), said("0"), "its scale is 5");
        let text = bind(0, &[b"1.50"]);
        assert_eq!(low(&text, &[], Operand::Param(0)), said("1.5"), "what is compared is not rounded");
        assert_eq!(low(&text, &[1_700], Operand::Cast(0, Cast::Numeric)), said("1.5"));
        for declared in [701, 700, 25, 790] {
            assert_eq!(low(&text, &[declared], Operand::Param(0)), None, "{declared}");
            assert_eq!(low(&text, &[declared], Operand::Cast(0, Cast::Numeric)), None, "{declared}");
        }
        assert_eq!(low(&text, &[1_700], Operand::Cast(0, Cast::Integer)), None, "the server rounds it");
        assert_eq!(low(&text, &[23], Operand::Param(0)), None, "the server refuses it");
    }

    #[test]
    fn what_is_stored_is_rounded() {
        let decimal = |text: &str| Operand::Decimal(text.to_owned());
        let stored = Range::Stored(vec![decimal("1.005"), Operand::Text("1.0149".to_owned()), decimal("-7")]);
        let ends = |low: &str, high: &str| Some((low.to_owned(), high.to_owned()));
        assert_eq!(numeric(&[], &[], &stored, Some(2)), ends("-7", "1.01"));
        assert_eq!(numeric(&[], &[], &stored, None), ends("-7", "1.0149"));
        assert_eq!(numeric(&[], &[], &Range::Stored(vec![decimal("1"), Operand::Bool]), None), None);
        let integer = Values { bytes: &[], declared: &[], counts: &[] };
        assert_eq!(integer.spans(&Range::Stored(vec![decimal("1.5")]), Kind::Integer), None, "2 is stored");
    }

    #[test]
    fn texts_of_a_language_are_points() {
        let text = |text: &str| Operand::Text(text.to_owned());
        let values = Values { bytes: &[], declared: &[], counts: &[] };
        let of = |range: &Range, max_chars| {
            values.spans(range, Kind::Text(Texts { is_bytewise: false, max_chars }))
        };
        let end = |operand| Some(End { operand, plus: 0 });
        let equal = |one: &str| Range::Between(end(text(one)), end(text(one)));
        let anna = of(&equal("anna@example.org"), None).unwrap();
        assert_eq!((anna.iter().len(), anna.width()), (1, 0));
        assert_ne!(of(&equal("anna@example.com"), None), Some(anna.clone()));
        let stored = Range::Stored(vec![text("anna@example.org")]);
        assert_eq!((of(&stored, None), of(&stored, Some(16))), (Some(anna.clone()), Some(anna.clone())));
        assert_eq!(of(&stored, Some(15)), None, "what is stored may be cut");
        assert_eq!(of(&equal("anna@example.org"), Some(15)), Some(anna), "what is compared is not");
        let umlauts = Range::Stored(vec![text("äöü")]);
        assert!(of(&umlauts, Some(3)).is_some() && of(&umlauts, Some(2)).is_none());
        for range in [
            Range::Between(end(text("a")), None),
            Range::Between(None, end(text("a"))),
            Range::Between(end(text("a")), end(text("b"))),
            Range::All(vec![equal("a"), Range::Between(end(text("a")), None)]),
            Range::Among(vec![text("a"), Operand::Integer(7)]),
        ] {
            assert_eq!(of(&range, None), None, "{range:?}");
        }
        let listed = of(&Range::Among(vec![text("b"), text("a"), text("b")]), None).unwrap();
        assert_eq!((listed.iter().len(), listed.width()), (2, 0), "what lies between them is none of it");
    }

    #[test]
    fn ranges_are_joined() {
        let one = |number| Operand::Integer(number);
        let among = Range::Among(vec![one(7), one(3), one(5)]);
        assert_eq!(span(&[], &[], &[], &among), Some((3, 7)));
        let all = Range::All(vec![among, Range::Between(Some(End { operand: one(4), plus: 0 }), None)]);
        assert_eq!(span(&[], &[], &[], &all), Some((5, 7)));
    }
}
