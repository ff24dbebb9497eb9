//! The range cache for the command line: `lacuna bench cache`, `lacuna cache ...` and `lacuna paper rangeqc`.
//!
//! The default build of `lacuna` links no driver of a database and starts no server. This crate is the same command line
//! with the range cache added ([`EXTRAS`]), in a binary of its own that `lacuna` runs.
//!
//! | file | idea |
//! | --- | --- |
//! | `commands/` | the table of commands, and one file for each |
//! | `setup.rs`, `choice.rs` | what a run is, and what its clients ask for |
//! | `ground.rs`, `relay.rs` | its servers, and networks that are longer or thinner than the loopback |
//! | `records.rs`, `bare.rs` | the rows, and the store without a cache |
//! | `contender/` | the range cache, the store alone, and caches without leases |
//! | `run.rs`, `versions.rs`, `pinned.rs` | load, warm up, measure, drain, check |
//! | `bars/` | ratios that must hold: PASS or FAIL |
//! | `paper/` | the report's figures and tables |
//! | `row.rs` | what a run showed |
//! | `interrupt.rs` | Ctrl-C |
//! | `dendrite/` | a process that owns ranges |

#![warn(missing_docs)]

mod bare;
mod bars;
mod choice;
mod commands;
mod contender;
mod dendrite;
mod ground;
mod interrupt;
mod paper;
mod pinned;
mod records;
mod relay;
mod row;
mod run;
mod setup;
mod versions;

use lacuna_cli::Extras;

pub use row::COLUMNS;

/// What the range cache adds to the command line.
pub static EXTRAS: Extras = Extras { engines: &[], papers: &[&paper::PAPER], cache: Some(commands::run) };
