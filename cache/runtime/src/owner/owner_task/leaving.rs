//! How a seat lets its range go: to stop, to come back with a cache server, or for another process to have it.

use std::sync::atomic::Ordering;

use lacuna_cache_protocol::Error;
use lacuna_cache_protocol::{Application, Ending, Epoch, Event, Policy, RangeLoad};
use tokio::sync::oneshot;

use super::{Claims, OwnerTask, send_away};
use crate::owner::owner_handle::OwnerCommand;

/// How often a stopping seat takes the range again to drain what a lost tenure left.
const DRAIN_ATTEMPTS: u32 = 5;

impl<A: Application + Clone + Send + 'static> OwnerTask<A> {
    /// What was asked of the owner, and of the cache server past it.
    pub(super) fn tell_load(&mut self, reply: oneshot::Sender<RangeLoad>) {
        let load = self.active.as_mut().map(|active| active.owner.read_load());
        let mut load = load.unwrap_or_default();
        load.requests += self.handle.unseen.swap(0, Ordering::Relaxed);
        // Whoever asked may have gone.
        let _ = reply.send(load);
    }

    pub(super) fn leave_bypass(&mut self) {
        self.unreachable.clear();
        self.leave();
    }

    /// Has the owner finish what it has begun, and end.
    pub(super) fn leave(&mut self) {
        if let Some(active) = self.active.as_mut().filter(|active| !active.is_leaving) {
            active.is_leaving = true;
            self.drive(Event::Stop);
        }
    }

    /// Whoever asks meanwhile waits, and is sent to the next owner.
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
        let epoch = self.epoch();
        let active = self.active.take();
        let is_for_others = active.as_ref().is_some_and(|active| active.is_for_others);
        let was_published = active.is_some_and(|active| active.is_published);
        self.failures = if was_published { 0 } else { self.failures + 1 };
        let is_drained = ending == Ending::Stopped || self.is_drained();
        if self.stopping.is_some() && is_drained {
            // Whose writes may still be under way, lets its lease run out: nobody may cut the range before.
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

    /// Until it is given back nobody here claims it.
    fn give_back(&mut self, epoch: Epoch) {
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

    /// Whether a stopping seat leaves nothing behind that only an owner can put into the store.
    pub(super) fn is_drained(&self) -> bool {
        self.config.policy != Policy::WriteBack || self.drains >= DRAIN_ATTEMPTS
    }

    pub(super) fn finish(&mut self, epoch: Option<Epoch>) {
        self.is_done = true;
        let (handle, waiting) = (self.handle.clone(), self.stopping.take().unwrap_or_default());
        self.waiting_for_tenure.clear();
        tokio::spawn(async move {
            if let Some(epoch) = epoch {
                drop(handle.servers.coordinator.release(handle.range, epoch).await);
            }
            for reply in waiting {
                // Whoever asked may have gone.
                let _ = reply.send(());
            }
        });
    }
}
