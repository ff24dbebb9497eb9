//! `lacuna demo`: a store with and without guards. Not written yet.

use clap::Args;
use lacuna_core::Error;

use crate::errors::Result;

/// Show a store with and without guards
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {}

/// Runs the demo.
///
/// # Errors
/// `Unsupported`, always: this is a placeholder.
pub(crate) fn run(_args: &DemoArgs) -> Result<()> {
    Err(Error::unsupported("the demo is not part of this build").into())
}
