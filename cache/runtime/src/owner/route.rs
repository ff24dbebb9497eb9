//! Where hits are looked up, while a tenure serves.

use std::sync::{Arc, PoisonError, RwLock};

use lacuna_cache_protocol::ports::CacheServer;
use lacuna_cache_protocol::{EntryReader, Epoch};

/// The tenure that serves, as the hit path sees it.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) epoch: Epoch,
    pub(crate) cache: Arc<dyn CacheServer>,
    /// The entries of the tenure, where results are made of several.
    pub(crate) entries: Option<EntryReader>,
    /// When the lease may have run out, after which the cache server must not be used.
    pub(crate) until_ms: u64,
}

/// The route of a range: written by its owner task, read by every client.
#[derive(Debug, Default)]
pub(crate) struct RouteCell(RwLock<Option<Route>>);

impl RouteCell {
    pub(crate) fn set(&self, route: Option<Route>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = route;
    }

    /// The route, if it holds at `now_ms`.
    pub(crate) fn at(&self, now_ms: u64) -> Option<Route> {
        let route = self.0.read().unwrap_or_else(PoisonError::into_inner);
        route.as_ref().filter(|route| now_ms < route.until_ms).cloned()
    }

    /// Whether the route of `epoch` holds at `now_ms`.
    pub(crate) fn holds(&self, epoch: Epoch, now_ms: u64) -> bool {
        let route = self.0.read().unwrap_or_else(PoisonError::into_inner);
        route.as_ref().is_some_and(|route| route.epoch == epoch && now_ms < route.until_ms)
    }
}
