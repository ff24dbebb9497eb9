//! The papers, the designer's grid, the two-level store, and the commands of the laboratory.

#![allow(clippy::unwrap_used, reason = "a failed test panics")]

#[cfg(feature = "cache")]
mod cache_command;
mod cluster;
mod designer_command;
mod designer_grid;
mod frontier_command;
mod help;
#[cfg(feature = "cache")]
mod interrupted;
mod paper_command;
mod papers;
#[cfg(feature = "rocksdb")]
mod rocksdb_figures;
mod seeks;
mod store;
#[path = "../../../cli/tests/it/support.rs"]
#[allow(dead_code, reason = "the tests of another binary use the rest")]
mod support;
mod surf_paper;
#[path = "../../../bench/harness/tests/it/well_formed.rs"]
mod well_formed;
#[path = "../../../bench/harness/tests/it/workloads.rs"]
mod workloads;

/// What [`support`] runs.
const BINARY: &str = env!("CARGO_BIN_EXE_lacuna-lab");
