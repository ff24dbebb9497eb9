//! Names in SQL.

/// A name as it stands in SQL, whatever its letters are.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
