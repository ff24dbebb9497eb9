//! Requests for several ranges at once: results of one moment, and leases for bulk loads.

use std::time::Duration;

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{Query, RangeId, Touched, Value};

use super::house::House;
use super::request::{GRACE, Tried, tried_here, tried_there};
use super::{Answer, Reach};
use crate::owner::bulk::BulkLease;
use crate::owner::counters::count;

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
        let here = |range| self.read_all_here(range, queries, until);
        let there = |address: String| async move {
            tried_there(self.around.neighbours.read_all(&address, queries, self.left(until)).await)
        };
        self.travel(&touched, until, reach, here, there).await
    }

    async fn read_all_here(
        &self,
        range: RangeId,
        queries: &[Query],
        until_ms: u64,
    ) -> Result<Tried<Vec<Value>>> {
        let told = self.desk(range)?.read_all(queries.to_vec(), self.left(until_ms) + GRACE).await?;
        if told.outcome.is_some() {
            count(&self.counters.reads);
        }
        tried_here(told)
    }

    pub(super) async fn bulk(
        &self,
        lasts: Duration,
        within: Duration,
        reach: Reach,
    ) -> Result<Answer<BulkLease>> {
        let (touched, until) = (self.table().whole(&[]), self.until(within));
        let here =
            |range| async move { tried_here(self.desk(range)?.bulk(lasts, self.left(until) + GRACE).await?) };
        let there = |address: String| async move {
            tried_there(self.around.neighbours.bulk(&address, lasts, self.left(until)).await)
        };
        self.travel(&touched, until, reach, here, there).await
    }
}
