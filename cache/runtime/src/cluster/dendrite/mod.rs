//! A dendrite: the owner of many ranges of one collection, among others that own the rest.
//!
//! A collection is cut into ranges by a table that a [`Directory`] keeps. A dendrite has a seat for each range that it was
//! asked about, and a seat claims its range when somebody asks for it, unless the directory says that another dendrite has
//! it or should have it. The ranges of a dead dendrite are claimed as soon as its lease is over, all at once, each by the one
//! that the directory says; and a dendrite that has more to do than others leaves ranges to them (`chores.rs`).
//!
//! With the table cut at 100 and another dendrite at the upper range, a read of `90..=95` is answered here, a read of
//! `100..=110` is handed on, and for `90..=110` the owner here takes a lease there and then asks the store for all of it.
//!
//! Guarantee: that of the owners. The directory is a hint: whoever is sent to the wrong place is refused there.
//!
//! Cost: nothing beside that of a seat for what is owned here; one look at the directory in [`KNOWN_MS`] and a hop for what
//! is not.
//!
//! Report, section 3. Here ranges are claimed on demand, and owners of several ranges of one process talk as strangers do.

mod dendrite_state;
mod rebalancer;
mod request;
mod requests;
mod several;

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::Directory;
use lacuna_cache_protocol::{
    Application, CallId, Config, Notice, PeerCall, PeerId, PeerReply, Query, RangeId, RangeTable, Value,
    Write,
};
use tokio::sync::{broadcast, oneshot};

use crate::cluster::peer_transport::PeerTransport;
use crate::owner::alarm::Alarm;
use crate::owner::bulk::BulkLease;
use crate::owner::counters::Counts;
use crate::owner::error::WriteError;
use crate::owner::owner_handle::OwnerCommand;
use crate::owner::requests::PATIENCE;
use crate::owner::servers::Servers;
pub(crate) use dendrite_state::DendriteState;

/// How long a dendrite believes what the directory said of a range.
const KNOWN_MS: u64 = 300;

/// Where a dendrite stands among others.
#[derive(Debug, Clone)]
pub struct Membership {
    /// Which ranges there are and who has them.
    pub directory: Arc<dyn Directory>,
    /// The way to other dendrites.
    pub transport: Arc<dyn PeerTransport>,
    /// Where this one is reached, as the directory says it.
    pub address: String,
}

/// How far a request may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarding {
    /// To the owner, wherever it is.
    Anywhere,
    /// Not beyond this dendrite.
    Here,
}

/// What became of a request.
#[derive(Debug)]
pub enum Answer<T> {
    /// It was answered.
    Is(T),
    /// It was not carried out: the owner of this range is at this address.
    At(RangeId, String),
}

/// Reads and writes of a collection that is cut into ranges, some of which are owned here. Clones are the same dendrite.
/// When the last is dropped its owners stop.
#[derive(Debug, Clone)]
pub struct Dendrite {
    state: Arc<DendriteState>,
    pub(crate) patience: Duration,
}

