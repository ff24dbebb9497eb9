//! Hubs as Java calls them: what each says, and what several threads may do at once.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod hub;
mod pair;
mod threads;
