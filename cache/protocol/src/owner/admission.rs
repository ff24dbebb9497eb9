//! Writes that wait for a slow store.
//!
//! Buffered writes that come faster than the store takes them would occupy ever more memory and make misses wait
//! ever longer. So once [`Config::max_buffered`](crate::Config::max_buffered) are in progress, further writes wait
//! in a queue and are admitted in the order in which they came.
//!
//! The report does not treat a store that is too slow for long.

use std::collections::VecDeque;

use super::Owner;
use crate::config::Application;
use crate::message::{RequestId, Write, WriteOutcome};

/// Writes that are not admitted yet, and since when.
#[derive(Debug, Clone, Default)]
pub(super) struct Admission(VecDeque<(u64, RequestId, Write)>);

impl Admission {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<A: Application> Owner<A> {
    /// Whether a write has to wait for the store. An unbuffered write waits for it anyway.
    fn is_admission_closed(&self) -> bool {
        self.is_buffering() && self.buffered.len() + self.writes.len() >= self.config.max_buffered
    }

    /// Admits a write, or queues it after the writes that wait.
    pub(super) fn come_in(&mut self, request: RequestId, write: Write) {
        self.admission.0.push_back((self.now, request, write));
        self.admit();
    }

    /// Admits as many writes as there is room for.
    pub(super) fn admit(&mut self) {
        while !self.is_admission_closed()
            && let Some((_, request, write)) = self.admission.0.pop_front()
        {
            self.begin_write(request, write);
        }
    }

    /// Refuses writes that have waited for `patience`; they were not executed.
    pub(super) fn refuse_unadmitted(&mut self, patience: u64) {
        while let Some((since, ..)) = self.admission.0.front()
            && self.now - since >= patience
            && let Some((_, request, _)) = self.admission.0.pop_front()
        {
            self.answer_write(request, WriteOutcome::Retry);
        }
    }
}
