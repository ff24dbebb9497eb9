//! Figures 8 and 9: Redis alone beside entries of single results, and β 0 beside β 100.

use crate::paper::{Axis, Claim, Finding, Line, Session, Summary, shown};
use lacuna_base::Result;

use super::stage::{
    BACK, Runs, beside, line, notes, panel, ratio, setup, share_header, summary, table, throughputs,
};
use crate::cache_bench::row::Row;
use crate::cache_bench::setup::{Setup, StoreKind, System};

const STORE: StoreKind = StoreKind::PostgresAsync;
/// Shares of scans.
const SHARES: [u64; 7] = [10, 25, 50, 75, 90, 99, 100];

fn throughput(name: &str, rows: &[Runs]) -> Line {
    line(name, &SHARES, &throughputs(rows))
}

/// The throughput of `one` over that of `other` where `share` percent of the operations are scans.
fn at_share(one: &[Runs], other: &[Runs], share: u64) -> Option<Summary> {
    let place = SHARES.iter().position(|known| *known == share)?;
    Some(ratio(&one[place], &other[place]))
}

/// Figure 8.
pub(super) fn naive(session: &mut Session<'_>) -> Result<Finding> {
    let [ours, two, lua] = beside(session, &SHARES, |session, which, share| {
        let setup = setup(session, [BACK, System::Naive, System::NaiveLua][which], STORE, share);
        if which == 0 { Setup { beta: Some(0), ..setup } } else { setup }
    })?;
    let lines = vec![
        throughput("beta 0 %", &ours),
        throughput("ZRANGE and MGET", &two),
        throughput("one Lua script", &lua),
    ];
    let claims = vec![
        Claim::of_runs("10 % scans: Redis over ours", 6.0, at_share(&two, &ours, 10)),
        Claim::of_runs("100 % scans: ours over Redis", 2.0, at_share(&ours, &two, 100)),
    ];
    let anomalies =
        |rows: &[Runs]| rows.iter().map(|runs| summary(runs, |row| row.anomalies as f64)).collect();
    let counted = vec![
        ("beta 0 %".to_owned(), anomalies(&ours)),
        ("ZRANGE and MGET".to_owned(), anomalies(&two)),
        ("one Lua script".to_owned(), anomalies(&lua)),
    ];
    let tables = vec![table("anomalies", &share_header("scans", &SHARES), counted)];
    let plots = vec![panel("throughput", Axis::linear("operations a second"), lines)];
    let mut notes = notes(session, ours.iter().chain(&two).chain(&lua));
    notes.push(parts_sentence(&ours));
    notes.push(
        "Updates of the Redis baselines may be of any record, as their clients keep the newest version in their memory; in the report \
         0.0044 % of the scans were anomalies at 90 % scans."
            .to_owned(),
    );
    Ok(Finding { plots, tables, claims, notes })
}

/// How results are put together, and what that takes where nothing is written.
fn parts_sentence(ours: &[Runs]) -> String {
    let last = ours.last().expect("there is a share of 100 %");
    let a = |value: fn(&Row) -> f64| shown(summary(last, value).median);
    format!(
        "The report cuts cached results into single records for β 0. Ours never caches a record twice; a client knows which results overlap \
         its range, reads them in one command of the cache server and puts them together, without the owner. At 100 % scans {} % of the scans were \
         answered so, with {} requests to cache servers for a scan, where `ZRANGE` and `MGET` are two. The report gains there because its \
         clients look the index up on machines of their own, which relieves the cache server. Here clients and servers share the processors, so that \
         the look-up is only moved.",
        a(|row| row.hit_rate().unwrap_or(0.0) * 100.0),
        a(Row::cache_trips),
    )
}

/// Figure 9.
pub(super) fn beta(session: &mut Session<'_>) -> Result<Finding> {
    let [whole, parts] = beside(session, &SHARES, |session, which, share| Setup {
        beta: Some([100, 0][which]),
        ..setup(session, BACK, STORE, share)
    })?;
    let lines = vec![throughput("beta 100 %", &whole), throughput("beta 0 %", &parts)];
    let claims = vec![
        Claim::of_runs("10 % scans: beta 0 over 100", 4.0, at_share(&parts, &whole, 10)),
        Claim::of_runs("99 % scans: beta 100 over 0", 1.4, at_share(&whole, &parts, 99)),
        Claim::of_runs("100 % scans: beta 100 over 0", 2.0, at_share(&whole, &parts, 100)),
    ];
    let plots = vec![panel("write-back", Axis::linear("operations a second"), lines)];
    let notes = notes(session, whole.iter().chain(&parts));
    Ok(Finding { plots, claims, notes, tables: Vec::new() })
}
