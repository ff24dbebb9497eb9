//! Statements without their constants.
//!
//! Clients of the simple protocol write values into their texts, so that each text is another. With `$1` in place of the
//! first constant, and so on, they are few, and each is parsed once: `a = 5 AND b < 'x'` and `a = 7 AND b < 'y'` are both
//! `a = $1 AND b < $2`.

use super::words::plain;

/// A text without constants, and these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) text: String,
    /// As they are between quotes, or without them.
    pub(crate) constants: Vec<String>,
}

/// Longest shape, in characters.
const MAX_SHAPE: usize = 240;

/// The template of a text; `None` if it has parameters already or cannot be read.
pub(crate) fn template(text: &str) -> Option<Template> {
    let plain = plain(text).ok()?;
    let mut template = Template { text: String::with_capacity(plain.len()), constants: Vec::new() };
    for word in words(&plain) {
        match word.as_bytes() {
            [b'$', ..] => return None,
            [b'\'', ..] => template.constant(word[1..word.len() - 1].replace("''", "'")),
            [b'0'..=b'9', ..] => template.constant(word.to_owned()),
            _ => template.text.push_str(word),
        }
    }
    Some(template)
}

/// A text as people are shown it: `?` for each constant, in one line, and not too long.
pub(crate) fn shape(text: &str) -> String {
    let Ok(plain) = plain(text) else { return "a statement that is not read".to_owned() };
    let without = words(&plain)
        .map(|word| if matches!(word.as_bytes(), [b'\'' | b'0'..=b'9', ..]) { "?" } else { word });
    let line = without.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_SHAPE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The words of a text, and what stands between them letter by letter.
fn words(plain: &str) -> impl Iterator<Item = &str> {
    let mut left = plain;
    std::iter::from_fn(move || {
        let first = left.chars().next()?;
        let len = match first {
            '$' => 1 + count(&left[1..], |byte| byte.is_ascii_digit()),
            '\'' | '"' => quoted_len(left, left.as_bytes()[0]),
            '0'..='9' => count(left, |byte| byte.is_ascii_digit() || byte == b'.'),
            '_' | 'a'..='z' | 'A'..='Z' => count(left, |byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            other => other.len_utf8(),
        };
        let (word, rest) = left.split_at(len);
        left = rest;
        Some(word)
    })
}

impl Template {
    fn constant(&mut self, constant: String) {
        self.constants.push(constant);
        self.text.push('$');
        self.text.push_str(&self.constants.len().to_string());
    }
}

fn count(text: &str, is_like: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| is_like(*byte)).count()
}

/// The length of what is in quotes, which was found to end; two quotes in it are one.
fn quoted_len(text: &str, quote: u8) -> usize {
    let mut end = 1;
    loop {
        end += count(&text[end..], |byte| byte != quote) + 1;
        if text.as_bytes().get(end) != Some(&quote) {
            return end;
        }
        end += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_taken_out() {
        let found =
            template("SELECT \"a'1\", b2 FROM t WHERE a=-5 AND b IN ('it''s', 1.5) /* 7 */ LIMIT 3").unwrap();
        let expected = "SELECT \"a'1\", b2 FROM t WHERE a= -$1 AND b IN ($2, $3)   LIMIT $4";
        assert_eq!(found.text, expected);
        assert_eq!(found.constants, ["5", "it's", "1.5", "3"]);
    }

    #[test]
    fn shapes_have_no_constants() {
        let found = shape("SELECT *\n FROM t  WHERE a = $12 AND b2 < 'it''s' -- 7\n AND c > 1.5 LIMIT 3");
        assert_eq!(found, "SELECT * FROM t WHERE a = $12 AND b2 < ? AND c > ? LIMIT ?");
        let long = shape(&format!("SELECT a FROM t WHERE a IN ({})", vec!["7"; 500].join(",")));
        assert!(long.ends_with('…') && long.chars().count() == MAX_SHAPE + 1, "{long}");
        assert_eq!(shape("SELECT 'open"), "a statement that is not read");
    }

    #[test]
    fn texts_with_parameters_have_no_template() {
        assert_eq!(template("SELECT * FROM t WHERE a = $1 AND b = 2"), None);
        assert_eq!(template("SELECT 'open"), None);
    }
}
