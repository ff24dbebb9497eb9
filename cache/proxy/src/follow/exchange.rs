//! Which answer belongs to which message of the client.
//!
//! The server answers in the order of the messages, so a queue of what is asked is enough. `Execute` and `Query` end
//! with `CommandComplete` and its like; `Sync`, `Query` and a function call with `ReadyForQuery`. After an error in the
//! extended protocol the server skips all up to the next `Sync`, and so does the queue.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::prepared::{Bound, Names, Prepared};
use super::seen::Seen;
use crate::suggest::Suggestions;
use crate::wire::{Fields, Message};

/// Most messages without an answer; a client that sends more is not followed.
const MAX_ASKED: usize = 10_000;
/// Messages without an answer from which on values are not kept.
const MAX_WITH_VALUES: usize = 256;

/// Something came that is not understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lost;

/// What a client waits for.
#[derive(Debug)]
enum Asked {
    /// A simple statement, or several; ends with `ReadyForQuery`.
    Query(Running),
    Execute(Running),
    /// The types of a statement's parameters.
    Describe(Option<Arc<Prepared>>),
    /// `Sync` or a function call.
    Ready,
}

#[derive(Debug)]
struct Running {
    bound: Option<Bound>,
    since: Instant,
    rows: u64,
    has_failed: bool,
}

/// The messages of a session that wait for answers.
#[derive(Debug)]
pub(super) struct Exchange {
    asked: VecDeque<Asked>,
    names: Names,
    suggestions: Option<Arc<Suggestions>>,
    /// The transaction's state by the last `ReadyForQuery`; none before the login is done.
    transaction: Option<u8>,
    /// Whether extended messages came after the last `Sync`.
    is_open: bool,
    /// Whether the server skips what comes up to the next `Sync`.
    is_skipping: bool,
    /// When the last statement ended: the next of a pipeline begins then.
    last_end: Option<Instant>,
}

impl Exchange {
    pub(super) fn new(suggestions: Option<Arc<Suggestions>>) -> Self {
        Self {
            asked: VecDeque::new(),
            names: Names::default(),
            suggestions,
            transaction: None,
            is_open: false,
            is_skipping: false,
            last_end: None,
        }
    }

    /// Whether the session is between transactions and waits for nothing.
    pub(super) fn is_idle(&self) -> bool {
        self.transaction == Some(b'I') && self.asked.is_empty() && !self.is_open
    }

    /// # Errors
    /// [`Lost`] if the session cannot be followed.
    pub(super) fn client_message(&mut self, message: Message<'_>, now: Instant) -> Result<(), Lost> {
        match message.tag {
            b'Q' | b'F' if self.is_open => return Err(Lost),
            b'Q' => {
                let bound = self.simple(message);
                self.asked.push_back(Asked::Query(Running { bound, since: now, rows: 0, has_failed: false }));
            }
            b'F' => self.asked.push_back(Asked::Ready),
            b'S' => {
                (self.is_open, self.is_skipping) = (false, false);
                self.asked.push_back(Asked::Ready);
            }
            b'c' | b'f' => self.copy_has_ended(),
            b'P' | b'B' | b'C' | b'D' | b'E' => {
                self.is_open = true;
                self.extended(message, now);
            }
            // Data of COPY, a request to flush, proofs of a login, goodbye.
            b'd' | b'H' | b'p' | b'X' => {}
            _ => return Err(Lost),
        }
        if self.asked.len() > MAX_ASKED { Err(Lost) } else { Ok(()) }
    }

    /// The text of a `Query`, if statements are observed and it has come as a whole.
    fn simple(&self, message: Message<'_>) -> Option<Bound> {
        self.suggestions.as_ref().filter(|_| message.is_whole())?;
        let text = std::str::from_utf8(Fields::new(message.body).text()?).ok()?;
        Some(Bound { statement: Arc::new(Prepared::new(text, Vec::new())), values: None })
    }

