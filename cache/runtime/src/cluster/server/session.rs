//! One connection, on the side of the server.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::{Error, ErrorKind, Result};
use lacuna_cache_protocol::{PeerCall, PeerReply};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tracing::{debug, warn};

use super::answer::{answer_listen, answer_peer, answer_read, answer_read_all, answer_write};
use super::answers::Answers;
use super::holds::Holds;
use super::unproved::Place;
use super::{IN_FLIGHT, MAX_CONNECTIONS, Served, Shared};
use crate::cluster::fault::Fault;
use crate::cluster::hello::{CHALLENGE, Called, Introduction, PROOF, Role};
use crate::cluster::message::Message;
use crate::cluster::noise::Sealer;
use crate::cluster::stream::{Incoming, Outgoing, write_open, write_sealed};

/// How long the handshake of a caller may take.
const HANDSHAKE: Duration = Duration::from_secs(3);
/// How long a caller that is refused may take to accept the reason.
const FAREWELL: Duration = Duration::from_secs(1);

/// A caller after its handshake.
struct Session<R> {
    role: Role,
    incoming: Incoming<R>,
    out: Answers,
    slots: Arc<Semaphore>,
    /// Answers in progress: dropped with the connection, as they could not be delivered.
    answers: JoinSet<()>,
    holds: Holds,
    served: Arc<Served>,
}

/// Serves a connection until it ends. `place` is held until the caller has proved that it knows the secret.
pub(super) async fn run<R, W>(read: R, mut write: W, shared: Arc<Shared>, place: Place)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let mut incoming = Incoming::new(read);
    let mut sealer = None;
    let greeted = tokio::select! {
        () = place.is_displaced() => Err(Error::unavailable("too many callers are in the middle of a handshake")),
        greeted = tokio::time::timeout(HANDSHAKE, greet(&mut incoming, &mut write, &mut sealer, &shared)) => greeted
            .unwrap_or_else(|_| Err(Error::unavailable("the caller did not finish the handshake in time"))),
    };
    drop(place);
    let admitted = greeted
        .and_then(|introduction| admit(&introduction, &shared).map(|admitted| (introduction.role, admitted)));
    let (role, (served, _slot), sealer) = match (admitted, sealer) {
        (Ok((role, admitted)), Some(sealer)) => (role, admitted, sealer),
        (refused, sealer) => {
            let why = refused.err().unwrap_or_else(|| Error::corrupt("a handshake without keys"));
            match why.kind() {
                // It went away, or was too slow: of connections that are cut there may be many.
                ErrorKind::Unavailable => debug!(%why, "a caller was refused"),
                _ => warn!(%why, "a caller was refused"),
            }
            return drop(tokio::time::timeout(FAREWELL, refuse(&mut write, sealer, &why)).await);
        }
    };
    let (out, from) = Answers::channel();
    let writing = tokio::spawn(Outgoing::new(write, sealer).run(from));
    let table = (*served.dendrite.table()).clone();
    out.send(Message::Welcome { in_flight: IN_FLIGHT, table }).await;
    let slots = Arc::new(Semaphore::new(IN_FLIGHT as usize));
    let (answers, holds) = (JoinSet::new(), Holds::default());
    let session = Session { role, incoming, out, slots, answers, holds, served };
    session.serve().await;
    // The last messages are written before the connection closes.
    drop(writing.await);
}

/// Reads a hello and its proof; afterwards both directions are encrypted. `keys` are set as soon as they can be used,
/// so that a caller is refused under them.
async fn greet(
    incoming: &mut Incoming<impl AsyncRead + Unpin>,
    write: &mut (impl AsyncWrite + Unpin),
    keys: &mut Option<Sealer>,
    shared: &Shared,
) -> Result<Introduction> {
    let (kind, hello) = incoming.frame().await?;
    let called = Called::answer(&shared.secret, kind, &hello)?;
    write_open(write, CHALLENGE, &called.challenge).await?;
    *keys = Some(called.sealer);
    incoming.decrypt(called.opener)?;
    // A hello can be a copy of an earlier one; only its author can make the next frame.
    match incoming.frame().await? {
        (PROOF, body) if body.is_empty() => Ok(called.introduction),
        _ => Err(Error::corrupt("the caller did not prove that it knows the secret")),
    }
}

