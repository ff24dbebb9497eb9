//! One connection, on the side of the server.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::{Error, ErrorKind, Result};
use lacuna_cache_protocol::{PeerCall, PeerReply};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{debug, warn};

use super::answer::{answer_listen, answer_peer, answer_read, answer_read_all, answer_write, failed};
use super::answers::Answers;
use super::holds::Holds;
use super::unproved::Place;
use super::{IN_FLIGHT, MAX_CONNECTIONS, Served, Shared};
use crate::cluster::fault::Fault;
use crate::cluster::hello::{CHALLENGE, Called, Introduction, PROOF, Role};
use crate::cluster::message::{How, Message, Terms};
use crate::cluster::noise::Sealer;
use crate::cluster::noticed::Listen;
use crate::cluster::stream::{Incoming, Outgoing, write_open, write_sealed};

/// How long the handshake of a caller may take.
const HANDSHAKE: Duration = Duration::from_secs(3);
/// How long a caller that is refused may take to accept the reason.
const FAREWELL: Duration = Duration::from_secs(1);

/// Requests of a connection that are in progress or wait for a slot.
const MAX_REQUESTS: usize = 2 * IN_FLIGHT as usize;

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
        .and_then(|introduction| admit(&introduction, &shared).map(|admitted| (introduction, admitted)));
    let (introduction, (served, _slot), sealer) = match (admitted, sealer) {
        (Ok((introduction, admitted)), Some(sealer)) => (introduction, admitted, sealer),
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
    let Introduction { role, collection } = introduction;
    debug!(?role, collection, "a caller has connected");
    let session = Session { role, incoming, out, slots, answers, holds, served };
    let why = session.serve().await;
    debug!(?role, collection, %why, "the connection of a caller has ended");
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
    let slots = if introduction.role == Role::Owner { &shared.owner_slots } else { &shared.slots };
    let slot = slots.clone().try_acquire_owned();
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
    /// Runs until the caller closes the connection, breaks the protocol, or the server stops, and returns which; in the last case
    /// pending answers are awaited. The owners of other ranges are heard until the owners here have stopped, which wait
    /// for their releases.
    async fn serve(mut self) -> Error {
        let Served { stops, stopped, .. } = &*self.served;
        let mut stops = if self.role == Role::Owner { stopped.clone() } else { stops.clone() };
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
        why
    }

    async fn take(&mut self, message: Message) -> Result<()> {
        let (role, served) = (self.role, self.served.clone());
        let is_owner = role == Role::Owner;
        match message {
            Message::Read(ticket, terms, query) if !is_owner => {
                let answer = move |within_ms| async move {
                    let terms = Terms { within_ms, ..terms };
                    answer_read(&served.dendrite, role, ticket, terms, &query).await
                };
                self.answer(ticket, terms.within_ms, answer).await;
            }
            Message::ReadAll(ticket, terms, queries) if !is_owner => {
                let answer = move |within_ms| async move {
                    let terms = Terms { within_ms, ..terms };
                    answer_read_all(&served.dendrite, role, ticket, terms, &queries).await
                };
                self.answer(ticket, terms.within_ms, answer).await;
            }
            Message::Hold(ticket, terms, lasts_ms, held) if !is_owner => {
                let asked = self.holds.begin(ticket);
                let answer = move |within_ms| async move {
                    let terms = Terms { within_ms, ..terms };
                    asked.answer(&served, role, terms, &held, lasts_ms).await
                };
                self.answer(ticket, terms.within_ms, answer).await;
            }
            Message::HoldOver(ticket, about, is_sure) if !is_owner => {
                // Takes no slot: the requests that fill the slots may wait for this lease.
                let (out, holds) = (self.out.clone(), self.holds.clone());
                self.answers.spawn(async move {
                    out.send(holds.over(ticket, about, is_sure).await).await;
                });
            }
            Message::Listen(ticket, listen) if role == Role::Client => {
                let answer = move |within_ms| async move {
                    answer_listen(&served, ticket, Listen { within_ms, ..listen }).await
                };
                self.answer(ticket, listen.within_ms, answer).await;
            }
            Message::Write(ticket, terms, write) if !is_owner => {
                let answer = move |within_ms| async move {
                    let terms = Terms { within_ms, ..terms };
                    answer_write(&served.dendrite, role, ticket, terms, &write).await
                };
                self.answer(ticket, terms.within_ms, answer).await;
            }
            Message::Peer(ticket, range, peer, call, what) if is_owner => {
                let slot = self.slots.clone().try_acquire_owned().ok();
                if slot.is_none() && what != PeerCall::Release {
                    self.out.send(Message::Held(ticket, PeerReply::Refused)).await;
                    return Ok(());
                }
                let out = self.out.clone();
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

    /// Answers a request once a slot is free, in what is left of its time then. The loop that reads does not wait for the slot: what
    /// ends the lease for which the others wait may come next.
    async fn answer<F: Future<Output = Message> + Send + 'static>(
        &mut self,
        ticket: u64,
        within_ms: u64,
        answer: impl FnOnce(u64) -> F + Send + 'static,
    ) {
        let not_done = move |why: &str| failed(ticket, How::NotDone, &Error::unavailable(why));
        if self.answers.len() >= MAX_REQUESTS {
            return self.out.send(not_done("the connection has too many requests in progress")).await;
        }
        let (slots, out, came) = (self.slots.clone(), self.out.clone(), Instant::now());
        self.answers.spawn(async move {
            let slot = slots.acquire_owned().await;
            let waited_ms = u64::try_from(came.elapsed().as_millis()).unwrap_or(u64::MAX);
            out.send(match within_ms.saturating_sub(waited_ms) {
                0 if waited_ms > 0 => not_done("the request waited too long for others of its connection"),
                left_ms => answer(left_ms).await,
            })
            .await;
            drop(slot);
        });
    }
}
