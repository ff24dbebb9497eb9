//! Builds on one thread, from the sorted slice to sealed bytes, in nanoseconds a key.

use lacuna_base::Result;
use lacuna_bench::harness::Rounds;

use super::super::contest::in_runs;
use super::{MAX_BITS, planned};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtMost;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Specs with the longest that a key may take.
const MAX_NS: [(&str, f64); 3] = [("bucketing", 6.0), ("grafite", 24.0), ("ribbon", 60.0)];

/// Builds every filter, and a standard Bloom filter of as many bits in turn with them.
pub(super) fn bars(setting: &Setting, progress: &Progress, keys: &[u64]) -> Result<Vec<Bar>> {
    in_runs(|run| {
        let planned = |spec: &str| planned(setting, spec, MAX_BITS, keys.len());
        let bloom = planned("bloom")?;
        let filters = MAX_NS.iter().map(|(spec, _)| planned(spec)).collect::<Result<Vec<_>>>()?;
        let mut rounds = Rounds::new();
        let bloom = bloom.add_build(&mut rounds, keys);
        let tasks: Vec<_> = filters.iter().map(|filter| filter.add_build(&mut rounds, keys)).collect();
        let of = setting.build_rounds();
        let timings = rounds.run(of, &mut |round| {
            progress.say(format!("ranges: run {run}, builds, round {round} of {of}"));
        });
        let bars = MAX_NS.iter().zip(tasks).map(|((spec, max), task)| {
            let (ns, bloom_ns) = (timings.median_ns(task), timings.median_ns(bloom));
            let bar = Bar::number(
                format!("{spec} build per key, one thread"),
                format!("{ns:.1} ns"),
                format!("{max} ns (bloom {bloom_ns:.1} ns)"),
                ns / max,
                AtMost(1.0),
            );
            Bar { spread: Some(timings.spread(task)), ..bar }
        });
        Ok(bars.collect())
    })
}
