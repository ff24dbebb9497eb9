//! The file of roles whose logins may end in the proxy.

use std::collections::HashMap;
use std::path::Path;

use lacuna_base::{Error, Result};

use crate::scram::Verifier;

/// Roles and what the database keeps of their passwords.
///
/// The file has a line for each role, `"role" "SCRAM-SHA-256$..."`, as PgBouncer's `userlist.txt` has it: a quotation mark
/// in a name is written twice, and lines that are empty or begin with `;` or `#` are skipped.
#[derive(Debug, Default)]
pub(crate) struct Logins {
    verifiers: HashMap<Vec<u8>, Verifier>,
}

impl Logins {
    /// # Errors
    /// `Unavailable` if the file cannot be read; `InvalidInput` with the line if it holds anything else.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|why| {
            Error::unavailable(format!("{} cannot be read: {why}", path.display())).with_source(why)
        })?;
        let text = text.trim_start_matches('\u{feff}');
        Self::parse(text)
            .map_err(|(line, why)| Error::invalid_input(format!("{}, line {line}: {why}", path.display())))
    }

    /// What is kept of the password of `role`.
    pub(crate) fn verifier(&self, role: &[u8]) -> Option<&Verifier> {
        self.verifiers.get(role)
    }

    fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        let mut verifiers = HashMap::new();
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            if line.is_empty() || line.starts_with([';', '#']) {
                continue;
            }
            let (role, verifier) = entry(line).map_err(|why| (number, why))?;
            if verifiers.insert(role.into_bytes(), verifier).is_some() {
                return Err((number, "the role has a line already; leave one of them"));
            }
        }
        Ok(Self { verifiers })
    }
}

fn entry(line: &str) -> Result<(String, Verifier), &'static str> {
    const SHAPE: &str = "write \"role\" \"SCRAM-SHA-256$...\", both in quotation marks";
    let (role, rest) = quoted(line).ok_or(SHAPE)?;
    let (keys, rest) = quoted(rest.trim_start()).ok_or(SHAPE)?;
    if !rest.trim().is_empty() {
        return Err(SHAPE);
    }
    let verifier = keys.parse().map_err(|()| {
        "the second text is no SCRAM-SHA-256$..., which is what pg_authid.rolpassword has of a role; a password or an MD5 hash \
         logs in nowhere: the role must be given its password anew with password_encryption = 'scram-sha-256'"
    })?;
    Ok((role, verifier))
}

/// The text in quotation marks that a line begins with, and what follows it.
fn quoted(line: &str) -> Option<(String, &str)> {
    let mut rest = line.strip_prefix('"')?;
    let mut text = String::new();
    loop {
        let (piece, after) = rest.split_once('"')?;
        text.push_str(piece);
        match after.strip_prefix('"') {
            Some(after) => {
                text.push('"');
                rest = after;
            }
            None => return Some((text, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &str = "SCRAM-SHA-256$4096:AAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

    #[test]
    fn roles_are_found_by_their_names() {
        let text = format!(
            "; of today\n\n\"app\" \"{KEYS}\"\r\n# b\n\"a \"\"b\"\"\"   \"{KEYS}\" \n\"rôle\" \"{KEYS}\""
        );
        let logins = Logins::parse(&text).unwrap();
        for role in ["app", "a \"b\"", "rôle"] {
            assert!(logins.verifier(role.as_bytes()).is_some(), "{role}");
        }
        assert!(logins.verifier(b"App").is_none());
        assert!(Logins::parse("").unwrap().verifier(b"app").is_none());
    }

    #[test]
    fn a_line_of_another_shape_is_named() {
        let wrong = [
            "app secret",
            "\"app\"",
            "\"app",
            "\"app\" \"secret\"",
            "\"app\" \"md5a6\"",
            &format!("app \"{KEYS}\""),
        ];
        for line in wrong {
            let text = format!("\"other\" \"{KEYS}\"\n{line}\n");
            assert_eq!(Logins::parse(&text).unwrap_err().0, 2, "{line}");
        }
        let twice = format!("\"app\" \"{KEYS}\"\n\"app\" \"{KEYS}\"");
        assert_eq!(Logins::parse(&twice).unwrap_err().0, 2);
        let more = format!("\"app\" \"{KEYS}\" \"\"");
        assert_eq!(Logins::parse(&more).unwrap_err().0, 1);
    }
}
