//! A transaction at the database, under leases on all that it may touch.
//!
//! It ends once: by a commit, by the first statement that fails, or when its time is over. While a statement runs it is
//! taken out of its place, so that a caller that stops waiting does not leave one open: the connection is closed, and leases
//! that are dropped count as abandoned.

use std::sync::{Arc, Weak};
use std::time::Duration;

use lacuna_cache_protocol::{Error, ErrorKind, Result};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tracing::{debug, info};

use crate::owner::{OpenLease, WriteError};
use crate::sql::database::{self, Failure, FailureKind};
use crate::sql::statement::Statement;

/// An open transaction and its leases.
#[derive(Default)]
pub(super) struct Leases(pub(super) Vec<OpenLease>);

impl Leases {
    /// Nothing that was sent under them is under way.
    pub(super) fn let_go(self) {
        self.0.into_iter().for_each(OpenLease::let_go);
    }
}

struct Open {
    transaction: Box<dyn database::Transaction>,
    leases: Leases,
}

impl Open {
    /// Changes nothing: a transaction whose commit is never sent does not land, whatever becomes of its connection.
    async fn undo(self) {
        self.transaction.rollback().await;
        self.leases.let_go();
    }
}

/// The place of a transaction until it ends.
pub(super) struct Running {
    open: Arc<Mutex<Option<Open>>>,
    timer: JoinHandle<()>,
}

fn is_over() -> Error {
    Error::new(
        ErrorKind::Conflict,
        "the transaction is over and has changed nothing: a statement of it failed, or its time was over (see \
         `with_duration`)",
    )
}

/// The meaning of a failure before the commit was sent.
fn not_committed(failure: Failure) -> WriteError {
    match failure.kind {
        FailureKind::Never | FailureKind::Denied => WriteError::Refused(failure.error),
        FailureKind::Later | FailureKind::Unknown => WriteError::NotDone(failure.error),
    }
}

impl Running {
    pub(super) fn new(transaction: Box<dyn database::Transaction>, leases: Leases, lasts: Duration) -> Self {
        let open = Arc::new(Mutex::new(Some(Open { transaction, leases })));
        let timer = tokio::spawn(end_after(Arc::downgrade(&open), lasts));
        Self { open, timer }
    }

    pub(super) async fn query(&self, statement: &Statement) -> Result<database::Table> {
        let mut place = self.open.lock().await;
        let mut open = place.take().ok_or_else(is_over)?;
        match open.transaction.query(statement).await {
            Ok(rows) => {
                *place = Some(open);
                Ok(rows)
            }
            Err(failure) => {
                debug!(why = ?failure.kind, "a transaction is undone, as a query of it has failed");
                open.undo().await;
                Err(failure.error)
            }
        }
    }

    pub(super) async fn execute(&self, statement: &Statement) -> Result<(), WriteError> {
        let mut place = self.open.lock().await;
        let mut open = place.take().ok_or_else(|| WriteError::NotDone(is_over()))?;
        match crate::sql::fenced::execute(&mut *open.transaction, statement).await {
            Ok(()) => {
                *place = Some(open);
                Ok(())
            }
            Err(failure) => {
                debug!(why = ?failure.kind, "a transaction is undone, as a statement of it has failed");
                open.undo().await;
                Err(not_committed(failure))
            }
        }
    }

    pub(super) async fn commit(self) -> Result<(), WriteError> {
        let open = self.open.lock().await.take().ok_or_else(|| WriteError::NotDone(is_over()))?;
        match open.transaction.commit().await {
            Ok(()) => {
                debug!("a transaction was committed");
                open.leases.let_go();
                Ok(())
            }
            // It may still land: leases that are dropped end the tenures, and the next ones raise the fences.
            Err(failure) if failure.kind == FailureKind::Unknown => {
                info!("whether a transaction was committed is unknown: the tenures end that it held");
                Err(WriteError::Unknown)
            }
            Err(failure) => {
                debug!(why = ?failure.kind, "a transaction was not committed");
                open.leases.let_go();
                Err(not_committed(failure))
            }
        }
    }

    pub(super) async fn rollback(self) {
        let open = self.open.lock().await.take();
        if let Some(open) = open {
            debug!("a transaction is undone by its caller");
            open.undo().await;
        }
    }
}

async fn end_after(place: Weak<Mutex<Option<Open>>>, lasts: Duration) {
    tokio::time::sleep(lasts).await;
    let Some(place) = place.upgrade() else { return };
    let open = place.lock().await.take();
    if let Some(open) = open {
        info!(open_s = lasts.as_secs(), "a transaction is undone, as its time is over");
        open.undo().await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.timer.abort();
        // A statement under way has taken it out, and drops it.
        let open = self.open.try_lock().ok().and_then(|mut place| place.take());
        if let (Some(open), Ok(runtime)) = (open, Handle::try_current()) {
            debug!("a transaction is undone, as it was dropped");
            runtime.spawn(open.undo());
        }
    }
}
