//! `lacuna proxy`: a relay before PostgreSQL that caches, or says what a cache would spare; before MySQL and MariaDB it says so alone.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::errors::Result;

const EXAMPLES: &str = "\
Examples:
  lacuna proxy --upstream postgres://127.0.0.1:5432 \\
      --listen 127.0.0.1:6432 --report-every 60
  lacuna proxy --listen 0.0.0.0:6432 \\
      --upstream \\
      'postgres://db.internal/?sslmode=verify-full&sslrootcert=ca.pem' \\
      --certificate server.pem --key server.key
  lacuna proxy --upstream postgres://127.0.0.1:5432 --cache memory \\
      --register public.orders.customer --writes rights --writers app \\
      --account postgres://lacuna@127.0.0.1:5432/shop
  lacuna proxy --upstream postgres://127.0.0.1:5432 --cache shadow \\
      --register public.orders.customer --writes rights --writers app \\
      --account postgres://lacuna@127.0.0.1:5432/shop \\
      --metrics 127.0.0.1:9600
  lacuna proxy --upstream mysql://127.0.0.1:3306 \\
      --listen 127.0.0.1:6306 --report-every 60
  lacuna proxy --config proxy.toml
  lacuna proxy explain 'SELECT * FROM orders WHERE customer = $1'
  lacuna proxy init --guard --register public.orders.customer \\
      --account-role lacuna --dry-run
  lacuna proxy init --log --register public.orders.customer --dry-run
  lacuna proxy top 127.0.0.1:9600

The file of --config has every option by its name: upstream, listen,
cache and so on. `lacuna proxy top` shows what a proxy with --metrics
does now.

Clients keep their users, passwords and databases, and connect to the
proxy instead of the database. What is cached, what never, and which
rights a cache needs: docs/guide/postgres-proxy.md. Before MySQL and
MariaDB the proxy relays and suggests columns; it caches nothing there.

Needs a binary that was built with the proxy, in the checkout by
  cargo build --release -p lacuna-cli --features proxy";

/// Relay PostgreSQL's or MySQL's protocol byte for byte, suggest which columns to cache, and cache range reads of PostgreSQL
///
/// Runs until SIGTERM or Ctrl-C, then lets transactions end, and prints what a cache of each column would have spared.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct ProxyArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ProxyCommand>,
    /// All options from a file in TOML: each key is the long name of an option here
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub(crate) config: Option<PathBuf>,
    /// The database: postgres://HOST:PORT, with `?sslmode=disable|prefer|require|verify-full` and `sslrootcert=FILE`; or its Unix
    /// socket: `postgres:///?host=/FOLDER&port=PORT`; or several hosts, a server and its standbys: postgres://HOST:PORT,HOST:PORT. Or
    /// MySQL or MariaDB, without TLS and cache: mysql://HOST:PORT
    #[arg(long, value_name = "URL", required_unless_present = "config")]
    pub(crate) upstream: Option<String>,
    /// Where to listen; port 0 for any free port
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:6432")]
    pub(crate) listen: SocketAddr,
    /// Listen at a Unix socket in this folder, too: `.s.PGSQL.` and the port of --listen
    #[arg(long, value_name = "DIR")]
    pub(crate) unix_socket_dir: Option<PathBuf>,
    /// Refuse clients beyond this number
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) max_connections: usize,
    /// End sessions whose client sends a longer message
    #[arg(long, value_name = "BYTES", default_value_t = 0x3fff_ffff)]
    pub(crate) max_message: usize,
    /// Offer TLS to clients with this certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// The key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// Take the logins of these roles where they cannot pass, by the keys that the server has of them: a line
    /// `"role" "SCRAM-SHA-256$..."` for each, as in PgBouncer's userlist.txt
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) logins: Option<PathBuf>,
    /// Keep replies to range reads: `memory`; or `shadow`, which answers nothing and compares what it would have answered
    #[arg(long, value_name = "WHERE", value_parser = ["memory", "shadow"], requires_all = ["columns", "writes", "account"])]
    pub(crate) cache: Option<String>,
    /// Columns whose range reads are kept: SCHEMA.TABLE.COLUMN, with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "cache", group = "columns")]
    pub(crate) register: Vec<String>,
    /// Register columns while it runs that would spare enough, as far as the rights of roles allow it
    #[arg(long, requires = "cache", conflicts_with = "no_suggestions", group = "columns")]
    pub(crate) auto: bool,
    /// Statements that a cache of a column must have spared before --auto registers it, and a fifth of those that bound it
    #[arg(long, value_name = "N", requires = "auto", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) auto_spared: u64,
    /// Most tables under --auto, those of --register among them
    #[arg(long, value_name = "N", requires = "auto", default_value_t = 4)]
    pub(crate) auto_tables: usize,
    /// Most columns under --auto, those of --register among them
    #[arg(long, value_name = "N", requires = "auto", default_value_t = 8)]
    pub(crate) auto_columns: usize,
    /// How the cache stays right although others may write: `rights` (no role but those of --writers may write), `guard`
    /// (triggers refuse such writes), or `log` (the proxy reads such writes in the database's log, and each hit waits for it)
    #[arg(long, value_name = "HOW", value_parser = ["rights", "guard", "log"], requires = "cache")]
    pub(crate) writes: Option<String>,
    /// Roles that may write registered tables, because they connect through this proxy only, with commas between
    #[arg(long, value_name = "ROLES", value_delimiter = ',', requires = "cache")]
    pub(crate) writers: Vec<String>,
    /// The proxy's own login, which reads the catalogue and holds a lease: postgres://USER:PASSWORD@HOST:PORT/DATABASE; with several
    /// hosts in --upstream the same ones in the same order, of which it finds the one that takes writes
    #[arg(long, value_name = "URL", requires = "cache")]
    pub(crate) account: Option<String>,
    /// Most memory for replies
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) cache_mib: u32,
    /// Where to answer `GET /metrics` for Prometheus, `GET /healthz`, and `GET /` with a page; of a port alone this machine
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) metrics: Option<String>,
    /// Show the page to other machines, too, if --metrics is no address of this machine alone: it shows data of users
    #[arg(long, requires = "metrics")]
    pub(crate) page: bool,
    /// Print suggestions each time this many seconds have passed, and at the end
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) report_every: Option<u64>,
    /// Relay alone: follow no statements, and suggest nothing
    #[arg(long)]
    pub(crate) no_suggestions: bool,
    /// Threads that relay; half the processors if not said, since the database and the clients need some, too
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// How long transactions may take to end after a signal
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub(crate) drain: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProxyCommand {
    Explain(ExplainArgs),
    Init(InitArgs),
    Top(TopArgs),
}

