//! What a node has decided, and what it got wrong.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

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
    pub(crate) fn found(&mut self, decision: Decision, found_rows: bool) {
        match decision {
            Decision::Forward(Reason::Shadow) if found_rows => self.contradictions += 1,
            Decision::Forward(Reason::MayBeLive) if !found_rows => self.false_positives += 1,
            _ => {}
        }
    }
}

/// Decisions so far, counted by callers that share a node.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    skipped: AtomicU64,
    /// By the places of reasons among all.
    forwarded: [AtomicU64; Reason::ALL.len()],
}

impl Decisions {
    pub(crate) fn note(&self, decision: Decision) {
        let counter = match decision {
            Decision::Empty => &self.skipped,
            Decision::Forward(reason) => &self.forwarded[reason as usize],
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The other counters with these.
    pub(crate) fn with(&self, others: &Counters) -> Counters {
        let counted = Reason::ALL.iter().zip(&self.forwarded);
        let counted = counted.map(|(reason, count)| (*reason, count.load(Ordering::Relaxed)));
        Counters {
            skipped: self.skipped.load(Ordering::Relaxed),
            forwarded: counted.filter(|(_, count)| *count > 0).collect(),
            ..others.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_counter_of_its_own() {
        let decisions = Decisions::default();
        for (at, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, at);
            (0..=at).for_each(|_| decisions.note(Decision::Forward(reason)));
        }
        decisions.note(Decision::Empty);
        let counters = decisions.with(&Counters { sent_bytes: 7, ..Counters::default() });
        let forwarded: Vec<u64> = counters.forwarded.values().copied().collect();
        assert_eq!(forwarded, (1..=Reason::ALL.len() as u64).collect::<Vec<_>>());
        assert_eq!((counters.skipped, counters.sent_bytes), (1, 7));
    }
}
