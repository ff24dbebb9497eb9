//! The range cache: a table for each range, spread over the cache servers.

use std::sync::Arc;

use lacuna_cache::redis::{RedisCache, RedisLog};
use lacuna_cache::sql::{
    Cache, Compressed, Counts, DomainType, Options, Schema, SqlValue, Table, WriteError,
};
use lacuna_cache_protocol::Policy;
use lacuna_cache_protocol::ports::{LogServer, Reply};
use lacuna_cache_protocol::{Error, Result};

use super::aside::PATIENCE;
use super::{SystemUnderTest, Traffic};
use crate::cache_bench::log_notes::{LogNotes, NotingLog, SharedNotes};
use crate::cache_bench::records::{COLUMNS, NAMES, fields, table_name, version_of};
use crate::cache_bench::servers::RunServers;
use crate::cache_bench::setup::{Compression, Setup};

/// Keys in Redis begin with it.
const NAMESPACE: &str = "bench";
/// The usual level of zlib, and that of Java's `Deflater`, which the report used.
const ZLIB_LEVEL: u8 = 6;

/// The cache, opened.
pub(super) struct Lacuna {
    cache: Cache,
    tables: Vec<Table>,
    records_of_a_table: u64,
    columns: usize,
    notes: Option<SharedNotes>,
    compressed: Vec<Arc<Compressed>>,
}

impl Lacuna {
    /// Opens the store with a cache before it.
    pub(super) async fn open(setup: &Setup, servers: &RunServers, policy: Policy) -> Result<Self> {
        let mut options = Options::new(&servers.store_url).with_policy(policy);
        if let Some(beta) = setup.beta {
            options = options.with_beta(beta);
        }
        options = options.with_cache_bytes(1 << 30).with_patience(PATIENCE);
        if setup.has_warm_start {
            options = options.with_warm_start();
        }
        if setup.measures_sizes {
            options = options.with_measured_sizes();
        }
        let mut compressed = Vec::new();
        for url in &servers.cache_urls {
            let mut server = RedisCache::new(url, NAMESPACE)?;
            if setup.bandwidth.is_some() {
                // Requests queue before a thin line: a client that waits there has not lost the server.
                server = server.with_patience(PATIENCE);
            }
            let server = Arc::new(server);
            let shrinking = match setup.compression {
                Compression::None => None,
                Compression::Lz4 => Some(Compressed::new(server.clone())),
                Compression::Zlib => Some(Compressed::with_zlib(server.clone(), ZLIB_LEVEL)),
            };
            options = match shrinking.map(Arc::new) {
                None => options.with_cache_server(server),
                Some(shrinking) => {
                    compressed.push(shrinking.clone());
                    options.with_cache_server(shrinking)
                }
            };
        }
        let mut notes = None;
        for url in &servers.log_urls {
            let log: Arc<dyn LogServer> = Arc::new(RedisLog::new(url, NAMESPACE)?);
            let is_noted = setup.notes_log && notes.is_none();
            options = options.with_log_server(if is_noted {
                let noting = NotingLog::new(log);
                notes = Some(noting.notes());
                Arc::new(noting)
            } else {
                log
            });
        }
        let cache = options.open().await?;
        let mut tables = Vec::new();
        for table in 0..setup.tables() {
            let mut schema = Schema::new(&table_name(table), "id").with_domain("id", DomainType::Integer);
            if setup.columns < COLUMNS {
                schema = schema.with_only(NAMES[..setup.columns].iter().copied());
            }
            tables.push(cache.table(schema).await?);
        }
        Ok(Self {
            cache,
            tables,
            records_of_a_table: setup.records_of_a_table(),
            columns: setup.columns,
            notes,
            compressed,
        })
    }

    fn table(&self, record: u64) -> &Table {
        let table = usize::try_from(record / self.records_of_a_table).expect("there are few tables");
        &self.tables[table]
    }
}

impl SystemUnderTest for Lacuna {
    fn scan(&self, first: u64, count: u64) -> Reply<'_, Vec<u64>> {
        Box::pin(async move {
            let range = first.cast_signed()..=(first + count - 1).cast_signed();
            let rows = self.table(first).get("id", range).await?;
            rows.iter().map(|row| version_of(row.text(NAMES[0]).unwrap_or_default())).collect()
        })
    }

    fn update(&self, record: u64, version: u64) -> Reply<'_, ()> {
        Box::pin(async move {
            let table = self.table(record);
            let row = table.known_row([("id", SqlValue::Integer(record.cast_signed()))])?;
            let fields = fields(record, version, self.columns);
            let values = NAMES.into_iter().zip(fields.into_iter().map(SqlValue::Text));
            table.update(&row, values).await.map_err(not_written)
        })
    }

    fn traffic(&self) -> Traffic {
        // Those of the cache itself are gone once it was stopped.
        let counts = self.tables.iter().fold(Counts::default(), |sum, table| sum.plus(table.counts()));
        Traffic {
            hits: counts.hits,
            cache_trips: counts.cache_calls,
            log_trips: counts.log_calls,
            store_queries: counts.store_queries,
            store_writes: counts.store_writes,
        }
    }

    fn log_notes(&self) -> Option<LogNotes> {
        self.notes.as_ref().map(SharedNotes::copied)
    }

    fn kept_share(&self) -> Option<f64> {
        let shrunk = self.compressed.iter().map(|server| server.shrunk());
        let (plain, kept) = shrunk.reduce(|sum, server| (sum.0 + server.0, sum.1 + server.1))?;
        Some(kept as f64 / plain.max(1) as f64)
    }

    fn stop(&self) -> Reply<'_, ()> {
        Box::pin(self.cache.stop())
    }
}

/// Why a write was not carried out, or may not have been.
pub(crate) fn not_written(error: WriteError) -> Error {
    match error {
        WriteError::Refused(error) | WriteError::NotDone(error) => error,
        _ => Error::unavailable("the outcome of the write is unknown"),
    }
}
