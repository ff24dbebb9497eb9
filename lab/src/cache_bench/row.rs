//! The result of a run, as a row of a table, of JSON or of CSV.

use lacuna_base::{Error, Result};
use lacuna_bench::report::Table;
use serde::Serialize;

use crate::cache_bench::log_notes::LogNotes;
use crate::cache_bench::setup::{Setup, Spread, System};
use crate::cache_bench::system::Traffic;

/// The result of a run.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The measured setup.
    pub(crate) setup: Setup,
    /// Scans that were answered.
    pub(crate) scans: u64,
    /// Updates that were acknowledged.
    pub(crate) updates: u64,
    /// From the first operation to the last.
    pub(crate) seconds: f64,
    /// From the last operation until the store had everything.
    pub(crate) drain_seconds: f64,
    /// Mean time of a scan.
    pub(crate) scan_us: Option<f64>,
    /// Mean time of an update.
    pub(crate) update_us: Option<f64>,
    pub(crate) traffic: Traffic,
    /// Bytes that log servers held, after each fiftieth of the run; with the seconds from its start. The last is from before
    /// the drain.
    pub(crate) pinned: Vec<(f64, u64)>,
    /// Bytes of the logs of entries in cache servers, at the same moments; 0 without `--warm-start`.
    pub(crate) entry_log: Vec<(f64, u64)>,
    /// Bytes that cache servers were sent of results, as a share of the bytes of these; `None` where nothing is compressed.
    pub(crate) kept_share: Option<f64>,
    /// Reads with an anomaly.
    pub(crate) anomalies: u64,
    /// Records whose newest acknowledged update the store lacks.
    pub(crate) lost_updates: u64,
    /// Operations without an answer.
    pub(crate) failures: u64,
    /// The calls of the first log server until the last operation, where they are noted.
    pub(crate) log: Option<LogNotes>,
}

/// Names of the columns of CSV and JSON, in order.
pub const COLUMNS: [&str; 39] = [
    "system",
    "store",
    "store_memory",
    "records",
    "scan_percent",
    "rows",
    "columns",
    "spread",
    "beta",
    "measured_sizes",
    "copies",
    "durable",
    "compression",
    "warm_start",
    "cache_servers",
    "clients",
    "delay_ms",
    "bandwidth",
    "warm",
    "scans",
    "updates",
    "seconds",
    "drain_seconds",
    "operations_per_second",
    "scan_us",
    "update_us",
    "hit_rate",
    "cache_trips",
    "log_trips",
    "store_statements",
    "store_avoided",
    "pinned_middle",
    "pinned_end",
    "entry_log_most",
    "kept_share",
    "anomalies",
    "lost_updates",
    "failures",
    "seed",
];

/// A row with the names of [`COLUMNS`].
#[derive(Debug, Serialize)]
struct Flat {
    system: &'static str,
    store: Option<&'static str>,
    /// `None` if all rows fit.
    store_memory: Option<u64>,
    records: u64,
    scan_percent: u64,
    rows: u64,
    columns: usize,
    spread: &'static str,
    /// `None` if ranges chose it.
    beta: Option<u8>,
    measured_sizes: bool,
    copies: usize,
    durable: bool,
    compression: &'static str,
    warm_start: bool,
    cache_servers: usize,
    clients: usize,
    delay_ms: u64,
    bandwidth: Option<u64>,
    warm: bool,
    scans: u64,
    updates: u64,
    seconds: f64,
    drain_seconds: f64,
    operations_per_second: f64,
    scan_us: Option<f64>,
    update_us: Option<f64>,
    hit_rate: Option<f64>,
    cache_trips: f64,
    log_trips: f64,
    store_statements: f64,
    store_avoided: f64,
    pinned_middle: u64,
    pinned_end: u64,
    entry_log_most: u64,
    kept_share: Option<f64>,
    anomalies: u64,
    lost_updates: u64,
    failures: u64,
    seed: u64,
}

impl Row {
    /// Scans and updates.
    pub(crate) fn operations(&self) -> u64 {
        self.scans + self.updates
    }

    /// Operations a second, the drain counted.
    pub(crate) fn throughput(&self) -> f64 {
        self.operations() as f64 / (self.seconds + self.drain_seconds)
    }

    /// Share of the scans that needed one look at the cache and nothing else; `None` without scans.
    pub(crate) fn hit_rate(&self) -> Option<f64> {
        (self.scans > 0).then(|| self.traffic.hits as f64 / self.scans as f64)
    }

    /// Statements and transactions of the store for an operation; alone it takes one.
    pub(crate) fn store_statements(&self) -> f64 {
        self.per_operation(self.traffic.store_queries + self.traffic.store_writes)
    }

    /// Round trips to cache servers for an operation.
    pub(crate) fn cache_trips(&self) -> f64 {
        self.per_operation(self.traffic.cache_trips)
    }

    /// Round trips to log servers for an operation.
    pub(crate) fn log_trips(&self) -> f64 {
        self.per_operation(self.traffic.log_trips)
    }

    /// The most bytes that log servers held in the middle fifth of the run.
    pub(crate) fn pinned_middle(&self) -> u64 {
        self.pinned_between(0.4, 0.6).max().unwrap_or(0)
    }

