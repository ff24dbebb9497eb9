//! Requests for several ranges at once: results of one moment, and leases for bulk loads.

use std::time::Duration;

use lacuna_core::{ErrorKind, Result};
use lacuna_range_cache::{Query, RangeId, Touched, Value};

use super::house::{House, Place};
use super::request::{GRACE, Tried};
use super::{Answer, Reach};
use crate::bulk::BulkLease;
use crate::counters::count;
use crate::desk::Told;
use crate::error::nobody;

/// What the seat says of a request that it cannot have carried out without an answer.
fn tried<T>(told: Told<Option<T>>) -> Result<Tried<T>> {
    let why = match told.outcome {
        Some(outcome) => return Ok(Tried::Is(outcome)),
        None => told.why.unwrap_or_else(nobody),
    };
    match why.kind() {
        ErrorKind::InvalidInput => Err(why),
        _ if told.is_elsewhere => Ok(Tried::Elsewhere(why)),
        _ => Ok(Tried::Later(why)),
    }
}

impl House {
    pub(super) async fn read_all(
        &self,
        queries: &[Query],
        within: Duration,
        reach: Reach,
    ) -> Result<Answer<Vec<Value>>> {
        let touched: Vec<Touched> =
            queries.iter().map(|query| (query.domain, query.interval.clone())).collect();
        let until = self.until(within);
        loop {
            let range = self.table().leader(&touched)?;
            let why = match self.place(range).await {
                Place::Here => match self.read_all_here(range, queries, until).await? {
                    Tried::Is(values) => {
                        count(&self.counters.reads);
                        return Ok(Answer::Is(values));
                    }
                    Tried::Later(why) => why,
                    Tried::Elsewhere(why) => self.elsewhere(range, why),
                },
                Place::At(address) if reach == Reach::Here => return Ok(Answer::At(range, address)),
                Place::At(address) => {
                    count(&self.counters.forwards);
                    let asked = self.around.neighbours.read_all(&address, queries, self.left(until));
                    match asked.await {
                        Ok(values) => return Ok(Answer::Is(values)),
                        Err(why) if why.kind() == ErrorKind::InvalidInput => return Err(why),
                        Err(why) => self.doubtful(range, why),
                    }
                }
            };
            self.pause(until, why).await?;
        }
    }

    async fn read_all_here(
        &self,
        range: RangeId,
        queries: &[Query],
        until_ms: u64,
    ) -> Result<Tried<Vec<Value>>> {
        let desk = self.desk(range)?;
        tried(desk.read_all(queries.to_vec(), self.left(until_ms) + GRACE).await?)
    }

    pub(super) async fn bulk(
        &self,
        lasts: Duration,
        within: Duration,
        reach: Reach,
    ) -> Result<Answer<BulkLease>> {
        let until = self.until(within);
        loop {
            let table = self.table();
            let range = table.leader(&table.whole(&[]))?;
            let why = match self.place(range).await {
                Place::Here => match self.bulk_here(range, lasts, until).await? {
                    Tried::Is(lease) => return Ok(Answer::Is(lease)),
                    Tried::Later(why) => why,
                    Tried::Elsewhere(why) => self.elsewhere(range, why),
                },
                Place::At(address) if reach == Reach::Here => return Ok(Answer::At(range, address)),
                Place::At(address) => {
                    count(&self.counters.forwards);
                    match self.around.neighbours.bulk(&address, lasts, self.left(until)).await {
                        Ok(lease) => return Ok(Answer::Is(lease)),
                        Err(why) => self.doubtful(range, why),
                    }
                }
            };
            self.pause(until, why).await?;
        }
    }

    async fn bulk_here(&self, range: RangeId, lasts: Duration, until_ms: u64) -> Result<Tried<BulkLease>> {
        let desk = self.desk(range)?;
        tried(desk.bulk(lasts, self.left(until_ms) + GRACE).await?)
    }
}
