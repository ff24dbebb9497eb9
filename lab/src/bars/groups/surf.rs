//! SuRF beside the standard Bloom filter of 14 bits: points, ranges and counts, builds, sizes and rates.
//!
//! Sizes and rates are those of the trie alone over uniform integers, which saw up and down with their number; the
//! rate's closed form is derived in `docs/design/surf-saw-tooth.md`. `LACUNA_LONG=1` adds 50 million keys.

use lacuna_base::{CountEstimate, DynFilter, Result, U64Range};
use lacuna_bench::harness::{Rounds, TaskId, Timings, dependent};

use super::contest::{PlannedFilter, points, ranges};
use super::{surf_batches, surf_strings};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::{AtMost, None};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const BLOOM_BITS: f64 = 14.0;
/// Specs and room for each.
const SURFS: [(&str, f64); 4] =
    [("surf:real=0", 24.0), ("surf:real=4", 24.0), ("surf:hash=4", 24.0), ("surf:real=16", 40.0)];
const BASE: usize = 0;
const REAL_4: usize = 1;
const REAL_16: usize = 3;
/// Distance between the ends of a range whose keys are counted: some thousand keys of 10 million.
const COUNTED: u64 = 1 << 50;
/// Numbers of keys with the most bits a key that the trie may take.
const SIZES: [(&str, f64); 3] = [("1M", 10.6), ("10M", 8.4), ("50M", 10.7)];

/// Measures everything.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    progress.say("surf: drawing keys and queries");
    let keys = setting.keys(&format!("uniform:{}", setting.speed_keys()))?;
    let mut bars = query_bars(setting, progress, &keys)?;
    bars.extend(surf_batches::bars(setting, progress, &keys)?);
    bars.extend(build_bars(setting, progress, &keys)?);
    drop(keys);
    bars.extend(surf_strings::bars(setting, progress)?);
    bars.extend(size_bars(setting, progress)?);
    Ok(bars)
}

/// The questions to one SuRF.
struct Tasks {
    point: TaskId,
    range: TaskId,
    count: TaskId,
}

fn query_bars(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<Vec<Bar>> {
    let ends = setting.ranges(&format!("uniform:{}:32", setting.questions()), keys)?;
    let (points, ranges) = (points(&ends), ranges(&ends));
    let wide = |&(lo, _): &(u64, u64)| U64Range::new(lo, lo.saturating_add(COUNTED)).expect("in order");
    let wide: Vec<U64Range> = ends.iter().map(wide).collect();
    let bloom = PlannedFilter::try_new("bloom", BLOOM_BITS, setting.seed)?.open(keys)?;
    let mut surfs = Vec::new();
    for (spec, bits) in SURFS {
        let sealed = PlannedFilter::try_new(spec, bits, setting.seed)?.build(keys)?.into_bytes();
        surfs.push(lacuna_families::open_count::<u64, _>(sealed)?);
    }
    let mut rounds = Rounds::new();
    let yardstick = add_may_contain(&mut rounds, "bloom point", &*bloom, &points);
    let mut tasks = Vec::new();
    for ((spec, _), surf) in SURFS.iter().zip(&surfs) {
        tasks.push(Tasks {
            point: add_may_contain(&mut rounds, &format!("{spec} point"), &**surf, &points),
            range: add_may_contain(&mut rounds, &format!("{spec} range"), &**surf, &ranges),
            count: add_count(&mut rounds, spec, &**surf, &wide),
        });
    }
    let of = setting.query_rounds();
    let timings = rounds.run(of, &mut |round| progress.say(format!("surf: queries, round {round} of {of}")));
    Ok(speed_bars(&timings, &tasks, yardstick))
}

fn add_may_contain<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    filter: &'a DynFilter<u64>,
    pool: &'a [U64Range],
) -> TaskId {
    rounds.add_serial(name, pool.len(), move || dependent(pool, 1, |range| filter.may_contain_range(range)))
}

fn add_count<'a>(
    rounds: &mut Rounds<'a>,
    spec: &str,
    surf: &'a dyn CountEstimate<u64>,
    pool: &'a [U64Range],
) -> TaskId {
    let is_odd = |range| surf.count_range(range).max % 2 == 1;
    rounds.add_serial(format!("{spec} count"), pool.len(), move || dependent(pool, 1, is_odd))
}

fn speed_bars(timings: &Timings, tasks: &[Tasks], yardstick: TaskId) -> Vec<Bar> {
    let mut bars = Vec::new();
    for ((spec, _), Tasks { point, range, count }) in SURFS.iter().zip(tasks) {
        for (what, task, max) in [("point", *point, 2.2), ("range", *range, 4.0), ("count", *count, 8.0)] {
            bars.push(Bar::times_longer(
                format!("{spec} {what}, single"),
                timings,
                [task, yardstick],
                AtMost(max),
            ));
        }
    }
    let flat = |what: &str, tasks| {
        Bar::times_longer(format!("16 real bits beside 4, {what}"), timings, tasks, AtMost(1.25))
    };
    bars.push(flat("point", [tasks[REAL_16].point, tasks[REAL_4].point]));
    bars.push(flat("range", [tasks[REAL_16].range, tasks[REAL_4].range]));
    bars
}

