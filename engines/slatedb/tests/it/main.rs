//! Filters inside a real SlateDB.
//!
//! `traps_*` hold one test for each way in which a filter policy can go wrong in SlateDB 0.18; `differential` compares
//! with a database without filters and with a model; `learned_gaps` with what the files hold; `saved_reads` counts what it is all for.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod auto;
mod differential;
mod learned_gaps;
mod many;
mod panics;
mod saved_reads;
mod scans;
mod secrets;
mod support;
mod surf;
mod traps_build;
mod traps_policy;
mod traps_query;
