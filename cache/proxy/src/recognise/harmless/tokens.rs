//! The words of a text by PostgreSQL's rules, for a text that need not be understood.
//!
//! It takes more than [`super::super::words`] does: every operator, texts with a prefix `E`, brackets. What could be cut in two
//! ways (a `\` in a plain text, `U&`, text between `$`) is not cut at all.

use crate::recognise::words::{OPERATOR, is_of_name, nested_comment, operator, quoted};

/// A word of a text. What stands between quotes is not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or a word of the language, in lower case.
    Word(String),
    /// A name between quotes.
    Quoted(String),
    /// A constant.
    Constant,
    Param,
    Operator(String),
    /// A bracket, a comma and their like.
    Mark(u8),
}

/// Longest text that is cut.
const MAX_LEN: usize = 32 << 10;
/// Longest name; the server cuts longer ones, which may then be another.
const MAX_NAME: usize = 63;

/// The words of `text`; `None` if they are not certain.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut left = Some(text).filter(|text| text.len() <= MAX_LEN)?;
    let mut tokens = Vec::new();
    while let Some(first) = left.bytes().next() {
        let (token, len) = token(left, first)?;
        tokens.extend(token);
        left = &left[len..];
    }
    Some(tokens)
}

/// The token at the beginning of `text`, if that is one, and how long it is.
fn token(text: &str, first: u8) -> Option<(Option<Token>, usize)> {
    Some(match first {
        b' ' | b'\t' | b'\n' | b'\r' | 0x0c => (None, 1),
        _ if text.starts_with("--") => (None, count(text, |byte| byte != b'\n' && byte != b'\r')),
        _ if text.starts_with("/*") => (None, nested_comment(text)?),
        b'(' | b')' | b'[' | b']' | b',' | b';' | b'.' | b':' => (Some(Token::Mark(first)), 1),
        b'\'' => (Some(Token::Constant), constant(text, false)?),
        b'"' => {
            let len = quoted(text, '"')?;
            let name = text[1..len - 1].replace("\"\"", "\"");
            let is_plain = name.len() <= MAX_NAME && !name.contains(char::is_control);
            (Some(Token::Quoted(name)), Some(len).filter(|_| is_plain)?)
        }
        b'$' => (Some(Token::Param), parameter(text)?),
        b'0'..=b'9' => (Some(Token::Constant), number(text)?),
        b'_' | b'a'..=b'z' | b'A'..=b'Z' => word(text)?,
        byte if OPERATOR.contains(&byte) => {
            let operator = operator(text);
            (Some(Token::Operator(operator.to_owned())), operator.len())
        }
        _ => return None,
    })
}

fn count(text: &str, is_like: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| is_like(*byte)).count()
}

/// The length of a text between quotes. With escapes a `\` takes what follows it; without, it means one of two things.
fn constant(text: &str, has_escapes: bool) -> Option<usize> {
    if !has_escapes {
        let len = quoted(text, '\'')?;
        return Some(len).filter(|_| !text[..len].contains(['\\', '\0']));
    }
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((place, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()?),
            b'\'' if text.as_bytes().get(place + 1) == Some(&b'\'') => drop(bytes.next()),
            b'\'' => return Some(place + 1),
            0 | 0x80.. => return None,
            _ => {}
        }
    }
    None
}

fn parameter(text: &str) -> Option<usize> {
    let digits = count(&text[1..], |byte| byte.is_ascii_digit());
    let is_plain = (1..=5).contains(&digits) && count(&text[1 + digits..], is_of_name) == 0;
    is_plain.then_some(1 + digits)
}

fn number(text: &str) -> Option<usize> {
    let digits = |from: usize| count(&text[from..], |byte| byte.is_ascii_digit());
    let mut len = digits(0);
    if text[len..].starts_with('.') {
        len += 1;
        len += digits(len);
    }
    let is_plain = count(&text[len..], |byte| is_of_name(byte) || byte == b'.') == 0;
    is_plain.then_some(len)
}

/// A name, a word, or a text with a prefix.
fn word(text: &str) -> Option<(Option<Token>, usize)> {
    let len = count(text, is_of_name);
    let word = &text[..len];
    match (word, text.as_bytes().get(len)) {
        ("e" | "E", Some(b'\'')) => Some((Some(Token::Constant), len + constant(&text[len..], true)?)),
        ("b" | "B" | "x" | "X" | "n" | "N", Some(b'\'')) => None,
        ("u" | "U", Some(b'&')) => None,
        _ if word.contains('$') || !word.is_ascii() || len > MAX_NAME => None,
        _ => Some((Some(Token::Word(word.to_ascii_lowercase())), len)),
    }
}
