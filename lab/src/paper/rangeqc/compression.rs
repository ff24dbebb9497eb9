//! Section 7.3: compressed results of a hundred rows, in a cache that has no room for all of them.

use crate::paper::{Claim, Finding, Session, Summary};
use lacuna_base::Result;

use super::stage::{BACK, CACHE_BYTES, Runs, beside, improvement, notes, setup, summary, table};
use crate::cache_bench::row::Row;
use crate::cache_bench::setup::{Compression, Setup, StoreKind, System};

/// Percent of scans.
const SHARE: u64 = 99;
/// Rows of a scan.
const ROWS: u64 = 100;
/// Bytes of cache for a record, as in the lower half of table 3.
const BYTES_FOR_A_RECORD: u64 = 4_800;
/// Columns, and what zlib leaves of a result in the report.
const COLUMNS: [(usize, &str, f64); 2] = [(10, "ten columns", 0.5), (1, "one column", 0.2)];
const METHODS: [(Compression, &str); 3] =
    [(Compression::None, "as they are"), (Compression::Lz4, "LZ4"), (Compression::Zlib, "zlib")];

/// The table of the section.
pub(super) fn methods(session: &mut Session<'_>) -> Result<Finding> {
    let header = ["results", "bytes kept, %", "hit rate, %", "over MariaDB alone, %"].map(str::to_owned);
    let (mut lines, mut claims, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (columns, name, paper) in COLUMNS {
        let [alone, plain, lz4, zlib] = beside(session, &[SHARE], |session, which, share| {
            let system = if which == 0 { System::Store } else { BACK };
            let setup = setup(session, system, StoreKind::MariaDb, share);
            let records = setup.records.min(CACHE_BYTES / BYTES_FOR_A_RECORD);
            let compression = METHODS[which.saturating_sub(1)].0;
            let cache_bytes = Some(BYTES_FOR_A_RECORD * records);
            Setup { rows: ROWS, columns, records, cache_bytes, compression, ..setup }
        })?
        .map(|mut rows| rows.remove(0));
        for ((_, method), runs) in METHODS.iter().zip([&plain, &lz4, &zlib]) {
            let values = [summary(runs, kept_percent), summary(runs, hit_percent), improvement(runs, &alone)];
            lines.push((format!("{name}, {method}"), values.to_vec()));
        }
        claims.push(Claim::of_runs(
            format!("{name}: bytes with zlib over those as they are"),
            paper,
            Some(summary(&zlib, |row| kept_percent(row) / 100.0)),
        ));
        if columns == 1 {
            claims.push(Claim::of_runs(
                "one column: hit rate with zlib over that without",
                2.0,
                Some(gain(&zlib, &plain)),
            ));
            let over_alone = improvement(&zlib, &alone);
            claims.push(Claim::of_runs("one column, zlib: over MariaDB alone, %", 71.0, Some(over_alone)));
        }
        all.extend([alone, plain, lz4, zlib]);
    }
    let tables = vec![table("99 % scans of 100 rows, write-back", &header, lines)];
    let mut notes = notes(session, &all);
    notes.push(
        "Each character of our columns carries six bits, so that zlib leaves about three quarters of them, and LZ4, which looks for \
         repetitions alone, leaves them as they are. With one column, the digits of the version at its beginning and the bytes \
         between rows are a larger part of a result, and shrink."
            .to_owned(),
    );
    Ok(Finding { tables, claims, notes, plots: Vec::new() })
}

fn kept_percent(row: &Row) -> f64 {
    row.kept_share.unwrap_or(1.0) * 100.0
}

fn hit_percent(row: &Row) -> f64 {
    row.hit_rate().unwrap_or(0.0) * 100.0
}

/// The hit rate of `one` over that of `other`, in each run.
fn gain(one: &Runs, other: &Runs) -> Summary {
    Summary::of(one.iter().zip(other).map(|(one, other)| hit_percent(one) / hit_percent(other)))
}
