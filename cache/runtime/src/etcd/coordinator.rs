//! Claims, renewals and releases.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::{Coordinator, Reply, Tenure};
use lacuna_cache_protocol::{Epoch, RangeId, RangeTable};

use crate::etcd::background;
use crate::etcd::directory::Wanted;
use crate::etcd::http::Failed;
use crate::etcd::kv::Change;
use crate::etcd::map::Map;
use crate::etcd::options::EtcdOptions;
use crate::etcd::record::{Holder, Owned, RangeRecord, TABLE, owner_key, range_key};
use crate::etcd::session::{Beat, Session};

/// Epochs of one claim: the first is that of the tenure, the others are for tenures that go past the cache.
/// Each attempt takes one, every half second while the database is away, too: enough for a day and a half.
const EPOCHS: u64 = 1 << 18;

/// Ranges leased through etcd: to one process at a time, with ascending epochs.
///
/// It cannot be cloned, but can be shared in an `Arc`: others see it as one process. Made by
/// [`EtcdOptions::open`].
#[derive(Debug)]
pub struct EtcdCoordinator {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) session: Session,
    pub(crate) options: EtcdOptions,
    pub(crate) wanted: Wanted,
    held: Mutex<BTreeMap<RangeId, Held>>,
}

/// A range whose last known owner is this process.
#[derive(Debug, Clone, Copy)]
struct Held {
    epoch: Epoch,
    /// The newest epoch of this claim that was granted.
    newest: Epoch,
    /// Until when routes of the tenure may be used, by the local clock.
    routes_until_ms: u64,
    /// Until when routes to another cache server may be used.
    moved_until_ms: u64,
}

impl EtcdCoordinator {
    pub(crate) async fn join(
        session: Session,
        options: EtcdOptions,
        table: Option<RangeTable>,
    ) -> Result<Self> {
        let inner = Arc::new(Inner { session, options, wanted: Wanted::default(), held: Mutex::default() });
        let beat = inner.session.beat().await?;
        if let Some(table) = table.filter(|_| beat.map.table().is_none()) {
            let session = &inner.session;
            let first = Change::below(&session.prefix).if_same(TABLE, &beat.map.seen);
            // Another process may win the race.
            first.put(TABLE, &table.to_bytes()).commit(&session.cluster).await.map_err(Failed::into_error)?;
            session.beat().await?;
        }
        tokio::spawn(background::run(Arc::downgrade(&inner)));
        Ok(Self { inner })
    }

    /// The number of this process.
    pub fn holder(&self) -> Holder {
        self.inner.session.holder
    }

    /// Leaves at once: other processes may claim the ranges of this one. Stop the owners first. A later claim joins again.
    ///
    /// # Errors
    /// `Unavailable` if etcd does not answer: the lease then has to run out.
    pub async fn leave(&self) -> Result<()> {
        self.inner.session.end().await
    }
}

