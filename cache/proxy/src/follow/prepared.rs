//! Statements that a session has prepared, and portals.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::recognise::Grammar;
use crate::wire::Fields;

/// Most bytes of texts and names that are remembered for a session, and most portals.
const MAX_BYTES: usize = 4 << 20;
const MAX_PORTALS: usize = 256;

/// A statement that was sent to the database.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StatementText {
    pub(crate) grammar: Grammar,
    pub(crate) text: Box<str>,
    /// Types of its parameters as the client has declared them; 0 where it has not.
    declared: Vec<u32>,
    described: OnceLock<Vec<u32>>,
}

impl StatementText {
    pub(crate) fn new(text: &str, declared: Vec<u32>) -> Self {
        Self { grammar: Grammar::Postgres, text: text.into(), declared, described: OnceLock::new() }
    }

    /// One of MySQL, whose parameters have types in each execution.
    pub(crate) fn of_mysql(text: &str) -> Self {
        Self { grammar: Grammar::MySql, ..Self::new(text, Vec::new()) }
    }

    /// The number of the type of the `nth` parameter; 0 if it is not known.
    pub(super) fn type_of(&self, nth: usize) -> u32 {
        let known = self.declared.get(nth).filter(|&&declared| declared != 0);
        known.or_else(|| self.described.get()?.get(nth)).copied().unwrap_or(0)
    }

    /// Keeps the types that the server has reported.
    pub(super) fn describe(&self, body: &[u8]) {
        let mut fields = Fields::new(body);
        if let Some(types) = types(&mut fields) {
            // The same statement has the same types each time.
            let _ = self.described.set(types);
        }
    }
}

/// What a portal executes.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) statement: Arc<StatementText>,
    pub(super) values: Option<Box<[u8]>>,
}

/// The names that a session has given. Those beyond the limits are forgotten, and their statements are not observed.
#[derive(Debug, Default)]
pub(super) struct TextNames {
    statements: HashMap<Box<[u8]>, Arc<StatementText>>,
    portals: HashMap<Box<[u8]>, Bound>,
    bytes: usize,
}

impl TextNames {
    /// A `Parse`.
    pub(super) fn parse(&mut self, body: &[u8], is_whole: bool) -> Option<()> {
        let mut fields = Fields::new(body);
        let name = fields.text()?;
        self.forget(name);
        let text = std::str::from_utf8(fields.text()?).ok()?;
        let declared = if is_whole { types(&mut fields)? } else { Vec::new() };
        self.bytes += name.len() + text.len();
        if self.bytes > MAX_BYTES {
            self.statements.clear();
            self.bytes = name.len() + text.len();
        }
        self.statements.insert(name.into(), Arc::new(StatementText::new(text, declared)));
        Some(())
    }

    fn forget(&mut self, name: &[u8]) {
        if let Some(statement) = self.statements.remove(name) {
            self.bytes -= name.len() + statement.text.len();
        }
    }

    /// A `Bind`.
    pub(super) fn bind(&mut self, body: &[u8], is_whole: bool) -> Option<()> {
        let mut fields = Fields::new(body);
        let portal = fields.text()?;
        self.portals.remove(portal);
        let statement = self.statements.get(fields.text()?)?.clone();
        if self.portals.len() >= MAX_PORTALS {
            self.portals.clear();
        }
        let values = is_whole.then(|| fields.rest().into());
        self.portals.insert(portal.into(), Bound { statement, values });
        Some(())
    }

    /// A `Close`.
    pub(super) fn close(&mut self, body: &[u8]) -> Option<()> {
        let mut fields = Fields::new(body);
        match fields.byte()? {
            b'S' => self.forget(fields.text()?),
            _ => drop(self.portals.remove(fields.text()?)),
        }
        Some(())
    }

    /// The statement of a `Describe`; none if it describes a portal or is not known.
    pub(super) fn described(&self, body: &[u8]) -> Option<Arc<StatementText>> {
        let mut fields = Fields::new(body);
        fields.byte().filter(|&kind| kind == b'S')?;
        self.statements.get(fields.text()?).cloned()
    }

    /// What an `Execute` executes.
    pub(super) fn executed(&self, body: &[u8]) -> Option<Bound> {
        self.portals.get(Fields::new(body).text()?).cloned()
    }
}

fn types(fields: &mut Fields<'_>) -> Option<Vec<u32>> {
    (0..fields.count(4)?).map(|_| fields.int32().map(i32::cast_unsigned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(names: &mut TextNames, name: &str, text: &str) {
        names.parse(format!("{name}\0{text}\0\0\0").as_bytes(), true).unwrap();
    }

    #[test]
    fn statements_that_take_the_same_name_cost_their_text_once() {
        let mut names = TextNames::default();
        parse(&mut names, "kept", "SELECT 1");
        let long = "x".repeat(8_000);
        for _ in 0..2 * MAX_BYTES / long.len() {
            parse(&mut names, "", &long);
            parse(&mut names, "closed", &long);
            names.close(b"Sclosed\0").unwrap();
        }
        assert!(names.described(b"Skept\0").is_some());
        assert_eq!(names.bytes, "keptSELECT 1".len() + long.len());
    }

    #[test]
    fn statements_beyond_the_limit_are_forgotten() {
        let mut names = TextNames::default();
        let long = "x".repeat(8_000);
        for nth in 0..2 * MAX_BYTES / long.len() {
            parse(&mut names, &nth.to_string(), &long);
            assert!(names.bytes <= MAX_BYTES);
        }
        assert!(names.described(b"S0\0").is_none());
    }
}
