//! Whether two replies to one read say the same of the same rows.
//!
//! Bytes that are equal do. Others may, too: without ORDER BY the server may send rows in any order, and with LIMIT it may choose
//! among rows that are equal in the order. Where a difference has such a reason, or may have it, it is none: what is called
//! different is explained by nothing but other rows, other definitions or other rights.

use crate::recognise::strict::Freedom;
use crate::wire::Fields;

/// What two replies are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Equal,
    /// They cannot both be right, for this reason.
    Different(&'static str),
    /// They may both be right, or one of them is none.
    Uncertain(&'static str),
}

/// Types of which equal values have equal bytes: truth values, integers, texts by their bytes, moments, UUIDs.
const EXACT: [u32; 11] = [16, 17, 20, 21, 23, 25, 1_043, 1_082, 1_114, 1_184, 2_950];

/// Those of them that are compared by a collation.
const TEXTS: [u32; 2] = [25, 1_043];

/// A reply in its parts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reply<'b> {
    description: Option<&'b [u8]>,
    rows: Vec<&'b [u8]>,
    tag: Option<&'b [u8]>,
}

/// Compares a reply that was kept with the server's, both as messages from the description to the tag. `has_loose_texts` if its
/// table has texts of which equal ones may have other bytes.
pub(crate) fn compare(kept: &[u8], answered: &[u8], freedom: Freedom, has_loose_texts: bool) -> Verdict {
    if kept == answered {
        return Verdict::Equal;
    }
    let (Some(kept), Some(answered)) = (Reply::read(kept), Reply::read(answered)) else {
        return Verdict::Uncertain("a reply is not understood");
    };
    if kept.description != answered.description {
        return Verdict::Different("columns are others");
    }
    if kept.tag != answered.tag || kept.rows.len() != answered.rows.len() {
        return Verdict::Different("the number of rows is another");
    }
    let has_same_rows = kept.sorted() == answered.sorted();
    match freedom {
        Freedom { is_ordered: false, .. } if has_same_rows => Verdict::Equal,
        _ if has_same_rows => Verdict::Uncertain("rows that may be equal in the order have changed places"),
        Freedom { is_limited: true, .. } => Verdict::Uncertain("LIMIT or OFFSET may have taken other rows"),
        Freedom { is_grouped: true, .. } if !kept.is_exact(has_loose_texts) => {
            Verdict::Uncertain("one of several equal values may have been shown")
        }
        _ => Verdict::Different("rows are others"),
    }
}

/// What an error of the server, its body, is to a reply that was kept. One of class 42 is about rights and definitions, which
/// a reply that is shown is promised to know.
pub(crate) fn of_error(body: &[u8]) -> Verdict {
    let mut fields = body.split(|byte| *byte == 0);
    match fields.find_map(|field| field.strip_prefix(b"C")) {
        Some([b'4', b'2', ..]) => Verdict::Different("the server refuses it"),
        _ => Verdict::Uncertain("the server has answered with an error"),
    }
}

impl<'b> Reply<'b> {
    fn read(mut bytes: &'b [u8]) -> Option<Self> {
        let mut reply = Self::default();
        while !bytes.is_empty() {
            let mut fields = Fields::new(bytes);
            let tag = fields.byte()?;
            let body = fields.bytes(usize::try_from(fields.clone().int32()?).ok()?)?;
            match tag {
                b'T' => reply.description = Some(body),
                b'D' => reply.rows.push(body),
                b'C' => reply.tag = Some(body),
                _ => return None,
            }
            bytes = fields.rest();
        }
        Some(reply)
    }

    fn sorted(&self) -> Vec<&'b [u8]> {
        let mut rows = self.rows.clone();
        rows.sort_unstable();
        rows
    }

    /// Whether equal values of all its columns have equal bytes.
    fn is_exact(&self, has_loose_texts: bool) -> bool {
        let is_exact = |number: &u32| EXACT.contains(number) && !(has_loose_texts && TEXTS.contains(number));
        self.description.and_then(types).is_some_and(|types| types.iter().all(is_exact))
    }
}

