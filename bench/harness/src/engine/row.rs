//! One line of a comparison.

use serde::{Deserialize, Serialize};

use super::driver::total;
use super::{Asked, EngineSetting, FilterChoice, Shape};
use crate::statistics::median;

/// The names of the fields, in order.
pub const COLUMNS: [&str; 25] = [
    "engine",
    "filter",
    "keys",
    "key_count",
    "value_bytes",
    "levels",
    "size_ratio",
    "files",
    "cache_bytes",
    "io",
    "bits_per_key_asked",
    "bits_per_key",
    "filter_bytes",
    "queries",
    "query_count",
    "empty_count",
    "direction",
    "rows",
    "queries_per_second",
    "ns_per_query",
    "read_ns_per_query",
    "data_blocks_per_query",
    "files_skipped_per_query",
    "fpr",
    "seed",
];

/// What was measured of one database. The field names are those of `--format json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineRow {
    /// The engine.
    pub engine: String,
    /// `none`, `engine` for the engine's own Bloom filter, or a spec.
    pub filter: String,
    /// Where the keys came from.
    pub keys: String,
    /// Rows written.
    pub key_count: usize,
    /// Bytes of each value.
    pub value_bytes: usize,
    /// Levels asked for.
    pub levels: usize,
    /// How many times larger each level is than the one above.
    pub size_ratio: u64,
    /// Files.
    pub files: usize,
    /// Bytes of the block cache.
    pub cache_bytes: u64,
    /// Where blocks come from that are not cached.
    pub io: String,
    /// Budget, in bits per key; none without a filter.
    pub bits_per_key_asked: Option<f64>,
    /// Bytes of all filters, in bits per key.
    pub bits_per_key: f64,
    /// Bytes of all filters.
    pub filter_bytes: u64,
    /// Where the queries came from.
    pub queries: String,
    /// Number of queries.
    pub query_count: u64,
    /// Queries that hold no key.
    pub empty_count: usize,
    /// Which way seeks went.
    pub direction: String,
    /// Rows found by all queries.
    pub rows: u64,
    /// Queries in a second.
    pub queries_per_second: f64,
    /// Median of the rounds' means, in nanoseconds.
    pub ns_per_query: f64,
    /// Nanoseconds of them spent fetching blocks, by their share in the last round; 0 where the engine does not report
    /// them.
    pub read_ns_per_query: f64,
    /// Blocks of data fetched from below the block cache.
    pub data_blocks_per_query: f64,
    /// Files that a filter of ours kept closed.
    pub files_skipped_per_query: f64,
    /// "Maybe" among the questions to filters of files without the range; none where none of ours was asked.
    pub fpr: Option<f64>,
    /// Seed of everything.
    pub seed: u64,
}

impl EngineRow {
    pub(super) fn new(
        engine: &str,
        filter: &FilterChoice,
        setting: &EngineSetting,
        rounds: &[Asked],
        shape: Shape,
        fpr: Option<f64>,
    ) -> Self {
        let key_count = setting.questions.keys.len();
        let all = total(rounds);
        let ns =
            if rounds.is_empty() { 0.0 } else { median(&rounds.iter().map(Asked::ns).collect::<Vec<_>>()) };
        Self {
            engine: engine.to_owned(),
            filter: filter.name().to_owned(),
            keys: setting.keys_name.clone(),
            key_count,
            value_bytes: setting.value_bytes,
            levels: setting.levels,
            size_ratio: setting.size_ratio,
            files: shape.files,
            cache_bytes: setting.cache_bytes,
            io: shape.io.to_owned(),
            bits_per_key_asked: filter.bits_per_key(),
            bits_per_key: rounded(shape.filter_bytes as f64 * 8.0 / key_count.max(1) as f64, 1e2),
            filter_bytes: shape.filter_bytes,
            queries: setting.queries_name.clone(),
            query_count: all.questions,
            empty_count: setting.questions.asked.iter().filter(|question| question.is_empty).count(),
            direction: setting.manner.direction.name().to_owned(),
            rows: all.rows,
            queries_per_second: if ns > 0.0 { (1e9 / ns).round() } else { 0.0 },
            ns_per_query: ns.round(),
            read_ns_per_query: (ns * rounds.last().map_or(0.0, read_share)).round(),
            data_blocks_per_query: rounded(all.per_question(all.counts.data_blocks), 1e4),
            files_skipped_per_query: rounded(all.per_question(all.counts.skipped), 1e4),
            fpr,
            seed: setting.seed,
        }
    }
}

/// The part of a round's time that went into fetching blocks, both by one clock: the engine's clock also runs while
/// other processes have the processor.
fn read_share(round: &Asked) -> f64 {
    (round.counts.read_ns as f64 / (round.wall.as_nanos() as f64).max(1.0)).min(1.0)
}

/// `value` to the nearest `1 / parts`.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
