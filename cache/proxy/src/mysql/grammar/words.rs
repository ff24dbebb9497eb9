//! The words of a statement, written anew.

use crate::recognise::Reason;

/// Longest statement that is read.
const MAX_LEN: usize = 8 << 10;
/// Bytes that operators are made of.
const OPERATOR: &[u8] = b"+-*/<>=~!%^&|:";
/// Those of more than one byte, the longest first: the server takes the longest that is there.
const LONG: [&str; 12] = ["->>", "<=>", "->", ":=", "<<", ">>", "||", "&&", "<=", ">=", "<>", "!="];
/// Those that are known here.
const KNOWN: [&str; 12] = ["=", "<", ">", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "%"];

/// A statement that the parser reads as the server does.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) text: String,
    /// Constants that were taken out, as they are without quotes.
    pub(super) constants: Vec<String>,
    /// Parameters that the text had.
    pub(super) param_count: usize,
}

/// Reads a text; takes constants out of it if it is to.
///
/// # Errors
/// The word that is not read in one way.
pub(super) fn read(text: &str, takes_constants: bool) -> Result<Written, Reason> {
    if text.len() > MAX_LEN {
        return Err(format!("its text is longer than {MAX_LEN} bytes"));
    }
    let mut words = Words { left: text, takes_constants, written: Written::default() };
    while let Some(first) = words.left.bytes().next() {
        words.word(first)?;
    }
    Ok(words.written)
}

struct Words<'t> {
    left: &'t str,
    takes_constants: bool,
    written: Written,
}

impl<'t> Words<'t> {
    /// Takes the word that begins with `first`.
    fn word(&mut self, first: u8) -> Result<(), Reason> {
        if self.begins_comment() {
            return self.comment();
        }
        match first {
            b' ' | b'\t' | b'\n' | b'\r' | b'(' | b')' | b',' | b';' => self.take(1),
            b'.' if !self.left.starts_with("..") => self.take(1),
            b'\'' => return self.text(),
            b'`' => return self.quoted_name(),
            b'?' => return self.parameter(),
            b'0'..=b'9' => return self.number(),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => return self.name(),
            b'"' => return Err("a text between \" means other things in other sessions".to_owned()),
            b'@' => return Err("it has a variable of the session".to_owned()),
            byte if OPERATOR.contains(&byte) => return self.operator(),
            _ => return Err("it has a character that is not known here".to_owned()),
        }
        Ok(())
    }

    fn take(&mut self, count: usize) {
        let word = self.skip(count);
        self.written.text.push_str(word);
    }

