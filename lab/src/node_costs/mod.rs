//! What node filters cost, without a cluster: space, rates, insertion, and the exchange of nodes in one process.
//!
//! **Problem.** Node filters are paid for by every write, by every node's memory and by every interval's messages. In a
//! cluster this is too small to measure beside the store's own work.
//!
//! **Idea.** The exchange does no I/O, so a [`Circle`] of nodes passes its messages on and counts bytes and the
//! thread's time: two nodes of 100,000 keys fetch 1.3 bytes a key once, then 8 for each new one.
//!
//! Counts (bytes, rates, sizes) repeat from the seed; times are of this machine, each beside what it is compared with.

mod circle;
mod costs;
mod exchange;
mod insertion;

use lacuna_node_filters::{KeyId, TableId};

pub use circle::{Circle, Traffic};
pub use costs::{Cost, costs};
pub use exchange::{ExchangeCosts, exchange_costs};
pub use insertion::{bloom_insertion, cuckoo_insertion};

/// The one table of a circle.
pub const TABLE: TableId = TableId(7);

/// A partition by its number.
pub(crate) fn partition(number: u64) -> KeyId {
    KeyId::of_partition(&number.to_le_bytes())
}
