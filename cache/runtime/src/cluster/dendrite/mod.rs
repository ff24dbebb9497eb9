//! A dendrite: the owner of many ranges of one collection, next to dendrites that own the others.
//!
//! A collection is cut into ranges by a table that a [`Directory`] keeps. A dendrite has an owner task for each
//! range that it was asked about. The task claims its range at the first request, unless the directory says that
//! another dendrite has it or should have it. The ranges of a dead dendrite are claimed as soon as its lease is
//! over, all at once, each by the dendrite that the directory names; and a dendrite that has more load than others
//! leaves ranges to them (`rebalancer.rs`).
//!
//! With the table cut at 100 and another dendrite at the upper range, a read of `90..=95` is answered here, a read
//! of `100..=110` is forwarded, and for `90..=110` the owner here takes a lease there and then asks the store for
//! the whole interval.
//!
//! Guarantee: that of the owners. The directory is a hint: a request that reaches the wrong dendrite is refused
//! there.
//!
//! Cost: for owned ranges, that of their owner tasks; for others, one look at the directory in [`KNOWN_MS`] and
//! one forward.
//!
//! Report, section 3. Here ranges are claimed on demand, and owners in one process talk like owners in different
//! ones.

mod dendrite_state;
mod rebalancer;
mod request;
mod requests;
mod several;

use std::sync::Arc;
use std::time::Duration;

use lacuna_cache_protocol::ports::Directory;
use lacuna_cache_protocol::{
    Application, CallId, Config, Notice, PeerCall, PeerId, PeerReply, Query, RangeId, RangeTable, Value,
    Write,
};
use lacuna_cache_protocol::{Error, Result};
use tokio::sync::{broadcast, oneshot};
use tracing::Instrument as _;

use crate::cluster::peer_transport::PeerTransport;
use crate::owner::RangeGauges;
use crate::owner::alarm::Alarm;
use crate::owner::counters::Counts;
use crate::owner::error::WriteError;
use crate::owner::open_lease::OpenLease;
use crate::owner::owner_handle::{OwnerCommand, OwnerHandle};
use crate::owner::requests::PATIENCE;
use crate::owner::servers::Servers;
pub(crate) use dendrite_state::DendriteState;

/// How long a dendrite uses an answer of the directory about a range.
const KNOWN_MS: u64 = 300;

/// How a dendrite finds others and is found by them.
#[derive(Debug, Clone)]
pub struct Membership {
    /// The ranges and their owners.
    pub directory: Arc<dyn Directory>,
    /// Carries messages to other dendrites.
    pub transport: Arc<dyn PeerTransport>,
    /// The address of this dendrite, as the directory gives it.
    pub address: String,
}

/// How far a request may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarding {
    /// To the owner, wherever it is.
    Anywhere,
    /// Not beyond this dendrite: the caller is redirected.
    Here,
}

/// The outcome of a request.
#[derive(Debug)]
pub enum Answer<T> {
    /// It was answered.
    Is(T),
    /// It was not executed: the owner of this range is at this address.
    At(RangeId, String),
}

/// Reads and writes of a collection that is cut into ranges, some of which are owned here. Clones are the same
/// dendrite. When the last is dropped its owners stop.
#[derive(Debug, Clone)]
pub struct Dendrite {
    state: Arc<DendriteState>,
    pub(crate) patience: Duration,
}

