//! The native library inside the Cassandra plug-in's jar: node filters as functions of numbers.
//!
//! Java must ask a filter in some nanoseconds, and Rust must own the memory. So every function takes and gives numbers:
//! both halves of a key's hash, both halves of a UUID, a time, or the address of a buffer that Java lends for the call.
//! Such a call needs nothing of the virtual machine; that is why no crate for JNI stands here. For example
//! `write(hub, SAFE, t1, t2, h1, h2, hasPlace, place, now)` marks a key and says whether another node has to know it first.
//!
//! - [`Hub`]: one [`Node`](lacuna_node_filters::Node) for each mode, since a table's mode is its own, which many calls look at or one
//!   changes; tickets of acknowledgements that wait; frames to send;
//! - [`clock`]: the time by which leases are counted;
//! - [`calls`]: the exported functions, one for each method of `lacuna.cassandra.Native`.
//!
//! Guarantee: no panic crosses. A call that met one gives [`FAILED`], and so does every later call for that mode; the
//! plug-in then stops its exchange.
//!
//! Cost: 6 ns for a call, 24 with its uncontended lock and a lookup in a filter.

pub mod clock;
mod hub;
mod question;

pub mod calls;

pub use hub::{FAILED, Hub, Outgoing, VERSION};
