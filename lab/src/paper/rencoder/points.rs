//! Figures 9 and 10: points.

use std::rc::Rc;

use lacuna_base::Result;

use super::filters::{self, SYNTHETIC_KEYS};
use super::panels::{blooms, filter_throughput, mean_ratio, overall_ns, overall_throughput, query_ns, rates};
use crate::paper::{Cell, Claim, Finding, GridResult, NamedFilter, Session};

/// Points; filters that look at a sample see ranges of 2 to 64 keys, as the paper's Rosetta does.
pub(super) fn points(session: &mut Session<'_>) -> Result<Rc<GridResult>> {
    let keys = format!("uniform:{}", session.key_count(SYNTHETIC_KEYS));
    let mut grid = filters::grid(keys, "uniform:N:1");
    grid.sample = Some("uniform:N:2-64".to_owned());
    grid.filters.push(NamedFilter::new("REncoderPO", "rencoder:po"));
    session.grid(&grid)
}

/// Figure 9.
pub(super) fn rates_and_speed(session: &mut Session<'_>) -> Result<Finding> {
    let result = points(session)?;
    let mut claims: Vec<Claim> = RATES
        .iter()
        .map(|&(name, bits, paper)| {
            let ours = result.cell(name, bits).map(Cell::rate);
            Claim::new(format!("{name}, points, {bits} bits: rate"), paper, ours)
        })
        .collect();
    let what = "filter throughput of Rosetta over that of REncoder, mean";
    claims.push(Claim::new(what, 1.62, mean_ratio(&result, "REncoder", "Rosetta", query_ns)));
    let plots = vec![
        rates("(a) rate", &result),
        filter_throughput("(b) filter throughput", &result),
        blooms("against a standard Bloom", &result),
    ];
    Ok(Finding { plots, claims, notes: result.notes(), tables: Vec::new() })
}

/// Section 5.6.
const RATES: [(&str, f64, f64); 6] = [
    ("REncoder", 14.0, 0.0014),
    ("REncoder", 26.0, 0.000_003),
    ("SuRF", 14.0, 0.0101),
    ("SuRF", 26.0, 0.000_002),
    ("Rosetta", 14.0, 0.0115),
    ("Rosetta", 26.0, 0.000_038),
];

/// Figure 10.
pub(super) fn overall(session: &mut Session<'_>) -> Result<Finding> {
    let result = points(session)?;
    let mut plot = overall_throughput("points", &result);
    plot.lines.retain(|line| ["Rosetta", "REncoder", "REncoderPO", "Bloom"].contains(&line.name.as_str()));
    let mut notes = result.notes();
    notes.retain(|note| note.starts_with("Rosetta"));
    notes.push(
        "The standard Bloom filter stands beside them for orientation; the paper does not show it.".into(),
    );
    let claims = vec![only_lowest_level(&result)];
    Ok(Finding { plots: vec![plot], claims, notes, ..Finding::default() })
}

/// Section 5.6: with 26 bits and more, `REncoderPO` has the highest overall throughput.
fn only_lowest_level(result: &GridResult) -> Claim {
    let ns = |name: &str| overall_ns(result.cell(name, 26.0)?);
    let best_other = [ns("REncoder"), ns("Rosetta")].into_iter().flatten().reduce(f64::min);
    let what = "overall throughput of REncoderPO over the best of REncoder and Rosetta, 26 bits (the paper: above 1)";
    Claim::new(what, 1.0, best_other.zip(ns("REncoderPO")).map(|(other, own)| other / own))
}