    fn extended(&mut self, message: Message<'_>, now: Instant) {
        let is_observed = self.suggestions.is_some();
        let body = message.body;
        match message.tag {
            b'P' if is_observed => self.names.parse(body, message.is_whole()).unwrap_or_default(),
            b'B' if is_observed => {
                let keeps_values = message.is_whole() && self.asked.len() < MAX_WITH_VALUES;
                self.names.bind(body, keeps_values).unwrap_or_default();
            }
            b'C' if is_observed => self.names.close(body).unwrap_or_default(),
            b'D' if body.first() == Some(&b'S') && !self.is_skipping => {
                self.asked.push_back(Asked::Describe(self.names.described(body)));
            }
            b'E' if !self.is_skipping => {
                let bound = self.names.executed(body);
                self.asked.push_back(Asked::Execute(Running {
                    bound,
                    since: now,
                    rows: 0,
                    has_failed: false,
                }));
            }
            _ => {}
        }
    }

    /// The server has ignored each `Sync` that came while it took the data of an `Execute`: libpq sends one at once, and
    /// another after the data.
    fn copy_has_ended(&mut self) {
        while matches!(self.asked.back(), Some(Asked::Ready)) {
            self.asked.pop_back();
            self.is_open = true;
        }
    }

    /// # Errors
    /// [`Lost`] if the session cannot be followed.
    pub(super) fn server_message(&mut self, message: Message<'_>, now: Instant) -> Result<(), Lost> {
        match message.tag {
            b'C' => self.completed(rows(message.body), now),
            b'I' | b's' => self.completed(0, now),
            b't' => self.described(message.body),
            b'E' => {
                self.failed();
                Ok(())
            }
            b'Z' => self.ready(*message.body.first().ok_or(Lost)?, now),
            // Both sides send data from here on: a stream of replication.
            b'W' => Err(Lost),
            _ => Ok(()),
        }
    }

    fn completed(&mut self, rows: u64, now: Instant) -> Result<(), Lost> {
        match self.asked.front_mut() {
            Some(Asked::Query(running)) => {
                running.rows += rows;
                Ok(())
            }
            Some(Asked::Execute(running)) => {
                running.rows = rows;
                self.end_first(now);
                Ok(())
            }
            _ => Err(Lost),
        }
    }

    fn described(&mut self, body: &[u8]) -> Result<(), Lost> {
        let Some(Asked::Describe(statement)) = self.asked.pop_front() else { return Err(Lost) };
        if let Some(statement) = statement {
            statement.describe(body);
        }
        Ok(())
    }

    fn failed(&mut self) {
        if let Some(Asked::Query(running)) = self.asked.front_mut() {
            running.has_failed = true;
            return;
        }
        while self.asked.front().is_some_and(|asked| !matches!(asked, Asked::Ready)) {
            self.asked.pop_front();
        }
        self.is_skipping = self.asked.is_empty() && self.is_open;
    }

    fn ready(&mut self, transaction: u8, now: Instant) -> Result<(), Lost> {
        // The first one ends the login, whatever the client has sent already.
        if self.transaction.replace(transaction).is_none() {
            return Ok(());
        }
        match self.asked.front() {
            Some(Asked::Query(_) | Asked::Ready) => {
                self.end_first(now);
                Ok(())
            }
            _ => Err(Lost),
        }
    }

    /// Takes the first of the queue and hands it on if it was a statement.
    fn end_first(&mut self, now: Instant) {
        let statement = match self.asked.pop_front() {
            Some(Asked::Query(running) | Asked::Execute(running)) => running.ended(self.last_end, now),
            _ => None,
        };
        if let (Some(seen), Some(suggestions)) = (statement, &self.suggestions) {
            suggestions.record(seen);
        }
        self.last_end = Some(now);
    }
}

impl Running {
    fn ended(self, last_end: Option<Instant>, now: Instant) -> Option<Seen> {
        let Self { bound, since, rows, has_failed } = self;
        let since = last_end.map_or(since, |last| last.max(since));
        let Bound { statement, values } = bound?;
        Some(Seen { statement, values, elapsed: now.saturating_duration_since(since), rows, has_failed })
    }
}

/// The number of rows in the tag of `CommandComplete`: `SELECT 5`, `INSERT 0 5`.
fn rows(body: &[u8]) -> u64 {
    let tag = Fields::new(body).text().and_then(|tag| std::str::from_utf8(tag).ok());
    tag.and_then(|tag| tag.rsplit(' ').next()).and_then(|last| last.parse().ok()).unwrap_or(0)
}
