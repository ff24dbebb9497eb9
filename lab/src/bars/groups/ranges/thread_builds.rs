//! Builds by two threads beside builds by one, from keys whose order was checked to the same sealed bytes.
//!
//! Times are those that pass, without what the first thread waited for a processor: the clock of other builds counts the work of one
//! thread alone. On a machine without two free processors these bars mean nothing.

use std::hint::black_box;
use std::num::NonZeroUsize;

use lacuna_base::{Result, SortedKeys};
use lacuna_bench::harness::{Stopwatch, Timings};

use super::super::contest::{PlannedFilter, in_runs};
use super::{MAX_BITS, planned};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtMost;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

const SPECS: [&str; 3] = ["ribbon", "bucketing", "grafite"];
const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);
/// Two threads are to be 1.8 times as fast as one.
const MAX_SHARE: f64 = 1.0 / 1.8;

/// Builds every filter by one thread and by two, in turn.
pub(super) fn bars(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<Vec<Bar>> {
    let keys = SortedKeys::integers(keys)?;
    in_runs(|run| {
        let bar = |spec: &&str| {
            progress.say(format!("ranges: run {run}, builds of {spec} by two threads"));
            bar_of(setting, spec, keys)
        };
        SPECS.iter().map(bar).collect()
    })
}

fn bar_of(setting: &Setting, spec: &str, keys: SortedKeys<'_, u64>) -> Result<Bar> {
    let one = planned(setting, spec, MAX_BITS, keys.len())?;
    let two = planned(setting, spec, MAX_BITS, keys.len())?.with_threads(TWO);
    assert!(one.build_from(keys)? == two.build_from(keys)?, "{spec}: two threads build other bytes");
    let (mut one_ns, mut two_ns) = (Vec::new(), Vec::new());
    for round in 0..setting.build_rounds() {
        let mut turns = [(&one, &mut one_ns), (&two, &mut two_ns)];
        turns.rotate_left(round % 2);
        for (filter, ns) in turns {
            ns.push(build_ns(filter, keys)?);
        }
    }
    let (timings, [one, two]) = Timings::of([("one", one_ns), ("two", two_ns)]);
    let name = format!("{spec} build per key, two threads beside one");
    Ok(Bar::times_longer(name, &timings, [two, one], AtMost(MAX_SHARE)))
}

/// Nanoseconds a key of one build.
fn build_ns(filter: &PlannedFilter, keys: SortedKeys<'_, u64>) -> Result<f64> {
    let watch = Stopwatch::start();
    let sealed = black_box(filter.build_from(keys))?;
    let elapsed = watch.elapsed();
    drop(sealed);
    Ok(elapsed.as_nanos() as f64 / keys.len().max(1) as f64)
}
