//! What goes on in a session, read from the bytes that the relay passes on.
//!
//! The follower never changes or delays a byte, and a session may do what the follower does not understand: then it is
//! relayed on without being followed. What is known of a session:
//!
//! - whether its client has said goodbye, and whether the server has ended it: a lost connection is reported otherwise;
//! - whether it is between two transactions, where a proxy that drains may end it;
//! - for suggestions: statements with their values, times and numbers of rows ([`exchange`]).

mod exchange;
mod prepared;
mod seen;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::shared::{Counters, Shared};
use crate::suggest::Suggestions;
use crate::wire::{BadLength, Framer, Message, Severity, severity_and_code};

pub(crate) use exchange::Failed;
use exchange::{Exchange, Lost};
pub(crate) use prepared::StatementText;
pub(crate) use seen::{Seen, Value};

/// Longest text of a statement, and longest values, that are looked at.
const MAX_LOOKED_AT: usize = 8 << 10;
/// The longest message that the protocol allows.
const MAX_PROTOCOL: usize = 0x3fff_ffff;

/// A client's message that is longer than the proxy takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong(pub(crate) usize);

/// The follower of a session, for both of its directions.
#[derive(Debug)]
pub(crate) struct Following<'s> {
    shared: &'s Shared,
    follower: Mutex<Follower>,
    /// Whether the client is sent a reply of which the server knows nothing.
    is_replying: AtomicBool,
}

impl<'s> Following<'s> {
    pub(crate) fn new(shared: &'s Shared) -> Self {
        let follower = Follower::new(shared.options.max_message_bytes, shared.options.suggestions.clone());
        Self { shared, follower: Mutex::new(follower), is_replying: AtomicBool::new(false) }
    }

    /// # Errors
    /// [`TooLong`]: the bytes must not be passed on.
    pub(crate) fn client_sent(&self, bytes: &[u8], now: Instant) -> Result<(), TooLong> {
        self.noticing_loss(|follower| follower.client_sent(bytes, now))
    }

    pub(crate) fn server_sent(&self, bytes: &[u8], now: Instant) {
        self.noticing_loss(|follower| follower.server_sent(bytes, now));
    }

    /// Whether the client has said that it leaves.
    pub(crate) fn client_has_left(&self) -> bool {
        self.lock().has_left
    }

    /// Whether a message of the proxy's own may be put after what the server has sent. A client that has broken the
    /// protocol gets none: the database closes its connection, with or without a word.
    pub(crate) fn may_interject(&self) -> bool {
        let follower = self.lock();
        let is_whole = follower.server.as_ref().is_some_and(Framer::is_between_messages);
        is_whole && follower.client.is_some() && !follower.is_fatal
    }

    /// Whether the server has ended the session for what it was, and goes on serving others.
    pub(crate) fn has_ended_alone(&self) -> bool {
        self.lock().is_of_session
    }

    /// Whether the session is between two transactions, with nothing under way.
    pub(crate) fn is_idle(&self) -> bool {
        let follower = self.lock();
        let is_whole = follower.client.as_ref().is_some_and(Framer::is_between_messages);
        is_whole
            && !self.is_replying.load(Ordering::Relaxed)
            && follower.exchange.as_ref().is_some_and(Exchange::is_idle)
    }

    /// The transaction's state as `ReadyForQuery` said it, if all that was sent is answered.
    pub(crate) fn rest(&self) -> Option<u8> {
        let follower = self.lock();
        let is_whole = follower.client.as_ref().is_some_and(Framer::is_between_messages)
            && follower.server.as_ref().is_some_and(Framer::is_between_messages);
        follower.exchange.as_ref().filter(|_| is_whole).and_then(Exchange::rest)
    }

    /// The client is being sent a reply of which the server knows nothing, or has been.
    pub(crate) fn replies(&self, is_replying: bool) {
        self.is_replying.store(is_replying, Ordering::Relaxed);
    }

    /// What the last error of the server was about.
    pub(crate) fn failed(&self) -> Failed {
        self.lock().exchange.as_ref().map_or(Failed::Extended, Exchange::last_failed)
    }

