//! Table 2: the space that a rate takes.

use lacuna_base::Result;

use super::panels::rates;
use crate::paper::{Cell, Claim, Finding, Grid, GridRounds, Line, NamedFilter, Session};

const RATES: [f64; 5] = [0.5, 0.25, 0.1, 0.01, 0.001];
const BASE_BITS: [f64; 5] = [6.5, 8.5, 10.5, 16.0, 21.0];
const SELECTED_BITS: [f64; 5] = [2.0, 3.0, 4.5, 9.5, 14.5];

/// Table 2, as the rates at the paper's sizes.
pub(super) fn run(session: &mut Session<'_>) -> Result<Finding> {
    let grid = Grid {
        keys: format!("uniform:{}", session.key_count(10_000_000)),
        queries: "uniform:N:2-32".into(),
        sample: None,
        filters: vec![
            NamedFilter::new("REncoder", "rencoder"),
            NamedFilter::new("REncoderSS", "rencoder:ss"),
            NamedFilter::new("REncoderSE", "rencoder:se"),
        ],
        bits: [SELECTED_BITS, BASE_BITS].concat(),
        rounds: GridRounds { queries: 0, builds: 0 },
    };
    let mut result = session.grid(&grid)?.as_ref().clone();
    result.cells.sort_by(|one, other| one.bits.total_cmp(&other.bits));
    let mut finding = Finding::default();
    let mut plot = rates("ranges of 2 to 32 keys", &result);
    for (name, sizes) in
        [("REncoder", BASE_BITS), ("REncoderSS", SELECTED_BITS), ("REncoderSE", SELECTED_BITS)]
    {
        for (bits, paper) in sizes.into_iter().zip(RATES) {
            let ours = result.cell(name, bits).map(Cell::rate);
            finding.claims.push(Claim::new(format!("{name}, {bits} bits: rate"), paper, ours));
        }
        plot.lines.push(Line::paper(name, sizes.into_iter().zip(RATES)));
    }
    finding.plots.push(plot);
    Ok(finding)
}
