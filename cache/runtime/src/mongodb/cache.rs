//! A database with a cache in front of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::owner::requests::{self, request_timeout_ms};
use crate::owner::{Counts, RangeCache, Servers};
use lacuna_cache_protocol::embedded::{MemoryCache, SteadyClock};
use lacuna_cache_protocol::ports::{CacheServer, Clock, Coordinator};
use lacuna_cache_protocol::{Config, Policy};
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use mongodb::bson::{Document, doc};
use mongodb::options::{ClientOptions, ReadPreference, SelectionCriteria, WriteConcern};
use mongodb::results::CollectionType;
use mongodb::{Client, Database, IndexModel};

use crate::mongodb::application::Documents;
use crate::mongodb::collection::Collection;
use crate::mongodb::failure::error_of;
use crate::mongodb::fence::Fences;
use crate::mongodb::lease::Leases;
use crate::mongodb::schema::Schema;
use crate::mongodb::store::FencedCollection;

/// Memory for results if no cache server is given.
const CACHE_BYTES: usize = 64 << 20;
/// How long to look for a server.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens the database at `url` (`mongodb://host:port/database`) with a cache in the memory of this process,
/// writing through.
///
/// # Errors
/// As [`Options::open`].
pub async fn open(url: &str) -> Result<Cache> {
    Options::new(url).open().await
}

/// Settings of a cache; the defaults are those of [`open`].
#[derive(Debug, Clone)]
pub struct Options {
    url: String,
    policy: Policy,
    max_operation: Duration,
    verified_percent: u8,
    caches: Vec<Arc<dyn CacheServer>>,
}

/// What the cache relies on, whatever the URL says: a call is executed at most once, an acknowledged write is durable, and reads
/// show it, as no secondary promises.
fn certain(mut client: ClientOptions) -> ClientOptions {
    client.server_selection_timeout = Some(PATIENCE);
    client.retry_writes = Some(false);
    client.write_concern = Some(WriteConcern::majority());
    client.selection_criteria = Some(SelectionCriteria::ReadPreference(ReadPreference::Primary));
    client
}

impl Options {
    /// The database at `url`.
    pub fn new(url: impl Into<String>) -> Self {
        let max_operation = Duration::from_secs(2);
        let (policy, verified_percent, caches) = (Policy::WriteThrough, 0, Vec::new());
        Self { url: url.into(), policy, max_operation, verified_percent, caches }
    }

    /// What a write does to cached results: around or through. Write-back needs transactions, which this store
    /// does not use.
    #[must_use]
    pub const fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// How long a write may take, in milliseconds, at least 1; 2,000 by default. A write that takes longer has an unknown
    /// outcome, and **each take-over waits that long**: the guarantee excludes a write of the old owner that
    /// arrives even later.
    #[must_use]
    pub const fn with_max_operation_ms(mut self, ms: u64) -> Self {
        self.max_operation = Duration::from_millis(ms);
        self
    }

    /// The percentage of hits that are verified at the database, under their lease; none by default. If one
    /// differs, a foreign write went past the cache: the read returns the result of the database, and all cached
    /// entries of the collection are dropped.
    #[must_use]
    pub fn with_verified_hits(mut self, percent: u8) -> Self {
        self.verified_percent = percent.min(100);
        self
    }

    /// Cache servers over which results are spread, in place of 64 MiB of this process.
    #[must_use]
    pub fn with_cache_servers(mut self, servers: impl IntoIterator<Item = Arc<dyn CacheServer>>) -> Self {
        self.caches = servers.into_iter().collect();
        self
    }

    /// Opens the database.
    ///
    /// # Errors
    /// `InvalidInput` for a URL that names no database and for writes that may take no time, `Unsupported` for
    /// [`Policy::WriteBack`], `Unavailable` if no server answers.
    pub async fn open(mut self) -> Result<Cache> {
        if self.policy == Policy::WriteBack {
            return Err(Error::unsupported(
                "write-back needs transactions of the store: write around or through",
            ));
        }
        if self.max_operation.is_zero() {
            let message = "no write is carried out in 0 ms: give `with_max_operation_ms` at least 1";
            return Err(Error::invalid_input(message));
        }
        let client = ClientOptions::parse(&self.url).await.map_err(error_of)?;
        let name = client.default_database.clone();
        let name = name.ok_or_else(|| Error::invalid_input(format!("{} names no database", self.url)))?;
        let database = Client::with_options(certain(client)).map_err(error_of)?.database(&name);
        database.run_command(doc! { "ping": 1 }).await.map_err(error_of)?;
        if self.caches.is_empty() {
            self.caches.push(Arc::new(MemoryCache::new(CACHE_BYTES)));
        }
        let clock: Arc<dyn Clock> = Arc::new(SteadyClock::new());
        let coordinator = Arc::new(Leases::new(&database, clock.clone(), self.caches.len())?);
        Ok(Cache { database, options: self, coordinator, clock, collections: Mutex::default() })
    }
}

/// A database and the cache in front of its registered collections.
#[derive(Debug)]
pub struct Cache {
    database: Database,
    options: Options,
    coordinator: Arc<dyn Coordinator>,
    clock: Arc<dyn Clock>,
    collections: Mutex<Vec<RangeCache>>,
}