impl Inner {
    fn held(&self) -> MutexGuard<'_, BTreeMap<RangeId, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn claim(&self, range: RangeId, lost_cache: Option<usize>) -> Result<Option<Tenure>> {
        match self.session.beat().await {
            Ok(beat) => self.claim_after(&beat, range, lost_cache).await,
            Err(error) => self.go_past_the_cache(range).map_or(Err(error), |tenure| Ok(Some(tenure))),
        }
    }

    async fn claim_after(
        &self,
        beat: &Beat,
        range: RangeId,
        lost_cache: Option<usize>,
    ) -> Result<Option<Tenure>> {
        let (map, me) = (&beat.map, self.session.holder);
        let asked_ms = self.options.clock.now_ms();
        let owner = map.owner(range);
        let is_of_table = map.table().is_none_or(|table| table.ranges().contains(&range));
        if owner.is_some_and(|owned| owned.holder != me) || map.is_kept_free(range) || !is_of_table {
            self.held().remove(&range);
            return Ok(None);
        }
        let before = map.records.get(&range).copied();
        let epoch = self.next_epoch(before).await?;
        let (cache, moved_ms) = self.place(range, map, before, lost_cache);
        let record = RangeRecord { epoch, cache, routes_ms: moved_ms, is_free: false };
        if !self.grant(beat, range, record).await? {
            return Ok(None);
        }
        let lease_ms = self.options.lease_ms();
        let routes_until_ms = asked_ms + lease_ms;
        let moved_until_ms = asked_ms + moved_ms;
        self.held().insert(range, Held { epoch, newest: epoch, routes_until_ms, moved_until_ms });
        let before = before.map(|record| record.epoch);
        let (lease_ms, table) = (Some(lease_ms), map.table().cloned());
        Ok(Some(Tenure { epoch, cache, serve_after_ms: moved_ms, before, lease_ms, table }))
    }

    /// Larger than every epoch of former claims, as recorded by etcd and by the store.
    async fn next_epoch(&self, before: Option<RangeRecord>) -> Result<Epoch> {
        let fenced = match &self.options.store {
            Some(store) => store.largest_epoch().await?.0,
            None => 0,
        };
        let claimed = before.map_or(0, |record| record.epoch.0);
        Ok(Epoch((claimed.max(fenced) / EPOCHS + 1) * EPOCHS))
    }

    /// The cache server of the next tenure, and how long routes to another may still be used (P11).
    fn place(
        &self,
        range: RangeId,
        map: &Map,
        before: Option<RangeRecord>,
        lost_cache: Option<usize>,
    ) -> (usize, u64) {
        let count = self.options.cache_count;
        let Some(before) = before else { return (range.0 as usize % count, 0) };
        let has_to_move = lost_cache == Some(before.cache) || before.cache >= count;
        let cache = if has_to_move { (before.cache + 1) % count } else { before.cache };
        if cache != before.cache {
            // A missing lease proves nothing: it may have been revoked without its holder knowing.
            return (cache, self.options.lease_ms());
        }
        let is_ours = map.owner(range).is_some();
        let now = self.options.clock.now_ms();
        // Of a later claim, whose answer was lost, only the record tells how long routes may be used.
        let is_of_record = |held: &&Held| is_ours && held.epoch == before.epoch;
        let held = self.held().get(&range).filter(is_of_record).map(|held| held.moved_until_ms);
        (cache, held.map_or(before.routes_ms, |until| until.saturating_sub(now)))
    }

    /// Whether everything that the claim depends on is unchanged.
    async fn grant(&self, beat: &Beat, range: RangeId, record: RangeRecord) -> Result<bool> {
        let seen = &beat.map.seen;
        let owned = Owned { holder: self.session.holder, epoch: record.epoch, cache: record.cache };
        let (range, owner) = (range_key(range), owner_key(range));
        let change = [&*range, &*owner, TABLE, crate::etcd::record::WISH]
            .into_iter()
            .fold(Change::below(&self.session.prefix), |change, key| change.if_same(key, seen));
        let change = change.put(&range, record.write().as_bytes());
        let change = change.put_with(&owner, owned.write().as_bytes(), beat.lease);
        change.commit(&self.session.cluster).await.map_err(Failed::into_error)
    }

    /// A tenure that needs no coordinator: its epoch belongs to the last claim of this process, and the store
    /// refuses it as soon as a newer owner has begun. It starts when no route to the cache server is left (P11).
    fn go_past_the_cache(&self, range: RangeId) -> Option<Tenure> {
        if !self.options.goes_past_the_cache {
            return None;
        }
        let now = self.options.clock.now_ms();
        let mut all = self.held();
        let held = all.get_mut(&range).filter(|held| held.newest.0 + 1 < held.epoch.0 + EPOCHS)?;
        held.newest.0 += 1;
        let serve_after_ms = held.routes_until_ms.max(held.moved_until_ms).saturating_sub(now);
        // Not backed by a lease: this is only how often etcd is tried, which takes a third of a lease when it is away.
        let lease_ms = Some(2 * self.options.lease_ms());
        let (epoch, cache) = (held.newest, usize::MAX);
        Some(Tenure { epoch, cache, serve_after_ms, before: None, lease_ms, table: None })
    }

    async fn renew(&self, range: RangeId, epoch: Epoch) -> Result<bool> {
        let beat = self.session.beat().await;
        let held = self.held().get(&range).copied().filter(|held| held.newest == epoch);
        let Some(held) = held else { return Ok(false) };
        if epoch != held.epoch {
            // This tenure goes past the cache. Once etcd answers its owner ends it in order, unless another has the range.
            let owner = beat.ok().and_then(|beat| beat.map.owner(range));
            return Ok(owner.is_none_or(|owned| owned.holder == self.session.holder));
        }
        let beat = beat?;
        let owned = beat.map.owner(range).filter(|owned| owned.epoch == epoch);
        let lease = beat.map.seen.keys.get(&owner_key(range)).map(|kept| kept.lease);
        let is_ours =
            owned.is_some_and(|owned| owned.holder == self.session.holder) && lease == Some(beat.lease);
        if is_ours {
            let now = self.options.clock.now_ms();
            if let Some(held) = self.held().get_mut(&range).filter(|held| held.newest == epoch) {
                held.routes_until_ms = now + self.options.lease_ms();
            }
            if held.moved_until_ms <= now {
                self.settle(&beat, range).await;
            }
        }
        Ok(is_ours)
    }

    /// Routes to the former cache server are over: the next owner need not wait for them.
    async fn settle(&self, beat: &Beat, range: RangeId) {
        let record = beat.map.records.get(&range).filter(|record| record.routes_ms > 0);
        let Some(record) = record else { return };
        let (key, owner, seen) = (range_key(range), owner_key(range), &beat.map.seen);
        let settled = RangeRecord { routes_ms: 0, ..*record };
        let change = Change::below(&self.session.prefix).if_same(&key, seen).if_same(&owner, seen);
        // The next renewal tries again.
        drop(change.put(&key, settled.write().as_bytes()).commit(&self.session.cluster).await);
    }

    async fn release(&self, range: RangeId, epoch: Epoch) -> Result<()> {
        let held = self.held().get(&range).copied().filter(|held| held.newest == epoch);
        let Some(held) = held else { return Ok(()) };
        // Without etcd the range stays held: it may still be served past the cache.
        let map = self.session.beat().await?.map;
        self.held().remove(&range);
        let Some(owned) = map.owner(range).filter(|owned| owned.holder == self.session.holder) else {
            return Ok(());
        };
        let routes_ms = held.moved_until_ms.saturating_sub(self.options.clock.now_ms());
        let record = RangeRecord { epoch: owned.epoch, cache: owned.cache, routes_ms, is_free: true };
        let (range, owner) = (range_key(range), owner_key(range));
        let change = Change::below(&self.session.prefix).if_same(&owner, &map.seen).delete(&owner);
        let change = change.put(&range, record.write().as_bytes());
        change.commit(&self.session.cluster).await.map_err(Failed::into_error)?;
        // From now on every request sees that the range has no owner.
        self.session.beat().await.map(drop)
    }
}

impl Coordinator for EtcdCoordinator {
    fn claim(&self, range: RangeId, lost_cache: Option<usize>) -> Reply<'_, Option<Tenure>> {
        Box::pin(self.inner.claim(range, lost_cache))
    }

    fn renew(&self, range: RangeId, epoch: Epoch) -> Reply<'_, bool> {
        Box::pin(self.inner.renew(range, epoch))
    }

    fn has_cache_again(&self, range: RangeId, epoch: Epoch) -> bool {
        let held = self.inner.held().get(&range).copied();
        let is_past_the_cache = held.is_some_and(|held| held.newest == epoch && epoch != held.epoch);
        is_past_the_cache && self.inner.session.answers()
    }

    fn release(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        Box::pin(self.inner.release(range, epoch))
    }
}
