//! Scans that remember when they found nothing.

use std::fmt;

use lacuna_rocksdb_property::{Direction, Question};
use rust_rocksdb::{DBAccess, DBRawIteratorWithThreadMode, Error};

use crate::refusal::check;

/// The rows of a range, from RocksDB's own iterator. It goes one way and cannot be moved elsewhere.
pub struct GuardedScan<'a, D: DBAccess> {
    rows: DBRawIteratorWithThreadMode<'a, D>,
    question: Question,
    /// The name of a comparator whose order is not that of bytes.
    foreign_comparator: Option<String>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not yet asked for a row.
    New,
    /// On a row that was returned.
    OnRow,
    /// After the last row, or failed.
    Done,
}

/// Key and value, borrowed until the next row is asked for.
pub type Row<'a> = (&'a [u8], &'a [u8]);

impl<'a, D: DBAccess> GuardedScan<'a, D> {
    pub(crate) fn new(
        rows: DBRawIteratorWithThreadMode<'a, D>,
        question: Question,
        foreign_comparator: Option<String>,
    ) -> Self {
        Self { rows, question, foreign_comparator, state: State::New }
    }

    /// The next row, or `None` after the last.
    ///
    /// # Errors
    /// A failed read of RocksDB; the scan has then ended. `InvalidArgument` if the comparator of the column family is not
    /// RocksDB's bytewise one.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>, Error> {
        let first = self.state == State::New;
        self.advance();
        self.check_order()?;
        if self.rows.valid() {
            return Ok(self.rows.item());
        }
        self.state = State::Done;
        self.rows.status()?;
        if first {
            self.question.note_empty();
        }
        Ok(None)
    }

    /// Whether there is any row. Takes the scan, since it looks at the first.
    ///
    /// # Errors
    /// As [`next_row`](Self::next_row).
    pub fn is_empty(mut self) -> Result<bool, Error> {
        self.next_row().map(|row| row.is_none())
    }

    /// Tables name their comparator where the database could not.
    fn check_order(&mut self) -> Result<(), Error> {
        let foreign = self.foreign_comparator.as_deref().or_else(|| self.question.foreign_comparator());
        let order = check(foreign);
        if order.is_err() {
            self.state = State::Done;
        }
        order
    }

    fn advance(&mut self) {
        match (self.state, self.question.direction()) {
            (State::New, Direction::Forward) => self.rows.seek_to_first(),
            (State::New, Direction::Reverse) => self.rows.seek_to_last(),
            (State::OnRow, Direction::Forward) => self.rows.next(),
            (State::OnRow, Direction::Reverse) => self.rows.prev(),
            (State::Done, _) => return,
        }
        self.state = State::OnRow;
    }
}

impl<D: DBAccess> fmt::Debug for GuardedScan<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedScan").field("question", &self.question).finish_non_exhaustive()
    }
}
