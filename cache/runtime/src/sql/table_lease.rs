//! A coordinator in the database itself: it grants each table to one process with a cache.
//!
//! A row of `lacuna_lease` names the holder of each range and counts its renewals. A process that wants a range of
//! another watches the count; if it has not moved for longer than a lease, by the watcher's own clock, the holder
//! is gone or has stopped serving hits. So no two clocks are compared, and none has to be correct.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lacuna_cache_protocol::ports::{Clock, Coordinator, Reply, Tenure};
use lacuna_cache_protocol::{Epoch, RangeId};
use lacuna_cache_protocol::{Error, Result};
use tracing::debug;

use crate::sql::database::{Database, Failure, Table, in_time};
use crate::sql::own_tables::ensure;
use crate::sql::sql_value::SqlValue;
use crate::sql::statement::Statement;
use crate::sql::watched::Watched;

/// How long a holder serves without a renewal.
pub(crate) const LEASE_MS: u64 = 3_000;
/// How long others wait before they take over; longer than a lease by more than clocks drift apart.
const PATIENCE_MS: u64 = 3_500;
/// The holder that stands for all processes that share a lease. Those of single processes are odd.
const SHARED: i64 = 2;

impl Lease {
    /// Whether it ever had a holder.
    pub(crate) const fn was_held(&self) -> bool {
        self.epoch > 0
    }
}

#[derive(Debug)]
pub(crate) struct TableLease {
    database: Arc<dyn Database>,
    clock: Arc<dyn Clock>,
    /// The number of this process, which no other has, or [`SHARED`].
    holder: i64,
    cache_count: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Counts of other processes.
    watched: Watched<RangeId>,
    /// The cache servers of ranges that have left their first one.
    places: BTreeMap<RangeId, usize>,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lease {
    /// 0 without a holder.
    pub(crate) holder: i64,
    pub(crate) beat: i64,
    pub(crate) epoch: i64,
}

impl TableLease {
    pub(crate) async fn new(
        database: Arc<dyn Database>,
        clock: Arc<dyn Clock>,
        cache_count: usize,
    ) -> Result<Self> {
        let database = in_time(database);
        let sql = "CREATE TABLE IF NOT EXISTS lacuna_lease (range_id INTEGER NOT NULL PRIMARY KEY, \
                   holder BIGINT NOT NULL, beat BIGINT NOT NULL, epoch BIGINT NOT NULL)";
        let sql = format!("{sql}{}", database.dialect().engine());
        ensure(&*database, "lacuna_lease", &sql).await?;
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| Error::unavailable(error.to_string()))?;
        let holder = i64::from_le_bytes(bytes) | 1;
        Ok(Self { database, clock, holder, cache_count: cache_count.max(1), state: Mutex::default() })
    }

    /// The same with leases that any number of processes hold together, and no other beside them.
    pub(crate) async fn shared(database: Arc<dyn Database>, clock: Arc<dyn Clock>) -> Result<Self> {
        Ok(Self { holder: SHARED, ..Self::new(database, clock, 1).await? })
    }

    /// The same for the process of this number.
    pub(crate) fn of_holder(self, holder: i64) -> Self {
        Self { holder, ..self }
    }

    /// Whether other processes may hold what this one holds.
    pub(crate) const fn is_shared(&self) -> bool {
        self.holder == SHARED
    }

    async fn claim_now(&self, range: RangeId, lost_cache: Option<usize>) -> Result<Option<Tenure>> {
        let Some(lease) = self.lease(range).await? else {
            self.add(range).await;
            return Ok(None);
        };
        if !self.is_free(range, &lease) {
            return Ok(None);
        }
        if self.is_shared() && lease.holder == SHARED {
            return self.join(range, &lease).await;
        }
        let epoch = self.next_epoch(&lease).await?;
        let values: [SqlValue; 5] = [
            self.holder.into(),
            epoch.into(),
            i64::from(range.0).into(),
            lease.beat.into(),
            lease.epoch.into(),
        ];
        let set = "UPDATE lacuna_lease SET beat = beat + 1, holder = {}, epoch = {} \
                   WHERE range_id = {} AND beat = {} AND epoch = {}";
        // A crash that undid the claim would let another process have the same epoch.
        if !self.changes_under(self.database.dialect().durably(), set, &values).await? {
            return Ok(None);
        }
        debug!(row = range.0, epoch, from = lease.holder, "a lease was taken in the database");
        let before = lease.was_held().then_some(lease.epoch);
        Ok(Some(tenure(epoch, before, self.place(range, lost_cache))))
    }

    /// Holds a lease together with those who have it; `None` if it was lost meanwhile.
    async fn join(&self, range: RangeId, lease: &Lease) -> Result<Option<Tenure>> {
        let is_joined = self.renew(range, Epoch(lease.epoch.cast_unsigned())).await?;
        Ok(is_joined.then(|| tenure(lease.epoch, Some(lease.epoch), self.place(range, None))))
    }

    /// An epoch larger than that of every tenure. The fence may be ahead of the lease, if this table was restored
    /// from a copy.
    pub(crate) async fn next_epoch(&self, lease: &Lease) -> Result<i64> {
        let fenced = crate::sql::fenced::largest_epoch(&*self.database).await?;
        Ok(lease.epoch.max(i64::try_from(fenced.0).unwrap_or(i64::MAX - 1)) + 1)
    }

