//! The command line as its users meet it: every test runs the binary.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod answers;
mod bad_input;
mod bench;
mod browser;
#[cfg(all(feature = "cache", feature = "proxy"))]
mod contrib;
mod demo;
#[cfg(feature = "cache")]
mod dendrite;
mod devtools;
mod engine;
mod features;
mod help;
mod inspection;
mod key_types;
#[cfg(feature = "terminal")]
mod manual;
mod neighbours;
mod output_files;
mod own_data;
#[cfg(feature = "proxy")]
mod proxy;
#[cfg(feature = "proxy")]
mod proxy_page;
mod readme;
mod real_sets;
#[cfg(feature = "rocksdb")]
mod rocksdb;
mod secret;
#[cfg(feature = "proxy")]
mod served;
mod signals;
mod support;
mod verification;

#[cfg(feature = "cache")]
use dendrite::{nemesis, relay, sim, team, world};

/// What [`support`] runs.
const BINARY: &str = env!("CARGO_BIN_EXE_lacuna");
