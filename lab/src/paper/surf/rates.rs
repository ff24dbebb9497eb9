//! Figure 3: how often a filter says "maybe" in vain, by its size.

use std::rc::Rc;

use lacuna_base::Result;

use super::cases::{Ask, Case, Choice, SETS, Set, distances};
use super::contest::{Contest, MAX_SUFFIX_BITS, NAMES, contest};
use crate::paper::{Axis, Claim, DataTable, Finding, Line, Plot, Session};

/// Figure 3.
pub(super) fn uniform(session: &mut Session<'_>) -> Result<Finding> {
    let mut finding = rates(session, Choice::Uniform)?;
    finding.claims = claims(&contests(session, Choice::Uniform)?);
    Ok(finding)
}

/// The same with keys chosen by Zipf's law.
pub(super) fn zipfian(session: &mut Session<'_>) -> Result<Finding> {
    rates(session, Choice::Zipfian)
}

/// Every case of `choice` and what it gave: all sets by point and range, and integers by the printed ranges.
pub(super) fn contests(session: &mut Session<'_>, choice: Choice) -> Result<Vec<(Case, Rc<Contest>)>> {
    let both = SETS.iter().flat_map(|&set| [(set, Ask::Points), (set, Ask::Ranges)]);
    let cases = both.chain([(Set::YcsbIntegers, Ask::PrintedRanges)]);
    cases
        .map(|(set, ask)| Case { set, ask, choice })
        .map(|case| Ok((case, contest(session, case)?)))
        .collect()
}

fn rates(session: &mut Session<'_>, choice: Choice) -> Result<Finding> {
    let contests = contests(session, choice)?;
    let plots = contests.iter().map(|(case, contest)| plot(*case, contest)).collect();
    let tables = vec![asked(&contests)];
    Ok(Finding { plots, tables, notes: vec![distances(session)], claims: Vec::new() })
}

fn plot(case: Case, contest: &Contest) -> Plot {
    let line = |name: &&'static str| {
        // Two digits: hash and real bits take the same space but for the header.
        let points = contest.of(name).map(|cell| ((cell.bits * 1e2).round() / 1e2, cell.rate * 1e2));
        Line::ours(*name, points)
    };
    Plot {
        title: case.title(),
        x: Axis::linear("bits per key"),
        y: Axis::linear("false positive rate (%)"),
        lines: NAMES.iter().map(line).filter(|line| !line.points.is_empty()).collect(),
    }
}

/// How many keys, and how many queries hold one.
fn asked(contests: &[(Case, Rc<Contest>)]) -> DataTable {
    let row = |(case, contest): &(Case, Rc<Contest>)| {
        vec![case.title(), contest.key_count.to_string(), format!("{:.1} %", contest.full_share * 1e2)]
    };
    DataTable {
        title: "What was asked".into(),
        header: ["", "keys in the filter", "queries that hold a key"].map(str::to_owned).to_vec(),
        rows: contests.iter().map(row).collect(),
    }
}

/// Sections 3.1, 4.1 and 4.2; every string set stands for the paper's e-mail addresses.
fn claims(contests: &[(Case, Rc<Contest>)]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (case, contest) in contests {
        if case.set == Set::Integers {
            continue;
        }
        let is_string = case.set != Set::YcsbIntegers;
        let base = contest.cell("SuRF-Base", 0);
        let mut claim = |what: &str, paper: f64, ours: Option<f64>| {
            claims.push(Claim::new(format!("{}: {what}", case.title()), paper, ours));
        };
        match case.ask {
            Ask::Points => {
                claim(
                    "bits per key of Base",
                    if is_string { 14.0 } else { 10.0 },
                    base.map(|cell| cell.bits),
                );
                let paper = if is_string { 25.0 } else { 4.0 };
                claim("rate of Base, %", paper, base.map(|cell| cell.rate * 1e2));
                // "Only 2 to 4 hash bits to reach 1 %": 2 over integers, 4 over e-mail addresses.
                let paper = if is_string { 4.0 } else { 2.0 };
                claim("hash bits that reach 1 %", paper, bits_to_one_percent(contest).map(f64::from));
            }
            Ask::Ranges => {
                let paper = if is_string { 52.0 } else { 46.0 };
                claim("queries that hold a key, %", paper, Some(contest.full_share * 1e2));
            }
            Ask::PrintedRanges => {}
        }
    }
    claims
}

fn bits_to_one_percent(contest: &Contest) -> Option<u32> {
    let rate = |bits: &u32| contest.cell("SuRF-Hash", *bits).map_or(1.0, |cell| cell.rate);
    // A rate of 1.0 % as the paper rounds it.
    (0..=MAX_SUFFIX_BITS).find(|bits| rate(bits) < 0.0105)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Setting;

    #[test]
    fn hash_bits_help_points_and_real_bits_help_ranges() {
        let setting = Setting { queries: Some(20_000), seed: 5, ..Setting::default() };
        let mut hear = |_: &crate::paper::Step| {};
        let mut session = Session::new(&setting, &mut hear);
        let mut rate = |ask, name, bits| {
            let case = Case { set: Set::Strings("repo_paths"), ask, choice: Choice::Uniform };
            let contest = contest(&mut session, case).expect("a set that is there");
            contest.cell(name, bits).expect("every number of bits").rate
        };
        let (base, hash) = (rate(Ask::Points, "SuRF-Base", 0), rate(Ask::Points, "SuRF-Hash", 8));
        assert!(base > 0.05 && hash < base / 100.0, "points: {base}, with hash bits {hash}, seed 5");
        let (base, hash) = (rate(Ask::Ranges, "SuRF-Base", 0), rate(Ask::Ranges, "SuRF-Hash", 8));
        let real = rate(Ask::Ranges, "SuRF-Real", 8);
        assert!(hash == base && real < base, "ranges: {base}, with hash bits {hash}, real {real}, seed 5");
    }
}
