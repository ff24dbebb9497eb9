//! The designer: what a choice costs, and how far it is from the best family on some cells of its grid.

use std::sync::Arc;

use crate::designer_grid::{Clock, Outcome, Scale, Summary, cells, run as run_cell};
use lacuna_base::{Budget, BuildPlan, FilterSpec as _, Result, Sample, SortedKeys};
use lacuna_bench::harness::Rounds;
use lacuna_bench::statistics::median;
use lacuna_families::{AutoSpec, BloomSpec};

use crate::bars::bar::Bar;
use crate::bars::bar::Limit::{AtLeast, AtMost};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Workloads that are designed for.
const QUERIES: [&str; 4] =
    ["points:20000", "uniform:20000:2-1024", "split:20000:2-32:32", "correlated:20000:2-1024:1024"];
/// Most that designing may take: a share of a Bloom filter's build, or this long.
const SHARE: f64 = 0.15;
const FREE_NS: f64 = 5e6;
/// One cell in this many is run; an odd number meets every length and budget.
const EVERY: usize = 15;
const SAMPLED: usize = 20_000;

/// Measures everything.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let mut bars = Vec::new();
    let keys = setting.keys(&format!("uniform:{}", setting.rate_keys()))?;
    for queries in QUERIES {
        progress.say(format!("designer: time for {queries}"));
        bars.push(time_bar(setting, &keys, queries)?);
    }
    bars.extend(grid_bars(setting, progress)?);
    Ok(bars)
}

fn time_bar(setting: &Setting, keys: &[u64], queries: &str) -> Result<Bar> {
    let mut sample = Sample::new();
    setting.ranges(queries, keys)?.iter().for_each(|&(lo, hi)| sample.push(lo, hi));
    let plan = BuildPlan::new(Budget::bits_per_key(14.0)?).with_sample(Arc::new(sample));
    let keys = SortedKeys::integers(keys)?;
    let mut rounds = Rounds::new();
    let design =
        rounds.add("design", 1, || AutoSpec::new().design(keys, &plan).expect("fits").candidates().len());
    let bloom = rounds.add("bloom build", 1, || BloomSpec::new().build(keys, &plan).expect("fits"));
    let timings = rounds.run(setting.query_rounds(), &mut |_| {});
    let rounds_ns = timings.rounds_ns(design).iter().zip(timings.rounds_ns(bloom));
    let ratios: Vec<f64> = rounds_ns.map(|(design, bloom)| design / (SHARE * bloom).max(FREE_NS)).collect();
    let bar = Bar::number(
        format!("choosing for {queries}, {} keys", keys.len()),
        format!("{:.2} ms", timings.median_ns(design) / 1e6),
        format!("the larger of 5 ms and 15 % of bloom's {:.2} ms", timings.median_ns(bloom) / 1e6),
        median(&ratios),
        AtMost(1.0),
    );
    Ok(Bar { spread: Some(timings.spread(design).max(timings.spread(bloom))), ..bar })
}

/// The designer beside the best family; costs of questions by its own constants.
fn grid_bars(setting: &Setting, progress: &Progress) -> Result<[Bar; 4]> {
    let (key_count, seed) = (setting.rate_keys(), setting.seed);
    let scale = Scale { key_count, query_count: SAMPLED, seed, clock: Clock::Counted };
    let mut outcomes: Vec<Outcome> = Vec::new();
    for cell in cells().into_iter().skip(1).step_by(EVERY) {
        progress.say(format!("designer: {cell}"));
        outcomes.extend(run_cell(cell, scale)?);
    }
    let Summary { cells, close, worst, change } = Summary::of(&outcomes);
    let near = Bar::number(
        format!("within 10 % and 5 ns of the best family, of {cells} cells"),
        format!("{:.1} %", close * 100.0),
        "95 %".to_owned(),
        close / 0.95,
        AtLeast(1.0),
    );
    let far = Bar::number(
        format!("the worst of {cells} cells beside its best family"),
        format!("{worst:.2} times"),
        "1.5 times".to_owned(),
        worst / 1.5,
        AtMost(1.0),
    );
    let worse = Bar::number(
        format!("the worst of {cells} cells beside auto without ribbon and segments"),
        format!("{:.2} times, {} cells worse", change.most, change.worse),
        "no cell worse".to_owned(),
        change.most,
        AtMost(1.0),
    );
    let median = Bar::number(
        format!("the median cost of {cells} cells beside auto without ribbon and segments"),
        format!("{:.2} times, {:.2} in the median cell", change.of_median, change.median),
        "0.75 times".to_owned(),
        change.of_median / 0.75,
        AtMost(1.0),
    );
    Ok([near, far, worse, median])
}
