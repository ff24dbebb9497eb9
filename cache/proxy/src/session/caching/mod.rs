//! A session before a cache: as the relay, but each message is understood before it is passed on.
//!
//! The session itself is asked who it is before its login is over. A statement that comes alone while nothing is under way
//! is answered from the cache, or its reply is kept on its way; everything else passes, after the writes in it hold what
//! they touch.
//!
//! A hit never gives an error that the server would give. What the server has not seen because of a hit (a statement without a
//! name) is sent before the next message that needs it.

mod begin;
mod capture;
mod flight;
mod names;
mod path;
mod received;
mod sent;
mod serve;
mod state;
mod unseen;

use std::io;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

use super::farewell;
use super::login::Begun;
use super::relay::{Done, End, close_when_due, last_words, pass, until_end};
use crate::cache::{Cache, QUESTION};
use crate::connection::Connection;
use crate::follow::Following;
use crate::shared::Shared;
use crate::upstream::Visit;
use crate::wire::{self, Inbox};

use flight::flight;
use received::Received;
use serve::{Logged, Served};
use state::State;

/// How long a session may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(30);

/// Names of the question's statement and of its portal, which no client has.
const STATEMENT: &[u8] = b"lacuna: who is this?";
const PORTAL: &[u8] = b"lacuna: who is this?";

/// A session and what is known of it.
#[derive(Debug)]
struct Session<'s> {
    cache: Arc<Cache>,
    following: &'s Following<'s>,
    /// The number of its server.
    server: u64,
    /// The server is left once this is gone.
    _visit: Visit,
    state: Mutex<State>,
    /// Raised when the session has said who it is.
    is_known: Notify,
    /// Raised while not too many messages are without an answer.
    has_room: Notify,
    /// Whether the client has received whole messages only.
    is_in_step: AtomicBool,
}

/// Serves a session at the server of this number until one side ends, or the server is left.
pub(super) async fn run(
    shared: &Shared,
    cache: &Arc<Cache>,
    client: Connection,
    begun: Begun,
    server: u64,
) -> io::Result<()> {
    let following = Following::new(shared);
    let Some(visit) = shared.connector.visit(server) else {
        return farewell(client, &last_words(shared, &End::Left).unwrap_or_default()).await;
    };
    let session = Session {
        cache: cache.clone(),
        following: &following,
        server,
        _visit: visit,
        state: Mutex::default(),
        is_known: Notify::new(),
        has_room: Notify::new(),
        is_in_step: AtomicBool::new(true),
    };
    let (mut client_reader, mut client_writer) = tokio::io::split(client);
    let (mut upstream_reader, mut upstream_writer) = tokio::io::split(begun.upstream);
    let begin = begin::Begin {
        session: &session,
        client: (&mut client_reader, &mut client_writer),
        upstream: (&mut upstream_reader, &mut upstream_writer),
        from_client: Inbox::default(),
        from_upstream: Inbox::default(),
    };
    let begun = tokio::select! {
        begun = begin.run(&begun.sent) => begun,
        end = closing(shared, &following, server) => Err(end),
    };
    let end = match begun {
        Err(end) => end,
        Ok((from_client, from_upstream)) => {
            let writer = tokio::sync::Mutex::new(&mut client_writer);
            let up = session.to_upstream(&mut client_reader, &mut upstream_writer, from_client, &writer);
            let down = session.to_client(&mut upstream_reader, from_upstream, &writer);
            until_end(&following, up, down, closing(shared, &following, server)).await
        }
    };
    if matches!(end, End::Upstream) && !following.has_ended_alone() {
        // It may have been started anew, or be another one.
        cache.distrust();
    }
    let is_in_step = session.is_in_step.load(Ordering::Relaxed);
    drop(session);
    let client = client_reader.unsplit(client_writer);
    let may_speak = is_in_step && following.may_interject();
    let message = last_words(shared, &end).filter(|_| may_speak);
    farewell(client, &message.unwrap_or_default()).await
}

