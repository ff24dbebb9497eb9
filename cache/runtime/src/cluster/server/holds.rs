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

/// The leases of one connection. `None` for a request that is not answered yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Holds(Arc<Mutex<BTreeMap<u64, Option<OpenLease>>>>);

impl Holds {
    fn held(&self) -> MutexGuard<'_, BTreeMap<u64, Option<OpenLease>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request before it is answered: it may be withdrawn meanwhile.
    pub(super) fn begin(&self, ticket: u64) {
        self.held().insert(ticket, None);
    }

    pub(super) async fn answer(
        &self,
        served: &Served,
        role: Role,
        ticket: u64,
        terms: Terms,
        held: &Write,
        lasts_ms: u64,
    ) -> Message {
        let lasts = Duration::from_millis(lasts_ms);
        match served.dendrite.hold(held, lasts, within(terms), forwarding(role, terms)).await {
            Ok(Answer::Is(lease)) => self.hold(ticket, lease),
            Ok(Answer::At(range, address)) => {
                self.held().remove(&ticket);
                redirect(&served.dendrite, ticket, terms, range, address)
            }
            Err(why) => {
                self.held().remove(&ticket);
                failed(ticket, How::NotDone, &why)
            }
        }
    }

    fn hold(&self, ticket: u64, lease: OpenLease) -> Message {
        let fences = lease.fences().to_vec();
        match self.held().get_mut(&ticket) {
            Some(place) => *place = Some(lease),
            None => {
                lease.let_go();
                return failed(ticket, How::NotDone, &Error::unavailable("the caller withdrew the request"));
            }
        }
        Message::HeldAll(ticket, fences)
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