    fn skip(&mut self, count: usize) -> &'t str {
        let (word, left) = self.left.split_at(count);
        self.left = left;
        word
    }

    /// How many bytes from `start` on are like this.
    fn count(&self, start: usize, is_like: impl Fn(u8) -> bool) -> usize {
        self.left.bytes().skip(start).take_while(|byte| is_like(*byte)).count()
    }

    /// `--5` is two minuses: only a space makes a comment of them.
    fn begins_comment(&self) -> bool {
        let is_line = self.left.strip_prefix("--").is_some_and(|rest| {
            rest.bytes().next().is_none_or(|byte| byte == b' ' || byte.is_ascii_control())
        });
        is_line || self.left.starts_with('#') || self.left.starts_with("/*")
    }

    fn comment(&mut self) -> Result<(), Reason> {
        let len = match self.left.strip_prefix("/*") {
            Some(rest) => {
                if rest.starts_with(['!', '+']) || rest.starts_with("M!") {
                    return Err("it has a comment that some servers execute".to_owned());
                }
                2 + rest.find("*/").ok_or("a comment does not end")? + 2
            }
            None => self.count(0, |byte| byte != b'\n'),
        };
        self.skip(len);
        self.written.text.push(' ');
        Ok(())
    }

    /// `N'…'`, `_utf8'…'` and `x'…'` are words of their own.
    fn must_stand_alone(&self) -> Result<(), Reason> {
        let last = self.written.text.bytes().last().unwrap_or(b' ');
        if is_of_name(last) { Err("a text with a prefix is not known here".to_owned()) } else { Ok(()) }
    }

    fn text(&mut self) -> Result<(), Reason> {
        self.must_stand_alone()?;
        let (len, decoded) = text(self.left).ok_or("a text does not end, or has a zero in it")?;
        self.skip(len);
        if self.left.trim_start().starts_with(['\'', '"']) {
            return Err("a text in two parts is not known here".to_owned());
        }
        if self.takes_constants {
            self.constant(decoded);
        } else {
            // As the parser reads it.
            self.written.text.push_str(&format!("'{}'", decoded.replace('\\', "\\\\").replace('\'', "''")));
        }
        Ok(())
    }

    fn constant(&mut self, constant: String) {
        self.written.constants.push(constant);
        self.placeholder(self.written.constants.len());
    }

    fn placeholder(&mut self, number: usize) {
        self.written.text.push('?');
        self.written.text.push_str(&number.to_string());
    }

    fn quoted_name(&mut self) -> Result<(), Reason> {
        self.must_stand_alone()?;
        let len = self.left[1..].find('`').ok_or("a quoted name does not end")? + 2;
        let is_plain = self.left.as_bytes()[..len].iter().all(|byte| (b' '..0x7f).contains(byte));
        if !is_plain || self.left[len..].starts_with('`') {
            return Err("a name has a letter that is not known here".to_owned());
        }
        self.take(len);
        Ok(())
    }

    /// A parameter of a template has its number already; a server takes none that has.
    fn parameter(&mut self) -> Result<(), Reason> {
        let digits = self.count(1, |byte| byte.is_ascii_digit());
        if self.count(1 + digits, is_of_name) > 0 {
            return Err("a parameter that does not stand alone is not known here".to_owned());
        }
        self.written.param_count += 1;
        if digits > 0 {
            self.take(1 + digits);
        } else {
            self.skip(1);
            self.placeholder(self.written.param_count);
        }
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
        if self.takes_constants {
            let number = self.skip(len).to_owned();
            self.constant(number);
        } else {
            self.take(len);
        }
        Ok(())
    }

    fn name(&mut self) -> Result<(), Reason> {
        let len = self.count(0, is_of_name);
        if !self.left.as_bytes()[..len].iter().all(|&byte| byte != b'$' && byte.is_ascii()) {
            return Err("a name has a letter that is not known here".to_owned());
        }
        self.take(len);
        Ok(())
    }

    fn operator(&mut self) -> Result<(), Reason> {
        let left: &'t str = self.left;
        let long = LONG.into_iter().find(|operator| left.starts_with(operator));
        let operator = long.unwrap_or(&left[..1]);
        if !KNOWN.contains(&operator) {
            return Err(format!("the operator {operator} is not known here"));
        }
        self.take(operator.len());
        // The next one must not become a part of this one, nor of a comment.
        if self.left.bytes().next().is_some_and(|byte| OPERATOR.contains(&byte)) {
            self.written.text.push(' ');
        }
        Ok(())
    }
}

/// Whether names go on with this byte.
const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The length of the text in quotes that `left` begins with, and what it says; `None` if it does not end, or has a zero in it.
fn text(left: &str) -> Option<(usize, String)> {
    let mut decoded = String::new();
    let mut letters = left.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\'' if letters.next_if(|(_, next)| *next == '\'').is_some() => decoded.push('\''),
            '\'' => return Some((at + 1, decoded)),
            '\\' => match letters.next()?.1 {
                // Two of them mean themselves to LIKE.
                pattern @ ('%' | '_') => decoded.extend(['\\', pattern]),
                escaped => decoded.push(unescaped(escaped)),
            },
            letter => decoded.push(letter),
        }
        if decoded.ends_with('\0') {
            return None;
        }
    }
    None
}

/// The letter that is meant by this one after a `\`.
const fn unescaped(letter: char) -> char {
    match letter {
        '0' => '\0',
        'b' => '\x08',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'Z' => '\x1a',
        other => other,
    }
}
