//! Requests for several ranges at once: results of one moment, and leases that callers hold.

use std::time::Duration;

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::{Query, RangeId, Touched, Value, Write};

use super::dendrite_state::DendriteState;
use super::request::{GRACE, Tried, tried_here, tried_there};
use super::{Answer, Forwarding};
use crate::owner::counters::count;
use crate::owner::open_lease::OpenLease;

impl DendriteState {
    pub(super) async fn read_all(
        &self,
        queries: &[Query],
        within: Duration,
        forwarding: Forwarding,
    ) -> Result<Answer<Vec<Value>>> {
        let touched: Vec<Touched> =
            queries.iter().map(|query| (query.domain, query.interval.clone())).collect();
        let until = self.until(within);
        let here = |range| self.read_all_here(range, queries, until);
        let there = |address: String| async move {
            tried_there(self.membership.transport.read_all(&address, queries, self.left(until)).await)
        };
        self.travel(&touched, until, forwarding, here, there).await
    }

    async fn read_all_here(
        &self,
        range: RangeId,
        queries: &[Query],
        until_ms: u64,
    ) -> Result<Tried<Vec<Value>>> {
        let answered = self.handle(range)?.read_all(queries.to_vec(), self.left(until_ms) + GRACE).await?;
        if answered.outcome.is_some() {
            count(&self.counters.reads);
        }
        tried_here(answered)
    }

    pub(super) async fn hold(
        &self,
        held: &Write,
        lasts: Duration,
        within: Duration,
        forwarding: Forwarding,
    ) -> Result<Answer<OpenLease>> {
        let (touched, until) = (self.table().whole(&held.touched), self.until(within));
        let here = |range| async move {
            tried_here(self.handle(range)?.hold(held.clone(), lasts, self.left(until) + GRACE).await?)
        };
        let there = |address: String| async move {
            tried_there(self.membership.transport.hold(&address, held, lasts, self.left(until)).await)
        };
        self.travel(&touched, until, forwarding, here, there).await
    }
}
