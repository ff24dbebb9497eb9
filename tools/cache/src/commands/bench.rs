//! `lacuna bench cache`: the range cache beside the store alone and beside caches without leases.

use clap::Args;
use lacuna_cli::Result;
use lacuna_core::Error;

/// Compare the range cache with the store alone, and with caches without leases
#[derive(Debug, Args)]
pub(super) struct BenchArgs {}

/// Runs the comparison.
pub(super) fn run(_: &BenchArgs) -> Result<()> {
    Err(Error::unsupported("`bench cache` measures nothing yet").into())
}
