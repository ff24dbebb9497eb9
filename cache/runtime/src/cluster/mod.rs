//! Several processes over one store: dendrites that answer each other's requests, and clients that own nothing.
//!
//! A collection is cut into ranges, each owned by at most one [`Dendrite`] at a time. A [`Server`] makes one
//! reachable, [`Net`] connects it to the others, a [`Client`] asks the dendrite that owns the range it needs.
//!
//! With the table cut at 100, a client that asks the wrong dendrite for `110..=120` is redirected to the right
//! one; a write that moves a row from 90 to 110 goes to the owner of the lower range, which takes a lease at the
//! other.
//!
//! | file | idea |
//! | --- | --- |
//! | `server/` | takes connections, answers requests |
//! | `client.rs`, `journey.rs`, `ask.rs` | finds the owner, follows redirects |
//! | `hold.rs`, `listening.rs` | leases that callers hold; notices of all dendrites |
//! | `net.rs` | how a dendrite reaches the others |
//! | `links.rs`, `link.rs`, `stream.rs` | connections |
//! | `network.rs` | how connections are made: TCP, or a simulation |
//! | `hello.rs`, `noise.rs`, `secret.rs` | the handshake, its keys, and encryption |
//! | `frame.rs`, `message.rs`, `fault.rs`, `parts.rs`, `noticed.rs`, `limits.rs` | the bytes: [`docs/format/dendrite-protocol.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/dendrite-protocol.md) |
//!
//! Guarantee: that of the owners. Only a peer that knows the secret is answered or trusted, and only it can read
//! what is said; bytes that were changed, repeated or left out end the connection. A write whose answer is lost is
//! reported as unknown.
//!
//! Cost: a round trip for each request, and about 27 bytes and one encryption of its length for each frame.
//!
//! Report, sections 3 and 5. Here connections are encrypted, and a request has a deadline.

mod ask;
mod client;
pub(crate) mod dendrite;
mod fault;
mod frame;
mod hello;
mod hold;
mod journey;
mod limits;
mod link;
mod links;
mod listening;
mod look;
mod message;
mod net;
mod network;
mod noise;
mod noticed;
mod parts;
pub(crate) mod peer_transport;
mod secret;
mod server;
mod stream;
mod tally;
#[cfg(test)]
mod tests;

pub use client::Client;
pub use dendrite::{Dendrite, Membership};
pub use net::Net;
pub use secret::Secret;
pub use server::Server;

/// What tests and fuzzing need; not part of the library's promises.
#[doc(hidden)]
pub mod testing {
    pub use super::dendrite::{Answer, Forwarding};
    pub use super::look::look_at;
    pub use super::network::{Listener, Network};
    pub use super::peer_transport::PeerTransport;
}
