//! What goes on in a session of MySQL or MariaDB, read from the bytes that the relay passes on.
//!
//! As for PostgreSQL: the follower never changes or delays a byte, and a session that does what it does not understand is relayed on
//! without being followed. What is known of a session: whether its client has said goodbye, whether it is between two transactions, by
//! the status in the server's answers, and its statements with their values, times and numbers of rows, for suggestions.

mod answer;
mod exchange;
pub(crate) mod execution;
mod prepared;

#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::wire::{BadLength, Capabilities, Complaint, Framer, Message, error_packet};
use crate::follow::TooLong;
use crate::session::relay::{End, Followed, sentence};
use crate::shared::{Counters, Shared};

use exchange::{Exchange, Lost};

/// Longest command that is looked at: a text of 8 KiB, or values, and what stands before them.
const MAX_LOOKED_AT: usize = (8 << 10) + 64;
/// What is looked at of an answer: two numbers of nine bytes stand before the status of an OK.
const OF_ANSWER: usize = 32;
/// The command that says goodbye.
const QUIT: u8 = 1;

/// The follower of a session, for both of its directions.
#[derive(Debug)]
pub(crate) struct Following<'s> {
    shared: &'s Shared,
    follower: Mutex<Follower>,
}

impl<'s> Following<'s> {
    /// `next` is the number of the server's next packet, which answers the client's first one.
    pub(super) fn new(shared: &'s Shared, capabilities: Option<Capabilities>, next: u8) -> Self {
        let options = &shared.options;
        let exchange =
            capabilities.map(|capabilities| Exchange::new(capabilities, next, options.suggestions.clone()));
        if exchange.is_none() {
            Counters::add(&shared.counters.unfollowed);
        }
        let follower = Follower::new(options.max_message_bytes, exchange);
        Self { shared, follower: Mutex::new(follower) }
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

impl Followed for Following<'_> {
    fn client_sent(&self, bytes: &[u8], now: Instant) -> Result<(), TooLong> {
        self.noticing_loss(|follower| follower.client_sent(bytes, now))
    }

    fn server_sent(&self, bytes: &[u8], now: Instant) {
        self.noticing_loss(|follower| follower.server_sent(bytes, now));
    }

    fn client_has_left(&self) -> bool {
        self.lock().has_left
    }

    /// Without the exchange it is not known which number a packet must have.
    fn may_interject(&self) -> bool {
        let follower = self.lock();
        follower.server.is_between_messages() && follower.exchange.is_some() && !follower.is_fatal
    }

    fn is_idle(&self) -> bool {
        let follower = self.lock();
        let is_whole = follower.client.as_ref().is_some_and(Framer::is_between_messages);
        is_whole && follower.exchange.as_ref().is_some_and(Exchange::is_idle)
    }

    fn last_words(&self, shared: &Shared, end: &End) -> Option<Vec<u8>> {
        let sentence = sentence(shared, end)?;
        let complaint = match end {
            End::TooLong(_) => Complaint::MESSAGE_TOO_LONG,
            End::Shutdown => Complaint::SHUTDOWN,
            End::Client | End::Upstream | End::Unfollowed | End::Left => Complaint::CONNECTION_LOST,
        };
        let number = self.lock().exchange.as_ref()?.next_number();
        Some(error_packet(number, complaint, &sentence))
    }
}

#[derive(Debug)]
struct Follower {
    /// None from a message on that is too long.
    client: Option<Framer>,
    server: Framer,
    /// None once something came that is not understood.
    exchange: Option<Exchange>,
    has_left: bool,
    /// Whether the last message of the server was an error that ends the session.
    is_fatal: bool,
}

impl Follower {
    fn new(max_message_bytes: usize, exchange: Option<Exchange>) -> Self {
        Self {
            client: Some(Framer::new(MAX_LOOKED_AT, max_message_bytes)),
            server: Framer::new(OF_ANSWER, usize::MAX),
            exchange,
            has_left: false,
            is_fatal: false,
        }
    }

    fn client_sent(&mut self, bytes: &[u8], now: Instant) -> Result<(), TooLong> {
        let Some(mut framer) = self.client.take() else { return Ok(()) };
        match framer.feed(bytes, |message| self.client_message(message, now)) {
            Ok(()) => {
                self.client = Some(framer);
                Ok(())
            }
            Err(BadLength { body_len, number }) => {
                if let Some(exchange) = &mut self.exchange {
                    exchange.is_refused_at(number);
                }
                Err(TooLong(body_len))
            }
        }
    }

    fn client_message(&mut self, message: Message<'_>, now: Instant) {
        // A byte of a file may look like it.
        let is_command = message.first == 0 && !self.exchange.as_ref().is_some_and(Exchange::takes_file);
        self.has_left |= is_command && message.body == [QUIT];
        self.exchange_on(|exchange| exchange.client_message(message, now));
    }

    fn server_sent(&mut self, bytes: &[u8], now: Instant) {
        let mut framer = std::mem::replace(&mut self.server, Framer::new(0, usize::MAX));
        // Lengths of a server have no limit.
        let fed = framer.feed(bytes, |message| self.server_message(message, now));
        if fed.is_err() {
            self.exchange = None;
        }
        self.server = framer;
    }

    fn server_message(&mut self, message: Message<'_>, now: Instant) {
        self.is_fatal = self.exchange.as_ref().is_some_and(|exchange| exchange.is_ended_by(&message));
        self.exchange_on(|exchange| exchange.server_message(message, now));
    }

    fn exchange_on(&mut self, step: impl FnOnce(&mut Exchange) -> Result<(), Lost>) {
        if let Some(Err(Lost(what))) = self.exchange.as_mut().map(step) {
            tracing::debug!(what, "a session is relayed without being followed");
            self.exchange = None;
        }
    }
}
