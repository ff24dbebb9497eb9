//! Dendrites and clients in one process, over real sockets.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod hall;
mod loads;
mod moves;
mod peers;
mod relay;
mod strangers;
