//! Which process may cache a collection: a document names the holder, and counts renewals.
//!
//! As in `table_lease.rs` of the SQL store, a process that waits for another's lease watches the count by its own
//! clock, so that no two clocks are compared. A change of a single document is atomic here, too, so the lack of
//! transactions does no harm.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lacuna_cache_protocol::ports::{Clock, Coordinator, Reply, Tenure};
use lacuna_cache_protocol::{Epoch, RangeId};
use lacuna_cache_protocol::{Error, Result};
use mongodb::bson::{Document, doc};
use mongodb::{Collection, Database};

use crate::mongodb::failure::error_of;
use crate::mongodb::fence::{Fences, number};

/// How long a holder serves without a renewal.
const LEASE_MS: u64 = 3_000;
/// How long others wait before they take over; longer than a lease.
const PATIENCE_MS: u64 = 4_000;
const NOBODY: i64 = 0;

#[derive(Debug)]
pub(crate) struct Leases {
    documents: Collection<Document>,
    fences: Fences,
    clock: Arc<dyn Clock>,
    /// The number of this process; no other has the same.
    holder: i64,
    cache_count: usize,
    watched: Mutex<BTreeMap<RangeId, Watch>>,
}

/// The known state of a range.
#[derive(Debug, Default)]
struct Watch {
    /// The count of another process, and since when it has not moved.
    beat: Option<(i64, u64)>,
    /// How many cache servers of the range were lost.
    moves: usize,
}

impl Leases {
    pub(crate) fn new(database: &Database, clock: Arc<dyn Clock>, cache_count: usize) -> Result<Self> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| Error::unavailable(error.to_string()))?;
        Ok(Self {
            documents: database.collection("lacuna_lease"),
            fences: Fences::new(database),
            clock,
            holder: i64::from_le_bytes(bytes) | 1,
            cache_count,
            watched: Mutex::default(),
        })
    }

    async fn claim_now(&self, range: RangeId, lost_cache: Option<usize>) -> Result<Option<Tenure>> {
        let name = i64::from(range.0);
        let Some(found) = self.documents.find_one(doc! { "_id": name }).await.map_err(error_of)? else {
            let free = doc! { "_id": name, "holder": NOBODY, "beat": 0i64, "epoch": 0i64 };
            // Another process may win the race.
            drop(self.documents.insert_one(free).await);
            return Ok(None);
        };
        let field = |field| number(&found, field).unwrap_or(0);
        let (holder, beat, epoch) = (field("holder"), field("beat"), field("epoch"));
        if holder != NOBODY && holder != self.holder && !self.is_gone(range, beat) {
            return Ok(None);
        }
        // The fence may be ahead of the lease, if the lease was restored from a copy.
        let next = Epoch(self.fences.largest().await?.0.max(epoch.cast_unsigned()) + 1);
        let seen = doc! { "_id": name, "beat": beat, "epoch": epoch };
        let set = doc! { "beat": beat + 1, "holder": self.holder, "epoch": next.0.cast_signed() };
        let is_ours = self.changes(seen, set).await?;
        let cache = self.cache(range, lost_cache);
        // Entries of the previous tenure are not taken over: a late write of it may have passed the fence.
        let (before, lease_ms) = (None, Some(LEASE_MS));
        Ok(is_ours.then_some(Tenure { epoch: next, cache, serve_after_ms: 0, before, lease_ms, table: None }))
    }

    /// Whether a count has not moved for longer than a lease.
    fn is_gone(&self, range: RangeId, beat: i64) -> bool {
        let now = self.clock.now_ms();
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let watch = watched.entry(range).or_default();
        let (seen, since) = watch.beat.filter(|(seen, _)| *seen == beat).unwrap_or((beat, now));
        watch.beat = Some((seen, since));
        now - since >= PATIENCE_MS
    }

    /// The cache server of a range: the next one if its own was lost.
    fn cache(&self, range: RangeId, lost: Option<usize>) -> usize {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let watch = watched.entry(range).or_default();
        let place = |moves: usize| (range.0 as usize + moves) % self.cache_count;
        watch.moves += usize::from(lost == Some(place(watch.moves)));
        place(watch.moves)
    }

    async fn changes(&self, seen: Document, set: Document) -> Result<bool> {
        let changed = self.documents.update_one(seen, doc! { "$set": set }).await.map_err(error_of)?;
        Ok(changed.matched_count == 1)
    }

    fn ours(&self, range: RangeId, epoch: Epoch) -> Document {
        doc! { "_id": i64::from(range.0), "holder": self.holder, "epoch": epoch.0.cast_signed() }
    }
}

impl Coordinator for Leases {
    fn claim(&self, range: RangeId, lost_cache: Option<usize>) -> Reply<'_, Option<Tenure>> {
        Box::pin(self.claim_now(range, lost_cache))
    }

    fn renew(&self, range: RangeId, epoch: Epoch) -> Reply<'_, bool> {
        Box::pin(async move {
            let beat = doc! { "$inc": { "beat": 1i64 } };
            let renewed = self.documents.update_one(self.ours(range, epoch), beat).await.map_err(error_of)?;
            Ok(renewed.matched_count == 1)
        })
    }

    fn release(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        Box::pin(
            async move { self.changes(self.ours(range, epoch), doc! { "holder": NOBODY }).await.map(|_| ()) },
        )
    }
}
