//! A coordinator for one process: it grants every claim, because no other process can hold the range.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Mutex, PoisonError};

use crate::cache_model::RangeId;
use crate::message::Epoch;
use crate::ports::{Coordinator, Reply, Tenure};

/// Gives out epochs above those of former processes. The user must ensure that no other process runs, for example
/// with a lock on the file of the store.
///
/// ```
/// use lacuna_cache_protocol::embedded::SingleProcess;
/// use lacuna_cache_protocol::{Epoch, RangeId};
///
/// // The store remembers the largest epoch it was fenced with. Ranges spread over three cache servers.
/// let coordinator = SingleProcess::above(Epoch(7), 3);
/// let tenure = coordinator.grant(RangeId(4), None);
/// assert_eq!((tenure.epoch, tenure.cache), (Epoch(8), 1));
/// // That server is gone: the range moves on.
/// assert_eq!(coordinator.grant(RangeId(4), Some(1)).cache, 2);
/// ```
#[derive(Debug)]
pub struct SingleProcess {
    state: Mutex<State>,
    cache_count: usize,
}

#[derive(Debug)]
struct State {
    used: Epoch,
    /// The servers of ranges that have left their first one.
    places: BTreeMap<RangeId, usize>,
}

impl SingleProcess {
    /// Epochs start above `used`; ranges spread over `cache_count` cache servers, at least one.
    pub const fn above(used: Epoch, cache_count: usize) -> Self {
        let cache_count = if cache_count == 0 { 1 } else { cache_count };
        Self { state: Mutex::new(State { used, places: BTreeMap::new() }), cache_count }
    }

    /// The next tenure of a range, on the next cache server if its own was lost.
    pub fn grant(&self, range: RangeId, lost_cache: Option<usize>) -> Tenure {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.used.0 += 1;
        let epoch = state.used;
        let place = state.places.entry(range).or_insert(range.0 as usize % self.cache_count);
        if lost_cache == Some(*place) {
            *place = (*place + 1) % self.cache_count;
        }
        Tenure { epoch, cache: *place, serve_after_ms: 0, before: None, lease_ms: None, table: None }
    }
}

impl Coordinator for SingleProcess {
    fn claim(&self, range: RangeId, lost_cache: Option<usize>) -> Reply<'_, Option<Tenure>> {
        Box::pin(ready(Ok(Some(self.grant(range, lost_cache)))))
    }

    fn renew(&self, _: RangeId, _: Epoch) -> Reply<'_, bool> {
        Box::pin(ready(Ok(true)))
    }

    fn release(&self, _: RangeId, _: Epoch) -> Reply<'_, ()> {
        Box::pin(ready(Ok(())))
    }
}
