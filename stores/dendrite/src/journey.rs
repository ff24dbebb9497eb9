//! Where the request of a client goes: to the owner it knows, or to a dendrite that will know it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use lacuna_core::{Error, Result};
use lacuna_range_cache::{Interval, RangeId, RangeTable, Touched};
use tokio::time::Instant;

use crate::ask::{Asking, Redirected};
use crate::client::Client;
use crate::hello::Role;
use crate::link::Link;

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);
/// After so many redirects of one request, dendrites are asked to hand it on themselves.
const MOST_REDIRECTS: u32 = 3;

/// A request on its way.
pub(crate) struct Journey {
    until: Instant,
    tries: u32,
    redirects: u32,
    range: RangeId,
}

impl Client {
    fn table(&self) -> Arc<RangeTable> {
        self.inner.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// As the owner will see a write: domains that it does not name are taken whole.
    pub(crate) fn whole(&self, touched: &[Touched]) -> Vec<Touched> {
        let mut touched = touched.to_vec();
        for domain in 0..self.table().domain_count() {
            if touched.iter().all(|(named, _)| *named != domain) {
                touched.push((domain, Interval::all()));
            }
        }
        touched
    }

    fn leader(&self, touched: &[Touched]) -> Result<RangeId> {
        let table = self.table();
        if let Some((domain, _)) = touched.iter().find(|(domain, _)| *domain >= table.domain_count()) {
            return Err(Error::invalid_input(format!("the collection has no domain {domain}")));
        }
        let leader = table.parts(touched).into_keys().next();
        leader.ok_or_else(|| Error::invalid_input("the request touches no range"))
    }

    pub(crate) fn begin(&self, touched: &[Touched]) -> Result<Journey> {
        let (until, range) = (Instant::now() + self.patience, self.leader(touched)?);
        Ok(Journey { until, tries: 0, redirects: 0, range })
    }

    pub(crate) fn asking(&self, journey: &Journey) -> Asking {
        Asking {
            within: journey.until.saturating_duration_since(Instant::now()),
            may_redirect: journey.redirects < MOST_REDIRECTS,
            version: self.table().version(),
        }
    }

    /// Where a range is asked for: at its owner if that is known, else always at the same dendrite, and after that did not
    /// answer at the next.
    fn address(&self, journey: &Journey) -> String {
        let places = self.inner.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(&journey.range) {
            return place.clone();
        }
        let mut addresses: Vec<&String> = self.inner.addresses.iter().collect();
        let weight =
            |address: &&String| lacuna_core::hash::hash_bytes(address.as_bytes(), journey.range.0.into());
        addresses.sort_by_key(weight);
        addresses[journey.tries as usize % addresses.len()].clone()
    }

    pub(crate) async fn link(&self, journey: &Journey) -> Result<Arc<Link>> {
        self.inner.links.to(&self.address(journey), Role::Client).await
    }

    pub(crate) fn follow(&self, journey: &mut Journey, touched: &[Touched], to: Redirected) {
        self.inner.tally.redirect();
        journey.redirects += 1;
        if let Some(table) = to.table {
            let mut known = self.inner.table.write().unwrap_or_else(PoisonError::into_inner);
            if known.version() < table.version() {
                *known = Arc::new(table);
                self.inner.places.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
        }
        self.inner.places.lock().unwrap_or_else(PoisonError::into_inner).insert(to.range, to.address);
        journey.range = self.leader(touched).unwrap_or(journey.range);
    }

    /// Nothing was done: before another dendrite is asked, a pause; an error if there is no time left.
    pub(crate) async fn lost(&self, journey: &mut Journey, why: Error) -> Result<()> {
        self.inner.places.lock().unwrap_or_else(PoisonError::into_inner).remove(&journey.range);
        journey.tries += 1;
        if Instant::now() >= journey.until {
            return Err(why);
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}
