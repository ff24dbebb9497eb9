//! Arguments of `cache dendrite` for Redis servers that are reached with TLS.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Args)]
pub(crate) struct RedisArgs {
    /// For encrypted cache and log servers: a file with the certificate of the authority that signs theirs, as
    /// PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) redis_authority: Option<PathBuf>,
    /// For Redis servers that ask for one: a file with a certificate of this dendrite, as PEM
    #[arg(long, value_name = "FILE", requires_all = ["redis_key", "redis_authority"])]
    pub(crate) redis_certificate: Option<PathBuf>,
    /// The key of that certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "redis_certificate")]
    pub(crate) redis_key: Option<PathBuf>,
}
