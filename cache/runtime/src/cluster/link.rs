//! A connection to a dendrite, on the side of the caller. All requests to the dendrite share it.
//!
//! Frames are written by one task and read by another, so that a caller that stops waiting never leaves half a
//! frame.
//!
//! A machine that loses its power closes no connection, and the system gives a connection up only after a quarter
//! of an hour. So a connection on which no message came while a caller waited in vain, for a second at least, is
//! not used any more: its callers go on waiting, new callers connect anew.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lacuna_cache_protocol::RangeTable;
use lacuna_cache_protocol::{Error, Result};
use tokio::io::AsyncRead;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tracing::debug;

use crate::cluster::hello::{Calling, HELLO, Introduction, PROOF, Role, goodbye};
use crate::cluster::message::Message;
use crate::cluster::network::Network;
use crate::cluster::secret::Secret;
use crate::cluster::stream::{Incoming, Outgoing, write_open, write_sealed};

/// How long connecting and the handshake may take.
const CONNECT: Duration = Duration::from_millis(1_000);

/// A wait shorter than this does not prove that a connection is dead.
const SILENCE: Duration = Duration::from_secs(1);

/// Requests that wait to be written.
const QUEUE: usize = 1_024;

/// The answers that are awaited; `None` once the connection has ended.
type Waiting = Mutex<Option<BTreeMap<u64, oneshot::Sender<Message>>>>;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Link {
    /// Frames.
    out: mpsc::Sender<Vec<u8>>,
    waiting: Arc<Waiting>,
    next_ticket: AtomicU64,
    /// Number of received messages.
    heard: Arc<AtomicU64>,
    /// Whether no message came during a whole wait of a caller.
    is_silent: AtomicBool,
    /// Slots for requests, as many as the dendrite takes at a time.
    slots: Semaphore,
    /// The range table of the dendrite when the connection was made.
    pub(crate) table: Arc<RangeTable>,
}

/// Removes a ticket when its caller stops waiting.
struct Ticket<'a>(&'a Waiting, u64);

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.iter_mut().for_each(|waiting| drop(waiting.remove(&self.1)));
    }
}

impl Link {
    /// Connects to the dendrite of a collection; both sides prove that they know the secret.
    ///
    /// # Errors
    /// `Unavailable` if there is no answer, `InvalidInput` for another secret or a collection that is not served there,
    /// `Unsupported` for another version, `Corrupt` if the peer is not a dendrite.
    pub(crate) async fn connect(
        network: &impl Network,
        address: &str,
        secret: &Secret,
        (role, collection): (Role, &str),
    ) -> Result<Self> {
        let about = |error: Error| error.with_context(format!("calling {address}"));
        match tokio::time::timeout(CONNECT, Self::try_connect(network, address, secret, (role, collection)))
            .await
        {
            Ok(connected) => connected.map_err(about),
            Err(_) => Err(about(Error::unavailable("no answer in time"))),
        }
    }

    async fn try_connect(
        network: &impl Network,
        address: &str,
        secret: &Secret,
        (role, collection): (Role, &str),
    ) -> Result<Self> {
        let lost = |error: std::io::Error| Error::unavailable(error.to_string());
        let (read, mut write) = network.connect(address).await.map_err(lost)?;
        let mut incoming = Incoming::new(read);
        let introduction = Introduction { role, collection: collection.to_owned() };
        let (calling, hello) = Calling::begin(secret, &introduction)?;
        write_open(&mut write, HELLO, &hello).await?;
        let (kind, body) = incoming.frame().await?;
        let (mut sealer, opener) = calling.finish(kind, &body)?;
        incoming.decrypt(opener)?;
        write_sealed(&mut write, PROOF, &[], &mut sealer).await?;
        let (kind, body) = incoming.frame().await?;
        let Ok(Message::Welcome { in_flight, table }) = Message::read(kind, &body) else {
            return Err(goodbye(kind, &body));
        };
        let (out, from) = mpsc::channel(QUEUE);
        let waiting = Arc::new(Mutex::new(Some(BTreeMap::new())));
        tokio::spawn(Outgoing::new(write, sealer).run(from));
        let heard = Arc::<AtomicU64>::default();
        tokio::spawn(listen(incoming, waiting.clone(), heard.clone(), address.to_owned()));
        let slots = Semaphore::new(usize::try_from(in_flight).unwrap_or(1).clamp(1, 1 << 16));
        let (next_ticket, is_silent) = (AtomicU64::new(1), AtomicBool::new(false));
        Ok(Self { out, waiting, next_ticket, heard, is_silent, slots, table: Arc::new(table) })
    }

