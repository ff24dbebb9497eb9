//! Commands of the range cache, whose arguments only `lacuna-cache` knows.

use std::ffi::OsString;

use clap::Args;

use crate::errors::Result;
use crate::extras::Extras;
use crate::sibling::Sibling;

/// The range cache over real servers, in `lacuna-cache`
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(super) struct Foreign {
    /// Arguments of the command; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

impl Foreign {
    /// Runs the command named by `command`, or has it run.
    pub(super) fn run(&self, command: &[&str], extras: &Extras) -> Result<()> {
        let Some(run) = extras.cache else { return Sibling::CACHE.run() };
        let words: Vec<OsString> =
            command.iter().map(OsString::from).chain(self.words.iter().cloned()).collect();
        run(&words)
    }
}