    /// The bytes that they held in its last fifth, on average: a transaction frees many at once, so single moments
    /// vary widely.
    pub(crate) fn pinned_end(&self) -> u64 {
        let (sum, count) =
            self.pinned_between(0.8, 1.0).fold((0, 0), |(sum, count), bytes| (sum + bytes, count + 1));
        sum / count.max(1)
    }

    /// The most bytes that logs of entries took in cache servers.
    pub(crate) fn entry_log_most(&self) -> u64 {
        self.entry_log.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0)
    }

    /// Bytes held from one share of the time before the drain to another.
    fn pinned_between(&self, from: f64, to: f64) -> impl Iterator<Item = u64> {
        let of_the_run = move |seconds: f64| (from..=to).contains(&(seconds / self.seconds));
        self.pinned.iter().filter(move |(seconds, _)| of_the_run(*seconds)).map(|(_, bytes)| *bytes)
    }

    fn per_operation(&self, count: u64) -> f64 {
        count as f64 / self.operations().max(1) as f64
    }

    fn flat(&self) -> Flat {
        let setup = &self.setup;
        let is_ours = matches!(setup.system, System::Lacuna(_));
        Flat {
            system: setup.system.name(),
            store: setup.system.has_store().then(|| setup.store.name()),
            store_memory: setup.store_memory,
            records: setup.records,
            scan_percent: setup.scan_percent,
            rows: setup.rows,
            columns: setup.columns,
            spread: match setup.spread {
                Spread::Uniform => "uniform",
                Spread::Zipfian => "zipfian",
            },
            beta: setup.beta,
            measured_sizes: setup.measures_sizes,
            copies: setup.log_servers(),
            durable: setup.is_durable && setup.log_servers() > 0,
            compression: if is_ours { setup.compression.name() } else { "none" },
            warm_start: is_ours && setup.has_warm_start,
            cache_servers: setup.cache_servers,
            clients: setup.clients,
            delay_ms: u64::try_from(setup.delay.as_millis()).unwrap_or(u64::MAX),
            bandwidth: setup.bandwidth,
            warm: setup.is_warm,
            scans: self.scans,
            updates: self.updates,
            seconds: self.seconds,
            drain_seconds: self.drain_seconds,
            operations_per_second: self.throughput(),
            scan_us: self.scan_us,
            update_us: self.update_us,
            hit_rate: self.hit_rate(),
            cache_trips: self.cache_trips(),
            log_trips: self.log_trips(),
            store_statements: self.store_statements(),
            store_avoided: 1.0 - self.store_statements(),
            pinned_middle: self.pinned_middle(),
            pinned_end: self.pinned_end(),
            entry_log_most: self.entry_log_most(),
            kept_share: self.kept_share,
            anomalies: self.anomalies,
            lost_updates: self.lost_updates,
            failures: self.failures,
            seed: setup.seed,
        }
    }
}

/// One JSON object a line.
///
/// # Errors
/// Never for rows of ours.
pub(crate) fn to_json_lines(rows: &[Row]) -> Result<String> {
    let line = |row: &Row| serde_json::to_string(&row.flat()).map(|line| line + "\n");
    rows.iter().map(line).collect::<Result<_, _>>().map_err(|error| Error::invalid_input(error.to_string()))
}

/// Comma-separated values under [`COLUMNS`]; an empty field is `null`.
///
/// # Errors
/// Never for rows of ours.
pub(crate) fn to_csv(rows: &[Row]) -> Result<String> {
    let mut text = csv_header();
    for row in rows {
        text += &to_csv_line(row)?;
    }
    Ok(text)
}

/// The names of [`COLUMNS`] as the first line of a file of comma-separated values.
pub(crate) fn csv_header() -> String {
    COLUMNS.join(",") + "\n"
}

/// One line under [`csv_header`].
///
/// # Errors
/// Never for rows of ours.
pub(crate) fn to_csv_line(row: &Row) -> Result<String> {
    let flat = serde_json::to_value(row.flat()).map_err(|error| Error::invalid_input(error.to_string()))?;
    let field = |name: &&str| match &flat[*name] {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    Ok(COLUMNS.iter().map(field).collect::<Vec<_>>().join(",") + "\n")
}

/// The main columns; the other formats have all of them.
pub(crate) fn to_table(rows: &[Row]) -> String {
    let mut table = Table::new([
        "system",
        "store",
        "scans %",
        "ops/s",
        "drain s",
        "scan us",
        "update us",
        "hits",
        "cache trips",
        "log trips",
        "statements",
        "avoided",
        "pinned mid",
        "pinned end",
        "entry log",
        "anomalies",
        "lost",
        "failures",
    ]);
    for row in rows {
        let flat = row.flat();
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0}"));
        table.push([
            flat.system.to_owned(),
            flat.store.unwrap_or("-").to_owned(),
            flat.scan_percent.to_string(),
            format!("{:.0}", flat.operations_per_second),
            format!("{:.2}", flat.drain_seconds),
            number(flat.scan_us),
            number(flat.update_us),
            flat.hit_rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1}%", rate * 100.0)),
            format!("{:.2}", flat.cache_trips),
            format!("{:.2}", flat.log_trips),
            format!("{:.3}", flat.store_statements),
            format!("{:.1}%", flat.store_avoided * 100.0),
            flat.pinned_middle.to_string(),
            flat.pinned_end.to_string(),
            flat.entry_log_most.to_string(),
            flat.anomalies.to_string(),
            flat.lost_updates.to_string(),
            flat.failures.to_string(),
        ]);
    }
    table.to_string()
}
