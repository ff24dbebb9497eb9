//! What is known of a session whose replies may be kept, and what that makes of each message.
//!
//! *At rest* nothing that was sent waits for an answer, and the server's last word on the transaction is true: `I` outside of
//! one, `T` in one, `E` in one that has failed. Only a statement that comes alone at rest is answered from the cache or
//! kept. A write outside of a transaction is held from before it is sent until the session is at rest again; one inside is
//! collected, and held from before the COMMIT is sent. A statement that may do anything may commit, too: it is held at once.
//! Savepoints, rollbacks to them and errors never make the collected set smaller.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Session;
use super::capture::Capture;
use super::names::Names;
use super::path::Path;
use super::unseen::Unseen;
use crate::cache::{AsOf, Hold, Identity, Prepared, ReadingMark, Touched};
use crate::recognise::strict::AboutSession;
use crate::wire::Fields;

/// What a session may do in the transaction that it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// It is in none.
    None,
    /// One that sees what is committed, and has read only.
    Clean,
    Other,
}

/// Whose session it is.
#[derive(Debug)]
pub(super) enum SessionIdentity {
    Known(Identity),
    /// It may have changed since it was asked.
    Unknown,
    /// It has answered the question with an error, at this moment.
    Unanswered(Instant),
    /// Its replies are not kept, by what it said in these surroundings, and why.
    NotKept(u64, &'static str),
}

/// What a portal executes.
#[derive(Debug, Clone)]
pub(super) struct Portal {
    pub(super) prepared: Option<Prepared>,
    pub(super) values: Box<[u8]>,
}

/// See the module. *Rest* is a rest of the session, *the end* one outside of a transaction.
///
/// | field | set by | cleared by |
/// | --- | --- | --- |
/// | `identity` | the answer to the question, `lose` | a statement that may change settings, or is not known; a `ParameterStatus` |
/// | `searched`, `path` | the answer to the question | a statement that may change the path, or is not known; `lose` |
/// | `is_of_other_database`, `is_confirmed`, `is_reported` | the answer to the question | never |
/// | `process` | the login | never |
/// | `pid` | the login | an answer to the question by another process |
/// | `names` | `Parse` and its answer | `Close`, a statement that may drop them, `lose` |
/// | `portals` | `Bind` | `Close`, the end, a statement that may drop them |
/// | `began` | the first message after a rest | the first execution after it, `lose` |
/// | `block` | BEGIN, and each statement that is no read | rest, by the transaction's state |
/// | `pending` | a write, a statement that is not known | the end |
/// | `holds`, `held` | a write outside of a transaction, COMMIT, a statement that is not known, `lose` | rest |
/// | `has_written` | a write | the end |
/// | `views` | a statement that was understood | rest; the end if it is doubted or has written |
/// | `capture` | a read that is to be kept or compared | its last message, or one that is none of a reply |
/// | `question` | a question to the session | its answer |
/// | `unseen` | a hit | the next message that must follow what the server has not seen |
/// | `is_lost` | `lose` | never |
/// | `is_mid_message` | a part of a long message for the client | its last part |
/// | `is_counted` | a read that came alone | its execution |
/// | `key` | each read that came alone, which leaves its memory for the next | |
#[derive(Debug)]
pub(super) struct State {
    pub(super) identity: SessionIdentity,
    /// Schemas that it searches, if names mean what they say.
    pub(super) searched: Option<(u64, Vec<String>)>,
    pub(super) path: Path,
    pub(super) is_of_other_database: bool,
    /// The server process as the login has named it.
    pub(super) process: Option<i32>,
    /// The same, if its end can be waited for.
    pub(super) pid: Option<i32>,
    /// Whether the session itself has named the same.
    pub(super) is_confirmed: bool,
    pub(super) names: Names,
    pub(super) portals: HashMap<Box<[u8]>, Portal>,
    /// The transaction's state when the session was last at rest, while no statement was executed since.
    pub(super) began: Option<u8>,
    pub(super) block: Block,
    /// What the open transaction has touched.
    pub(super) pending: Touched,
    pub(super) holds: Vec<Hold>,
    /// Whether the open transaction has written any table, a registered one or not.
    pub(super) has_written: bool,
    /// Statements without an answer that were understood, and by which reading of the catalogue.
    pub(super) views: Vec<(u64, Hold)>,
    /// What they touch, and not more: a write in it is not held again.
    pub(super) held: Touched,
    pub(super) capture: Option<Capture>,
    /// The row of the question's answer, while it is on its way.
    pub(super) question: Option<Vec<u8>>,
    pub(super) unseen: Unseen,
    pub(super) is_lost: bool,
    /// Whether the client has received a part of a message.
    pub(super) is_mid_message: bool,
    /// Whether the read that came last was counted.
    pub(super) is_counted: bool,
    /// Whether it was reported that each of its statements empties the cache.
    pub(super) is_reported: bool,
    pub(super) key: Vec<u8>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            identity: SessionIdentity::Unknown,
            searched: None,
            path: Path::default(),
            is_of_other_database: false,
            process: None,
            pid: None,
            is_confirmed: false,
            names: Names::default(),
            portals: HashMap::new(),
            began: None,
            block: Block::None,
            pending: Touched::default(),
            holds: Vec::new(),
            has_written: false,
            views: Vec::new(),
            held: Touched::default(),
            capture: None,
            question: None,
            unseen: Unseen::default(),
            is_lost: false,
            is_mid_message: false,
            is_counted: false,
            is_reported: false,
            key: Vec::new(),
        }
    }
}