/// Builds of the trie beside a Bloom filter, and of small sets beside the large one.
fn build_bars(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<Vec<Bar>> {
    let bloom = PlannedFilter::try_new("bloom", BLOOM_BITS, setting.seed)?;
    let surfs = [SURFS[BASE], SURFS[REAL_4]];
    let mut planned = Vec::new();
    for (spec, bits) in surfs {
        planned.push(PlannedFilter::try_new(spec, bits, setting.seed)?);
    }
    let mut small = Vec::new();
    for count in [10_000, 100_000, 1_000_000_usize] {
        small.push(setting.keys(&format!("uniform:{}", count.min(keys.len())))?);
    }
    let mut rounds = Rounds::new();
    let yardstick = bloom.add_build(&mut rounds, keys);
    let large: Vec<TaskId> = planned.iter().map(|planned| planned.add_build(&mut rounds, keys)).collect();
    let few: Vec<TaskId> = small.iter().map(|few| add_builds(&mut rounds, &planned[0], few)).collect();
    let of = setting.build_rounds();
    let timings = rounds.run(of, &mut |round| progress.say(format!("surf: builds, round {round} of {of}")));
    let mut bars = Vec::new();
    for ((spec, _), task) in surfs.iter().zip(&large) {
        let name = format!("{spec} build per key");
        bars.push(Bar::times_longer(name, &timings, [*task, yardstick], AtMost(1.0)));
    }
    for (few, task) in small.iter().zip(&few) {
        let name = format!("surf:real=0 build per key, {} keys", few.len());
        bars.push(Bar::times_longer(name, &timings, [*task, large[0]], AtMost(1.5)));
    }
    Ok(bars)
}

/// Adds builds of few keys, as many as make a million.
fn add_builds<'a>(rounds: &mut Rounds<'a>, planned: &'a PlannedFilter, keys: &'a [u64]) -> TaskId {
    let times = (1_000_000 / keys.len()).max(1);
    rounds.add(format!("{} keys", keys.len()), keys.len() * times, move || {
        (0..times).map(|_| planned.build(keys).expect("fits").as_bytes().len()).sum::<usize>()
    })
}

fn size_bars(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    let is_long = std::env::var_os("LACUNA_LONG").is_some_and(|value| value == "1");
    let sizes = match (setting.quick, is_long) {
        (true, _) => &SIZES[..1],
        (false, false) => &SIZES[..2],
        (false, true) => &SIZES[..],
    };
    let mut bars = Vec::new();
    for (name, max_bits) in sizes {
        progress.say(format!("surf: size and rate at {name} keys"));
        let keys = setting.keys(&format!("uniform:{name}"))?;
        let surf = PlannedFilter::try_new("surf:real=0", 16.0, setting.seed)?.open(&keys)?;
        let bits = (surf.size_in_bytes() - 64) as f64 * 8.0 / keys.len() as f64;
        let rate = rate(setting, &keys, &*surf)?;
        let closed = closed_form(keys.len() as f64);
        bars.push(Bar::number(
            format!("bits per key, {name} keys"),
            format!("{bits:.2}"),
            format!("{max_bits}"),
            bits / max_bits,
            AtMost(1.0),
        ));
        let (value, beside) =
            (format!("{:.2} %", rate * 100.0), format!("closed form {:.2} %", closed * 100.0));
        let distance = (rate / closed - 1.0).abs();
        bars.push(Bar::number(format!("point rate, {name} keys"), value, beside, rate / closed, None));
        let (value, beside) = (format!("{:.2} %", distance * 100.0), "5 %".to_owned());
        bars.push(Bar::number(
            format!("rate off its closed form, {name} keys"),
            value,
            beside,
            distance / 0.05,
            AtMost(1.0),
        ));
    }
    Ok(bars)
}

/// Share of uniform points without a key that are "maybe".
fn rate(setting: &Setting, keys: &[u64], surf: &DynFilter<u64>) -> Result<f64> {
    let asked = points(&setting.ranges(&format!("points:{}", setting.questions()), keys)?);
    let maybes = asked.iter().filter(|range| surf.may_contain_range(**range)).count();
    Ok(maybes as f64 / asked.len() as f64)
}

/// The rate of the trie alone over `count` uniform integers: a point meets a key where its first d + 1 bytes hold exactly
/// one key and its first d more than one.
fn closed_form(count: f64) -> f64 {
    let mean = |depth: i32| count / f64::from(8 * depth).exp2();
    let at = |depth: i32| {
        let (own, parent) = (mean(depth), mean(depth - 1));
        let is_shared = if depth == 1 { 1.0 } else { -(own - parent).exp_m1() };
        own * (-own).exp() * is_shared
    };
    (1..=7).map(at).sum()
}
