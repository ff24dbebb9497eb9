//! Statements that a session has prepared.

use std::collections::HashMap;
use std::sync::Arc;

use super::execution::{self, Execution};
use crate::follow::StatementText;
use crate::mysql::wire::Prepared;

/// Most bytes of texts and types that are remembered for a session, with what each statement takes besides.
const MAX_BYTES: usize = 4 << 20;
const OF_EACH: usize = 128;

/// The number by which MariaDB's clients name the statement that was prepared last.
const LAST: u32 = u32::MAX;

/// A text that was executed, and its values.
type Executed = (Arc<StatementText>, Option<Box<[u8]>>);

/// Statements by their numbers. Those beyond the limit are forgotten, and not observed.
#[derive(Debug, Default)]
pub(super) struct Statements {
    by_number: HashMap<u32, Statement>,
    last: Option<u32>,
    bytes: usize,
}

#[derive(Debug)]
struct Statement {
    text: Arc<StatementText>,
    param_count: u16,
    /// The types of the parameters in the last execution that named them.
    types: Option<Box<[u8]>>,
    /// Whether a value was sent before its execution.
    has_long_data: bool,
}

impl Statement {
    fn bytes(&self) -> usize {
        OF_EACH + self.text.text.len() + 2 * usize::from(self.param_count)
    }
}

impl Statements {
    pub(super) fn prepare(&mut self, prepared: Prepared, text: Option<Arc<StatementText>>) {
        let Prepared { id, param_count, .. } = prepared;
        self.last = Some(id);
        self.close(id);
        let Some(text) = text else { return };
        let statement = Statement { text, param_count, types: None, has_long_data: false };
        self.bytes += statement.bytes();
        if self.bytes > MAX_BYTES {
            self.by_number.clear();
            self.bytes = statement.bytes();
        }
        self.by_number.insert(id, statement);
    }

    pub(super) fn close(&mut self, id: u32) {
        if let Some(statement) = self.number(id).and_then(|number| self.by_number.remove(&number)) {
            self.bytes -= statement.bytes();
        }
    }

    /// A value of a parameter was sent alone, or the values that were sent so are dropped.
    pub(super) fn long_data(&mut self, id: u32, is_there: bool) {
        if let Some(statement) = self.statement(id) {
            statement.has_long_data = is_there;
        }
    }

    /// What was executed: its text and its values, which are none if they are not known.
    pub(super) fn executed(&mut self, execution: &Execution) -> Option<Executed> {
        let statement = self.statement(execution.id)?;
        let is_known = !std::mem::take(&mut statement.has_long_data);
        let values = execution::bound(execution, statement.param_count, &mut statement.types);
        Some((statement.text.clone(), values.filter(|_| is_known)))
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn number(&self, id: u32) -> Option<u32> {
        if id == LAST { self.last } else { Some(id) }
    }

    fn statement(&mut self, id: u32) -> Option<&mut Statement> {
        let number = self.number(id)?;
        self.by_number.get_mut(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(statements: &mut Statements, id: u32, text: &str) {
        let prepared = Prepared { id, column_count: 1, param_count: 0, has_definitions: true };
        statements.prepare(prepared, Some(Arc::new(StatementText::of_mysql(text))));
    }

    #[test]
    fn statements_beyond_the_limit_are_forgotten() {
        let mut statements = Statements::default();
        let long = "x".repeat(8_000);
        for id in 0..1_000 {
            prepare(&mut statements, id, &long);
            assert!(statements.bytes <= MAX_BYTES);
        }
        let of =
            |statements: &mut Statements, id| statements.executed(&Execution::without_values(id)).is_some();
        assert!(!of(&mut statements, 0) && of(&mut statements, 999) && of(&mut statements, LAST));
        statements.close(LAST);
        assert!(!of(&mut statements, 999));
        (0..1_000).for_each(|id| statements.close(id));
        assert_eq!(statements.bytes, 0);
    }
}
