//! What this node itself wrote to a peer: in eventual mode it sees that at once, whatever is older.
//!
//! A copy that is fetched later may be older than such a write, and so may a burial that comes later. After three intervals
//! every copy knows it. Whoever writes more than is kept is blind for that long: its reads go on to the peer.

use std::collections::BTreeMap;

use crate::config::Config;
use crate::key_id::TableId;

/// Keys with the time at which they were last written.
#[derive(Debug, Default)]
pub(super) struct Forwarded {
    keys: BTreeMap<(TableId, u64), u64>,
    blind_until: u64,
}

impl Forwarded {
    /// Notes the first half of a key's name, for a peer of so many keys.
    pub(super) fn note(&mut self, config: &Config, now: u64, peer_keys: u64, key: (TableId, u64)) {
        if self.keys.len() >= config.most_forwarded && !self.keys.contains_key(&key) {
            self.keys.clear();
            self.blind_until = now + config.most_age(peer_keys);
        }
        self.keys.insert(key, now);
    }

    /// Keys of a table.
    pub(super) fn of(&self, table: TableId) -> impl Iterator<Item = u64> {
        self.keys.range((table, 0)..=(table, u64::MAX)).map(|((_, hash), _)| *hash)
    }

    pub(super) fn has(&self, table: TableId, hash: u64) -> bool {
        self.keys.contains_key(&(table, hash))
    }

    /// Forgets what was last written before.
    pub(super) fn forget(&mut self, before: u64) {
        self.keys.retain(|_, at| *at >= before);
    }

    /// Whether some of what was written lately is not kept.
    pub(super) fn is_blind(&self, now: u64) -> bool {
        now < self.blind_until
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }
}
