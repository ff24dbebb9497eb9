//! A process's lease in etcd: one for all its ranges, renewed together.
//!
//! A *beat* renews the lease and then reads everything. A caller that needs to know that it still has a range
//! waits for a beat that began after its request, so that the lease is valid at least for its term from the moment
//! of the request; all callers that come meanwhile share the next beat. Thirty ranges cost two requests a beat, as
//! one does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lacuna_cache_protocol::{Error, ErrorKind, Result};
use tokio::sync::{Mutex, watch};

use crate::etcd::cluster::Cluster;
use crate::etcd::http::Failed;
use crate::etcd::kv::{Change, grant, keep_alive, read_all, revoke};
use crate::etcd::map::Map;
use crate::etcd::record::{Holder, member_key, write_address};

/// The result of a beat.
#[derive(Debug, Clone)]
pub(crate) struct Beat {
    pub(crate) lease: i64,
    pub(crate) map: Arc<Map>,
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) cluster: Cluster,
    pub(crate) prefix: String,
    pub(crate) holder: Holder,
    address: String,
    ttl_s: u64,
    begun: AtomicU64,
    /// Whether the last beat was answered.
    answers: AtomicBool,
    last: Mutex<Last>,
    seen: watch::Sender<Arc<Map>>,
}

#[derive(Debug, Default)]
struct Last {
    lease: Option<i64>,
    /// Whether the process has left, and nothing has asked for a beat since.
    has_left: bool,
    /// Number of the last finished beat, and its result.
    number: u64,
    found: Option<Result<Beat, (ErrorKind, String)>>,
}

impl Session {
    pub(crate) fn new(cluster: Cluster, prefix: String, address: String, ttl_s: u64) -> Result<Self> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| Error::unavailable(error.to_string()))?;
        let holder = Holder(u64::from_le_bytes(bytes));
        let (seen, _) = watch::channel(Arc::default());
        let (begun, answers, last) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::default());
        Ok(Self { cluster, prefix, holder, address, ttl_s, begun, answers, last, seen })
    }

    /// The newest map of any beat.
    pub(crate) fn seen(&self) -> watch::Receiver<Arc<Map>> {
        self.seen.subscribe()
    }

    /// Whether etcd has answered the last beat.
    pub(crate) fn answers(&self) -> bool {
        self.answers.load(Ordering::Relaxed)
    }

    /// The result of a beat that begins after this call. A process that has left joins again.
    pub(crate) async fn beat(&self) -> Result<Beat> {
        let begun_before = self.begun.load(Ordering::SeqCst);
        let mut last = self.last.lock().await;
        last.has_left = false;
        self.beat_after(begun_before, &mut last).await
    }

    /// The same of a process that has not left.
    pub(crate) async fn beat_if_joined(&self) -> Result<Option<Beat>> {
        let begun_before = self.begun.load(Ordering::SeqCst);
        let mut last = self.last.lock().await;
        if last.has_left { Ok(None) } else { self.beat_after(begun_before, &mut last).await.map(Some) }
    }

    async fn beat_after(&self, begun_before: u64, last: &mut Last) -> Result<Beat> {
        if last.number <= begun_before || last.found.is_none() {
            let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
            let found = self.beat_now(&mut last.lease).await;
            self.answers.store(found.is_ok(), Ordering::Relaxed);
            (last.number, last.found) = (number, Some(found));
        }
        match &last.found {
            Some(Ok(beat)) => Ok(beat.clone()),
            Some(Err((kind, message))) => Err(Error::new(*kind, message.clone())),
            None => Err(Error::unavailable("etcd was not asked")),
        }
    }

    async fn beat_now(&self, lease: &mut Option<i64>) -> Result<Beat, (ErrorKind, String)> {
        let done = async {
            let number = self.keep(lease).await?;
            let map = Arc::new(Map::of(read_all(&self.cluster, &self.prefix).await?)?);
            if !map.members().contains_key(&self.holder) {
                // The lease ended in between, or its keys were deleted.
                *lease = None;
                return Err(Error::unavailable("the lease in etcd has ended"));
            }
            drop(self.seen.send_replace(map.clone()));
            Ok(Beat { lease: number, map })
        };
        done.await.map_err(|error: Error| (error.kind(), error.to_string()))
    }

    /// A lease that is valid for its term from now.
    async fn keep(&self, lease: &mut Option<i64>) -> Result<i64> {
        if let Some(number) = *lease {
            if keep_alive(&self.cluster, number).await? {
                return Ok(number);
            }
            *lease = None;
        }
        let (number, _) = grant(&self.cluster, self.ttl_s).await?;
        let address = write_address(&self.address);
        let join = Change::below(&self.prefix).put_with(&member_key(self.holder), address.as_bytes(), number);
        join.commit(&self.cluster).await.map_err(Failed::into_error)?;
        *lease = Some(number);
        Ok(number)
    }

    /// Ends the lease, and with it every tenure of this process.
    pub(crate) async fn end(&self) -> Result<()> {
        let mut last = self.last.lock().await;
        (last.found, last.has_left) = (None, true);
        match last.lease.take() {
            Some(number) => revoke(&self.cluster, number).await,
            None => Ok(()),
        }
    }
}
