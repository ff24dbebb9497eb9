//! Figures 5 to 8: ranges of 2 to 32 and 2 to 64 keys over uniform keys.

use std::rc::Rc;

use lacuna_base::Result;

use super::filters::{self, BITS, SYNTHETIC_KEYS};
use super::panels::{
    blooms, filter_throughput, mean_ratio, overall, overall_ns, overall_throughput, plot, query_ns, rates,
};
use crate::paper::{Axis, Cell, Claim, Conclusion, Finding, GridResult, GridRounds, Session, Summary};

/// Ranges of 2 to 32 keys; builds are timed too.
pub(super) fn short(session: &mut Session<'_>) -> Result<Rc<GridResult>> {
    let mut grid = filters::grid(format!("uniform:{}", session.key_count(SYNTHETIC_KEYS)), "uniform:N:2-32");
    grid.rounds = GridRounds { queries: 9, builds: 3 };
    session.grid(&grid)
}

/// Ranges of 2 to 64 keys.
pub(super) fn long(session: &mut Session<'_>) -> Result<Rc<GridResult>> {
    let keys = format!("uniform:{}", session.key_count(SYNTHETIC_KEYS));
    session.grid(&filters::grid(keys, "uniform:N:2-64"))
}

fn build_ns(cell: &Cell) -> Option<f64> {
    Some(cell.speed?.build_ns.median)
}

/// Figure 5.
pub(super) fn cost_and_gain(session: &mut Session<'_>) -> Result<Finding> {
    let result = short(session)?;
    let mut claims = Vec::new();
    for (ours, factors) in [("REncoder", BUILD_FACTORS[0]), ("REncoderSS", BUILD_FACTORS[1])] {
        for (theirs, paper) in BUILD_RIVALS.into_iter().zip(factors) {
            let what = format!("build time of {ours} in those of {theirs}, mean over budgets");
            claims.push(Claim::new(what, paper, mean_ratio(&result, ours, theirs, build_ns)));
        }
    }
    for (theirs, paper) in WORKLOAD_FACTORS {
        let what = format!("workload time of {theirs} in those of REncoderSS, mean over budgets");
        claims.push(Claim::new(what, paper, mean_ratio(&result, theirs, "REncoderSS", overall_ns)));
    }
    let plots = vec![
        plot("(a) build", Axis::logarithmic("build time (ns a key)"), &result, |cell| {
            Some(cell.speed?.build_ns)
        }),
        plot("(b) workload", Axis::logarithmic("workload time (ns a query)"), &result, overall),
    ];
    Ok(Finding { plots, claims, notes: result.notes(), tables: Vec::new() })
}

/// Section 5.4: built faster than the last three; `REncoderSS` runs the workload in the shortest time.
pub(super) const COST_CONCLUDES: [Conclusion; 4] = [
    Conclusion::at_most("in those of Rosetta", 1.0),
    Conclusion::at_most("in those of SNARF", 1.0),
    Conclusion::at_most("in those of ProteusNS", 1.0),
    Conclusion::at_least("in those of REncoderSS", 1.0),
];

const BUILD_RIVALS: [&str; 6] = ["Bloom", "SuRF", "Proteus", "Rosetta", "SNARF", "ProteusNS"];
/// Section 5.4: slower than the first three, faster than the others; of REncoder, and of SS.
const BUILD_FACTORS: [[f64; 6]; 2] = [
    [1.22, 3.06, 1.36, 1.0 / 4.27, 1.0 / 1.09, 1.0 / 3.8],
    [1.21, 3.03, 1.35, 1.0 / 4.32, 1.0 / 1.1, 1.0 / 3.84],
];
/// Section 5.4: how many times faster `REncoderSS` runs the workload.
const WORKLOAD_FACTORS: [(&str, f64); 6] = [
    ("Bloom", 87.8),
    ("SuRF", 29.2),
    ("Rosetta", 11.5),
    ("SNARF", 1.67),
    ("ProteusNS", 83.4),
    ("Proteus", 1.12),
];

