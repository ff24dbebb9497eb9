//! Everything outside the process that a cache needs, behind ports.

use std::sync::Arc;

use lacuna_cache_protocol::ports::{CacheServer, Clock, Coordinator, DataStore, LogServer};

/// Where the calls of owners go.
#[derive(Debug, Clone)]
pub struct Servers {
    /// Cache servers; tenures name them by their place here. One at least.
    pub caches: Vec<Arc<dyn CacheServer>>,
    /// The store.
    pub store: Arc<dyn DataStore>,
    /// Log servers, all of which keep every buffered write; as many as the configuration says.
    pub logs: Vec<Arc<dyn LogServer>>,
    /// Grants tenures.
    pub coordinator: Arc<dyn Coordinator>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}
