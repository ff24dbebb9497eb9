//! RocksDB for the command line: an engine for `lacuna bench engine`, and the papers' figures over RocksDB.
//!
//! The default build of `lacuna` links no RocksDB and needs no compiler for C++. This crate is the same command line with
//! both added ([`EXTRAS`]), in a binary of its own that `lacuna` runs.
//!
//! | file | idea |
//! | --- | --- |
//! | `layout.rs` | how a database is shaped: levels, files, compression, cache |
//! | `bulk.rs` | levels written file by file, so that only the filters differ between two databases |
//! | `database.rs` | an open database that counts what it reads |
//! | `direct.rs` | whether blocks can be read past the page cache |
//! | `filter_bytes.rs` | how large its filters are |
//! | `engine.rs` | the engine of `bench engine` |
//! | `paper/` | SuRF's figures 5 and 6, `REncoder`'s 14 to 16, Proteus' 6 to 8 and 9e |

#![warn(missing_docs)]

mod bulk;
mod database;
mod direct;
mod engine;
mod filter_bytes;
mod layout;
mod paper;

use lacuna_cli::Extras;

pub use database::RocksDatabase;
pub use engine::RocksDbEngine;
pub use layout::{Layout, Style};
pub use paper::PAPER;

/// What RocksDB adds to the command line.
pub static EXTRAS: Extras = Extras { engines: &[&RocksDbEngine::PLAIN], papers: &[&PAPER], cache: None };