    pub(crate) fn is_open(&self) -> bool {
        let is_waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        is_waiting && !self.out.is_closed() && !self.is_silent.load(Ordering::Relaxed)
    }

    /// The answer to a request, once the dendrite has room for it.
    ///
    /// # Errors
    /// `InvalidInput` if it goes beyond a limit of the format: it is not sent. `Unavailable` if there is no answer in
    /// time. Whether the request was executed is unknown then, unless [`Link::is_open`] was false before.
    pub(crate) async fn ask(
        &self,
        request: impl FnOnce(u64) -> Message,
        within: Duration,
    ) -> Result<Message> {
        let (ticket, frame) = self.prepare(request)?;
        let asked = async {
            let _slot = self.slots.acquire().await;
            self.send(ticket, frame).await
        };
        self.within(within, asked).await
    }

    /// Waits for an answer for the given time.
    ///
    /// # Errors
    /// `Unavailable` if there is none in time.
    pub(crate) async fn within(
        &self,
        within: Duration,
        asked: impl Future<Output = Result<Message>>,
    ) -> Result<Message> {
        let heard = self.heard.load(Ordering::Relaxed);
        tokio::time::timeout(within, asked).await.unwrap_or_else(|_| {
            if within >= SILENCE
                && self.heard.load(Ordering::Relaxed) == heard
                && !self.is_silent.swap(true, Ordering::Relaxed)
            {
                let waited_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
                debug!(waited_ms, "a dendrite is silent: its connection is not used any more");
            }
            Err(Error::unavailable("no answer in time"))
        })
    }

    /// As [`Link::ask`], without taking a slot: for the calls of owners.
    pub(crate) async fn ask_now(&self, request: impl FnOnce(u64) -> Message) -> Result<Message> {
        let (ticket, frame) = self.prepare(request)?;
        self.send(ticket, frame).await
    }

    /// A request with a number of its own, as a frame.
    fn prepare(&self, request: impl FnOnce(u64) -> Message) -> Result<(u64, Vec<u8>)> {
        let ticket = self.next_ticket.fetch_add(1, Ordering::Relaxed);
        Ok((ticket, request(ticket).to_bytes()?))
    }

    async fn send(&self, ticket: u64, frame: Vec<u8>) -> Result<Message> {
        let ended = || Error::unavailable("the connection to the dendrite ended");
        let (reply, answer) = oneshot::channel();
        let _ticket = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.as_mut().ok_or_else(ended)?.insert(ticket, reply);
            Ticket(&self.waiting, ticket)
        };
        self.out.send(frame).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())
    }
}

/// Passes answers to their callers, until the connection ends.
async fn listen(
    mut incoming: Incoming<impl AsyncRead + Unpin>,
    waiting: Arc<Waiting>,
    heard: Arc<AtomicU64>,
    address: String,
) {
    while let Ok(message) = incoming.message().await {
        heard.fetch_add(1, Ordering::Relaxed);
        // A message that is not an answer ends the connection.
        let Some(ticket) = message.answered() else { break };
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reply) = waiting.as_mut().and_then(|waiting| waiting.remove(&ticket)) {
            // The caller may have stopped waiting.
            drop(reply.send(message));
        }
    }
    drop(waiting.lock().unwrap_or_else(PoisonError::into_inner).take());
    debug!(address, "the connection to a dendrite has ended");
}
