//! Statements that begin and end transactions, and those about the session, by their words.

use super::{AboutSession, Statement};

/// Words of statements after which a text may mean something else: names of tables, and how characters are read.
const MOVES_PATH: [&str; 9] = [
    "SEARCH_PATH",
    "SCHEMA",
    "ROLE",
    "AUTHORIZATION",
    "DISCARD",
    "ENCODING",
    "NAMES",
    "CONFORMING",
    "NULL_EQUALS",
];

/// The statement, if its words are exactly those of one that is listed.
pub(super) fn recognise(plain: &str) -> Option<Statement> {
    let text = plain.trim().trim_end_matches(';').trim_end();
    if text.contains(';') {
        return None;
    }
    let upper = text.to_ascii_uppercase();
    let words: Vec<&str> = upper.split_ascii_whitespace().collect();
    Some(match words[..] {
        ["BEGIN"] | ["BEGIN" | "START", "TRANSACTION"] | ["BEGIN", "WORK"] => {
            Statement::Begin { is_plain: true }
        }
        ["BEGIN" | "START", ..] => Statement::Begin { is_plain: false },
        ["COMMIT" | "END"] | ["COMMIT" | "END", "TRANSACTION" | "WORK"] => Statement::Commit,
        ["ROLLBACK" | "ABORT"] | ["ROLLBACK" | "ABORT", "TRANSACTION" | "WORK"] => Statement::Rollback,
        ["SAVEPOINT", name]
        | ["RELEASE", name]
        | ["RELEASE", "SAVEPOINT", name]
        | ["ROLLBACK", "TO", name]
        | ["ROLLBACK", "TO", "SAVEPOINT", name]
            if is_name(name) =>
        {
            Statement::Savepoint
        }
        ["SHOW", ..] => Statement::Show,
        ["SET", "CONSTRAINTS", ..] => return None,
        ["SET" | "RESET" | "DISCARD" | "DEALLOCATE" | "LISTEN" | "UNLISTEN" | "NOTIFY", ..] => {
            Statement::Session(AboutSession {
                keeps_path: !MOVES_PATH.iter().any(|word| upper.contains(word)) && words[1..] != ["ALL"],
                keeps_prepared: !matches!(words[0], "DISCARD" | "DEALLOCATE"),
            })
        }
        _ => return None,
    })
}

fn is_name(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
