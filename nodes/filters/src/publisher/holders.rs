//! The holders of leases on a node's filters, and what an acknowledgement has to wait for.

use std::collections::VecDeque;

use crate::config::Config;
use crate::key_id::{KeyId, NodeId, TableId};
use crate::message::Version;

use super::Publisher;

/// A node that relies on this one: until when, and what it knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    pub(super) until: u64,
    acknowledged: u64,
}

impl Publisher {
    /// Number of the delta that an acknowledgement sent now has to wait for.
    pub(crate) fn barrier(&self) -> u64 {
        self.version.sequence + u64::from(!self.pending.is_empty())
    }

    /// Number of the delta that the acknowledgement of a write of one partition has to wait for; 0 for none.
    pub(crate) fn barrier_of(&self, table: TableId, partition: KeyId) -> u64 {
        self.recent.barrier_of(table, partition)
    }

    /// Number of the delta after which nothing waits; 0 for none.
    pub(crate) fn last_news(&self) -> u64 {
        self.recent.last()
    }

    /// The last delta that every node that relies on this one knows; `None` while a lease of an earlier life may run.
    pub(crate) fn released(&self, config: &Config, now: u64) -> Option<u64> {
        if is_flawed!(config, AcknowledgeAtOnce) {
            return Some(u64::MAX);
        }
        (now >= self.boot_until).then(|| {
            let relying = self.holders.values().filter(|holder| holder.until > now);
            relying.map(|holder| holder.acknowledged).min().unwrap_or(u64::MAX)
        })
    }

    pub(crate) fn holder_count(&self, now: u64) -> usize {
        self.holders.values().filter(|holder| holder.until > now).count()
    }

    /// Whether every node that relies on this one knows all up to `barrier`.
    pub(crate) fn may_acknowledge(&self, config: &Config, now: u64, barrier: u64) -> bool {
        self.released(config, now).is_some_and(|released| barrier <= released)
    }

    /// Whether a read may show what it found of a key: every node that relies on this one knows the key, and no lease of an
    /// earlier life runs.
    pub(crate) fn may_reveal(&self, config: &Config, now: u64, table: TableId, partition: KeyId) -> bool {
        let barrier = self.recent.barrier_of(table, partition);
        is_flawed!(config, RevealAtOnce) || self.may_acknowledge(config, now, barrier)
    }

    /// The last delta that all nodes that rely on this one know.
    pub(super) fn known_to_all(&self, now: u64) -> u64 {
        if now < self.boot_until {
            return 0;
        }
        let relying = self.holders.values().filter(|holder| holder.until > now);
        relying.map(|holder| holder.acknowledged).min().unwrap_or(self.version.sequence)
    }

    /// Notes that all deltas so far go out now. Those that went out two lengths of a lease ago are forgotten: the lease of a holder
    /// that has not acknowledged them has ended.
    pub(super) fn note_sent(&mut self, config: &Config, now: u64) {
        let is_old = |at: u64| at.saturating_add(2 * config.lease()) <= now;
        while self.sent.front().is_some_and(|(_, at)| is_old(*at)) {
            self.sent.pop_front();
        }
        let sequence = self.version.sequence;
        match self.sent.back_mut().filter(|(_, at)| *at == now) {
            Some(last) => last.0 = sequence,
            None => self.sent.push_back((sequence, now)),
        }
    }

    /// Grants or renews a lease; its length. It ends one length after the first delta went out that the holder has not
    /// acknowledged, so that no writer waits longer.
    pub(crate) fn grant(&mut self, config: &Config, now: u64, to: NodeId) -> u64 {
        let (sequence, sent) = (self.version.sequence, &self.sent);
        let fresh = Holder { until: now, acknowledged: sequence };
        let holder = self.holders.entry(to).or_insert(fresh);
        if holder.until <= now {
            *holder = fresh;
        }
        if is_flawed!(config, RenewalAcknowledges) {
            holder.acknowledged = sequence;
        }
        // A caller reads the clock before it has the lock, so a delta may have left a moment after this `now`.
        let waits_since = first_sent_after(sent, holder.acknowledged).unwrap_or(now).min(now);
        holder.until = holder.until.max(waits_since + config.lease());
        holder.until - now
    }

    pub(crate) fn acknowledged(&mut self, config: &Config, from: NodeId, applied: Version) {
        let is_what_was_sent = self.has_sent(config, applied) == Some(true);
        if let Some(holder) = self.holders.get_mut(&from)
            && is_what_was_sent
        {
            holder.acknowledged = holder.acknowledged.max(applied.sequence);
        }
    }

    /// Whether a peer has applied the very deltas that were sent; `None` if that is too long ago to say.
    fn has_sent(&self, config: &Config, applied: Version) -> Option<bool> {
        let Version { incarnation, sequence, digest } = self.version;
        if applied.incarnation != incarnation {
            return None;
        }
        if is_flawed!(config, IgnoreGaps) {
            return Some(applied.sequence <= sequence);
        }
        let Some(back) = sequence.checked_sub(applied.sequence) else { return Some(false) };
        if back == 0 {
            return Some(digest == applied.digest);
        }
        let at = self.digests.len().checked_sub(1 + usize::try_from(back).ok()?)?;
        Some(self.digests[at] == applied.digest)
    }

    /// Whether a peer has applied what this life has not sent: the life's name was used before, or a delta was damaged on
    /// its way.
    pub(crate) fn is_of_another_past(&self, config: &Config, applied: Version) -> bool {
        self.has_sent(config, applied) == Some(false)
    }
}

/// When the first delta after this one went out, if one has. O(log n).
fn first_sent_after(sent: &VecDeque<(u64, u64)>, sequence: u64) -> Option<u64> {
    let first = sent.partition_point(|(last, _)| *last <= sequence);
    sent.get(first).map(|(_, at)| *at)
}
