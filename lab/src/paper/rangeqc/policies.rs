//! Figures 1 and 6: how much the range cache adds to a store, by the share of scans and by write policy.
//!
//! Each has a panel of a store whose rows are all in memory, and one of a store that has memory for a quarter of them and reads the
//! others from a disk.

use std::time::Duration;

use crate::paper::{Axis, Claim, Finding, Line, Plot, Session};
use lacuna_base::Result;

use super::policy_notes::best_sentence;
use super::stage::{
    AROUND, BACK, DISK_SHARES, Runs, SHARES, THROUGH, beside, improvements, line, notes, on_disk, panel,
    setup,
};
use crate::cache_bench::setup::{Setup, StoreKind, System};

const TITLE: &str = "improvement over the store alone, %";
/// How far away a store is that shares no processor with its clients.
const FAR: Duration = Duration::from_millis(5);
/// What the report says of `MySQL` at 10 and 99 % scans, and of `MongoDB` at 10 %.
const PAPER_MYSQL: [Option<f64>; 2] = [Some(400.0), Some(150.0)];
const PAPER_MONGODB: [Option<f64>; 2] = [Some(100.0), None];

/// Improvements of write-back over the store alone, and the rows that they are from.
struct Gain {
    line: Line,
    all: Vec<Runs>,
}

/// Write-back beside the store alone; `change` has the last word about both.
fn gain(
    session: &mut Session<'_>,
    (name, store): (&str, StoreKind),
    shares: &[u64],
    change: impl Fn(Setup) -> Setup,
) -> Result<Gain> {
    let shares = &session.scans_or(shares)[..];
    let [alone, back] = beside(session, shares, |session, which, share| {
        let setup = setup(session, [System::Store, BACK][which], store, share);
        change(Setup { beta: None, ..setup })
    })?;
    let line = line(name, shares, &improvements(&back, &alone));
    Ok(Gain { line, all: alone.into_iter().chain(back).collect() })
}

/// The paper's numbers at 10 and 99 % scans beside those of a line.
fn claims(what: &str, line: &Line, paper: [Option<f64>; 2]) -> Vec<Claim> {
    let claim = |(share, paper): (f64, Option<f64>)| {
        let what = format!("{what}, improvement at {share} % scans, %");
        Some(Claim::of_runs(what, paper?, line.summary_at(share)))
    };
    [10.0, 99.0].into_iter().zip(paper).filter_map(claim).collect()
}

/// Figure 1.
pub(super) fn stores(session: &mut Session<'_>) -> Result<Finding> {
    let mariadb = gain(session, ("MariaDB", StoreKind::MariaDb), &SHARES, |setup| setup)?;
    let postgres = gain(session, ("PostgreSQL, async", StoreKind::PostgresAsync), &SHARES, |setup| setup)?;
    let disk = gain(session, ("MariaDB", StoreKind::MariaDb), &DISK_SHARES, on_disk)?;
    let far = |setup| Setup { clients: 1, delay: FAR, ..setup };
    let far = gain(session, ("MariaDB", StoreKind::MariaDb), &SHARES, far)?;
    let all: Vec<Runs> =
        [&mariadb, &postgres, &disk, &far].into_iter().flat_map(|gain| gain.all.clone()).collect();
    let claims = [
        claims("MariaDB", &mariadb.line, PAPER_MYSQL),
        claims("PostgreSQL, async", &postgres.line, PAPER_MONGODB),
        claims("MariaDB with little memory", &disk.line, PAPER_MYSQL),
    ];
    let plots = vec![
        panel("all rows in memory", Axis::linear(TITLE), vec![mariadb.line, postgres.line]),
        panel("a quarter of the rows in memory", Axis::linear(TITLE), vec![disk.line]),
        panel("one client, the store 5 ms away", Axis::logarithmic(TITLE), vec![far.line]),
    ];
    let mut notes = notes(session, &all);
    notes.push(
        "Each range chooses beta from 100 % on, as it does unless a program fixes it; that it has to find out is part of what is measured."
            .to_owned(),
    );
    Ok(Finding { plots, claims: claims.concat(), notes, tables: Vec::new() })
}

/// The policies beside the store alone.
struct Policies {
    plot: Plot,
    claims: Vec<Claim>,
    sentence: String,
    all: Vec<Runs>,
}

/// Names of the policies, in the order of `policies`.
const NAMES: [&str; 3] = ["write-back", "write-through", "write-around"];
/// Write-back whose ranges choose beta.
const CHOOSING: &str = "write-back, beta auto";

fn policies_of(
    session: &mut Session<'_>,
    title: &str,
    shares: &[u64],
    change: impl Fn(Setup) -> Setup,
) -> Result<Policies> {
    let shares = &session.scans_or(shares)[..];
    let [alone, back, through, around, choosing] = beside(session, shares, |session, which, share| {
        let system = [System::Store, BACK, THROUGH, AROUND, BACK][which];
        let setup = change(setup(session, system, StoreKind::MariaDb, share));
        if which == 4 { Setup { beta: None, ..setup } } else { setup }
    })?;
    let rows = [back, through, around];
    let of = |(name, rows): (&str, &Vec<Runs>)| line(name, shares, &improvements(rows, &alone));
    let lines: Vec<Line> = NAMES.into_iter().zip(&rows).chain([(CHOOSING, &choosing)]).map(of).collect();
    let beats = |other: usize| Some(sign(lines[0].at(10.0)? - lines[other].at(10.0)?));
    let claim = |other: usize| {
        let what = format!("{title}, 10 % scans: write-back beats {} (1) or not (0)", NAMES[other]);
        Claim::new(what, 1.0, beats(other))
    };
    let at_first: Vec<(&str, &Runs)> = NAMES.into_iter().zip(rows.iter().map(|rows| &rows[0])).collect();
    Ok(Policies {
        claims: vec![claim(1), claim(2)],
        sentence: best_sentence(title, &at_first, &alone[0]),
        plot: panel(title, Axis::linear(TITLE), lines),
        all: alone.iter().chain(rows.iter().flatten()).chain(&choosing).cloned().collect(),
    })
}

/// Figure 6.
pub(super) fn policies(session: &mut Session<'_>) -> Result<Finding> {
    let memory = policies_of(session, "all rows in memory", &SHARES, |setup| setup)?;
    let disk = policies_of(session, "a quarter of the rows in memory", &DISK_SHARES, on_disk)?;
    let mut notes = notes(session, memory.all.iter().chain(&disk.all));
    notes.extend([memory.sentence, disk.sentence]);
    notes.push(format!(
        "\"{CHOOSING}\" is write-back whose ranges choose beta from 100 % on, as they do unless a program fixes it; for the policies beta is \
         100 %, as in the report."
    ));
    let claims = memory.claims.into_iter().chain(disk.claims).collect();
    Ok(Finding { plots: vec![memory.plot, disk.plot], claims, notes, tables: Vec::new() })
}

fn sign(difference: f64) -> f64 {
    f64::from(u8::from(difference > 0.0))
}
