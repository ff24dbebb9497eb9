//! One table in several processes: dendrites that own its ranges, and tables whose owners are in other processes.

use std::sync::Arc;

use crate::cluster::{Dendrite, Membership};
use crate::{Requests, Servers};
use lacuna_cache_protocol::ports::{Coordinator, DataStore};
use lacuna_cache_protocol::{Config, Cut, RangeTable};
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use tracing::{Instrument as _, info_span};

use crate::sql::application::TableRows;
use crate::sql::cache::Cache;
use crate::sql::database::{canonical, open};
use crate::sql::domain_key::key;
use crate::sql::fenced::{FencedTable, GuardedStore};
use crate::sql::numbers::{CutTable, Numbers};
use crate::sql::own_tables::check_no_other_set;
use crate::sql::schema::Schema;
use crate::sql::shared_ranges::SharedRanges;
use crate::sql::sql_value::SqlValue;
use crate::sql::table::Table;
use crate::sql::watchdog::Family;

/// How long another owner may hold a lease here without a message.
const PEER_TIMEOUT_MS: u64 = 5_000;
/// How long a request may wait for a lease.
const REQUEST_TIMEOUT_MS: u64 = 4_000;

impl Schema {
    /// The range table of a table that is cut before these values of its first registered column.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such column, or a value is of another type or given twice.
    pub fn cut_before(&self, values: &[SqlValue]) -> Result<RangeTable> {
        let Some((column, domain)) = self.domains.first() else {
            return Err(Error::invalid_input(format!(
                "register at least one column of {}: call `Schema::with_domain`",
                self.table
            )));
        };
        let (count, max) = (self.domains.len(), RangeTable::MAX_DOMAINS);
        if count > max {
            let message = format!("{count} columns are registered, at most {max} are allowed");
            return Err(Error::invalid_input(message));
        }
        values.iter().try_fold(RangeTable::of_domains(self.domain_marks()), |table, value| {
            let cut = key(*domain, value)?.and_then(|key| table.split(0, Cut::Before(key)));
            cut.ok_or_else(|| {
                Error::invalid_input(format!(
                    "{column} cannot be cut before {value:?}, or is cut there already"
                ))
            })
        })
    }
}

/// Dendrites that number the registered columns otherwise would take leases on other intervals than those that they write to.
///
/// # Errors
/// `Conflict` if the ranges were cut for other registered columns, or the same in another order.
fn check_domains(schema: &Schema, table: &RangeTable) -> Result<()> {
    if table.marks() == schema.domain_marks() {
        return Ok(());
    }
    let columns: Vec<String> =
        schema.domains.iter().map(|(column, domain)| format!("{column} ({domain:?})")).collect();
    Err(Error::new(
        ErrorKind::Conflict,
        format!(
            "the ranges of {} were cut for {} registered columns, and not for these in this order: {}; register the same as the \
             other dendrites, or stop them all, remove the range table (the row in lacuna_cut, or the key `table` below the prefix \
             in etcd), and start them with these",
            schema.table,
            table.domain_count(),
            columns.join(", ")
        ),
    ))
}

/// The name by which all programs know a table of the database at `url`, whatever schemas their sessions search and whatever
/// database they name in the URL: `people` for `public.people` of PostgreSQL, `sales.people` for each other. A namespace of the
/// table in cache servers, logs and etcd should be made of it.
///
/// # Errors
/// `InvalidInput` if there is no such table, `Unavailable` if the database does not answer.
pub async fn shared_name(url: &str, table: &str) -> Result<String> {
    let database = open(url).await?;
    let name = canonical(&*database, table).await;
    database.close().await;
    name
}

impl Cache {
    /// As [`shared_name`] over the connections of this cache.
    ///
    /// # Errors
    /// As [`shared_name`].
    pub async fn shared_name(&self, table: &str) -> Result<String> {
        canonical(&*self.database, table).await
    }

    /// Leases on the ranges of a table, in the database itself. `address` is where other processes reach this one;
    /// `cuts` counts only if the table was never cut before.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such table, `Conflict` if another set of the tables `lacuna_fence` and so on has it,
    /// `Unavailable` if the database does not answer.
    pub async fn shared_ranges(&self, table: &str, cuts: &RangeTable, address: &str) -> Result<SharedRanges> {
        self.coordination().await?;
        let table = canonical(&*self.database, table).await?;
        check_no_other_set(&*self.database, &table).await?;
        SharedRanges::open(
            self.database.clone(),
            self.clock.clone(),
            self.caches.len(),
            (&table, cuts),
            address,
        )
        .await
    }

    /// The rows of a table as a store, for an owner of its ranges.
    ///
    /// # Errors
    /// As [`Cache::table`].
    pub async fn store(&self, schema: Schema) -> Result<Arc<dyn DataStore>> {
        self.coordination().await?;
        let (schema, family) = self.read(schema).await?;
        Ok(self.cut_table(&schema, family.as_ref()))
    }

    /// A dendrite for a table, among others of the same membership: cache servers and logs need a namespace that
    /// no other table uses. From now on all writes to the table must go through dendrites that share `coordinator`
    /// and directory.
    ///
    /// # Errors
    /// As [`Cache::table`]; `Conflict` if the ranges were not cut by [`Schema::cut_before`] for the same registered columns in the same
    /// order, and while a process has the table open as a whole. If that process has ended
    /// without releasing the table, this waits a little longer than its lease of three seconds.
    pub async fn dendrite(
        &self,
        schema: Schema,
        coordinator: Arc<dyn Coordinator>,
        membership: Membership,
    ) -> Result<Dendrite> {
        let (schema, family) = self.read(schema).await?;
        check_domains(&schema, &*membership.directory.table().await?)?;
        self.leave_to_dendrites(&schema.table).await?;
        let servers = Servers {
            caches: self.caches.clone(),
            store: self.cut_table(&schema, family.as_ref()),
            logs: self.logs.clone(),
            coordinator,
            clock: self.clock.clone(),
        };
        let config = Config {
            peer_timeout: PEER_TIMEOUT_MS,
            request_timeout: REQUEST_TIMEOUT_MS,
            keeps_log: true,
            ..self.config(&schema)
        };
        let span = info_span!("table", table = schema.table.as_str());
        let started = Dendrite::start(servers, membership, config, TableRows::new(schema.clone()));
        let dendrite = started.instrument(span).await?;
        self.watch(&schema, family, dendrite.alarm());
        Ok(dendrite.with_patience(self.options.patience).with_verified_hits(self.options.verified_percent))
    }

    /// A table whose owners are reached through `requests`: a dendrite of this process, or a client of others.
    /// They must have the same columns and domains, in the same order.
    ///
    /// # Errors
    /// As [`Cache::table`]. Reads fail as `InvalidInput` if the owners have other columns or domains; writes are
    /// not checked.
    pub async fn table_over(&self, schema: Schema, requests: Arc<dyn Requests>) -> Result<Table> {
        let (schema, family) = self.read(schema).await?;
        let store = self.cut_table(&schema, family.as_ref());
        self.registry.add(requests.clone(), schema.clone(), store.clone(), true);
        Ok(Table::new(requests, schema, self.database.dialect(), store, self.registry.clone()))
    }

    fn cut_table(&self, schema: &Arc<Schema>, family: Option<&Family>) -> Arc<dyn GuardedStore> {
        let numbers = Numbers::new(self.database.clone(), &schema.table);
        Arc::new(CutTable { table: FencedTable::new(self, schema, family).of_dendrites(), numbers })
    }
}
