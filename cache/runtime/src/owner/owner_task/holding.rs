//! Leases that callers hold, and the owner here leads.

use lacuna_cache_protocol::{Application, Epoch, Event, RangeId, RequestId, WriteOutcome};
use tokio::sync::oneshot;

use super::OwnerTask;
use crate::owner::open_lease::open_lease;
use crate::owner::owner_handle::{OwnerCommand, OwnerReply};

/// Longest lease: a holder that is silent for this long counts as ended. Twice as long as the longest transaction, whose
/// leases begin before it and last until after it.
const MAX_LEASE_MS: u64 = 7_200_000;

/// A lease that is held.
#[derive(Debug)]
pub(super) struct Held {
    until_ms: u64,
    given_back: Option<oneshot::Sender<bool>>,
}

impl<A: Application + Clone + Send + Sync + 'static> OwnerTask<A> {
    pub(super) fn hold_ready(&mut self, request: RequestId, held: Vec<(RangeId, Epoch)>) {
        let (Some(epoch), Some((lasts_ms, reply))) = (self.epoch(), self.requests.hold_ready(request)) else {
            return;
        };
        let fences = std::iter::once((self.handle.range, epoch)).chain(held).collect();
        let Ok((lease, end)) = open_lease(fences) else { return };
        let until_ms = self.handle.now_ms().saturating_add(lasts_ms.min(MAX_LEASE_MS));
        self.holds.insert(request, Held { until_ms, given_back: None });
        let commands = self.handle.commands.clone();
        tokio::spawn(async move { drop(commands.send(OwnerCommand::HoldOver(request, end.ended().await))) });
        let answered = OwnerReply { outcome: Some(lease), why: None, is_elsewhere: false };
        // The caller may have stopped waiting, and has written nothing.
        if let Err(OwnerReply { outcome: Some(lease), .. }) = reply.send(answered) {
            lease.let_go();
        }
    }

    /// The holder has released its lease, or ended without releasing it.
    pub(super) fn hold_over(&mut self, request: RequestId, reply: Option<oneshot::Sender<bool>>) {
        match (self.holds.get_mut(&request), reply) {
            (Some(held), Some(reply)) => {
                held.given_back = Some(reply);
                self.drive(Event::HoldDone(request));
            }
            (Some(_), None) => self.drive(Event::HoldAbandoned(request)),
            (None, Some(reply)) => {
                // The caller may have stopped waiting, here and below.
                let _ = reply.send(false);
            }
            (None, None) => {}
        }
    }

    /// The owner's final answer about a lease.
    pub(super) fn hold_done(&mut self, request: RequestId, outcome: WriteOutcome) {
        if let Some(reply) = self.holds.remove(&request).and_then(|held| held.given_back) {
            let _ = reply.send(outcome == WriteOutcome::Done);
        }
    }

    pub(super) fn end_late_holds(&mut self) {
        let now = self.handle.now_ms();
        let is_late = |held: &Held| held.until_ms <= now;
        let late: Vec<RequestId> =
            self.holds.iter().filter(|(_, held)| is_late(held)).map(|(request, _)| *request).collect();
        late.into_iter().for_each(|request| self.drive(Event::HoldAbandoned(request)));
    }
}
