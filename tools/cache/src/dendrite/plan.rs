//! What a dendrite is told on the command line.

use std::path::PathBuf;
use std::sync::Arc;

use lacuna_core::{Error, Result};
use lacuna_range_cache::RangeTable;
use lacuna_range_cache::ports::DataStore;
use lacuna_store_etcd::EtcdOptions;
use lacuna_store_redis::{RedisCache, RedisLog};
use lacuna_store_sql::{DomainType, Options, Policy, Schema, SqlValue};

/// Everything that a dendrite needs to know.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) listen: String,
    pub(crate) address: Option<String>,
    pub(crate) store: String,
    pub(crate) table: String,
    pub(crate) key: String,
    pub(crate) domains: Vec<String>,
    pub(crate) cuts: Vec<String>,
    pub(crate) caches: Vec<String>,
    pub(crate) logs: Vec<String>,
    pub(crate) policy: Policy,
    pub(crate) coordinator: String,
    pub(crate) secret_file: PathBuf,
}

impl Plan {
    /// The database and its cache servers, which keep the entries of this table apart from those of others.
    pub(crate) fn options(&self) -> Result<Options> {
        if self.store.starts_with("sqlite:") {
            return Err(Error::invalid_input(
                "a file of SQLite has one process before it; dendrites need postgres:// or mysql://",
            ));
        }
        if self.coordinator != "store" && !self.coordinator.starts_with("etcd://") {
            return Err(Error::invalid_input(format!(
                "{} is no coordinator: `store`, or etcd://host:port,host:port",
                self.coordinator
            )));
        }
        if (self.policy == Policy::WriteBack) == self.logs.is_empty() {
            return Err(Error::invalid_input("--policy back and --log go together"));
        }
        let mut options = Options::new(&self.store).policy(self.policy);
        for url in &self.caches {
            options = options.cache_server(Arc::new(RedisCache::new(url, &self.table)?));
        }
        for url in &self.logs {
            options = options.log_server(Arc::new(RedisLog::new(url, &self.table)?));
        }
        Ok(options)
    }

    /// Ranges leased through etcd. While it is away, owners that buffer nothing go on against the store.
    pub(crate) fn etcd(&self, address: &str, cuts: RangeTable, store: Arc<dyn DataStore>) -> EtcdOptions {
        let options = EtcdOptions::new(&self.coordinator, &self.table).address(address).table(cuts);
        let options = options.cache_servers(self.caches.len()).above_fences_of(store).keeping_routes();
        if self.policy == Policy::WriteBack { options } else { options.going_past_the_cache() }
    }

    /// The table and its domains.
    pub(crate) fn schema(&self) -> Result<Schema> {
        self.domains.iter().try_fold(Schema::new(&self.table, &self.key), |schema, domain| {
            let (column, domain_type) = parsed(domain)?;
            Ok(schema.domain(column, domain_type))
        })
    }

    /// The ranges of the table, if nobody has cut it before.
    pub(crate) fn cut(&self, schema: &Schema) -> Result<RangeTable> {
        let domain = self.domains.first().ok_or_else(|| Error::invalid_input("a domain is needed"))?;
        let (_, domain_type) = parsed(domain)?;
        let values =
            self.cuts.iter().map(|cut| value(domain_type, cut)).collect::<Result<Vec<SqlValue>>>()?;
        schema.cut_before(&values)
    }
}

fn parsed(domain: &str) -> Result<(&str, DomainType)> {
    let (column, name) = domain.rsplit_once(':').unwrap_or((domain, ""));
    let domain_type = match name {
        "integer" => DomainType::Integer,
        "unsigned" => DomainType::Unsigned,
        "float" => DomainType::Float,
        "text" => DomainType::Text,
        "timestamp" => DomainType::Timestamp,
        _ => {
            let types = "integer, unsigned, float, text or timestamp";
            return Err(Error::invalid_input(format!("{domain} is no domain: COLUMN:TYPE with {types}")));
        }
    };
    Ok((column, domain_type))
}

fn value(domain: DomainType, text: &str) -> Result<SqlValue> {
    let none = || Error::invalid_input(format!("{text} is no value of the type {domain}"));
    Ok(match domain {
        DomainType::Text => text.into(),
        DomainType::Float => text.parse::<f64>().map_err(|_| none())?.into(),
        _ => text.parse::<i64>().map_err(|_| none())?.into(),
    })
}
