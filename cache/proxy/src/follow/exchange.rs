//! Which answer belongs to which message of the client.
//!
//! The server answers in the order of the messages, so a queue of what is asked is enough. `Execute` and `Query` end
//! with `CommandComplete` and its like; `Sync`, `Query` and a function call with `ReadyForQuery`. After an error in the
//! extended protocol the server skips all up to the next `Sync`, a `Query` too, and so does the queue.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::prepared::{Bound, StatementText, TextNames};
use super::seen::Seen;
use crate::suggest::Suggestions;
use crate::wire::{Fields, Message};

/// Most messages without an answer; a client that sends more is not followed. Where replies are kept, it waits from the half on.
const MAX_ASKED: usize = 40_000;
/// Messages without an answer from which on values are not kept.
const MAX_WITH_VALUES: usize = 1_024;

/// What the server has answered with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failed {
    /// Nothing after which it skips messages: a `Query`, a function call, or no message of the client.
    Alone,
    /// A `Parse`.
    Parse,
    /// Another extended message.
    Extended,
}

/// Something came that is not understood: what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lost(pub(super) &'static str);

/// What a client waits for.
#[derive(Debug)]
enum Awaited {
    /// A simple statement, or several; ends with `ReadyForQuery`.
    Query(Running),
    Execute(Running),
    /// The types of a statement's parameters, before those of its rows.
    Describe(Option<Arc<StatementText>>),
    /// One message of this type; `T` for the types of rows, or for their absence.
    Answer(u8),
    /// A function call; ends with `ReadyForQuery`.
    Function,
    /// A `Sync`.
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
    asked: VecDeque<Awaited>,
    names: TextNames,
    suggestions: Option<Arc<Suggestions>>,
    /// The transaction's state by the last `ReadyForQuery`; none before the login is done.
    transaction: Option<u8>,
    /// Whether extended messages came after the last `Sync`.
    is_open: bool,
    /// Whether the server skips what comes up to the next `Sync`.
    is_skipping: bool,
    /// Whether the server takes the data of a COPY, or what comes of it after an error.
    is_copying: bool,
    /// When the last statement ended: the next of a pipeline begins then.
    last_end: Option<Instant>,
    /// What the last error was about.
    last_failed: Failed,
}

impl Exchange {
    pub(super) fn new(suggestions: Option<Arc<Suggestions>>) -> Self {
        Self {
            asked: VecDeque::new(),
            names: TextNames::default(),
            suggestions,
            transaction: None,
            is_open: false,
            is_skipping: false,
            is_copying: false,
            last_end: None,
            last_failed: Failed::Alone,
        }
    }

    /// What the last error was about.
    pub(super) const fn last_failed(&self) -> Failed {
        self.last_failed
    }

    /// Whether the client should wait, since too many messages are without an answer.
    pub(super) fn is_full(&self) -> bool {
        self.asked.len() >= MAX_ASKED / 2
    }

    /// Whether the session is between transactions and waits for nothing.
    pub(super) fn is_idle(&self) -> bool {
        self.rest() == Some(b'I')
    }

    /// The transaction's state, if the session waits for nothing.
    pub(super) fn rest(&self) -> Option<u8> {
        let is_resting = self.asked.is_empty() && !self.is_open && !self.is_skipping;
        self.transaction.filter(|_| is_resting)
    }

    /// # Errors
    /// [`Lost`] if the session cannot be followed.
    pub(super) fn client_message(&mut self, message: Message<'_>, now: Instant) -> Result<(), Lost> {
        match message.tag {
            b'S' => {
                (self.is_open, self.is_skipping) = (false, false);
                self.asked.push_back(Awaited::Ready);
            }
            _ if self.is_skipping => {}
            b'Q' => {
                // The server ends with it what has come without a Sync.
                self.is_open = false;
                let bound = self.simple(message);
                self.asked.push_back(Awaited::Query(Running {
                    bound,
                    since: now,
                    rows: 0,
                    has_failed: false,
                }));
            }
            b'F' => {
                self.is_open = false;
                self.asked.push_back(Awaited::Function);
            }
            b'c' | b'f' => self.copy_has_ended()?,
            b'P' | b'B' | b'C' | b'D' | b'E' => {
                self.is_open = true;
                self.extended(message, now);
            }
            // Data of COPY, a request to flush, proofs of a login, goodbye.
            b'd' | b'H' | b'p' | b'X' => {}
            _ => return Err(Lost("a message of the client of an unknown type")),
        }
        if self.asked.len() > MAX_ASKED { Err(Lost("too many messages without an answer")) } else { Ok(()) }
    }

    /// The text of a `Query`, if statements are observed and it has come as a whole.
    fn simple(&self, message: Message<'_>) -> Option<Bound> {
        self.suggestions.as_ref().filter(|_| message.is_whole())?;
        let text = std::str::from_utf8(Fields::new(message.body).text()?).ok()?;
        Some(Bound { statement: Arc::new(StatementText::new(text, Vec::new())), values: None })
    }

