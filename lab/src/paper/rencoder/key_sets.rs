//! Figures 11 to 13: queries next to keys, real keys, skewed keys; and laws that the paper does not show.

use std::rc::Rc;

use lacuna_base::Result;

use super::filters::{self, SYNTHETIC_KEYS};
use super::panels::{blooms, filter_throughput, mean_ratio, query_ns, rates};
use crate::paper::{Cell, Claim, Conclusion, Finding, GridResult, Session};

/// Keys of the paper's samples of real sets, and of its skewed set.
const SAMPLED_KEYS: usize = 10_000_000;

/// Ranges that start 32 after a key.
pub(super) fn correlated(session: &mut Session<'_>) -> Result<Rc<GridResult>> {
    let keys = format!("uniform:{}", session.key_count(SYNTHETIC_KEYS));
    session.grid(&filters::grid(keys, "offset:N:2-32:32"))
}

/// Ranges that start at keys left out, over each real set of integers.
pub(super) fn real(session: &mut Session<'_>) -> Result<Vec<(&'static str, Rc<GridResult>)>> {
    REAL_SETS.into_iter().map(|name| Ok((name, session.grid(&filters::grid(name, "half:N:2-32"))?))).collect()
}

const REAL_SETS: [&str; 4] = ["osm_node_ids", "places_zorder", "commit_times", "nab_values"];

/// Ranges anywhere over keys; 99 % of the keys stand in a hundredth of the space.
pub(super) fn skewed(session: &mut Session<'_>) -> Result<Rc<GridResult>> {
    let keys = format!("skew99:{}", session.key_count(SAMPLED_KEYS));
    session.grid(&filters::grid(keys, "uniform:N:2-32"))
}

fn rate_claims(result: &GridResult, about: &str, rates: &[(&'static str, f64, f64)]) -> Vec<Claim> {
    let claim = |&(name, bits, paper): &(&'static str, f64, f64)| {
        let ours = result.cell(name, bits).map(Cell::rate);
        Claim::new(format!("{name}, {about}, {bits} bits: rate"), paper, ours)
    };
    rates.iter().map(claim).collect()
}

/// Filter throughput of `REncoder` over that of another filter, mean over the budgets.
fn speed_claim(result: &GridResult, other: &str, about: &str, paper: f64) -> Claim {
    let what = format!("filter throughput of REncoder over that of {other}, {about}, mean");
    Claim::new(what, paper, mean_ratio(result, other, "REncoder", query_ns))
}

/// Figure 11; section 5.7 states a throughput 5.39 to 5.88 times that of Rosetta.
pub(super) fn next_to_keys(session: &mut Session<'_>) -> Result<Finding> {
    let result = correlated(session)?;
    let mut claims = rate_claims(&result, "start = key + 32", &CORRELATED_RATES);
    claims.push(speed_claim(&result, "Rosetta", "start = key + 32", 5.64));
    let plots = vec![
        rates("(a) rate", &result),
        filter_throughput("(b) filter throughput", &result),
        blooms("against a standard Bloom", &result),
    ];
    Ok(Finding { plots, claims, notes: result.notes(), tables: Vec::new() })
}

/// Section 5.7.
const CORRELATED_RATES: [(&str, f64, f64); 8] = [
    ("REncoder", 14.0, 0.027),
    ("REncoder", 26.0, 0.000_16),
    ("REncoderSE", 14.0, 0.027),
    ("REncoderSE", 26.0, 0.000_16),
    ("REncoderSS", 26.0, 1.0),
    ("SuRF", 26.0, 1.0),
    ("Rosetta", 14.0, 0.029),
    ("Rosetta", 26.0, 0.000_11),
];

/// Figure 12; section 5.8 states the throughput beside Rosetta's, over sets of its own.
pub(super) fn real_sets(session: &mut Session<'_>) -> Result<Finding> {
    let results = real(session)?;
    let rate_plots = results.iter().map(|(name, result)| rates(name, result));
    let speed_plots = results.iter().map(|(name, result)| filter_throughput(name, result));
    let plots = rate_plots.chain(speed_plots).collect();
    let mut notes = results.first().map_or(Vec::new(), |(_, result)| result.notes());
    notes.push(
        "The paper's sets (amzn, face, osmc, wiki of SOSD) are too large to ship; these are ours. Half of the keys \
         are left out, and each query starts at one of those, as the paper's do."
            .into(),
    );
    let over_rosetta: Option<Vec<f64>> =
        results.iter().map(|(_, result)| mean_ratio(result, "Rosetta", "REncoder", query_ns)).collect();
    let mean = over_rosetta.map(|ratios| ratios.iter().sum::<f64>() / ratios.len() as f64);
    let what = "filter throughput of REncoder over that of Rosetta, mean of all sets";
    let claims = vec![Claim::new(what, 4.7, mean)];
    Ok(Finding { plots, claims, notes, ..Finding::default() })
}

/// Figure 13.
pub(super) fn heavy_skew(session: &mut Session<'_>) -> Result<Finding> {
    let result = skewed(session)?;
    let mut claims = rate_claims(&result, "skewed keys", &SKEWED_RATES);
    claims.extend(SKEWED_SPEEDS.map(|(other, paper)| speed_claim(&result, other, "skewed keys", paper)));
    let plots = vec![rates("(a) rate", &result), filter_throughput("(b) filter throughput", &result)];
    let mut notes = result.notes();
    notes
        .push("The paper does not say where its queries start; here anywhere between the keys' ends.".into());
    Ok(Finding { plots, claims, notes, tables: Vec::new() })
}

/// Section 5.9: how many times the filter throughput of `REncoder` is that of others.
const SKEWED_SPEEDS: [(&str, f64); 3] = [("SuRF", 2.17), ("Rosetta", 5.09), ("SNARF", 21.54)];

/// Section 5.9: these are means of what `REncoder` gains.
pub(super) const SKEWED_CONCLUDES: [Conclusion; 3] = [
    Conclusion::at_least("over that of SuRF", 2.17),
    Conclusion::at_least("over that of Rosetta", 5.09),
    Conclusion::at_least("over that of SNARF", 21.54),
];

/// Section 5.9.
const SKEWED_RATES: [(&str, f64, f64); 8] = [
    ("REncoder", 14.0, 0.019),
    ("REncoder", 26.0, 0.000_66),
    ("SuRF", 14.0, 0.058),
    ("SuRF", 26.0, 0.000_91),
    ("Rosetta", 14.0, 0.044),
    ("Rosetta", 26.0, 0.000_12),
    ("SNARF", 14.0, 0.096),
    ("SNARF", 26.0, 0.0019),
];

/// Normal, Zipf and clustered keys, asked around keys left out.
pub(super) fn other_laws(session: &mut Session<'_>) -> Result<Finding> {
    let count = session.key_count(SAMPLED_KEYS);
    let mut finding = Finding::default();
    for law in ["normal", "zipf", "clustered"] {
        let mut grid = filters::grid(format!("{law}:{count}"), "half:N:2-32");
        grid.rounds.queries = 0;
        let result = session.grid(&grid)?;
        finding.plots.push(rates(law, &result));
        finding.notes = result.notes();
    }
    Ok(finding)
}
