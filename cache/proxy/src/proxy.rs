//! A running proxy: a task that accepts clients, and one for each of them.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use lacuna_base::{Error, Result};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::cache::{Cache, CacheCounts, CacheStatus, Registered, Watch, full_name};
use crate::listeners::Listeners;
use crate::session;
use crate::shared::{Counts, Phase, Shared};
use crate::suggest::{Collector, Suggestions};

/// Pause after an error of `accept`, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);
/// How long sessions may take to say goodbye.
const GRACE: Duration = Duration::from_secs(3);
/// Clients that may be in their first packets beyond the sessions: they are answered that all are taken, or cancel.
const SPARE: usize = 256;

/// A proxy that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    socket: Option<PathBuf>,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
    /// Reads for suggestions until it is dropped.
    _collector: Option<Collector>,
    /// Keeps the cache true to what is outside.
    watch: Option<Watch>,
}

/// What a proxy has done, for as long as a caller wants to know: it does not keep the proxy running.
#[derive(Debug, Clone)]
pub struct Monitor {
    shared: Arc<Shared>,
}

impl Monitor {
    /// See [`Proxy::counts`].
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// See [`Proxy::cache_counts`].
    #[must_use]
    pub fn cache_counts(&self) -> Option<CacheCounts> {
        self.shared.cache.as_ref().map(|cache| cache.counts())
    }

    /// What is in its cache now, if it has one. It shows constants of statements: data of users. It looks at every entry, on
    /// this thread.
    #[must_use]
    pub fn cache_status(&self) -> Option<CacheStatus> {
        self.shared.cache.as_ref().map(|cache| cache.status())
    }

    /// Whether the proxy takes no more clients.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        *self.shared.phase.borrow() > Phase::Serving
    }
}

impl Proxy {
    pub(crate) fn start(listeners: Listeners, shared: Shared, watch: Option<Watch>) -> Result<Self> {
        let address = listeners.address().map_err(|why| Error::unavailable(why.to_string()))?;
        let socket = listeners.socket().map(Path::to_owned);
        let shared = Arc::new(shared);
        let accepting = tokio::spawn(run(listeners, shared.clone()));
        let collector = shared.options.suggestions.as_ref().map(Suggestions::start_collecting);
        Ok(Self { address, socket, shared, accepting, _collector: collector, watch })
    }

    /// Where clients connect to.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The Unix socket that clients of this machine may connect to, if there is one
    /// ([`Options::with_socket_folder`](crate::Options::with_socket_folder)).
    pub fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    /// What it has done so far.
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// What its cache has done so far, if it has one.
    pub fn cache_counts(&self) -> Option<CacheCounts> {
        self.shared.cache.as_ref().map(|cache| cache.counts())
    }