/// When a session that has answered its question with an error is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// Longest answer of a session to who it is: names of its statements, for the most part.
const MAX_ANSWER: usize = 1 << 20;
/// Most portals that are remembered between two transactions.
const MAX_PORTALS: usize = 1_000;
/// Longest values of a portal that are looked at; the ranges of others are not known.
const MAX_VALUES: usize = 4 << 10;

impl Session<'_> {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server process of the session, as the login has named it.
    pub(super) fn process(&self, pid: i32) {
        let mut state = self.lock();
        (state.process, state.pid) = (Some(pid), Some(pid));
        self.cache.process_serves(self.server, pid);
    }

    /// Waits until it may write guarded tables: before the client can send a statement.
    pub(super) async fn is_admitted(&self) {
        let pid = {
            let state = self.lock();
            state.pid.filter(|_| state.is_confirmed && !state.is_of_other_database)
        };
        if let Some(pid) = pid {
            self.cache.admit(self.server, pid).await;
        }
    }
}

impl State {
    /// Schemas that it searches, as long as the surroundings are those in which it was asked.
    pub(super) fn searched(&self, surroundings: u64) -> Option<&[String]> {
        self.searched.as_ref().filter(|(asked, _)| *asked == surroundings).map(|(_, searched)| &searched[..])
    }

    /// Why its replies are not kept, or what it searches is not known.
    pub(super) const fn why_not_kept(&self) -> &'static str {
        match &self.identity {
            SessionIdentity::Known(_) => "schemas or roles have changed since it was asked",
            SessionIdentity::Unknown => "it may have other settings since it was asked",
            SessionIdentity::Unanswered(_) => "it has answered with an error who it is",
            SessionIdentity::NotKept(_, why) => why,
        }
    }

    /// A part of the row that answers the question, which is longer than other messages: its header is before the first.
    pub(super) fn long_answer(&mut self, bytes: &[u8], is_first: bool) {
        let row = self.question.get_or_insert_default();
        let bytes = if is_first {
            row.clear();
            bytes.get(5..).unwrap_or_default()
        } else {
            bytes
        };
        // A longer one is not read.
        if row.len() < MAX_ANSWER {
            row.extend_from_slice(bytes);
        }
    }

    pub(super) fn must_ask(&self, surroundings: u64) -> bool {
        match &self.identity {
            SessionIdentity::Known(identity) => identity.surroundings != surroundings,
            SessionIdentity::Unknown => true,
            SessionIdentity::Unanswered(asked) => asked.elapsed() >= ASK_AGAIN,
            SessionIdentity::NotKept(asked, _) => {
                !self.is_lost && !self.is_of_other_database && *asked != surroundings
            }
        }
    }

    /// Settings may be others.
    pub(super) fn changes(&mut self, about: AboutSession) {
        if !self.is_lost && !self.is_of_other_database {
            self.identity = SessionIdentity::Unknown;
        }
        if !about.keeps_path {
            self.searched = None;
            self.path.changes();
        }
        if !about.keeps_prepared {
            self.names.forget();
            self.portals.clear();
        }
    }

    /// Whether a text may mean what it means now by definitions of the open transaction, which may be taken back.
    pub(super) const fn may_take_back(&self) -> bool {
        self.pending.may_define || self.is_lost
    }

    /// What a statement is prepared as of that is sent now.
    pub(super) const fn as_of(&self, reading: ReadingMark) -> AsOf {
        AsOf { reading, path: self.path.number() }
    }

    /// The reading as of which it was prepared, if the session has searched the same schemas since.
    pub(super) fn reading_of(&self, prepared: &Prepared) -> Option<ReadingMark> {
        (prepared.as_of.path == self.path.number()).then_some(prepared.as_of.reading)
    }

    /// What is bound, if that is known.
    pub(super) fn bind(&mut self, body: &[u8]) -> Option<Prepared> {
        let mut fields = Fields::new(body);
        let (Some(portal), Some(name)) = (fields.text(), fields.text()) else {
            self.bind_of_unknown();
            return None;
        };
        if self.portals.len() >= MAX_PORTALS {
            self.portals.clear();
        }
        let prepared = self.names.get(name);
        // If this fails, the portal of an earlier flight is still there.
        let is_certain = portal.is_empty() || !self.portals.contains_key(portal);
        let values = Some(fields.rest()).filter(|values| values.len() <= MAX_VALUES).unwrap_or_default();
        let bound = Portal { prepared: prepared.clone().filter(|_| is_certain), values: values.into() };
        self.portals.insert(portal.into(), bound);
        prepared
    }

    /// Some portal was bound to some statement.
    pub(super) fn bind_of_unknown(&mut self) {
        self.portals.clear();
    }

    pub(super) fn close(&mut self, body: &[u8]) {
        let mut fields = Fields::new(body);
        let kind = fields.byte();
        let name = fields.text().unwrap_or_default();
        if kind == Some(b'P') {
            self.portals.remove(name);
        }
        self.names.close((kind == Some(b'S')).then_some(name));
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let mut state = self.lock();
        self.give_up(&mut state);
        let (process, pid) = (state.process, state.pid);
        let views: Vec<Hold> = state.views.drain(..).map(|(_, view)| view).collect();
        state.holds.drain(..).chain(views).for_each(|hold| self.cache.doubt(hold, self.server, pid));
        if let Some(pid) = process {
            self.cache.process_left(self.server, pid);
        }
    }
}
