//! `lacuna-lab cache-bench`: the range cache beside the store alone and beside caches without leases.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use lacuna_base::Result as CoreResult;
use lacuna_cli::{Failure, Output, Progress, Result};
use lacuna_workload::parse_count;

use crate::cache_bench::interrupt;
use crate::cache_bench::row::{Row, to_csv, to_json_lines, to_table};
use crate::cache_bench::run::Bench;
use crate::cache_bench::setup::{Compression, Length, Setup, Spread, StoreKind, System};

const EXAMPLES: &str = "\
Examples:
  lacuna-lab cache-bench --store sqlite --records 1k --seconds 1
  lacuna-lab cache-bench --store postgres --scans 10,99 --delay 5 --seconds 10
  lacuna-lab cache-bench --systems store,back --store postgres --scans 10 --copies 3 --durable
  lacuna-lab cache-bench --systems store,back --store mariadb --store-memory 64M --records 200k --seconds 20
  lacuna-lab cache-bench --systems naive,naive-lua,back --scans 90 --beta 0 --format json

Systems: store (alone), around, through, back (the range cache by its write policy), aside (a cache without
leases), naive and naive-lua (records in Redis alone). Every server is a real one on this machine, started
for the run. `ops/s` counts the time until the store has every acknowledged update. Trips and statements
are for one operation; `avoided` is beside a store that is asked for each. `anomalies` are scans that
showed a record older than an acknowledged update, or than an earlier scan did; `lost` are records whose
newest acknowledged update the store lacks in the end. `pinned` are bytes that log servers must keep,
`entry log` are the most bytes of logs of entries in cache servers, which --warm-start makes them keep.
--delay holds each request to a database server back, in a relay; SQLite has no way to be on.
--store-memory limits what a server keeps in memory. MariaDB reads the rest from its disk (O_DIRECT), and so does
PostgreSQL from version 16 on; an older one reads its files through the page cache of the system, which may hold
all of them.
--compression sends results compressed where that makes them shorter; these records, as those of YCSB, hardly shrink.
Exit code 1 if around, through or back show an anomaly or lose an update, 130 after Ctrl-C.";

/// Compare the range cache with the store alone, and with caches without leases
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CacheBenchArgs {
    /// What to compare, separated by commas, or `all`
    #[arg(
        long,
        value_name = "A,B,..",
        value_delimiter = ',',
        default_value = "store,around,through,back,aside"
    )]
    systems: Vec<String>,

    /// Where the rows are, separated by commas: sqlite, mariadb, postgres, postgres-async
    #[arg(long, value_name = "S,..", value_delimiter = ',', default_value = "sqlite")]
    store: Vec<String>,

    /// Bytes that a database server has for rows, such as 64M; the rest is on disk [default: all rows fit]
    #[arg(long, value_name = "BYTES", value_parser = at_least_one)]
    store_memory: Option<u64>,

    /// With --store-memory: where the server's data is, on a disk [default: the folder of this program]
    #[arg(long, value_name = "DIR", requires = "store_memory")]
    data_folder: Option<PathBuf>,

    /// Rows of 1,000 bytes
    #[arg(long, value_name = "N", default_value = "10k", value_parser = at_least_one)]
    records: u64,

    /// Scans among the operations in percent, separated by commas; the others update a record
    #[arg(long, value_name = "P,..", value_delimiter = ',', default_value = "99", value_parser = clap::value_parser!(u64).range(0..=100))]
    scans: Vec<u64>,

    /// Rows of a scan
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    rows: u64,

    /// Columns of 100 bytes that a scan brings and an update writes, 1 to 10
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10))]
    columns: u64,

    /// Which records are asked for
    #[arg(long, value_enum, default_value_t = SpreadName::Uniform)]
    spread: SpreadName,

    /// Largest percentage of its rows that a cached result may share with another [default: each range chooses]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u8).range(0..=100))]
    beta: Option<u8>,

    /// Each range measures which results are too large to be worth caching
    #[arg(long)]
    measured_sizes: bool,

    /// How results are kept by cache servers
    #[arg(long, value_enum, default_value_t = CompressionName::None)]
    compression: CompressionName,

    /// Cache servers keep a log of entries, with which the next program could begin warm
    #[arg(long)]
    warm_start: bool,

    /// Log servers that keep each buffered write
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=9))]
    copies: u64,

    /// Log servers have a buffered write on disk before it is acknowledged
    #[arg(long)]
    durable: bool,

    /// Redis servers that keep results, 1 to 8; 0 keeps them in this process
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=8))]
    cache_servers: u64,

    /// Clients, each with one operation under way
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    clients: u64,

    /// Milliseconds that each request to the store is held back
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1000))]
    delay: u64,

    /// Bytes a second that each cache server may send, and be sent, such as 2M [default: no limit]
    #[arg(long, value_name = "BYTES", value_parser = at_least_one)]
    bandwidth: Option<u64>,

    /// How long each run is
    #[arg(long, value_name = "S", default_value_t = 5.0, conflicts_with = "operations")]
    seconds: f64,

    /// Operations of each run, in place of a time
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    operations: Option<u64>,

    /// Begin with an empty cache
    #[arg(long)]
    cold: bool,

    /// How to print the rows
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Seed of records and choices
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Which records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SpreadName {
    /// All alike
    Uniform,
    /// Record k in proportion to 1/k
    Zipfian,
}

