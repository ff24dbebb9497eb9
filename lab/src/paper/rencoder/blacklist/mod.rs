//! Figures 17 to 22 and table 5: the blacklist of section 3.4 in rounds of queries.

mod run;
mod space;
mod workloads;

use std::rc::Rc;

use lacuna_base::Result;

use self::run::{Rounded, Variant, VariantRun, run_variant};
use self::workloads::{ANYWHERE, BEHIND_KEYS, partly_empty, partly_repeated, repeated};
use crate::paper::{Axis, Claim, Finding, Line, Plot, Session};

pub(super) use space::memory;

const BASE: Variant = Variant { name: "REncoder", listed_name: "REncoder-BL", spec: "rencoder" };
const START: Variant = Variant { name: "REncoderSS", listed_name: "REncoderSS-BL", spec: "rencoder:ss" };
const END: Variant = Variant { name: "REncoderSE", listed_name: "REncoderSE-BL", spec: "rencoder:se" };
const ALL: [Variant; 3] = [BASE, START, END];

/// Budgets of table 5, in bits per key.
const BITS: [f64; 7] = [16.0, 18.0, 20.0, 22.0, 24.0, 26.0, 28.0];

/// Budget where a figure varies something else.
const FIXED_BITS: f64 = 22.0;

type VariantRuns = Rc<Vec<VariantRun>>;

/// Two rounds of the same queries at every budget.
fn two_rounds(session: &mut Session<'_>, queries: &'static str) -> Result<VariantRuns> {
    session.once(format!("blacklist {queries}"), |session| {
        let rounded = repeated(session, queries, 2)?;
        let mut runs = Vec::new();
        for variant in ALL {
            for bits in BITS {
                runs.push(run_variant(session, variant, &rounded, (bits, bits), true)?);
            }
        }
        Ok(runs)
    })
}

