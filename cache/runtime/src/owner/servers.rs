//! Everything outside the process that a cache needs, as ports.

use std::sync::Arc;

use lacuna_cache_protocol::ports::{CacheServer, Clock, Coordinator, DataStore, LogServer};

/// The targets of the calls of owners.
#[derive(Debug, Clone)]
pub struct Servers {
    /// Cache servers; tenures name them by their index here. At least one.
    pub caches: Vec<Arc<dyn CacheServer>>,
    /// The store.
    pub store: Arc<dyn DataStore>,
    /// Log servers, all of which keep every buffered write; as many as the configuration names.
    pub logs: Vec<Arc<dyn LogServer>>,
    /// Grants tenures.
    pub coordinator: Arc<dyn Coordinator>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}
