//! Statements that certainly write nothing, though no reply of theirs is kept: joins, and what drivers ask the catalogue.
//!
//! No grammar is needed for that. A text that begins with `SELECT`, `WITH`, `VALUES`, `TABLE` or `EXPLAIN` and is one statement
//! writes by the words `INSERT`, `UPDATE`, `DELETE`, `MERGE`, `INTO` and `SHARE`, or because it runs something of a user: a
//! function, an operator, a cast, the check of a domain, a view. What it could run it must name. So every name before a
//! bracket must be a function that is listed here, and every name in it, wherever it stands, is looked up in the catalogue
//! ([`Mentions`]): `SELECT c.relname FROM pg_class AS c WHERE c.oid = 7` names `c`, `relname`, `pg_class`, `oid` and `=`, and
//! none of them is a view, a type, a function of rows or an operator of a user.
//!
//! What is not certain may do anything. Cost: one pass over the text, once for each text.

mod functions;
mod mentions;
#[cfg(test)]
mod tests;
mod tokens;

use super::Reason;
use functions::{FIELDS, FUNCTIONS, LANGUAGE, TYPES, VOLATILE, has};
pub(crate) use mentions::Mentions;
use tokens::{Token, tokens};

/// Words without which a statement that begins as a read writes nothing and locks no rows.
const WRITES: [&str; 8] = ["insert", "update", "delete", "merge", "into", "share", "analyze", "analyse"];
/// Statements that `EXPLAIN` plans without showing all of their text, or its first word here.
const EXPLAINED: [&str; 4] = ["create", "declare", "execute", "refresh"];
/// Words after which a name before a bracket is one that the text gives, and no call.
const GIVES: [&str; 3] = ["as", "recursive", "with"];
/// Schemas of sessions, in which there may be views of others.
const OF_SESSIONS: [&str; 2] = ["pg_temp", "pg_toast_temp"];

/// What the words of a text say.
#[derive(Debug)]
pub(crate) struct Examined {
    /// What it names, if its words are certain.
    pub(crate) mentions: Option<Mentions>,
    /// Whether it writes nothing if the catalogue knows nothing of a user's by those names; else what is not certain.
    pub(crate) harmless: Result<(), Reason>,
}

/// Looks at the words of `text`.
pub(crate) fn examine(text: &str) -> Examined {
    let Some(tokens) = tokens(text) else {
        return Examined { mentions: None, harmless: Err("it has a word that is not known here".to_owned()) };
    };
    Examined { mentions: Some(Mentions::among(&tokens)), harmless: harmless(tokens) }
}

fn harmless(mut tokens: Vec<Token>) -> Result<(), Reason> {
    while tokens.last() == Some(&Token::Mark(b';')) {
        tokens.pop();
    }
    if tokens.contains(&Token::Mark(b';')) {
        return Err("it is more than one statement".to_owned());
    }
    begins_as_a_read(&tokens)?;
    (0..tokens.len()).try_for_each(|place| name(&tokens, place))
}

fn begins_as_a_read(tokens: &[Token]) -> Result<(), Reason> {
    let mut words = tokens.iter().filter(|token| **token != Token::Mark(b'('));
    let is_explained = |token: &Token| matches!(token, Token::Word(word) if EXPLAINED.contains(&&word[..]));
    match words.next() {
        Some(Token::Word(word)) if ["select", "with", "values", "table"].contains(&&word[..]) => Ok(()),
        Some(Token::Word(word)) if word == "explain" && !tokens.iter().any(is_explained) => Ok(()),
        _ => Err("it is no SELECT, and may write".to_owned()),
    }
}

/// Names before a bracket that may stand in such a text, a line each: none of a user's may be among them.
pub(crate) fn called() -> String {
    [FUNCTIONS, VOLATILE, LANGUAGE, TYPES, FIELDS].join(" ").replace(' ', "\n")
}

/// What stands at `place` names nothing that could write.
fn name(tokens: &[Token], place: usize) -> Result<(), Reason> {
    let (Token::Word(name) | Token::Quoted(name)) = &tokens[place] else { return Ok(()) };
    let is_quoted = matches!(tokens[place], Token::Quoted(_));
    if !is_quoted && WRITES.contains(&&name[..]) {
        return Err(format!("it says {}", name.to_ascii_uppercase()));
    }
    if !name.is_ascii() || OF_SESSIONS.iter().any(|schema| name.starts_with(schema)) {
        return Err("it has a name that is not known here".to_owned());
    }
    if mentions::is_selection(tokens, place) {
        return is_listed(&[FUNCTIONS, FIELDS], name);
    }
    let is_given =
        matches!(tokens.get(place.wrapping_sub(1)), Some(Token::Word(word)) if GIVES.contains(&&word[..]));
    let is_call = tokens.get(place + 1) == Some(&Token::Mark(b'('));
    match is_call && !is_given {
        false => Ok(()),
        true if is_quoted => is_listed(&[FUNCTIONS, VOLATILE], name),
        true => is_listed(&[FUNCTIONS, VOLATILE, LANGUAGE, TYPES], name),
    }
}

/// Those of them that are functions and not volatile.
pub(crate) fn stable() -> String {
    FUNCTIONS.replace(' ', "\n")
}

fn is_listed(lists: &[&str], name: &str) -> Result<(), Reason> {
    if lists.iter().any(|list| has(list, name)) {
        return Ok(());
    }
    Err(format!("it calls {name}, which is not known to write nothing"))
}
