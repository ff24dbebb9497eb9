//! A cache server in the memory of this process, with a limit of bytes.
//!
//! When the limit is exceeded, entries that were not read since the clock hand last passed them are evicted first
//! ("second chance"), so that a hit only sets a flag. Values are shared, not copied: a hit costs one hash look-up
//! and a counter.
//!
//! Guarantee: that of [`crate::CacheModel`].

use std::collections::{BTreeMap, VecDeque};
use std::future::ready;
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use super::region::Region;
use crate::cache_model::RangeId;
use crate::call::{CacheCall, CacheReply};
use crate::message::Epoch;
use crate::ports::{CacheServer, Reply, Seen, SeenTogether};
use crate::query::Query;

/// Keeps results up to a limit of bytes.
///
/// ```
/// use lacuna_cache_protocol::embedded::MemoryCache;
/// use lacuna_cache_protocol::{CacheCall, CacheReply, Epoch, Interval, Query, RangeId, Session, Value};
///
/// let cache = MemoryCache::new(1 << 20);
/// let young = Query::all(0, Interval::closed(18.into(), 22.into()).expect("18 <= 22"));
/// let call = |call| cache.run(RangeId(0), Epoch(1), call);
/// assert_eq!(call(CacheCall::Fence), CacheReply::Done);
/// assert_eq!(call(CacheCall::Lookup(young.clone(), Session(1))), CacheReply::Leased);
/// assert_eq!(cache.see(RangeId(0), &young).expect("it was fenced").value, None);
/// ```
#[derive(Debug)]
pub struct MemoryCache {
    state: RwLock<State>,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    ranges: BTreeMap<RangeId, Region>,
    /// Entries in the order of the clock's hand. Some may be gone.
    clock: VecDeque<(RangeId, Query)>,
    bytes: usize,
}

impl MemoryCache {
    /// A server that keeps at most `max_bytes` of entries. With 0 it keeps nothing, and every lookup is a miss.
    pub fn new(max_bytes: usize) -> Self {
        Self { state: RwLock::default(), max_bytes }
    }

