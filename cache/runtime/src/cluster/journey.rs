//! The path of a client's request: to the owner that it knows, or to a dendrite that finds the owner.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::owner::WriteError;
use crate::owner::slow::Begun;
use lacuna_cache_protocol::{Error, ErrorKind, Result};
use lacuna_cache_protocol::{RangeId, RangeTable, Touched};
use tokio::time::Instant;
use tracing::{debug, info};

use crate::cluster::ask::{Answered, Asking, Redirected};
use crate::cluster::client::Client;
use crate::cluster::hello::Role;
use crate::cluster::link::Link;

/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(5);
/// After this many redirects of one request, the dendrites are asked to forward it themselves.
const MAX_REDIRECTS: u32 = 3;

/// How long a try of a read may take after `failed` ones: twice as long after each, up to 32 times. Otherwise a query that
/// takes longer than the first, and whose result is not cached, would be begun again and again and never end.
pub(crate) fn longer_try(first: Duration, failed: u32) -> Duration {
    first * (1 << failed.min(5))
}

/// A request in progress.
struct Journey {
    until: Instant,
    tries: u32,
    redirects: u32,
    range: RangeId,
}

impl Client {
    pub(crate) fn table(&self) -> Arc<RangeTable> {
        self.inner.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks one dendrite after the other for what is `touched`, until one answers, refuses, or may have executed
    /// it.
    ///
    /// # Errors
    /// The last error; `NotDone` if there is no time left for another try.
    pub(crate) async fn travel<T, F>(
        &self,
        touched: &[Touched],
        ask: impl Fn(Arc<Link>, Asking) -> F,
    ) -> Result<T, WriteError>
    where
        F: Future<Output = Result<Answered<T>, WriteError>>,
    {
        let begun = Begun::now();
        let travelled = self.travel_on(touched, ask).await;
        if let Some(took_ms) = begun.slow_ms() {
            let is_answered = travelled.is_ok();
            info!(
                collection = self.inner.links.collection(),
                took_ms, is_answered, "a request has taken long"
            );
        }
        travelled
    }

    async fn travel_on<T, F>(
        &self,
        touched: &[Touched],
        ask: impl Fn(Arc<Link>, Asking) -> F,
    ) -> Result<T, WriteError>
    where
        F: Future<Output = Result<Answered<T>, WriteError>>,
    {
        let (until, range) = (Instant::now() + self.patience, self.table().leader(touched)?);
        let mut journey = Journey { until, tries: 0, redirects: 0, range };
        loop {
            let why = match self.link(&journey).await {
                Ok(link) => match ask(link, self.asking(&journey)).await {
                    Ok(Answered::Is(answer)) => return Ok(answer),
                    Ok(Answered::Redirected(to)) => {
                        self.follow(&mut journey, touched, to);
                        continue;
                    }
                    Err(WriteError::NotDone(why)) => why,
                    Err(error) => return Err(error),
                },
                Err(why) => why,
            };
            self.pause_before_next(&mut journey, why).await.map_err(WriteError::NotDone)?;
        }
    }

    /// The same for a request that changes nothing: after any failure of a dendrite the next is asked, unless the
    /// request is invalid.
    ///
    /// # Errors
    /// The last error.
    pub(crate) async fn travel_idly<T, F>(
        &self,
        touched: &[Touched],
        ask: impl Fn(Arc<Link>, Asking) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<Answered<T>>>,
    {
        let travelled = self.travel(touched, |link, how| {
            let asked = ask(link, how);
            async move {
                asked.await.map_err(|why| match why.kind() {
                    ErrorKind::InvalidInput => WriteError::Refused(why),
                    _ => WriteError::NotDone(why),
                })
            }
        });
        travelled.await.map_err(|error| match error {
            WriteError::Refused(why) | WriteError::NotDone(why) => why,
            WriteError::Unknown => unreachable!("a request that changes nothing has a known outcome"),
        })
    }

    fn asking(&self, journey: &Journey) -> Asking {
        Asking {
            within: journey.until.saturating_duration_since(Instant::now()),
            may_redirect: journey.redirects < MAX_REDIRECTS,
            version: self.table().version(),
        }
    }

    /// The address to ask for a range: its owner if known, else always the same dendrite, and if that does not
    /// answer the next.
    fn address(&self, journey: &Journey) -> String {
        let places = self.inner.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(&journey.range) {
            return place.clone();
        }
        let mut addresses: Vec<&String> = self.inner.addresses.iter().collect();
        let weight =
            |address: &&String| lacuna_base::hash::hash_bytes(address.as_bytes(), journey.range.0.into());
        addresses.sort_by_key(weight);
        addresses[journey.tries as usize % addresses.len()].clone()
    }

    async fn link(&self, journey: &Journey) -> Result<Arc<Link>> {
        self.inner.links.to(&self.address(journey), Role::Client).await
    }

    fn follow(&self, journey: &mut Journey, touched: &[Touched], to: Redirected) {
        self.inner.tally.redirect();
        journey.redirects += 1;
        debug!(range = to.range.0, address = to.address, "the owner of a range is another dendrite");
        if let Some(table) = to.table {
            let mut known = self.inner.table.write().unwrap_or_else(PoisonError::into_inner);
            if known.version() < table.version() {
                *known = Arc::new(table);
                self.inner.places.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
        }
        self.inner.places.lock().unwrap_or_else(PoisonError::into_inner).insert(to.range, to.address);
        journey.range = self.table().leader(touched).unwrap_or(journey.range);
    }

    /// Nothing was executed: pauses before the next dendrite is asked; an error if there is no time left.
    async fn pause_before_next(&self, journey: &mut Journey, why: Error) -> Result<()> {
        self.inner.places.lock().unwrap_or_else(PoisonError::into_inner).remove(&journey.range);
        journey.tries += 1;
        // What the dendrite says may come from the database, and hold values of rows.
        debug!(range = journey.range.0, tries = journey.tries, why = ?why.kind(), "a request was not executed");
        if Instant::now() >= journey.until {
            return Err(why);
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}
