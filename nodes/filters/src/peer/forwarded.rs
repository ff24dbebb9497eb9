//! What this node itself wrote to a peer: in eventual mode it sees that at once, whatever is older.
//!
//! A copy that is fetched later may be older than such a write. After three intervals every copy knows it. A node that writes
//! more than is kept sends its reads to the peer for that long.
//!
//! A burial that comes later may be older, too, or may be of what was just written, a deletion. It is held back until the
//! peer would have announced a write that came after it.

use std::collections::BTreeMap;

use crate::config::Config;
use crate::key_id::{KeyId, TableId};

/// Keys with the time at which they were last written, and what the peer has buried since.
#[derive(Debug, Default)]
pub(super) struct Forwarded {
    keys: BTreeMap<(TableId, u64), u64>,
    /// Of keys that are in `keys`: the key's whole name, and the time of its deletion.
    burials: BTreeMap<(TableId, u64), (KeyId, u64)>,
    blind_until: u64,
}

impl Forwarded {
    /// Notes the first half of a key's name, for a peer of `peer_keys` keys.
    pub(super) fn note(&mut self, config: &Config, now: u64, peer_keys: u64, key: (TableId, u64)) {
        if self.keys.len() >= config.max_forwarded && !self.keys.contains_key(&key) {
            self.keys.clear();
            self.burials.clear();
            self.blind_until = now + config.max_age(peer_keys);
        }
        self.burials.remove(&key);
        self.keys.insert(key, now);
    }

    /// Holds a burial back; `false` if nothing was written that it could hide.
    pub(super) fn hold(&mut self, table: TableId, id: KeyId, time: u64) -> bool {
        let key = (table, id.hash());
        let is_written = self.keys.contains_key(&key);
        if is_written {
            self.burials.insert(key, (id, time));
        }
        is_written
    }

    /// The peer says that a key is live.
    pub(super) fn is_live(&mut self, table: TableId, hash: u64) {
        self.burials.remove(&(table, hash));
    }

    /// The peer's filter of a table is another one.
    pub(super) fn reset(&mut self, table: TableId) {
        self.burials.retain(|(of, _), _| *of != table);
    }

    /// The buried keys may not be what the peer has announced.
    pub(super) fn doubt(&mut self) {
        self.burials.clear();
    }

    /// Keys of a table.
    pub(super) fn of(&self, table: TableId) -> impl Iterator<Item = u64> {
        self.keys.range((table, 0)..=(table, u64::MAX)).map(|((_, hash), _)| *hash)
    }

    /// Forgets what was last written before, keys that a burial is held back for only once they are older still; those burials.
    pub(super) fn forget(&mut self, before: u64, buried_before: u64) -> Vec<(TableId, KeyId, u64)> {
        let mut due = Vec::new();
        self.keys.retain(|key, at| match self.burials.get(key) {
            None => *at >= before,
            Some(_) if *at >= buried_before => true,
            Some((id, time)) => {
                due.push((key.0, *id, *time));
                false
            }
        });
        for (table, id, _) in &due {
            self.burials.remove(&(*table, id.hash()));
        }
        due
    }

    /// Whether some of what was written lately is not kept.
    pub(super) fn is_blind(&self, now: u64) -> bool {
        now < self.blind_until
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }
}