impl Dendrite {
    /// A dendrite that owns nothing yet, in tasks of the present runtime. `config` says how owners work, but for their
    /// ranges.
    ///
    /// # Errors
    /// `Unavailable` if the directory does not answer.
    pub async fn start<A: Application + Clone + Send + Sync + 'static>(
        servers: Servers,
        membership: Membership,
        config: Config,
        application: A,
    ) -> Result<Self> {
        let table = membership.directory.table().await?;
        let state = Arc::new_cyclic(|me| {
            DendriteState::new(me.clone(), servers, membership, config, application, table)
        });
        tokio::spawn(rebalancer::run(Arc::downgrade(&state)));
        Ok(Self { state, patience: PATIENCE })
    }

    /// How long a request of this process may take that does not say so itself; 5 seconds unless set.
    #[must_use]
    pub const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How many of a hundred hits are asked for again at the store; none unless set. Where the two differ, somebody has written
    /// past the cache: nothing that the owner has cached is believed any more.
    #[must_use]
    pub fn with_verified_hits(self, percent: u8) -> Self {
        self.state.verified.set(percent);
        self
    }

    /// For whoever finds out that somebody writes past the cache.
    pub fn alarm(&self) -> Alarm {
        Alarm::of_all(Arc::downgrade(&self.state))
    }

    /// The result of a query.
    ///
    /// # Errors
    /// `InvalidInput` if the store does not understand the query or there is no such domain, `Unavailable` if nobody
    /// answers in time.
    #[doc(hidden)]
    pub async fn read(
        &self,
        query: &Query,
        within: Duration,
        forwarding: Forwarding,
    ) -> Result<Answer<Value>> {
        self.state.read(query, within, forwarding).await
    }

    /// Results of several queries, all of one moment: a row that leaves one and enters another is in one of them.
    ///
    /// # Errors
    /// As [`Dendrite::read`]; `InvalidInput` without a query.
    #[doc(hidden)]
    pub async fn read_all(
        &self,
        queries: &[Query],
        within: Duration,
        forwarding: Forwarding,
    ) -> Result<Answer<Vec<Value>>> {
        self.state.read_all(queries, within, forwarding).await
    }

    /// A lease on all ranges, for a load past the cache that takes at most `lasts` (and never more than an hour).
    ///
    /// # Errors
    /// `Unavailable` if it is not to be had in time.
    #[doc(hidden)]
    pub async fn bulk(
        &self,
        lasts: Duration,
        within: Duration,
        forwarding: Forwarding,
    ) -> Result<Answer<BulkLease>> {
        self.state.bulk(lasts, within, forwarding).await
    }

    /// Carries out a write. When it returns `Ok(Is(()))`, every later read sees it.
    ///
    /// # Errors
    /// See [`WriteError`]: refused and not done have changed nothing.
    #[doc(hidden)]
    pub async fn write(
        &self,
        write: &Write,
        within: Duration,
        forwarding: Forwarding,
    ) -> Result<Answer<()>, WriteError> {
        self.state.write(write, within, forwarding).await
    }

    /// What the owner of `range` answers to the owner of another range, if it is here.
    ///
    /// # Errors
    /// `Unavailable` if it had no answer: its tenure has ended.
    #[doc(hidden)]
    pub async fn peer(
        &self,
        range: RangeId,
        peer: PeerId,
        call: CallId,
        what: PeerCall,
    ) -> Result<PeerReply> {
        self.state.peer_here(range, peer, call, what).await
    }

    /// Where the processes are reached that may own ranges, this one among them.
    pub fn members(&self) -> Vec<String> {
        self.state.membership.directory.members()
    }

    /// The newest range table that it knows.
    pub fn table(&self) -> Arc<RangeTable> {
        self.state.table()
    }

    /// The ranges that it serves now.
    pub fn owned(&self) -> Vec<RangeId> {
        self.state
            .handles()
            .into_iter()
            .filter(|handle| self.state.serves(handle.range))
            .map(|handle| handle.range)
            .collect()
    }

    /// Has a range claimed here, if nobody has it, though nobody asks for it.
    pub fn claim(&self, range: RangeId) {
        self.state.claim(range);
    }

    /// Drains a range and gives it back; it goes to whoever the directory says, or else to whoever is asked for it next.
    pub fn leave(&self, range: RangeId) {
        self.state.leave(range);
    }

    /// What has happened since the start, over all ranges.
    pub fn counts(&self) -> Counts {
        self.state.counters.now()
    }

    /// What the application must know, from now on.
    pub fn notices(&self) -> broadcast::Receiver<Notice> {
        self.state.notices.subscribe()
    }

    /// Waits until everything acknowledged here is in the store, and gives all ranges back. Requests that come later fail.
    pub async fn stop(&self) {
        for handle in self.state.close() {
            let (reply, answer) = oneshot::channel();
            if handle.commands.send(OwnerCommand::Stop(Some(reply))).is_ok() {
                // A seat that is gone has stopped.
                let _ = answer.await;
            }
        }
    }
}