/// How results are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompressionName {
    /// As they are
    None,
    /// By LZ4, where that makes them shorter
    Lz4,
    /// By zlib, where that makes them shorter
    Zlib,
}

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns for people
    Table,
    /// One JSON object a line
    Json,
    /// Comma-separated values with a header
    Csv,
}

/// Runs the comparison.
pub(super) fn run(args: &CacheBenchArgs) -> Result<()> {
    let setups = args.setups()?;
    interrupt::watch()?;
    let mut rows = Vec::new();
    let measured = measure(setups, args.data_folder.clone(), &mut rows);
    if interrupt::is_interrupted() {
        return Err(Failure::Exit(interrupt::EXIT_CODE));
    }
    measured?;
    print(args.format, &rows)?;
    hold(&rows)
}

fn measure(setups: Vec<Setup>, data_folder: Option<PathBuf>, rows: &mut Vec<Row>) -> CoreResult<()> {
    let mut bench = Bench::with_data_folder(data_folder);
    let (progress, of) = (Progress::spinner("starting servers"), setups.len());
    for (setup, number) in setups.into_iter().zip(1..) {
        rows.push(bench.measure(setup, &mut |stage| progress.say(format!("{number} of {of}: {stage}")))?);
    }
    Ok(())
}

impl CacheBenchArgs {
    /// Every run that the arguments name, each checked.
    fn setups(&self) -> CoreResult<Vec<Setup>> {
        let systems: Vec<System> = if self.systems == ["all"] {
            System::ALL.to_vec()
        } else {
            self.systems.iter().map(|name| System::parse(name)).collect::<CoreResult<_>>()?
        };
        let mut setups = Vec::new();
        for name in &self.store {
            let store = StoreKind::parse(name)?;
            for &scan_percent in &self.scans {
                for &system in &systems {
                    setups.push(self.setup(system, store, scan_percent)?);
                }
            }
        }
        Ok(setups)
    }

    fn setup(&self, system: System, store: StoreKind, scan_percent: u64) -> CoreResult<Setup> {
        let time = Duration::try_from_secs_f64(self.seconds).ok().filter(|time| !time.is_zero());
        let length = match (self.operations, time) {
            (Some(operations), _) => Length::Operations(operations),
            (None, Some(time)) => Length::Time(time),
            (None, None) => {
                let message = format!("a run of {} seconds measures nothing", self.seconds);
                return Err(lacuna_base::Error::invalid_input(message));
            }
        };
        let small = |count: u64| usize::try_from(count).expect("clap has checked that it is small");
        Setup {
            store_memory: self.store_memory,
            records: self.records,
            scan_percent,
            rows: self.rows,
            columns: small(self.columns),
            spread: match self.spread {
                SpreadName::Uniform => Spread::Uniform,
                SpreadName::Zipfian => Spread::Zipfian,
            },
            beta: self.beta,
            measures_sizes: self.measured_sizes,
            compression: match self.compression {
                CompressionName::None => Compression::None,
                CompressionName::Lz4 => Compression::Lz4,
                CompressionName::Zlib => Compression::Zlib,
            },
            has_warm_start: self.warm_start,
            copies: small(self.copies),
            is_durable: self.durable,
            cache_servers: small(self.cache_servers),
            clients: small(self.clients),
            delay: Duration::from_millis(self.delay),
            bandwidth: self.bandwidth,
            length,
            is_warm: !self.cold,
            seed: self.seed,
            ..Setup::new(system, store)
        }
        .checked()
    }
}

fn print(format: Format, rows: &[Row]) -> Result<()> {
    let text = match format {
        Format::Table => to_table(rows),
        Format::Json => to_json_lines(rows)?,
        Format::Csv => to_csv(rows)?,
    };
    let mut out = Output::new();
    out.text(&text)?;
    out.finish()
}

/// The promise of the range cache.
fn hold(rows: &[Row]) -> Result<()> {
    let is_broken = |row: &&Row| {
        matches!(row.setup.system, System::Lacuna(_)) && (row.anomalies > 0 || row.lost_updates > 0)
    };
    match rows.iter().find(is_broken) {
        None => Ok(()),
        Some(row) => Err(Failure::DoesNotHold(format!(
            "`{}` over {} showed {} anomalies and lost {} updates; this is a bug",
            row.setup.system.name(),
            row.setup.store.name(),
            row.anomalies,
            row.lost_updates
        ))),
    }
}

/// A number of things, at least one: `5`, `10k`, `2M`.
fn at_least_one(text: &str) -> Result<u64, String> {
    match parse_count(text).map_err(|error| error.to_string())? {
        0 => Err(format!("{text} is too few; give at least 1")),
        count => Ok(count),
    }
}
