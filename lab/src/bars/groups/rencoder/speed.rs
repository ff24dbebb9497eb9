//! Speed beside a standard Bloom filter of as many bits, asked for points, and beside Rosetta as published, which asks
//! its filters one node at a time.

use lacuna_base::{DynFilter, Result, U64Range};
use lacuna_bench::harness::{Rounds, TaskId, independent};

use super::super::contest::{PlannedFilter, add_single, points, ranges};
use super::sample;
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::{AtLeast, AtMost};
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const BITS: f64 = 18.0;
const LONGER: &str = "uniform:N:2-64";

/// Measures queries and builds.
pub(super) fn bars(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    progress.say("rencoder: drawing keys and queries");
    let keys = setting.keys(&format!("uniform:{}", setting.speed_keys()))?;
    let mut bars = bloom_bars(setting, progress, &keys)?.to_vec();
    bars.extend(rosetta_bars(setting, progress, &keys)?);
    bars.push(build_bar(setting, progress, &keys)?);
    Ok(bars)
}

fn bloom_bars(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<[Bar; 3]> {
    let ends = setting.ranges(&format!("uniform:{}:32", setting.questions()), keys)?;
    let (points, ranges) = (points(&ends), ranges(&ends));
    let open = |spec| PlannedFilter::try_new(spec, BITS, setting.seed)?.open(keys);
    let (bloom, base, start) = (open("bloom")?, open("rencoder")?, open("rencoder:ss")?);
    let mut rounds = Rounds::new();
    let yardstick = add_single(&mut rounds, "bloom point", &*bloom, &points);
    let tasks = [
        ("rencoder range of 32, single", add_single(&mut rounds, "rencoder range", &*base, &ranges), 6.0),
        ("rencoder:ss range of 32, single", add_single(&mut rounds, "ss range", &*start, &ranges), 3.0),
        ("rencoder point, single", add_single(&mut rounds, "rencoder point", &*base, &points), 3.0),
    ];
    let of = setting.query_rounds();
    let timings =
        rounds.run(of, &mut |round| progress.say(format!("rencoder: queries, round {round} of {of}")));
    Ok(tasks.map(|(name, task, max)| {
        Bar::times_longer(format!("{name}, {BITS} bits"), &timings, [task, yardstick], AtMost(max))
    }))
}

/// Throughput, with questions that do not wait for each other.
fn rosetta_bars(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<[Bar; 2]> {
    progress.say("rencoder: building Rosetta as published");
    let pool = ranges(&setting.ranges(&LONGER.replace('N', &setting.questions().to_string()), keys)?);
    let sample = sample(setting, LONGER, keys)?;
    let open = |spec| PlannedFilter::try_new(spec, BITS, setting.seed)?.with_sample(&sample).open(keys);
    let (rosetta, base, start) = (open("rosetta:published")?, open("rencoder")?, open("rencoder:ss")?);
    let mut rounds = Rounds::new();
    let yardstick = add_independent(&mut rounds, "rosetta:published", &*rosetta, &pool);
    let tasks = [
        ("rencoder", add_independent(&mut rounds, "rencoder", &*base, &pool)),
        ("rencoder:ss", add_independent(&mut rounds, "rencoder:ss", &*start, &pool)),
    ];
    let of = setting.query_rounds();
    let timings =
        rounds.run(of, &mut |round| progress.say(format!("rencoder: beside Rosetta, round {round} of {of}")));
    Ok(tasks.map(|(name, task)| {
        let name = format!("{name} ranges of 2-64, independent, {BITS} bits");
        Bar::times_faster(name, &timings, [task, yardstick], AtLeast(5.0))
    }))
}

fn add_independent<'a>(
    rounds: &mut Rounds<'a>,
    name: &str,
    filter: &'a DynFilter<u64>,
    pool: &'a [U64Range],
) -> TaskId {
    rounds.add(name, pool.len(), move || independent(pool, 1, |range| filter.may_contain_range(range)))
}

fn build_bar(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<Bar> {
    let bloom = PlannedFilter::try_new("bloom", BITS, setting.seed)?;
    let base = PlannedFilter::try_new("rencoder", BITS, setting.seed)?;
    let mut rounds = Rounds::new();
    let (yardstick, task) = (bloom.add_build(&mut rounds, keys), base.add_build(&mut rounds, keys));
    let of = setting.build_rounds();
    let timings =
        rounds.run(of, &mut |round| progress.say(format!("rencoder: builds, round {round} of {of}")));
    let name = format!("rencoder build per key, {BITS} bits");
    Ok(Bar::times_longer(name, &timings, [task, yardstick], AtMost(1.25)))
}
