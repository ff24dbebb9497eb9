//! Ranges of a range cache, leased through etcd.
//!
//! Several processes share the ranges of a cache; each range must have at most one owner, and epochs must ascend.
//! etcd records the owner of each range; three of its members act as the coordinator and its shadows: any one may
//! fail.
//!
//! - [`EtcdOptions`], [`EtcdCoordinator`]: a process that takes part, as a
//!   [`Coordinator`](lacuna_cache_protocol::ports::Coordinator);
//! - [`Map`]: ranges, owners and their addresses, what was measured, and what is to be cut;
//! - `session.rs`: the lease of the process; `coordinator.rs`: claims; `directory.rs`: loads; `recutting.rs`:
//!   changes of the range table;
//! - `http.rs`, `cluster.rs`, `kv.rs`: etcd's JSON gateway, with failover; `login.rs`: encrypted (`../tls.rs`), and
//!   with a password.
//!
//! A claim is one transaction. It requires that the keys of the range, its owner, the table and the wish are as
//! they were read; it attaches the owner's key to the lease of the process, and sets the range's key, which has no
//! lease, to a larger epoch. Epochs are granted in blocks of 262,144, so `262144` is followed by `524288`; the numbers
//! between let the owner go on against the store while etcd is away.
//!
//! Guarantee: a range has one owner at a time, as long as clocks drift apart by less than a fifth of the
//! lease; its epochs ascend whatever clocks do, and fences in store and cache server depend on epochs alone. Cost:
//! two requests in each third of the lease for all ranges of a process, four for a claim.
//!
//! Report, section 3: coordinator, shadow coordinators, leases on ranges. [`docs/design/range-cache-etcd.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/design/range-cache-etcd.md) says
//! what differs and why.

mod background;
mod cluster;
mod coordinator;
mod directory;
mod http;
mod kv;
mod login;
mod map;
mod options;
mod record;
mod recutting;
mod session;

pub use coordinator::EtcdCoordinator;
pub use map::Map;
pub use options::EtcdOptions;
pub use record::{Holder, Owned};
