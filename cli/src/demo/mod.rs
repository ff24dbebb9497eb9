//! `lacuna demo`: one store three times over, without filters, with SlateDB's own, and with Lacuna.
//!
//! The rows are the machine's own files by the time they were last changed (or the keys of a file), dealt out to
//! overlapping SSTs as if they had been written by many processes. Each store then answers the same questions; what it
//! reads from the object store is counted, and all answers must be the same.

mod measured;
mod questions;
mod report;
mod source;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use lacuna_base::Error;
use lacuna_slatedb::RangeFilters;
use lacuna_slatedb::measure::MeasuredDb;
use lacuna_workload::{KeyType, ReadOptions};
use slatedb::object_store::ObjectStore;
use slatedb::object_store::local::LocalFileSystem;

use crate::errors::{Failure, Result, unless_reader_gone};
use crate::interrupt::StopFlag;
use crate::progress::Progress;
use crate::secret_file::refuse_without_secret;

use measured::{Measured, Plan};
use source::Source;

use crate::work_folder::WorkFolder;

/// Show what filters save: the same scans without filters, with SlateDB's own, and with Lacuna
///
/// Stores every file under a folder by the second it was last changed in an embedded SlateDB, scans short spans of time
/// in which nothing changed, and counts what is read. The stores live in a temporary folder and are removed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Folder whose files are the rows
    #[arg(long, value_name = "DIR", default_value = "/usr")]
    folder: PathBuf,

    /// Use these keys instead: a key file, or uniform:N, normal:N, zipf:N, clustered:N or skew99:N
    #[arg(long, value_name = "K", conflicts_with = "folder")]
    keys: Option<String>,

    /// How the keys are written: u64, i64, f64, date, timestamp, text or hex [default: u64 for .u64, else text]
    #[arg(long, value_name = "T", requires = "keys")]
    key_type: Option<KeyType>,

    /// Sort the keys instead of refusing a file in another order
    #[arg(long, requires = "keys")]
    sort: bool,

    /// The filter: a family, `@`, and bits per key
    #[arg(long, value_name = "SPEC", default_value = "grafite@14")]
    filter: String,

    /// Scans without a row, and as many with rows
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    scans: u32,

    /// SSTables that the rows are dealt out to
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    ssts: u32,

    /// Delay of every read from the object store, as of a cloud
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    cloud_latency_ms: u64,

    /// Folder for the stores [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,

    /// Seed of the questions and of the filters
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

const EXAMPLES: &str = "\
Examples:
  lacuna demo
  lacuna demo --folder /usr/share --scans 200
  lacuna demo --keys uniform:100k --filter bucketing@12
  lacuna demo --folder /usr/share --scans 100 --cloud-latency-ms 2";

/// How long the tasks of the stores may take to end.
const GRACE: Duration = Duration::from_secs(3);
/// Stores on disk at the same time.
const STORES: u64 = 3;

/// Fewest rows of an SST: SlateDB makes no filter for fewer.
const MIN_ROWS: usize = 1_000;

/// Runs the demo.
///
/// # Errors
/// `BadInput` for a folder, keys or filter that cannot be used; `DoesNotHold` if two stores answer differently.
pub(crate) fn run(args: &DemoArgs) -> Result<()> {
    refuse_without_secret(args.filter.split('@').next().unwrap_or_default())?;
    let source = args.source()?;
    let lacuna = RangeFilters::parse(&format!("{} codec={} seed={}", args.filter, source.codec, args.seed))?;
    let ssts = args.ssts_for(source.rows.len())?;
    let questions = questions::draw(&source, args.scans as usize, args.seed);
    let plan = Plan { source: &source, questions: &questions, ssts };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Error::unavailable(format!("no threads for the store: {error}")))?;
    let folder = WorkFolder::create("demo", args.store.as_deref(), STORES * source.bytes())?;
    let stop = StopFlag::quiet();
    let measured = runtime.block_on(async {
        tokio::select! {
            measured = args.measure(&plan, lacuna, folder.path()) => measured,
            exit_code = stop.wait() => Err(Failure::Exit(exit_code)),
        }
    });
    // The stores write until their tasks are ended, and would make the folder anew.
    runtime.shutdown_timeout(GRACE);
    drop(folder);
    let measured = measured?;
    unless_reader_gone(report::print(
        &source,
        &questions,
        ssts,
        &args.filter,
        args.cloud_latency_ms,
        &measured,
    ))?;
    same_answers(&measured)
}

impl DemoArgs {
    fn source(&self) -> Result<Source> {
        match &self.keys {
            Some(keys) => {
                source::keys_of(keys, &ReadOptions { key_type: self.key_type, sort: self.sort }, self.seed)
            }
            None => source::files_under(&self.folder),
        }
    }

    /// As many SSTs as asked for, unless they would have too few rows each.
    fn ssts_for(&self, rows: usize) -> Result<usize> {
        let max = rows / MIN_ROWS;
        if max == 0 {
            let message = format!(
                "{rows} rows are too few to show anything; give a folder or keys with at least {MIN_ROWS}"
            );
            return Err(Error::invalid_input(message).into());
        }
        Ok(max.min(self.ssts as usize))
    }

    /// Builds and asks the three stores, one after the other.
    async fn measure(&self, plan: &Plan<'_>, lacuna: RangeFilters, folder: &Path) -> Result<[Measured; 3]> {
        let store = |name: &str| -> Result<Arc<dyn ObjectStore>> {
            let place = folder.join(name);
            let made = std::fs::create_dir(&place);
            made.map_err(|error| Error::unavailable(format!("{}: {error}", place.display())))?;
            Ok(Arc::new(LocalFileSystem::new_with_prefix(&place).map_err(store_failure)?))
        };
        let delay = Duration::from_millis(self.cloud_latency_ms);
        let progress = Progress::steps("writing and scanning: no filter", STORES);
        let none = MeasuredDb::without_filters(store("none")?, "db").with_read_delay(delay);
        let none = plan.run("no filter", none).await?;
        progress.step("writing and scanning: SlateDB's Bloom filter", 1, STORES);
        let bloom = MeasuredDb::new(store("bloom")?, "db", None).with_read_delay(delay);
        let bloom = plan.run("SlateDB's Bloom", bloom).await?;
        progress.step("writing and scanning: Lacuna", 2, STORES);
        let ours = MeasuredDb::new(store("lacuna")?, "db", Some(lacuna)).with_read_delay(delay);
        let ours = plan.run("Lacuna", ours).await?;
        Ok([none, bloom, ours])
    }
}

/// The failure of a store.
fn store_failure(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Error::unavailable(format!("the store failed: {error}")).with_source(error).into()
}

fn same_answers(measured: &[Measured; 3]) -> Result<()> {
    let first = &measured[0];
    match measured.iter().find(|other| other.answers != first.answers) {
        None => Ok(()),
        Some(other) => Err(Failure::DoesNotHold(format!(
            "{} and {} answer differently; please report this",
            first.name, other.name
        ))),
    }
}