impl Cache {
    /// Registers a collection. From now on all its writes must go through the returned handle.
    ///
    /// # Errors
    /// `InvalidInput` if the collection does not match the schema, `Conflict` if it was registered before,
    /// `Unavailable` if the database does not answer.
    pub async fn collection(&self, schema: Schema) -> Result<Collection> {
        schema.check()?;
        self.check_kind(&schema.collection).await?;
        let (fences, schema) = (Fences::new(&self.database), Arc::new(schema));
        let range = fences.range_of(&schema.collection).await?;
        let store = FencedCollection {
            documents: self.database.collection(&schema.collection),
            fences,
            schema: schema.clone(),
            max_operation: self.options.max_operation,
        };
        let servers = Servers {
            caches: self.options.caches.clone(),
            store: Arc::new(store),
            logs: Vec::new(),
            coordinator: self.coordinator.clone(),
            clock: self.clock.clone(),
        };
        let request_timeout = request_timeout_ms(requests::PATIENCE);
        let domain_count = schema.domains.len();
        let config = Config { domain_count, request_timeout, ..Config::new(self.options.policy) };
        // The lease must hold while a take-over waits, too.
        let waits_ms = u64::try_from(self.options.max_operation.as_millis()).unwrap_or(u64::MAX);
        let config = Config { call_timeout: config.call_timeout.max(waits_ms.saturating_mul(4)), ..config };
        let mut collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        if collections.iter().any(|known| known.range() == range) {
            let message = format!("the collection {} is registered already", schema.collection);
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        let cache = RangeCache::start(servers, range, config, Documents(schema.clone()))?;
        let cache = cache.with_verified_hits(self.options.verified_percent);
        collections.push(cache.clone());
        Ok(Collection::new(cache, schema))
    }

    /// Views are a second way to the same documents, a collation does not order texts by their bytes, and what the database
    /// removes of its own accord would stay in results.
    async fn check_kind(&self, name: &str) -> Result<()> {
        let mut found =
            self.database.list_collections().filter(doc! { "name": name }).await.map_err(error_of)?;
        if !found.advance().await.map_err(error_of)? {
            return Ok(());
        }
        let known = found.deserialize_current().map_err(error_of)?;
        if known.collection_type != CollectionType::Collection || known.options.collation.is_some() {
            let message = format!(
                "{name} is a view, or has a collation: use a plain collection, which is ordered by bytes"
            );
            return Err(Error::invalid_input(message));
        }
        if known.options.capped == Some(true) {
            let message = format!("{name} is capped: its oldest documents are removed without a write");
            return Err(Error::invalid_input(message));
        }
        let mut indexes =
            self.database.collection::<Document>(name).list_indexes().await.map_err(error_of)?;
        while indexes.advance().await.map_err(error_of)? {
            check_index(name, &indexes.deserialize_current().map_err(error_of)?)?;
        }
        Ok(())
    }

    /// Counters since it was opened, over all collections.
    pub fn counts(&self) -> Counts {
        let collections = self.collections.lock().unwrap_or_else(PoisonError::into_inner);
        collections.iter().fold(Counts::default(), |sum, cache| sum.plus(cache.counts()))
    }

    /// Releases all collections.
    ///
    /// # Errors
    /// `Unavailable` if it was stopped before.
    pub async fn stop(&self) -> Result<()> {
        let known = std::mem::take(&mut *self.collections.lock().unwrap_or_else(PoisonError::into_inner));
        let stops: Vec<_> = known.iter().map(RangeCache::begin_to_stop).collect();
        let mut stopped = Ok(());
        for stop in stops {
            stopped = stopped.and(stop.await);
        }
        stopped
    }
}

fn check_index(collection: &str, index: &IndexModel) -> Result<()> {
    let options = index.options.as_ref();
    if options.is_none_or(|options| options.expire_after.is_none()) {
        return Ok(());
    }
    let name = options.and_then(|options| options.name.as_deref()).unwrap_or_default();
    let message = format!(
        "documents of {collection} expire by the index {name} (expireAfterSeconds), without a write: drop it, and delete through \
         the cache"
    );
    Err(Error::invalid_input(message))
}

#[cfg(test)]
mod tests {
    use mongodb::options::IndexOptions;

    use super::*;

    #[test]
    fn an_index_by_which_documents_expire_is_refused() {
        let index = |options| IndexModel::builder().keys(doc! { "at": 1 }).options(options).build();
        let named = IndexOptions::builder().name("by_age".to_owned());
        let seconds = Duration::from_secs(60);
        let expiring = index(Some(named.clone().expire_after(seconds).build()));
        let why = check_index("people", &expiring).unwrap_err();
        assert!(why.to_string().contains("by_age") && why.to_string().contains("people"), "{why}");
        check_index("people", &index(Some(named.build()))).unwrap();
        check_index("people", &index(None)).unwrap();
    }

    #[tokio::test]
    async fn reads_are_those_of_the_primary_whatever_the_url_says() {
        let url = "mongodb://127.0.0.1/app?readPreference=secondaryPreferred&retryWrites=true&w=1";
        let options = certain(ClientOptions::parse(url).await.unwrap());
        let primary = Some(SelectionCriteria::ReadPreference(ReadPreference::Primary));
        assert_eq!(options.selection_criteria, primary);
        assert_eq!(options.retry_writes, Some(false));
        assert_eq!(options.write_concern, Some(WriteConcern::majority()));
    }
}