    /// Whether the client should wait, since too many messages are without an answer.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().exchange.as_ref().is_some_and(Exchange::is_full)
    }

    /// Whether all that came was understood.
    pub(crate) fn is_followed(&self) -> bool {
        self.lock().exchange.is_some()
    }

    fn noticing_loss<T>(&self, change: impl FnOnce(&mut Follower) -> T) -> T {
        let mut follower = self.lock();
        let was_followed = follower.exchange.is_some();
        let done = change(&mut follower);
        if was_followed && follower.exchange.is_none() {
            Counters::add(&self.shared.counters.unfollowed);
        }
        done
    }

    fn lock(&self) -> MutexGuard<'_, Follower> {
        self.follower.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Follower {
    /// None from a length on that no message has: the database says what is wrong with it.
    client: Option<Framer>,
    server: Option<Framer>,
    /// None once something came that is not understood.
    exchange: Option<Exchange>,
    has_left: bool,
    /// Whether the last message of the server was an error that ends the session.
    is_fatal: bool,
    /// Whether it was one of this session alone.
    is_of_session: bool,
}

impl Follower {
    fn new(max_message_bytes: usize, suggestions: Option<Arc<Suggestions>>) -> Self {
        Self {
            client: Some(Framer::new(wanted_of_client, max_message_bytes)),
            server: Some(Framer::new(wanted_of_server, usize::MAX)),
            exchange: Some(Exchange::new(suggestions)),
            has_left: false,
            is_fatal: false,
            is_of_session: false,
        }
    }

    fn client_sent(&mut self, bytes: &[u8], now: Instant) -> Result<(), TooLong> {
        let Some(mut framer) = self.client.take() else { return Ok(()) };
        match framer.feed(bytes, |message| self.client_message(message, now)) {
            Ok(()) => self.client = Some(framer),
            Err(BadLength(length)) => {
                self.exchange = None;
                let len = usize::try_from(length).ok().filter(|len| (4..=MAX_PROTOCOL).contains(len));
                if let Some(len) = len {
                    // The client has kept to the protocol, and gets a reason.
                    self.client = Some(framer);
                    return Err(TooLong(len));
                }
            }
        }
        Ok(())
    }

    fn client_message(&mut self, message: Message<'_>, now: Instant) {
        self.has_left |= message.tag == b'X';
        self.exchange_on(|exchange| exchange.client_message(message, now));
    }

    fn server_sent(&mut self, bytes: &[u8], now: Instant) {
        let Some(mut framer) = self.server.take() else { return };
        match framer.feed(bytes, |message| self.server_message(message, now)) {
            Ok(()) => self.server = Some(framer),
            Err(BadLength(_)) => self.exchange = None,
        }
    }

    fn server_message(&mut self, message: Message<'_>, now: Instant) {
        let is_error = message.tag == b'E';
        let error = severity_and_code(message.body);
        self.is_fatal = is_error && error.is_none_or(|(severity, _)| severity == Severity::Fatal);
        self.is_of_session = self.is_fatal && error.is_some_and(|(_, code)| is_of_session(code));
        self.exchange_on(|exchange| exchange.server_message(message, now));
    }

    fn exchange_on(&mut self, step: impl FnOnce(&mut Exchange) -> Result<(), Lost>) {
        if let Some(Err(Lost(what))) = self.exchange.as_mut().map(step) {
            tracing::debug!(what, "a session is relayed without being followed");
            self.exchange = None;
        }
    }
}

/// Whether an error that ends a session says nothing of the server: a wrong password, database or version of the protocol, no connection left
/// for it, a message that breaks the protocol, or a limit of its own time.
fn is_of_session(code: &[u8]) -> bool {
    const CODES: [&[u8]; 6] = [b"3D000", b"53300", b"0A000", b"08P01", b"57P05", b"25P03"];
    code.starts_with(b"28") || CODES.contains(&code)
}

/// How much of a client's message is looked at.
const fn wanted_of_client(tag: u8) -> usize {
    match tag {
        b'Q' | b'P' | b'B' => MAX_LOOKED_AT,
        b'C' | b'D' | b'E' => 1 << 10,
        _ => 0,
    }
}

/// How much of a server's message is looked at; of rows nothing.
const fn wanted_of_server(tag: u8) -> usize {
    match tag {
        b'C' => 64,
        b'E' => 256,
        b't' => 1 << 10,
        b'Z' => 1,
        _ => 0,
    }
}
