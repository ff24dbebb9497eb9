//! Figures 1 and 6: how much the range cache adds to a store, by the share of scans and by write policy.

use std::time::Duration;

use crate::paper::{Axis, Claim, Finding, Session};
use lacuna_base::Result;

use super::stage::{AROUND, BACK, SHARES, THROUGH, beside, improvements, line, notes, panel, setup};
use crate::cache_bench::setup::{Setup, StoreKind, System};

const TITLE: &str = "improvement over the store alone, %";
/// How far away a store is that shares no processor with its clients.
const FAR: Duration = Duration::from_millis(5);

/// Figure 1.
pub(super) fn stores(session: &mut Session<'_>) -> Result<Finding> {
    let (mut lines, mut all, mut claims) = (Vec::new(), Vec::new(), Vec::new());
    for (name, store, paper) in [
        ("MariaDB", StoreKind::MariaDb, [400.0, 150.0]),
        ("PostgreSQL, async", StoreKind::PostgresAsync, [100.0, f64::NAN]),
    ] {
        let [alone, back] = beside(session, &SHARES, |session, which, share| {
            setup(session, [System::Store, BACK][which], store, share)
        })?;
        let values = improvements(&back, &alone);
        for (share, paper) in [(10.0, paper[0]), (99.0, paper[1])] {
            let line = line(name, &SHARES, &values);
            if !paper.is_nan() {
                let what = format!("{name}, improvement at {share} % scans, %");
                claims.push(Claim::of_runs(what, paper, line.summary_at(share)));
            }
        }
        lines.push(line(name, &SHARES, &values));
        all.extend(alone.into_iter().chain(back));
    }
    let [alone, back] = beside(session, &SHARES, |session, which, share| Setup {
        clients: 1,
        delay: FAR,
        ..setup(session, [System::Store, BACK][which], StoreKind::MariaDb, share)
    })?;
    let far = line("MariaDB", &SHARES, &improvements(&back, &alone));
    all.extend(alone.into_iter().chain(back));
    let plots = vec![
        panel("write-back", Axis::linear(TITLE), lines),
        panel("write-back, one client, the store 5 ms away", Axis::logarithmic(TITLE), vec![far]),
    ];
    Ok(Finding { plots, claims, notes: notes(session, &all), tables: Vec::new() })
}

/// Figure 6.
pub(super) fn policies(session: &mut Session<'_>) -> Result<Finding> {
    let [alone, back, through, around] = beside(session, &SHARES, |session, which, share| {
        setup(session, [System::Store, BACK, THROUGH, AROUND][which], StoreKind::MariaDb, share)
    })?;
    let (mut lines, mut all) = (Vec::new(), alone.clone());
    for (name, rows) in [("write-back", back), ("write-through", through), ("write-around", around)] {
        lines.push(line(name, &SHARES, &improvements(&rows, &alone)));
        all.extend(rows);
    }
    let over = |share: f64, other: usize| Some(lines[0].at(share)? - lines[other].at(share)?);
    let claims = vec![
        Claim::new("10 % scans: write-back beats write-through (1) or not (0)", 1.0, over(10.0, 1).map(sign)),
        Claim::new("10 % scans: write-back beats write-around (1) or not (0)", 1.0, over(10.0, 2).map(sign)),
    ];
    let plots = vec![panel("MariaDB", Axis::linear(TITLE), lines)];
    Ok(Finding { plots, claims, notes: notes(session, &all), tables: Vec::new() })
}

fn sign(difference: f64) -> f64 {
    f64::from(u8::from(difference > 0.0))
}
