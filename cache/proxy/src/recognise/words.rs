//! The words of a statement by PostgreSQL's rules, so that the parser reads what the server reads.
//!
//! `a !=-5` is the one operator `!=-` to PostgreSQL, and `a != -5` to the parser; `0x1F` is a number to version 16 and
//! `0 AS x1f` to version 15; a `\` in a text depends on a setting. Such texts are refused. Comments become spaces.

use super::Reason;

/// Longest statement that is read.
const MAX_LEN: usize = 8 << 10;
/// Bytes that operators are made of.
pub(super) const OPERATOR: &[u8] = b"+-*/<>=~!@#%^&|`?";
/// An operator with one of these may end with `+` or `-`; another may not, so that `=-1` is `= -1`.
const KEEPS_SIGN: &[u8] = b"~!@#%^&|`?";
const OPERATORS: [&str; 13] = ["=", "<", ">", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "%", "||"];

/// The statement without comments, if each of its words is read in one way.
///
/// # Errors
/// The word that is not.
pub(super) fn plain(text: &str) -> Result<String, Reason> {
    if text.len() > MAX_LEN {
        return Err(format!("its text is longer than {MAX_LEN} bytes"));
    }
    let mut words = Words { left: text, plain: String::with_capacity(text.len()) };
    while let Some(first) = words.left.bytes().next() {
        words.word(first)?;
    }
    Ok(words.plain)
}

struct Words<'t> {
    left: &'t str,
    plain: String,
}

impl<'t> Words<'t> {
    /// Takes the word that begins with `first`.
    fn word(&mut self, first: u8) -> Result<(), Reason> {
        if self.left.starts_with("--") || self.left.starts_with("/*") {
            return self.comment();
        }
        match first {
            b' ' | b'\t' | b'\n' | b'\r' | b'(' | b')' | b',' | b';' => self.take(1),
            b'.' if !self.left.starts_with("..") => self.take(1),
            b'\'' => return self.text(),
            b'"' => return self.quoted_name(),
            b'$' => return self.parameter(),
            b':' if self.left.starts_with("::") => self.take(2),
            b'0'..=b'9' => return self.number(),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => self.name()?,
            byte if OPERATOR.contains(&byte) => return self.operator(),
            _ => return Err("it has a character that is not known here".to_owned()),
        }
        Ok(())
    }

    fn take(&mut self, count: usize) {
        let (word, left) = self.left.split_at(count);
        self.plain.push_str(word);
        self.left = left;
    }

    /// How many bytes from `start` on are like this.
    fn count(&self, start: usize, is_like: impl Fn(u8) -> bool) -> usize {
        self.left.bytes().skip(start).take_while(|byte| is_like(*byte)).count()
    }

    fn comment(&mut self) -> Result<(), Reason> {
        let len = if self.left.starts_with("--") {
            self.count(0, |byte| byte != b'\n' && byte != b'\r')
        } else {
            nested_comment(self.left).ok_or("a comment does not end")?
        };
        self.left = &self.left[len..];
        self.plain.push(' ');
        Ok(())
    }

    fn text(&mut self) -> Result<(), Reason> {
        self.must_stand_alone("a text with a prefix is not known here")?;
        let len = quoted(self.left, '\'').ok_or("a text does not end")?;
        if self.left[..len].contains(['\\', '\0']) {
            return Err("a \\ means other things in other sessions; give the text as a parameter".to_owned());
        }
        if self.left[len..].trim_start().starts_with('\'') {
            return Err("a text in two parts is not known here".to_owned());
        }
        self.take(len);
        Ok(())
    }

    fn quoted_name(&mut self) -> Result<(), Reason> {
        self.must_stand_alone("a quoted name with a prefix is not known here")?;
        let len = quoted(self.left, '"').ok_or("a quoted name does not end")?;
        self.take(len);
        Ok(())
    }

    /// `E'…'`, `U&"…"` and their like are words of their own.
    fn must_stand_alone(&self, otherwise: &str) -> Result<(), Reason> {
        let last = self.plain.bytes().last().unwrap_or(b' ');
        if is_of_name(last) || last == b'&' { Err(otherwise.to_owned()) } else { Ok(()) }
    }

    fn parameter(&mut self) -> Result<(), Reason> {
        let digits = self.count(1, |byte| byte.is_ascii_digit());
        let is_plain = (1..=5).contains(&digits) && self.count(1 + digits, is_of_name) == 0;
        if !is_plain {
            return Err("a text between $ is not known here".to_owned());
        }
        self.take(1 + digits);
        Ok(())
    }

    fn number(&mut self) -> Result<(), Reason> {
        let mut len = self.count(0, |byte| byte.is_ascii_digit());
        if self.left[len..].starts_with('.') {
            len += 1 + self.count(len + 1, |byte| byte.is_ascii_digit());
        }
        if self.count(len, |byte| is_of_name(byte) || byte == b'.') > 0 {
            return Err("a number that is not plainly decimal is not known here".to_owned());
        }
        self.take(len);
        Ok(())
    }

    fn name(&mut self) -> Result<(), Reason> {
        let len = self.count(0, is_of_name);
        if self.left[..len].contains('$') {
            return Err("a name with $ is not known here".to_owned());
        }
        self.take(len);
        Ok(())
    }

    fn operator(&mut self) -> Result<(), Reason> {
        let operator: &'t str = operator(self.left);
        if !OPERATORS.contains(&operator) {
            return Err(format!("the operator {operator} is not known here"));
        }
        self.take(operator.len());
        // The next one must not become a part of this one.
        if self.left.bytes().next().is_some_and(|byte| OPERATOR.contains(&byte)) {
            self.plain.push(' ');
        }
        Ok(())
    }
}

/// The operator at the beginning of `text`: the longest run of bytes of operators is one operator, up to a comment.
pub(super) fn operator(text: &str) -> &str {
    let len = text.bytes().take_while(|byte| OPERATOR.contains(byte)).count();
    let run = &text[..len];
    let end = [run.find("--"), run.find("/*")].into_iter().flatten().min().unwrap_or(run.len());
    let mut operator = &run[..end];
    if !operator.bytes().any(|byte| KEEPS_SIGN.contains(&byte)) {
        while operator.len() > 1 && operator.ends_with(['+', '-']) {
            operator = &operator[..operator.len() - 1];
        }
    }
    operator
}

/// The length of what is in quotes at the beginning of `text`, in which two quotes are one.
pub(super) fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut end = 1;
    loop {
        end += text[end..].find(quote)? + 1;
        if !text[end..].starts_with(quote) {
            return Some(end);
        }
        end += 1;
    }
}

/// Whether names go on with this byte.
pub(super) const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The length of the comment at the beginning of `text`; comments may hold others.
pub(super) fn nested_comment(text: &str) -> Option<usize> {
    let (mut depth, mut len) = (0_u32, 0);
    loop {
        let left = text.get(len..).filter(|left| !left.is_empty())?;
        if left.starts_with("/*") {
            (depth, len) = (depth + 1, len + 2);
        } else if left.starts_with("*/") {
            (depth, len) = (depth - 1, len + 2);
        } else {
            len += left.chars().next()?.len_utf8();
        }
        if depth == 0 {
            return Some(len);
        }
    }
}