impl Dendrite {
    /// A dendrite that owns nothing yet, in tasks of the present runtime. `config` is the settings of its owners,
    /// except for their ranges.
    ///
    /// # Errors
    /// `Unavailable` if the directory does not answer, `InvalidInput` if its table has another number of domains, and as
    /// [`Config::check`].
    pub async fn start<A: Application + Clone + Send + Sync + 'static>(
        servers: Servers,
        membership: Membership,
        config: Config,
        application: A,
    ) -> Result<Self> {
        config.check()?;
        let table = membership.directory.table().await?;
        let (cut, registered) = (table.domain_count(), config.domain_count);
        if cut != registered {
            return Err(Error::invalid_input(format!(
                "the range table has {cut} domains, the owners of a dendrite {registered}"
            )));
        }
        membership.transport.register(table.marks());
        let state = Arc::new_cyclic(|me| {
            DendriteState::new(me.clone(), servers, membership, config, application, table)
        });
        tokio::spawn(rebalancer::run(Arc::downgrade(&state)).in_current_span());
        Ok(Self { state, patience: PATIENCE })
    }

    /// Sets how long a request of this process may take if it does not say so; 5 seconds by default.
    #[must_use]
    pub(crate) const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the percentage of hits that are verified against the store; none by default. If the two differ, a
    /// foreign write went past the cache: the owner drops all cached entries.
    #[must_use]
    pub(crate) fn with_verified_hits(self, percent: u8) -> Self {
        self.state.verified.set(percent);
        self
    }

    /// The alarm, for code that notices a foreign write past the cache.
    pub fn alarm(&self) -> Alarm {
        Alarm::of_all(Arc::downgrade(&self.state))
    }

    /// The result of a query.
    ///
    /// # Errors
    /// `InvalidInput` if the store does not understand the query or there is no such domain, `Unavailable` if
    /// there is no answer in time.
    #[doc(hidden)]
    pub async fn read(
        &self,
        query: &Query,
        within: Duration,
        forwarding: Forwarding,
    ) -> Result<Answer<Value>> {
        self.state.read(query, within, forwarding).await
    }

    /// Results of several queries, all of one moment: a row that moves from one to another in between is in
    /// exactly one.
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

    /// A lease on what a write would touch, for a caller that reads and writes at the store directly, for at most
    /// `lasts` (and never more than two hours). The command only says whose numbers of domains these are.
    ///
    /// # Errors
    /// `Unavailable` if it is not granted in time.
    #[doc(hidden)]
    pub async fn hold(
        &self,
        held: &Write,
        lasts: Duration,
        within: Duration,
        forwarding: Forwarding,
    ) -> Result<Answer<OpenLease>> {
        self.state.hold(held, lasts, within, forwarding).await
    }

    /// Executes a write. When it returns `Ok(Is(()))`, every later read sees it.
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

    /// Passes the call of the owner of another range to the owner of `range`, if that is here, and returns its
    /// reply.
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

    /// The addresses of the processes that may own ranges, including this one.
    pub(crate) fn members(&self) -> Vec<String> {
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

    /// What each of these ranges held at the last report of its load, which is made twice a second.
    pub fn gauges(&self) -> Vec<RangeGauges> {
        let handles = self.state.handles().into_iter().filter(|handle| self.state.serves(handle.range));
        handles.map(|handle| handle.gauges.of(handle.range)).collect()
    }

    /// Claims a range here, if it has no owner, without a request for it.
    pub fn claim(&self, range: RangeId) {
        self.state.claim(range);
    }

    /// Drains a range and releases it; the dendrite that the directory names claims it, or else the next that gets
    /// a request.
    pub fn leave(&self, range: RangeId) {
        self.state.leave(range);
    }

    /// Counters since the start, over all ranges.
    pub fn counts(&self) -> Counts {
        self.state.counters.now()
    }

    /// Notices for the application, from now on.
    pub fn notices(&self) -> broadcast::Receiver<Notice> {
        self.state.notices.subscribe()
    }

    /// Waits until every acknowledged write is in the store, and releases all ranges. Later requests fail.
    ///
    /// # Errors
    /// `Unavailable` if the store could not take all of them for at least 5 seconds: then they stay in the logs.
    pub async fn stop(&self) -> Result<()> {
        let stop = |handle: Arc<OwnerHandle>| {
            let (reply, answer) = oneshot::channel();
            drop(handle.commands.send(OwnerCommand::Stop(Some(reply))));
            answer
        };
        let answers: Vec<_> = self.state.close().into_iter().map(stop).collect();
        let mut stopped = Ok(());
        for answer in answers {
            // An owner task that has ended needs no stop.
            stopped = stopped.and(answer.await.unwrap_or(Ok(())));
        }
        stopped
    }
}
