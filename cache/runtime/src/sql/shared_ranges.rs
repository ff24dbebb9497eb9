//! Ranges of a table that several processes share, with the database itself as coordinator and directory.
//!
//! `lacuna_cut` keeps the range table of the first process, `lacuna_member` the address and load of each process
//! (`members.rs`). Leases on ranges work as for whole tables ([`TableLease`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use lacuna_cache_protocol::ports::{Clock, Coordinator, Directory, Reply, Tenure};
use lacuna_cache_protocol::{Advice, Epoch, RangeId, RangeLoad, RangeTable};
use lacuna_cache_protocol::{Error, Result};

use crate::sql::database::{Database, in_time};
use crate::sql::members::Members;
use crate::sql::numbers::Numbers;
use crate::sql::own_tables::ensure;
use crate::sql::sql_value::text;
use crate::sql::table_lease::TableLease;

/// A coordinator and directory in the database of the table. The cuts of the table never change.
#[derive(Debug)]
pub struct SharedRanges {
    lease: TableLease,
    members: Members,
    numbers: Numbers,
    table: Arc<RangeTable>,
}

impl SharedRanges {
    pub(crate) async fn open(
        database: Arc<dyn Database>,
        clock: Arc<dyn Clock>,
        cache_count: usize,
        (name, table): (&str, &RangeTable),
        address: &str,
    ) -> Result<Self> {
        let database = in_time(database);
        let type_of_names = database.dialect().name_type();
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS lacuna_cut (name {type_of_names} NOT NULL PRIMARY KEY, cuts TEXT NOT NULL)"
        );
        ensure(&*database, "lacuna_cut", &sql).await?;
        ensure(&*database, "lacuna_member", &Members::table(&*database)).await?;
        let lease = TableLease::new(database.clone(), clock, cache_count).await?;
        if cuts_of(&lease, name).await?.is_none() {
            let cuts = [name.into(), hex(&table.to_bytes()).into()];
            // Another process may win the race.
            drop(lease.changes("INSERT INTO lacuna_cut (name, cuts) VALUES ({}, {})", &cuts).await);
        }
        let missing =
            || Error::unavailable(format!("the row of the table {name} in lacuna_cut cannot be read"));
        let table = Arc::new(cuts_of(&lease, name).await?.ok_or_else(missing)?);
        let (members, numbers) = (Members::new(name, address), Numbers::new(database, name));
        let ranges = Self { lease, members, numbers, table };
        ranges.look(&[]).await?;
        Ok(ranges)
    }

    /// The address of the owner, or of the process that should claim the range.
    async fn address_of(&self, range: RangeId) -> Result<Option<String>> {
        let row = self.numbers.row(range).await?;
        match self.lease.lease(row).await?.and_then(|lease| self.lease.owner(row, &lease)) {
            Some(holder) => Members::address(&self.lease, holder).await,
            None => Ok(self.members.heir(range)),
        }
    }

    /// Reports that this process is alive, and reads the other processes and the holders of all leases.
    async fn look(&self, loads: &[(RangeId, RangeLoad)]) -> Result<()> {
        let mut owners = BTreeMap::new();
        let leases = self.lease.leases().await?;
        for range in self.table.ranges() {
            let row = self.numbers.row(range).await?;
            let Some(lease) = leases.get(&row).filter(|lease| lease.was_held()) else { continue };
            owners.insert(range, self.lease.owner(row, lease));
        }
        self.members.look(&self.lease, loads, &self.table.ranges(), owners).await
    }
}

async fn cuts_of(lease: &TableLease, name: &str) -> Result<Option<RangeTable>> {
    let found = lease.rows("SELECT cuts FROM lacuna_cut WHERE name = {}", &[name.into()]).await?;
    let cuts = found.into_iter().flatten().next().and_then(text);
    cuts.map(|cuts| RangeTable::from_bytes(&from_hex(&cuts)?)).transpose()
}

/// Bytes of a table as text, for a column type that every database has.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Result<Vec<u8>> {
    let damaged = || Error::corrupt("the column `cuts` of lacuna_cut is not hexadecimal");
    let pair = |pair: &[u8]| {
        let pair = str::from_utf8(pair).map_err(|_| damaged())?;
        u8::from_str_radix(pair, 16).map_err(|_| damaged())
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

impl Coordinator for SharedRanges {
    fn claim(&self, range: RangeId, lost_cache: Option<usize>) -> Reply<'_, Option<Tenure>> {
        Box::pin(async move { self.lease.claim(self.numbers.row(range).await?, lost_cache).await })
    }

    fn renew(&self, range: RangeId, epoch: Epoch) -> Reply<'_, bool> {
        Box::pin(async move { self.lease.renew(self.numbers.row(range).await?, epoch).await })
    }

    fn release(&self, range: RangeId, epoch: Epoch) -> Reply<'_, ()> {
        Box::pin(async move { self.lease.release(self.numbers.row(range).await?, epoch).await })
    }
}

impl Directory for SharedRanges {
    fn table(&self) -> Reply<'_, Arc<RangeTable>> {
        Box::pin(std::future::ready(Ok(self.table.clone())))
    }

    fn address(&self, range: RangeId) -> Reply<'_, Option<String>> {
        Box::pin(self.address_of(range))
    }

    fn report(&self, loads: &[(RangeId, RangeLoad)]) -> Reply<'_, ()> {
        let loads = loads.to_vec();
        Box::pin(async move { self.look(&loads).await })
    }

    fn members(&self) -> Vec<String> {
        self.members.addresses()
    }

    fn advice(&self) -> Advice {
        self.members.advice(self.lease.holder())
    }
}
