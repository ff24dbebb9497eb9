//! Rows for a terminal.

use super::EngineRow;
use crate::report::{Table, shown_rate};

/// The rows as an aligned table, after a line with what they have in common.
pub fn to_table(rows: &[EngineRow]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut table = Table::new([
        "filter",
        "asked",
        "bits/key",
        "files",
        "queries/s",
        "us/query",
        "blocks read",
        "files skipped",
        "rate",
        "rows",
    ]);
    rows.iter().for_each(|row| table.push(cells(row)));
    format!(
        "{}: {} rows of {} keys, values of {} bytes, {} levels; {} queries {}, {} of them empty, {}; cache {} bytes, {}\n{table}",
        first.engine,
        first.key_count,
        first.keys,
        first.value_bytes,
        first.levels,
        first.query_count,
        first.queries,
        first.empty_count,
        first.direction,
        first.cache_bytes,
        first.io,
    )
}

fn cells(row: &EngineRow) -> [String; 10] {
    [
        row.filter.clone(),
        row.bits_per_key_asked.map_or("-".to_owned(), |bits| bits.to_string()),
        format!("{:.2}", row.bits_per_key),
        row.files.to_string(),
        format!("{:.0}", row.queries_per_second),
        format!("{:.2}", row.ns_per_query / 1e3),
        format!("{:.3}", row.data_blocks_per_query),
        format!("{:.3}", row.files_skipped_per_query),
        shown_rate(row.fpr),
        row.rows.to_string(),
    ]
}
