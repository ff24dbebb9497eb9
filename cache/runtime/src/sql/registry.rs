//! The tables that are registered with one cache: what statements of one may join.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[cfg(feature = "flaws")]
use lacuna_cache_protocol::Flaw;
use lacuna_cache_protocol::Policy;

use crate::owner::Requests;
use crate::sql::fenced::GuardedStore;
use crate::sql::options::Options;
use crate::sql::schema::Schema;

/// A table, and the way to its owners.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) requests: Arc<dyn Requests>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) store: Arc<dyn GuardedStore>,
    /// Whether its owners may have acknowledged writes that the database does not have.
    pub(crate) may_buffer: bool,
}

/// Tables by their names; of two handles to one table the later.
#[derive(Debug)]
pub(crate) struct Registry {
    tables: Mutex<BTreeMap<String, Arc<Registered>>>,
    policy: Policy,
    pub(crate) patience: Duration,
    #[cfg(feature = "flaws")]
    pub(crate) flaw: Option<Flaw>,
}

impl Registry {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            tables: Mutex::default(),
            policy: options.policy,
            patience: options.patience,
            #[cfg(feature = "flaws")]
            flaw: options.flaw,
        }
    }

    /// Adds a table, whose owners are in this process or `elsewhere`, where they may have another policy.
    pub(crate) fn add(
        &self,
        requests: Arc<dyn Requests>,
        schema: Arc<Schema>,
        store: Arc<dyn GuardedStore>,
        is_elsewhere: bool,
    ) {
        let name = schema.table.clone();
        let may_buffer = is_elsewhere || self.policy == Policy::WriteBack;
        let new = Arc::new(Registered { requests, schema, store, may_buffer });
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).insert(name, new);
    }

    pub(crate) fn all(&self) -> Vec<Arc<Registered>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}
