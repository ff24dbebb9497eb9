//! Questions about ranges, in questions of the same way to a standard Bloom filter for a key.

use lacuna_base::{Result, U64Range};
use lacuna_bench::harness::{Rounds, TaskId};

use super::super::contest::{Asked, add_points, add_questions, in_runs, points, ranges};
use super::{MAX_BITS, planned};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtMost;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Specs with the longest that a question may take: single, independent, batched.
const MAX: [(&str, [f64; 3]); 3] =
    [("ribbon", [1.1, 1.8, 0.8]), ("bucketing", [1.2, 2.5, 1.2]), ("grafite", [1.2, 2.5, 1.2])];

/// Asks every filter about empty ranges of 32 keys that start uniformly, and the Bloom filter for their first
/// keys.
pub(super) fn bars(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<Vec<Bar>> {
    let ends = setting.ranges(&format!("uniform:{}:32", setting.questions()), keys)?;
    let pools = [points(&ends), ranges(&ends)];
    in_runs(|run| {
        one_run(setting, &|step: &str| progress.say(format!("ranges: run {run}, {step}")), keys, &pools)
    })
}

fn one_run(
    setting: &Setting,
    say: &dyn Fn(&str),
    keys: &[u64],
    [points, ranges]: &[Vec<U64Range>; 2],
) -> Result<Vec<Bar>> {
    say("building filters");
    let open = |spec: &str| planned(setting, spec, MAX_BITS, keys.len())?.open(keys);
    let bloom = open("bloom")?;
    let filters = MAX.iter().map(|(spec, _)| open(spec)).collect::<Result<Vec<_>>>()?;
    let mut rounds = Rounds::new();
    let yardstick = add_points(&mut rounds, "bloom", &*bloom, points);
    let mut asked = Vec::new();
    for ((spec, max), filter) in MAX.iter().zip(&filters) {
        asked.push((*spec, *max, add_questions(&mut rounds, spec, &**filter, ranges)));
    }
    let of = setting.query_rounds();
    let timings = rounds.run(of, &mut |round| say(&format!("questions, round {round} of {of}")));
    let mut bars = Vec::new();
    for (spec, max, asked) in asked {
        for ((max, (way, task)), (_, bloom)) in max.into_iter().zip(ways(asked)).zip(ways(yardstick)) {
            let name = format!("{spec} {way}, uniform:N:32");
            bars.push(Bar::times_longer(name, &timings, [task, bloom], AtMost(max)));
        }
    }
    Ok(bars)
}

/// The ways that have a limit, in its order.
fn ways(asked: Asked) -> [(&'static str, TaskId); 3] {
    [("single", asked.dependent), ("independent", asked.independent), ("batched", asked.batched)]
}
