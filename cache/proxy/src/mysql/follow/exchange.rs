//! Which answer belongs to which command.
//!
//! The server answers in the order of the commands, and clients of MariaDB may send the next one before they have the answer, so a queue of
//! what is asked is enough. Commands without an answer wait in it, too: statements are named in the order of the commands.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::answer::{Answer, Kind};
use super::execution::Execution;
use super::prepared::Statements;
use crate::follow::{Seen, StatementText};
use crate::mysql::wire::{Capabilities, Fields, Message, Status, is_error, is_progress};
use crate::suggest::Suggestions;

/// Most commands without an answer; a client that sends more is not followed.
const MAX_ASKED: usize = 40_000;
/// Commands without an answer from which on texts and values are not kept.
const MAX_WITH_TEXT: usize = 1_024;

/// Something came that is not understood: what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lost(pub(super) &'static str);

/// What a command does when its answer has come.
#[derive(Debug)]
enum Command {
    /// The session begins anew: a login, another user, or a reset.
    Anew,
    Query(Option<Arc<StatementText>>),
    Prepare(Option<Arc<StatementText>>),
    Execute(Option<Execution>),
    /// A value of a statement's parameter.
    LongData(u32),
    /// Such values are dropped.
    Reset(u32),
    Close(u32),
    Other,
}

/// A command, and what has come of its answer.
#[derive(Debug)]
struct Asked {
    command: Command,
    answer: Answer,
    since: Instant,
    /// The number of the first packet of its answer.
    next: u8,
}

/// The commands of a session that wait for answers.
#[derive(Debug)]
pub(super) struct Exchange {
    capabilities: Capabilities,
    asked: VecDeque<Asked>,
    statements: Statements,
    suggestions: Option<Arc<Suggestions>>,
    /// By the last answer; none before the login is done, and after an error that may have changed it.
    status: Option<Status>,
    /// When the last statement ended: the next of a pipeline begins then.
    last_end: Option<Instant>,
    /// The number that the server's next packet has.
    next: u8,
}

impl Exchange {
    /// One whose client has sent its first packet.
    pub(super) fn new(capabilities: Capabilities, next: u8, suggestions: Option<Arc<Suggestions>>) -> Self {
        let (answer, since) = (Answer::new(Kind::Login), Instant::now());
        Self {
            capabilities,
            asked: VecDeque::from([Asked { command: Command::Anew, answer, since, next }]),
            statements: Statements::default(),
            suggestions,
            status: None,
            last_end: None,
            next,
        }
    }

    /// Whether the session is between transactions and waits for nothing.
    pub(super) fn is_idle(&self) -> bool {
        self.asked.is_empty() && self.status.is_some_and(|status| !status.is_in_transaction())
    }

    /// Whether what the client sends is a file.
    pub(super) fn takes_file(&self) -> bool {
        self.asked.front().is_some_and(|asked| asked.answer.takes_file())
    }

    /// The number that a packet of the proxy's own has, if it comes now.
    pub(super) const fn next_number(&self) -> u8 {
        self.next
    }

    /// The client is refused in the middle of a command, at the packet of this number.
    pub(super) const fn is_refused_at(&mut self, number: u8) {
        self.next = number.wrapping_add(1);
    }

    /// Whether it is an error that answers no command, but ends the session.
    pub(super) fn is_ended_by(&self, message: &Message<'_>) -> bool {
        let is_alone = self.asked.front().is_none_or(|asked| asked.answer.kind == Kind::Login);
        is_alone && is_error(message) && !is_progress(message)
    }

    /// # Errors
    /// [`Lost`] if the session cannot be followed.
    pub(super) fn client_message(&mut self, message: Message<'_>, now: Instant) -> Result<(), Lost> {
        let next = message.last.wrapping_add(1);
        if let Some(Asked { answer, .. }) = self.asked.front_mut() {
            // The numbers of a file's packets may come to 0 again.
            if answer.takes_file() {
                if message.body_len == 0 {
                    answer.file_has_ended();
                }
                self.next = next;
                return Ok(());
            }
            if answer.kind == Kind::Login && message.first != 0 {
                self.next = next;
                return Ok(());
            }
        }
        if message.first != 0 {
            return Err(Lost("a packet that begins no command"));
        }
        let (command, kind) = self.command(&message)?;
        if self.asked.is_empty() {
            self.next = next;
        }
        self.asked.push_back(Asked { command, answer: Answer::new(kind), since: now, next });
        self.settle();
        if self.asked.len() > MAX_ASKED { Err(Lost("too many commands without an answer")) } else { Ok(()) }
    }

