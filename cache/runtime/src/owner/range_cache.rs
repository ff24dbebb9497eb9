//! The cache of one range, as clients use it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use lacuna_cache_protocol::{
    Application, Config, DomainId, Notice, Query, RangeId, ReadOutcome, Value, Write, WriteOutcome,
};
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use tokio::sync::{broadcast, mpsc, oneshot};
use tracing::{Instrument as _, info_span};

use crate::owner::alarm::Alarm;
use crate::owner::counters::{Counts, count};
use crate::owner::error::{WriteError, cache_stopped, no_owner};
use crate::owner::gauges::{Gauges, RangeGauges};
use crate::owner::measured_sizes::MeasuredSizes;
use crate::owner::open_lease::OpenLease;
use crate::owner::owner_handle::{Hit, NoPeers, OwnerCommand, OwnerHandle};
use crate::owner::owner_task::{Claims, OwnerTask};
use crate::owner::requests::PATIENCE;
use crate::owner::route::RouteCell;
use crate::owner::servers::Servers;

/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(5);
/// Notices that a listener may lag before it misses some.
pub(crate) const NOTICES: usize = 1_024;

/// Reads and writes of one range, strongly consistent: a read returns the state after the last acknowledged write.
///
/// Clones share one owner. When the last is dropped the owner stops; [`RangeCache::stop`] waits for it, and until
/// all writes buffered by write-back are in the store.
#[derive(Debug, Clone)]
pub struct RangeCache {
    handle: Arc<Handle>,
    domain_count: usize,
    patience: Duration,
}

#[derive(Debug)]
struct Handle(Arc<OwnerHandle>);

impl Drop for Handle {
    fn drop(&mut self) {
        drop(self.0.commands.send(OwnerCommand::Stop(None)));
    }
}

