//! Table 1: three ratios, by the paper's footnote 3.

use std::rc::Rc;

use lacuna_base::Result;

use super::panels::{overall_ns, query_ns};
use super::{key_sets, points, ranges};
use crate::paper::{Cell, Claim, Finding, GridResult, Session};

/// Filter; rate, filter throughput and overall throughput as the paper has them.
const PAPER: [(&str, [f64; 3]); 8] = [
    ("SuRF", [0.0, 4.5, 1.0]),
    ("SNARF", [3.8, 1.3, 16.8]),
    ("ProteusNS", [0.7, 7.2, 0.3]),
    ("REncoderSS", [3.1, 5.2, 24.3]),
    ("Rosetta", [2.2, 1.0, 1.9]),
    ("Proteus", [5.1, 4.2, 23.8]),
    ("REncoderSE", [3.9, 5.3, 24.8]),
    ("REncoder", [2.4, 4.6, 2.5]),
];

/// Table 1.
pub(super) fn run(session: &mut Session<'_>) -> Result<Finding> {
    let over_ranges = vec![ranges::short(session)?, ranges::long(session)?];
    let mut all = over_ranges.clone();
    all.extend([points::points(session)?, key_sets::correlated(session)?, key_sets::skewed(session)?]);
    all.extend(key_sets::real(session)?.into_iter().map(|(_, result)| result));
    let mut claims = Vec::new();
    for (name, [rate, filter, overall]) in PAPER {
        let log_rate = |this: &Cell, surf: &Cell| Some((half_at_least(surf) / half_at_least(this)).ln());
        let filter_ratio = |this: &Cell, rosetta: &Cell| Some(query_ns(rosetta)? / query_ns(this)?);
        let overall_ratio = |this: &Cell, surf: &Cell| Some(overall_ns(surf)? / overall_ns(this)?);
        let mut claim = |what: &str, paper: f64, ours: Option<f64>| {
            claims.push(Claim::new(format!("{name}: {what}"), paper, ours));
        };
        claim("ln(rate of SuRF / its rate), all experiments", rate, mean(&all, name, "SuRF", log_rate));
        claim(
            "filter throughput over Rosetta's, all experiments",
            filter,
            mean(&all, name, "Rosetta", filter_ratio),
        );
        claim(
            "overall throughput over SuRF's, range queries",
            overall,
            mean(&over_ranges, name, "SuRF", overall_ratio),
        );
    }
    let notes = vec![
        "A rate of 0 counts as half a false positive. *All experiments* are figures 7, 9, 11, 12 and 13."
            .to_owned(),
    ];
    Ok(Finding { claims, notes, ..Finding::default() })
}

/// The rate, or half a false positive's.
fn half_at_least(cell: &Cell) -> f64 {
    (cell.false_positives as f64).max(0.5) / cell.empty.max(1) as f64
}

/// Mean of `value` over all cells of `name` that have a neighbour `beside` at the same budget.
fn mean(
    results: &[Rc<GridResult>],
    name: &str,
    beside: &str,
    value: impl Fn(&Cell, &Cell) -> Option<f64>,
) -> Option<f64> {
    let mut values = Vec::new();
    for result in results {
        let pairs = result.of(name).filter_map(|cell| Some((cell, result.cell(beside, cell.bits)?)));
        values.extend(pairs.filter_map(|(cell, other)| value(cell, other)));
    }
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