    fn extended(&mut self, message: Message<'_>, now: Instant) {
        if self.suggestions.is_some() {
            self.name(message).unwrap_or_default();
        }
        let body = message.body;
        self.asked.push_back(match message.tag {
            b'P' => Awaited::Answer(b'1'),
            b'B' => Awaited::Answer(b'2'),
            b'C' => Awaited::Answer(b'3'),
            b'D' if body.first() == Some(&b'S') => Awaited::Describe(self.names.described(body)),
            b'D' => Awaited::Answer(b'T'),
            _ => {
                let bound = self.names.executed(body);
                Awaited::Execute(Running { bound, since: now, rows: 0, has_failed: false })
            }
        });
    }

    /// Follows the names of statements and portals.
    fn name(&mut self, message: Message<'_>) -> Option<()> {
        match message.tag {
            b'P' => self.names.parse(message.body, message.is_whole()),
            b'B' => {
                let keeps_values = message.is_whole() && self.asked.len() < MAX_WITH_VALUES;
                self.names.bind(message.body, keeps_values)
            }
            b'C' => self.names.close(message.body),
            _ => None,
        }
    }

    /// The server has ignored each `Sync` that came while it took the data of an `Execute`: libpq sends one at once, and
    /// another after the data. Outside of a COPY it ignores the end of one.
    ///
    /// # Errors
    /// [`Lost`] if it is not known which of the two it is.
    fn copy_has_ended(&mut self) -> Result<(), Lost> {
        if matches!(self.asked.back(), Some(Awaited::Ready)) && !self.is_copying {
            return Err(Lost("the end of a COPY that the server has not begun"));
        }
        while matches!(self.asked.back(), Some(Awaited::Ready)) {
            self.asked.pop_back();
            self.is_open = true;
        }
        Ok(())
    }

    /// # Errors
    /// [`Lost`] if the session cannot be followed.
    pub(super) fn server_message(&mut self, message: Message<'_>, now: Instant) -> Result<(), Lost> {
        match message.tag {
            b'G' => {
                self.is_copying = true;
                Ok(())
            }
            b'C' => self.completed(rows(message.body), now),
            b'I' | b's' => self.completed(0, now),
            b't' => self.described(message.body),
            b'T' | b'n' if matches!(self.asked.front(), Some(Awaited::Query(_))) => Ok(()),
            b'T' | b'n' => self.answered(b'T'),
            b'1' | b'2' | b'3' => self.answered(message.tag),
            b'E' => {
                self.failed();
                Ok(())
            }
            b'Z' => self.ready(*message.body.first().ok_or(Lost("an empty ReadyForQuery"))?, now),
            // Both sides send data from here on.
            b'W' => Err(Lost("a stream of replication")),
            _ => Ok(()),
        }
    }

    fn answered(&mut self, tag: u8) -> Result<(), Lost> {
        match self.asked.pop_front() {
            Some(Awaited::Answer(expected)) if expected == tag => Ok(()),
            _ => Err(Lost("an answer that was not asked for")),
        }
    }

    fn completed(&mut self, rows: u64, now: Instant) -> Result<(), Lost> {
        self.is_copying = false;
        match self.asked.front_mut() {
            Some(Awaited::Query(running)) => {
                running.rows += rows;
                Ok(())
            }
            Some(Awaited::Execute(running)) => {
                running.rows = rows;
                self.end_first(now);
                Ok(())
            }
            _ => Err(Lost("a completion that was not asked for")),
        }
    }

    fn described(&mut self, body: &[u8]) -> Result<(), Lost> {
        let Some(Awaited::Describe(statement)) = self.asked.pop_front() else {
            return Err(Lost("a description that was not asked for"));
        };
        if let Some(statement) = statement {
            statement.describe(body);
        }
        self.asked.push_front(Awaited::Answer(b'T'));
        Ok(())
    }

    fn failed(&mut self) {
        self.last_failed = match self.asked.front() {
            None | Some(Awaited::Query(_) | Awaited::Function | Awaited::Ready) => Failed::Alone,
            Some(Awaited::Answer(b'1')) => Failed::Parse,
            Some(Awaited::Answer(_) | Awaited::Describe(_) | Awaited::Execute(_)) => Failed::Extended,
        };
        match self.asked.front_mut() {
            Some(Awaited::Query(running)) => {
                running.has_failed = true;
                return;
            }
            Some(Awaited::Function) => return,
            _ => {}
        }
        let count = self.asked.iter().take_while(|asked| !matches!(asked, Awaited::Ready)).count();
        self.asked.drain(..count);
        self.is_skipping = count > 0 && self.asked.is_empty();
    }

    fn ready(&mut self, transaction: u8, now: Instant) -> Result<(), Lost> {
        self.is_copying = false;
        // The first one ends the login, whatever the client has sent already.
        if self.transaction.replace(transaction).is_none() {
            return Ok(());
        }
        match self.asked.front() {
            Some(Awaited::Query(_) | Awaited::Function | Awaited::Ready) => {
                self.end_first(now);
                Ok(())
            }
            _ => Err(Lost("a ReadyForQuery that was not asked for")),
        }
    }

    /// Takes the first of the queue and hands it on if it was a statement.
    fn end_first(&mut self, now: Instant) {
        let statement = match self.asked.pop_front() {
            Some(Awaited::Query(running) | Awaited::Execute(running)) => running.ended(self.last_end, now),
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
