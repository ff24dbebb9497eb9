//! How an owner task releases its range: to stop, to come back with a cache server, or to leave it to another
//! process.

use std::sync::atomic::Ordering;

use lacuna_cache_protocol::{Application, Ending, Epoch, Event, PeerCall, Policy, RangeLoad, WriteOutcome};
use lacuna_cache_protocol::{Error, Result};
use tokio::sync::oneshot;
use tracing::{debug, info, warn};

use super::{ActiveTenure, Claims, OwnerTask};
use crate::owner::error::{logs_missing, not_drained};
use crate::owner::owner_handle::OwnerCommand;

/// How long a stopping task claims the range again to drain writes of a lost tenure, at least: servers that are being
/// started again take some seconds.
const DRAIN_PATIENCE_MS: u64 = 5_000;

/// How long a task whose range needs other logs leaves it to others: several leases.
const LOGS_PAUSE_MS: u64 = 10_000;

/// How long leases that callers hold may delay that a range is left, and leases of other owners its end. Meanwhile no new ones of
/// callers begin, and all else goes on.
const LEAVE_PATIENCE_MS: u64 = 10_000;

/// How long a range is not left after a lease has delayed it for that long.
const LEAVE_PAUSE_MS: u64 = 30_000;

/// That the range is to be left as soon as no caller holds a lease.
#[derive(Debug, Default)]
pub(super) struct WishToLeave {
    present: Option<Wish>,
    /// No other wish is heard until then.
    rests_until_ms: u64,
}

#[derive(Debug, Clone, Copy)]
struct Wish {
    since_ms: u64,
    is_for_others: bool,
}

impl WishToLeave {
    fn add(&mut self, now_ms: u64, is_for_others: bool) {
        if now_ms >= self.rests_until_ms {
            let wish = self.present.get_or_insert(Wish { since_ms: now_ms, is_for_others });
            wish.is_for_others |= is_for_others;
        }
    }

    pub(super) const fn is_over(&mut self) {
        self.present = None;
    }

    /// Whether it has waited too long; then it is over for a while.
    fn is_late(&mut self, now_ms: u64) -> bool {
        let is_late =
            self.present.is_some_and(|wish| now_ms.saturating_sub(wish.since_ms) >= LEAVE_PATIENCE_MS);
        if is_late {
            (self.present, self.rests_until_ms) = (None, now_ms.saturating_add(LEAVE_PAUSE_MS));
        }
        is_late
    }
}

