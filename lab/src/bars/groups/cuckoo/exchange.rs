//! What node filters send to one peer: for a new key, for a whole copy, and when nothing happens.

use crate::node_costs::exchange_costs;

use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtMost;

const KEYS: u64 = 100_000;

/// Measures bytes; times are not asked.
pub(super) fn bars() -> [Bar; 3] {
    let costs = exchange_costs(KEYS, 0.01);
    let bar = |name: &str, bytes: f64, max: f64, unit: &str| {
        let name = format!("node filters, {name}");
        Bar::number(
            name,
            format!("{bytes:.2} bytes {unit}"),
            format!("{max} bytes"),
            bytes / max,
            AtMost(1.0),
        )
    };
    [
        bar("delta without its frame", costs.delta_bytes, 8.0, "a new key and peer"),
        bar("snapshot at 1 %", costs.snapshot_bytes, 2.0, "a key"),
        bar("heartbeat", costs.heartbeat_bytes, 100.0, "a peer"),
    ]
}
