//! What an adapter may rely on, over every family and codec.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod building;
mod opening;
mod seek_planner;
mod support;
