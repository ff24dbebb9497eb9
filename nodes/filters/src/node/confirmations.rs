//! What a node confirms to its peers: that it has applied their deltas.
//!
//! A write at the peer may wait for the confirmation, so it is never put off: it leaves with the next messages that are taken. But
//! when several deltas have come by then, one confirmation of the last is one of all; it goes on another frame to that peer if
//! there is one, and a request says the same anyway. For example deltas 5, 6 and 7 arrive while a delta for their sender is to be sent:
//! that delta carries "applied up to 7", and one message leaves in place of four.
//!
//! Guarantee: what is confirmed was applied before, here and in this order, since both are done under the same `&mut Node`.

use super::Node;
use crate::key_id::NodeId;
use crate::message::{Message, Version};

/// Bytes of a frame that may carry a confirmation: it is copied for that.
const MAX_CARRIER: usize = 1 << 16;

impl Node {
    /// A peer's deltas were applied up to here.
    pub(super) fn note_unconfirmed(&mut self, to: NodeId, applied: Version) {
        let last = self.unconfirmed.entry(to).or_insert(applied);
        // A copy that came late may have set the peer's copies back; what was applied before stays confirmed.
        if last.incarnation != applied.incarnation || last.sequence <= applied.sequence {
            *last = applied;
        }
    }

    /// A request tells the peer this.
    pub(super) fn note_confirmed(&mut self, to: NodeId, applied: Version) {
        if self.unconfirmed.get(&to) == Some(&applied) {
            self.unconfirmed.remove(&to);
        }
    }

    /// Confirms all that was applied: on the first frame that leaves for the peer now, or alone.
    pub(super) fn confirm(&mut self) {
        for (to, applied) in std::mem::take(&mut self.unconfirmed) {
            if is_flawed!(self.config, NothingIsConfirmed) {
                continue;
            }
            let is_carrier =
                |(peer, frame): &&mut (NodeId, Vec<u8>)| *peer == to && frame.len() <= MAX_CARRIER;
            let Some((_, carrier)) = self.outbox.iter_mut().find(is_carrier) else {
                self.send_bytes(to, Message::Applied(applied).to_bytes());
                continue;
            };
            if is_flawed!(self.config, CarriersLoseConfirmations) {
                continue;
            }
            let frame = std::mem::take(carrier);
            let alone = frame.len();
            *carrier = Message::AppliedAnd { applied, frame }.to_bytes();
            self.counters.sent_bytes += (carrier.len() - alone) as u64;
        }
    }
}
