//! Deltas of a peer, applied in their order to the copies of its filters.

use lacuna_base::hash::hash_bytes;

use super::Peer;
use crate::config::Config;
use crate::key_id::{KeyId, TableId};
use crate::message::{Message, TableDelta, Version};

/// Deltas kept that have overtaken others.
const MAX_EARLY: usize = 64;

impl Peer {
    /// Applies a delta if it is the next one; what to say.
    pub(crate) fn delta(
        &mut self,
        config: &Config,
        now: u64,
        frame: &[u8],
        message: Message,
    ) -> Vec<Message> {
        let Message::Delta { incarnation, sequence, tables } = message else { return Vec::new() };
        if incarnation != self.applied.incarnation {
            return Vec::new();
        }
        if sequence <= self.applied.sequence {
            return vec![Message::Applied(self.applied)];
        }
        if sequence - 1 > self.applied.sequence && !is_flawed!(config, IgnoreGaps) {
            if self.early.len() < MAX_EARLY {
                self.early.insert(sequence, frame.to_vec());
            }
            return self.miss(config, now).into_iter().collect();
        }
        self.apply(config, frame, Version { incarnation, sequence, digest: 0 }, tables);
        while let Some(frame) = self.early.remove(&self.applied.sequence.saturating_add(1))
            && let Ok(Message::Delta { incarnation, sequence, tables }) = Message::from_bytes(&frame)
        {
            self.apply(config, &frame, Version { incarnation, sequence, digest: 0 }, tables);
        }
        let applied = self.applied.sequence;
        self.early.retain(|sequence, _| *sequence > applied);
        self.note_fresh();
        let mut next = vec![Message::Applied(self.applied)];
        if applied >= self.repeated_up_to && !self.early.is_empty() {
            // A whole answer has come, and there is more. One answer in a tenth of an interval would not keep up with many new keys.
            next.push(self.ask_missing(now));
        }
        if self.catalog.is_none() {
            next.extend(self.ask_catalog(config, now));
        }
        next
    }

    fn apply(&mut self, config: &Config, frame: &[u8], version: Version, tables: Vec<(TableId, TableDelta)>) {
        self.applied = Version { digest: hash_bytes(frame, self.applied.digest), ..version };
        #[cfg(feature = "flaws")]
        let (version, tables) = match config.flaw == Some(crate::Flaw::ConfirmedBeforeApplied) {
            true => {
                let (sequence, late) = std::mem::replace(&mut self.late, (version.sequence, tables));
                (Version { sequence, ..version }, late)
            }
            false => (version, tables),
        };
        for (table, delta) in tables {
            if delta.is_reset {
                self.forwarded.reset(table);
                self.copies.remove(&table);
                self.fetches.remove(&table);
                self.catalog = None;
            }
            self.apply_to(version.sequence, table, &delta);
        }
        self.confirmed = self.confirmed.max(version.sequence);
        self.doubt(config);
    }

    /// Gives up what rests on other deltas than those applied here: a lease, or a copy, whose digest is another one. The
    /// peer lives a life for the second time, or a damaged message has passed its checksum.
    pub(super) fn doubt(&mut self, config: &Config) {
        if is_flawed!(config, IgnoreGaps) {
            return;
        }
        let Version { sequence, digest, .. } = self.applied;
        self.lease = self.lease.filter(|lease| lease.floor != sequence || lease.digest == digest);
        let copies = self.copies.len();
        self.copies.retain(|_, copy| copy.since != sequence || copy.digest == digest);
        if self.copies.len() < copies {
            self.catalog = None;
            self.forwarded.doubt();
        }
    }

    fn apply_to(&mut self, sequence: u64, table: TableId, delta: &TableDelta) {
        delta.keys.iter().for_each(|&hash| self.forwarded.is_live(table, hash));
        // A burial may be older than a write that this node has sent since.
        let is_held = |(id, time): &(KeyId, u64)| self.forwarded.hold(table, *id, *time);
        let (_, dead): (Vec<_>, Vec<_>) = delta.dead.iter().copied().partition(is_held);
        let Some(copy) = self.copies.get_mut(&table).filter(|copy| copy.since < sequence) else { return };
        delta.keys.iter().for_each(|&hash| copy.filter.write_hash(hash));
        dead.into_iter().for_each(|(id, time)| copy.filter.enter_dead(id, time));
        copy.open = delta.open.unwrap_or(copy.open);
    }
}
