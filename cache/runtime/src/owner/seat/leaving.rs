//! How a seat lets its range go: to stop, to come back with a cache server, or for another process to have it.

use std::sync::atomic::Ordering;

use lacuna_cache_protocol::Error;
use lacuna_cache_protocol::{Application, Ending, Epoch, Event, Policy, RangeLoad};
use tokio::sync::oneshot;

use super::{Claims, Seat, send_away};
use crate::owner::desk::Heard;

/// How often a stopping seat takes the range again to drain what a lost tenure left.
const DRAIN_ATTEMPTS: u32 = 5;

impl<A: Application + Clone + Send + 'static> Seat<A> {
    /// What was asked of the owner, and of the cache server past it.
    pub(super) fn tell_load(&mut self, reply: oneshot::Sender<RangeLoad>) {
        let load = self.sitting.as_mut().map(|sitting| sitting.owner.read_load());
        let mut load = load.unwrap_or_default();
        load.requests += self.desk.unseen.swap(0, Ordering::Relaxed);
        // Whoever asked may have gone.
        let _ = reply.send(load);
    }

    pub(super) fn leave_bypass(&mut self) {
        self.unreachable.clear();
        self.leave();
    }

    /// Has the owner finish what it has begun, and end.
    pub(super) fn leave(&mut self) {
        if let Some(sitting) = self.sitting.as_mut().filter(|sitting| !sitting.is_leaving) {
            sitting.is_leaving = true;
            self.drive(Event::Stop);
        }
    }

    /// Whoever asks meanwhile waits, and is sent to the next owner.
    pub(super) fn leave_to_others(&mut self) {
        self.leave();
        self.sitting.iter_mut().for_each(|sitting| sitting.is_for_others = true);
    }

    pub(super) fn stop(&mut self, reply: Option<oneshot::Sender<()>>) {
        self.stopping.get_or_insert_default().extend(reply);
        if self.claims == Claims::OnDemand && self.sitting.is_none() && !self.is_claiming {
            return self.finish(None);
        }
        self.leave();
    }

    pub(super) fn ended(&mut self, ending: Ending) {
        self.desk.route.set(None);
        self.guests.go_away();
        let epoch = self.epoch();
        let sitting = self.sitting.take();
        let is_for_others = sitting.as_ref().is_some_and(|sitting| sitting.is_for_others);
        let was_published = sitting.is_some_and(|sitting| sitting.is_published);
        self.failures = if was_published { 0 } else { self.failures + 1 };
        let is_drained = ending == Ending::Stopped || self.is_drained();
        if self.stopping.is_some() && is_drained {
            // Whose writes may still be under way, lets its lease run out: nobody may cut the range before.
            return self.finish(epoch.filter(|_| ending == Ending::Stopped));
        }
        self.drains += u32::from(self.stopping.is_some());
        let may_give_back = self.claims == Claims::OnDemand && ending == Ending::Stopped;
        match epoch {
            Some(epoch) if may_give_back && (is_for_others || self.room.is_empty()) => self.give_back(epoch),
            _ => self.claim(),
        }
    }

    /// Until it is given back nobody here claims it.
    fn give_back(&mut self, epoch: Epoch) {
        self.is_claiming = true;
        let desk = self.desk.clone();
        tokio::spawn(async move {
            drop(desk.servers.coordinator.release(desk.range, epoch).await);
            drop(desk.mouth.send(Heard::GivenBack));
        });
    }

    pub(super) fn given_back(&mut self) {
        self.is_claiming = false;
        send_away(&mut self.room, || Error::unavailable("the range was given to another process"));
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
        let (desk, waiting) = (self.desk.clone(), self.stopping.take().unwrap_or_default());
        self.room.clear();
        tokio::spawn(async move {
            if let Some(epoch) = epoch {
                drop(desk.servers.coordinator.release(desk.range, epoch).await);
            }
            for reply in waiting {
                // Whoever asked may have gone.
                let _ = reply.send(());
            }
        });
    }
}
