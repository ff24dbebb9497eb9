//! A lease for a caller that reads and writes at the store directly: a bulk load, or a transaction.
//!
//! The caller requests a lease on all that it will touch, sends its transactions to the store, and releases the lease.
//! Meanwhile no cached entry shows anything of it, and all other requests for it wait. With ranges 0 and 1 in tenures
//! 7 and 9, each transaction checks that the fences of both are still 7 and 9.
//!
//! Guarantee: a transaction that checks all [`OpenLease::fences`] lands while no other request for what it touches is
//! admitted, or not at all; so every later cached result shows it. A lease that is dropped without being released (its
//! holder may have died in the middle of a transaction) ends the tenures of all its ranges, and the next ones raise the
//! fences before they serve.
//!
//! Cost: requests for the same intervals wait; one call to each owner at the beginning and at the end.
//!
//! Report, section 8 ("bulk loading"). The fences are our addition: the report's loader holds the lease without a
//! limit.

use lacuna_cache_protocol::{Command, Epoch, RangeId, StoreCall};
use lacuna_cache_protocol::{Error, Result};
use tokio::sync::oneshot;

/// A lease that is held until it is released, dropped, or has lasted for the requested time.
#[derive(Debug)]
pub struct OpenLease {
    fences: Vec<(RangeId, Epoch)>,
    over: oneshot::Sender<oneshot::Sender<bool>>,
}

/// The end of a lease, for the side that granted it.
#[derive(Debug)]
pub(crate) struct LeaseEnd(oneshot::Receiver<oneshot::Sender<bool>>);

/// A lease on ranges in these tenures, that of the leader first, and its end.
///
/// # Errors
/// `Corrupt` without any range.
pub(crate) fn open_lease(fences: Vec<(RangeId, Epoch)>) -> Result<(OpenLease, LeaseEnd)> {
    if fences.is_empty() {
        return Err(Error::corrupt("a lease names no range"));
    }
    let (over, end) = oneshot::channel();
    Ok((OpenLease { fences, over }, LeaseEnd(end)))
}

impl OpenLease {
    /// The ranges and their tenures, that of the leader first.
    pub(crate) fn fences(&self) -> &[(RangeId, Epoch)] {
        &self.fences
    }

    /// The call to the store for one transaction, with the range and tenure in whose name it is sent.
    pub(crate) fn call(&self, command: Command) -> (RangeId, Epoch, StoreCall) {
        let (range, epoch) = self.fences[0];
        (range, epoch, StoreCall::WriteAcross(command, self.fences[1..].to_vec()))
    }

    /// Releases the lease: nothing that was sent under it is under way. Other requests are admitted when this returns.
    ///
    /// # Errors
    /// `Unavailable` if the lease was lost before.
    pub(crate) async fn give_back(self) -> Result<()> {
        let lost = || Error::unavailable("the lease was lost");
        let (reply, answer) = oneshot::channel();
        self.over.send(reply).map_err(|_| lost())?;
        if answer.await.unwrap_or(false) { Ok(()) } else { Err(lost()) }
    }

    /// As [`OpenLease::give_back`], without waiting.
    pub(crate) fn let_go(self) {
        // The granting side may have ended.
        drop(self.over.send(oneshot::channel().0));
    }
}

impl LeaseEnd {
    /// Waits for the end: the channel for the answer whether it was held until now, or `None` if what was sent
    /// under it may be under way.
    pub(crate) async fn ended(self) -> Option<oneshot::Sender<bool>> {
        self.0.await.ok()
    }
}