/// Watch a proxy: hits, time saved, columns and the hottest ranges of its cache
///
/// On a terminal the table is drawn anew after each interval, until Ctrl-C; elsewhere it is printed once.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// Where the proxy answers: HOST:PORT of its --metrics, or http://HOST:PORT
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Seconds between two looks
    #[arg(long, value_name = "S", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) interval: u64,
}

/// Prepare tables for `lacuna proxy --writes guard` or `--writes log`, or take that away
///
/// `--guard` puts triggers on them by which writes past the proxy fail. `--log` lets the log of the database show such writes whole.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("how").args(["guard", "log"]).required(true))]
pub(crate) struct InitArgs {
    /// Triggers by which writes past the proxy fail
    #[arg(long)]
    pub(crate) guard: bool,
    /// Whole old rows and changes of definitions in the log
    #[arg(long)]
    pub(crate) log: bool,
    /// Columns that a proxy will register: SCHEMA.TABLE.COLUMN, with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', required = true)]
    pub(crate) register: Vec<String>,
    /// The role of the proxy's own account, which guards have to know; not for --log and --remove
    #[arg(long, value_name = "ROLE", required_unless_present_any = ["remove", "log"], conflicts_with = "log")]
    pub(crate) account_role: Option<String>,
    /// Take it away
    #[arg(long)]
    pub(crate) remove: bool,
    /// Print the SQL and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// A login that owns the tables, has CREATE on the database and `pg_read_all_stats`, or for --log a superuser:
    /// postgres://USER:PASSWORD@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL", required_unless_present = "dry_run")]
    pub(crate) account: Option<String>,
}

/// Say whether a cache could answer a statement, and why not
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The statement
    #[arg(value_name = "SQL")]
    pub(crate) sql: String,
}

/// A build without the proxy says how to get one that has it.
#[cfg(not(feature = "proxy"))]
pub(super) fn run(_: &ProxyArgs) -> Result<()> {
    Err(crate::features::PROXY.is_missing())
}

/// Runs the command.
#[cfg(feature = "proxy")]
pub(super) fn run(args: &ProxyArgs) -> Result<()> {
    match &args.command {
        Some(ProxyCommand::Explain(ExplainArgs { sql })) => crate::proxy::explain(sql),
        Some(ProxyCommand::Init(init)) => crate::proxy::init(init),
        Some(ProxyCommand::Top(TopArgs { url, interval })) => {
            crate::proxy::top::run(url, std::time::Duration::from_secs(*interval))
        }
        None => match &args.config {
            Some(path) => Ok(crate::proxy::run(&of_file(path)?, Some(path))?),
            None => Ok(crate::proxy::run(args, None)?),
        },
    }
}

/// A file, read as arguments.
#[cfg(feature = "proxy")]
#[derive(Debug, clap::Parser)]
#[command(no_binary_name = true)]
struct Section {
    #[command(flatten)]
    args: ProxyArgs,
}

/// The arguments that a file stands for.
///
/// # Errors
/// `InvalidInput` with the file and what is wrong with it.
#[cfg(feature = "proxy")]
pub(crate) fn of_file(path: &std::path::Path) -> lacuna_base::Result<ProxyArgs> {
    use crate::config_file;

    let about = |why: String| lacuna_base::Error::invalid_input(format!("{}: {why}", path.display()));
    let arguments = config_file::read(path).and_then(config_file::arguments).map_err(about)?;
    let section = <Section as clap::Parser>::try_parse_from(arguments);
    let args = section.map_err(|why| about(crate::errors::usage_sentence(&why.to_string())))?.args;
    if args.config.is_some() {
        return Err(about("`config` is no setting of a file".to_owned()));
    }
    Ok(args)
}
