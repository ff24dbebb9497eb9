//! Leases for bulk loads that the owner here leads.

use lacuna_cache_protocol::{Application, Epoch, Event, RangeId, RequestId, WriteOutcome};
use tokio::sync::oneshot;

use super::OwnerTask;
use crate::owner::bulk::bulk_lease;
use crate::owner::owner_handle::{OwnerCommand, OwnerReply};

/// Longest load: a loader that is silent for this long counts as ended.
const LONGEST_LOAD_MS: u64 = 3_600_000;

/// A running load.
#[derive(Debug)]
pub(super) struct Load {
    until_ms: u64,
    given_back: Option<oneshot::Sender<bool>>,
}

impl<A: Application + Clone + Send + Sync + 'static> OwnerTask<A> {
    pub(super) fn bulk_ready(&mut self, request: RequestId, held: Vec<(RangeId, Epoch)>) {
        let (Some(epoch), Some((lasts_ms, reply))) = (self.epoch(), self.requests.bulk_ready(request)) else {
            return;
        };
        let fences = std::iter::once((self.handle.range, epoch)).chain(held).collect();
        let Ok((lease, end)) = bulk_lease(fences) else { return };
        let until_ms = self.handle.now_ms().saturating_add(lasts_ms.min(LONGEST_LOAD_MS));
        self.loads.insert(request, Load { until_ms, given_back: None });
        let commands = self.handle.commands.clone();
        tokio::spawn(async move { drop(commands.send(OwnerCommand::BulkOver(request, end.ended().await))) });
        let answered = OwnerReply { outcome: Some(lease), why: None, is_elsewhere: false };
        // The caller may have stopped waiting, and has loaded nothing.
        if let Err(OwnerReply { outcome: Some(lease), .. }) = reply.send(answered) {
            lease.let_go();
        }
    }

    /// The loader has released its lease, or ended without releasing it.
    pub(super) fn bulk_over(&mut self, request: RequestId, reply: Option<oneshot::Sender<bool>>) {
        match (self.loads.get_mut(&request), reply) {
            (Some(load), Some(reply)) => {
                load.given_back = Some(reply);
                self.drive(Event::BulkDone(request));
            }
            (Some(_), None) => self.drive(Event::BulkAbandoned(request)),
            (None, Some(reply)) => {
                // The caller may have stopped waiting, here and below.
                let _ = reply.send(false);
            }
            (None, None) => {}
        }
    }

    /// The owner's final answer about a load.
    pub(super) fn bulk_done(&mut self, request: RequestId, outcome: WriteOutcome) {
        if let Some(reply) = self.loads.remove(&request).and_then(|load| load.given_back) {
            let _ = reply.send(outcome == WriteOutcome::Done);
        }
    }

    pub(super) fn end_late_loads(&mut self) {
        let now = self.handle.now_ms();
        let is_late = |load: &Load| load.until_ms <= now;
        let late: Vec<RequestId> =
            self.loads.iter().filter(|(_, load)| is_late(load)).map(|(request, _)| *request).collect();
        late.into_iter().for_each(|request| self.drive(Event::BulkAbandoned(request)));
    }
}
