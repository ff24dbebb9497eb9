//! Two hubs that hear each other, as two Cassandra nodes would, without a virtual machine.

use lacuna_cassandra::Hub;
use lacuna_node_filters::{KeyId, NodeId, TableId};

pub(crate) const TABLE: TableId = TableId(9);
pub(crate) const IDS: [NodeId; 2] = [NodeId(1), NodeId(2)];
pub(crate) const SAFE: i64 = 2;
pub(crate) const MAY_BE_LIVE: i64 = 8;

/// The second one holds keys.
pub(crate) fn hub(mode: i64, id_of: NodeId) -> Hub {
    let hub = Hub::new(id_of, 1, [0, 1_000, 3_000], 1 << 20);
    assert_eq!(hub.with_all(|node| node.set_ring(1, IDS)), 0);
    assert_eq!(hub.create(mode, TABLE, 1_000, 0.01, Some(4), 1 << 20), 0);
    let keys = if id_of == IDS[1] { 100 } else { 0 };
    for key in 0..keys {
        hub.write(mode, TABLE, id(key), None, 0);
    }
    hub.with(mode, |node| {
        node.set_ready(TABLE);
        0
    });
    hub
}

pub(crate) fn hubs(mode: i64) -> [Hub; 2] {
    IDS.map(|id| hub(mode, id))
}

pub(crate) fn id(key: u64) -> KeyId {
    KeyId::of_hash(key, !key)
}

/// Carries frames until no node has anything to send.
pub(crate) fn exchange(hubs: &[Hub; 2], now: u64) {
    for hub in hubs {
        hub.tick(now);
    }
    carry(hubs, now);
}

pub(crate) fn carry(hubs: &[Hub; 2], now: u64) {
    let mut is_quiet = false;
    while !is_quiet {
        is_quiet = true;
        for (at, hub) in hubs.iter().enumerate() {
            while let Some((mode, to, frame)) = hub.take(1 << 20).unwrap() {
                assert_eq!(to, IDS[1 - at]);
                assert_eq!(hubs[1 - at].receive(i64::from(mode), now, IDS[at], &frame), 0);
                is_quiet = false;
            }
        }
    }
}

/// The first hub's decision about a key of the second.
pub(crate) fn decide(hubs: &[Hub; 2], mode: i64, now: u64, key: u64) -> i64 {
    decide_by(&hubs[0], mode, now, key)
}

pub(crate) fn decide_by(hub: &Hub, mode: i64, now: u64, key: u64) -> i64 {
    let words = [0, 9, 0, 1, key, !key, 0, 0, 0, 0, 1, 0, 2];
    hub.decide(mode, now, &words)
}