    /// The same for a task of its own.
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        Monitor { shared: self.shared.clone() }
    }

    /// Reads the certificate, its key and the file of logins anew, for clients that come from now on. Sessions keep what they
    /// have begun with.
    ///
    /// # Errors
    /// `InvalidInput` if a file holds something else, `Unavailable` if it cannot be read: then all stays as it was.
    pub fn reload(&self) -> Result<()> {
        self.shared.reload()
    }

    /// Registers these columns with the cache, besides those that it has, under the conditions of the start: catalogue, rights
    /// of roles, claim of the table. The cache begins cold with each new one. Returns what became of each, in their order:
    /// whether it is new, or why it is not registered.
    ///
    /// # Errors
    /// `InvalidInput` if there is no cache, or it was not started with
    /// [`CacheSettings::with_registration`](crate::CacheSettings::with_registration).
    pub async fn register(&self, columns: &Registered) -> Result<Vec<(String, Result<bool, String>)>> {
        let cache = self.cache_that_takes_columns()?;
        let mut results = Vec::new();
        for (_, column) in columns.columns() {
            results.push((full_name(column), cache.register(column).await));
        }
        Ok(results)
    }

    /// Takes these columns off the list of its cache, which begins cold. When this returns, nothing is shown by them any more, and
    /// tables without registered columns may be cached by other processes. Returns of each column, in their order, whether it was
    /// registered.
    ///
    /// # Errors
    /// `InvalidInput` as [`register`](Self::register), `Unavailable` if the proxy stops meanwhile.
    pub async fn unregister(&self, columns: &Registered) -> Result<Vec<(String, bool)>> {
        let cache = self.cache_that_takes_columns()?;
        if columns.len() == 0 {
            return Ok(Vec::new());
        }
        let gone = cache.unregister(columns).await?;
        let results = columns.columns().map(|(_, column)| {
            let was_registered = gone.columns().any(|(_, one)| one == column);
            (full_name(column), was_registered)
        });
        Ok(results.collect())
    }

    fn cache_that_takes_columns(&self) -> Result<&Cache> {
        let cache = self.shared.cache.as_deref().filter(|cache| cache.takes_columns());
        cache.ok_or_else(|| Error::invalid_input("this proxy has no cache that takes columns while it runs"))
    }

    /// Returns when another process has taken a table from this proxy's cache, which was silent for too long: the sessions
    /// here have ended, as that process would not see what they write.
    pub async fn superseded(&self) {
        match &self.shared.cache {
            Some(cache) => cache.superseded().await,
            None => std::future::pending().await,
        }
    }

    /// Takes no more clients, ends each session between two of its transactions with SQLSTATE 57P01, and stops after
    /// `patience` at the latest.
    pub async fn drain(mut self, patience: Duration) {
        self.shared.raise(Phase::Closing);
        drop(timeout(patience, &mut self.accepting).await);
        self.stop().await;
    }

    /// Takes no more clients and ends all sessions with SQLSTATE 57P01, in the middle of a transaction, too.
    pub async fn stop(mut self) {
        self.shared.raise(Phase::Stopping);
        if !self.accepting.is_finished() {
            drop(timeout(GRACE, &mut self.accepting).await);
        }
        if let Some(watch) = self.watch.take() {
            watch.stop().await;
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Ends the sessions, too: the task owns them.
        self.accepting.abort();
    }
}

/// Accepts clients until the proxy drains; ends when their sessions have ended.
async fn run(listeners: Listeners, shared: Arc<Shared>) {
    let mut sessions = JoinSet::new();
    tokio::select! {
        () = accept(listeners, &shared, &mut sessions) => {}
        () = superseded(&shared) => shared.raise(Phase::Stopping),
    }
    shared.phase.send_if_modified(|phase| {
        let is_closing = *phase == Phase::Closing;
        if is_closing {
            *phase = Phase::Draining;
        }
        is_closing
    });
    let end = async { while sessions.join_next().await.is_some() {} };
    let mut end = pin!(end);
    tokio::select! {
        () = &mut end => return,
        // While it drains, too: the process that has the table now does not see what the sessions here write.
        () = superseded(&shared) => shared.raise(Phase::Stopping),
    }
    end.await;
}

async fn superseded(shared: &Shared) {
    match &shared.cache {
        Some(cache) => cache.superseded().await,
        None => std::future::pending().await,
    }
}

/// Later clients are refused by the system, once this returns.
async fn accept(listeners: Listeners, shared: &Arc<Shared>, sessions: &mut JoinSet<()>) {
    let max_clients = shared.options.max_connections.saturating_add(SPARE);
    loop {
        tokio::select! {
            accepted = listeners.accept(), if sessions.len() < max_clients => match accepted {
                Ok(client) => drop(sessions.spawn(session::serve(shared.clone(), client))),
                Err(why) => pause(&why).await,
            },
            Some(_) = sessions.join_next() => {}
            () = shared.end_of_accepting() => return,
        }
    }
}

async fn pause(why: &io::Error) {
    tracing::warn!(%why, "a client cannot be accepted");
    sleep(PAUSE).await;
}