/// A task that is to stop.
#[derive(Debug)]
pub(super) struct Stopping {
    since_ms: u64,
    replies: Vec<oneshot::Sender<Result<()>>>,
}

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

    /// The cache server of the tenure answers again, or the coordinator that granted one without.
    pub(super) fn leave_bypass(&mut self) {
        if let Some(active) = &self.active {
            self.unreachable.remove(&active.tenure.cache);
        }
        self.leave_when_free(false);
    }

    /// Makes the owner finish its tasks and end.
    pub(super) fn leave(&mut self) {
        if let Some(active) = self.active.as_mut().filter(|active| active.leaving_since_ms.is_none()) {
            active.leaving_since_ms = Some(self.handle.now_ms());
            self.drive(Event::Stop);
        }
    }

    /// Requests that come meanwhile wait, and are sent to the next owner.
    pub(super) fn leave_to_others(&mut self) {
        self.leave_when_free(true);
    }

    /// Leaves once no caller holds a lease: an owner that waits for one to end serves no request.
    fn leave_when_free(&mut self, is_for_others: bool) {
        if self.active.is_some() {
            self.wish.add(self.handle.now_ms(), is_for_others);
            self.leave_if_free();
        }
    }

    pub(super) fn leave_if_free(&mut self) {
        let (Some(wish), Some(active)) = (self.wish.present, &self.active) else { return };
        if !active.owner.is_held() {
            debug!(
                range = self.handle.range.0,
                for_others = wish.is_for_others,
                "the range is to be given up"
            );
            self.wish.is_over();
            self.leave();
            self.active.iter_mut().for_each(|active| active.is_for_others |= wish.is_for_others);
        } else if self.wish.is_late(self.handle.now_ms()) {
            self.ask_those_that_waited();
        }
    }

    /// Whether a request waits until the range was left: a lease that begins now would delay that.
    pub(super) fn waits_for_leaving(&self, active: &ActiveTenure<A>, heard: &OwnerCommand) -> bool {
        let Some(since_ms) = active.leaving_since_ms else {
            return self.wish.present.is_some() && matches!(heard, OwnerCommand::Hold(..));
        };
        match heard {
            // The range is left when the leases are released that other owners have here.
            OwnerCommand::Peer(_, _, PeerCall::Release, _) => false,
            OwnerCommand::Peer(_, _, what, _) if what.is_about_a_held_lease() => {
                self.handle.now_ms().saturating_sub(since_ms) >= LEAVE_PATIENCE_MS
            }
            _ => true,
        }
    }

    pub(super) fn ask_those_that_waited(&mut self) {
        self.waiting_for_tenure.take().into_iter().for_each(|heard| self.ask(heard));
    }

    pub(super) fn stop(&mut self, reply: Option<oneshot::Sender<Result<()>>>) {
        let since_ms = self.handle.now_ms();
        let stopping = self.stopping.get_or_insert(Stopping { since_ms, replies: Vec::new() });
        stopping.replies.extend(reply);
        if self.claims == Claims::OnDemand && self.active.is_none() && !self.is_claiming {
            if !self.may_have_left {
                return self.finish(None);
            }
            self.claim();
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
        self.look_what_is_left();
        // A tenure that begins in order to stop ends so before it is published.
        self.may_have_left &= ending != Ending::Stopped;
        let active = self.active.take();
        let is_for_others = active.as_ref().is_some_and(|active| active.is_for_others);
        // If the coordinator is away again, only its present owner can go on past the cache.
        let caches = &self.handle.servers.caches;
        let is_past_the_cache = active.as_ref().is_some_and(|active| active.tenure.cache >= caches.len());
        let was_published = active.is_some_and(|active| active.is_published);
        self.failures = if was_published { 0 } else { self.failures + 1 };
        if self.stopping.is_some() && ending == Ending::Stopped {
            return self.finish(epoch);
        }
        if self.gives_up_draining() {
            // If writes may still be under way, the lease must run out: the range must not be cut before.
            return self.finish(None);
        }
        if ending == Ending::LogsMissing && self.claims == Claims::OnDemand {
            // Its lease runs out. To give it back would say that the store has every write.
            self.refused_until_ms = self.handle.now_ms().saturating_add(LOGS_PAUSE_MS);
            self.answer_durable(WriteOutcome::Unknown);
            return self.waiting_for_tenure.send_away(logs_missing);
        }
        let may_give_back = self.claims == Claims::OnDemand && ending == Ending::Stopped;
        let is_unwanted = self.waiting_for_tenure.is_empty() && !is_past_the_cache;
        match epoch {
            Some(epoch) if may_give_back && (is_for_others || is_unwanted) => self.give_back(epoch),
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
        self.waiting_for_tenure.send_away(|| Error::unavailable("the range was given to another process"));
        if self.stopping.is_some() {
            self.finish(None);
        }
    }

    /// Whether a task that is to stop claims no other tenure, after the last has ended or could not be claimed. Buffered
    /// writes that the store lacks need one.
    pub(super) fn gives_up_draining(&self) -> bool {
        let Some(stopping) = &self.stopping else { return false };
        let is_late = self.handle.now_ms().saturating_sub(stopping.since_ms) >= DRAIN_PATIENCE_MS;
        !self.may_have_left || is_late
    }

    /// Notes what a tenure leaves that has ended, or is lost. Nothing if it has served and the store has every write of it.
    pub(super) fn look_what_is_left(&mut self) {
        if let Some(active) = &self.active {
            self.may_have_left = self.config.policy == Policy::WriteBack
                && !(active.has_served && active.owner.buffered().is_empty());
        }
    }

    pub(super) fn finish(&mut self, epoch: Option<Epoch>) {
        self.is_done = true;
        let is_drained = !self.may_have_left;
        self.answer_durable(WriteOutcome::Unknown);
        let handle = self.handle.clone();
        let waiting = self.stopping.take().map(|stopping| stopping.replies).unwrap_or_default();
        drop(self.waiting_for_tenure.take());
        if !is_drained {
            warn!(range = handle.range.0, "stopped with acknowledged writes that may be in the logs alone");
        }
        tokio::spawn(async move {
            if let Some(epoch) = epoch {
                drop(handle.servers.coordinator.release(handle.range, epoch).await);
            }
            for reply in waiting {
                // The caller may have stopped waiting.
                let _ = reply.send(if is_drained { Ok(()) } else { Err(not_drained()) });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_to_leave_is_over_after_a_while_and_then_rests() {
        let mut wish = WishToLeave::default();
        wish.add(1_000, false);
        wish.add(2_000, true);
        assert!(!wish.is_late(1_000 + LEAVE_PATIENCE_MS - 1));
        assert!(wish.present.is_some_and(|wish| wish.is_for_others && wish.since_ms == 1_000));
        let late = 1_000 + LEAVE_PATIENCE_MS;
        assert!(wish.is_late(late) && wish.present.is_none());
        wish.add(late + LEAVE_PAUSE_MS - 1, false);
        assert!(wish.present.is_none());
        wish.add(late + LEAVE_PAUSE_MS, false);
        assert!(wish.present.is_some());
    }
}