    /// Whether no other process holds it, as far as this process can know.
    fn is_free(&self, range: RangeId, lease: &Lease) -> bool {
        lease.holder == self.holder || self.is_over(range, lease)
    }

    /// Whether no process at all holds it, as far as this process can know.
    pub(crate) fn is_over(&self, range: RangeId, lease: &Lease) -> bool {
        if lease.holder == 0 {
            return true;
        }
        let now = self.clock.now_ms();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.watched.still_for(range, lease.beat, now) >= PATIENCE_MS
    }

    /// The process that has a range, as far as this one can know.
    pub(crate) fn owner(&self, range: RangeId, lease: &Lease) -> Option<i64> {
        let is_owned = lease.holder == self.holder || !self.is_free(range, lease);
        is_owned.then_some(lease.holder)
    }

    fn place(&self, range: RangeId, lost_cache: Option<usize>) -> usize {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let place = state.places.entry(range).or_insert(range.0 as usize % self.cache_count);
        if lost_cache == Some(*place) {
            *place = (*place + 1) % self.cache_count;
        }
        *place
    }

    pub(crate) async fn lease(&self, range: RangeId) -> Result<Option<Lease>> {
        let sql = "SELECT range_id, holder, beat, epoch FROM lacuna_lease WHERE range_id = {}";
        let found = self.rows(sql, &[i64::from(range.0).into()]).await?;
        Ok(leases_of(&found).remove(&range))
    }

    /// All leases; from now on all of them are watched.
    pub(crate) async fn leases(&self) -> Result<BTreeMap<RangeId, Lease>> {
        let found = self.rows("SELECT range_id, holder, beat, epoch FROM lacuna_lease", &[]).await?;
        let leases = leases_of(&found);
        for (range, lease) in &leases {
            self.owner(*range, lease);
        }
        Ok(leases)
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// The number of this process.
    pub(crate) const fn holder(&self) -> i64 {
        self.holder
    }

    /// The rows of a query.
    pub(crate) async fn rows(&self, sql: &str, values: &[SqlValue]) -> Result<Table> {
        self.database.query(&self.statement(sql, values)).await.map_err(|failure| failure.error)
    }

    /// Adds a row without a holder. Another process may win the race.
    pub(crate) async fn add(&self, range: RangeId) {
        let values = [i64::from(range.0).into()];
        drop(
            self.changes(
                "INSERT INTO lacuna_lease (range_id, holder, beat, epoch) VALUES ({}, 0, 0, 0)",
                &values,
            )
            .await,
        );
    }

    /// Whether a statement changed one row.
    pub(crate) async fn changes(&self, sql: &str, values: &[SqlValue]) -> Result<bool> {
        self.changes_under(None, sql, values).await
    }

    /// The same under a setting of the transaction.
    async fn changes_under(&self, setting: Option<&str>, sql: &str, values: &[SqlValue]) -> Result<bool> {
        let error = |failure: Failure| failure.error;
        let mut transaction = self.database.begin().await.map_err(error)?;
        let settings: Vec<&str> = self.database.dialect().impatiently().into_iter().chain(setting).collect();
        if !settings.is_empty() {
            transaction.run(&settings.join("; ")).await.map_err(|(_, failure)| error(failure))?;
        }
        let changed = transaction.execute(&self.statement(sql, values)).await.map_err(error)?;
        transaction.commit().await.map_err(error)?;
        Ok(changed == 1)
    }

    fn statement(&self, sql: &str, values: &[SqlValue]) -> Statement {
        self.database.dialect().statement(sql, values)
    }
}

fn tenure(epoch: i64, before: Option<i64>, cache: usize) -> Tenure {
    let epoch_of = |epoch: i64| Epoch(epoch.cast_unsigned());
    let before = before.map(epoch_of);
    Tenure { epoch: epoch_of(epoch), cache, serve_after_ms: 0, before, lease_ms: Some(LEASE_MS), table: None }
}

fn leases_of(found: &Table) -> BTreeMap<RangeId, Lease> {
    let lease = |row: &Vec<SqlValue>| match row[..] {
        [
            SqlValue::Integer(range),
            SqlValue::Integer(holder),
            SqlValue::Integer(beat),
            SqlValue::Integer(epoch),
        ] => Some((RangeId(u32::try_from(range).ok()?), Lease { holder, beat, epoch })),
        _ => None,
    };
    found.iter().filter_map(lease).collect()
}

impl Coordinator for TableLease {
    fn claim(&self, range: RangeId, lost_cache: Option<usize>) -> Reply<'_, Option<Tenure>> {
        Box::pin(self.claim_now(range, lost_cache))
    }

    fn renew(&self, range: RangeId, epoch: Epoch) -> Reply<'_, bool> {
        Box::pin(async move {
            let values = [i64::from(range.0).into(), self.holder.into(), epoch.0.cast_signed().into()];
            let set =
                "UPDATE lacuna_lease SET beat = beat + 1 WHERE range_id = {} AND holder = {} AND epoch = {}";
            self.changes(set, &values).await
        })
    }

    fn release(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        Box::pin(async move {
            let values = [i64::from(range.0).into(), self.holder.into(), epoch.0.cast_signed().into()];
            let set = "UPDATE lacuna_lease SET holder = 0 WHERE range_id = {} AND holder = {} AND epoch = {}";
            self.changes(set, &values).await.map(|_| ())
        })
    }
}
