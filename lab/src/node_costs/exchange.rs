//! What the exchange costs two nodes: for a copy, for a new key, and when nothing happens.
//!
//! A node that takes n new keys a second spends `n * (write + delta)` nanoseconds of each second, each of its peers
//! `n * applied`.

use lacuna_node_filters::{Config, KeyId, Mode};

use super::{Circle, TABLE, partition};
use lacuna_bench::harness::WorkClock;

/// New keys in one delta.
const BATCH: u64 = 1_000;
/// Times are measured this often; the least counts, because other work on the machine only adds time.
const ROUNDS: u64 = 20;
/// A frame around the new keys of one table: kind, numbers, table, checksum.
const FRAME: f64 = 64.0;

/// Bytes, and nanoseconds of one thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExchangeCosts {
    /// Bytes of a whole copy for each key.
    pub snapshot_bytes: f64,
    /// Time for a whole copy, both sides, for each key.
    pub snapshot_ns: f64,
    /// Bytes to each peer for a new key, without the frame around a batch.
    pub delta_bytes: f64,
    /// Bytes of a request and its grant.
    pub heartbeat_bytes: f64,
    /// Time for a new key in its own filter.
    pub write_ns: f64,
    /// Time for a write of a key that is known.
    pub overwrite_ns: f64,
    /// Time for a new key in a delta of a thousand, for all peers together.
    pub delta_ns: f64,
    /// Time for a new key at each peer.
    pub apply_ns: f64,
    /// Time for an interval without news, both nodes.
    pub idle_ns: f64,
}

/// Lets two nodes of `keys` keys each exchange their filters in mode safe.
pub fn exchange_costs(keys: u64, rate: f64) -> ExchangeCosts {
    let mut circle = Circle::new(2, Config::new(Mode::Safe), keys, rate);
    (0..keys).for_each(|key| circle.nodes[1].load(TABLE, partition(key), None));
    circle.set_ready();
    circle.pass_interval();
    let (traffic, copied) = circle.take_traffic();
    (0..5).for_each(|_| circle.pass_interval());
    circle.take_traffic();
    circle.pass_interval();
    let (silent, _) = circle.take_traffic();
    let mut costs = ExchangeCosts {
        snapshot_bytes: traffic[1].sent as f64 / keys as f64,
        snapshot_ns: copied.as_nanos() as f64 / keys as f64,
        delta_bytes: 0.0,
        // Each asks the other: two requests and two grants.
        heartbeat_bytes: (silent[0].sent + silent[1].sent) as f64 / 2.0,
        write_ns: f64::MAX,
        overwrite_ns: f64::MAX,
        delta_ns: f64::MAX,
        apply_ns: f64::MAX,
        idle_ns: f64::MAX,
    };
    for round in 0..ROUNDS {
        let first = keys + round * BATCH;
        round_of_news(&mut circle, &(first..first + BATCH).map(partition).collect::<Vec<_>>(), &mut costs);
    }
    costs
}

/// Writes new keys at one node, then the same keys again, and sends them to the other.
fn round_of_news(circle: &mut Circle, ids: &[KeyId], costs: &mut ExchangeCosts) {
    let write = |circle: &mut Circle| {
        ids.iter().for_each(|id| {
            circle.nodes[1].write(TABLE, *id, None);
        });
    };
    timed(&mut costs.write_ns, ids.len(), || write(circle));
    timed(&mut costs.overwrite_ns, ids.len(), || write(circle));
    let now = circle.now;
    let mut outbox = Vec::new();
    timed(&mut costs.delta_ns, ids.len(), || {
        circle.nodes[1].flush(now);
        outbox = circle.nodes[1].take_outbox();
    });
    let bytes: usize = outbox.iter().map(|(_, bytes)| bytes.len()).sum();
    // The most of any round: twins of keys that were there are not new.
    costs.delta_bytes = costs.delta_bytes.max((bytes as f64 - FRAME) / ids.len() as f64);
    timed(&mut costs.apply_ns, ids.len(), || {
        let sender = circle.nodes[1].id();
        outbox.iter().for_each(|(_, bytes)| circle.nodes[0].receive(now, sender, bytes));
    });
    circle.pass_interval();
    circle.take_traffic();
    circle.pass_interval();
    costs.idle_ns = costs.idle_ns.min(circle.take_traffic().1.as_nanos() as f64);
}

fn timed(min: &mut f64, count: usize, work: impl FnOnce()) {
    let clock = WorkClock::start();
    work();
    *min = min.min(clock.elapsed().as_nanos() as f64 / count as f64);
}