/// The types of a description, which has its length before it.
fn types(description: &[u8]) -> Option<Vec<u32>> {
    let mut fields = Fields::new(description.get(4..)?);
    let one = |fields: &mut Fields<'_>| {
        fields.text()?;
        // The table and its column before the type, length, modifier and format after it.
        fields.bytes(6)?;
        let number = fields.int32()?.cast_unsigned();
        fields.bytes(8).map(|_| number)
    };
    (0..fields.count(19)?).map(|_| one(&mut fields)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Freedom = Freedom { is_ordered: false, is_limited: false, is_grouped: false };

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        [&[tag][..], &u32::try_from(body.len() + 4).unwrap().to_be_bytes(), body].concat()
    }

    fn description(number: u32) -> Vec<u8> {
        let body = [b"\0\x01a\0\0\0\0\x07\0\x01", &number.to_be_bytes()[..], &[0; 8]].concat();
        message(b'T', &body)
    }

    fn reply(number: u32, rows: &[&str]) -> Vec<u8> {
        let rows: Vec<u8> = rows.iter().flat_map(|row| message(b'D', row.as_bytes())).collect();
        [description(number), rows.clone(), message(b'C', format!("SELECT {}\0", rows.len()).as_bytes())]
            .concat()
    }

    fn verdict(kept: &[&str], answered: &[&str], freedom: Freedom) -> Verdict {
        compare(&reply(23, kept), &reply(23, answered), freedom, false)
    }

    fn is_different(verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Different(_))
    }

    fn is_uncertain(verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Uncertain(_))
    }

    #[test]
    fn other_rows_are_different() {
        assert_eq!(verdict(&["a", "b"], &["a", "b"], PLAIN), Verdict::Equal);
        for answered in [&["a", "c"][..], &["a"], &["a", "b", "b"], &["a", "a"], &[]] {
            assert!(is_different(verdict(&["a", "b"], answered, PLAIN)), "{answered:?}");
        }
        assert!(is_different(compare(&reply(23, &[]), &reply(20, &[]), PLAIN, false)), "columns");
    }

    #[test]
    fn what_the_server_may_choose_is_no_difference() {
        let ordered = Freedom { is_ordered: true, ..PLAIN };
        let limited = Freedom { is_limited: true, ..PLAIN };
        assert_eq!(verdict(&["a", "b"], &["b", "a"], PLAIN), Verdict::Equal);
        assert_eq!(verdict(&["a", "b"], &["b", "a"], limited), Verdict::Equal);
        assert!(is_uncertain(verdict(&["a", "b"], &["b", "a"], ordered)));
        assert!(is_different(verdict(&["a", "b"], &["a", "c"], ordered)));
        assert!(is_uncertain(verdict(&["a", "b"], &["a", "c"], limited)));
        assert!(is_different(verdict(&["a", "b"], &["a"], limited)), "a limit takes as many as there are");
    }

    /// `DISTINCT` of 1.0 and 1.00 shows either.
    #[test]
    fn equal_values_of_exact_types_alone_have_equal_bytes() {
        let grouped = Freedom { is_grouped: true, ..PLAIN };
        assert!(is_different(compare(&reply(23, &["a"]), &reply(23, &["b"]), grouped, false)));
        assert!(is_uncertain(compare(&reply(1_700, &["a"]), &reply(1_700, &["b"]), grouped, false)));
        assert!(is_different(compare(&reply(1_700, &["a"]), &reply(1_700, &["b"]), PLAIN, false)));
        for (number, is_loose) in [(25, true), (1_043, true), (23, false)] {
            let compared = |freedom| compare(&reply(number, &["a"]), &reply(number, &["A"]), freedom, true);
            assert_eq!(is_uncertain(compared(grouped)), is_loose, "{number}");
            assert!(is_different(compared(PLAIN)), "{number}");
        }
        let without = |row: &str| [message(b'D', row.as_bytes()), message(b'C', b"SELECT 1\0")].concat();
        assert!(
            is_uncertain(compare(&without("a"), &without("b"), grouped, false)),
            "its types are not known"
        );
    }

    #[test]
    fn errors_about_rights_and_definitions_are_differences() {
        assert!(is_different(of_error(b"SERROR\0VERROR\0C42501\0Mpermission denied\0\0")));
        assert!(is_different(of_error(b"SERROR\0C42P01\0\0")));
        for code in ["C57014", "C40001", "C53200", "M42501", ""] {
            assert!(is_uncertain(of_error(format!("SERROR\0{code}\0\0").as_bytes())), "{code}");
        }
    }

    #[test]
    fn what_is_no_reply_is_not_compared() {
        let whole = reply(23, &["a"]);
        for end in 1..whole.len() {
            assert!(!matches!(compare(&whole, &whole[..end], PLAIN, false), Verdict::Equal), "{end}");
        }
        assert!(is_uncertain(compare(&whole, b"N\0\0\0\x04", PLAIN, false)));
        assert!(is_uncertain(compare(&whole, b"D\0\0\0\x01x", PLAIN, false)));
    }
}
