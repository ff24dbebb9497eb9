//! SuRF asked for many ranges a call: their walks go down side by side, so that their cache misses overlap.

use lacuna_base::{DynFilter, Result, U64Range};
use lacuna_bench::harness::{Rounds, TaskId, Timings, batched, dependent, independent};

use super::contest::{PlannedFilter, points, ranges};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtLeast;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Specs and room for each.
const SURFS: [(&str, f64); 2] = [("surf:real=0", 24.0), ("surf:real=4", 24.0)];

/// The ways to ask one pool.
struct Tasks {
    single: TaskId,
    independent: TaskId,
    batched: TaskId,
}

/// Measures points and ranges over `keys`, batched beside one by one.
pub(super) fn bars(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<Vec<Bar>> {
    progress.say("surf: batches");
    let ends = setting.ranges(&format!("uniform:{}:32", setting.questions() / 4), keys)?;
    let pools = [("point", points(&ends)), ("range", ranges(&ends))];
    let mut surfs = Vec::new();
    for (spec, bits) in SURFS {
        surfs.push((spec, PlannedFilter::try_new(spec, bits, setting.seed)?.open(keys)?));
    }
    let mut rounds = Rounds::new();
    let mut tasks = Vec::new();
    for (spec, surf) in &surfs {
        for (what, pool) in &pools {
            tasks.push((format!("{spec} {what}"), add(&mut rounds, &**surf, pool)));
        }
    }
    let timings = rounds.run(setting.query_rounds(), &mut |_| {});
    Ok(tasks.iter().flat_map(|(name, tasks)| faster(name, tasks, &timings)).collect())
}

fn add<'a>(rounds: &mut Rounds<'a>, surf: &'a DynFilter<u64>, pool: &'a [U64Range]) -> Tasks {
    let one = |range| surf.may_contain_range(range);
    let many = |ranges: &[U64Range], answers: &mut [bool]| surf.may_contain_ranges(ranges, answers);
    Tasks {
        single: rounds.add_serial("single", pool.len(), move || dependent(pool, 1, one)),
        independent: rounds.add("independent", pool.len(), move || independent(pool, 1, one)),
        batched: rounds.add("batched", pool.len(), move || batched(pool, 1, many)),
    }
}

fn faster(name: &str, tasks: &Tasks, timings: &Timings) -> [Bar; 2] {
    let bar = |yardstick, min| {
        Bar::times_faster(format!("{name}, batched"), timings, [tasks.batched, yardstick], AtLeast(min))
    };
    [bar(tasks.single, 2.5), bar(tasks.independent, 1.2)]
}
