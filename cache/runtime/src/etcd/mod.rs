//! Ranges of a range cache, leased through etcd.
//!
//! Several processes share the ranges of a cache; each range is to have at most one owner, and epochs are to rise. etcd
//! keeps who has which range, and three of its members are the coordinator and its shadows: any one may die.
//!
//! - [`EtcdOptions`], [`EtcdCoordinator`]: a process that takes part, as a [`Coordinator`](lacuna_cache_protocol::ports::Coordinator);
//! - [`Map`]: ranges, owners and their addresses, what was measured, and what is to be cut;
//! - `session.rs`: the lease of the process; `coordinator.rs`: claims; `directory.rs`: loads; `recutting.rs`: changes of the range table;
//! - `http.rs`, `cluster.rs`, `kv.rs`: etcd's JSON gateway, with failover; `tls.rs`, `login.rs`: encrypted, and with a password.
//!
//! A claim is one transaction: the keys of the range, its owner, the table and the wish are as they were read; the owner's
//! key goes with the lease of the process, the range's key gets a larger epoch and stays. Epochs are given out in blocks of
//! 1,024, so `4096` is followed by `5120`; the numbers between let the owner go on against the store while etcd is away.
//!
//! Guarantee: a range has one owner at a time, as long as clocks run equally fast within a fifth of the lease; its epochs
//! rise whatever clocks do, and fences in store and cache server rest on epochs alone. Cost: two requests a third of the
//! lease for all ranges of a process, four for a claim.
//!
//! Report, section 3: coordinator, shadow coordinators, leases on ranges. `docs/design/range-cache-etcd.md` says what is
//! different and why.

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
mod tls;

pub use coordinator::EtcdCoordinator;
pub use map::Map;
pub use options::EtcdOptions;
pub use record::{Holder, Owned};
