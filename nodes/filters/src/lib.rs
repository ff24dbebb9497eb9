//! Node filters: what other nodes of a cluster do not hold, so that a coordinator need not ask them for it. No I/O.
//!
//! Every node keeps, for each table, a small filter of its keys, and a copy of every other node's filters. A coordinator
//! whose copies say that no replica holds a live row answers "empty" at once. Deleted keys count as absent, and ranges of
//! rows are known by buckets.
//!
//! - [`KeyId`], [`Buckets`]: partitions, and rows of a partition on several levels, as 128 bits of hash;
//! - margins: the empty ends of buckets that hold a row elsewhere, so that gaps from row to row are known, too;
//! - [`NodeFilter`]: ANY (keys only come) and DEAD (exact, proven deletions); built anew once it is
//!   [outgrown](NodeFilter::outgrown);
//! - [`Node`]: the exchange. Events in, messages out, time as an argument;
//! - [`Slots`]: parts of a table that count as live while many new keys come to them;
//! - [`NewsFlag`]: whether reads and acknowledgements have to ask at all;
//! - [`Question`], [`Decision`]: when a coordinator may answer "empty", and why not;
//! - [`Config`], [`Mode`]: shadow, eventual, safe;
//! - [`Message`]: the bytes between nodes, [`docs/format/node-filters.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/node-filters.md).
//!
//! Guarantee in safe mode: no read that begins after a write was acknowledged, or its row seen, is answered "empty" for it,
//! whatever crashes, pauses, sleeps or is lost. [`docs/design/node-filters.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/node-filters.md) gives the reasons.
//!
//! Cost at 1 %: about 1.3 bytes in each copy for each key that a filter has room for, 8 bytes for each new key and peer, one
//! frame of some 60 bytes for each peer and interval. A write of a known key waits only if the key itself is still on its way.
//!
//! Mosharraf, Adnan, "Improving lookup and query execution performance in distributed Big Data systems using Cuckoo
//! Filter", Journal of Big Data 2022. Here deletions are exact marks, answers rest on leases or on a known age, and ranges
//! are answered too.
//!
//! ```
//! use lacuna_node_filters::{Asked, Config, Consistency, Decision, KeyId, Mode, Node, NodeId, Plan, Question, TableId};
//!
//! let (table, ids) = (TableId(7), [NodeId(1), NodeId(2)]);
//! let mut nodes = ids.map(|id| Node::new(id, Config::new(Mode::Safe), 1, 0));
//! for node in &mut nodes {
//!     node.set_ring(1, ids);
//!     node.create_table(table, 1_000, 0.01, None);
//!     node.set_ready(table);
//! }
//! // Requests, grants, the catalog, snapshots: until nothing is left to say.
//! for now in 0..10 {
//!     nodes.iter_mut().for_each(|node| node.tick(now));
//!     for from in [0, 1] {
//!         for (to, bytes) in nodes[from].take_outbox() {
//!             let to = ids.iter().position(|id| *id == to).expect("one of the two");
//!             nodes[to].receive(now, ids[from], &bytes);
//!         }
//!     }
//! }
//! let key = Asked { partition: KeyId::of_partition(b"ada"), slice: None, replicas: &[NodeId(2)] };
//! let question = Question {
//!     table,
//!     plan: Plan::Partitions,
//!     consistency: Consistency::One,
//!     is_first_page: true,
//!     is_available: true,
//!     keys: &[key],
//! };
//! assert_eq!(nodes[0].decide(10, &question), Decision::Empty);
//!
//! // The second node takes a new key: it may not acknowledge before the first one knows.
//! let barrier = nodes[1].write(table, key.partition, None);
//! nodes[1].flush(11);
//! assert!(!nodes[1].may_acknowledge(11, barrier));
//! ```

#[macro_use]
mod flaws;

mod buckets;
mod config;
mod counters;
mod decide;
mod fetch;
mod filter_copy;
mod key_id;
mod losses;
mod margins;
mod message;
mod news_flag;
mod node;
mod peer;
mod presence;
mod publisher;
mod question;
mod slots;
mod water_mark;
mod wire;

pub use buckets::Buckets;
pub use config::{Config, Mode};
pub use counters::Counters;
pub use fetch::{FetchedBytes, FetchedFilter};
#[cfg(feature = "flaws")]
pub use flaws::Flaw;
pub use key_id::{KeyId, NodeId, TableId};
pub use margins::Side;
pub use message::{CHUNK_BYTES, LeaseUse, Message, TableDelta, Version};
pub use news_flag::NewsFlag;
pub use node::{Barrier, Node, Undone};
pub use presence::{Deletion, NodeFilter, Presence};
pub use publisher::{EncodedFilter, Saved, SavedFilter, WholeFilter};
pub use question::{Asked, Consistency, Decision, Plan, Question, Quorum, Reason};
pub use slots::Slots;
pub use water_mark::WaterMark;
