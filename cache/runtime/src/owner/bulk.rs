//! A lease on everything, for whoever loads past the cache.
//!
//! Many rows at once are not worth the way through the cache: the loader asks for a lease on every range, writes to the
//! store, and gives the lease back. Meanwhile there are no entries and nobody is let in. With ranges 0 and 1 in tenures 7 and
//! 9, each transaction of the load checks that the fences of both are still 7 and 9.
//!
//! Guarantee: a transaction that checks all [`BulkLease::fences`] lands while nobody else is let in, or not at all; so what is
//! cached later shows it. A lease that is dropped without a word (its loader may have died in the middle of a transaction) ends
//! the tenures of all ranges, and the next ones raise the fences before they serve.
//!
//! Cost: all requests of the collection wait; one call to each owner at the beginning and at the end.
//!
//! Report, section 8 ("bulk loading"). The fences are ours: the report's loader holds the lease for as long as it likes.

use lacuna_cache_protocol::{Command, Epoch, RangeId, StoreCall};
use lacuna_cache_protocol::{Error, Result};
use tokio::sync::oneshot;

/// A lease on all ranges, held until it is given back, dropped, or has lasted for as long as was asked for.
#[derive(Debug)]
pub struct BulkLease {
    fences: Vec<(RangeId, Epoch)>,
    over: oneshot::Sender<oneshot::Sender<bool>>,
}

/// What becomes of a lease, for whoever granted it.
#[derive(Debug)]
pub(crate) struct BulkEnd(oneshot::Receiver<oneshot::Sender<bool>>);

/// A lease on ranges in these tenures, that of the leader first, and what becomes of it.
///
/// # Errors
/// `Corrupt` without any range.
pub(crate) fn bulk_lease(fences: Vec<(RangeId, Epoch)>) -> Result<(BulkLease, BulkEnd)> {
    if fences.is_empty() {
        return Err(Error::corrupt("a lease for a bulk load names no range"));
    }
    let (over, end) = oneshot::channel();
    Ok((BulkLease { fences, over }, BulkEnd(end)))
}

impl BulkLease {
    /// The ranges and their tenures, that of the leader first.
    pub fn fences(&self) -> &[(RangeId, Epoch)] {
        &self.fences
    }

    /// What to ask the store, as the owner of which range in which tenure, for one transaction of the load.
    pub fn call(&self, command: Command) -> (RangeId, Epoch, StoreCall) {
        let (range, epoch) = self.fences[0];
        (range, epoch, StoreCall::WriteAcross(command, self.fences[1..].to_vec()))
    }

    /// The load is over: nothing of it is under way. Others are let in when this returns.
    ///
    /// # Errors
    /// `Unavailable` if the lease was lost before.
    pub async fn give_back(self) -> Result<()> {
        let lost = || Error::unavailable("the lease of the bulk load was lost");
        let (reply, answer) = oneshot::channel();
        self.over.send(reply).map_err(|_| lost())?;
        if answer.await.unwrap_or(false) { Ok(()) } else { Err(lost()) }
    }

    /// As [`BulkLease::give_back`], without waiting.
    pub fn let_go(self) {
        // Whoever granted it may have gone.
        drop(self.over.send(oneshot::channel().0));
    }
}

impl BulkEnd {
    /// Waits for the end: whom to tell whether it was held until now, or `None` if parts of the load may be under way.
    pub(crate) async fn ended(self) -> Option<oneshot::Sender<bool>> {
        self.0.await.ok()
    }
}
