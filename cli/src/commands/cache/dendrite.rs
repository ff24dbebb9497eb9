//! `lacuna cache dendrite`: owns ranges of a table, for itself, for clients and for other dendrites.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{EtcdArgs, RedisArgs};
use crate::errors::Result;

const EXAMPLES: &str = "\
Examples:
  lacuna cache dendrite --listen 10.0.0.7:7400 --secret-file secret \\
      --store postgres://app@10.0.0.1/app --table people --key id \\
      --domain age:integer --cut 30 --cache redis://10.0.0.5:6379
  lacuna cache dendrite --listen 0.0.0.0:7400 --address 10.0.0.8:7400 \\
      --store mysql://app@10.0.0.1/app --table people --key id \\
      --domain age:integer --policy back --log redis://10.0.0.6:6379 \\
      --cache redis://10.0.0.5:6379 --secret-file secret \\
      --coordinator etcd://10.0.0.2:2379
  lacuna cache dendrite --config dendrite.toml

The file of --config has many tables of one database:
docs/guide/range-cache.md.

Needs a binary that was built with the range cache, in the checkout by
  cargo build --release -p lacuna-cli --features cache
Exit code 1 if the database did not take all acknowledged writes at the
end, so that log servers keep some for the next start; 2 if the arguments
do not go together, or another process has the table open as a whole.";

/// Own ranges of a table, together with other dendrites that share the secret
///
/// Runs until SIGTERM or Ctrl-C, then writes every acknowledged write to the store, releases its ranges and prints
/// its counters.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DendriteArgs {
    /// Take everything from a file of TOML, whose keys are these arguments: `[[table]]` for each table, with its
    /// `name`; what is above the tables holds for all of them
    #[arg(long, value_name = "FILE", exclusive = true)]
    config: Option<PathBuf>,
    /// Where to listen; port 0 for any free port
    #[arg(long, value_name = "HOST:PORT", required_unless_present = "config")]
    listen: Option<String>,
    /// The address at which others reach it, if that differs from --listen
    #[arg(long, value_name = "HOST:PORT")]
    address: Option<String>,
    /// The database: postgres://... or mysql://...; with TLS by `?sslmode=verify-full&sslrootcert=FILE` or
    /// `?ssl-mode=VERIFY_IDENTITY&ssl-ca=FILE`
    #[arg(long, value_name = "URL", required_unless_present = "config")]
    store: Option<String>,
    /// The table; `sales.orders` in another schema. Clients and other dendrites must call it the same
    #[arg(long, required_unless_present = "config")]
    table: Option<String>,
    /// A column of its primary key; several times
    #[arg(long = "key", value_name = "COLUMN", required_unless_present = "config")]
    keys: Vec<String>,
    /// A column that is queried by range, and its type: integer, unsigned, 'decimal(2)' (2 digits after the
    /// point), float, text, date, timestamp, bool, uuid, bytes (in hexadecimal digits); several times
    #[arg(long = "domain", value_name = "COLUMN:TYPE", required_unless_present = "config")]
    domains: Vec<String>,
    /// Cut the table before this value of the first domain; several times. Only the first dendrite of a table uses
    /// it. A day is written 2024-02-29, a moment in microseconds since 1970 UTC
    #[arg(long = "cut", value_name = "VALUE", allow_hyphen_values = true)]
    cuts: Vec<String>,
    /// A cache server: redis://..., or rediss://... with TLS; several times
    #[arg(long = "cache", value_name = "URL", required_unless_present = "config")]
    caches: Vec<String>,
    /// A log server for --policy back: redis://... or rediss://..., which must write to disk at once; several times
    #[arg(long = "log", value_name = "URL")]
    logs: Vec<String>,
    #[command(flatten)]
    redis: RedisArgs,
    /// What a write does to cached results
    #[arg(long, value_enum, default_value = "through")]
    policy: PolicyName,
    /// What leases ranges: the database itself, or etcd://host:port,host:port (etcds:// if it is encrypted)
    #[arg(long, value_name = "URL", default_value = "store")]
    coordinator: String,
    /// Seconds after which other dendrites take the ranges of a dendrite that does not answer; with etcd only. A
    /// fifth of it should be longer than etcd's election timeout
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..=60))]
    lease: u64,
    #[command(flatten)]
    etcd: EtcdArgs,
    /// Which cache server holds a result: that of its range, or that of the hash of its query. All dendrites of a
    /// table need the same placement, with the same servers in the same order
    #[arg(long, value_enum, default_value = "range")]
    placement: PlacementName,
    /// Compress results for cache servers, if that makes them shorter. All dendrites of a table need the same
    /// setting
    #[arg(long)]
    compress: bool,
    /// Verify this percentage of the hits at the database: if one differs, another program has written past the
    /// cache, and all cached results are dropped
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=100))]
    verify_hits: u8,
    /// Follow the log of the database, and drop all cached results when another program has written to the table.
    /// All dendrites of a table need the same setting
    #[arg(long)]
    watchdog: bool,
    /// Where to answer `GET /metrics` for Prometheus, and `GET /healthz`; without it, nowhere
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
    /// A file with the secret that all dendrites and clients share, at least 16 bytes
    #[arg(long, value_name = "FILE", required_unless_present = "config")]
    secret_file: Option<PathBuf>,
}

