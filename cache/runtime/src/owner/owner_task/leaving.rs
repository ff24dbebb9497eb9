//! How an owner task releases its range: to stop, to come back with a cache server, or to leave it to another
//! process.

use std::sync::atomic::Ordering;

use lacuna_cache_protocol::Error;
use lacuna_cache_protocol::{Application, Ending, Epoch, Event, Policy, RangeLoad, WriteOutcome};
use tokio::sync::oneshot;
use tracing::{info, warn};

use super::{Claims, OwnerTask, send_away};
use crate::owner::owner_handle::OwnerCommand;

/// How often a stopping task claims the range again to drain writes of a lost tenure.
const DRAIN_ATTEMPTS: u32 = 5;

impl<A: Application + Clone + Send + Sync + 'static> OwnerTask<A> {
    /// Sends the load of the owner, including hits that did not reach it.
    pub(super) fn tell_load(&mut self, reply: oneshot::Sender<RangeLoad>) {
        let load = self.active.as_mut().map(|active| active.owner.read_load());
        let mut load = load.unwrap_or_default();
        load.requests += self.handle.unseen.swap(0, Ordering::Relaxed);
        self.handle.gauges.requests.fetch_add(load.requests, Ordering::Relaxed);
        self.handle.gauges.set(self.active.as_ref().map(|active| &active.owner));
        // The caller may have stopped waiting.
        let _ = reply.send(load);
    }

    pub(super) fn leave_bypass(&mut self) {
        self.unreachable.clear();
        self.leave();
    }

    /// Makes the owner finish its tasks and end.
    pub(super) fn leave(&mut self) {
        if let Some(active) = self.active.as_mut().filter(|active| !active.is_leaving) {
            active.is_leaving = true;
            self.drive(Event::Stop);
        }
    }

    /// Requests that come meanwhile wait, and are sent to the next owner.
    pub(super) fn leave_to_others(&mut self) {
        self.leave();
        self.active.iter_mut().for_each(|active| active.is_for_others = true);
    }

    pub(super) fn stop(&mut self, reply: Option<oneshot::Sender<()>>) {
        self.stopping.get_or_insert_default().extend(reply);
        if self.claims == Claims::OnDemand && self.active.is_none() && !self.is_claiming {
            return self.finish(None);
        }
        self.leave();
    }

    pub(super) fn ended(&mut self, ending: Ending) {
        self.handle.route.set(None);
        self.peer_leases.go_away();
        let (epoch, range) = (self.epoch(), self.handle.range.0);
        match ending {
            Ending::Stopped => info!(range, "the range was given up in order"),
            _ => warn!(range, ?ending, "the tenure of the range has ended"),
        }
        let active = self.active.take();
        let is_for_others = active.as_ref().is_some_and(|active| active.is_for_others);
        let was_published = active.is_some_and(|active| active.is_published);
        self.failures = if was_published { 0 } else { self.failures + 1 };
        let is_drained = ending == Ending::Stopped || self.is_drained();
        if self.stopping.is_some() && is_drained {
            // If writes may still be under way, the lease must run out: the range must not be cut before.
            return self.finish(epoch.filter(|_| ending == Ending::Stopped));
        }
        self.drains += u32::from(self.stopping.is_some());
        let may_give_back = self.claims == Claims::OnDemand && ending == Ending::Stopped;
        match epoch {
            Some(epoch) if may_give_back && (is_for_others || self.waiting_for_tenure.is_empty()) => {
                self.give_back(epoch);
            }
            _ => self.claim(),
        }
    }

    /// Releases the tenure; until that is complete, this process does not claim the range.
    fn give_back(&mut self, epoch: Epoch) {
        self.answer_durable(WriteOutcome::Unknown);
        self.is_claiming = true;
        let handle = self.handle.clone();
        tokio::spawn(async move {
            drop(handle.servers.coordinator.release(handle.range, epoch).await);
            drop(handle.commands.send(OwnerCommand::GivenBack));
        });
    }

    pub(super) fn given_back(&mut self) {
        self.is_claiming = false;
        send_away(&mut self.waiting_for_tenure, || {
            Error::unavailable("the range was given to another process")
        });
        if self.stopping.is_some() {
            self.finish(None);
        }
    }

    /// Whether a stopping task leaves no buffered write that only an owner can put into the store.
    pub(super) fn is_drained(&self) -> bool {
        self.config.policy != Policy::WriteBack || self.drains >= DRAIN_ATTEMPTS
    }

    pub(super) fn finish(&mut self, epoch: Option<Epoch>) {
        self.is_done = true;
        self.answer_durable(WriteOutcome::Unknown);
        let (handle, waiting) = (self.handle.clone(), self.stopping.take().unwrap_or_default());
        self.waiting_for_tenure.clear();
        tokio::spawn(async move {
            if let Some(epoch) = epoch {
                drop(handle.servers.coordinator.release(handle.range, epoch).await);
            }
            for reply in waiting {
                // The caller may have stopped waiting.
                let _ = reply.send(());
            }
        });
    }
}
