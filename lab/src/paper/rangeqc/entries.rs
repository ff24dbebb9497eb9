//! Figure 7 and table 3: what the size of a cached result does to gain and hit rate.

use crate::paper::{Axis, Claim, Finding, Plot, Session, Summary};
use lacuna_base::Result;

use super::stage::{BACK, CACHE_BYTES, beside, improvements, line, notes, panel, run, setup, summary, table};
use crate::cache_bench::setup::{Setup, StoreKind, System};

/// Shares of scans of figure 7.
const SHARES: [u64; 4] = [10, 50, 90, 99];
/// Rows of a scan whose results are large.
const LARGE: u64 = 100;
/// Rows of a scan.
const CARDINALITIES: [(u64, &str); 3] = [(5, "5 rows"), (10, "10 rows"), (100, "100 rows")];
/// Bytes of cache for a record: the report's 48 GB for 10 million, and for one.
const BYTES_FOR_A_RECORD: [(u64, &str); 2] =
    [(48_000, "48,000 bytes a record"), (4_800, "4,800 bytes a record")];

/// Figure 7.
pub(super) fn sizes(session: &mut Session<'_>) -> Result<Finding> {
    let (mut plots, mut all): (Vec<Plot>, _) = (Vec::new(), Vec::new());
    let shares = session.scans_or(&SHARES);
    for (title, columns) in [("(a) ten columns", 10), ("(b) one column", 1)] {
        let mut lines = Vec::new();
        for (rows, name) in CARDINALITIES {
            let of = |session: &Session<'_>, which: usize, share| Setup {
                rows,
                columns,
                ..setup(session, [System::Store, BACK, BACK][which], StoreKind::MariaDb, share)
            };
            if rows < LARGE {
                let [alone, back] = beside(session, &shares, of)?;
                lines.push(line(name, &shares, &improvements(&back, &alone)));
                all.extend(alone.into_iter().chain(back));
                continue;
            }
            let [alone, back, chosen] = beside(session, &shares, |session, which, share| {
                let setup = of(session, which, share);
                if which == 2 { Setup { beta: None, measures_sizes: true, ..setup } } else { setup }
            })?;
            lines.push(line(name, &shares, &improvements(&back, &alone)));
            lines.push(line("100 rows, beta auto", &shares, &improvements(&chosen, &alone)));
            all.extend(alone.into_iter().chain(back).chain(chosen));
        }
        plots.push(panel(title, Axis::linear("improvement over MariaDB alone, %"), lines));
    }
    let mut notes = notes(session, &all);
    notes.push(
        "The report draws this without numbers; with 100 rows its gain is negative or small.".to_owned(),
    );
    notes.push(
        "\"beta auto\" is the same with `with_auto_beta` and `with_measured_sizes`, which the report does not have: a range chooses how \
         large its entries are, and caches no result that is as slow to look up as to query. Everything is in the cache when the clock \
         starts, as it was before the range knew better."
            .to_owned(),
    );
    Ok(Finding { plots, notes, ..Finding::default() })
}

/// Table 3.
pub(super) fn hit_rates(session: &mut Session<'_>) -> Result<Finding> {
    // By memory for a record, then columns, then rows of a scan.
    const PAPER: [[[f64; 3]; 2]; 2] =
        [[[100.0, 100.0, 37.33], [100.0, 100.0, 100.0]], [[70.54, 35.81, 3.80], [100.0, 100.0, 28.28]]];
    let header = ["rows of a scan", "memory", "columns", "hit rate, %"].map(str::to_owned);
    let (mut lines, mut claims, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for ((bytes, memory), paper) in BYTES_FOR_A_RECORD.into_iter().zip(PAPER) {
        for (columns, paper) in [10, 1].into_iter().zip(paper) {
            for ((rows, name), paper) in CARDINALITIES.into_iter().zip(paper) {
                let setup = setup(session, BACK, StoreKind::MariaDb, 99);
                let records = setup.records.min(CACHE_BYTES / bytes);
                let setup = Setup { rows, columns, records, cache_bytes: Some(bytes * records), ..setup };
                let runs = run(session, setup)?;
                let rate = summary(&runs, |row| row.hit_rate().unwrap_or(0.0) * 100.0);
                let what = format!("{name}, {columns} columns, {memory}: hit rate, %");
                claims.push(Claim::of_runs(what, paper, Some(rate)));
                let place = [bytes as f64, columns as f64].map(Summary::once);
                lines.push((format!("{rows}"), place.into_iter().chain([rate]).collect()));
                all.push(runs);
            }
        }
    }
    let tables = vec![table("99 % scans, write-back", &header, lines)];
    let mut notes = notes(session, &all);
    notes.push(
        "The memory is `maxmemory` of the one Redis server, which counts its own few megabytes, too: with few records that \
         takes a larger share than the report's. Redis evicts the least recently used of a few that it draws."
            .to_owned(),
    );
    Ok(Finding { tables, claims, notes, plots: Vec::new() })
}
