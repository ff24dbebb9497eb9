//! How the answer to a command goes on, packet by packet.
//!
//! ```text
//! query, execution   OK | ERR | request for a file, the client's data, OK or ERR
//!                    | count, definitions, [EOF], rows, end       and the same again while the status says that more results come
//! preparation        numbers, definitions of parameters, [EOF], definitions of columns, [EOF]
//! fetch, fields      rows, end
//! ```
//!
//! The EOF after definitions is left out if both sides can do without (`DEPRECATE_EOF`). An error ends an answer at any place.

use super::exchange::Lost;
use crate::mysql::wire::{
    Capabilities, FILE_REQUEST, Fields, Message, OK, Prepared, Status, affected_rows, end_status, eof_status,
    is_end, is_error, is_progress, ok_status, prepared,
};

/// What kind of answer a command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of a login: whatever the two agree on, up to an OK.
    Login,
    /// OK, or results with rows.
    Results,
    /// Rows up to their end.
    Rows,
    /// What a statement needs and shows.
    Prepared,
    /// OK, or an end.
    Short,
    /// One packet of text.
    Text,
    /// Nothing.
    Nothing,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    /// This number of definitions, and then.
    Definitions(u64, Then),
    /// The end of definitions, and then.
    EndOfDefinitions(Then),
    Rows,
    /// The client sends a file.
    File,
}

/// What comes after definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Rows,
    /// This number of definitions of columns, after those of parameters.
    Columns(u64),
    Nothing,
}

/// An answer that is under way.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) kind: Kind,
    place: Place,
    /// Rows that came, or that were written.
    pub(super) rows: u64,
    /// The state of the session, by the last OK or end of it.
    pub(super) status: Option<Status>,
    pub(super) prepared: Option<Prepared>,
    pub(super) has_failed: bool,
}

impl Answer {
    pub(super) const fn new(kind: Kind) -> Self {
        let place = if matches!(kind, Kind::Rows) { Place::Rows } else { Place::Start };
        Self { kind, place, rows: 0, status: None, prepared: None, has_failed: false }
    }

    /// Whether what the client sends is a file.
    pub(super) fn takes_file(&self) -> bool {
        self.place == Place::File
    }

    pub(super) const fn file_has_ended(&mut self) {
        self.place = Place::Start;
    }

    /// Takes a message of the server; whether it was the last one.
    ///
    /// # Errors
    /// [`Lost`] if it is none that may come here.
    pub(super) fn take(&mut self, message: &Message<'_>, capabilities: Capabilities) -> Result<bool, Lost> {
        if is_error(message) {
            let is_last = !is_progress(message);
            self.has_failed |= is_last;
            return Ok(is_last);
        }
        match (self.kind, self.place) {
            (Kind::Login, _) if message.body.first() == Some(&OK) => self.ended(ok_status(message.body)),
            (Kind::Login, _) => Ok(false),
            (Kind::Text, _) => Ok(true),
            (Kind::Short, _) => self.short(message),
            (Kind::Prepared, Place::Start) => self.prepared(message, capabilities),
            (Kind::Results, Place::Start) => self.result(message, capabilities),
            (_, Place::Definitions(count, then)) => Ok(self.definition(count, then, capabilities)),
            (_, Place::EndOfDefinitions(then)) => self.end_of_definitions(then, message, capabilities),
            (_, Place::Rows) => self.row(message, capabilities),
            (_, Place::File) => Err(Lost("an answer in the middle of a file")),
            (Kind::Rows | Kind::Nothing, Place::Start) => Err(Lost("an answer that was not asked for")),
        }
    }

    /// A result has ended; whether it was the last one.
    fn ended(&mut self, status: Option<Status>) -> Result<bool, Lost> {
        let status = status.ok_or(Lost("an end without a status"))?;
        self.status = Some(status);
        self.place = Place::Start;
        Ok(!status.has_more_results() || self.kind != Kind::Results)
    }

    fn short(&mut self, message: &Message<'_>) -> Result<bool, Lost> {
        match message.body.first() {
            Some(&OK) => self.ended(ok_status(message.body)),
            _ => self.ended(end_status(message)),
        }
    }

    /// The first packet of a result.
    fn result(&mut self, message: &Message<'_>, capabilities: Capabilities) -> Result<bool, Lost> {
        match message.body.first() {
            Some(&OK) => {
                self.rows += affected_rows(message.body);
                return self.ended(ok_status(message.body));
            }
            Some(&FILE_REQUEST) => {
                self.place = Place::File;
                return Ok(false);
            }
            _ => {}
        }
        let mut fields = Fields::new(message.body);
        let count = fields.number().filter(|&count| count <= u64::from(u16::MAX));
        let count = count.ok_or(Lost("a result without a count of columns"))?;
        let has_definitions = !capabilities.has(Capabilities::OPTIONAL_METADATA) || fields.byte() != Some(0);
        self.definitions(if has_definitions { count } else { 0 }, Then::Rows, capabilities);
        Ok(false)
    }

    fn prepared(&mut self, message: &Message<'_>, capabilities: Capabilities) -> Result<bool, Lost> {
        let prepared = prepared(message.body, capabilities).ok_or(Lost("a preparation without numbers"))?;
        self.prepared = Some(prepared);
        if !prepared.has_definitions {
            return Ok(true);
        }
        let columns = Then::Columns(prepared.column_count.into());
        Ok(self.definitions(prepared.param_count.into(), columns, capabilities))
    }

    /// This number of definitions follows; whether that is none, and nothing after them.
    fn definitions(&mut self, count: u64, then: Then, capabilities: Capabilities) -> bool {
        if count > 0 {
            self.place = Place::Definitions(count, then);
            return false;
        }
        self.after_definitions(then, capabilities)
    }

    /// Whether the answer has ended.
    fn after_definitions(&mut self, then: Then, capabilities: Capabilities) -> bool {
        match then {
            Then::Rows => {
                self.place = Place::Rows;
                false
            }
            Then::Columns(count) => self.definitions(count, Then::Nothing, capabilities),
            Then::Nothing => true,
        }
    }

    /// One of the definitions that are left has come; whether the answer has ended.
    fn definition(&mut self, count: u64, then: Then, capabilities: Capabilities) -> bool {
        if count > 1 {
            self.place = Place::Definitions(count - 1, then);
            return false;
        }
        if capabilities.has(Capabilities::DEPRECATE_EOF) {
            return self.after_definitions(then, capabilities);
        }
        self.place = Place::EndOfDefinitions(then);
        false
    }

    fn end_of_definitions(
        &mut self,
        then: Then,
        message: &Message<'_>,
        capabilities: Capabilities,
    ) -> Result<bool, Lost> {
        let status = Some(message).filter(|message| is_end(message, capabilities));
        let status = status.and_then(|message| eof_status(message.body));
        let status = status.ok_or(Lost("definitions without an end"))?;
        if then == Then::Rows && status.has_cursor() {
            return self.ended(Some(status));
        }
        Ok(self.after_definitions(then, capabilities))
    }

    fn row(&mut self, message: &Message<'_>, capabilities: Capabilities) -> Result<bool, Lost> {
        if is_end(message, capabilities) {
            return self.ended(end_status(message));
        }
        self.rows += 1;
        Ok(false)
    }
}