    /// Fence and value, as [`CacheServer::get`].
    pub fn see(&self, range: RangeId, query: &Query) -> Option<Seen> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let region = state.ranges.get(&range)?;
        Some(Seen { fence: region.fence, value: region.get(query) })
    }

    /// Fence and values of one moment, as [`CacheServer::get_together`].
    pub fn see_together(&self, range: RangeId, queries: &[Query]) -> Option<SeenTogether> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let region = state.ranges.get(&range)?;
        let values = queries.iter().map(|query| region.get(query)).collect();
        Some(SeenTogether { fence: region.fence, values })
    }

    /// Runs a script, as [`CacheServer::call`].
    pub fn run(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> CacheReply {
        let mut state = self.write();
        match call {
            CacheCall::Fence => return state.raise_fence(range, epoch),
            CacheCall::TakeOver(_) => return state.take_over(range, epoch),
            _ => {}
        }
        let largest = self.max_bytes;
        let Some(region) = state.ranges.get_mut(&range).filter(|region| region.fence == epoch) else {
            return CacheReply::Fenced;
        };
        let before = region.bytes;
        let mut leased = Vec::new();
        let reply = match call {
            CacheCall::Fence | CacheCall::TakeOver(_) | CacheCall::AppendLog(_) => CacheReply::Done,
            CacheCall::ReadLog(_) => CacheReply::Log(Vec::new()),
            CacheCall::ReplaceLog(..) => CacheReply::NotHeld,
            CacheCall::Forget => {
                *region = Region::new(epoch);
                CacheReply::Done
            }
            CacheCall::Gather(session, queries, gaps) => {
                gaps.iter().for_each(|gap| drop(region.look_up(gap, session)));
                leased.extend(gaps);
                region.gather(&queries)
            }
            CacheCall::Lookup(query, session) => {
                let reply = region.look_up(&query, session);
                leased.extend(Some(query).filter(|_| reply == CacheReply::Leased));
                reply
            }
            CacheCall::Install(query, _, value, _) if value.as_bytes().len() >= largest => {
                region.remove(&query);
                CacheReply::Full
            }
            CacheCall::Install(query, session, value, _) => region.install(&query, session, value),
            CacheCall::Invalidate(_, queries) => {
                queries.iter().for_each(|query| region.remove(query));
                CacheReply::Done
            }
            CacheCall::Patch(session, changes) => region.patch(session, changes),
            CacheCall::Hide(session, queries) => region.hide(session, &queries),
        };
        let after = region.bytes;
        state.bytes = state.bytes + after - before;
        state.clock.extend(leased.into_iter().map(|query| (range, query)));
        state.evict(self.max_bytes);
        reply
    }

    /// Bytes of its entries.
    pub fn bytes(&self) -> usize {
        self.state.read().unwrap_or_else(PoisonError::into_inner).bytes
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn raise_fence(&mut self, range: RangeId, epoch: Epoch) -> CacheReply {
        let known = self.ranges.get(&range).map(|region| region.fence);
        if known.is_some_and(|fence| fence > epoch) {
            return CacheReply::Fenced;
        }
        if known != Some(epoch) {
            let before = self.ranges.insert(range, Region::new(epoch));
            self.bytes -= before.map_or(0, |region| region.bytes);
        }
        CacheReply::Done
    }

    /// The owner is usually in the same process and ends with it: the next one begins cold, and no log is kept.
    fn take_over(&mut self, range: RangeId, epoch: Epoch) -> CacheReply {
        match self.raise_fence(range, epoch) {
            CacheReply::Done => CacheReply::Warm(Vec::new()),
            reply => reply,
        }
    }

    fn evict(&mut self, max_bytes: usize) {
        // Each entry gets one second chance a call.
        let mut chances = 2 * self.clock.len();
        while self.bytes > max_bytes && chances > 0 {
            chances -= 1;
            let Some((range, query)) = self.clock.pop_front() else { return };
            let Some(region) = self.ranges.get_mut(&range) else { continue };
            match region.stays(&query) {
                Some(true) => self.clock.push_back((range, query)),
                Some(false) => {
                    let before = region.bytes;
                    region.remove(&query);
                    self.bytes = self.bytes + region.bytes - before;
                }
                None => {}
            }
        }
        self.forget_the_gone();
    }

    /// Shortens the clock to about the number of entries.
    fn forget_the_gone(&mut self) {
        let entries: usize = self.ranges.values().map(Region::len).sum();
        if self.clock.len() > 2 * entries + 64 {
            let mut seen = std::collections::HashSet::new();
            let ranges = &self.ranges;
            self.clock.retain(|(range, query)| {
                ranges.get(range).is_some_and(|region| region.holds(query))
                    && seen.insert((*range, query.clone()))
            });
        }
    }
}

impl CacheServer for MemoryCache {
    fn memory_percent(&self) -> Reply<'_, u8> {
        let percent = self.bytes().saturating_mul(100).checked_div(self.max_bytes).unwrap_or(0).min(100);
        Box::pin(ready(Ok(u8::try_from(percent).unwrap_or(100))))
    }

    fn get<'a>(&'a self, range: RangeId, _: Epoch, query: &'a Query) -> Reply<'a, Option<Seen>> {
        Box::pin(ready(Ok(self.see(range, query))))
    }

    fn get_together<'a>(
        &'a self,
        range: RangeId,
        _: Epoch,
        queries: &'a [Query],
    ) -> Reply<'a, Option<SeenTogether>> {
        Box::pin(ready(Ok(self.see_together(range, queries))))
    }

    fn call(&self, range: RangeId, epoch: Epoch, call: CacheCall) -> Reply<'_, CacheReply> {
        Box::pin(ready(Ok(self.run(range, epoch, call))))
    }
}

#[cfg(test)]
#[path = "memory_cache_tests.rs"]
mod tests;