/// All variants at the fixed budget, for each part of something.
fn by_part(
    session: &mut Session<'_>,
    parts: &[f64],
    workload: fn(&mut Session<'_>, f64) -> Result<Rounded>,
) -> Result<Vec<VariantRun>> {
    let mut runs = Vec::new();
    for &part in parts {
        let rounded = workload(session, part)?;
        for variant in [BASE, START] {
            runs.push(run_variant(session, variant, &rounded, (FIXED_BITS, part * 100.0), true)?);
        }
    }
    Ok(runs)
}

/// A panel with two lines a variant, without and with the blacklist.
fn plot(
    title: &str,
    (x, y): (Axis, Axis),
    runs: &[VariantRun],
    values: impl Fn(&VariantRun) -> Option<[f64; 2]>,
) -> Plot {
    let mut lines = Vec::new();
    for variant in ALL {
        let of: Vec<(f64, [f64; 2])> = runs
            .iter()
            .filter(|run| run.variant == variant)
            .filter_map(|run| Some((run.x, values(run)?)))
            .collect();
        for (name, place) in [(variant.name, 0), (variant.listed_name, 1)] {
            if !of.is_empty() {
                lines.push(Line::ours(name, of.iter().map(|(x, values)| (*x, values[place]))));
            }
        }
    }
    Plot { title: title.to_owned(), x, y, lines }
}

fn over_bits(y: Axis) -> (Axis, Axis) {
    (Axis::linear("bits per key"), y)
}

fn rate_axis() -> Axis {
    Axis::logarithmic("false positive rate")
}

fn speed_axis() -> Axis {
    Axis::linear("filter throughput (Mops/s)")
}

/// Throughput without the blacklist, and with it in the mean of the first round and a later one.
fn mean_throughput(run: &VariantRun) -> Option<[f64; 2]> {
    run.times.map(|[plain, fresh, full]| [1e3 / plain, 2e3 / (fresh + full)])
}

/// False positives without by those with the blacklist over the first `rounds` rounds, all budgets together: at the
/// larger ones alone there are too few for a verdict.
fn factor(runs: &[VariantRun], variant: Variant, rounds: usize) -> Option<f64> {
    let sum = |positives: fn(&VariantRun) -> &[u64]| -> f64 {
        let of = runs.iter().filter(|run| run.variant == variant);
        of.map(|run| positives(run)[..rounds].iter().sum::<u64>() as f64).sum()
    };
    let (plain, listed) = (sum(|run| &run.plain), sum(|run| &run.listed));
    (listed > 0.0).then(|| plain / listed)
}

fn mean_speedup(runs: &[VariantRun], variant: Variant) -> Option<f64> {
    let of = runs.iter().filter(|run| run.variant == variant);
    let speedups: Vec<f64> = of.filter_map(mean_throughput).map(|[plain, listed]| listed / plain).collect();
    (!speedups.is_empty()).then(|| speedups.iter().sum::<f64>() / speedups.len() as f64)
}

fn factor_claims(runs: &[VariantRun], factors: &[(Variant, f64, f64)]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for &(variant, rate, speed) in factors {
        let what = format!("{}: rate without / with blacklist, two rounds, all budgets", variant.name);
        claims.push(Claim::new(what, rate, factor(runs, variant, 2)));
        let what = format!("{}: filter throughput with / without blacklist, mean", variant.name);
        claims.push(Claim::new(what, speed, mean_speedup(runs, variant)));
    }
    claims
}

/// Figure 17.
pub(super) fn overall(session: &mut Session<'_>) -> Result<Finding> {
    let runs = two_rounds(session, ANYWHERE)?;
    let plots = vec![
        plot("(a) rate, mean of two rounds", over_bits(rate_axis()), &runs, |run| run.mean_rates(2)),
        plot("(b) throughput, mean of two rounds", over_bits(speed_axis()), &runs, mean_throughput),
    ];
    let claims = factor_claims(&runs, &[(BASE, 1.78, 1.03), (START, 1.98, 1.05), (END, 1.98, 1.05)]);
    Ok(Finding { plots, claims, ..Finding::default() })
}

/// Figure 18.
pub(super) fn separate_rounds(session: &mut Session<'_>) -> Result<Finding> {
    let runs = two_rounds(session, ANYWHERE)?;
    let speed =
        |run: &VariantRun, later: usize| run.times.map(|times| [1e3 / times[0], 1e3 / times[1 + later]]);
    let plots = vec![
        plot("(a) rate, first round", over_bits(rate_axis()), &runs, |run| Some(run.rates_in(0))),
        plot("(b) rate, second round", over_bits(rate_axis()), &runs, |run| Some(run.rates_in(1))),
        plot("(c) throughput, first round", over_bits(speed_axis()), &runs, |run| speed(run, 0)),
        plot("(d) throughput, second round", over_bits(speed_axis()), &runs, |run| speed(run, 1)),
    ];
    let mut claims = Vec::new();
    for (variant, paper) in [(BASE, 0.0022), (START, 0.000_24)] {
        let of: Vec<&VariantRun> = runs.iter().filter(|run| run.variant == variant).collect();
        let mean = |place: usize| of.iter().map(|run| run.rates_in(1)[place]).sum::<f64>() / of.len() as f64;
        claims.push(Claim::new(
            format!("{}: mean rate of the second round", variant.name),
            paper,
            Some(mean(0)),
        ));
        claims.push(Claim::new(format!("{}: the same", variant.listed_name), 0.0, Some(mean(1))));
    }
    Ok(Finding { plots, claims, ..Finding::default() })
}

/// Figure 19.
pub(super) fn many_rounds(session: &mut Session<'_>) -> Result<Finding> {
    const ROUNDS: usize = 7;
    let rounded = repeated(session, ANYWHERE, ROUNDS)?;
    let (mut after, mut claims) = (Vec::new(), Vec::new());
    for (variant, paper) in [(BASE, 6.98), (START, 7.0)] {
        let run = run_variant(session, variant, &rounded, (FIXED_BITS, 1.0), true)?;
        let fell = run.mean_rates(1).zip(run.mean_rates(ROUNDS)).map(|(one, all)| one[1] / all[1]);
        let what = format!("{}: rate of one round / mean of seven", variant.listed_name);
        claims.push(Claim::new(what, paper, fell.filter(|fell| fell.is_finite())));
        // The same run, seen after each round.
        after.extend((1..=ROUNDS).map(|rounds| VariantRun { x: rounds as f64, ..run.clone() }));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a number of rounds")]
    let rounds = |run: &VariantRun| run.x as usize;
    let axes = |y| (Axis::linear("rounds"), y);
    let speed = |run: &VariantRun| {
        let [plain, fresh, full] = run.times?;
        let mean = (fresh + full * (run.x - 1.0)) / run.x;
        Some([1e3 / plain, 1e3 / mean])
    };
    let plots = vec![
        plot("(a) rate, mean of the rounds so far", axes(rate_axis()), &after, |run| {
            run.mean_rates(rounds(run))
        }),
        plot("(b) throughput, mean of the rounds so far", axes(speed_axis()), &after, speed),
    ];
    Ok(Finding { plots, claims, ..Finding::default() })
}

/// Figure 20.
pub(super) fn replication(session: &mut Session<'_>) -> Result<Finding> {
    let runs = by_part(session, &[0.0, 0.25, 0.5, 0.75, 1.0], partly_repeated)?;
    Ok(two_panels("queries of the second round that were in the first (%)", &runs))
}

/// Figure 21.
pub(super) fn empty_part(session: &mut Session<'_>) -> Result<Finding> {
    let runs = by_part(session, &[0.0, 0.25, 0.5, 0.75, 1.0], partly_empty)?;
    let mut finding = two_panels("queries that are empty (%)", &runs);
    finding.notes.push("Without an empty query there is no rate.".into());
    Ok(finding)
}

fn two_panels(x: &str, runs: &[VariantRun]) -> Finding {
    let axes = |y| (Axis::linear(x), y);
    let plots = vec![
        plot("(a) rate, mean of two rounds", axes(rate_axis()), runs, |run| run.mean_rates(2)),
        plot("(b) throughput, mean of two rounds", axes(speed_axis()), runs, mean_throughput),
    ];
    Finding { plots, ..Finding::default() }
}

/// Figure 22.
pub(super) fn correlated(session: &mut Session<'_>) -> Result<Finding> {
    let runs: Vec<VariantRun> =
        two_rounds(session, BEHIND_KEYS)?.iter().filter(|run| run.variant != START).cloned().collect();
    let plots = vec![
        plot("(a) rate, mean of two rounds", over_bits(rate_axis()), &runs, |run| run.mean_rates(2)),
        plot("(b) throughput, mean of two rounds", over_bits(speed_axis()), &runs, mean_throughput),
    ];
    let claims = factor_claims(&runs, &[(BASE, 1.78, 1.02), (END, 1.93, 1.05)]);
    let note =
        "REncoderSS says \"maybe\" to every query here (figure 11), so its blacklist would be the workload.";
    Ok(Finding { plots, claims, notes: vec![note.into()], tables: Vec::new() })
}
