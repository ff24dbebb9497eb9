//! The processes that own ranges of a table, which find each other through the database.
//!
//! A row of `lacuna_member` holds the address of a process and the load of its ranges (`0:120 3:44`), and is
//! counted up twice a second. A process whose count does not move for longer than a few reports counts as gone, by
//! the watcher's own clock. All of this is a hint: leases and fences decide which owner serves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{Advice, LoadSurvey, RangeId, RangeLoad};

use crate::sql::database::Database;
use crate::sql::sql_value::{SqlValue, text};
use crate::sql::table_lease::TableLease;
use crate::sql::watched::Watched;

/// How long a count may stay the same before its process counts as gone.
const ALIVE_MS: u64 = 2_500;
/// Rows of processes that are gone for this long are removed.
const FORGOTTEN_MS: u64 = 60_000;

#[derive(Debug)]
pub(crate) struct Members {
    name: String,
    address: String,
    seen: Mutex<Seen>,
}

/// The last seen state.
#[derive(Debug, Default)]
struct Seen {
    watched: Watched<i64>,
    /// Live holders, ascending, and their addresses.
    alive: BTreeMap<i64, String>,
    /// Ranges and their load.
    ranges: BTreeMap<RangeId, u64>,
    /// Ranges that were ever held, and their present holders.
    owners: BTreeMap<RangeId, Option<i64>>,
}

/// A row.
struct Member {
    holder: i64,
    address: String,
    beat: i64,
    loads: BTreeMap<RangeId, u64>,
}

impl Members {
    pub(crate) fn new(name: &str, address: &str) -> Self {
        Self { name: name.to_owned(), address: address.to_owned(), seen: Mutex::default() }
    }

    /// The statement that makes the table.
    pub(crate) fn table(database: &dyn Database) -> String {
        let name = database.dialect().name_type();
        format!(
            "CREATE TABLE IF NOT EXISTS lacuna_member (holder BIGINT NOT NULL PRIMARY KEY, name {name} NOT NULL, \
             address TEXT NOT NULL, beat BIGINT NOT NULL, loads TEXT NOT NULL){}",
            database.dialect().engine()
        )
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present or last address of a process.
    pub(crate) async fn address(lease: &TableLease, holder: i64) -> Result<Option<String>> {
        let sql = "SELECT address FROM lacuna_member WHERE holder = {}";
        let found = lease.rows(sql, &[holder.into()]).await?;
        Ok(found.into_iter().flatten().next().and_then(text))
    }

    /// The address of the process that should claim a range without an owner.
    pub(crate) fn heir(&self, range: RangeId) -> Option<String> {
        let seen = self.seen();
        let place = seen.survey(Some(range)).heirs().remove(&range)?;
        seen.alive.values().nth(place).cloned()
    }

    /// The addresses of the live processes.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.seen().alive.values().cloned().collect()
    }

    pub(crate) fn advice(&self, me: i64) -> Advice {
        let seen = self.seen();
        let Some(me) = seen.alive.keys().position(|holder| *holder == me) else { return Advice::default() };
        let survey = seen.survey(None);
        let is_left = |range: &RangeId| seen.owners.get(range) == Some(&None);
        let mine = survey.heirs().into_iter().filter(|(_, heir)| *heir == me).map(|(range, _)| range);
        Advice {
            claim: mine.filter(is_left).collect(),
            stop: Vec::new(),
            leave: survey.relief().filter(|(_, busiest)| *busiest == me).map(|(range, _)| range),
        }
    }

    /// Counts up, and reads the rows of all processes. `owners` are the ranges that were ever held.
    pub(crate) async fn look(
        &self,
        lease: &TableLease,
        loads: &[(RangeId, RangeLoad)],
        ranges: &[RangeId],
        owners: BTreeMap<RangeId, Option<i64>>,
    ) -> Result<()> {
        self.count_up(lease, loads).await?;
        let sql = "SELECT holder, address, beat, loads FROM lacuna_member WHERE name = {}";
        let found = lease.rows(sql, &[self.name.as_str().into()]).await?;
        let members: Vec<Member> = found.into_iter().filter_map(member).collect();
        for gone in self.take(lease.now_ms(), members, ranges, owners) {
            let values = [gone.holder.into(), gone.beat.into()];
            lease.changes("DELETE FROM lacuna_member WHERE holder = {} AND beat = {}", &values).await?;
        }
        Ok(())
    }

    async fn count_up(&self, lease: &TableLease, loads: &[(RangeId, RangeLoad)]) -> Result<()> {
        let loads: Vec<String> =
            loads.iter().map(|(range, load)| format!("{}:{}", range.0, load.requests)).collect();
        let (holder, loads): (SqlValue, SqlValue) = (lease.holder().into(), loads.join(" ").into());
        let update = "UPDATE lacuna_member SET beat = beat + 1, loads = {} WHERE holder = {}";
        if lease.changes(update, &[loads.clone(), holder.clone()]).await? {
            return Ok(());
        }
        let insert =
            "INSERT INTO lacuna_member (holder, name, address, beat, loads) VALUES ({}, {}, {}, 0, {})";
        let row = [holder, self.name.as_str().into(), self.address.as_str().into(), loads];
        lease.changes(insert, &row).await.map(drop)
    }

    /// Stores the read rows; returns the processes that are long gone.
    fn take(
        &self,
        now_ms: u64,
        members: Vec<Member>,
        ranges: &[RangeId],
        owners: BTreeMap<RangeId, Option<i64>>,
    ) -> Vec<Member> {
        let mut seen = self.seen();
        let there: BTreeSet<i64> = members.iter().map(|member| member.holder).collect();
        seen.watched.keep(|holder| there.contains(holder));
        seen.alive.clear();
        seen.owners = owners;
        let mut asked: BTreeMap<RangeId, u64> = ranges.iter().map(|range| (*range, 0)).collect();
        let mut gone = Vec::new();
        for member in members {
            let still_ms = seen.watched.still_for(member.holder, member.beat, now_ms);
            for (range, requests) in &member.loads {
                asked.entry(*range).and_modify(|known| *known = (*known).max(*requests));
            }
            if still_ms < ALIVE_MS {
                seen.alive.insert(member.holder, member.address);
            } else if still_ms > FORGOTTEN_MS {
                gone.push(member);
            }
        }
        seen.ranges = asked;
        gone
    }
}

impl Seen {
    /// The loads, with `free` as a range without an owner.
    fn survey(&self, free: Option<RangeId>) -> LoadSurvey {
        let mut survey = LoadSurvey::new(self.alive.len());
        for (range, requests) in &self.ranges {
            let owner = self.owners.get(range).copied().flatten().filter(|_| free != Some(*range));
            // An owner that is gone keeps its ranges until its leases are over.
            let place = |owner| self.alive.keys().position(|holder| *holder == owner).unwrap_or(usize::MAX);
            survey.add(*range, *requests, owner.map(place));
        }
        survey
    }
}

fn member(row: Vec<SqlValue>) -> Option<Member> {
    let Ok([SqlValue::Integer(holder), address, SqlValue::Integer(beat), loads]) =
        <[SqlValue; 4]>::try_from(row)
    else {
        return None;
    };
    let load = |pair: &str| {
        let (range, requests) = pair.split_once(':')?;
        Some((RangeId(range.parse().ok()?), requests.parse().ok()?))
    };
    let loads = text(loads)?.split(' ').filter_map(load).collect();
    Some(Member { holder, address: text(address)?, beat, loads })
}