impl Session<'_> {
    async fn to_upstream<W: AsyncWrite + Unpin>(
        &self,
        client: &mut (impl AsyncRead + Unpin),
        upstream: &mut (impl AsyncWrite + Unpin),
        mut inbox: Inbox,
        writer: &tokio::sync::Mutex<&mut W>,
    ) -> Result<Done, End> {
        let mut out = Vec::new();
        let mut logged = Logged::Unasked;
        loop {
            if !inbox.rest().is_empty() {
                match self.served(&inbox, mem::replace(&mut logged, Logged::Unasked)) {
                    Served::Reply(reply) => {
                        inbox.take_all();
                        let mut writer = writer.lock().await;
                        self.following.replies(true);
                        self.pass_to_client(&mut **writer, &reply).await?;
                        self.following.replies(false);
                    }
                    Served::Ask => {
                        if self.ask(upstream).await.is_err() {
                            return Ok(Done::Receiving);
                        }
                        continue;
                    }
                    Served::Wait => {
                        logged = self.waits_for_log().await;
                        continue;
                    }
                    Served::Relay => {
                        self.sent(&mut inbox, &mut out)?;
                        if pass(upstream, &out).await.is_err() {
                            return Ok(Done::Receiving);
                        }
                        out.clear();
                        while self.following.is_full() {
                            self.has_room.notified().await;
                        }
                    }
                }
            }
            if !inbox.read(client).await.map_err(|_| End::Client)? {
                // The database reads the end after what it was sent, as it would without a proxy.
                drop(upstream.shutdown().await);
                return Ok(Done::Sending);
            }
        }
    }

    fn served(&self, inbox: &Inbox, logged: Logged) -> Served {
        let flight = Some(inbox.rest()).filter(|_| inbox.is_between_messages()).and_then(flight);
        flight.map_or(Served::Relay, |flight| self.serve(&flight, logged))
    }

    /// Waits until the log was read as far as it is written now.
    async fn waits_for_log(&self) -> Logged {
        let begun = Instant::now();
        match &self.cache.log {
            Some(log) if log.is_read_so_far().await => Logged::ReadSoFar(begun),
            _ => Logged::Unread,
        }
    }

    /// Asks the session who it is, and waits for the answer.
    async fn ask(&self, upstream: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        self.asks();
        pass(upstream, &question()).await?;
        self.is_known.notified().await;
        Ok(())
    }

    async fn to_client<W: AsyncWrite + Unpin>(
        &self,
        upstream: &mut (impl AsyncRead + Unpin),
        mut inbox: Inbox,
        writer: &tokio::sync::Mutex<&mut W>,
    ) -> End {
        loop {
            {
                // Before the session may be at rest: a reply of the cache comes after this one.
                let mut writer = writer.lock().await;
                let mut received = Received::default();
                self.received(&mut inbox, &mut received);
                if received.is_answered {
                    self.is_known.notify_one();
                }
                if !self.following.is_full() {
                    self.has_room.notify_one();
                }
                if !received.bytes.is_empty()
                    && let Err(end) = self.pass_to_client(&mut **writer, &received.bytes).await
                {
                    return end;
                }
            }
            match inbox.read(upstream).await {
                Ok(true) => {}
                _ => return End::Upstream,
            }
        }
    }

    async fn pass_to_client(&self, client: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Result<(), End> {
        self.is_in_step.store(false, Ordering::Relaxed);
        pass(client, bytes).await.map_err(|_| End::Client)?;
        self.is_in_step.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Returns why the session is to end, when it is: nothing of a server that was left is true of the next one.
async fn closing(shared: &Shared, following: &Following<'_>, server: u64) -> End {
    tokio::select! {
        () = close_when_due(shared, following) => End::Shutdown,
        () = shared.connector.has_left(server) => End::Left,
    }
}

/// The messages that ask a session who it is. A `Query` would end the client's statement without a name.
fn question() -> Vec<u8> {
    let statement = [STATEMENT, b"\0"].concat();
    [
        wire::message(b'C', &[b"S", &statement[..]].concat()),
        wire::message(b'P', &[&statement, QUESTION.as_bytes(), b"\0\0\0"].concat()),
        wire::message(b'B', &[PORTAL, b"\0", &statement, b"\0\0\0\0\0\0"].concat()),
        wire::message(b'E', &[PORTAL, b"\0\0\0\0\0"].concat()),
        wire::message(b'C', &[b"S", &statement[..]].concat()),
        wire::message(b'S', b""),
    ]
    .concat()
}
