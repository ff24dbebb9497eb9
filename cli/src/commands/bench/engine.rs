//! `lacuna bench engine`: a storage engine with no filter, its own, and ours.

use clap::{Args, ValueEnum};
use lacuna_base::{Error, ErrorKind, Result as CoreResult};
use lacuna_bench::engine::{
    COLUMNS, Direction, Engine, EngineRow, EngineSetting, FilterChoice, SlateDbEngine, compare, to_table,
};
use lacuna_bench::report;
use lacuna_workload::{QueryInput, parse_count};

use super::{Format, every_family, split_specs};
use crate::arguments::{KeyArgs, bits_per_key};
use crate::errors::{Failure, Result};
use crate::output::Output;
use crate::progress::Progress;
use crate::secret_file::refuse_without_secret;
use crate::work_folder::WorkFolder;

const EXAMPLES: &str = "\
Examples:
  lacuna bench engine --engine slatedb --keys uniform:20k \\
      --queries uniform:1k:32 --filters none,engine,grafite
  lacuna bench engine --engine slatedb --keys uniform:20k \\
      --queries points:1k --filters none,engine,bloom \\
      --bits-per-key 10,14 --empty 0.5 --format json
  lacuna bench engine --engine slatedb --keys uniform:20k \\
      --queries uniform:1k:1-64 --filters none,auto --levels 4 \\
      --value-bytes 500 --direction reverse --cache 1M

Keys are dealt out to levels that each span all of them. Every filter
gets a database of its own; all are warmed and then asked the same
questions in turn. `rate` counts the answers \"maybe\" of our filters
about files without the range. RocksDB is there in a binary that was
built with it, in the checkout by
  .ci/with-rocksdb cargo build --release -p lacuna-cli --features rocksdb
It looks points up with `get`, and seeks them as [k, k] where only that
asks our filter. Exit code 1 if rows are missing from an answer.";

/// Compare a storage engine's reads with no filter, its own, and ours
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EngineArgs {
    /// The engine
    #[arg(long, value_enum)]
    engine: EngineName,

    /// Filters to compare, separated by commas: none, engine (its own Bloom filter), auto, or specs; `all` stands for
    /// every family [default: none,engine,all,auto]
    #[arg(long, value_name = "A,B,..")]
    filters: Option<String>,

    #[command(flatten)]
    keys: KeyArgs,

    /// What to ask, such as uniform:10k:1-32, points:10k or `file:PATH`, all of whose ranges are asked
    #[arg(long, value_name = "Q")]
    queries: String,

    /// Share of the queries that hold no key, from 0 to 1 [default: 1]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    empty: Option<f64>,

    /// Budgets in bits per key, separated by commas
    #[arg(
        long,
        value_name = "B,..",
        value_delimiter = ',',
        default_value = "14",
        allow_negative_numbers = true,
        value_parser = bits_per_key
    )]
    bits_per_key: Vec<f64>,

    /// Bytes of each value, half of them zero
    #[arg(long, value_name = "N", default_value = "92", value_parser = small_count)]
    value_bytes: usize,

    /// Levels, each of which spans all keys
    #[arg(long, value_name = "N", default_value = "3", value_parser = small_count)]
    levels: usize,

    /// How many times larger each level is than the one above
    #[arg(long, value_name = "N", default_value_t = 4)]
    size_ratio: u64,

    /// Bytes of the block cache, such as 10M [default: a tenth of the rows]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    cache: Option<u64>,

    /// Which way seeks go
    #[arg(long, value_enum, default_value_t = Way::Forward)]
    direction: Way,

    /// How to print the rows
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Seed of keys, queries, values and hashes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// SlateDB
    Slatedb,
    /// RocksDB, in a build with the feature `rocksdb`
    Rocksdb,
}

impl EngineName {
    /// The engine.
    ///
    /// # Errors
    /// `InvalidInput` that says how to build it, if this binary has none.
    fn engine(self) -> Result<&'static dyn Engine> {
        match self {
            Self::Slatedb => Ok(&SlateDbEngine),
            #[cfg(feature = "rocksdb")]
            Self::Rocksdb => Ok(&lacuna_bench::engine::rocksdb::RocksDbEngine::PLAIN),
            #[cfg(not(feature = "rocksdb"))]
            Self::Rocksdb => Err(crate::features::ROCKSDB.is_missing()),
        }
    }
}

/// Directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// From the smallest key up
    Forward,
    /// From the largest key down
    Reverse,
}

