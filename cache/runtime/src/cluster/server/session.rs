//! One connection, on the side of the server.

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::{Error, Result};
use lacuna_cache_protocol::{PeerCall, PeerReply};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tracing::warn;

use super::answer::{answer_listen, answer_peer, answer_read, answer_read_all, answer_write};
use super::loads::Loads;
use super::{IN_FLIGHT, Served, Shared};
use crate::cluster::fault::Fault;
use crate::cluster::hello::{CHALLENGE, Role, Transcript, read_hello};
use crate::cluster::message::Message;
use crate::cluster::secret::Side;
use crate::cluster::stream::{Incoming, Outgoing, random, write_all};

/// How long the handshake of a caller may take.
const HANDSHAKE: Duration = Duration::from_secs(3);

/// A caller after its handshake.
struct Session<R> {
    role: Role,
    incoming: Incoming<R>,
    /// Has room for [`IN_FLIGHT`] answers; a caller that does not read them gets no more.
    out: mpsc::Sender<Message>,
    slots: Arc<Semaphore>,
    /// Answers in progress: dropped with the connection, as they could not be delivered.
    answers: JoinSet<()>,
    loads: Loads,
    served: Arc<Served>,
}

pub(super) async fn run<R, W>(read: R, mut write: W, shared: Arc<Shared>)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let mut incoming = Incoming::new(read);
    let greeted = tokio::time::timeout(HANDSHAKE, greet(&mut incoming, &mut write, &shared)).await;
    let greeted = greeted
        .unwrap_or_else(|_| Err(Error::unavailable("the caller did not finish the handshake in time")));
    let (role, served, transcript) = match greeted {
        Ok(greeted) => greeted,
        Err(why) => {
            warn!(%why, "a caller was refused");
            let (kind, body) = Message::Goodbye(Fault::new(&why)).to_frame();
            return drop(write_all(&mut write, kind, &body, None).await);
        }
    };
    let (out, from) = mpsc::channel(IN_FLIGHT as usize);
    let writing = tokio::spawn(Outgoing::new(write, transcript.seal(&shared.secret, Side::Called)).run(from));
    let table = (*served.dendrite.table()).clone();
    drop(out.send(Message::Welcome { in_flight: IN_FLIGHT, table }).await);
    incoming.seal(transcript.seal(&shared.secret, Side::Caller));
    let slots = Arc::new(Semaphore::new(IN_FLIGHT as usize));
    let (answers, loads) = (JoinSet::new(), Loads::default());
    let session = Session { role, incoming, out, slots, answers, loads, served };
    session.serve().await;
    // The last messages are written before the connection closes.
    drop(writing.await);
}

async fn greet(
    incoming: &mut Incoming<impl AsyncRead + Unpin>,
    write: &mut (impl AsyncWrite + Unpin),
    shared: &Shared,
) -> Result<(Role, Arc<Served>, Transcript)> {
    let (kind, hello) = incoming.frame().await?;
    let (role, collection) = read_hello(kind, &hello)?;
    let (challenge, transcript) = Transcript::challenge(&shared.secret, &hello, &random()?);
    write_all(write, CHALLENGE, &challenge, None).await?;
    let (kind, proof) = incoming.frame().await?;
    transcript.check_proof(&shared.secret, kind, &proof)?;
    // Only a caller that knows the secret learns which collections there are.
    Ok((role, shared.served(&collection)?, transcript))
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
        drop(self.out.send(Message::Goodbye(Fault::new(&why))).await);
    }

    async fn take(&mut self, message: Message) -> Result<()> {
        let (out, served) = (self.out.clone(), self.served.clone());
        match (self.role, message) {
            (Role::Client | Role::Dendrite, Message::Read(ticket, terms, query)) => {
                let (slot, role) = (self.slots.clone().acquire_owned().await, self.role);
                self.answers.spawn(async move {
                    let answer = answer_read(&served.dendrite, role, ticket, terms, &query).await;
                    drop(out.send(answer).await);
                    drop(slot);
                });
            }
            (Role::Client | Role::Dendrite, Message::ReadAll(ticket, terms, queries)) => {
                let (slot, role) = (self.slots.clone().acquire_owned().await, self.role);
                self.answers.spawn(async move {
                    let answer = answer_read_all(&served.dendrite, role, ticket, terms, &queries).await;
                    drop(out.send(answer).await);
                    drop(slot);
                });
            }
            (Role::Client | Role::Dendrite, Message::Bulk(ticket, terms, lasts_ms)) => {
                let (slot, role) = (self.slots.clone().acquire_owned().await, self.role);
                let loads = self.loads.clone();
                loads.begin(ticket);
                self.answers.spawn(async move {
                    let answer = loads.answer(&served, role, ticket, terms, lasts_ms).await;
                    drop(out.send(answer).await);
                    drop(slot);
                });
            }
            (Role::Client | Role::Dendrite, Message::BulkOver(ticket, about, is_sure)) => {
                // Takes no slot: the requests that fill the slots may wait for this lease.
                let loads = self.loads.clone();
                self.answers.spawn(async move {
                    drop(out.send(loads.over(ticket, about, is_sure).await).await);
                });
            }
            (Role::Client, Message::Listen(ticket, listen)) => {
                let slot = self.slots.clone().acquire_owned().await;
                self.answers.spawn(async move {
                    drop(out.send(answer_listen(&served, ticket, listen).await).await);
                    drop(slot);
                });
            }
            (Role::Client | Role::Dendrite, Message::Write(ticket, terms, write)) => {
                let (slot, role) = (self.slots.clone().acquire_owned().await, self.role);
                self.answers.spawn(async move {
                    let answer = answer_write(&served.dendrite, role, ticket, terms, &write).await;
                    drop(out.send(answer).await);
                    drop(slot);
                });
            }
            (Role::Owner, Message::Peer(ticket, range, peer, call, what)) => {
                let slot = self.slots.clone().try_acquire_owned().ok();
                if slot.is_none() && what != PeerCall::Release {
                    drop(out.send(Message::Held(ticket, PeerReply::Refused)).await);
                    return Ok(());
                }
                self.answers.spawn(async move {
                    let answer = answer_peer(&served.dendrite, ticket, range, peer, call, what).await;
                    drop(out.send(answer).await);
                    drop(slot);
                });
            }
            _ => return Err(Error::invalid_input("the caller sent a message that its role may not send")),
        }
        Ok(())
    }
}
