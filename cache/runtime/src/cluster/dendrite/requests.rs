//! A dendrite as [`Requests`]: reads and writes, wherever the owners are.

use std::time::Duration;

use lacuna_cache_protocol::Result;
use lacuna_cache_protocol::ports::Reply;
use lacuna_cache_protocol::{DomainId, Interval, Notice, Query, RangeKey, Value, Write};
use tokio::sync::broadcast;

use super::{Answer, Dendrite, Forwarding};
use crate::owner::counters::Counts;
use crate::owner::error::{WriteError, no_owner};
use crate::owner::open_lease::OpenLease;
use crate::owner::requests::{Requests, Written};

/// A request that may be forwarded never gets a redirect.
fn found<T>(answer: Answer<T>) -> Result<T> {
    match answer {
        Answer::Is(found) => Ok(found),
        Answer::At(..) => Err(no_owner()),
    }
}

impl Requests for Dendrite {
    fn read(&self, query: Query) -> Reply<'_, Value> {
        Box::pin(async move { found(self.read(&query, self.patience, Forwarding::Anywhere).await?) })
    }

    fn read_all(&self, queries: Vec<Query>) -> Reply<'_, Vec<Value>> {
        Box::pin(async move { found(self.read_all(&queries, self.patience, Forwarding::Anywhere).await?) })
    }

    fn hold(&self, held: Write, lasts: Duration) -> Reply<'_, OpenLease> {
        Box::pin(async move { found(self.hold(&held, lasts, self.patience, Forwarding::Anywhere).await?) })
    }

    fn write(&self, write: Write) -> Written<'_> {
        Box::pin(async move {
            match self.write(&write, self.patience, Forwarding::Anywhere).await? {
                Answer::Is(()) => Ok(()),
                Answer::At(..) => Err(WriteError::NotDone(no_owner())),
            }
        })
    }

    fn pieces(&self, domain: DomainId) -> Vec<Interval<RangeKey>> {
        self.table().pieces(domain)
    }

    fn counts(&self) -> Counts {
        self.counts()
    }

    fn notices(&self) -> broadcast::Receiver<Notice> {
        self.notices()
    }
}
