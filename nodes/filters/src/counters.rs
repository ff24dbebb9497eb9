//! What a node has decided, and what it got wrong.

use std::collections::BTreeMap;

use crate::question::{Decision, Reason};

/// Numbers since the node started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Reads answered "empty".
    pub skipped: u64,
    /// Reads that went to the replicas, by reason.
    pub forwarded: BTreeMap<Reason, u64>,
    /// Mode shadow: reads that would have been answered "empty" although they found rows.
    pub contradictions: u64,
    /// Reads that a filter let pass although they found nothing.
    pub false_positives: u64,
    /// Messages that were damaged or of another version.
    pub malformed_messages: u64,
    /// Copies that had been shortened or given up, and came again as they were.
    pub copies_regained: u64,
    /// Bytes of messages sent.
    pub sent_bytes: u64,
}

impl Counters {
    pub(crate) fn decided(&mut self, decision: Decision) {
        match decision {
            Decision::Empty => self.skipped += 1,
            Decision::Forward(reason) => *self.forwarded.entry(reason).or_default() += 1,
        }
    }

    pub(crate) fn found(&mut self, decision: Decision, found_rows: bool) {
        match decision {
            Decision::Forward(Reason::Shadow) if found_rows => self.contradictions += 1,
            Decision::Forward(Reason::MayBeLive) if !found_rows => self.false_positives += 1,
            _ => {}
        }
    }
}