/// Figure 6.
pub(super) fn overall_time(session: &mut Session<'_>) -> Result<Finding> {
    let result = short(session)?;
    let (keys, queries) = (session.key_count(SYNTHETIC_KEYS) as f64, session.query_count() as f64);
    let seconds = |cell: &Cell| Some((build_ns(cell)? * keys + overall_ns(cell)? * queries) * 1e-9);
    let title = format!("build over {keys} keys and {queries} queries");
    let plots = vec![plot(&title, Axis::logarithmic("overall time (s)"), &result, |cell| {
        seconds(cell).map(Summary::once)
    })];
    let best = |bits: &f64| {
        let at = result.cells.iter().filter(|cell| cell.bits == *bits);
        at.filter_map(|cell| Some((cell.name, seconds(cell)?))).min_by(|one, other| one.1.total_cmp(&other.1))
    };
    let shortest: Vec<String> =
        BITS.iter().filter_map(|bits| Some(format!("{} at {bits}", best(bits)?.0))).collect();
    let mut notes = vec![format!("Shortest at each budget: {}.", shortest.join(", "))];
    notes.extend(result.notes());
    // Section 5.4: REncoderSS and SE "can even be optimal at some" budgets.
    let is_optimal = |bits: &&f64| best(bits).is_some_and(|(name, _)| OPTIMAL.contains(&name));
    let count = BITS.iter().filter(is_optimal).count();
    let what = "budgets at which REncoderSS or SE has the shortest overall time (the paper: \"some\")";
    let claims = vec![Claim::new(what, 1.0, Some(count as f64))];
    Ok(Finding { plots, notes, claims, ..Finding::default() })
}

const OPTIMAL: [&str; 2] = ["REncoderSS", "REncoderSE"];

/// Figure 7.
pub(super) fn false_positives(session: &mut Session<'_>) -> Result<Finding> {
    let (short, long) = (short(session)?, long(session)?);
    let claims = RATES.map(|(name, bits, paper)| {
        let ours = short.cell(name, bits).map(Cell::rate);
        Claim::new(format!("{name}, 2 to 32 keys, {bits} bits: rate"), paper, ours)
    });
    let plots = vec![rates("(a) ranges of 2 to 32 keys", &short), rates("(b) ranges of 2 to 64 keys", &long)];
    Ok(Finding { plots, claims: claims.to_vec(), notes: short.notes(), tables: Vec::new() })
}

/// Section 5.5.
const RATES: [(&str, f64, f64); 6] = [
    ("REncoder", 14.0, 0.027),
    ("REncoder", 26.0, 0.000_16),
    ("SuRF", 14.0, 0.041),
    ("SuRF", 26.0, 0.000_64),
    ("Rosetta", 14.0, 0.029),
    ("Rosetta", 26.0, 0.000_11),
];

/// Figure 8.
pub(super) fn throughput(session: &mut Session<'_>) -> Result<Finding> {
    let (short, long) = (short(session)?, long(session)?);
    let mut claims = Vec::new();
    for (lengths, result, [filter, over_surf, over_rosetta]) in
        [("2 to 32 keys", &short, SHORT_FACTORS), ("2 to 64 keys", &long, LONG_FACTORS)]
    {
        let mut claim = |what: &str, theirs: &str, paper: f64, value: fn(&Cell) -> Option<f64>| {
            let what = format!("{what} throughput of REncoder over that of {theirs}, {lengths}, mean");
            claims.push(Claim::new(what, paper, mean_ratio(result, theirs, "REncoder", value)));
        };
        claim("filter", "Rosetta", filter, query_ns);
        claim("overall", "SuRF", over_surf, overall_ns);
        claim("overall", "Rosetta", over_rosetta, overall_ns);
    }
    let plots = vec![
        filter_throughput("(a) filter, 2 to 32 keys", &short),
        filter_throughput("(b) filter, 2 to 64 keys", &long),
        overall_throughput("(c) overall, 2 to 32 keys", &short),
        overall_throughput("(d) overall, 2 to 64 keys", &long),
        blooms("against a standard Bloom, 2 to 32 keys", &short),
        blooms("against a standard Bloom, 2 to 64 keys", &long),
    ];
    Ok(Finding { plots, claims, notes: short.notes(), tables: Vec::new() })
}

/// Section 5.5: the least factors over Rosetta; overall throughput is "higher than SuRF and Rosetta".
pub(super) const THROUGHPUT_CONCLUDES: [Conclusion; 3] = [
    Conclusion::at_least("filter throughput of REncoder over that of Rosetta, 2 to 32", 5.37),
    Conclusion::at_least("filter throughput of REncoder over that of Rosetta, 2 to 64", 5.06),
    Conclusion::at_least("overall throughput of REncoder", 1.0),
];

/// Section 5.5, the middle of the range stated for 2-32: filter over Rosetta, overall over SuRF and over Rosetta.
const SHORT_FACTORS: [f64; 3] = [5.68, 5.54, 2.25];
/// The same for 2-64.
const LONG_FACTORS: [f64; 3] = [6.07, 2.81, 2.26];
