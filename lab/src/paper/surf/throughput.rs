//! Figure 4: how many queries a filter answers in a second, by its size; and the same in standard Bloom filters.

use std::rc::Rc;

use lacuna_base::Result;

use super::cases::{Ask, Case, Choice, distances};
use super::contest::{Cell, Contest, NAMES};
use super::rates::contests;
use crate::paper::{Axis, Claim, DataTable, Finding, Line, Plot, Session};

/// Suffix bits in the table of ratios.
const SHOWN_BITS: [u32; 4] = [0, 2, 4, 8];

/// Figure 4.
pub(super) fn uniform(session: &mut Session<'_>) -> Result<Finding> {
    throughput(session, Choice::Uniform)
}

/// The same with keys chosen by Zipf's law.
pub(super) fn zipfian(session: &mut Session<'_>) -> Result<Finding> {
    throughput(session, Choice::Zipfian)
}

fn throughput(session: &mut Session<'_>, choice: Choice) -> Result<Finding> {
    let contests = contests(session, choice)?;
    let plots = contests
        .iter()
        .filter(|(case, _)| case.ask != Ask::PrintedRanges)
        .map(|(case, contest)| plot(*case, contest))
        .collect();
    let mut notes = vec![distances(session)];
    notes
        .push("The paper shows no Bloom filter for ranges; here it is asked for the first key alone.".into());
    Ok(Finding { plots, tables: vec![ratios(&contests)], notes, claims: claims(&contests) })
}

/// Section 4.3: over integers "a speed comparable to the Bloom filter", which "does not suffer from" suffix bits.
fn claims(contests: &[(Case, Rc<Contest>)]) -> Vec<Claim> {
    let mut claims = Vec::new();
    let points = contests.iter().filter(|(case, _)| case.ask == Ask::Points);
    for (case, contest) in points.filter(|(case, _)| case.title().contains("integers")) {
        let hashed = |bits| contest.cell("SuRF-Hash", bits);
        let blooms = hashed(4).map(|cell| cell.query_blooms);
        let what = format!("{}: SuRF-Hash in standard Bloom filters, 4 bits (\"comparable\")", case.title());
        claims.push(Claim::of_runs(what, 1.0, blooms));
        let slowed =
            hashed(0).zip(hashed(8)).map(|(none, eight)| none.query_ns.median / eight.query_ns.median);
        let what = format!("{}: throughput with 8 hash bits over that with none", case.title());
        claims.push(Claim::new(what, 1.0, slowed));
    }
    claims
}

fn plot(case: Case, contest: &Contest) -> Plot {
    let points = |name: &'static str| {
        contest
            .of(name)
            .map(|cell: &Cell| ((cell.bits * 1e2).round() / 1e2, cell.query_ns.map(|ns| 1e3 / ns)))
    };
    let lines = NAMES.into_iter().map(|name| Line::of_runs(name, points(name)));
    Plot {
        title: case.title(),
        x: Axis::linear("bits per key"),
        y: Axis::linear("throughput (Mops/s)"),
        lines: lines.filter(|line| !line.points.is_empty()).collect(),
    }
}

/// Time of a query in standard Bloom filters of the same size, asked for its first key.
fn ratios(contests: &[(Case, Rc<Contest>)]) -> DataTable {
    let mut header = vec![String::new(), "filter".to_owned()];
    header.extend(SHOWN_BITS.map(|bits| format!("{bits} suffix bits")));
    let mut rows = Vec::new();
    for (case, contest) in contests {
        for name in ["SuRF-Hash", "SuRF-Real"] {
            let ratio =
                |bits| contest.cell(name, bits).map_or("-".to_owned(), |cell| cell.query_blooms.to_string());
            let mut row = vec![case.title(), name.to_owned()];
            row.extend(SHOWN_BITS.map(ratio));
            rows.push(row);
        }
    }
    DataTable { title: "Time of a query in standard Bloom filters of the same size".into(), header, rows }
}
