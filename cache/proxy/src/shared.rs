//! What all sessions share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use lacuna_base::Result;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::cache::Cache;
use crate::credentials::Credentials;
use crate::options::Options;
use crate::upstream::Connector;

/// Whether sessions go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Serving,
    /// No client is taken any more, and the listener is about to close.
    Closing,
    /// Sessions end between transactions.
    Draining,
    /// Sessions end now.
    Stopping,
}

/// Options, limits and counters of a proxy.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) connector: Arc<Connector>,
    pub(crate) phase: watch::Sender<Phase>,
    pub(crate) counters: Counters,
    pub(crate) cache: Option<Arc<Cache>>,
    credentials: RwLock<Arc<Credentials>>,
    slots: Arc<Semaphore>,
}

impl Shared {
    pub(crate) fn new(
        options: Options,
        connector: Arc<Connector>,
        credentials: Credentials,
        cache: Option<Arc<Cache>>,
    ) -> Self {
        let slots = Arc::new(Semaphore::new(options.max_connections.min(Semaphore::MAX_PERMITS)));
        let phase = watch::Sender::new(Phase::Serving);
        let credentials = RwLock::new(Arc::new(credentials));
        Self { options, connector, credentials, phase, counters: Counters::default(), cache, slots }
    }

    /// Goes on to `phase`, unless it is there or further: a proxy that has lost a table stops at once, though it is to drain.
    pub(crate) fn raise(&self, to: Phase) {
        self.phase.send_if_modified(|phase| {
            let is_new = *phase < to;
            *phase = (*phase).max(to);
            is_new
        });
    }

    /// What the files held when they were read last. A session keeps what it has begun with.
    pub(crate) fn credentials(&self) -> Arc<Credentials> {
        self.credentials.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the files anew; what they held stays if they cannot be used.
    pub(crate) fn reload(&self) -> Result<()> {
        let credentials = Arc::new(self.options.files.read()?);
        *self.credentials.write().unwrap_or_else(PoisonError::into_inner) = credentials;
        Ok(())
    }

    /// The right to a session, until it is dropped; `None` if all are taken.
    pub(crate) fn slot(&self) -> Option<OwnedSemaphorePermit> {
        self.slots.clone().try_acquire_owned().ok()
    }

    /// Ends when clients have to be sent away. The listener is closed by then, so that none of them comes back to this proxy.
    pub(crate) async fn end_of_serving(&self) {
        drop(self.phase.subscribe().wait_for(|phase| *phase > Phase::Closing).await);
    }

    pub(crate) async fn end_of_accepting(&self) {
        drop(self.phase.subscribe().wait_for(|phase| *phase > Phase::Serving).await);
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.phase.borrow() == Phase::Draining
    }

    pub(crate) fn counts(&self) -> Counts {
        let Counters { sessions, refused, cancels, unfollowed } = &self.counters;
        let open = self.options.max_connections.min(Semaphore::MAX_PERMITS) - self.slots.available_permits();
        Counts {
            open,
            sessions: sessions.load(Ordering::Relaxed),
            refused: refused.load(Ordering::Relaxed),
            cancels: cancels.load(Ordering::Relaxed),
            unfollowed: unfollowed.load(Ordering::Relaxed),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) sessions: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) cancels: AtomicU64,
    pub(crate) unfollowed: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a proxy has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Sessions that are open.
    pub open: usize,
    /// Sessions that were begun.
    pub sessions: u64,
    /// Clients that were refused because too many were there.
    pub refused: u64,
    /// Requests to cancel a statement.
    pub cancels: u64,
    /// Sessions that were relayed without being followed, because their messages were not understood.
    pub unfollowed: u64,
}
