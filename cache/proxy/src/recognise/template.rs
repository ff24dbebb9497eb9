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

/// The template of a text; `None` if it has parameters already or cannot be read.
pub(crate) fn template(text: &str) -> Option<Template> {
    let plain = plain(text).ok()?;
    let mut template = Template { text: String::with_capacity(plain.len()), constants: Vec::new() };
    let mut left = &plain[..];
    while let Some(first) = left.bytes().next() {
        let len = match first {
            b'$' => return None,
            b'\'' | b'"' => quoted_len(left, first),
            b'0'..=b'9' => count(left, |byte| byte.is_ascii_digit() || byte == b'.'),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                count(left, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
            }
            _ => 1,
        };
        let (word, rest) = left.split_at(len);
        template.push(first, word);
        left = rest;
    }
    Some(template)
}

impl Template {
    fn push(&mut self, first: u8, word: &str) {
        match first {
            b'\'' => self.constant(word[1..word.len() - 1].replace("''", "'")),
            b'0'..=b'9' => self.constant(word.to_owned()),
            _ => self.text.push_str(word),
        }
    }

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
    fn texts_with_parameters_have_no_template() {
        assert_eq!(template("SELECT * FROM t WHERE a = $1 AND b = 2"), None);
        assert_eq!(template("SELECT 'open"), None);
    }
}
