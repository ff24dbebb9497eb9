//! Real databases, with and without trouble.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod beyond;
mod buffered;
mod clients;
mod conditions;
mod edges;
mod nemesis;
mod policies;
mod prefetch;
mod redis;
mod schemas;
mod servers;
mod shared;
mod shared_rows;
#[allow(dead_code, reason = "the simulation of the core uses more of them")]
mod sim;
mod strangers;
mod types;
mod values;
mod world;
