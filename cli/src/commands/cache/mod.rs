//! `lacuna cache`: the range cache, a file for each command.

mod dendrite;
mod etcd;
mod redis;
mod top;

use clap::{Args, Subcommand};

use crate::errors::Result;

use dendrite::DendriteArgs;
pub(crate) use etcd::EtcdArgs;
pub(crate) use redis::RedisArgs;
use top::TopArgs;

const BUILD: &str = "\
The commands need a binary that was built with the range cache, in the
checkout by
  cargo build --release -p lacuna-cli --features cache";

/// Run the range cache in front of a database
#[derive(Debug, Args)]
#[command(after_help = BUILD)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    command: CacheCommand,
}

/// To add a command: its arguments in a file of its own, a line here, a line in [`run`].
#[derive(Debug, Subcommand)]
enum CacheCommand {
    Dendrite(Box<DendriteArgs>),
    Top(TopArgs),
}

/// Runs the command.
pub(super) fn run(args: &CacheArgs) -> Result<()> {
    match &args.command {
        CacheCommand::Dendrite(args) => dendrite::run(args),
        CacheCommand::Top(args) => top::run(args),
    }
}
