//! Dendrites that others can reach, one for each collection: takes connections and answers their requests.
//!
//! The caller names the collection when it connects, and everything on the connection is about that collection.
//! A connection that breaks the protocol is closed, with a goodbye that says why. The number of connections is
//! limited, excess ones are refused; that of requests on each is, too, excess ones wait. Callers that have not proved
//! that they know the secret are counted apart (`unproved.rs`), so that strangers do not keep others out.

mod answer;
mod answers;
mod holds;
mod journal;
mod session;
mod unproved;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::cluster::dendrite::Dendrite;
use lacuna_cache_protocol::{Error, Result};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::cluster::network::Listener;
use crate::cluster::secret::Secret;
use journal::Journal;
use unproved::Unproved;

/// Connections at a time whose callers know the secret.
const MAX_CONNECTIONS: u32 = 1_024;
/// Requests at a time on one connection.
const IN_FLIGHT: u32 = 256;
/// How long a stopping server waits for answers in progress.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// A collection that a server answers for.
#[derive(Debug)]
struct Served {
    dendrite: Dendrite,
    journal: Arc<Journal>,
    /// Whether no more requests are taken.
    stops: watch::Receiver<bool>,
    /// Whether the dendrites have stopped.
    stopped: watch::Receiver<bool>,
}

/// What all connections of a server share.
#[derive(Debug)]
struct Shared {
    collections: BTreeMap<String, Arc<Served>>,
    secret: Secret,
    /// [`MAX_CONNECTIONS`] for callers that send requests.
    slots: Arc<Semaphore>,
    /// As many for owners of other ranges.
    owner_slots: Arc<Semaphore>,
    stops: watch::Receiver<bool>,
}

impl Shared {
    /// # Errors
    /// `InvalidInput` with the collections that there are.
    fn served(&self, collection: &str) -> Result<Arc<Served>> {
        self.collections.get(collection).cloned().ok_or_else(|| {
            let names: Vec<&str> = self.collections.keys().map(String::as_str).collect();
            let names = names.join(", ");
            Error::invalid_input(format!("{collection} is not served here; served are: {names}"))
        })
    }
}

/// Dendrites of some collections that listen at one port.
///
/// ```no_run
/// use lacuna_cache::cluster::{Dendrite, Secret, Server};
///
/// # async fn example(dendrite: Dendrite) -> Result<(), lacuna_cache_protocol::Error> {
/// let listener = Server::listen("10.0.0.7:7400").await?;
/// let server = Server::start(listener, [("people", dendrite)], Secret::from_file("secret".as_ref())?);
/// server.stop().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    dendrites: BTreeMap<String, Dendrite>,
    stop: watch::Sender<bool>,
    stopped: watch::Sender<bool>,
    slots: Arc<Semaphore>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Server {
    /// A listener at an address; the address can be published before connections are taken.
    ///
    /// # Errors
    /// `InvalidInput` if this machine has no such address, `Unavailable` if another process listens there.
    pub async fn listen(address: &str) -> Result<TcpListener> {
        let about = |error: std::io::Error| {
            let kind = error.kind();
            let why = format!("listening at {address}: {error}");
            match kind {
                std::io::ErrorKind::AddrInUse => Error::unavailable(why),
                _ => Error::invalid_input(why),
            }
        };
        TcpListener::bind(address).await.map_err(about)
    }

    /// Takes connections for these collections, in tasks of the present runtime.
    pub fn start(
        listener: impl Listener,
        dendrites: impl IntoIterator<Item = (impl Into<String>, Dendrite)>,
        secret: Secret,
    ) -> Self {
        let ((stop, stops), (stopped, have_stopped)) = (watch::channel(false), watch::channel(false));
        let dendrites: BTreeMap<String, Dendrite> =
            dendrites.into_iter().map(|(collection, dendrite)| (collection.into(), dendrite)).collect();
        let collections =
            dendrites.iter().map(|(name, dendrite)| (name.clone(), serve(dendrite, &stops, &have_stopped)));
        let collections = collections.collect();
        let room = || Arc::new(Semaphore::new(MAX_CONNECTIONS as usize));
        let (slots, owner_slots) = (room(), room());
        let shared = Shared { collections, secret, slots: slots.clone(), owner_slots, stops: stops.clone() };
        let accepting = tokio::spawn(accept(listener, Arc::new(shared)));
        Self { dendrites, stop, stopped, slots, accepting }
    }

    /// The dendrites by the names of their collections.
    pub const fn dendrites(&self) -> &BTreeMap<String, Dendrite> {
        &self.dendrites
    }

    /// Takes no more requests, answers those in progress, waits until the store has every acknowledged write, and
    /// releases all ranges.
    ///
    /// # Errors
    /// As [`Dendrite::stop`].
    pub async fn stop(self) -> Result<()> {
        self.stop.send_replace(true);
        let all = self.slots.acquire_many(MAX_CONNECTIONS);
        drop(tokio::time::timeout(LAST_WORDS, all).await);
        let mut stopped = Ok(());
        for dendrite in self.dendrites.values() {
            stopped = stopped.and(dendrite.stop().await);
        }
        self.stopped.send_replace(true);
        drop(tokio::time::timeout(LAST_WORDS, self.accepting).await);
        stopped
    }
}

/// Begins to collect the notices of a dendrite for its callers.
fn serve(dendrite: &Dendrite, stops: &watch::Receiver<bool>, stopped: &watch::Receiver<bool>) -> Arc<Served> {
    let (journal, notices) = (Arc::new(Journal::new()), dendrite.notices());
    let keeping = journal.clone();
    tokio::spawn(async move { keeping.keep(notices).await });
    let (stops, stopped) = (stops.clone(), stopped.clone());
    Arc::new(Served { dendrite: dendrite.clone(), journal, stops, stopped })
}

async fn accept(listener: impl Listener, shared: Arc<Shared>) {
    let unproved = Arc::<Unproved>::default();
    let (mut sessions, mut stops) = (JoinSet::new(), shared.stops.clone());
    loop {
        let accepted = tokio::select! {
            _ = stops.wait_for(|stops| *stops) => break,
            accepted = listener.accept() => accepted,
        };
        while sessions.try_join_next().is_some() {}
        match accepted {
            Ok((incoming, outgoing)) => {
                sessions.spawn(session::run(incoming, outgoing, shared.clone(), unproved.enter()));
            }
            // Out of file descriptors, for example: other connections may close soon.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    drop(listener);
    while sessions.join_next().await.is_some() {}
}