/// One table's section of a file, read as arguments.
#[cfg(feature = "cache")]
#[derive(Debug, clap::Parser)]
#[command(no_binary_name = true)]
struct Section {
    #[command(flatten)]
    args: DendriteArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PolicyName {
    Around,
    Through,
    Back,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PlacementName {
    Range,
    Hash,
}

/// A build without the range cache says how to get one that has it.
#[cfg(not(feature = "cache"))]
pub(super) fn run(_: &DendriteArgs) -> Result<()> {
    Err(crate::features::CACHE.is_missing())
}

/// Runs a dendrite until it is asked to stop.
#[cfg(feature = "cache")]
pub(super) fn run(args: &DendriteArgs) -> Result<()> {
    let plans = match &args.config {
        Some(path) => sections(path)?,
        None => vec![plan(args)?],
    };
    crate::dendrite::run(&plans)
}

/// The tables of a file.
#[cfg(feature = "cache")]
fn sections(path: &std::path::Path) -> Result<Vec<crate::dendrite::Plan>> {
    let about = |why: String| lacuna_base::Error::invalid_input(format!("{}: {why}", path.display()));
    let read = |arguments: Vec<String>| {
        let section = <Section as clap::Parser>::try_parse_from(arguments);
        let args = section.map_err(|why| about(crate::errors::usage_sentence(&why.to_string())))?.args;
        if args.config.is_some() {
            return Err(about("`config` is no setting of a file".to_owned()).into());
        }
        plan(&args)
    };
    let tables = crate::dendrite::config::arguments(path).map_err(lacuna_base::Error::from)?;
    tables.into_iter().map(read).collect()
}

#[cfg(feature = "cache")]
fn plan(args: &DendriteArgs) -> Result<crate::dendrite::Plan> {
    use lacuna_cache_protocol::Policy;

    let policy = match args.policy {
        PolicyName::Around => Policy::WriteAround,
        PolicyName::Through => Policy::WriteThrough,
        PolicyName::Back => Policy::WriteBack,
    };
    let missing = |name: &str| lacuna_base::Error::invalid_input(format!("--{name} is missing"));
    Ok(crate::dendrite::Plan {
        listen: args.listen.clone().ok_or_else(|| missing("listen"))?,
        address: args.address.clone(),
        metrics: args.metrics.clone(),
        store: args.store.clone().ok_or_else(|| missing("store"))?,
        table: args.table.clone().ok_or_else(|| missing("table"))?,
        keys: args.keys.clone(),
        domains: args.domains.clone(),
        cuts: args.cuts.clone(),
        caches: args.caches.clone(),
        logs: args.logs.clone(),
        redis: args.redis.clone(),
        policy,
        coordinator: args.coordinator.clone(),
        lease_s: args.lease,
        etcd: args.etcd.clone(),
        is_compressed: args.compress,
        is_hashed: matches!(args.placement, PlacementName::Hash),
        verify_hits: args.verify_hits,
        has_watchdog: args.watchdog,
        secret_file: args.secret_file.clone().ok_or_else(|| missing("secret-file"))?,
    })
}