    /// A command, and what kind of answer it has.
    fn command(&self, message: &Message<'_>) -> Result<(Command, Kind), Lost> {
        let (&code, rest) = message.body.split_first().ok_or(Lost("an empty command"))?;
        let number =
            || Fields::new(rest).int32().ok_or(Lost("a command about a statement without its number"));
        Ok(match code {
            // QUIT.
            0x01 => (Command::Other, Kind::Nothing),
            0x03 => (Command::Query(self.text(message, true)), Kind::Results),
            // INIT_DB, CREATE_DB, DROP_DB, REFRESH, SHUTDOWN, PROCESS_KILL, DEBUG, PING, REGISTER_SLAVE, SET_OPTION.
            0x02 | 0x05..=0x08 | 0x0c..=0x0e | 0x15 | 0x1b => (Command::Other, Kind::Short),
            // FIELD_LIST.
            0x04 => (Command::Other, Kind::Rows),
            // STATISTICS.
            0x09 => (Command::Other, Kind::Text),
            // PROCESS_INFO, and an execution with many rows of values.
            0x0a | 0xfa => (Command::Other, Kind::Results),
            // CHANGE_USER.
            0x11 => (Command::Anew, Kind::Login),
            0x16 => (Command::Prepare(self.text(message, false)), Kind::Prepared),
            0x17 => (Command::Execute(self.execution(message, rest)), Kind::Results),
            0x18 => (Command::LongData(number()?), Kind::Nothing),
            0x19 => (Command::Close(number()?), Kind::Nothing),
            0x1a => (Command::Reset(number()?), Kind::Short),
            // FETCH.
            0x1c => (Command::Other, Kind::Rows),
            // RESET_CONNECTION.
            0x1f => (Command::Anew, Kind::Short),
            _ => return Err(Lost("a command that is not known here")),
        })
    }

    /// The text of a command, if statements are observed and it has come as a whole.
    fn text(&self, message: &Message<'_>, may_have_attributes: bool) -> Option<Arc<StatementText>> {
        self.suggestions.as_ref().filter(|_| message.is_whole() && self.asked.len() < MAX_WITH_TEXT)?;
        let mut fields = Fields::new(message.body.get(1..)?);
        if may_have_attributes && self.capabilities.has(Capabilities::QUERY_ATTRIBUTES) {
            // Values may stand before the text, and a count of sets of them.
            fields.number().filter(|&count| count == 0)?;
            fields.number()?;
        }
        let text = std::str::from_utf8(fields.rest()).ok()?;
        Some(Arc::new(StatementText::of_mysql(text)))
    }

    fn execution(&self, message: &Message<'_>, rest: &[u8]) -> Option<Execution> {
        self.suggestions.as_ref()?;
        Execution::read(rest, message.is_whole() && self.asked.len() < MAX_WITH_TEXT)
    }

    /// # Errors
    /// [`Lost`] if the session cannot be followed.
    pub(super) fn server_message(&mut self, message: Message<'_>, now: Instant) -> Result<(), Lost> {
        self.next = message.last.wrapping_add(1);
        let Some(asked) = self.asked.front_mut() else {
            return if is_error(&message) { Ok(()) } else { Err(Lost("an answer that was not asked for")) };
        };
        if asked.answer.take(&message, self.capabilities)? {
            self.end_first(now);
            self.settle();
            self.next = self.asked.front().map_or(1, |asked| asked.next);
        }
        Ok(())
    }

    /// Takes commands without an answer from the front.
    fn settle(&mut self) {
        while let Some(Asked { command, .. }) =
            self.asked.pop_front_if(|asked| asked.answer.kind == Kind::Nothing)
        {
            match command {
                Command::LongData(id) => self.statements.long_data(id, true),
                Command::Close(id) => self.statements.close(id),
                _ => {}
            }
        }
    }

    /// Takes the first of the queue, whose answer has come, and hands it on if it was a statement.
    fn end_first(&mut self, now: Instant) {
        let Some(Asked { command, answer, since, .. }) = self.asked.pop_front() else { return };
        self.status = answer.status.or(self.status);
        if answer.has_failed {
            // An error has no status: it may have ended a transaction, or left one open that has just begun.
            let is_certain = |status: &Status| status.is_autocommit() && !status.is_in_transaction();
            self.status = self.status.filter(is_certain);
        }
        let executed = match command {
            Command::Query(text) => text.map(|text| (text, None)),
            Command::Execute(execution) => {
                execution.and_then(|execution| self.statements.executed(&execution))
            }
            command => {
                self.about_statements(command, &answer);
                None
            }
        };
        let since = self.last_end.map_or(since, |last| last.max(since));
        self.last_end = Some(now);
        if let (Some((statement, values)), Some(suggestions)) = (executed, &self.suggestions) {
            let elapsed = now.saturating_duration_since(since);
            let Answer { rows, has_failed, .. } = answer;
            suggestions.record(Seen { statement, values, elapsed, rows, has_failed });
        }
    }

    fn about_statements(&mut self, command: Command, answer: &Answer) {
        match command {
            _ if answer.has_failed => {}
            Command::Anew => self.statements.clear(),
            Command::Prepare(text) => {
                if let Some(prepared) = answer.prepared {
                    self.statements.prepare(prepared, text);
                }
            }
            Command::Reset(id) => self.statements.long_data(id, false),
            _ => {}
        }
    }
}
