//! Figures 8 and 9: Redis alone beside entries of single results, and β 0 beside β 100.

use std::rc::Rc;

use crate::paper::{Axis, Claim, Finding, Line, Session};
use lacuna_base::Result;

use super::stage::{BACK, beside, line, notes, panel, setup, share_header, table};
use crate::cache_bench::row::Row;
use crate::cache_bench::setup::{Setup, StoreKind, System};

const STORE: StoreKind = StoreKind::PostgresAsync;
/// Shares of scans.
const SHARES: [u64; 7] = [10, 25, 50, 75, 90, 99, 100];

fn throughput(name: &str, rows: &[Rc<Row>]) -> Line {
    line(name, &SHARES, &rows.iter().map(|row| row.throughput()).collect::<Vec<_>>())
}

fn ratio(one: &Line, other: &Line, share: f64) -> Option<f64> {
    Some(one.at(share)? / other.at(share)?)
}

/// Figure 8.
pub(super) fn naive(session: &mut Session<'_>) -> Result<Finding> {
    let [ours, two, lua] = beside(session, &SHARES, |session, which, share| {
        let setup = setup(session, [BACK, System::Naive, System::NaiveLua][which], STORE, share);
        if which == 0 { Setup { beta: 0, ..setup } } else { setup }
    })?;
    let lines = vec![
        throughput("beta 0 %", &ours),
        throughput("ZRANGE and MGET", &two),
        throughput("one Lua script", &lua),
    ];
    let claims = vec![
        Claim::new("10 % scans: Redis over ours", 6.0, ratio(&lines[1], &lines[0], 10.0)),
        Claim::new("100 % scans: ours over Redis", 2.0, ratio(&lines[0], &lines[1], 100.0)),
    ];
    let anomalies = |rows: &[Rc<Row>]| rows.iter().map(|row| row.anomalies as f64).collect();
    let counted = vec![
        ("beta 0 %".to_owned(), anomalies(&ours)),
        ("ZRANGE and MGET".to_owned(), anomalies(&two)),
        ("one Lua script".to_owned(), anomalies(&lua)),
    ];
    let tables = vec![table("anomalies", &share_header("scans", &SHARES), counted)];
    let plots = vec![panel("throughput", Axis::linear("operations a second"), lines)];
    let all: Vec<Rc<Row>> = ours.into_iter().chain(two).chain(lua).collect();
    let mut notes = notes(session, &all);
    notes.push(
        "The report cuts cached results into single records for β 0; ours never caches a record twice, and puts results \
         together from what overlaps, at the owner. Updates of the Redis baselines may be of any record, as its clients keep \
         the newest version in their memory; in the report 0.0044 % of the scans were anomalies at 90 % scans."
            .to_owned(),
    );
    Ok(Finding { plots, tables, claims, notes })
}

/// Figure 9.
pub(super) fn beta(session: &mut Session<'_>) -> Result<Finding> {
    let [whole, parts] = beside(session, &SHARES, |session, which, share| Setup {
        beta: [100, 0][which],
        ..setup(session, BACK, STORE, share)
    })?;
    let lines = vec![throughput("beta 100 %", &whole), throughput("beta 0 %", &parts)];
    let claims = vec![
        Claim::new("10 % scans: beta 0 over 100", 4.0, ratio(&lines[1], &lines[0], 10.0)),
        Claim::new("99 % scans: beta 100 over 0", 1.4, ratio(&lines[0], &lines[1], 99.0)),
        Claim::new("100 % scans: beta 100 over 0", 2.0, ratio(&lines[0], &lines[1], 100.0)),
    ];
    let plots = vec![panel("write-back", Axis::linear("operations a second"), lines)];
    let all: Vec<Rc<Row>> = whole.into_iter().chain(parts).collect();
    Ok(Finding { plots, claims, notes: notes(session, &all), tables: Vec::new() })
}
