//! Databases with named filters, written, warmed and asked in turn.

use crate::paper::{Axis, DataTable, Line, Plot, Session, shown};
use lacuna_base::Result;
use lacuna_bench::engine::{Contest, EngineRow, EngineSetting, FilterChoice};

use super::filters::{NAMES, Named};
use lacuna_bench::engine::rocksdb::Layout;
use lacuna_bench::engine::rocksdb::RocksDbEngine;

/// A row under the name of its filter.
pub(super) type NamedRow = (&'static str, EngineRow);

/// Databases that wait for questions.
pub(super) struct Databases {
    contest: Contest,
    names: Vec<&'static str>,
}

impl Databases {
    /// Writes and warms a database for each filter.
    pub(super) fn write(
        session: &mut Session<'_>,
        layout: Layout,
        filters: &[Named],
        setting: &EngineSetting,
    ) -> Result<Self> {
        let choices: Vec<FilterChoice> = filters.iter().map(|(_, filter)| filter.clone()).collect();
        let contest =
            Contest::write(&RocksDbEngine { layout }, &choices, setting, &mut |stage| session.say(stage))?;
        Ok(Self { contest, names: filters.iter().map(|(name, _)| *name).collect() })
    }

    /// Asks all of them; rows of filters that did not fit their budget are left out.
    pub(super) fn ask(&self, session: &mut Session<'_>, setting: &EngineSetting) -> Result<Vec<NamedRow>> {
        let rows = self.contest.ask(setting, &mut |stage| session.say(stage))?;
        Ok(self.names.iter().copied().zip(rows).filter(|(_, row)| fits(row)).collect())
    }
}

/// Rows by the budget that was asked for; databases without a filter of ours are in all of them.
pub(super) fn by_budget(rows: &[NamedRow], bits: &[f64]) -> Vec<(f64, Vec<NamedRow>)> {
    let belongs =
        |(name, row): &NamedRow, bits: f64| NAMES[..2].contains(name) || row.bits_per_key_asked == Some(bits);
    let of = |&bits: &f64| (bits, rows.iter().filter(|row| belongs(row, bits)).cloned().collect());
    bits.iter().map(of).collect()
}

/// Whether the filters kept about to their budget. Each file adds an envelope and a rounding.
fn fits(row: &EngineRow) -> bool {
    let envelopes = row.files as f64 * 160.0 * 8.0 / row.key_count.max(1) as f64;
    row.bits_per_key_asked.is_none_or(|asked| row.bits_per_key <= asked * 1.1 + 0.5 + envelopes)
}

/// Rows of several budgets or shares as lines in the order of the colours; `x` is what the row was made for.
pub(super) fn lines(rows: &[(f64, Vec<NamedRow>)], y: fn(&EngineRow) -> Option<f64>) -> Vec<Line> {
    let line = |name: &'static str| {
        let of = |(x, rows): &(f64, Vec<NamedRow>)| {
            let row = rows.iter().find(|(own, _)| *own == name).map(|(_, row)| row)?;
            Some((*x, y(row)?))
        };
        Line::ours(name, rows.iter().filter_map(of))
    };
    NAMES.into_iter().map(line).filter(|line| !line.points.is_empty()).collect()
}

/// A panel of such lines.
pub(super) fn plot(title: impl Into<String>, x: &str, y: Axis, lines: Vec<Line>) -> Plot {
    Plot { title: title.into(), x: Axis::linear(x), y, lines }
}

/// The row of a name.
pub(super) fn of<'a>(rows: &'a [NamedRow], name: &str) -> Option<&'a EngineRow> {
    rows.iter().find(|(own, _)| *own == name).map(|(_, row)| row)
}

/// How many times longer `slow` takes than `quick` where the difference is largest.
pub(super) fn largest_gain(all: &[(f64, Vec<NamedRow>)], slow: &str, quick: &str) -> Option<f64> {
    let gain =
        |(_, rows): &(f64, Vec<NamedRow>)| Some(of(rows, slow)?.ns_per_query / of(rows, quick)?.ns_per_query);
    all.iter().filter_map(gain).reduce(f64::max)
}

/// All that was measured, a line a filter.
pub(super) fn table(title: impl Into<String>, rows: &[NamedRow]) -> DataTable {
    let row = |(name, row): &NamedRow| {
        let rate = row.fpr.map_or("-".to_owned(), shown);
        let numbers = [
            row.bits_per_key,
            row.ns_per_query / 1e3,
            row.data_blocks_per_query,
            row.files_skipped_per_query,
        ];
        [vec![(*name).to_owned()], numbers.map(shown).to_vec(), vec![rate]].concat()
    };
    let header = ["", "bits per key", "us a query", "blocks read", "files skipped", "rate"];
    DataTable {
        title: title.into(),
        header: header.map(str::to_owned).to_vec(),
        rows: rows.iter().map(row).collect(),
    }
}

/// Where blocks came from.
pub(super) fn io_note(rows: &[NamedRow]) -> String {
    let row = rows.first().map(|(_, row)| row);
    row.map_or(String::new(), |row| {
        format!(
            "{} rows with values of {} bytes in {} files; a block cache of {:.1} MB, a {:.0}th of the rows; blocks by {}.",
            row.key_count,
            row.value_bytes,
            row.files,
            row.cache_bytes as f64 / 1e6,
            (row.key_count * (row.value_bytes + 8)) as f64 / row.cache_bytes.max(1) as f64,
            row.io
        )
    })
}
