//! Leases that a caller holds here, by the tickets of its requests.
//!
//! They end with the connection: a dropped lease counts as abandoned.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cluster::dendrite::Answer;
use crate::owner::OpenLease;
use lacuna_cache_protocol::{Error, Write};

use super::Served;
use super::answer::{failed, forwarding, redirect, within};
use crate::cluster::hello::Role;
use crate::cluster::message::{How, Message, Terms};

/// A request for a lease. It is forgotten with this, unless it was granted.
#[derive(Debug)]
pub(super) struct AskedHold {
    holds: Holds,
    ticket: u64,
}

impl Drop for AskedHold {
    fn drop(&mut self) {
        let mut held = self.holds.held();
        if let Some(None) = held.get(&self.ticket) {
            held.remove(&self.ticket);
        }
    }
}

impl AskedHold {
    pub(super) async fn answer(
        self,
        served: &Served,
        role: Role,
        terms: Terms,
        held: &Write,
        lasts_ms: u64,
    ) -> Message {
        if !self.holds.held().contains_key(&self.ticket) {
            return self.withdrawn();
        }
        let lasts = Duration::from_millis(lasts_ms);
        match served.dendrite.hold(held, lasts, within(terms), forwarding(role, terms)).await {
            Ok(Answer::Is(lease)) => self.hold(lease),
            Ok(Answer::At(range, address)) => redirect(&served.dendrite, self.ticket, terms, range, address),
            Err(why) => failed(self.ticket, How::NotDone, &why),
        }
    }

    fn hold(self, lease: OpenLease) -> Message {
        let fences = lease.fences().to_vec();
        match self.holds.held().get_mut(&self.ticket) {
            Some(place) => *place = Some(lease),
            None => {
                lease.let_go();
                return self.withdrawn();
            }
        }
        Message::HeldAll(self.ticket, fences)
    }

    fn withdrawn(&self) -> Message {
        failed(self.ticket, How::NotDone, &Error::unavailable("the caller withdrew the request"))
    }
}

/// The leases of one connection. `None` for a request that is not answered yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Holds(Arc<Mutex<BTreeMap<u64, Option<OpenLease>>>>);

impl Holds {
    fn held(&self) -> MutexGuard<'_, BTreeMap<u64, Option<OpenLease>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request before it is answered: it may be withdrawn meanwhile.
    pub(super) fn begin(&self, ticket: u64) -> AskedHold {
        self.held().insert(ticket, None);
        AskedHold { holds: self.clone(), ticket }
    }

    /// The caller's final message about the lease that it requested with the ticket `about`.
    pub(super) async fn over(&self, ticket: u64, about: u64, is_sure: bool) -> Message {
        let lease = self.held().remove(&about).flatten();
        let given_back = match lease {
            Some(lease) if is_sure => lease.give_back().await,
            _ => Err(Error::unavailable("the lease was lost or withdrawn")),
        };
        match given_back {
            Ok(()) => Message::Done(ticket),
            Err(why) => failed(ticket, How::NotDone, &why),
        }
    }
}