/// Runs the comparison.
pub(super) fn run(args: &EngineArgs) -> Result<()> {
    let engine = args.engine.engine()?;
    print(args, &measured(args, engine)?)
}

fn measured(args: &EngineArgs, engine: &dyn Engine) -> Result<Vec<EngineRow>> {
    let input = QueryInput::parse(&args.queries)?;
    // The text names the same families in both key spaces; what is wrong with one is said before the keys are read.
    let words = words(args);
    let mut families = words.iter().filter(|word| !["none", "engine"].contains(&word.as_str()));
    families.try_for_each(|family| {
        let spec = lacuna_families::spec::<u64>(family);
        spec.map_err(|error| error.with_context("--filters takes `none`, `engine`, `all` and families"))?;
        refuse_without_secret(family)
    })?;
    let setting = setting(args, &input)?
        .with_value_bytes(args.value_bytes)
        .with_levels(args.levels, args.size_ratio)?
        .with_direction(match args.direction {
            Way::Forward => Direction::Forward,
            Way::Reverse => Direction::Reverse,
        });
    let setting = match args.cache {
        Some(cache_bytes) => setting.with_cache_bytes(cache_bytes),
        None => setting,
    };
    let filters = filters(args, words, &setting)?;
    let row_bytes = (setting.keys().total_bytes() + setting.keys().len() * args.value_bytes) as u64;
    let folder = WorkFolder::create("bench", None, row_bytes * filters.len() as u64)?;
    // Databases of the engines go into the temporary folder of the process.
    drop(tempfile::env::override_temp_dir(folder.path()));
    let progress = Progress::spinner("writing databases");
    compare(engine, &filters, &setting, &mut |stage| progress.say(stage)).map_err(failure)
}

/// A row that is hidden is no bad input: it is what the comparison proves not to happen.
fn failure(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::Corrupt => Failure::DoesNotHold(error.to_string()),
        _ => error.into(),
    }
}

/// Keys and questions.
fn setting(args: &EngineArgs, input: &QueryInput) -> CoreResult<EngineSetting> {
    let keys = args.keys.load(args.seed)?;
    match (input, args.empty) {
        (QueryInput::Drawn(source), empty) => {
            EngineSetting::new(args.keys.name(), keys.keys, source, args.seed)?
                .with_empty_share(empty.unwrap_or(1.0))
        }
        (QueryInput::File(_), Some(_)) => Err(Error::invalid_input(
            "a file of queries already fixes the share of empty ones; leave out --empty",
        )),
        (QueryInput::File(_), None) => {
            let workload = input.workload(keys, args.seed)?;
            EngineSetting::brought(args.keys.name(), &input.to_string(), &workload, args.seed)
        }
    }
}

/// The filters asked for.
fn words(args: &EngineArgs) -> Vec<String> {
    match &args.filters {
        Some(text) => split_specs(text),
        None => {
            let ends = |name: &str| name.to_owned();
            [ends("none"), ends("engine")].into_iter().chain(every_family()).chain([ends("auto")]).collect()
        }
    }
}

/// Every filter with every budget; no filter once.
fn filters(args: &EngineArgs, words: Vec<String>, setting: &EngineSetting) -> CoreResult<Vec<FilterChoice>> {
    let mut filters = Vec::new();
    for word in words {
        for &bits_per_key in &args.bits_per_key {
            let filter = FilterChoice::parse(&word, bits_per_key, setting.codec())?;
            if !filters.contains(&filter) {
                filters.push(filter);
            }
        }
    }
    Ok(filters)
}

fn print(args: &EngineArgs, rows: &[EngineRow]) -> Result<()> {
    let text = match args.format {
        Format::Table => to_table(rows),
        Format::Json => report::to_json_lines(rows),
        Format::Csv => report::csv_of(&COLUMNS, rows),
    };
    let mut out = Output::new();
    out.text(&text)?;
    out.finish()
}

fn bytes(text: &str) -> CoreResult<u64> {
    parse_count(text)
}

fn small_count(text: &str) -> CoreResult<usize> {
    let count = parse_count(text)?;
    match usize::try_from(count) {
        Ok(count) if count <= 1 << 20 => Ok(count),
        _ => Err(Error::invalid_input(format!("{text} is too many here; give at most 1M"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_row_is_no_bad_input() {
        assert!(matches!(failure(Error::corrupt("a row is hidden")), Failure::DoesNotHold(_)));
        assert!(matches!(failure(Error::unavailable("the disk is full")), Failure::BadInput(_)));
    }
}
