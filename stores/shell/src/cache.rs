//! The cache of one range, as clients use it.

use std::sync::Arc;
use std::time::Duration;

use lacuna_core::{Error, ErrorKind, Result};
use lacuna_range_cache::{
    Application, Config, Notice, Query, RangeId, ReadOutcome, Value, Write, WriteOutcome,
};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::counters::{Counters, Counts, count};
use crate::error::WriteError;
use crate::route::RouteCell;
use crate::seat::{Desk, Heard, ReadAnswer, Seat, WriteAnswer};
use crate::servers::Servers;

/// How long a client tries before it says that nobody answers.
const PATIENCE_MS: u64 = 5_000;
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);
/// How long the hit path waits for a cache server.
const HIT_TIMEOUT: Duration = Duration::from_millis(250);
/// Notices that a listener may be behind.
const NOTICES: usize = 1_024;

/// Reads and writes of one range, strongly consistent: a read returns what the last acknowledged write left.
///
/// Clones share one owner. When the last is dropped the owner stops; [`RangeCache::stop`] waits for it, and for what
/// write-back has not brought to the store yet.
#[derive(Debug, Clone)]
pub struct RangeCache {
    handle: Arc<Handle>,
}

#[derive(Debug)]
struct Handle(Arc<Desk>);

impl Drop for Handle {
    fn drop(&mut self) {
        drop(self.0.mouth.send(Heard::Stop(None)));
    }
}

impl RangeCache {
    /// Starts the owner of `range`, in a task of the present runtime.
    pub fn start<A: Application + Clone + Send + 'static>(
        servers: Servers,
        range: RangeId,
        config: Config,
        application: A,
    ) -> Self {
        let (mouth, ears) = mpsc::unbounded_channel();
        let (notices, _) = broadcast::channel(NOTICES);
        let (route, counters) = (RouteCell::default(), Counters::default());
        let desk = Arc::new(Desk { servers, range, route, counters, mouth, notices });
        tokio::spawn(Seat::new(desk.clone(), ears, config, application).run());
        Self { handle: Arc::new(Handle(desk)) }
    }

    /// Which range it is.
    pub fn range(&self) -> RangeId {
        self.desk().range
    }

    fn desk(&self) -> &Desk {
        &self.handle.0
    }

    /// The result of a query: one round trip to the cache server for a hit.
    ///
    /// # Errors
    /// `InvalidInput` if the store does not understand the query, `Unavailable` if nobody answers for five seconds.
    pub async fn read(&self, query: Query) -> Result<Value> {
        let value = match self.hit(&query).await {
            Some(value) => value,
            None => self.ask(query).await?,
        };
        count(&self.desk().counters.reads);
        Ok(value)
    }

    /// A value counts if the fence is the epoch of the route, and the route still holds now that the reply is here.
    async fn hit(&self, query: &Query) -> Option<Value> {
        let desk = self.desk();
        let route = desk.route.at(self.now_ms())?;
        count(&desk.counters.cache_calls);
        let seen = tokio::time::timeout(HIT_TIMEOUT, route.cache.get(desk.range, route.epoch, query)).await;
        let seen = seen.ok()?.ok()?.filter(|seen| seen.fence == route.epoch)?;
        let value = seen.value.filter(|_| desk.route.holds(route.epoch, self.now_ms()))?;
        count(&desk.counters.hits);
        Some(value)
    }

    async fn ask(&self, query: Query) -> Result<Value> {
        let until = self.now_ms() + PATIENCE_MS;
        loop {
            let (reply, answer) = oneshot::channel();
            let (outcome, why): ReadAnswer =
                self.say(Heard::Read(query.clone(), reply), answer, until).await?;
            let why = match outcome {
                ReadOutcome::Value(value) => return Ok(value),
                ReadOutcome::Retry => why.unwrap_or_else(nobody),
            };
            if why.kind() == ErrorKind::InvalidInput || self.now_ms() >= until {
                return Err(why);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Carries out a write. When it returns `Ok`, every later read sees it.
    ///
    /// # Errors
    /// See [`WriteError`]: refused and not done have changed nothing.
    pub async fn write(&self, write: Write) -> Result<(), WriteError> {
        let until = self.now_ms() + PATIENCE_MS;
        loop {
            if self.desk().mouth.is_closed() {
                return Err(WriteError::NotDone(stopped()));
            }
            let (reply, answer) = oneshot::channel();
            // Whoever waits no longer for a write that went out does not know what became of it.
            let said = self.say::<WriteAnswer>(Heard::Write(write.clone(), reply), answer, until).await;
            let Ok((outcome, why)) = said else { return Err(WriteError::Unknown) };
            let why = why.unwrap_or_else(nobody);
            match outcome {
                WriteOutcome::Done => {
                    count(&self.desk().counters.writes);
                    return Ok(());
                }
                WriteOutcome::Refused => return Err(WriteError::Refused(why)),
                WriteOutcome::Unknown => return Err(WriteError::Unknown),
                WriteOutcome::Retry if self.now_ms() >= until => return Err(WriteError::NotDone(why)),
                WriteOutcome::Retry => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn say<T>(&self, heard: Heard, answer: oneshot::Receiver<T>, until_ms: u64) -> Result<T> {
        self.desk().mouth.send(heard).map_err(|_| stopped())?;
        let left = Duration::from_millis(until_ms.saturating_sub(self.now_ms()) + PATIENCE_MS);
        match tokio::time::timeout(left, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(stopped()),
            Err(_) => Err(nobody()),
        }
    }

    fn now_ms(&self) -> u64 {
        self.desk().servers.clock.now_ms()
    }

    /// What has happened since the start.
    pub fn counts(&self) -> Counts {
        self.desk().counters.now()
    }

    /// What the application must know, from now on: acknowledged writes that the store refused later, for example.
    pub fn notices(&self) -> broadcast::Receiver<Notice> {
        self.desk().notices.subscribe()
    }

    /// Waits until everything acknowledged is in the store, and ends. Requests that come later fail.
    ///
    /// # Errors
    /// `Unavailable` if it had stopped before.
    pub async fn stop(&self) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        self.desk().mouth.send(Heard::Stop(Some(reply))).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())
    }
}

fn nobody() -> Error {
    Error::unavailable("nobody answers for the range: store, cache server or coordinator cannot be reached")
}

fn stopped() -> Error {
    Error::unavailable("the cache was stopped")
}
