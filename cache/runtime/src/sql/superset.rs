//! Conditions that an index serves and that hold for every text of a range by bytes.
//!
//! MariaDB has no index that orders texts by the bytes of UTF-8, unless the column is `utf8mb4_nopad_bin`. So a range
//! has a second condition, which is true for all of its texts and for some others, in terms that an index of the
//! column understands; the first condition then selects by bytes.
//!
//! `utf8mb4_general_ci` has one weight for each letter, so that all texts with one beginning are side by side in the
//! index. `anna <= name < annz` is also `name LIKE 'ann%'`: whatever lies between two texts begins with what they
//! both begin with. Other collations are left out: under those of the Unicode Collation Algorithm MariaDB 10.11 looks
//! for `LIKE 'b%'` in a part of the index that lacks `b` before an emoji.
//!
//! Under `utf8mb4_bin` code points have the order of bytes, except that texts are compared as if spaces without end
//! followed them: `a`, then a tab, comes before `a`. There the ends of the range are moved outwards, beyond
//! everything that this brings in.

use super::sql_value::SqlValue;

/// Alternatives of the next letter after a common beginning.
const MAX_BRANCHES: u32 = 16;
/// The escape character of `LIKE`; a backslash would depend on the mode of the server.
pub(super) const ESCAPE: char = '!';

/// The patterns of `LIKE` of which each text from `lo` to `hi` matches one; none if that would not help.
/// `includes_hi` says whether the range has its upper end.
pub(super) fn patterns(lo: &str, hi: &str, includes_hi: bool) -> Vec<SqlValue> {
    let common = lo.chars().zip(hi.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect::<String>();
    let (rest_lo, rest_hi) = (&lo[common.len()..], &hi[common.len()..]);
    if let (Some(first), Some(last)) = (rest_lo.chars().next(), rest_hi.chars().next()) {
        // What begins with the whole upper end is not below it.
        let is_beyond = !includes_hi && rest_hi.len() == last.len_utf8();
        let last = if is_beyond { before(last) } else { Some(last) };
        let branches: Vec<char> = last.map_or(Vec::new(), |last| (first..=last).collect());
        let count = u32::try_from(branches.len()).unwrap_or(u32::MAX);
        if (1..=MAX_BRANCHES).contains(&count) {
            return branches.into_iter().map(|letter| beginning(&format!("{common}{letter}"))).collect();
        }
    }
    if common.is_empty() { Vec::new() } else { vec![beginning(&common)] }
}

/// The pattern of all texts that begin with `text`.
fn beginning(text: &str) -> SqlValue {
    let mut pattern = String::with_capacity(text.len() + 1);
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | ESCAPE) {
            pattern.push(ESCAPE);
        }
        pattern.push(letter);
    }
    pattern.push('%');
    SqlValue::Text(pattern)
}

/// A text that is not above any text from `lo` on, spaces following each; `None` if there is none.
pub(super) fn padded_lo(lo: &str) -> Option<SqlValue> {
    let mut letters = lo.chars();
    while let Some(last) = letters.next_back() {
        if let Some(smaller) = before(last) {
            return Some(SqlValue::Text(format!("{}{smaller}{}", letters.as_str(), char::MAX)));
        }
    }
    None
}

/// A text that is not below any text up to `hi`, spaces following each.
pub(super) fn padded_hi(hi: &str) -> SqlValue {
    let is_below_space = |letter: char| letter < ' ';
    SqlValue::Text(hi.split(is_below_space).next().unwrap_or("").to_owned())
}

/// The code point before, surrogates left out.
fn before(letter: char) -> Option<char> {
    ('\0'..letter).next_back()
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::*;

    fn text(value: &SqlValue) -> &str {
        let SqlValue::Text(text) = value else { panic!("{value:?} is a text") };
        text
    }

    /// As `utf8mb4_bin` compares.
    fn padded(a: &str, b: &str) -> Ordering {
        let len = a.chars().count().max(b.chars().count());
        let letters = |text: &str| text.chars().chain(std::iter::repeat(' ')).take(len).collect::<Vec<_>>();
        letters(a).cmp(&letters(b))
    }

    /// Whether a text begins as the pattern says.
    fn is_like(value: &str, pattern: &str) -> bool {
        let mut beginning = String::new();
        let mut letters = pattern.strip_suffix('%').unwrap().chars();
        while let Some(letter) = letters.next() {
            beginning.push(if letter == ESCAPE { letters.next().unwrap() } else { letter });
        }
        value.starts_with(&beginning)
    }

    #[test]
    fn a_range_of_one_beginning_is_one_pattern() {
        let shown = |lo, hi, is_closed| {
            patterns(lo, hi, is_closed).iter().map(|pattern| text(pattern).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(shown("ann", "ano", false), ["ann%"]);
        assert_eq!(shown("ann", "ano", true), ["ann%", "ano%"]);
        assert_eq!(shown("a_1", "a_9", true).len(), 9);
        assert_eq!(shown("a%b", "a%\u{10FFFF}", true), ["a!%%"]);
        assert_eq!(shown("an", "anna", true), ["an%"], "the lower end is the beginning itself");
        assert!(shown("", "b", true).is_empty() && shown("A", "z", true).is_empty());
        assert_eq!(padded_lo("\0\0"), None);
        assert_eq!(padded_lo("\u{E000}"), Some("\u{D7FF}\u{10FFFF}".into()));
    }

    proptest! {
        #[test]
        fn no_text_of_a_range_is_left_out(mut texts in proptest::collection::vec("[\\u{0}\\u{1}\\u{1f} !%_ab\\u{10ffff}]{0,5}", 3), includes_hi in any::<bool>()) {
            texts.sort();
            let [lo, value, hi] = <[String; 3]>::try_from(texts).unwrap();
            if value != hi || includes_hi {
                let found = patterns(&lo, &hi, includes_hi);
                prop_assert!(found.is_empty() || found.iter().any(|pattern| is_like(&value, text(pattern))));
            }
            if let Some(lo) = padded_lo(&lo) {
                prop_assert!(padded(text(&lo), &value).is_le());
            }
            prop_assert!(padded(&value, text(&padded_hi(&hi))).is_le());
        }
    }
}
