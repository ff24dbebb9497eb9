//! The range cache for the command line: `lacuna bench cache`, `lacuna cache ...` and `lacuna paper rangeqc`.
//!
//! The default build of `lacuna` links no driver of a database and starts no server. This crate is the same command line
//! with the range cache added ([`EXTRAS`]), in a binary of its own that `lacuna` runs.
//!
//! | file | idea |
//! | --- | --- |
//! | `commands/` | the table of commands, and one file for each |

#![warn(missing_docs)]

mod commands;

use lacuna_cli::Extras;

/// What the range cache adds to the command line.
pub static EXTRAS: Extras = Extras { engines: &[], papers: &[], cache: Some(commands::run) };
