//! The promises of the crate, asked from outside.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

mod golden;
mod key_files;
mod real_sets;
mod sources;
mod workloads;