impl RangeCache {
    /// Starts the owner of `range`, in a task of the present runtime.
    ///
    /// # Errors
    /// As [`Config::check`].
    pub fn start<A: Application + Clone + Send + Sync + 'static>(
        servers: Servers,
        range: RangeId,
        config: Config,
        application: A,
    ) -> Result<Self> {
        config.check()?;
        Ok(Self::begin(servers, range, config, application, false))
    }

    /// The same; `begins_cold`: what an earlier owner has left in the cache server may be wrong, and is not taken over.
    pub(crate) fn begin<A: Application + Clone + Send + Sync + 'static>(
        servers: Servers,
        range: RangeId,
        config: Config,
        application: A,
        begins_cold: bool,
    ) -> Self {
        let (commands, inbox) = mpsc::unbounded_channel();
        let (notices, _) = broadcast::channel(NOTICES);
        let (route, counters, peers) = (RouteCell::default(), Arc::default(), Arc::new(NoPeers));
        let (unseen, untold, verified) = (AtomicU64::default(), AtomicU64::default(), Arc::default());
        let domain_count = config.domain_count;
        let owner = Arc::new(OwnerHandle {
            servers,
            range,
            peers,
            application: Arc::new(application.clone()),
            route,
            counters,
            unseen,
            untold,
            gauges: Gauges::default(),
            verified,
            sizes: MeasuredSizes::new(config.learns_size),
            commands,
            notices,
        });
        let task = OwnerTask::new(owner.clone(), inbox, config, application, Claims::Always, begins_cold);
        tokio::spawn(task.run().instrument(info_span!("range", range = range.0)));
        Self { handle: Arc::new(Handle(owner)), domain_count, patience: PATIENCE }
    }

    /// Sets how long a request is tried before it fails; 5 seconds by default. The owner of the range has as long
    /// again to answer the last try.
    #[must_use]
    pub(crate) const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the percentage of hits that are verified against the store; none by default. If the two differ, a
    /// foreign write went past the cache: all cached entries are dropped.
    #[must_use]
    pub(crate) fn with_verified_hits(self, percent: u8) -> Self {
        self.owner().verified.set(percent);
        self
    }

    /// The alarm, for code that notices a foreign write past the cache.
    pub(crate) fn alarm(&self) -> Alarm {
        Alarm::of_one(&self.owner().commands)
    }

    /// The number of its range.
    pub(crate) fn range(&self) -> RangeId {
        self.owner().range
    }

    fn owner(&self) -> &OwnerHandle {
        &self.handle.0
    }

    /// # Errors
    /// `InvalidInput` for a domain that there is not: what the owner keeps of each is found by its number.
    fn check(&self, mut domains: impl Iterator<Item = DomainId>) -> Result<()> {
        match domains.find(|domain| *domain >= self.domain_count) {
            Some(domain) => Err(Error::invalid_input(format!("the cache has no domain {domain}"))),
            None => Ok(()),
        }
    }

    /// The result of a query: one round trip to the cache server for a hit.
    ///
    /// # Errors
    /// `InvalidInput` if the store does not understand the query or there is no such domain, `Unavailable` if there is no answer in
    /// time.
    pub async fn read(&self, query: Query) -> Result<Value> {
        self.check(std::iter::once(query.domain))?;
        let value = match self.owner().hit(&query).await {
            Hit::Is(value) => value,
            Hit::InDoubt => self.ask(query, true).await?,
            Hit::PartInDoubt(part) => {
                self.ask(part, true).await?;
                self.ask(query, false).await?
            }
            Hit::Miss => self.ask(query, false).await?,
        };
        count(&self.owner().counters.reads);
        Ok(value)
    }

    async fn ask(&self, query: Query, is_in_doubt: bool) -> Result<Value> {
        let until = self.until();
        loop {
            let answered = self.owner().read(query.clone(), is_in_doubt, self.left(until)).await?;
            let why = match answered.outcome {
                ReadOutcome::Value(value) => return Ok(value),
                ReadOutcome::Retry => answered.why.unwrap_or_else(no_owner),
            };
            self.pause(until, why).await?;
        }
    }

    /// Executes a write. When it returns `Ok`, every later read sees it.
    ///
    /// # Errors
    /// See [`WriteError`]: refused and not done have changed nothing.
    pub(crate) async fn write(&self, write: Write) -> Result<(), WriteError> {
        self.check(write.touched.iter().map(|(domain, _)| *domain))?;
        let until = self.until();
        loop {
            if self.owner().commands.is_closed() {
                return Err(WriteError::NotDone(cache_stopped()));
            }
            // A write that was sent and is no longer waited for has an unknown outcome.
            let said = self.owner().write(write.clone(), self.left(until)).await;
            let Ok(answered) = said else { return Err(WriteError::Unknown) };
            let why = answered.why.unwrap_or_else(no_owner);
            match answered.outcome {
                WriteOutcome::Done => {
                    count(&self.owner().counters.writes);
                    return Ok(());
                }
                WriteOutcome::Refused => return Err(WriteError::Refused(why)),
                WriteOutcome::Unknown => return Err(WriteError::Unknown),
                WriteOutcome::Retry if self.owner().now_ms() >= until => {
                    return Err(WriteError::NotDone(why));
                }
                WriteOutcome::Retry => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Results of several queries, all of one moment: a row that moves from one to another in between is in
    /// exactly one.
    ///
    /// # Errors
    /// As [`RangeCache::read`].
    pub(crate) async fn read_all(&self, queries: Vec<Query>) -> Result<Vec<Value>> {
        self.check(queries.iter().map(|query| query.domain))?;
        let until = self.until();
        loop {
            let answered = self.owner().read_all(queries.clone(), self.left(until)).await?;
            if let Some(values) = answered.outcome {
                count(&self.owner().counters.reads);
                return Ok(values);
            }
            self.pause(until, answered.why.unwrap_or_else(no_owner)).await?;
        }
    }

    /// A lease on what a write would touch, for a caller that reads and writes at the store directly, for at most
    /// `lasts` (and never more than two hours). The command only says whose numbers of domains these are.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such domain, `Unavailable` if it is not granted in time.
    pub(crate) async fn hold(&self, held: Write, lasts: Duration) -> Result<OpenLease> {
        self.check(held.touched.iter().map(|(domain, _)| *domain))?;
        let until = self.until();
        loop {
            let answered = self.owner().hold(held.clone(), lasts, self.left(until)).await?;
            if let Some(lease) = answered.outcome {
                return Ok(lease);
            }
            self.pause(until, answered.why.unwrap_or_else(no_owner)).await?;
        }
    }

    /// Pauses before the next try; an error if there is no time for one.
    async fn pause(&self, until: u64, why: Error) -> Result<()> {
        if why.kind() == ErrorKind::InvalidInput || self.owner().now_ms() >= until {
            return Err(why);
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }

    fn until(&self) -> u64 {
        self.owner().now_ms().saturating_add(u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX))
    }

    /// How long to wait for the owner task, which answers every request in the end.
    fn left(&self, until_ms: u64) -> Duration {
        Duration::from_millis(until_ms.saturating_sub(self.owner().now_ms())).saturating_add(self.patience)
    }

    /// Counters since the start.
    pub fn counts(&self) -> Counts {
        self.owner().counters.now()
    }

    /// What the range holds now.
    ///
    /// # Errors
    /// `Unavailable` if it has stopped.
    pub async fn gauges(&self) -> Result<RangeGauges> {
        let (reply, answer) = oneshot::channel();
        self.owner().commands.send(OwnerCommand::Load(reply)).map_err(|_| cache_stopped())?;
        answer.await.map_err(|_| cache_stopped())?;
        Ok(self.owner().gauges.of(self.range()))
    }

    /// Notices for the application, from now on: acknowledged writes that the store refused later, for example.
    pub(crate) fn notices(&self) -> broadcast::Receiver<Notice> {
        self.owner().notices.subscribe()
    }

    /// Waits until every acknowledged write is in the store, and ends. Later requests fail.
    ///
    /// # Errors
    /// `Unavailable` if it had stopped before, or if the store could not take all of them for at least 5 seconds: then they stay in
    /// the logs.
    pub async fn stop(&self) -> Result<()> {
        self.begin_to_stop().await
    }

    /// The same, begun at once: several caches stop together.
    pub(crate) fn begin_to_stop(&self) -> impl Future<Output = Result<()>> + use<> {
        let (reply, answer) = oneshot::channel();
        // Without an owner there is no answer either.
        drop(self.owner().commands.send(OwnerCommand::Stop(Some(reply))));
        async { answer.await.map_err(|_| cache_stopped())? }
    }
}