/// What a caller that knows the secret asks about, and a place among the connections.
fn admit(introduction: &Introduction, shared: &Shared) -> Result<(Arc<Served>, OwnedSemaphorePermit)> {
    let served = shared.served(&introduction.collection)?;
    let slot = shared.slots.clone().try_acquire_owned();
    let full = || Error::unavailable(format!("the dendrite has {MAX_CONNECTIONS} connections already"));
    Ok((served, slot.map_err(|_| full())?))
}

async fn refuse(write: &mut (impl AsyncWrite + Unpin), sealer: Option<Sealer>, why: &Error) -> Result<()> {
    let (kind, body) = Message::Goodbye(Fault::new(why)).to_frame();
    match sealer {
        Some(mut sealer) => write_sealed(write, kind, &body, &mut sealer).await,
        None => write_open(write, kind, &body).await,
    }
}

impl<R: AsyncRead + Unpin> Session<R> {
    /// Runs until the caller closes the connection, breaks the protocol, or the server stops; in the last case
    /// pending answers are awaited.
    async fn serve(mut self) {
        let mut stops = self.served.stops.clone();
        let why = loop {
            let message = tokio::select! {
                _ = stops.wait_for(|stops| *stops) => break Error::unavailable("the dendrite is stopping"),
                () = self.out.closed() => break Error::unavailable("the caller closed the connection"),
                message = self.incoming.message() => message,
            };
            while self.answers.try_join_next().is_some() {}
            match message {
                Ok(message) => {
                    if let Err(why) = self.take(message).await {
                        break why;
                    }
                }
                Err(why) => break why,
            }
        };
        if *stops.borrow() {
            while self.answers.join_next().await.is_some() {}
        }
        self.out.send(Message::Goodbye(Fault::new(&why))).await;
    }

    async fn take(&mut self, message: Message) -> Result<()> {
        let (out, served) = (self.out.clone(), self.served.clone());
        match (self.role, message) {
            (Role::Client | Role::Dendrite, Message::Read(ticket, terms, query)) => {
                let (slot, role) = (self.slots.clone().acquire_owned().await, self.role);
                self.answers.spawn(async move {
                    let answer = answer_read(&served.dendrite, role, ticket, terms, &query).await;
                    out.send(answer).await;
                    drop(slot);
                });
            }
            (Role::Client | Role::Dendrite, Message::ReadAll(ticket, terms, queries)) => {
                let (slot, role) = (self.slots.clone().acquire_owned().await, self.role);
                self.answers.spawn(async move {
                    let answer = answer_read_all(&served.dendrite, role, ticket, terms, &queries).await;
                    out.send(answer).await;
                    drop(slot);
                });
            }
            (Role::Client | Role::Dendrite, Message::Hold(ticket, terms, lasts_ms, held)) => {
                let (slot, role) = (self.slots.clone().acquire_owned().await, self.role);
                let holds = self.holds.clone();
                holds.begin(ticket);
                self.answers.spawn(async move {
                    let answer = holds.answer(&served, role, ticket, terms, &held, lasts_ms).await;
                    out.send(answer).await;
                    drop(slot);
                });
            }
            (Role::Client | Role::Dendrite, Message::HoldOver(ticket, about, is_sure)) => {
                // Takes no slot: the requests that fill the slots may wait for this lease.
                let holds = self.holds.clone();
                self.answers.spawn(async move {
                    out.send(holds.over(ticket, about, is_sure).await).await;
                });
            }
            (Role::Client, Message::Listen(ticket, listen)) => {
                let slot = self.slots.clone().acquire_owned().await;
                self.answers.spawn(async move {
                    out.send(answer_listen(&served, ticket, listen).await).await;
                    drop(slot);
                });
            }
            (Role::Client | Role::Dendrite, Message::Write(ticket, terms, write)) => {
                let (slot, role) = (self.slots.clone().acquire_owned().await, self.role);
                self.answers.spawn(async move {
                    let answer = answer_write(&served.dendrite, role, ticket, terms, &write).await;
                    out.send(answer).await;
                    drop(slot);
                });
            }
            (Role::Owner, Message::Peer(ticket, range, peer, call, what)) => {
                let slot = self.slots.clone().try_acquire_owned().ok();
                if slot.is_none() && what != PeerCall::Release {
                    out.send(Message::Held(ticket, PeerReply::Refused)).await;
                    return Ok(());
                }
                self.answers.spawn(async move {
                    let answer = answer_peer(&served.dendrite, ticket, range, peer, call, what).await;
                    out.send(answer).await;
                    drop(slot);
                });
            }
            _ => return Err(Error::invalid_input("the caller sent a message that its role may not send")),
        }
        Ok(())
    }
}
