//! Statements by the rules of MySQL and MariaDB, for estimates.
//!
//! A text is cut into words ([`words`]) and written anew, so that the parser reads what the server reads: without comments, with each
//! text between single quotes and without escapes of letters, and with numbered parameters. `a = "x"`, `a <=> 1`, `/*! … */` and their like mean different
//! things in different sessions or versions, or are not known to the parser: such texts go no further.

mod words;

#[cfg(test)]
mod tests;

use crate::recognise::{Reason, Template};

/// The statement without comments, with parameters `?1`, `?2` and so on, if each of its words is read in one way.
///
/// # Errors
/// The word that is not.
pub(crate) fn plain(text: &str) -> Result<String, Reason> {
    words::read(text, false).map(|written| written.text)
}

/// The statement with parameters in place of its constants; `None` if it has parameters already or cannot be read.
pub(crate) fn template(text: &str) -> Option<Template> {
    let written = words::read(text, true).ok()?;
    (written.param_count == 0).then_some(Template { text: written.text, constants: written.constants })
}
