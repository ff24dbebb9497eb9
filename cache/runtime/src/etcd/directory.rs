//! Where ranges are, where they should be, and how they should be cut.
//!
//! All answers come from the last seen state, which a watch keeps fresh: while etcd is away, requests still find
//! the owner that goes on without it.

use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use lacuna_cache_protocol::ports::{Directory, Reply};
use lacuna_cache_protocol::{Advice, RangeId, RangeLoad, RangeTable, Recut};
use lacuna_cache_protocol::{Error, Result};

use crate::etcd::coordinator::EtcdCoordinator;
use crate::etcd::http::Failed;
use crate::etcd::kv::Change;
use crate::etcd::map::Map;
use crate::etcd::record::{load_key, write_load};
use crate::etcd::recutting;

/// Changes in one transaction; etcd allows 128.
const MAX_CHANGES: usize = 64;

/// How often in a row a change of the table must be the most useful before it is wished for.
const PATIENCE: u32 = 6;

/// A change of the table that was the most useful, and how often in a row.
#[derive(Debug, Default)]
pub(crate) struct Wanted(Mutex<Option<(Recut, u32)>>);

impl Wanted {
    /// Whether a change has been wanted often enough. The exact cut may vary meanwhile.
    fn is_wanted_long(&self, wanted: Option<&Recut>) -> bool {
        let mut before = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = match (&*before, wanted) {
            (Some((Recut::Split(before, ..), times)), Some(Recut::Split(range, ..))) if before == range => {
                times + 1
            }
            (Some((before, times)), Some(wanted)) if before == wanted => times + 1,
            _ => 1,
        };
        *before = wanted.map(|wanted| (wanted.clone(), times));
        let is_due = wanted.is_some() && times >= PATIENCE;
        if is_due {
            *before = None;
        }
        is_due
    }
}

/// Whether a load has changed enough to be reported: all processes read every report.
fn is_news(old: &RangeLoad, new: &RangeLoad) -> bool {
    old.requests.abs_diff(new.requests) > 8 + old.requests / 4
}

impl EtcdCoordinator {
    /// The current state of the coordinator.
    ///
    /// # Errors
    /// `Unavailable` if the majority of etcd does not answer.
    pub async fn map(&self) -> Result<Arc<Map>> {
        Ok(self.inner.session.beat().await?.map)
    }

    /// The state at its last answer; returns immediately.
    pub fn seen(&self) -> Arc<Map> {
        self.inner.session.seen().borrow().clone()
    }

    /// Waits until its state is newer than `revision`, without a time limit.
    pub async fn newer_than(&self, revision: i64) -> Arc<Map> {
        let mut seen = self.inner.session.seen();
        let newer = seen.wait_for(|map| map.revision() > revision).await;
        newer.map(|map| map.clone()).unwrap_or_default()
    }

    /// Waits until the range table is newer than `version`.
    pub async fn newer_table(&self, version: u64) -> Arc<Map> {
        let mut seen = self.inner.session.seen();
        let newer = seen.wait_for(|map| map.table().is_some_and(|table| table.version() > version)).await;
        newer.map(|map| map.clone()).unwrap_or_default()
    }

    /// Publishes the measured load of ranges of this process.
    ///
    /// # Errors
    /// `Unavailable` if etcd does not answer.
    pub async fn report(&self, loads: &[(RangeId, RangeLoad)]) -> Result<()> {
        let session = &self.inner.session;
        for some in loads.chunks(MAX_CHANGES) {
            let puts = some.iter().fold(Change::below(&session.prefix), |change, (range, load)| {
                change.put(&load_key(*range), write_load(load).as_bytes())
            });
            puts.commit(&session.cluster).await.map_err(Failed::into_error)?;
        }
        Ok(())
    }

    /// Wishes for the most useful change of the range table, if one is worth its cost: the owners of its ranges
    /// must stop ([`Map::to_stop`]), and when they have, any process executes it. See
    /// [`lacuna_cache_protocol::recut`].
    ///
    /// # Errors
    /// `Unavailable` if etcd does not answer.
    pub async fn balance(&self, hot: u64, cold: u64) -> Result<Option<Recut>> {
        let map = self.map().await?;
        let Some(table) = map.table().filter(|_| map.wish().is_none()) else { return Ok(None) };
        let Some(wish) = lacuna_cache_protocol::recut(table, &map.all_loads(), hot, cold) else {
            return Ok(None);
        };
        Ok(recutting::wish(&self.inner, &map, &wish).await?.then_some(wish))
    }

    /// Wishes for a change of the range table; `false` if there is another wish already.
    ///
    /// # Errors
    /// `Unavailable` if etcd does not answer.
    pub async fn wish(&self, wish: &Recut) -> Result<bool> {
        let map = self.map().await?;
        recutting::wish(&self.inner, &map, wish).await
    }

    /// Executes the wish if its ranges have no owner any more; the background task does so, too. Returns whether
    /// it did.
    ///
    /// # Errors
    /// `Unavailable` if etcd does not answer.
    pub async fn carry_out_wish(&self) -> Result<bool> {
        let map = self.map().await?;
        recutting::carry_out(&self.inner, &map).await
    }

    async fn tell(&self, loads: Vec<(RangeId, RangeLoad)>) -> Result<()> {
        let map = self.seen();
        let mine = |range: RangeId| map.owner(range).is_some_and(|owned| owned.holder == self.holder());
        let news: Vec<(RangeId, RangeLoad)> = loads
            .into_iter()
            .filter(|(range, load)| mine(*range) && is_news(&map.load(*range), load))
            .collect();
        if !news.is_empty() {
            self.report(&news).await?;
        }
        self.recut(&map).await
    }

    /// Only one of all processes decides whether the table should change.
    async fn recut(&self, map: &Map) -> Result<()> {
        let is_first = map.members().keys().next() == Some(&self.holder());
        let Some(table) = map.table().filter(|_| is_first && map.wish().is_none()) else { return Ok(()) };
        let wanted = map.survey().recut(table, &map.all_loads());
        if let Some(wanted) = wanted.as_ref().filter(|wanted| self.inner.wanted.is_wanted_long(Some(wanted)))
        {
            recutting::wish(&self.inner, map, wanted).await?;
        } else if wanted.is_none() {
            self.inner.wanted.is_wanted_long(None);
        }
        Ok(())
    }
}

impl Directory for EtcdCoordinator {
    fn table(&self) -> Reply<'_, Arc<RangeTable>> {
        let table = self.seen().table().cloned();
        Box::pin(ready(
            table.ok_or_else(|| Error::invalid_input("no process has stored a range table in etcd")),
        ))
    }

    /// The address of the owner, or of the process that should claim the range, so that ranges of a dead process
    /// spread by load.
    fn address(&self, range: RangeId) -> Reply<'_, Option<String>> {
        Box::pin(ready(Ok(self.seen().address(range).map(str::to_owned))))
    }

    fn report(&self, loads: &[(RangeId, RangeLoad)]) -> Reply<'_, ()> {
        Box::pin(self.tell(loads.to_vec()))
    }

    fn members(&self) -> Vec<String> {
        self.seen().members().values().cloned().collect()
    }

    fn advice(&self) -> Advice {
        let (map, me) = (self.seen(), self.holder());
        let claim = map.heritage(me);
        if !self.inner.session.answers() {
            // What is given away now would have no owner until etcd is back.
            return Advice { claim, ..Advice::default() };
        }
        Advice { claim, stop: map.to_stop(me), leave: map.to_leave(me) }
    }
}
