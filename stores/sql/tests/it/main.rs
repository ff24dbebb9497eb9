//! Real databases, with and without trouble.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod buffered;
mod clients;
mod edges;
mod policies;
mod redis;
mod servers;
#[allow(dead_code, reason = "the simulation of the core uses more of them")]
mod sim;
mod values;
mod world;
